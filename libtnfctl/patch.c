/*
 * patch.c - puts jumps into the code of a stopped process, and takes them out.
 *
 * No thread must come back to a byte inside of a jump.  A thread that stands there is moved to the
 * same instruction in the pad.  A signal handler may return there: so we search all stacks for
 * addresses inside of the jump.  If there is one, we let the process run for TRY_US and search
 * again, TRIES times, and then fail with TNFCTL_ERR_BUSY.  One search serves all sites until a
 * thread runs again.
 */
#include <sys/user.h>

#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"

#define TRIES		200
#define TRY_US		500
#define STACK_MAX	(8u << 20)	/* bytes of each stack that are searched */

/* Addresses of code that lie on stacks, sorted. */
struct words {
	uint64_t *v;
	size_t	 n, room;
	bool	 failed;	/* some are missing: a stack could not be read, or memory is short */
};

/* In a signal handler's frame, the stack pointer and the instruction pointer of the interrupted
   code are so many words behind the handler's return address. */
#define FRAME_SP	21
#define FRAME_IP	22

/* The latest search: it holds for this process until a thread of it runs again. */
static _Thread_local struct {
	const struct proc *p;
	uint64_t runs;
	uintptr_t back;		/* tnf_fast_return; functions whose return is a fast probe return there */
	struct words words;
	struct words ips;	/* where threads stand; failed: not all of them are held */
	pid_t	 unread;	/* the thread whose stack was searched last */
} search;

static void
words_add(struct words *w, uint64_t word)
{
	uint64_t *grown;

	if (w->n == w->room) {
		w->room = w->room ? w->room * 2 : 4096;
		if ((grown = reallocarray(w->v, w->room, sizeof(*grown))) == NULL) {
			w->failed = true;
			w->room = w->n;
			return;
		}
		w->v = grown;
	}
	w->v[w->n++] = word;
}

static bool
is_code(const struct maps *maps, uint64_t word)
{
	const struct mapping *m;

	if (word < 4096 || (m = tnf_maps_find(maps, (uintptr_t)word)) == NULL)
		return false;
	return m->exec;
}

/* True if a signal handler returns to this address: the system call sigreturn is there, or it is
   tnf_fast_return, if the handler's own return is a fast probe. */
static bool
is_handler_return(struct proc *p, const struct maps *maps, uint64_t word)
{
	unsigned char code[16];
	size_t n = tnfctl_arch_sigreturn_size;

	if (word == search.back && word != 0)
		return true;
	return is_code(maps, word) && n <= sizeof(code) &&
	    tnfctl_proc_read(p, (uintptr_t)word, code, n) &&
	    memcmp(code, tnfctl_arch_sigreturn, n) == 0;
}

/* Adds the addresses of code on the stack from sp up.  If a signal handler runs on a stack of its
   own, its frame tells which stack was interrupted: that one is searched, too. */
static void
search_stack(struct words *w, struct proc *p, const struct maps *maps, uintptr_t sp,
    unsigned depth)
{
	const struct mapping *m = tnf_maps_find(maps, sp);
	uintptr_t other;
	uint64_t *words;
	size_t n;

	if (m == NULL)
		return;
	n = (m->end - sp < STACK_MAX ? m->end - sp : STACK_MAX) / sizeof(*words);
	words = malloc(n * sizeof(*words) + 1);
	if (words == NULL || !tnfctl_proc_read(p, sp & ~(uintptr_t)7, words, n * sizeof(*words)))
		w->failed = true;
	for (size_t i = 0; i < n && !w->failed; i++) {
		if (!is_code(maps, words[i]))
			continue;
		words_add(w, words[i]);
		if (i < FRAME_IP || depth == 0 || !is_handler_return(p, maps, words[i - FRAME_IP]))
			continue;
		other = (uintptr_t)words[i - FRAME_IP + FRAME_SP];
		if (other < m->start || other >= m->end)
			search_stack(w, p, maps, other, depth - 1);
	}
	free(words);
}

