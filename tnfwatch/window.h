/*
 * window.h - one stall, from its first trigger to the end of what follows.
 */
#ifndef TNFWATCH_WINDOW_H
#define TNFWATCH_WINDOW_H

#include <stdint.h>

#include "tnfwatch/trigger.h"

struct config;

#define FIRINGS_MAX	200	/* that one incident remembers */

struct firing {
	char	*trigger;
	int64_t	 time;		/* monotonic */
	int64_t	 began;		/* monotonic: when what fired began; or time */
	int64_t	 noticed;	/* monotonic: when tnfwatch learned of it */
	char	*source;	/* NULL: of no one source */
	char	*reason;
	char	*note;		/* from outside; or NULL */
	char	*event;		/* JSON; NULL: there is none */
	char	*trace;		/* of OpenTelemetry, in hexadecimal; NULL: not told */
	bool	 asked;		/* by another machine: it is no trigger's */
};

struct window {
	bool	 open;
	char	*id;		/* of the incident: the name of its directory */
	int64_t	 until;		/* monotonic: what follows is complete then */
	struct firing firing[FIRINGS_MAX];	/* the first one opened it */
	size_t	 n_asked;	/* of them are no triggers' */
	size_t	 n;
	uint64_t more;		/* that it does not remember */
	int64_t	 mono_to_wall;	/* for all its times */
	bool	 resumed;	/* of a tnfwatch that was killed: first all is taken up again */
};

/* Adds a firing; strings are copied. */
void window_add(struct window *, const char *trigger, const struct trigger_firing *,
    const char *source, const char *note);
/* The same for a question of another machine. */
void window_add_question(struct window *, const char *name, const struct trigger_firing *,
    const char *question);
/* The first firing of a trigger, whose commands are run; NULL: there are only questions. */
const struct firing *window_trigger(const struct window *);
void window_clear(struct window *);

/*
 * A killed tnfwatch leaves a note of each incident that was not whole.  The next tnfwatch opens
 * a window for what the notes say: the rings still hold what led to it.
 */
/* Leaves the note of a window that has a new firing. */
void window_note(const struct config *, const struct window *);
/* Removes the note: the incident is whole, or lost for a reason that has been said. */
void window_note_done(const struct config *, const char *id);

/* Calls fn() for each firing in the notes of this boot whose incident nobody has made or makes,
   and removes all notes.  "source" and "event" may be NULL. */
void window_notes_left(const struct config *,
    void (*fn)(void *arg, const struct firing *), void *arg);
/* Adds a firing that a note had; 'reason' takes the place of its own. */
void window_add_again(struct window *, const struct firing *, const char *reason);

#endif /* TNFWATCH_WINDOW_H */
