/*
 * context.c - reads the context that snapshots carry (tnf(5), "Context").
 *
 * One line a fact: a word, a blank, and what the word calls for.  Words that
 * are not known here are kept as facts, so that a newer writer's file is read
 * by an older library.  The text is copied once and cut up in place.
 */
#include <errno.h>
#include <string.h>

#include <tnf/tnf.h>

#include "libtnf/context.h"

#define MAGIC_LINE	"TNFCTX 1\n"

void *
tnf_context_table_add(struct table *t)
{
	void *rows = tnf_grow(t->rows, t->n, t->size);

	if (rows == NULL)
		return NULL;
	t->rows = rows;
	return (char *)t->rows + t->size * t->n++;
}

static int
context_keep(struct table *t, const void *row)
{
	void *place = tnf_context_table_add(t);

	if (place == NULL)
		return ENOMEM;
	memcpy(place, row, t->size);
	return 0;
}

/* Backslash and three octal digits stand for a byte; NUL cannot be named. */
static void
context_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			int c = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			if (c != 0) {
				*to++ = (char)c;
				s += 3;
				continue;
			}
		}
		*to++ = *s;
	}
	*to = '\0';
}

/* Cuts 'line' into n fields at single blanks; the last takes the rest. */
static bool
context_cut(char *line, char **field, int n)
{
	int i;

	for (i = 0; i < n - 1; i++) {
		field[i] = line;
		line = strchr(line, ' ');
		if (line == NULL)
			return false;
		*line++ = '\0';
	}
	field[i] = line;
	context_unescape(field[i]);
	return true;
}

static bool
context_number(const char *s, int base, uint64_t max, uint64_t *ret)
{
	char *end;

	if (*s < '0' || (*s > '9' && (base != 16 || *s < 'a' || *s > 'f')))
		return false;
	errno = 0;
	*ret = strtoull(s, &end, base);
	return errno == 0 && *end == '\0' && *ret <= max;
}

static bool
number_i32(const char *s, int32_t *ret)
{
	uint64_t v;

	if (!context_number(s, 10, INT32_MAX, &v))
		return false;
	*ret = (int32_t)v;
	return true;
}

/* The line's parsers: 0, ENOMEM, or EBADMSG: skip the line. */
static int
parse_task_line(struct table *table, char *rest, bool ended)
{
	struct tnf_context_task t = { .ended = ended };
	char *f[4];

	if (!context_cut(rest, f, 4) || !number_i32(f[0], &t.tid) ||
	    !number_i32(f[1], &t.pid) || !number_i32(f[2], &t.ppid))
		return EBADMSG;
	t.comm = f[3];
	return context_keep(table, &t);
}

static int
parse_task(struct table *table, char *rest)
{
	return parse_task_line(table, rest, false);
}

static int
parse_ended(struct table *table, char *rest)
{
	return parse_task_line(table, rest, true);
}

static int
parse_inner(struct table *table, char *rest)
{
	struct inner n;
	int32_t pid, inner_pid;
	char *f[4];

	if (!context_cut(rest, f, 4) || !number_i32(f[0], &n.tid) ||
	    !number_i32(f[1], &pid) || !number_i32(f[2], &n.inner_tid) ||
	    !number_i32(f[3], &inner_pid))
		return EBADMSG;
	return context_keep(table, &n);
}

static int
parse_former(struct table *table, char *rest)
{
	struct tnf_context_former was;
	uint64_t time;
	char *f[3];

	if (!context_cut(rest, f, 3) || !number_i32(f[0], &was.tid) ||
	    !context_number(f[1], 10, INT64_MAX, &time))
		return EBADMSG;
	was.time = (int64_t)time;
	was.comm = f[2];
	return context_keep(table, &was);
}

static int
parse_path(struct table *table, char *rest)
{
	struct path_of p;
	char *f[2];

	if (!context_cut(rest, f, 2) || !number_i32(f[0], &p.pid))
		return EBADMSG;
	p.path = f[1];
	return context_keep(table, &p);
}

