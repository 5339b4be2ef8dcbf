/*
 * outputs.c - the output formats: one row each.
 */
#include <string.h>

#include "tnfdump/info.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text.h"

const struct output outputs[] = {
	{ "text", "a line for each event, as Solaris had it (default)",
	  text_begin, text_event, text_end },
	{ 0 }
};

const struct output *
output_find(const char *name)
{
	const struct output *o;

	for (o = outputs; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}
