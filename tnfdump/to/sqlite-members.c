/*
 * sqlite-members.c - the tables of a database beside that of events: members of probes, sleeps of
 * threads.
 *
 * Each kind of probe has a table for its members, and a view that joins the table with the events.
 * Probes of one name and equal members share a table, even if they are of different files.
 * Names come from traces: identifiers are always quoted, a name that is taken gets a
 * number, and a member with the name of a column of events gets the prefix "arg_".
 *
 * The index of --why knows the sleeps, and who ended each.
 */
#include <math.h>

#include "analysis/json.h"
#include "common/text.h"
#include "tnfdump/report/report.h"
#include "tnfdump/to/sqlite.h"

/* SQLite's own limit; a probe with more members keeps the first ones. */
#define MEMBERS_MAX	1900

struct member_table {
	int64_t		 probe;		/* row of probes, from 1; 0: not made yet */
	unsigned	 n;		/* columns */
	struct sqlite_rows rows;	/* of no table: no members */
};

struct members {
	struct dump	*d;
	struct sqlite	*db;
	struct perprobe	 tables;	/* struct member_table */
	sqlite3_stmt	*probe;
	int64_t		 last;		/* row of probes */
	struct out	 text;		/* JSON of a record or array */
};

struct members *
members_new(struct dump *d, struct sqlite *db)
{
	struct members *m = tnf_xcalloc(1, sizeof(*m));

	m->d = d;
	m->db = db;
	tnf_out_memory(&m->text);
	m->probe = sqlite_prepare(db, "INSERT INTO probes VALUES "
	    "(?1, ?2, ?3, ?4, ?5, ?6)");
	return m;
}

void
members_free(struct members *m)
{
	struct member_table *t = (struct member_table *)(void *)m->tables.base;

	for (size_t i = 0; i < m->tables.n; i++)
		sqlite_rows_end(&t[i].rows);
	tnf_out_close(&m->text);
	free(m->tables.base);
	sqlite3_finalize(m->probe);
	free(m);
}

static const char *
members_type(const struct tnf_type *t)
{
	if (t->opaque)
		return "TEXT";
	if (t->blob)
		return "BLOB";
	switch (t->kind) {
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		return "REAL";
	case TNF_K_CHAR:
	case TNF_K_STRING:
	case TNF_K_STRUCT:
	case TNF_K_ARRAY:
	case TNF_K_TYPE:
		return "TEXT";
	default:
		return "INTEGER";
	}
}

static bool
members_is_column(const char *name)
{
	static const char *const columns[] = { "id", "time", "pid", "lwpid",
	    "tid", "cpu", "file", "probe" };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcasecmp(columns[i], name) == 0)
			return true;
	return false;
}

/* True if a member before i has the same name; SQL ignores case. */
static bool
members_twice(const struct tnf_probe *p, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (strcasecmp(p->members[k].name, p->members[i].name) == 0)
			return true;
	return false;
}

/* Writes a name as UTF-8: if it is not valid, each byte above 127 becomes '?'. */
static void
members_name(struct out *o, const char *name)
{
	size_t n = strlen(name);

	if (tnf_utf8_is_valid(name, n))
		tnf_out_bytes(o, name, n);
	else
		for (size_t i = 0; i < n; i++)
			out_char(o, (unsigned char)name[i] < 0x80 ? name[i] : '?');
}

/* Returns ', "name" TYPE' for each column, or without types; the caller frees the text. */
static char *
members_columns(const struct tnf_probe *p, unsigned n, bool types)
{
	struct out o, name;

	tnf_out_memory(&o);
	for (unsigned i = 0; i < n; i++) {
		const struct tnf_member *m = &p->members[i];

		tnf_out_memory(&name);
		if (members_is_column(m->name))
			out_lit(&name, "arg_");
		members_name(&name, m->name);
		if (members_twice(p, i)) {
			out_char(&name, '_');
			tnf_out_u64(&name, i);
		}
		out_char(&name, '\0');
		char *quoted = sqlite3_mprintf(", \"%w\"%s%s", name.base,
		    types ? " " : "", types ? members_type(m->type) : "");
		out_str(&o, quoted != NULL ? quoted : "");
		sqlite3_free(quoted);
		tnf_out_close(&name);
	}
	out_char(&o, '\0');
	char *ret = tnf_xstrdup(o.base);
	tnf_out_close(&o);
	return ret;
}

/* The number of an earlier probe with that name and these columns, or 0. */
static int64_t
members_same(struct members *m, const char *name, const char *columns)
{
	sqlite3_stmt *find = sqlite_prepare(m->db,
	    "SELECT members FROM probes WHERE name IS ?1 AND columns = ?2");
	int64_t ret = 0;

	if (find == NULL)
		return 0;
	sqlite_bind_chars(find, 1, name, strlen(name), SQLITE_STATIC);
	sqlite_bind_chars(find, 2, columns, strlen(columns), SQLITE_STATIC);
	if (sqlite3_step(find) == SQLITE_ROW)
		ret = sqlite3_column_int64(find, 0);
	sqlite3_finalize(find);
	return ret;
}

