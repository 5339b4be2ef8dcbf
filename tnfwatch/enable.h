/*
 * enable.h - which probes "enable = thread io name=/re/" means.
 *
 * The words are selectors of prex(1), with its two sets $all and $always.
 */
#ifndef TNFWATCH_ENABLE_H
#define TNFWATCH_ENABLE_H

#include <tnf/stream.h>
#include <tnf/tnfctl.h>

struct enable;

/* NULL: err says why, at *offset of the text. */
struct enable *enable_parse(const char *text, char *err, size_t size, size_t *offset);
void enable_free(struct enable *);
const char *enable_text(const struct enable *);

/* Probes that have been switched on: how many, and their names with a newline behind
   each, as far as there is room. */
struct enabled {
	unsigned n;
	char	 names[8192];
};

/* Switches on every probe of the handle that is meant, and off none; adds them. */
tnfctl_errcode_t enable_apply(const struct enable *, tnfctl_handle_t *, struct enabled *);
/* Is this probe meant, by what a trace says of it? */
bool enable_has(const struct enable *, const struct tnf_probe *);

#endif /* TNFWATCH_ENABLE_H */
