/*
 * fast.c - hits of fast probes, at a site or when a function returns: <tnf/target.h>.
 *
 * A trampoline (arch/) has saved the registers.  No value is read in a way that could fault:
 * memory that only the program knows to be there is read by the kernel.
 */
#include <sys/uio.h>

#include <tnf/runtime.h>

#include "libtnfprobe/event-hit.h"

/*
 * Returns of functions whose entries are fast probes.
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

static void
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
   libtnfctl/sites/refused.c refuses the returns of such functions. */
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

/*
 * Hits.
 */
#define NEAR		1024u	/* bytes above the stack pointer that are the program's own */
#define RED_ZONE	128u
#define PAGE		4096u

/* A function without the stack's guard, since it writes no array of its own by an index, and without
   AddressSanitizer, which would move 'setup' off the stack: the address of 'setup' tells a hit that
   longjmp() has left from one that goes on. */
#if __has_attribute(no_stack_protector)
#define NO_GUARD	__attribute__((no_stack_protector, no_sanitize_address))
#else
#define NO_GUARD	__attribute__((no_sanitize_address))
#endif

/* Copies up to 'size' bytes, of which perhaps not all are there; returns how many were.  The kernel is asked
   by pages, as it copies all of a piece or none. */
static size_t
copy_safely(void *to, uint64_t from, size_t size)
{
	size_t first = PAGE - from % PAGE;
	struct iovec here = { to, size };
	struct iovec there[2] = { { (void *)(uintptr_t)from, size < first ? size : first },
	    { (void *)(uintptr_t)(from + first), size < first ? 0 : size - first } };
	long n;

	if (is_quiet())
		return 0;
	n = kernel_call(SYS_process_vm_readv, tnf_p.pid, (long)(uintptr_t)&here, 1,
	    (long)(uintptr_t)there, size <= first ? 1 : 2, 0);
	return n < 0 ? 0 : (size_t)n;
}

static uint64_t
load(const void *at, unsigned size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)at;
	case 2:
		return *(const volatile uint16_t *)at;
	case 4:
		return *(const volatile uint32_t *)at;
	default:
		return *(const volatile uint64_t *)at;
	}
}

/* True if the memory is there for certain: it is at a constant distance from the instruction or the
   stack pointer, or near the stack pointer. */
static bool
is_sure(const struct tnf_fast_regs *r, const struct tnf_fast_value *v, uint64_t at)
{
	return v->index == TNF_FAST_NONE && (v->base == TNF_FAST_SP || v->base == TNF_FAST_IP ||
	    at - (r->r[TNF_FAST_SP] - RED_ZONE) < NEAR);
}

static inline uint64_t
value_of(const struct tnf_fast_regs *r, const struct tnf_fast_value *v)
{
	uint64_t x = r->r[v->base] + r->r[v->index] * v->scale + (uint64_t)v->offset, copy = 0;
	unsigned cut = 64 - 8 * v->size;

	if (v->from == TNF_FAST_MEMORY) {
		if (is_sure(r, v, x))
			x = load((const void *)(uintptr_t)x, v->size);
		else
			x = copy_safely(&copy, x, v->size) == v->size ? copy : 0;
	}
	x >>= v->shift;
	return v->sign ? (uint64_t)((int64_t)(x << cut) >> cut) : x << cut >> cut;
}

/* A string behind the event, and the reference to it; 0: it cannot be read, or has no room. */
static tnf_reference_t __attribute__((noinline))
put_string(struct thread *t, uint64_t from, size_t max, tnf_reference_t *cell)
{
	union {
		char	 text[TNF_STRING_MAX + 9];
		uint64_t word[(TNF_STRING_MAX + 9) / 8];
	} copy;
	size_t n = 0, got, words;
	uint64_t *to;
	bool cut;

	if (from == 0)
		return 0;
	got = copy_safely(copy.text, from, max < TNF_STRING_MAX + 1 ? max : TNF_STRING_MAX + 1);
	if (got == 0 && max > 0)
		return 0;
	while (n < got && copy.text[n] != '\0')
		n++;
	cut = n > TNF_STRING_MAX;
	n -= cut;
	words = n / 8 + 1;
	for (size_t i = n; i < words * 8; i++)
		copy.text[i] = '\0';
	if ((to = (uint64_t *)(void *)tnf_value_room(t, (uint32_t)(8 + (words + cut) * 8))) == NULL)
		return 0;
	*to = tnf_p.string_tag | (uint64_t)(((8 + n + 4) & ~(size_t)3) + 4 * cut) << 32;
	if (cut)
		to[words + 1] = TNF_STRING_CUT;
	for (size_t i = 0; i < words; i++)
		to[i + 1] = copy.word[i];
	return tnf_value_reference(t, cell, (char *)to);
}

static void __attribute__((noinline))
put_value(struct tnf_fast_regs *r, const struct tnf_fast_site *site,
    const struct tnf_fast_value *v, char *event)
{
	uint64_t x;
	void *at = event + v->at;

	r->r[TNF_FAST_IP] = site->resume - 1;
	r->r[TNF_FAST_NONE] = 0;
	x = value_of(r, v);
	switch (v->kind) {
	case TNF_ARG_INT32:
	case TNF_ARG_UINT32:
		*(uint32_t *)at = (uint32_t)x;
		break;
	case TNF_ARG_STRING:
		*(tnf_reference_t *)at = put_string(&tnf_t, x,
		    v->counted ? value_of(r, v + 1) : TNF_STRING_MAX + 1, at);
		break;
	case TNF_ARG_INT8:
	case TNF_ARG_UINT8:
		*(uint8_t *)at = (uint8_t)x;
		break;
	case TNF_ARG_INT16:
	case TNF_ARG_UINT16:
		*(uint16_t *)at = (uint16_t)x;
		break;
	default:
		*(uint64_t *)at = x;
	}
}

