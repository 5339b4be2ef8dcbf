/*
 * context-names.c - names that a process has written into its trace itself (tnf(5),
 * "Names"): found in the file, and put beside what its context tells.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/com.h>
#include <tnf/tnf.h>

#include "libtnf/context.h"

#define BLOCKS_MAX	8192u
#define CELL_MASK	0xffff0000u
#define STEP		8u	/* cells are multiples of this */

static uint32_t
context_names_word(const struct context_source *s, const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof v);
	return s->swapped ? __builtin_bswap32(v) : v;
}

/* All cells of a block, a line each. */
static void
block_lines(const struct context_source *s, const unsigned char *block, size_t size, FILE *f)
{
	size_t at = TNF_NAMES_FIRST;

	while (at + STEP <= size) {
		uint32_t head = context_names_word(s, block + at);
		uint32_t n = head & ~CELL_MASK;
		if ((head & CELL_MASK) != TNF_NAMES_CELL || n == 0 || n > size - at - 4) {
			at += STEP;
			continue;
		}
		fwrite(block + at + 4, 1, n, f);
		putc_unlocked('\n', f);
		at += (4 + n + STEP - 1) / STEP * STEP;
	}
}

/* The latest comes first in the chain, and last in the text. */
static int
blocks_lines(const struct context_source *s, uint32_t latest, uint32_t size, FILE *f)
{
	unsigned char *block = malloc(size);
	uint32_t *chain = calloc(BLOCKS_MAX, sizeof *chain), n = 0;
	int e = block == NULL || chain == NULL ? ENOMEM : 0;

	for (uint32_t at = latest; e == 0 && at != 0 && n < BLOCKS_MAX &&
	    n < s->size / size; n++) {		/* a chain may lead back to itself */
		chain[n] = at;
		if (at % size != 0 || s->read(s, block, size, at) != 0)
			break;
		at = context_names_word(s, block + 32);
	}
	while (e == 0 && n > 0)
		if (s->read(s, block, size, chain[--n]) == 0)
			block_lines(s, block, size, f);
	free(block);
	free(chain);
	return e;
}

int
tnf_context_names(const struct context_source *s, char **ret, size_t *ret_size)
{
	unsigned char head[TNF_EXT_OFFSET + sizeof(struct tnf_ext)];
	const unsigned char *x = head + TNF_EXT_OFFSET;
	uint32_t block_size, latest;
	uint64_t names;
	FILE *f;

	*ret = NULL;
	*ret_size = 0;
	if (s->read(s, head, sizeof head, 0) != 0 ||
	    context_names_word(s, x + offsetof(struct tnf_ext, magic)) != TNF_EXT_MAGIC ||
	    context_names_word(s, x + offsetof(struct tnf_ext, size)) <
	    offsetof(struct tnf_ext, names) + sizeof names)
		return 0;
	memcpy(&names, x + offsetof(struct tnf_ext, names), sizeof names);
	latest = (uint32_t)((s->swapped ? __builtin_bswap64(names) : names) >> 32);
	block_size = context_names_word(s, head + offsetof(struct tnf_file_header, block_size));
	if (latest == 0 || block_size < TNF_NAMES_FIRST + STEP ||
	    block_size > TNF_BLOCK_SIZE_MAX)
		return 0;
	if ((f = open_memstream(ret, ret_size)) == NULL)
		return ENOMEM;
	int e = blocks_lines(s, latest, block_size, f);
	if (fclose(f) != 0)
		e = ENOMEM;
	if (e != 0) {
		free(*ret);
		*ret = NULL;
	}
	return e;
}

/*
 * What the process said of its threads has the numbers of its events; the context has
 * the machine's.  The process's own line counts in two cases: the context has none for
 * the thread, or the process has told of a change of its name, which may be later than
 * the context.
 */
