/*
 * enable.h - which probes "enable = thread io name=/re/" means.
 *
 * The words are selectors of prex(1), with its two sets $all and $always.
 */
#ifndef TNFWATCH_ENABLE_H
#define TNFWATCH_ENABLE_H

#include <stddef.h>

#include <tnf/tnfctl.h>

struct enable;

/* NULL: err says why, at *offset of the text. */
struct enable *enable_parse(const char *text, char *err, size_t size, size_t *offset);
struct enable *enable_ref(struct enable *);
void enable_free(struct enable *);
const char *enable_text(const struct enable *);

/* Switches on every probe of the handle that is meant, and off none; how many they
   are is added to *n. */
tnfctl_errcode_t enable_apply(const struct enable *, tnfctl_handle_t *, unsigned *n);

#endif /* TNFWATCH_ENABLE_H */
