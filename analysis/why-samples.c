/*
 * why-samples.c - where a thread was while it had the CPU, by samples, and whether it spun there.
 */
#include "analysis/why-impl.h"

#define SPINS_MIN	5u	/* this many samples ... */
#define LOOP_BYTES	64u	/* ... within so little code are a loop */
#define AROUND		20000000	/* ns */

/* The first sample of the thread that is not before 'from'. */
static uint32_t
sample_from(const struct thread *t, int64_t from)
{
	size_t before = LAST_UNTIL(t->samples, t->n_samples, from - 1);

	return before == t->n_samples ? 0 : (uint32_t)before + 1;
}

/* The addresses at which a sample was taken: the innermost one, and that of the program. */
struct sampled {
	struct tnf_event ev;
	uint64_t pc, user;
	bool	 in_kernel, yields;
};

static const char *
symbol_at(struct why *w, const struct sampled *s, uint64_t pc)
{
	return pc == 0 || w->source.symbol == NULL ? NULL : w->source.symbol(w->source.arg, &s->ev, pc);
}

static struct sampled
sample_read(struct why *w, const struct thread *t, const struct sample *of)
{
	struct sampled s = { .ev = why_event_at(t, of->probe, of->pos, of->time) };
	int user = perprobe_member(of->probe, "user");
	uint64_t pc[WHY_FRAMES];
	struct tnf_value v, item;
	const char *name;
	unsigned n = why_stack(&s.ev, pc);

	if (user >= 0 && tnf_event_value(&s.ev, (unsigned)user, &v) && !v.null &&
	    v.kind == TNF_K_ARRAY && tnf_value_item(of->probe->file, &v, 0, &item))
		s.user = item.u.u;
	s.in_kernel = n > 0;
	s.pc = n > 0 ? pc[0] : s.user;
	if (n < WHY_FRAMES)
		pc[n] = s.user;
	/* On its way into the kernel and back only the program's function tells. */
	for (unsigned i = 0; i <= n && i < WHY_FRAMES && !s.yields; i++)
		s.yields = (name = symbol_at(w, &s, pc[i])) != NULL &&
		    strstr(name, "sched_yield") != NULL;
	return s;
}

/* The samples taken in one function. */
struct hot {
	const char *name;
	unsigned n;
	uint64_t low, high;
};

#define HOT_MAX	16u

static void
hot_add(struct hot seen[HOT_MAX], const char *name, uint64_t pc)
{
	for (struct hot *h = seen; name != NULL && h < seen + HOT_MAX; h++)
		if (h->name == NULL || strcmp(h->name, name) == 0) {
			h->name = name;
			h->low = h->n == 0 || pc < h->low ? pc : h->low;
			h->high = pc > h->high ? pc : h->high;
			h->n++;
			return;
		}
}

static const struct hot *
hottest(const struct hot seen[HOT_MAX])
{
	const struct hot *best = seen;

	for (unsigned i = 1; i < HOT_MAX; i++)
		if (seen[i].n > best->n)
			best = &seen[i];
	return best;
}

/* The name of a function if nearly all samples are those of one loop in it, which may give its CPU
   away (a loop of other system calls gets something done); NULL: they are not. */
static const char *
spinning(struct why *w, const struct thread *t, uint32_t from, uint32_t to)
{
	struct hot seen[HOT_MAX] = { { .n = 0 } };
	const char *yield = NULL;
	unsigned yields = 0;

	for (uint32_t i = from; i < to; i++) {
		struct sampled s = sample_read(w, t, &t->samples[i]);
		if (s.yields) {
			yields++;
			yield = symbol_at(w, &s, s.user);
		} else if (!s.in_kernel)
			hot_add(seen, symbol_at(w, &s, s.user), s.user);
	}
	const struct hot *loop = hottest(seen);
	if (yields + loop->n < SPINS_MIN || (yields + loop->n) * 10 < (to - from) * 8 ||
	    loop->high - loop->low >= LOOP_BYTES)
		return NULL;
	return yields < loop->n ? loop->name : yield != NULL ? yield : "sched_yield";
}

const char *
why_hot(struct why *w, const struct why_node *n, bool *spins)
{
	const struct thread *t = why_changes_of(w, n->thread);
	uint32_t from = sample_from(t, n->from), to = sample_from(t, n->to), all = to - from;
	struct hot in[HOT_MAX] = { { .n = 0 } }, user[HOT_MAX] = { { .n = 0 } };
	const char *loop;

	*spins = false;
	if (all == 0)
		return NULL;
	for (uint32_t i = from; i < to; i++) {
		struct sampled s = sample_read(w, t, &t->samples[i]);
		hot_add(in, symbol_at(w, &s, s.pc), s.pc);
		hot_add(user, symbol_at(w, &s, s.user), s.user);
	}
	/* Other threads may have had the CPU in between, so samples shortly before and after the node
	   belong to the same loop. */
	for (unsigned i = 0; i < SPINS_MIN; i++) {
		from -= from > 0 && t->samples[from - 1].time > n->from - AROUND;
		to += to < t->n_samples && t->samples[to].time < n->to + AROUND;
	}
	*spins = (loop = spinning(w, t, from, to)) != NULL;
	const struct hot *best = hottest(in)->n * 2 >= all ? hottest(in) : hottest(user);
	return *spins ? loop : best->n * 2 >= all ? best->name : NULL;
}
