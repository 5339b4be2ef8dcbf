/*
 * many.c - switches many fast probes at once.
 *
 * While the process runs we find out which bytes change and where, and read the code around them from its file.
 * Then the process stands still for as long as it takes to see that no thread is in the way, and that the code is
 * that of the file, and to write whole pages.
 *
 * A probe is switched on in an order: first the word in its area that says that jumps may be there
 * (tnf_fast_area.patched), then the jump, last the word 'test' of its control block; off, the other way round.  If we
 * are killed between two of these steps, the next controller finds what is there and puts it in order.  Here each
 * step is made for all probes before the next one.
 *
 * A probe that is in any way unlike the others is left to the caller, who switches it by itself and learns why
 * that cannot be.
 */
#include <sys/uio.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"
#include "libtnfctl/proc.h"

#define PAGE		4096u
#define MIN		4u	/* fewer are not worth it */
#define NEAR_MIN	4u	/* words that are written with what is between them */
#define RUN		(16 * PAGE) /* bytes that are read or written at once */
#define LOOK		64u	/* probes between looks at the process */

struct change {
	uintptr_t at;
	uint8_t	 from[SITE_BYTES_MAX], to[TNF_FAST_JUMP]; /* the jump, or what it stands for: here, as sites lie apart */
	size_t	 size;		/* of 'from' */
	bool	 left;		/* not switched here: give_back() returns it to the caller */
	uintptr_t word;		/* by which the probe records, ... */
	bool	 enabled;	/* ... and what it says unless the probe is switched on */
	tnfctl_probe_t **place;	/* its slot in the caller's list, NULL until give_back() */
	tnfctl_probe_t *probe;
};

/* Pages that follow each other, and what changes there. */
struct run {
	uintptr_t at;
	size_t	 size, first, n;
	const uint8_t *file;	/* the same bytes of the file that is mapped there; NULL: not known */
};

struct many {
	tnfctl_handle_t *h;
	bool	 on;
	struct change *v;	/* by address */
	size_t	 n;
	struct run *runs;
	size_t	 nruns;
	uint8_t	*file;		/* of all runs */
	struct change **words;	/* room for n whose words are to be written */
	uint8_t	 now[RUN];
};

/* True if nothing but 5 bytes of code and one word are to be changed: the probe is made, has one site, no semaphore, and
   no return that needs the same jump, and is not yet as wanted. */
static bool
is_plain(tnfctl_handle_t *h, tnfctl_probe_t *p, bool on)
{
	const struct fast *f = p == NULL ? NULL : p->fast;

	return f != NULL && f->made && f->n == 1 && !f->at_return && f->v[0].semaphore == 0 && f->v[0].placed &&
	    f->v[0].address % PAGE <= PAGE - TNF_FAST_JUMP && f->v[0].patched != on && p->prepared && !p->gone &&
	    (on ? !tnfctl_patch_is_taken(h, f, &f->v[0]) : !tnfctl_fast_other_is_on(p)) &&
	    tnfctl_control_usable(h, p) == TNFCTL_ERR_NONE;
}

/* Notes in our own state whether the probe is on, and whether its site has the jump; the process is not written to. */
static void
set_state(tnfctl_probe_t *p, bool enabled, bool patched)
{
	struct fast_site *s = &p->fast->v[0];

	p->enabled = enabled;
	s->area->patched += (size_t)patched - s->patched;
	s->patched = patched;
}

COMPARE_BY(by_address, struct change, at)

/* Moves the probes that can be switched here from the list into m->v, and notes them as switched. */
static void
take(struct many *m, tnfctl_probe_t **v, size_t n)
{
	const uint8_t *code;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		struct change *c = &m->v[m->n];

		if (i % LOOK == 0)
			tnfctl_work(m->h, WORK_LOOK);
		if (!is_plain(m->h, v[i], m->on))
			continue;
		const struct fast_site *s = &v[i]->fast->v[0];
		*c = (struct change){ .at = s->address, .place = &v[i], .probe = v[i],
		    .word = v[i]->address + offsetof(struct tnf_probe_control, test),
		    .enabled = !m->on && v[i]->enabled };
		code = s->jump;
		c->size = m->on ? tnfctl_patch_code(s, &code) : TNF_FAST_JUMP;
		memcpy(c->from, code, c->size);
		memcpy(c->to, m->on ? s->jump : s->before, sizeof(c->to));
		sorted &= m->n == 0 || c[-1].at < c->at;
		set_state(v[i], m->on, m->on);
		v[i] = NULL;
		m->n++;
	}
	if (!sorted)
		qsort(m->v, m->n, sizeof(*m->v), by_address);
}

/* How many changes, from the first on, lie on pages that follow each other within a run. */
static size_t
changes_near(const struct change *c, size_t n)
{
	uintptr_t first = c[0].at / PAGE;
	size_t i;

	for (i = 1; i < n && c[i].at / PAGE - c[i - 1].at / PAGE <= 1 && c[i].at / PAGE - first < RUN / PAGE; i++)
		;
	return i;
}