COMPARE_NUMBERS(by_value, uint64_t)

/* Returns the addresses of code on all stacks of the stopped process. */
static const struct words *
search_all(struct proc *p)
{
	struct words *w = &search.words;
	struct maps maps;
	uintptr_t ip, sp;
	long call;

	if (search.p == p && search.runs == p->runs && w->v != NULL)
		return w;
	w->n = search.ips.n = 0;
	search.unread = p->pid;
	w->failed = tnf_maps_read(p->pid, &maps) != 0;
	if (w->failed)
		return w;
	words_add(w, 0);
	search.ips.failed = false;
	for (size_t i = 0; i < p->n && !w->failed; i++) {
		const struct thread *t = &p->threads[i];

		search.ips.failed |= !t->stopped || t->foreign || !tnfctl_arch_where(p, t, &ip, &sp, &call);
		if (search.ips.failed)
			break;
		words_add(&search.ips, ip);
		search.unread = t->tid;
		search_stack(w, p, &maps, sp, 2);
	}
	tnf_maps_free(&maps);
	w->failed |= search.ips.failed;
	qsort(w->v, w->n, sizeof(*w->v), by_value);
	if (search.ips.n > 0)
		qsort(search.ips.v, search.ips.n, sizeof(*search.ips.v), by_value);
	search.p = p;
	search.runs = p->runs;
	return w;
}

/* True if there is a word between these two addresses, and equal to neither. */
static bool
has_between(const struct words *w, uint64_t low, uint64_t high)
{
	size_t from = 0, to = w->n, mid;

	while (from < to) {
		mid = (from + to) / 2;
		if (w->v[mid] <= low)
			from = mid + 1;
		else
			to = mid;
	}
	return from < w->n && w->v[from] < high;
}

/* Moves a thread that stands in the site into the pad; false: there is no such place in the pad, or
   the thread refuses. */
static bool
move_thread(const struct thread *t, const struct fast_site *s, uintptr_t ip)
{
	uint64_t to = s->site.length == 0 || s->moved == 0 ? 0 :
	    tnfctl_site_to_pad(&s->site, s->address, s->moved, ip);

	return to != 0 && ptrace(PTRACE_POKEUSER, t->tid, offsetof(struct user_regs_struct, rip),
	    to) == 0;
}

/* Moves threads out of the site.  Returns 0, or the thread for which the site cannot be patched now,
   and in *why the reason. */
static pid_t
clear_site(struct proc *p, const struct fast_site *s, const char **why)
{
	uintptr_t last = s->address + TNF_FAST_JUMP, ip, sp;
	const struct words *w = search_all(p);
	long call;

	/* Few sites have a thread in them.  The list is older than a move: a thread that was moved
	   costs one more pass, and nothing else. */
	for (size_t i = 0; i < p->n && (w->failed || has_between(&search.ips, s->address, last)); i++) {
		const struct thread *t = &p->threads[i];

		*why = "sleeps in the kernel";
		if (!t->stopped || t->foreign || !tnfctl_arch_where(p, t, &ip, &sp, &call))
			return t->tid;
		*why = "stands in its first instructions";
		if (ip > s->address && ip < last && !move_thread(t, s, ip))
			return t->tid;
	}
	*why = "has a stack that cannot be searched";
	if (w->failed)
		return search.unread;
	*why = "has a signal handler that interrupts its first instructions";
	return has_between(w, s->address, last) ? p->pid : 0;
}

/* An obstacle to all sites, such as a thread that sleeps in the kernel, is awaited once for all. */
static int
tries_now(tnfctl_handle_t *h)
{
	return tnfctl_fast_failed(&h->fast->no_search) == NULL ? TRIES : 1;
}

static void
note_search(tnfctl_handle_t *h)
{
	h->fast->no_search = (struct fast_failure){
		search.words.failed ? "not all stacks can be searched" : NULL, clock_ns(CLOCK_MONOTONIC) };
}