static inline void
put_plain(const struct tnf_fast_regs *r, const struct tnf_fast_value *v, char *event)
{
	if (likely(v->plain == 8))
		*(uint64_t *)(void *)(event + v->at) = r->r[v->base];
	else
		*(uint32_t *)(void *)(event + v->at) = (uint32_t)r->r[v->base];
}

static bool
compares(uint64_t a, uint64_t b, const struct tnf_fast_condition *c)
{
	bool less = c->sign ? (int64_t)a < (int64_t)b : a < b;

	switch (c->op) {
	case TNF_FAST_EQUAL:
		return a == b;
	case TNF_FAST_UNEQUAL:
		return a != b;
	case TNF_FAST_BELOW:
		return less;
	case TNF_FAST_AT_MOST:
		return less || a == b;
	case TNF_FAST_ABOVE:
		return !less && a != b;
	case TNF_FAST_AT_LEAST:
		return !less;
	}
	return (a & b) != 0;
}

/* Memory that cannot be read is equal to no text. */
static bool
same_text(const struct tnf_fast_regs *r, const struct tnf_fast_value *v,
    const struct tnf_fast_condition *c)
{
	uint64_t text[4] = { 0 }, from = value_of(r, v);
	size_t max = v->counted ? value_of(r, v + 1) : sizeof(text);

	if (from == 0 || (copy_safely(text, from, max < sizeof(text) ? max : sizeof(text)) == 0 && max > 0))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if ((text[i] & c->mask[i]) != c->with[i])
			return false;
	return true;
}

static bool
holds(const struct tnf_fast_regs *r, const struct tnf_fast_site *site,
    const struct tnf_fast_condition *c)
{
	unsigned cut = 56 - 8 * ((c->size - 1u) % 8);	/* the bits of a word above 'size' bytes */
	uint64_t x;

	if (c->value >= site->n)
		return false;
	if (c->size == 0)
		return same_text(r, &site->v[c->value], c) == (c->op == TNF_FAST_EQUAL);
	x = value_of(r, &site->v[c->value]) << cut;
	return compares(c->sign ? (uint64_t)((int64_t)x >> cut) : x >> cut, c->with[0], c);
}

/* The conditions are alternatives, of which one must hold.  An alternative begins at a condition with
   'first'; it holds if all its conditions do. */
static bool __attribute__((noinline))
where_holds(struct tnf_fast_regs *r, const struct tnf_fast_site *site)
{
	bool all = false;

	r->r[TNF_FAST_IP] = site->resume - 1;
	r->r[TNF_FAST_NONE] = 0;
	for (unsigned i = 0; i < site->conditions && i < TNF_FAST_CONDITIONS; i++) {
		if (site->c[i].first) {
			if (all)
				return true;
			all = true;
		}
		all = all && holds(r, site, &site->c[i]);
	}
	return all;
}

void NO_GUARD
tnf_fast_record(struct tnf_fast_regs *r, const struct tnf_fast_site *site)
{
	struct tnf_probe_control *p = site->probe;
	struct tnf_probe_setup setup;
	char *event;

	if (p->test == 0 || (!p->traced && p->chain == NULL))
		return;
	if (site->conditions != 0 && !where_holds(r, site))
		return;
	if ((event = event_alloc(p, &setup, (uintptr_t)r, true)) == NULL)
		return;
	for (unsigned i = 0; i < site->n; i++)
		if (site->v[i].plain != 0)
			put_plain(r, &site->v[i], event);
		else
			put_value(r, site, &site->v[i], event);
	event_commit(&setup);
}

static void __attribute__((noinline))
hit(struct tnf_fast_regs *r, const struct tnf_fast_site *site)
{
	const struct tnf_fast_site *returns = site->returns;

	tnf_fast_record(r, site);
	if (returns != NULL)
		tnf_fast_call(r, returns);
}

static inline bool
is_plain(const struct tnf_fast_site *site)
{
	return site->n == 0 || site->v[0].all_plain;
}

_Static_assert(offsetof(struct tnf_fast_site, pushed) == 36, "arch/x86-64.S: FAST_PUSHED");
_Static_assert(sizeof(struct tnf_fast_site) == 1064,
    "ABI: a controller of another release steps through the sites by this");

/* Called by a trampoline.  The common case calls no function, so that this one need not save registers.
   While the probe is on, but neither traced nor connected, it records nothing. */
void NO_GUARD
tnf_fast_hit(struct tnf_fast_regs *r, const struct tnf_fast_site *site)
{
	const struct tnf_probe_control *p = site->probe;
	const struct tnf_fast_value *v = site->v, *end = v + site->n;
	struct thread *t = &tnf_t;
	char *event;

	if (unlikely(site->returns != NULL || site->conditions != 0 || !is_plain(site) || p->chain != NULL)) {
		hit(r, site);
		return;
	}
	if (p->test == 0 || !p->traced)
		return;
	if (unlikely(t->busy != 0)) {
		hit(r, site);
		return;
	}
	event_begin(t, r, (uintptr_t)r, true);
	if (unlikely((event = event_common(t, p)) == NULL)) {
		t->busy = 0;
		hit(r, site);
		return;
	}
	for (; v < end; v++)
		put_plain(r, v, event);
	/* If not, another hit took this one for left (tnf_hit_left()), and has the thread's event. */
	if (likely(t->setup == r))
		event_end(t);
}