/* A name for the view: the probe's, with a number if it is taken. */
static char *
members_view(struct members *m, const struct tnf_probe *p, int64_t number)
{
	sqlite3_stmt *find = sqlite_prepare(m->db,
	    "SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE");
	bool taken = false;
	struct out o;

	tnf_out_memory(&o);
	members_name(&o, p->name);
	out_char(&o, '\0');
	if (find != NULL) {
		sqlite3_bind_text(find, 1, o.base, -1, SQLITE_STATIC);
		taken = sqlite3_step(find) == SQLITE_ROW;
	}
	sqlite3_finalize(find);
	if (taken || strncasecmp(o.base, "sqlite_", 7) == 0 || o.base[0] == '\0') {
		o.p--;
		out_lit(&o, " (");
		tnf_out_i64(&o, number);
		out_lit(&o, ")");
		out_char(&o, '\0');
	}
	char *ret = tnf_xstrdup(o.base);
	tnf_out_close(&o);
	return ret;
}

/* Creates the table, and the view for people's queries. */
static void
members_create(struct members *m, const struct member_table *t,
    const struct tnf_probe *p, int64_t number, const char *columns)
{
	char *view = members_view(m, p, number);
	char *names = members_columns(p, t->n, false);

	if (*columns != '\0') {
		sqlite_runf(m->db, "CREATE TABLE \"members %lld\" "
		    "(event INTEGER PRIMARY KEY%s)", (long long)number, columns);
		sqlite_runf(m->db, "CREATE VIEW \"%w\" AS SELECT e.*%s "
		    "FROM \"members %lld\" m JOIN events e ON e.id = m.event",
		    view, names, (long long)number);
	} else
		sqlite_runf(m->db, "CREATE VIEW \"%w\" AS SELECT e.* FROM events e "
		    "JOIN probes p ON p.id = e.probe WHERE p.members = %lld",
		    view, (long long)number);
	free(names);
	free(view);
}

static void
members_make(struct members *m, struct member_table *t,
    const struct tnf_probe *p)
{
	t->n = p->n_members < MEMBERS_MAX ? p->n_members : MEMBERS_MAX;
	t->probe = ++m->last;
	char *columns = members_columns(p, t->n, true);
	int64_t number = members_same(m, p->name, columns);
	if (number == 0)
		members_create(m, t, p, number = t->probe, columns);
	if (t->n > 0) {
		char table[32];

		snprintf(table, sizeof(table), "\"members %lld\"", (long long)number);
		sqlite_rows_begin(&t->rows, m->db, table, (int)t->n + 1);
	}
	SQL_ROW(m->db, m->probe, "issssi", t->probe, SQL_TEXT(p->name),
	    SQL_TEXT(p->keys), SQL_TEXT(p->attrs), SQL_TEXT(columns), number);
	free(columns);
}

int64_t
members_probe(struct members *m, const struct tnf_probe *p)
{
	struct member_table *t = perprobe(&m->tables, p, sizeof(*t));

	if (t->probe == 0)
		members_make(m, t, p);
	return t->probe;
}

/* An empty buffer. */
static struct out *
members_text(struct members *m)
{
	m->text.p = m->text.base;
	return &m->text;
}