static int32_t
outer_number(const struct tnf_context *c, int32_t tid)
{
	const struct inner *n = c->inners.rows;
	size_t lo = 0, hi = c->inners.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (n[mid].inner_tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->inners.n && n[lo].inner_tid == tid ? n[lo].tid : tid;
}

/* By thread; the later ones of it first. */
static int
compare_own(const void *a, const void *b)
{
	const struct tnf_context_task *x = *(const struct tnf_context_task *const *)a;
	const struct tnf_context_task *y = *(const struct tnf_context_task *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x < y) - (x > y);
}

static int
add_task(struct tnf_context *c, const struct tnf_context_task *own)
{
	struct tnf_context_task *row, t = *own;
	struct inner *inner;

	t.tid = outer_number(c, own->tid);
	t.pid = outer_number(c, own->pid);
	if (c->inners.n > 0 && t.tid == own->tid) {
		if ((inner = tnf_context_table_add(&c->own_inners)) == NULL)
			return ENOMEM;
		*inner = (struct inner){ own->tid, own->tid };
	}
	if ((row = tnf_context_table_add(&c->own_tasks)) == NULL)
		return ENOMEM;
	*row = t;
	return 0;
}

static int
compare_former_tids(const void *a, const void *b)
{
	const struct tnf_context_former *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The name that a thread of the context has taken last; it lasts as long as 'c'. */
static void
rename_task(struct tnf_context *c, int32_t tid, const char *comm)
{
	const struct tnf_context_task *last = tnf_context_task(c, tid);
	struct tnf_context_task *t = c->tasks.rows;
	const struct tnf_context_former key = { .tid = tid };

	if (c->own_formers.n == 0 || bsearch(&key, c->own_formers.rows, c->own_formers.n, sizeof key,
	    compare_former_tids) == NULL)
		return;
	for (t += last - t; t >= (struct tnf_context_task *)c->tasks.rows && t->tid == tid; t--)
		if (t->pid == last->pid)
			t->comm = comm;
}

static int
context_names_append(struct table *to, const struct table *from)
{
	void *row;

	for (size_t i = 0; i < from->n; i++) {
		if ((row = tnf_context_table_add(to)) == NULL)
			return ENOMEM;
		memcpy(row, (const char *)from->rows + i * from->size, from->size);
	}
	return 0;
}

int
tnf_context_names_settle(struct tnf_context *c)
{
	const struct tnf_context_task *rows = c->threads.rows, **own;
	struct tnf_context_former *f = c->own_formers.rows;
	bool known = c->tasks.n > 0;
	size_t n = c->threads.n;
	int e = 0;

	for (size_t i = 0; i < c->own_formers.n; i++)
		f[i].tid = outer_number(c, f[i].tid);
	if (c->own_formers.n > 1)
		qsort(f, c->own_formers.n, sizeof *f, compare_former_tids);
	own = calloc(n + 1, sizeof *own);
	if (own == NULL)
		return ENOMEM;
	for (size_t i = 0; i < n; i++)
		own[i] = &rows[i];
	qsort(own, n, sizeof *own, compare_own);
	for (size_t i = 0; e == 0 && i < n; i++) {
		struct tnf_context_task t = *own[i];

		t.ended = known;
		if (i > 0 && own[i]->tid == own[i - 1]->tid)
			continue;
		if (tnf_context_task(c, outer_number(c, t.tid)) != NULL)
			rename_task(c, outer_number(c, t.tid), t.comm);
		else
			e = add_task(c, &t);
	}
	free(own);
	if (e == 0)
		e = context_names_append(&c->tasks, &c->own_tasks);
	if (e == 0)
		e = context_names_append(&c->inners, &c->own_inners);
	return e != 0 ? e : context_names_append(&c->formers, &c->own_formers);
}

static int
compare_numbers(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint32_t
tnf_context_own_processes(const void *base, uint64_t size)
{
	tnf_context_t *c;
	int32_t *pids;
	uint32_t n = 0, different = 0;

	if (tnf_context_open_mem(base, (size_t)size, &c) != 0)
		return 0;
	const struct tnf_context_task *t = c->threads.rows;
	if ((pids = calloc(c->threads.n + 1, sizeof *pids)) != NULL) {
		for (size_t i = 0; i < c->threads.n; i++)
			if (t[i].tid == t[i].pid)
				pids[n++] = t[i].pid;
		qsort(pids, n, sizeof *pids, compare_numbers);
		for (size_t i = 0; i < n; i++)
			different += i == 0 || pids[i] != pids[i - 1];
	}
	free(pids);
	tnf_context_close(c);
	return different;
}
