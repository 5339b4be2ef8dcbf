/*
 * damage.h - what the first pass over a file could not read, by its cause.
 *
 * One bit in a definition can make every block unreadable.  Who reads the file
 * is told once for each cause, with how much is left out because of it.
 */
#ifndef LIBTNF_DAMAGE_H
#define LIBTNF_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tnf_file;

#define DAMAGE_CAUSES	64u	/* told apart; others are told as one */
#define DAMAGE_TEXT	256u

enum damage_extent {
	DAMAGE_TOLD,		/* 'why' says all */
	DAMAGE_VALUE,		/* a member of a record */
	DAMAGE_RECORD,		/* the record */
	DAMAGE_REST,		/* ... and what follows it in its block */
	DAMAGE_BLOCK,
	DAMAGE_EXTENTS
};

struct cause {
	const char *why;	/* static text; NULL: many */
	uint64_t at;		/* what is wrong stands there */
	uint32_t block;		/* the first that suffers from it */
	uint64_t n[DAMAGE_EXTENTS];
};

struct damage {
	unsigned	n;
	struct cause	causes[DAMAGE_CAUSES + 1];
};

/* Adds file->why, met in 'block'. */
void tnf_damage_add(struct damage *, const struct tnf_file *, uint32_t block,
    enum damage_extent);
/* Adds all of another one. */
void tnf_damage_merge(struct damage *, const struct damage *);
/* In the order of the blocks that suffer first. */
void tnf_damage_sort(struct damage *);
/* One cause in words. */
void tnf_damage_text(const struct cause *, char buf[DAMAGE_TEXT]);

#endif /* LIBTNF_DAMAGE_H */
