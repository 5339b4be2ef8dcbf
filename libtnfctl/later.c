/*
 * later.c - many small writes to a process that stands still are put together.
 *
 * A probe is switched on in an order: first the note that code of its area is patched, then the jump, last
 * the word that makes it record; off, the other way round.  Whoever is killed between two of these
 * leaves a process that the next controller puts in order.  Here all first words are written, then all code,
 * then all last words, before anything else is read or written there, and before a thread runs.
 */
#include <sys/mman.h>
#include <sys/uio.h>

#include "libtnfctl/proc.h"

#define PAGE		4096u
#define HUGE_PAGE	(2u << 20)
#define PAGES		4096u	/* of code, that are remembered */
#define EDITS		2	/* index behind enum later_when */
#define EDITS_MIN	8u	/* fewer are written one by one */
#define NEAR_MIN	8u	/* words that are written with what is between them */
#define RUN		(16 * PAGE) /* that are read or written at once */

struct edit {
	uintptr_t at;
	uint8_t	 from[LATER_CODE], to[LATER_CODE];
};

struct word {
	uintptr_t at;
	uint32_t value;
};

struct later {
	bool	 on;		/* what waits switches probes on */
	bool	 allowed;	/* code that was written without delay was there afterwards: so more may wait */
	struct edit *edits;
	struct word *words[2];
	size_t	 n[3], room[3];	/* of words by enum later_when, and at EDITS of edits */
	bool	 looked;	/* at pages */
	uintptr_t page_at[PAGES]; /* 0: none */
	uint8_t	 page[PAGES][PAGE];
};

/* The file that is mapped where code is written, and code: of the process now and then, and of the file. */
struct origin {
	struct maps maps;
	const struct mapping *m;
	int	 fd;
	uint8_t	 now[RUN], then[RUN], file[RUN];
};

COMPARE_BY(by_address, struct edit, at)

/* True if the bytes are those of the file, now or then. */
static bool
is_of_file(struct proc *p, struct origin *o, uintptr_t at, const uint8_t *now, const uint8_t *then, size_t n)
{
	const struct mapping *m = tnf_maps_find(&o->maps, at);
	char path[4096];

	if (m == NULL || m->inode == 0 || at + n > m->end)
		return false;
	if (m != o->m) {
		if (o->fd >= 0)
			close(o->fd);
		o->fd = tnfctl_proc_open_mapped(p->pid, m, path, sizeof(path));
		o->m = m;
	}
	return o->fd >= 0 && pread(o->fd, o->file, n, (off_t)(m->offset + (at - m->start))) == (ssize_t)n &&
	    (memcmp(o->file, now, n) == 0 || memcmp(o->file, then, n) == 0);
}

/* Reads whole pages as they are now: no thread has run since we looked. */
static bool
read_pages(struct proc *p, const struct later *l, uintptr_t at, uint8_t *to, size_t size)
{
	for (; size > 0; at += PAGE, to += PAGE, size -= PAGE)
		if (l->page_at[at / PAGE % PAGES] == at)
			memcpy(to, l->page[at / PAGE % PAGES], PAGE);
		else if (!tnfctl_proc_read(p, at, to, PAGE))
			return false;
	return true;
}

/* How many of the edits, from the first on, lie on pages that follow each other, at most so many. */
static size_t
edits_near(const struct edit *e, size_t n, size_t pages)
{
	uintptr_t first = e[0].at / PAGE;
	size_t i;

	for (i = 1; i < n && e[i].at / PAGE - e[i - 1].at / PAGE <= 1 && e[i].at / PAGE - first < pages; i++)
		;
	return i;
}

/*
 * Writes what is to be changed in pages that follow each other.  All at once only if they were, or become, as their
 * file has them: else somebody's breakpoint is there, which may go between our look and our writing,
 * and must not come back.
 */