static void
find_runs(struct many *m)
{
	size_t n;

	for (size_t i = 0; i < m->n; i += n) {
		uintptr_t at = m->v[i].at - m->v[i].at % PAGE, last;

		n = changes_near(&m->v[i], m->n - i);
		last = m->v[i + n - 1].at;
		m->runs[m->nruns++] = (struct run){ at, last - last % PAGE + PAGE - at, i, n, NULL };
	}
}

/* Reads what the files have. */
static void
read_files(struct many *m)
{
	const struct mapping *of = NULL, *found;
	char path[4096];
	struct maps maps;
	size_t size = 0;
	int fd = -1;

	for (size_t i = 0; i < m->nruns; i++)
		size += m->runs[i].size;
	if ((m->file = malloc(size)) == NULL || tnf_maps_read(m->h->pid, &maps) != 0)
		return;
	size = 0;
	for (size_t i = 0; i < m->nruns; i++) {
		struct run *r = &m->runs[i];

		found = tnf_maps_find(&maps, r->at);
		if (found != of && fd >= 0)
			close(fd);
		if (found != of)
			fd = found == NULL || found->inode == 0 ? -1 :
			    tnfctl_proc_open_mapped(m->h->pid, found, path, sizeof(path));
		of = found;
		if (fd >= 0 && r->at + r->size <= of->end && pread(fd, m->file + size, r->size,
		    (off_t)(of->offset + (r->at - of->start))) == (ssize_t)r->size)
			r->file = m->file + size;
		size += r->size;
		tnfctl_work(m->h, WORK_LOOK);
	}
	if (fd >= 0)
		close(fd);
	tnf_maps_free(&maps);
}

/* A thread stands at this address, or may come back to it: no jump may be put over it. */
static void
keep_clear(void *arg, uintptr_t at)
{
	struct many *m = arg;
	size_t from = 0, to = m->n, mid;

	while (from < to) {
		mid = (from + to) / 2;
		if (m->v[mid].at < at)
			from = mid + 1;
		else
			to = mid;
	}
	if (from > 0 && at - m->v[from - 1].at < TNF_FAST_JUMP)
		m->v[from - 1].left = true;
}

/* Which pages are those of the file.  On any other somebody may have a breakpoint: it may be removed between our read
   and our write, and a whole page written would bring it back. */
static void
find_same(const struct many *m, const struct run *r, bool *ret)
{
	for (size_t i = 0; i < r->size; i += PAGE)
		ret[i / PAGE] = r->file != NULL && memcmp(m->now + i, r->file + i, PAGE) == 0;
}

/* Puts the changes into the copy; one whose bytes are not as expected is left. */
static void
change(struct many *m, const struct run *r)
{
	for (size_t i = r->first; i < r->first + r->n; i++) {
		struct change *c = &m->v[i];
		size_t at = c->at - r->at;

		if (c->size > r->size - at || memcmp(m->now + at, c->from, c->size) != 0)
			c->left = true;
		if (!c->left)
			memcpy(m->now + at, c->to, TNF_FAST_JUMP);
	}
}

/* Writes pages that are the file's as a whole, other changes one by one.  False: some was not written. */
static bool
write_pages(struct many *m, const struct run *r, const bool *same)
{
	struct proc *p = direct_proc(m->h);
	size_t pages = r->size / PAGE, n;
	bool fine = true;

	for (size_t i = 0; i < pages; i += n) {
		for (n = 1; same[i] && i + n < pages && same[i + n]; n++)
			;
		if (same[i])
			fine = tnfctl_proc_write(p, r->at + i * PAGE, m->now + i * PAGE, n * PAGE) && fine;
	}
	for (size_t i = r->first; i < r->first + r->n; i++) {
		const struct change *c = &m->v[i];

		if (!c->left && !same[(c->at - r->at) / PAGE])
			fine = tnfctl_proc_write(p, c->at, c->to, TNF_FAST_JUMP) && fine;
	}
	return fine;
}

static void
write_run(struct many *m, const struct run *r)
{
	uint8_t there[TNF_FAST_JUMP];
	bool same[RUN / PAGE], fine, looked = false;

	/* On: the page must be the file's before the change; off: after it. */
	fine = tnfctl_proc_read_some(direct_proc(m->h), r->at, m->now, r->size) == r->size;
	if (fine && m->on)
		find_same(m, r, same);
	if (fine)
		change(m, r);
	if (fine && !m->on)
		find_same(m, r, same);
	fine = fine && write_pages(m, r, same);
	for (size_t i = r->first; i < r->first + r->n; i++) {
		struct change *c = &m->v[i];

		/* A write may report success and change nothing: so one change is read again, or each if a write has
		   failed, or if more than one mapping may be written. */
		if (c->left || (looked && fine && r->file != NULL))
			continue;
		looked = true;
		if (!tnfctl_proc_read(direct_proc(m->h), c->at, there, sizeof(there)) ||
		    memcmp(there, c->to, sizeof(there)) != 0)
			c->left = true;
	}
}

/* How many words from the first on lie within a page's size of those before them; *ret: the bytes from the lowest to
   the highest. */
