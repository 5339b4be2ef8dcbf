/*
 * context-lookup.c - finds a context in a file, facts in a context, and what the file itself
 * says of the names of its threads.
 */
#include <stdio.h>

#include <tnf/com.h>
#include <tnf/tnf.h>

#include "common/files.h"
#include "format/bytes.h"
#include "libtnf/context.h"

#define EXT(member)	(TNF_EXT_OFFSET + offsetof(struct tnf_ext, member))

#define MAGIC_LINE	"TNFCTX 1\n"
#define MAGIC_SIZE	(sizeof MAGIC_LINE - 1)
#define HEAD_SIZE	(TNF_EXT_OFFSET + sizeof(struct tnf_ext))

/* Tells where the context lies, from the first HEAD_SIZE bytes of a file of this size. */
static int
context_lookup_locate(const struct bytes *b, uint64_t size, uint64_t *offset, uint64_t *length)
{
	uint32_t first = bytes_u32(b, 0);

	if (first != TNF_MAGIC)
		return first == 0 ? ENODATA : TNF_ERR_NOTTNF;
	if (bytes_u32(b, EXT(magic)) != TNF_EXT_MAGIC ||
	    bytes_u32(b, EXT(version)) != TNF_EXT_VERSION ||
	    (bytes_u32(b, EXT(incompatible)) & ~TNF_EXT_INCOMPATIBLE) ||
	    bytes_u32(b, EXT(size)) < offsetof(struct tnf_ext, cookie))
		return ENODATA;
	*offset = bytes_u64(b, EXT(extra_offset));
	*length = bytes_u64(b, EXT(extra_size));
	if (*offset == 0 || *length == 0)
		return ENODATA;
	if (*offset > size || *length > size - *offset ||
	    *length > TNF_CONTEXT_SIZE_MAX)
		return TNF_ERR_BADTNF;
	return 0;
}

static int
read_memory(const struct context_source *s, void *buf, size_t n, uint64_t offset)
{
	if (offset > s->size || n > s->size - offset)
		return TNF_ERR_BADTNF;
	memcpy(buf, s->base + offset, n);
	return 0;
}

static int
read_file(const struct context_source *s, void *buf, size_t n, uint64_t offset)
{
	ssize_t got = pread(s->fd, buf, n, (off_t)offset);
	if (got < 0)
		return errno;
	return (size_t)got == n ? 0 : TNF_ERR_BADTNF;
}

/* The context's own text, and in front of its facts what the process has said. */
static int
read_text(const struct context_source *s, uint64_t offset, size_t length, const char *names,
    size_t size, tnf_context_t **ret)
{
	char *text = malloc(length + size + MAGIC_SIZE);
	size_t first = MAGIC_SIZE;
	int e = text == NULL ? ENOMEM : 0;

	if (e == 0 && length == 0)
		memcpy(text, MAGIC_LINE, first);
	else if (e == 0 && length < first)
		e = TNF_ERR_BADTNF;
	else if (e == 0 && (e = s->read(s, text, first, offset)) == 0)
		e = s->read(s, text + first + size, length - first, offset + first);
	if (e == 0 && size > 0)
		memcpy(text + first, names, size);
	if (e == 0)
		e = tnf_context_parse(text, size + (length == 0 ? first : length), ret);
	free(text);
	return e;
}

static int
open_source(struct context_source *s, tnf_context_t **ret)
{
	unsigned char head[HEAD_SIZE];
	uint64_t offset, length = 0;
	size_t size;
	char *names;
	int e, e2;

	if ((e = s->read(s, head, sizeof head, 0)) != 0)
		return e;
	struct bytes b = { head, sizeof head, false };
	b.swap = s->swapped = bytes_u32(&b, 0) == TNF_MAGIC_SWAPPED;
	e = context_lookup_locate(&b, s->size, &offset, &length);
	if (e != 0 && e != ENODATA)
		return e;
	if ((e2 = tnf_context_names(s, &names, &size)) != 0)
		return e2;
	if (e == ENODATA && size == 0) {
		free(names);
		return ENODATA;
	}
	e = read_text(s, e == 0 ? offset : 0, e == 0 ? (size_t)length : 0, names, size, ret);
	free(names);
	return e;
}

EXPORT int
tnf_context_open_mem(const void *base, size_t size, tnf_context_t **ret)
{
	struct context_source s = { .read = read_memory, .base = base, .size = size };

	return size < HEAD_SIZE ? TNF_ERR_NOTTNF : open_source(&s, ret);
}