static void
members_bind_text(sqlite3_stmt *row, int i, const struct out *o)
{
	sqlite3_bind_text64(row, i, o->base, (sqlite3_uint64)(o->p - o->base),
	    SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void
members_bind_unsigned(struct members *m, sqlite3_stmt *row, int i, uint64_t u)
{
	if (u <= INT64_MAX) {
		sqlite3_bind_int64(row, i, (int64_t)u);
		return;
	}
	struct out *o = members_text(m);
	tnf_out_u64(o, u);
	members_bind_text(row, i, o);
}

static void
members_bind_real(sqlite3_stmt *row, int i, double d)
{
	if (isnan(d))
		sqlite3_bind_text(row, i, "NaN", 3, SQLITE_STATIC);
	else
		sqlite3_bind_double(row, i, d);
}

/* Binds opaque numbers, characters, records and arrays as jsonl prints them. */
static void
members_bind_other(struct members *m, sqlite3_stmt *row, int i,
    const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	struct out *o = members_text(m);

	print_json(m->d, o, ev, v, name);
	size_t n = out_size(o);
	if (n >= 2 && o->base[0] == '"')	/* a string, without its quotes */
		sqlite3_bind_text64(row, i, o->base + 1, n - 2, SQLITE_TRANSIENT,
		    SQLITE_UTF8);
	else
		members_bind_text(row, i, o);
}

static void
members_bind_chars(struct members *m, sqlite3_stmt *row, int i,
    const struct tnf_value *v)
{
	/* A mark's memory is valid until the next one, a live trace's until the writer comes round. */
	sqlite3_destructor_type how = v->cut || m->d->follow != NULL ? SQLITE_TRANSIENT :
	    SQLITE_STATIC;
	const char *chars = v->u.s.chars;
	size_t len = v->u.s.len;

	if (v->type->blob) {
		sqlite3_bind_blob64(row, i, chars, len, how);
		return;
	}
	if (v->cut)
		chars = print_marked(m->d, v, &len);
	sqlite_bind_chars(row, i, chars, len, how);
}

static void
members_bind(struct members *m, sqlite3_stmt *row, int i,
    const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	if (v->null) {
		sqlite3_bind_null(row, i);
		return;
	}
	switch (v->type->opaque ? TNF_K_UNKNOWN : v->kind) {
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		sqlite3_bind_int64(row, i, v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		members_bind_unsigned(m, row, i, v->u.u);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		members_bind_real(row, i, v->u.d);
		break;
	case TNF_K_STRING:
		members_bind_chars(m, row, i, v);
		break;
	default:
		members_bind_other(m, row, i, ev, v, name);
	}
}

void
members_add(struct members *m, const struct tnf_event *ev, int64_t id)
{
	struct member_table *t = perprobe(&m->tables, ev->probe, sizeof(*t));
	struct tnf_value v;

	if (t->rows.insert == NULL)
		return;
	int first = sqlite_rows_next(&t->rows) + 1;
	sqlite3_bind_int64(t->rows.insert, first, id);
	for (unsigned i = 0; i < t->n; i++)
		if (tnf_event_value(ev, i, &v))
			members_bind(m, t->rows.insert, first + 1 + (int)i, ev, &v,
			    ev->probe->members[i].name);
		else
			sqlite3_bind_null(t->rows.insert, first + 1 + (int)i);
	sqlite_rows_put(&t->rows);
}

struct sleeps {
	struct dump	*d;
	struct sqlite	*db;
	struct why_input *input;
	struct why	*why;		/* of 'input' */
	struct map	 kept;		/* with filters: numbers of threads with an event that is kept */
	sqlite3_stmt	*row;
};

struct sleeps *
sleeps_new(struct dump *d, struct sqlite *db)
{
	struct sleeps *s = tnf_xcalloc(1, sizeof(*s));

	s->d = d;
	s->db = db;
	s->input = why_input_new(d);
	s->why = why_pairs_index(why_input_pairs(s->input));
	tnf_map_init(&s->kept, 0);
	s->row = sqlite_prepare(db, "INSERT INTO sleeps VALUES "
	    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	return s;
}

void
sleeps_free(struct sleeps *s)
{
	sqlite3_finalize(s->row);
	tnf_map_free(&s->kept);
	why_input_free(s->input);
	free(s);
}

void
sleeps_event(struct sleeps *s, const struct tnf_event *ev)
{
	struct tnf_event machine = *ev;

	why_input_event(s->input, ev, PAIR_NONE, NULL);
	if (s->d->filters == NULL || s->d->keep != KEEP_ALL)
		return;
	if (!ev->kernel)
		origin_host(s->d, ev, &machine.pid, &machine.lwpid);
	uint32_t thread = why_writer(s->why, &machine);
	tnf_xmap_put(&s->kept, &thread, sizeof(thread), NULL);
}

/* The sleeper or its waker has an event that is kept, and some of the sleep is in the time asked for. */
static bool
is_kept(const struct sleeps *s, const struct why_sleep *w)
{
	return w->woken >= s->d->low && w->from <= s->d->high && (s->d->filters == NULL ||
	    tnf_map_get(&s->kept, &w->thread, sizeof(w->thread)) != NULL ||
	    tnf_map_get(&s->kept, &w->waker, sizeof(w->waker)) != NULL);
}

/* -1, for NULL: nobody, or a thread whose numbers the trace does not tell. */
static int64_t
pid_of(const struct why_thread *t)
{
	return t != NULL && t->lwpid != 0 ? t->pid : -1;
}

static int64_t
lwpid_of(const struct why_thread *t)
{
	return t != NULL && t->lwpid != 0 ? (int64_t)t->lwpid : -1;
}

static void
add(void *arg, const struct why_sleep *w)
{
	struct sleeps *s = arg;
	const struct why_node node = { .kind = WHY_ASLEEP, .cause = w->cause };
	const struct why_thread *t = why_thread(s->why, w->thread);
	const struct why_thread *waker = why_thread(s->why, w->waker);
	const struct why_thread *owner = why_thread(s->why, w->owner);

	if (t == NULL || !is_kept(s, w))
		return;
	SQL_ROW(s->db, s->row, w->from == INT64_MIN ? "xiis-iisoooosi" : "xiisiiisoooosi",
	    (int64_t)t->tid, t->pid, t->lwpid, SQL_TEXT(why_reason_name(&node)), w->from, w->woken,
	    w->runs - w->woken, SQL_TEXT(why_waker_name(w->by)), pid_of(waker), lwpid_of(waker),
	    pid_of(owner), lwpid_of(owner), SQL_TEXT(w->where), (int64_t)t->host + 1);
}

void
sleeps_end(struct sleeps *s)
{
	why_sleeps(s->why, add, s);
}