/* Waits, while the process runs by moments, until its threads are out of the site. */
static tnfctl_errcode_t
await_site(tnfctl_handle_t *h, const struct fast_site *s)
{
	struct proc *p = direct_proc(h);
	int tries = tries_now(h);
	const char *why = NULL;
	pid_t tid = 0;

	search.back = h->fast->back;
	for (int i = 0; i < tries; i++) {
		if (i > 0)
			tnfctl_proc_run_for(p, TRY_US);
		if (p->gone || p->event != PROC_NOTHING)
			return tnfctl_error_lost(h, "it has ended");
		if ((tid = clear_site(p, s, &why)) == 0)
			return TNFCTL_ERR_NONE;
	}
	note_search(h);
	return tnfctl_error_set(TNFCTL_ERR_BUSY, "thread %d %s: try again", (int)tid, why);
}

bool
tnfctl_patch_places(tnfctl_handle_t *h, void (*fn)(void *, uintptr_t), void *arg)
{
	struct proc *p = direct_proc(h);
	int tries = tries_now(h);
	const struct words *w;

	search.back = h->fast->back;
	while ((w = search_all(p))->failed && --tries > 0) {
		tnfctl_proc_run_for(p, TRY_US);
		if (p->gone || p->event != PROC_NOTHING)
			return false;
	}
	note_search(h);
	for (size_t i = 0; i < w->n && !w->failed; i++)
		fn(arg, (uintptr_t)w->v[i]);
	for (size_t i = 0; i < search.ips.n && !w->failed; i++)
		fn(arg, (uintptr_t)search.ips.v[i]);
	return !w->failed;
}

bool
tnfctl_patch_tell(tnfctl_handle_t *h, struct fast_area *a)
{
	uint32_t any = a->patched > 0;

	if (any == a->told)
		return true;
	if (!h->ops->write(h, a->at + offsetof(struct tnf_fast_area, patched), &any, sizeof(any)))
		return false;
	a->told = any;
	return true;
}

/* Notes whether the site has its jump, here and in its area. */
static bool
set_patched(tnfctl_handle_t *h, struct fast_site *s, bool patched)
{
	s->area->patched += (size_t)patched - s->patched;
	s->patched = patched;
	return tnfctl_patch_tell(h, s->area);
}

/* Adds to the semaphore, by which the program sees that somebody listens. */
static void
raise_by(tnfctl_handle_t *h, uintptr_t semaphore, int by)
{
	uint16_t n;

	if (!h->ops->read(h, semaphore, &n, sizeof(n)) || (by < 0 && n == 0))
		return;
	n = (uint16_t)(n + by);
	h->ops->write(h, semaphore, &n, sizeof(n));
}

/* Raises the site's semaphore, or lowers it; the process has it that it is raised before it is, and until
   after it is not. */
static void
set_raised(tnfctl_handle_t *h, struct fast_site *s, bool raised)
{
	uint32_t word = raised;
	uintptr_t at = s->note + offsetof(struct tnf_fast_site, raised);

	if (!raised)
		raise_by(h, s->semaphore, -1);
	h->ops->write(h, at, &word, sizeof(word));
	if (raised)
		raise_by(h, s->semaphore, 1);
	s->raised = raised;
}

size_t
tnfctl_patch_code(const struct fast_site *s, const uint8_t **ret)
{
	bool known = s->site.length >= TNF_FAST_JUMP;

	*ret = known ? s->site.bytes : s->before;
	return known ? s->site.length : TNF_FAST_JUMP;
}

/* Replaces the beginning of the n bytes of code 'from' by 'to'; fails if other code is there. */
static tnfctl_errcode_t
exchange(tnfctl_handle_t *h, uintptr_t at, const uint8_t *from, size_t n, const uint8_t *to)
{
	uint8_t now[SITE_BYTES_MAX];

	if (!h->ops->read(h, at, now, n))
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "its code is not there any more");
	if (memcmp(now, from, n) != 0)
		return tnfctl_error_set(TNFCTL_ERR_BUSY,
		    "its code is not that of its file: a breakpoint of a debugger?");
	if (!h->ops->write(h, at, to, TNF_FAST_JUMP) || !h->ops->read(h, at, now, TNF_FAST_JUMP) ||
	    memcmp(now, to, TNF_FAST_JUMP) != 0)
		return tnfctl_error_set(TNFCTL_ERR_ACCES, "its code cannot be written");
	return TNFCTL_ERR_NONE;
}