static int
open_fd(int fd, tnf_context_t **ret)
{
	struct context_source s = { .read = read_file, .fd = fd };
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)HEAD_SIZE)
		return TNF_ERR_NOTTNF;
	s.size = (uint64_t)st.st_size;
	return open_source(&s, ret);
}

EXPORT int
tnf_context_open(const char *path, tnf_context_t **ret)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? errno : open_fd(fd, ret);
}

EXPORT const char *
tnf_context_fact(const tnf_context_t *c, const char *name)
{
	const struct fact *f = c->facts.rows;

	for (size_t i = 0; i < c->facts.n; i++)
		if (strcmp(f[i].name, name) == 0)
			return f[i].value;
	return NULL;
}

EXPORT bool
tnf_context_wall(const tnf_context_t *c, int64_t time, int64_t *ret)
{
	int64_t delta;

	return c->has_clock && !__builtin_sub_overflow(time, c->mono, &delta) &&
	    !__builtin_add_overflow(c->wall, delta, ret);
}

/* The last row that is not sorted behind the key, which is a row, too; or NULL. */
static const void *
last_not_after(const struct table *t, const void *key)
{
	size_t lo = 0, hi = t->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->compare((const char *)t->rows + mid * t->size, key) > 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo == 0 ? NULL : (const char *)t->rows + (lo - 1) * t->size;
}

EXPORT const struct tnf_context_task *
tnf_context_task(const tnf_context_t *c, int32_t tid)
{
	const struct tnf_context_task key = { .tid = tid };
	const struct tnf_context_task *t = last_not_after(&c->tasks, &key);

	return t != NULL && t->tid == tid ? t : NULL;
}

EXPORT const struct tnf_context_task *
tnf_context_writer(const tnf_context_t *c, int32_t tid)
{
	const struct inner key = { .inner_tid = tid };

	if (c->inners.n == 0)
		return tnf_context_task(c, tid);
	const struct inner *n = last_not_after(&c->inners, &key);
	return n != NULL && n->inner_tid == tid ?
	    tnf_context_task(c, n->tid) : NULL;
}

/* A thread's name at 'time': the first one that ended after 'time', else its present one. */
EXPORT const char *
tnf_context_name(const tnf_context_t *c, int32_t tid, int64_t time)
{
	struct tnf_context_former key = { .tid = tid, .time = time };
	const struct tnf_context_former *all = c->formers.rows, *f;

	f = last_not_after(&c->formers, &key);
	size_t next = f == NULL ? 0 : (size_t)(f - all) + 1;
	if (next < c->formers.n && all[next].tid == tid)
		return all[next].comm;
	const struct tnf_context_task *t = tnf_context_task(c, tid);
	return t != NULL ? t->comm : NULL;
}

static const char *
path_find(const struct table *t, int32_t pid)
{
	const struct path_of key = { .pid = pid };
	const struct path_of *p = last_not_after(t, &key);

	return p != NULL && p->pid == pid ? p->path : NULL;
}

/* The program that began last by then; before the first that is known, that one. */
EXPORT const char *
tnf_context_program(const tnf_context_t *c, int32_t pid, int64_t time)
{
	const struct tnf_context_former key = { .tid = pid, .time = time };
	const struct tnf_context_former *all = c->ran.rows, *f;
	const char *last = path_find(&c->programs, pid);

	if (time == INT64_MAX && last != NULL)
		return last;
	f = last_not_after(&c->ran, &key);
	if (f != NULL && f->tid == pid)
		return f->comm;
	size_t next = f == NULL ? 0 : (size_t)(f - all) + 1;
	return next < c->ran.n && all[next].tid == pid ? all[next].comm : last;
}

EXPORT const char *
tnf_context_cgroup(const tnf_context_t *c, int32_t pid)
{
	return path_find(&c->cgroups, pid);
}

EXPORT const struct tnf_context_symbol *
tnf_context_symbol(const tnf_context_t *c, uint64_t addr)
{
	const struct tnf_context_symbol key = { .start = addr };
	const struct tnf_context_symbol *s = last_not_after(&c->symbols, &key);

	return s != NULL && addr < s->end ? s : NULL;
}

EXPORT const struct tnf_context_object *
tnf_context_object(const tnf_context_t *c, int32_t pid, uint64_t addr)
{
	struct tnf_context_object key = { .pid = pid, .start = addr };
	const struct tnf_context_object *o = last_not_after(&c->objects, &key);

	return o != NULL && o->pid == pid && addr < o->end ? o : NULL;
}

