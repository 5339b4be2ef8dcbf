/*
 * fast-return.c - returns of functions whose entries are fast probes: <tnf/target.h>.
 *
 * While a return's probe is on, each call of the function gets a trampoline as the address to
 * return to.  The real address is kept in a table, by the place on the stack where it belongs:
 * one table for the process, so it does not matter on which thread or which stack a function
 * continues.  Call frame information of the trampoline (arch/) looks the address up in the same table; so
 * exceptions, threads that end and debuggers find the callers.  The layout of the
 * table is known there, too.
 *
 * A function that is left by longjmp() or an exception leaves its entry behind.  The next call at
 * the same place frees the entry, and a call that finds its set full frees those whose places on a
 * stack do not have the trampoline any more (sweep()).
 */
#include <sys/mman.h>
#include <sys/uio.h>

#include "libtnfprobe/internal.h"

#define SETS_LOG	16
#define WAYS		4u
#define KEY_MIX		0x9e3779b97f4a7c15u
#define CLAIMED		1u	/* in a key: nobody else may touch the entry */
#define LEVELS		3u	/* how many functions may leave by a jump before one returns */

/* 'key': the place, and in bits 1 and 2 the level: how often the function that was called there had
   left for another by a jump.  A key of 0: the entry is free. */
struct call {
	uint64_t key;
	uint64_t to;		/* the address to return to */
	const struct tnf_fast_site *site;
};

struct call_set {
	struct call way[WAYS];
	uint64_t pad[4];
};
_Static_assert(sizeof(struct call) == 24 && sizeof(struct call_set) == 128 && WAYS == 4, "arch/x86-64.S");

/* The trampoline's call frame information finds this variable by a word before its code. */
struct call_set *tnf_fast_calls;

void
tnf_fast_calls_make(void)
{
	long at;

	if (tnf_fast_calls != NULL)
		return;
	at = kernel_call(SYS_mmap, 0, sizeof(struct call_set) << SETS_LOG, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at > 0)
		tnf_fast_calls = (struct call_set *)(uintptr_t)at;
}

static inline struct call_set *
set_of(uint64_t place)
{
	return &tnf_fast_calls[place * KEY_MIX >> (64 - SETS_LOG)];
}

static inline bool
exchange_key(struct call *c, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&c->key, &from, to, false, __ATOMIC_ACQ_REL,
	    __ATOMIC_RELAXED);
}

static struct call *
claim(struct call_set *s, uint64_t place)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (__atomic_load_n(&s->way[i].key, __ATOMIC_RELAXED) == 0 &&
		    exchange_key(&s->way[i], 0, place | CLAIMED))
			return &s->way[i];
	return NULL;
}

/* Frees entries of calls that have not returned, and never will: their places have something
   else, or are not there any more. */
static void __attribute__((noinline, cold))
sweep(struct call_set *s)
{
	for (unsigned i = 0; i < WAYS && !is_quiet(); i++) {
		uint64_t key = __atomic_load_n(&s->way[i].key, __ATOMIC_ACQUIRE), word = 0;
		struct iovec here = { &word, sizeof(word) };
		struct iovec there = { (void *)(uintptr_t)(key & ~7u), sizeof(word) };

		if (key == 0 || (key & CLAIMED) != 0)
			continue;
		kernel_call(SYS_process_vm_readv, tnf_p.pid, (long)(uintptr_t)&here, 1,
		    (long)(uintptr_t)&there, 1, 0);
		if (word != (uintptr_t)tnf_fast_return)
			exchange_key(&s->way[i], key, 0);
	}
}

/* The level of a new call at this place.  More than LEVELS: its return is not recorded, as there were
   too many jumps, or the place has the trampoline but no entry.  jumped: the place has the
   trampoline, since another function was called there and left for this one by a jump.  If not,
   the entries of the place are old, and are freed. */
static unsigned
level_of(struct call_set *s, uint64_t place, bool jumped)
{
	unsigned level = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t key = __atomic_load_n(&s->way[i].key, __ATOMIC_RELAXED);

		if ((key & ~(uint64_t)7) != place)
			continue;
		if (!jumped)
			exchange_key(&s->way[i], key, 0);
		else if ((key >> 1 & 3) >= level)
			level = (unsigned)(key >> 1 & 3) + 1;
	}
	return jumped && level == 0 ? LEVELS + 1 : level;
}

void
tnf_fast_call(const struct tnf_fast_regs *r, const struct tnf_fast_site *site)
{
	uint64_t place = r->r[TNF_FAST_SP], *word = (uint64_t *)(uintptr_t)place;
	struct call_set *s;
	struct call *c;
	unsigned level;

	if (tnf_fast_calls == NULL || site->probe->test == 0 || place % 8 != 0)
		return;
	s = set_of(place);
	level = level_of(s, place, *word == (uintptr_t)tnf_fast_return);
	if (level > LEVELS)
		return;
	if ((c = claim(s, place)) == NULL) {
		sweep(s);
		if ((c = claim(s, place)) == NULL)
			return;
	}
	c->to = *word;
	c->site = site;
	/* First the word: once the key is not CLAIMED, sweep() of another thread frees the entry if
	   its place does not have the trampoline. */
	__atomic_store_n(word, (uintptr_t)tnf_fast_return, __ATOMIC_RELEASE);
	__atomic_store_n(&c->key, place | level << 1, __ATOMIC_RELEASE);
}

/* The latest entry of the place.  There is none if a function has returned twice, as setjmp() does;
   libtnfctl/refused.c refuses the returns of such functions. */
static struct call *
latest(struct call_set *s, uint64_t place)
{
	struct call *found = NULL;
	uint64_t best = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t key = __atomic_load_n(&s->way[i].key, __ATOMIC_RELAXED);

		if ((key & ~(uint64_t)7) == place && key >= best) {
			best = key;
			found = &s->way[i];
		}
	}
	if (found == NULL)
		__builtin_trap();
	return found;
}

/* Called by the trampoline: the function has returned to it, and has left its result. */
void
tnf_fast_returned(struct tnf_fast_regs *r)
{
	uint64_t place = r->r[TNF_FAST_SP] - 8;
	struct call_set *s = set_of(place);
	struct call *c;
	uint64_t to;

	/* A function that left by a jump has returned, too: its entry follows the one to which it left. */
	do {
		c = latest(s, place);
		to = c->to;
		tnf_fast_record(r, c->site);
		if (to != (uintptr_t)tnf_fast_return)
			*(uint64_t *)(uintptr_t)place = to;
		exchange_key(c, c->key, 0);
	} while (to == (uintptr_t)tnf_fast_return);
}