static int
parse_symbol(struct table *table, char *rest)
{
	struct tnf_context_symbol s;
	char *f[4];

	if (!context_cut(rest, f, 4) || !context_number(f[0], 16, UINT64_MAX, &s.start) ||
	    !context_number(f[1], 16, UINT64_MAX, &s.end) || s.end <= s.start)
		return EBADMSG;
	context_unescape(f[2]);
	s.module = strcmp(f[2], "-") == 0 ? "" : f[2];
	s.name = f[3];
	return context_keep(table, &s);
}

static int
parse_object(struct table *table, char *rest)
{
	struct tnf_context_object o;
	char *f[6];

	if (!context_cut(rest, f, 6) || !number_i32(f[0], &o.pid) ||
	    !context_number(f[1], 16, UINT64_MAX, &o.start) ||
	    !context_number(f[2], 16, UINT64_MAX, &o.end) || o.end <= o.start ||
	    !context_number(f[3], 16, UINT64_MAX, &o.offset))
		return EBADMSG;
	o.build_id = f[4];
	o.path = f[5];
	return context_keep(table, &o);
}

static int
parse_device(struct table *table, char *rest)
{
	uint64_t major, minor;
	char *f[3];

	if (!context_cut(rest, f, 3) || !context_number(f[0], 10, UINT32_MAX, &major) ||
	    !context_number(f[1], 10, UINT32_MAX, &minor))
		return EBADMSG;
	const struct device d = { (uint32_t)major, (uint32_t)minor, f[2] };

	return context_keep(table, &d);
}

static int
context_parse_clock(struct tnf_context *c, char *rest)
{
	uint64_t mono, wall;
	char *f[2];

	if (!context_cut(rest, f, 2) || !context_number(f[0], 10, INT64_MAX, &mono) ||
	    !context_number(f[1], 10, INT64_MAX, &wall))
		return EBADMSG;
	c->mono = (int64_t)mono;
	c->wall = (int64_t)wall;
	c->has_clock = true;
	return 0;
}

static const struct line_kind {
	const char *word;
	int	  (*parse)(struct table *, char *rest);
	size_t	    table;		/* in the context */
} line_kinds[] = {
#define TABLE(name)	offsetof(struct tnf_context, name)
	{ "task", parse_task, TABLE(tasks) },
	{ "ended", parse_ended, TABLE(tasks) },
	{ "inner", parse_inner, TABLE(inners) },
	{ "named", parse_former, TABLE(formers) },
	/* Lines of the process itself, with the ids that its events bear. */
	{ "thread", parse_task, TABLE(threads) },
	{ "renamed", parse_former, TABLE(own_formers) },
	{ "runs", parse_former, TABLE(own_ran) },
	{ "ran", parse_former, TABLE(ran) },
	{ "program", parse_path, TABLE(programs) },
	{ "cgroup", parse_path, TABLE(cgroups) },
	{ "symbol", parse_symbol, TABLE(symbols) },
	{ "object", parse_object, TABLE(objects) },
	{ "device", parse_device, TABLE(devices) },
#undef TABLE
};

static int
parse_line(struct tnf_context *c, char *line)
{
	char *rest = strchr(line, ' ');

	if (rest == NULL || rest == line)
		return EBADMSG;
	*rest++ = '\0';
	for (size_t i = 0; i < sizeof line_kinds / sizeof line_kinds[0]; i++)
		if (strcmp(line, line_kinds[i].word) == 0)
			return line_kinds[i].parse((void *)((char *)c + line_kinds[i].table), rest);
	if (strcmp(line, "clock") == 0)
		return context_parse_clock(c, rest);
	context_unescape(rest);
	const struct fact fact = { .name = line, .value = rest };

	return context_keep(&c->facts, &fact);
}

/* An id may have been used again: the task that lives now comes last, and is found. */
static int
compare_tasks(const void *a, const void *b)
{
	const struct tnf_context_task *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (int)y->ended - (int)x->ended;
}

/* A process's writer notes its threads before they run, and again when they have
   ended: that is one task. */
