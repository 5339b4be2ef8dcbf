/*
 * cmd.c - the table of commands.
 */
#include <string.h>

#include "prex/cmd.h"

#define COMMANDS(X)							\
	X(buffer) X(clear) X(connect) X(continue) X(create) X(disable)	\
	X(enable) X(help) X(import) X(ktrace) X(list) X(mark) X(pfilter) X(quit)		\
	X(source) X(trace) X(untrace)

#define X(name) extern const struct cmd cmd_##name;
COMMANDS(X)
#undef X

#define X(name) &cmd_##name,
const struct cmd *const cmds[] = { COMMANDS(X) NULL };
#undef X

#define X(name) #name,
static const char *const names[] = { COMMANDS(X) NULL };
#undef X
const char *const *const cmd_names = names;

const struct cmd *
cmd_find(const char *name)
{
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static bool
cmd_has_word(const struct cmd *c, const char *word)
{
	if (strcmp(c->name, word) == 0)
		return true;
	for (const char *const *w = c->words; w != NULL && *w != NULL; w++)
		if (strcmp(*w, word) == 0)
			return true;
	return false;
}

bool
cmd_reserves(const char *word)
{
	for (const struct cmd *const *c = cmds; *c != NULL; c++)
		if (!(*c)->is_free && cmd_has_word(*c, word))
			return true;
	/* No command uses it, but Solaris reserved it. */
	return strcmp(word, "filter") == 0;
}
