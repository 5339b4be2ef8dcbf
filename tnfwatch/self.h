/*
 * self.h - tnfwatch's own trace: marks, and what fired.
 *
 * It is a source like others, so every incident has it: what a mark says stands
 * there among the events of that time.
 */
#ifndef TNFWATCH_SELF_H
#define TNFWATCH_SELF_H

struct config;
struct source;

/* NULL: there is none, which has been said. */
struct source *self_begin(const struct config *);
void self_mark(const char *text, const char *by);
void self_fired(const char *trigger, const char *reason);

#endif /* TNFWATCH_SELF_H */
