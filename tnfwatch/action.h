/*
 * action.h - what a trigger does at once, beside the incident: "then" of its section.
 */
#ifndef TNFWATCH_ACTION_H
#define TNFWATCH_ACTION_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon;
struct enable;
struct source;

struct action {
	enum { ACTION_ENABLE, ACTION_MARK, ACTION_RUN, ACTION_WEBHOOK, ACTION_FREEZE } kind;
	char	*text;			/* of a mark, of a command, an address */
	struct enable *enable;
	int64_t	 time;			/* ns: it stays on for so long */
};

/* Calls fn() for each action of the text; false: one is wrong, and 'why' says how. */
bool actions_each(const char *text, void (*fn)(void *arg, const struct action *), void *arg,
    char *why, size_t size);
/* Is the text right?  false: 'why' says what is not. */
bool actions_check(const char *text, char *why, size_t size);
/* action-do.c: does them; the firing is the first of the window's, of this source or of none.
   NULL: there are no actions. */
void actions_do(struct daemon *, const char *text, struct source *);
/* To be called when any child has ended. */
void actions_child_ended(struct daemon *, pid_t, int status);
/* Switches off what was on for a time that is over. */
void actions_care(struct daemon *, int64_t now);

#endif /* TNFWATCH_ACTION_H */
