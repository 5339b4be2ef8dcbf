/*
 * rotate.h - one copy of the kernel's buffer after the other, of which the latest are kept.
 */
#ifndef TNFXTRACT_ROTATE_H
#define TNFXTRACT_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

struct rotation {
	unsigned seconds;	/* between two copies at most; 0: however long it takes */
	uint64_t bytes;		/* recorded between two at most; 0: however many */
	unsigned keep;		/* copies */
};

/* True: --rotate-time or --rotate-size was given. */
static inline bool
rotates(const struct rotation *r)
{
	return r->seconds != 0 || r->bytes != 0;
}

/* Parses a number with k, m or g behind it; false: it is none, or 0. */
bool rotate_number(const char *text, uint64_t max, uint64_t *ret);

/*
 * Makes copies named FILE.1, FILE.2 and so on, the last one after SIGINT or SIGTERM, and removes
 * those before the latest.  Each is made by copy() in a process of its own, which ends with what
 * copy() returns.  Returns when a copy has failed or the last is made: the exit status.
 */
int rotate(const struct rotation *, const char *file, int (*copy)(void *arg, const char *file), void *arg);

#endif /* TNFXTRACT_ROTATE_H */
