/*
 * template-free.c - the report language of -t FILE: frees statements.
 */
#include <stdlib.h>

#include "tnfdump/template/template.h"

void
statements_free(struct statement *s)
{
	struct statement *next;

	for (; s != NULL; s = next) {
		next = s->next;
		statements_free(s->body);
		statements_free(s->other);
		expr_free(s->expr);
		free(s->text);
		free(s->absent);
		free(s);
	}
}

void
template_free(struct template *t)
{
	struct stanza *s, *next;

	if (t == NULL)
		return;
	for (s = t->stanzas; s != NULL; s = next) {
		next = s->next;
		statements_free(s->body);
		free(s->pattern);
		free(s->label);
		free(s);
	}
	free(t);
}