static void
write_run(struct proc *p, struct later *l, struct origin *o, const struct edit *e, size_t n)
{
	uintptr_t at = e[0].at - e[0].at % PAGE;
	size_t size = e[n - 1].at - e[n - 1].at % PAGE + PAGE - at, one;
	uint8_t *to;

	if (read_pages(p, l, at, o->now, size)) {
		memcpy(o->then, o->now, size);
		for (size_t i = 0; i < n; i++) {
			to = o->then + (e[i].at - at);
			if (memcmp(to, e[i].from, LATER_CODE) == 0)
				memcpy(to, e[i].to, LATER_CODE);
		}
		if (n > 1 && is_of_file(p, o, at, o->now, o->then, size) &&
		    tnfctl_proc_write(p, at, o->then, size))
			return;
	} else if (size == PAGE)
		return;
	for (; size > PAGE && n > 0; e += one, n -= one) {
		one = edits_near(e, n, 1);
		write_run(p, l, o, e, one);
	}
	for (size_t i = 0; i < n; i++)
		if (memcmp(o->then + (e[i].at - at), o->now + (e[i].at - at), LATER_CODE) != 0)
			tnfctl_proc_write(p, e[i].at, e[i].to, LATER_CODE);
}

static void
write_code(struct proc *p, struct later *l)
{
	struct origin *o = calloc(1, sizeof(*o));
	size_t i, one, n = l->n[EDITS];

	if (o == NULL)
		return;
	o->fd = -1;
	for (i = 1; i < n && l->edits[i].at > l->edits[i - 1].at; i++)
		;
	if (i < n)
		qsort(l->edits, n, sizeof(*l->edits), by_address);
	if (n >= EDITS_MIN && tnf_maps_read(p->pid, &o->maps) != 0)
		o->maps = (struct maps){ .n = 0 };
	for (i = 0; i < n; i += one) {
		one = edits_near(&l->edits[i], n - i, RUN / PAGE);
		write_run(p, l, o, &l->edits[i], one);
	}
	if (o->fd >= 0)
		close(o->fd);
	tnf_maps_free(&o->maps);
	free(o);
}

/* Finds words that lie near those before them, from the first on: how many, and the bytes that have them all. */
static size_t
words_near(const struct word *w, size_t n, struct iovec *ret)
{
	uintptr_t from = w[0].at, to = from, at;
	size_t i;

	for (i = 1; i < n; i++) {
		at = w[i].at;
		if (at + PAGE < from || at > to + PAGE || (at < from ? to - at : at - from) >= RUN)
			break;
		from = at < from ? at : from;
		to = at > to ? at : to;
	}
	*ret = (struct iovec){ (void *)from, to - from + sizeof(w->value) };
	return i;
}

/* Writes n words, and the other bytes among which they lie, to which only we and threads that stand still write. */
static bool
write_near(struct proc *p, const struct word *w, size_t n, const struct iovec *to)
{
	uint8_t bytes[RUN + sizeof(w->value)];
	struct iovec from = { bytes, to->iov_len };
	uintptr_t start = (uintptr_t)to->iov_base;

	if (tnfctl_proc_read_some(p, start, bytes, to->iov_len) != to->iov_len)
		return false;
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + (w[i].at - start), &w[i].value, sizeof(w[i].value));
	return tnfctl_proc_write_pieces(p, &from, to, 1);
}

static void
write_words(struct proc *p, const struct word *w, size_t n)
{
	struct iovec from[PROC_PIECES], to[PROC_PIECES], run;
	size_t near, waiting = 0;

	for (; n > 0; n -= near, w += near) {
		near = words_near(w, n, &run);
		/* If two of these writes are to one word, the later one counts. */
		if (near >= NEAR_MIN || waiting + near > PROC_PIECES) {
			tnfctl_proc_write_pieces(p, from, to, waiting);
			waiting = 0;
		}
		if (near >= NEAR_MIN && write_near(p, w, near, &run))
			continue;
		for (size_t i = 0; i < near; i++) {
			from[waiting] = (struct iovec){ (void *)(uintptr_t)&w[i].value, sizeof(w[i].value) };
			to[waiting++] = (struct iovec){ (void *)w[i].at, sizeof(w[i].value) };
		}
	}
	tnfctl_proc_write_pieces(p, from, to, waiting);
}

void
tnfctl_later_flush(struct proc *p, bool changed)
{
	struct later *l = p->later;

	if (l == NULL || (!changed && l->n[0] + l->n[1] + l->n[EDITS] == 0))
		return;
	p->later = NULL;	/* what follows waits no longer */
	write_words(p, l->words[LATER_FIRST], l->n[LATER_FIRST]);
	if (l->n[EDITS] > 0)
		write_code(p, l);
	write_words(p, l->words[LATER_LAST], l->n[LATER_LAST]);
	memset(l->n, 0, sizeof(l->n));
	if (l->looked)
		memset(l->page_at, 0, sizeof(l->page_at));
	l->looked = false;
	p->later = l;
}