/* The bytes of before are back: false, if they are not. */
static bool
patch_off(tnfctl_handle_t *h, struct fast_site *s)
{
	uint8_t now[TNF_FAST_JUMP];

	if (s->raised && s->semaphore != 0)
		set_raised(h, s, false);
	if (!s->patched)
		return true;
	/* The object may have been unloaded, or loaded again. */
	if (!h->ops->read(h, s->address, now, sizeof(now)) || memcmp(now, s->before, sizeof(now)) == 0 ||
	    exchange(h, s->address, s->jump, sizeof(s->jump), s->before) == TNFCTL_ERR_NONE)
		return set_patched(h, s, false);
	return false;
}

/* True if a jump of these, at another site, touches this site's instructions. */
static bool
is_patched(const struct fast *f, const struct fast_site *s)
{
	for (size_t k = 0; k < f->n; k++) {
		const struct fast_site *o = &f->v[k];

		if (o != s && o->patched &&
		    o->address < s->address + s->length && s->address < o->address + o->length)
			return true;
	}
	return false;
}

bool
tnfctl_patch_is_taken(const tnfctl_handle_t *h, const struct fast *f, const struct fast_site *s)
{
	uintptr_t from = s->address - SITE_BYTES_MAX + 1, to = s->address + s->length;
	const tnfctl_probe_t *p = NULL;
	bool is = s->placed ? f->n > 1 && is_patched(f, s) :
	    (p = tnfctl_fast_at(h, s->address)) != NULL && is_patched(p->fast, s);

	/* Few sites have another one so near. */
	if (is || !tnfctl_fast_beside(h, from, to, s->address))
		return is;
	for (uintptr_t at = from; !is && at < to; at++)
		is = (p = tnfctl_fast_at(h, at)) != NULL && is_patched(p->fast, s);
	return is;
}

static tnfctl_errcode_t
patch_on(tnfctl_handle_t *h, const struct fast *f, struct fast_site *s)
{
	tnfctl_errcode_t err;
	uint8_t now[TNF_FAST_JUMP];
	const uint8_t *code;
	size_t n = tnfctl_patch_code(s, &code);

	if (s->patched)
		return TNFCTL_ERR_NONE;
	if (tnfctl_patch_is_taken(h, f, s))
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "another probe is in its first instructions");
	/* The jump is there already: another controller put it there. */
	if (h->ops->read(h, s->address, now, sizeof(now)) && memcmp(now, s->jump, sizeof(now)) == 0)
		return set_patched(h, s, true) ? TNFCTL_ERR_NONE :
		    tnfctl_error_lost(h, "its memory cannot be written");
	if ((err = await_site(h, s)) != TNFCTL_ERR_NONE)
		return err;
	if (!set_patched(h, s, true))
		return tnfctl_error_lost(h, "its memory cannot be written");
	if ((err = exchange(h, s->address, code, n, s->jump)) != TNFCTL_ERR_NONE) {
		set_patched(h, s, false);
		return err;
	}
	if (s->semaphore != 0)
		set_raised(h, s, true);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_patch_set(tnfctl_handle_t *h, struct fast *f, bool on)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	size_t i;

	for (i = 0; on && i < f->n && err == TNFCTL_ERR_NONE; i++)
		err = patch_on(h, f, &f->v[i]);
	if (on && err == TNFCTL_ERR_NONE)
		return err;
	for (i = 0; i < f->n; i++)
		if (!patch_off(h, &f->v[i]) && err == TNFCTL_ERR_NONE)
			err = tnfctl_error_set(TNFCTL_ERR_BUSY,
			    "a jump to its pad stays: somebody else has changed the code there");
	return err;
}