static void
drop_noted_twice(struct table *tasks)
{
	struct tnf_context_task *t = tasks->rows;
	size_t i, n = 0;

	for (i = 0; i < tasks->n; i++)
		if (i + 1 == tasks->n || !t[i].ended ||
		    t[i].tid != t[i + 1].tid || t[i].pid != t[i + 1].pid ||
		    strcmp(t[i].comm, t[i + 1].comm) != 0)
			t[n++] = t[i];
	tasks->n = n;
}

COMPARE_BY(compare_inners, struct inner, inner_tid)

static int
compare_formers(const void *a, const void *b)
{
	const struct tnf_context_former *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

COMPARE_BY(compare_paths, struct path_of, pid)

COMPARE_BY(compare_symbols, struct tnf_context_symbol, start)

static int
compare_objects(const void *a, const void *b)
{
	const struct tnf_context_object *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* The rows of each table, and how they are sorted.  Tables of what the process itself has
   said are not sorted: their rows are moved to the others. */
static const struct { size_t table, row; int (*compare)(const void *, const void *); } tables[] = {
#define T(member, type, compare) { offsetof(struct tnf_context, member), sizeof(struct type), compare }
	T(tasks, tnf_context_task, compare_tasks),
	T(inners, inner, compare_inners),
	T(formers, tnf_context_former, compare_formers),
	T(ran, tnf_context_former, compare_formers),
	T(programs, path_of, compare_paths),
	T(cgroups, path_of, compare_paths),
	T(symbols, tnf_context_symbol, compare_symbols),
	T(objects, tnf_context_object, compare_objects),
	T(facts, fact, NULL),
	T(devices, device, NULL),
	T(threads, tnf_context_task, NULL),
	T(own_tasks, tnf_context_task, NULL),
	T(own_formers, tnf_context_former, NULL),
	T(own_ran, tnf_context_former, NULL),
	T(own_inners, inner, NULL),
#undef T
};
#define N_TABLES	(sizeof tables / sizeof tables[0])

static struct table *
table_of(struct tnf_context *c, size_t i)
{
	return (void *)((char *)c + tables[i].table);
}

static void
sort_all(struct tnf_context *c)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		struct table *t = table_of(c, i);
		if (t->compare != NULL && t->n > 1)
			qsort(t->rows, t->n, t->size, t->compare);
	}
}

EXPORT int
tnf_context_parse(const void *text, size_t size, tnf_context_t **ret)
{
	char *line, *end;
	int e = 0;

	if (size > TNF_CONTEXT_SIZE_MAX || size < strlen(MAGIC_LINE) ||
	    memcmp(text, MAGIC_LINE, strlen(MAGIC_LINE)) != 0)
		return TNF_ERR_BADTNF;
	struct tnf_context *c = calloc(1, sizeof *c);
	if (c == NULL)
		return ENOMEM;
	for (size_t i = 0; i < N_TABLES; i++)
		*table_of(c, i) = (struct table){ .size = tables[i].row, .compare = tables[i].compare };
	c->text = malloc(size + 1);
	if (c->text == NULL) {
		tnf_context_close(c);
		return ENOMEM;
	}
	memcpy(c->text, text, size);
	c->text[size] = '\0';

	/* An unfinished last line, and all behind a NUL, does not count. */
	for (line = c->text + strlen(MAGIC_LINE);
	    (end = strchr(line, '\n')) != NULL && e != ENOMEM; line = end + 1) {
		*end = '\0';
		e = parse_line(c, line);
	}
	if (e == ENOMEM) {
		tnf_context_close(c);
		return ENOMEM;
	}
	sort_all(c);
	drop_noted_twice(&c->tasks);
	if (c->threads.n > 0 || c->own_formers.n > 0 || c->own_ran.n > 0) {
		if (tnf_context_names_settle(c) != 0) {
			tnf_context_close(c);
			return ENOMEM;
		}
		sort_all(c);
	}
	*ret = c;
	return 0;
}

EXPORT void
tnf_context_close(tnf_context_t *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < N_TABLES; i++)
		free(table_of(c, i)->rows);
	free(c->text);
	free(c);
}