EXPORT const char *
tnf_context_device(const tnf_context_t *c, uint32_t major, uint32_t minor)
{
	const struct device *d = c->devices.rows;

	for (size_t i = 0; i < c->devices.n; i++)
		if (d[i].major == major && d[i].minor == minor)
			return d[i].name;
	return NULL;
}

#define ALL(name, type)							\
EXPORT const struct type *						\
tnf_context_##name(const tnf_context_t *c, size_t *n)			\
{									\
	*n = c->name.n;							\
	return c->name.rows;						\
}

ALL(tasks, tnf_context_task)
ALL(symbols, tnf_context_symbol)
ALL(objects, tnf_context_object)
ALL(formers, tnf_context_former)
ALL(ran, tnf_context_former)

/* The lines in the file's blocks of names (tnf(5), "Names") are put beside what its context
   tells. */
#define BLOCKS_MAX	8192u
#define CELL_MASK	0xffff0000u
#define STEP		8u	/* cells are multiples of this */

/* All cells of a block, a line each. */
static void
block_lines(const struct bytes *b, FILE *f)
{
	size_t at = TNF_NAMES_FIRST;

	while (at + STEP <= b->size) {
		uint32_t head = bytes_u32(b, at), n = head & ~CELL_MASK;
		if ((head & CELL_MASK) != TNF_NAMES_CELL || n == 0 || n > b->size - at - 4) {
			at += STEP;
			continue;
		}
		fwrite(b->base + at + 4, 1, n, f);
		putc_unlocked('\n', f);
		at += (4 + n + STEP - 1) / STEP * STEP;
	}
}

/* The latest block comes first in the chain, and last in the text. */
static int
blocks_lines(const struct context_source *s, uint32_t latest, uint32_t size, FILE *f)
{
	unsigned char *block = malloc(size);
	uint32_t *chain = calloc(BLOCKS_MAX, sizeof *chain), n = 0;
	const struct bytes b = { block, size, s->swapped };
	int e = block == NULL || chain == NULL ? ENOMEM : 0;

	for (uint32_t at = latest; e == 0 && at != 0 && n < BLOCKS_MAX &&
	    n < s->size / size; n++) {		/* a chain may lead back to itself */
		chain[n] = at;
		if (at % size != 0 || s->read(s, block, size, at) != 0)
			break;
		at = bytes_u32(&b, 32);
	}
	while (e == 0 && n > 0)
		if (s->read(s, block, size, chain[--n]) == 0)
			block_lines(&b, f);
	free(block);
	free(chain);
	return e;
}

int
tnf_context_names(const struct context_source *s, char **ret, size_t *ret_size)
{
	unsigned char head[HEAD_SIZE];
	const struct bytes b = { head, sizeof head, s->swapped };
	uint32_t block_size, latest;
	FILE *f;

	*ret = NULL;
	*ret_size = 0;
	if (s->read(s, head, sizeof head, 0) != 0 ||
	    bytes_u32(&b, EXT(magic)) != TNF_EXT_MAGIC ||
	    bytes_u32(&b, EXT(size)) < offsetof(struct tnf_ext, names) + sizeof(uint64_t))
		return 0;
	latest = (uint32_t)(bytes_u64(&b, EXT(names)) >> 32);
	block_size = bytes_u32(&b, offsetof(struct tnf_file_header, block_size));
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
 * The process's own lines name its threads by the ids in its events; the context names them
 * by the machine's ids.  A line of the process counts in two cases: the context has none for
 * the thread, or the line tells of a change of the name, which may be later than
 * the context.
 */
static int32_t
outer_number(const struct tnf_context *c, int32_t tid)
{
	const struct inner key = { .inner_tid = tid }, *n = last_not_after(&c->inners, &key);

	return n != NULL && n->inner_tid == tid ? n->tid : tid;
}

/* Sorts by thread; of one thread, the later rows come first. */
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

COMPARE_BY(compare_former_tids, struct tnf_context_former, tid)

/* Sets the name that a thread has taken last; 'comm' lasts as long as 'c'. */
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
	f = c->own_ran.rows;
	for (size_t i = 0; i < c->own_ran.n; i++)
		f[i].tid = outer_number(c, f[i].tid);
	f = c->own_formers.rows;
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
	if (e == 0)
		e = context_names_append(&c->ran, &c->own_ran);
	return e != 0 ? e : context_names_append(&c->formers, &c->own_formers);
}

COMPARE_NUMBERS(compare_numbers, int32_t)

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
