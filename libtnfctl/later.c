/*
 * later.c - many small writes to a process that stands still are put together.
 *
 * A probe is switched on in an order: first the note that its code is patched, then the jump, last
 * the word that makes it record; off, the other way round.  Whoever is killed between two of these
 * leaves a process that the next controller puts in order.  Here all first words are written, then all code,
 * then all last words, before anything else is read or written there, and before a thread runs.
 */
#include <sys/uio.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/proc.h"

#define PAGE		4096u
#define PAGES		4096u	/* of code, that are remembered */
#define EDITS		2	/* index behind enum later_when */
#define EDITS_MIN	8u	/* fewer are written one by one */
#define NEAR_MIN	8u	/* words of a page, which are written with what is between them */

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
	bool	 allowed;	/* code was written at once, and was there afterwards: more may wait */
	struct edit *edits;
	struct word *words[2];
	size_t	 n[3], room[3];	/* of words by enum later_when, and at EDITS of edits */
	bool	 looked;	/* at pages */
	uintptr_t page_at[PAGES]; /* 0: none */
	uint8_t	 page[PAGES][PAGE];
};

/* The file that is mapped where code is written. */
struct origin {
	struct maps maps;
	const struct mapping *m;
	int	 fd;
};

static int
by_address(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Are the bytes those of the file? */
static bool
is_of_file(struct proc *p, struct origin *o, uintptr_t at, const uint8_t *bytes, size_t n)
{
	const struct mapping *m = tnf_maps_find(&o->maps, at);
	uint8_t file[PAGE];
	char path[4096];

	if (m == NULL || m->inode == 0)
		return false;
	if (m != o->m) {
		if (o->fd >= 0)
			close(o->fd);
		o->fd = tnfctl_proc_open_mapped(p->pid, m, path, sizeof(path));
		o->m = m;
	}
	return o->fd >= 0 && pread(o->fd, file, n, (off_t)(m->offset + (at - m->start))) == (ssize_t)n &&
	    memcmp(file, bytes, n) == 0;
}

/*
 * Writes what is to be changed in one page.  All at once only if the page was, or becomes, as its
 * file has it: else somebody's breakpoint is there, which may go between our look and our writing,
 * and must not come back.
 */
static void
write_page(struct proc *p, struct later *l, struct origin *o, const struct edit *e, size_t n)
{
	uintptr_t at = e[0].at, start = at - at % PAGE;
	size_t size = e[n - 1].at + LATER_CODE - at;
	uint8_t now[PAGE], then[PAGE], *to;

	/* No thread has run since we looked. */
	if (l->page_at[start / PAGE % PAGES] == start)
		memcpy(now, l->page[start / PAGE % PAGES] + at % PAGE, size);
	else if (!tnfctl_proc_read(p, at, now, size))
		return;
	memcpy(then, now, size);
	for (size_t i = 0; i < n; i++) {
		to = then + (e[i].at - at);
		if (memcmp(to, e[i].from, LATER_CODE) == 0)
			memcpy(to, e[i].to, LATER_CODE);
	}
	if (n > 1 && (is_of_file(p, o, at, now, size) || is_of_file(p, o, at, then, size)) &&
	    tnfctl_proc_write(p, at, then, size))
		return;
	for (size_t i = 0; i < n; i++) {
		to = then + (e[i].at - at);
		if (memcmp(to, now + (e[i].at - at), LATER_CODE) != 0)
			tnfctl_proc_write(p, e[i].at, to, LATER_CODE);
	}
}

static void
write_code(struct proc *p, struct later *l)
{
	struct origin o = { .fd = -1 };
	size_t i, end, n = l->n[EDITS];

	qsort(l->edits, n, sizeof(*l->edits), by_address);
	if (n >= EDITS_MIN && tnf_maps_read(p->pid, &o.maps) != 0)
		o.maps = (struct maps){ .n = 0 };
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && l->edits[end].at / PAGE == l->edits[i].at / PAGE; end++)
			;
		write_page(p, l, &o, &l->edits[i], end - i);
	}
	if (o.fd >= 0)
		close(o.fd);
	tnf_maps_free(&o.maps);
}

/* Writes n words that lie within a page of each other: all bytes from the first to the last, which only
   we and threads that stand still write to. */
static bool
write_near(struct proc *p, const struct word *w, size_t n)
{
	size_t size = w[n - 1].at + sizeof(w->value) - w[0].at;
	uint8_t bytes[PAGE + sizeof(w->value)];

	if (!tnfctl_proc_stands(p) || !tnfctl_proc_read(p, w[0].at, bytes, size))
		return false;
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + (w[i].at - w[0].at), &w[i].value, sizeof(w[i].value));
	return tnfctl_proc_write(p, w[0].at, bytes, size);
}

static void
write_words(struct proc *p, const struct word *w, size_t n)
{
	struct iovec from[PROC_PIECES], to[PROC_PIECES];
	size_t near, waiting = 0;

	for (; n > 0; n -= near, w += near) {
		for (near = 1; near < n && w[near].at > w[near - 1].at && w[near].at - w[0].at < PAGE; near++)
			;
		/* If two of these writes are to one word, the later one counts. */
		if (near >= NEAR_MIN || waiting + near > PROC_PIECES) {
			tnfctl_proc_write_pieces(p, from, to, waiting);
			waiting = 0;
		}
		if (near >= NEAR_MIN && write_near(p, w, near))
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

/* Writes that wait are all of one direction: those of the other are made first. */
static struct later *
later_of(struct proc *p, bool on)
{
	if (p->later == NULL)
		p->later = calloc(1, sizeof(*p->later));
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

bool
tnfctl_later_look(struct proc *p, bool on, uintptr_t at, void *buf, size_t n)
{
	struct later *l = later_of(p, on);
	uintptr_t start = at - at % PAGE;
	size_t i = start / PAGE % PAGES;

	if (l == NULL || at % PAGE + n > PAGE)
		return tnfctl_proc_read(p, at, buf, n);
	if (l->page_at[i] != start) {
		l->page_at[i] = 0;
		p->later = NULL;
		if (tnfctl_proc_read(p, start, l->page[i], PAGE))
			l->page_at[i] = start;
		l->looked = true;
		p->later = l;
	}
	if (l->page_at[i] != start)
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
