/*
 * color.c - colour, on a terminal only unless asked for.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tnfdump/text/color.h"
#include "tnfdump/options.h"

static const char *const sequences[COLOR_COUNT] = {
	[COLOR_NONE] = "",
	[COLOR_HEADER] = "\033[1m",
	[COLOR_TIME] = "\033[2m",
	[COLOR_PROBE] = "\033[1;36m",
	[COLOR_MEMBER] = "\033[34m",
	[COLOR_ERROR] = "\033[1;31m",
};

int
color_set(struct dump *d, const char *when)
{
	if (when == NULL || strcmp(when, "always") == 0)
		d->color = COLOR_ALWAYS;
	else if (strcmp(when, "auto") == 0)
		d->color = COLOR_AUTO;
	else if (strcmp(when, "never") == 0)
		d->color = COLOR_NEVER;
	else
		return options_wrong("color",
		    "auto, always or never expected: \"%s\"", when);
	return 0;
}

bool
color_wanted(const struct dump *d)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (d->color != COLOR_AUTO)
		return d->color == COLOR_ALWAYS;
	if (no != NULL && *no != '\0')
		return false;
	return term != NULL && *term != '\0' && strcmp(term, "dumb") != 0 &&
	    d->out.fd >= 0 && isatty(d->out.fd);
}

void
color_on(struct out *o, enum color c)
{
	out_str(o, sequences[c]);
}

void
color_off(struct out *o)
{
	out_lit(o, "\033[0m");
}