static size_t
words_near(struct change *const *w, size_t n, struct iovec *ret)
{
	uintptr_t from = w[0]->word, to = from, at;
	size_t i;

	for (i = 1; i < n; i++) {
		at = w[i]->word;
		if (at + PAGE < from || at > to + PAGE || (at < from ? to - at : at - from) > RUN - sizeof(uint32_t))
			break;
		from = at < from ? at : from;
		to = at > to ? at : to;
	}
	*ret = (struct iovec){ (void *)from, to - from + sizeof(uint32_t) };
	return i;
}

/* Writes n words, and the other bytes among which they lie, to which only we and threads that stand still write. */
static bool
write_near(struct many *m, struct change *const *w, size_t n, const struct iovec *to, uint32_t value)
{
	struct iovec from = { m->now, to->iov_len };
	uintptr_t start = (uintptr_t)to->iov_base;

	if (!tnfctl_proc_stands(direct_proc(m->h)) ||
	    tnfctl_proc_read_some(direct_proc(m->h), start, m->now, to->iov_len) != to->iov_len)
		return false;
	for (size_t i = 0; i < n; i++)
		memcpy(m->now + (w[i]->word - start), &value, sizeof(value));
	return tnfctl_proc_write_pieces(direct_proc(m->h), &from, to, 1);
}

static void
write_words(struct many *m)
{
	const uint32_t value = m->on;
	struct change **w = m->words;
	size_t near, n = 0;
	struct iovec run;

	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i].left)
			m->words[n++] = &m->v[i];
	for (; n > 0; n -= near, w += near) {
		near = words_near(w, n, &run);
		bool fine = near >= NEAR_MIN && write_near(m, w, near, &run, value);

		/* If they cannot be written together, some may be by themselves. */
		for (size_t i = 0; i < near; i++)
			if (fine || tnfctl_proc_write(direct_proc(m->h), w[i]->word, &value, sizeof(value)))
				w[i]->enabled = false;
			else
				w[i]->left = true;
	}
}

static bool
tell_areas(const struct many *m)
{
	bool told = true;

	for (struct fast_area *a = m->h->fast->areas; a != NULL; a = a->next)
		told = tnfctl_patch_tell(m->h, a) && told;
	return told;
}

/* The part that is done while the process stands still. */
static void
write_all(struct many *m, bool told)
{
	struct proc *p = direct_proc(m->h);
	bool lost = !told || p->gone || p->event != PROC_NOTHING ||
	    (m->on && (!tnfctl_patch_places(m->h, keep_clear, m) || !tnfctl_direct_is_listed(p)));

	for (size_t i = 0; i < m->n && lost; i++)
		m->v[i].left = true;
	if (lost)
		return;
	if (!m->on)
		write_words(m);
	for (size_t i = 0; i < m->nruns; i++)
		write_run(m, &m->runs[i]);
	if (m->on)
		write_words(m);
}

/* The caller gets back what was left, as it was. */
static void
give_back(struct many *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct change *c = &m->v[i];

		if (!c->left)
			continue;
		*c->place = c->probe;
		set_state(c->probe, c->enabled, !m->on);
	}
}

/* Makes those that are not made yet.  False: the process is lost. */
static bool
make(tnfctl_handle_t *h, tnfctl_probe_t *const *v, size_t n)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	for (size_t i = 0; i < n && err == TNFCTL_ERR_NONE; i++)
		if (v[i]->fast != NULL && !v[i]->fast->made && !v[i]->gone && v[i]->import != NULL &&
		    v[i]->import->slow == NULL)
			err = tnfctl_fast_make(h, v[i], true);
	return err == TNFCTL_ERR_NONE;
}

static bool
has_fast(tnfctl_probe_t *const *v, size_t n)
{
	size_t i, fast = 0;

	for (i = 0; i < n && fast < MIN; i++)
		fast += v[i]->fast != NULL;
	return fast == MIN;
}

void
tnfctl_fast_set_many(tnfctl_handle_t *h, tnfctl_probe_t **v, size_t n, bool on)
{
	struct many *m;
	bool told;

	if (!has_fast(v, n) || (on && !make(h, v, n)) || h->fast == NULL || (m = calloc(1, sizeof(*m))) == NULL)
		return;
	m->h = h;
	m->on = on;
	m->v = calloc(n, sizeof(*m->v));
	m->runs = calloc(n, sizeof(*m->runs));
	m->words = calloc(n, sizeof(*m->words));
	tnfctl_work(h, WORK_BEGIN);
	if (m->v != NULL && m->runs != NULL && m->words != NULL)
		take(m, v, n);
	find_runs(m);
	if (m->n > 0)
		read_files(m);
	/* On: before the first jump is there; off: once the last is out. */
	told = !on || tell_areas(m);
	tnfctl_work(h, WORK_END);
	write_all(m, told);
	give_back(m);
	tell_areas(m);
	if (on)
		h->ops->catch_up(h);
	free(m->file);
	free(m->words);
	free(m->runs);
	free(m->v);
	free(m);
}
