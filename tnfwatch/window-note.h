/*
 * window-note.h - which windows are open, for who comes after us.
 *
 * A killed tnfwatch leaves a note of each incident that was not whole.  The next one opens
 * a window for what they say: the rings hold what led to it still.
 */
#ifndef TNFWATCH_WINDOW_NOTE_H
#define TNFWATCH_WINDOW_NOTE_H

#include <stdint.h>

struct config;
struct window;

/* The window has been opened, and is the incident of its id. */
void window_note(const struct config *, const struct window *);
/* That incident is whole, or lost for a reason that has been said. */
void window_note_done(const struct config *, const char *id);

/* Calls fn() for each note of this boot whose incident nobody has made or makes, and
   removes all notes. */
void window_notes_left(const struct config *,
    void (*fn)(void *arg, const char *trigger, int64_t time, const char *reason), void *arg);

#endif /* TNFWATCH_WINDOW_NOTE_H */
