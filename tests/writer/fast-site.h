/*
 * fast-site.h - a run through a site of fast-site.S with all registers known, which all must be as before.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FLAGS		0x8d5u	/* those that instructions set and test */

struct fast_state {
	uint64_t r[16], flags, red[16];
	uint64_t vector[16][4];
};

extern void fast_run(const struct fast_state *, struct fast_state *, void (*run)(void));
extern void fast_inner_run(void), fast_entry_run(void);
extern unsigned char fast_inner_site[], fast_entry_site[];

static inline void
fast_fill(struct fast_state *s, unsigned seed)
{
	uint64_t *words = (uint64_t *)s;

	for (size_t i = 0; i < sizeof(*s) / 8; i++)
		words[i] = (seed + i + 1) * 0x9e3779b97f4a7c15u;
	s->flags = (s->flags & FLAGS) | 0x202;
}

/* inner: through the site within a function, which has a red zone. */
static inline bool
fast_run_keeps(void (*run)(void), bool inner, unsigned seed)
{
	struct fast_state in, out;

	fast_fill(&in, seed);
	memset(&out, 0, sizeof(out));
	fast_run(&in, &out, run);
	in.r[4] = out.r[4];
	in.flags &= FLAGS;
	out.flags &= FLAGS;
	/* A call of a function uses the end of the red zone. */
	for (unsigned i = 0; !inner && i < 16; i++)
		in.red[i] = out.red[i];
	return memcmp(&in, &out, sizeof(in)) == 0;
}