void
tnfctl_later_free(struct proc *p)
{
	struct later *l = p->later;

	if (l == NULL)
		return;
	for (int i = 0; i < EDITS; i++)
		free(l->words[i]);
	free(l->edits);
	free(l);
	p->later = NULL;
}

/* Few large pages: else each page of code that is looked at costs a fault, while the process stands. */
static struct later *
later_new(void)
{
	size_t size = (sizeof(struct later) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	struct later *l = aligned_alloc(HUGE_PAGE, size);

	if (l == NULL)
		return NULL;
	madvise(l, size, MADV_HUGEPAGE);
	memset(l, 0, offsetof(struct later, page));
	return l;
}

/* Writes that wait are all of one direction: those of the other are made first. */
static struct later *
later_of(struct proc *p, bool on)
{
	if (p->later == NULL)
		p->later = later_new();
	if (p->later != NULL && p->later->on != on) {
		tnfctl_later_flush(p, false);
		p->later->on = on;
	}
	return p->later;
}

/* Room for one more; NULL: no memory. */
static void *
add(struct later *l, unsigned which, void *list, size_t size)
{
	void **v = list, *grown;
	size_t room = l->room[which] == 0 ? 1024 : 2 * l->room[which];

	if (l->n[which] == l->room[which]) {
		if ((grown = reallocarray(*v, room, size)) == NULL)
			return NULL;
		*v = grown;
		l->room[which] = room;
	}
	return (char *)*v + size * l->n[which]++;
}

/* Reads what can be read at once from 'at' to the end of its run, into the places of these pages. */
static void
look_at_run(struct proc *p, struct later *l, uintptr_t at)
{
	size_t i = at / PAGE % PAGES, n = (RUN - at % RUN) / PAGE;
	size_t got = tnfctl_proc_read_some(p, at, l->page[i], n * PAGE);

	for (size_t k = 0; k < n && got > 0; k++)
		l->page_at[i + k] = (k + 1) * PAGE <= got ? at + k * PAGE : 0;
}

static bool
look_at_page(struct proc *p, struct later *l, uintptr_t at)
{
	size_t i = at / PAGE % PAGES;

	p->later = NULL;	/* what waits goes on waiting */
	look_at_run(p, l, at - at % RUN);
	if (l->page_at[i] != at)	/* not all before it is mapped */
		look_at_run(p, l, at);
	if (l->page_at[i] != at)
		l->page_at[i] = tnfctl_proc_read(p, at, l->page[i], PAGE) ? at : 0;
	l->looked = true;
	p->later = l;
	return l->page_at[i] == at;
}

bool
tnfctl_later_look(struct proc *p, bool on, uintptr_t at, void *buf, size_t n)
{
	struct later *l = later_of(p, on);
	uintptr_t start = at - at % PAGE;
	size_t i = start / PAGE % PAGES;

	if (l == NULL || at % PAGE + n > PAGE)
		return tnfctl_proc_read(p, at, buf, n);
	if (l->page_at[i] != start && !look_at_page(p, l, start))
		return false;
	memcpy(buf, l->page[i] + at % PAGE, n);
	return true;
}

void
tnfctl_later_allow(struct proc *p)
{
	if (p->later != NULL)
		p->later->allowed = true;
}

bool
tnfctl_later_code(struct proc *p, bool on, uintptr_t at, const uint8_t *from, const uint8_t *to)
{
	struct later *l = later_of(p, on);
	struct edit *e;

	if (l == NULL || !l->allowed || at % PAGE + LATER_CODE > PAGE ||
	    (e = add(l, EDITS, &l->edits, sizeof(*e))) == NULL)
		return false;
	e->at = at;
	memcpy(e->from, from, LATER_CODE);
	memcpy(e->to, to, LATER_CODE);
	return true;
}

bool
tnfctl_later_word(struct proc *p, bool on, enum later_when when, uintptr_t at, uint32_t value)
{
	struct later *l = later_of(p, on);
	struct word *w = l == NULL || !l->allowed ? NULL :
	    add(l, when, &l->words[when], sizeof(*w));

	if (w == NULL)
		return tnfctl_proc_write(p, at, &value, sizeof(value));
	*w = (struct word){ at, value };
	return true;
}
