/*
 * sqlite.c - an SQLite database: events, pairs, threads, their states and sleeps.  The schema
 * is the table below, and in tnfformats(5).
 *
 * The database appears under its name complete or not at all.
 */
#include "common/text.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/sqlite.h"

static const char schema[] =
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, host TEXT,"
    " release TEXT, machine TEXT, boot_id TEXT, clock INTEGER,"
    " first INTEGER, last INTEGER, events INTEGER,"
    " host_id INTEGER REFERENCES hosts(id));"
    "CREATE TABLE losses (file INTEGER REFERENCES files(id), reason TEXT,"
    " events INTEGER);"
    "CREATE TABLE probes (id INTEGER PRIMARY KEY, name TEXT, keys TEXT,"
    " attributes TEXT, columns TEXT, members INTEGER);"
    "CREATE TABLE events (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
    " pid INTEGER, lwpid INTEGER, tid, cpu INTEGER,"
    " file INTEGER REFERENCES files(id), probe INTEGER REFERENCES probes(id));"
    /* Its rows come in order of time: sorting them later would take longer. */
    "CREATE INDEX events_time ON events (time);"
    "CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT, clock_offset INTEGER,"
    " clock_error INTEGER, source TEXT, moved INTEGER);"
    "CREATE TABLE unordered (event INTEGER PRIMARY KEY REFERENCES events(id));"
    "CREATE TABLE pairs (id INTEGER PRIMARY KEY, span TEXT, start INTEGER,"
    " \"end\" INTEGER, duration INTEGER, pid INTEGER, lwpid INTEGER,"
    " start_event INTEGER REFERENCES events(id),"
    " end_event INTEGER REFERENCES events(id));"
    "CREATE TABLE states (tid TEXT, pid INTEGER, lwpid INTEGER, state TEXT,"
    " start INTEGER, duration INTEGER, host INTEGER REFERENCES hosts(id));"
    "CREATE TABLE sleeps (tid TEXT, pid INTEGER, lwpid INTEGER, reason TEXT, start INTEGER,"
    " woken INTEGER, delay INTEGER, \"by\" TEXT, waker_pid INTEGER, waker_lwpid INTEGER,"
    " owner_pid INTEGER, owner_lwpid INTEGER, place TEXT, host INTEGER REFERENCES hosts(id));"
    "CREATE TABLE threads (pid INTEGER, lwpid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER REFERENCES hosts(id), program TEXT, cgroup TEXT,"
    " PRIMARY KEY (host, pid, lwpid));"
    "CREATE TABLE processes (pid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER REFERENCES hosts(id), program TEXT, cgroup TEXT,"
    " PRIMARY KEY (host, pid));"
    "CREATE TEMP TABLE seen (pid INTEGER, lwpid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER, program TEXT,"
    " cgroup TEXT);";

/* Run after all rows are inserted: one pass over the table is faster than work for each row. */
static const char summary[] =
    "CREATE INDEX pairs_start ON pairs (start);"
    "CREATE INDEX states_start ON states (start);"
    "CREATE INDEX sleeps_woken ON sleeps (woken);"
    "INSERT INTO threads SELECT * FROM seen ORDER BY pid, lwpid;"
    "INSERT INTO processes SELECT pid, max(CASE WHEN lwpid = pid THEN comm END),"
    " min(first), max(last), sum(events), host, max(program), max(cgroup) FROM threads"
    " GROUP BY host, pid;"
    "CREATE VIEW log AS SELECT e.id, e.time,"
    " (e.time + f.clock) / 1e9 AS unix, e.pid, e.lwpid, e.cpu, t.comm,"
    " p.name AS probe, p.keys, h.name AS host FROM events e"
    " JOIN probes p ON p.id = e.probe"
    " JOIN files f ON f.id = e.file JOIN hosts h ON h.id = f.host_id"
    " LEFT JOIN threads t ON t.host = f.host_id AND t.pid = e.pid AND"
    " t.lwpid = e.lwpid;";

static void
sqlite_fail(struct sqlite *s, const char *text)
{
	if (s->error == NULL)
		s->error = tnf_xstrdup(text);
}

/* The file is not read before it has its name, so it needs no journal, no waiting for the
   disk and no locks. */
static const char sqlite_fast[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
    "PRAGMA page_size = 16384; PRAGMA cache_size = -65536; BEGIN;";

/* Creates the file beside 'path', mode 0600. */
static void
sqlite_create(struct sqlite *s, const char *path)
{
	/* One thread uses SQLite, and nobody asks how much memory it has: no locks. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	*s = (struct sqlite){ .path = path, .temp = tnf_xasprintf("%s.XXXXXX", path) };
	int fd = mkstemp(s->temp);
	if (fd < 0) {
		sqlite_fail(s, strerror(errno));
		free(s->temp);
		s->temp = NULL;
		return;
	}
	close(fd);
	if (sqlite3_open_v2(s->temp, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
	    NULL) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	sqlite_run(s, sqlite_fast);
}

/* Commits, and gives the file its name, replacing any file of that name. */
static void
sqlite_commit(struct sqlite *s)
{
	sqlite_run(s, "COMMIT;");
	if (s->error == NULL && sqlite3_close(s->db) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	else if (s->error == NULL)
		s->db = NULL;
	if (s->error == NULL && rename(s->temp, s->path) != 0)
		sqlite_fail(s, strerror(errno));
	if (s->error == NULL) {
		free(s->temp);
		s->temp = NULL;
	}
}

/* Deletes the file if it is not committed, and frees all memory. */
static void
sqlite_close(struct sqlite *s)
{
	sqlite3_close_v2(s->db);
	if (s->temp != NULL)
		unlink(s->temp);
	free(s->temp);
	free(s->error);
}

void
sqlite_run(struct sqlite *s, const char *sql)
{
	if (s->error == NULL &&
	    sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
}

void
sqlite_runf(struct sqlite *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sql == NULL)
		sqlite_fail(s, "out of memory");
	else
		sqlite_run(s, sql);
	sqlite3_free(sql);
}

sqlite3_stmt *
sqlite_prepare(struct sqlite *s, const char *sql)
{
	sqlite3_stmt *ret = NULL;

	if (s->error == NULL && sqlite3_prepare_v3(s->db, sql, -1,
	    SQLITE_PREPARE_PERSISTENT, &ret, NULL) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	return ret;
}

void
sqlite_insert(struct sqlite *s, sqlite3_stmt *row)
{
	if (row == NULL || s->error != NULL)
		return;
	if (sqlite3_step(row) != SQLITE_DONE)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	sqlite3_reset(row);
}

void
sqlite_bind_chars(sqlite3_stmt *row, int i, const char *chars, size_t n,
    sqlite3_destructor_type how)
{
	if (tnf_utf8_is_valid(chars, n))
		sqlite3_bind_text64(row, i, chars, n, how, SQLITE_UTF8);
	else
		sqlite3_bind_blob64(row, i, chars, n, how);
}

#define ROWS	16	/* inserted at a time */

/* A statement for so many rows between two pieces of text. */
static sqlite3_stmt *
rows_prepare(const struct sqlite_rows *r, const char *before, const char *after)
{
	struct out o;

	tnf_out_memory(&o);
	tnf_out_format(&o, "INSERT INTO %s %s", r->table, before);
	for (int i = 0; i < ROWS * r->columns; i++)
		out_str(&o, i == 0 ? "(?" : i % r->columns == 0 ? "),(?" : ",?");
	tnf_out_format(&o, ")%s", after);
	out_char(&o, '\0');
	sqlite3_stmt *ret = sqlite_prepare(r->db, o.base);
	tnf_out_close(&o);
	return ret;
}

void
sqlite_rows_begin(struct sqlite_rows *r, struct sqlite *s, const char *table, int columns)
{
	*r = (struct sqlite_rows){ s, NULL, tnf_xstrdup(table), columns, 0 };
	r->insert = rows_prepare(r, "VALUES ", "");
}

int
sqlite_rows_next(struct sqlite_rows *r)
{
	return r->n * r->columns;
}

void
sqlite_rows_put(struct sqlite_rows *r)
{
	if (++r->n < ROWS)
		return;
	sqlite_insert(r->db, r->insert);
	r->n = 0;
}

/* Inserts the last rows: a row whose first column is null is none. */
void
sqlite_rows_end(struct sqlite_rows *r)
{
	sqlite3_stmt *last = r->n == 0 || r->insert == NULL ? NULL :
	    rows_prepare(r, "SELECT * FROM (VALUES ", ") WHERE column1 IS NOT NULL");

	if (last != NULL) {
		sqlite3_transfer_bindings(r->insert, last);
		for (; r->n < ROWS; r->n++)
			sqlite3_bind_null(last, r->n * r->columns + 1);
		sqlite_insert(r->db, last);
	}
	sqlite3_finalize(last);
	sqlite3_finalize(r->insert);
	free(r->table);
}

void
sqlite_bind(sqlite3_stmt *row, int before, const char *kinds, const int64_t *v)
{
	char hex[sizeof("0x") + 16], *p = hex + sizeof(hex);

	for (int i = before + 1; row != NULL && *kinds != '\0'; i++, kinds++, v++) {
		if (*kinds == 'i' || (*kinds == 'o' && *v >= 0) || (*kinds == 'z' && *v != 0))
			sqlite3_bind_int64(row, i, *v);
		else if (*kinds == 's' && *v != 0) {
			const char *text = (const char *)(intptr_t)*v;
			sqlite_bind_chars(row, i, text, strlen(text), SQLITE_STATIC);
		} else if (*kinds == 'x') {
			for (uint64_t left = (uint64_t)*v; left > 0 || p == hex + sizeof(hex); left >>= 4)
				*--p = "0123456789abcdef"[left & 15];
			*--p = 'x';
			*--p = '0';
			sqlite3_bind_text(row, i, p, (int)(hex + sizeof(hex) - p), SQLITE_TRANSIENT);
		} else
			sqlite3_bind_null(row, i);
	}
}

void
sqlite_row(struct sqlite *s, sqlite3_stmt *row, const char *kinds, const int64_t *v)
{
	sqlite_bind(row, 0, kinds, v);
	sqlite_insert(s, row);
}

struct sql_thread {
	struct sql_thread *next;	/* next in order of first sight */
	int32_t	 pid;
	uint32_t lwpid;
	unsigned host;
	char	*comm;			/* or NULL, as the next two */
	char	*program, *cgroup;
	int64_t	 first, last;
	int64_t	 events;
};

/* The times and the number of a file's events that are in the database. */
struct sql_seen {
	int64_t	 first, last, events;
};

struct sql {
	struct sqlite	 db;
	struct dump	*d;
	struct members	*members;
	struct sleeps	*sleeps;
	struct states	*states;
	struct map	 threads;	/* by pid and lwpid: struct sql_thread */
	struct sql_thread *oldest, **end, *latest;
	struct sql_seen	*files;		/* in the order of the inputs */
	struct sqlite_rows event;
	sqlite3_stmt	*pair, *state, *unordered;
	int64_t		 id;		/* of the newest event */
};

static int
sql_fail(struct sql *q)
{
	dump_error(q->d, "--to sqlite: %s: %s", q->d->path, q->db.error);
	return -1;
}

static void
sql_span(void *arg, const struct state_span *s)
{
	struct sql *q = arg;

	SQL_ROW(&q->db, q->state, "xiisiii", s->tid, s->pid, s->lwpid,
	    SQL_TEXT(state_name(s->state)), s->start, s->duration, s->host + 1);
}

static void
sql_losses(struct sql *q, sqlite3_stmt *row, int64_t id, struct loss l)
{
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		const char *name = loss_name(i);

		if (l.lost[i] > 0)
			SQL_ROW(&q->db, row, "isi", id,
			    SQL_TEXT(name != NULL ? name : "other"), l.lost[i]);
	}
}

static void
sql_file(struct sql *q, sqlite3_stmt *row, int64_t id, const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);
	char boot[2 * sizeof(x->boot_id) + 1];
	int64_t clock = 0;

	for (size_t k = 0; x != NULL && k < sizeof(x->boot_id); k++)
		snprintf(boot + 2 * k, 3, "%02x", x->boot_id[k]);
	bool known = origin_clock(q->d, f, &clock);
	SQL_ROW(&q->db, row, known ? "isssssii" : "isssss-i", id,
	    SQL_TEXT(tnf_file_name(f)), SQL_TEXT(origin_fact(q->d, f, "host")),
	    SQL_TEXT(origin_fact(q->d, f, "release")),
	    SQL_TEXT(origin_fact(q->d, f, "machine")),
	    SQL_TEXT(x != NULL ? boot : NULL), clock, tnf_file_host(f) + 1);
}

/* Writes the machines; without --hosts the machine of the first file. */
static void
sql_hosts(struct sql *q)
{
	sqlite3_stmt *row = sqlite_prepare(&q->db, "INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?)");
	unsigned n;

	const struct host *h = hosts_list(q->d, &n);
	for (unsigned i = 0; h != NULL && i < n; i++)
		SQL_ROW(&q->db, row, "isiisi", i + 1, SQL_TEXT(h[i].name), h[i].offset,
		    h[i].error, SQL_TEXT(h[i].source), h[i].moved);
	if (h == NULL)
		SQL_ROW(&q->db, row, "is", 1, SQL_TEXT(q->d->n_inputs > 0 ?
		    origin_fact(q->d, q->d->inputs[0].file, "host") : NULL));
	sqlite3_finalize(row);
}

static void
sql_files(struct sql *q)
{
	sqlite3_stmt *file = sqlite_prepare(&q->db, "INSERT INTO files"
	    " (id, path, host, release, machine, boot_id, clock, host_id)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *loss = sqlite_prepare(&q->db, "INSERT INTO losses VALUES (?, ?, ?)");
	struct losses losses = { NULL, 0 };

	for (unsigned i = 0; i < q->d->n_inputs; i++) {
		sql_file(q, file, i + 1, q->d->inputs[i].file);
		sql_losses(q, loss, i + 1, losses_count(&losses, tnf_file_ext(q->d->inputs[i].file)));
	}
	losses_free(&losses);
	sqlite3_finalize(file);
	sqlite3_finalize(loss);
}

int
sqlite_begin(struct dump *d)
{
	struct sql *q = tnf_xcalloc(1, sizeof(*q));
	d->state = q;
	q->d = d;
	sqlite_create(&q->db, d->path);
	sqlite_run(&q->db, schema);
	/* The id is left to SQLite, which then need not look whether there is such a row. */
	sqlite_rows_begin(&q->event, &q->db,
	    "events (time, pid, lwpid, tid, cpu, file, probe)", 7);
	q->pair = sqlite_prepare(&q->db,
	    "INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)");
	q->state = sqlite_prepare(&q->db,
	    "INSERT INTO states VALUES (?, ?, ?, ?, ?, ?, ?)");
	q->unordered = sqlite_prepare(&q->db, "INSERT INTO unordered VALUES (?)");
	q->members = members_new(d, &q->db);
	q->sleeps = sleeps_new(d, &q->db);
	q->states = formats_states(d, sql_span, q);
	states_window(q->states, d->low, d->high);
	tnf_map_init(&q->threads, sizeof(struct sql_thread));
	q->end = &q->oldest;
	q->files = tnf_xcalloc(d->n_inputs, sizeof(*q->files));
	sql_hosts(q);
	sql_files(q);
	return q->db.error == NULL ? 0 : sql_fail(q);
}

static char *
copy_of(const char *s)
{
	return s != NULL ? tnf_xstrdup(s) : NULL;
}

static struct sql_thread *
sql_thread_of(struct sql *q, const struct tnf_event *ev)
{
	unsigned host = tnf_file_host(ev->file);
	uint64_t key[2] = { (uint64_t)(uint32_t)ev->pid << 32 | ev->lwpid, host };
	struct sql_thread *t = q->latest;
	bool fresh;

	if (t != NULL && t->pid == ev->pid && t->lwpid == ev->lwpid && t->host == host)
		return t;
	t = q->latest = tnf_xmap_put(&q->threads, key, sizeof(key), &fresh);
	if (!fresh)
		return t;
	t->pid = ev->pid;
	t->lwpid = ev->lwpid;
	t->host = host;
	t->comm = copy_of(origin_comm_last(q->d, ev));
	t->program = copy_of(origin_program(q->d, ev));
	t->cgroup = copy_of(origin_cgroup(q->d, ev));
	t->first = t->last = ev->time;
	*q->end = t;
	q->end = &t->next;
	return t;
}

static void
sql_count(struct sql *q, const struct tnf_event *ev)
{
	struct sql_thread *t = sql_thread_of(q, ev);

	if (ev->time < t->first)
		t->first = ev->time;
	if (ev->time > t->last)
		t->last = ev->time;
	t->events++;
}

static void
sql_see(struct sql_seen *s, int64_t time)
{
	if (s->events == 0 || time < s->first)
		s->first = time;
	if (s->events == 0 || time > s->last)
		s->last = time;
	s->events++;
}

static void
sql_seen(struct sql *q)
{
	sqlite3_stmt *row = sqlite_prepare(&q->db,
	    "UPDATE files SET first = ?2, last = ?3, events = ?4 WHERE id = ?1");

	for (unsigned i = 0; i < q->d->n_inputs; i++)
		SQL_ROW(&q->db, row, q->files[i].events > 0 ? "iiii" : "i--i", i + 1,
		    q->files[i].first, q->files[i].last, q->files[i].events);
	sqlite3_finalize(row);
}

static void
sql_threads(struct sql *q)
{
	sqlite3_stmt *row = sqlite_prepare(&q->db,
	    "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (struct sql_thread *t = q->oldest; t != NULL; t = t->next)
		SQL_ROW(&q->db, row, "iisiiiiss", t->pid, t->lwpid, SQL_TEXT(t->comm),
		    t->first, t->last, t->events, (int64_t)t->host + 1,
		    SQL_TEXT(t->program), SQL_TEXT(t->cgroup));
	sqlite3_finalize(row);
}

static void
sql_free_threads(struct sql *q)
{
	for (struct sql_thread *t = q->oldest; t != NULL; t = t->next) {
		free(t->comm);
		free(t->program);
		free(t->cgroup);
	}
	tnf_map_free(&q->threads);
}

static int64_t
sql_file_of(const struct sql *q, const struct tnf_event *ev)
{
	for (unsigned i = 0; i < q->d->n_inputs; i++)
		if (q->d->inputs[i].file == ev->file)
			return i + 1;
	return 0;
}

static void
sql_event(struct sql *q, const struct tnf_event *ev)
{
	int64_t file = sql_file_of(q, ev);
	const int64_t row[] = { ev->time, ev->pid, ev->lwpid, (int64_t)ev->tid, ev->cpu, file,
		members_probe(q->members, ev->probe) };

	if (file > 0)
		sql_see(&q->files[file - 1], ev->time);
	q->id++;

	sqlite_bind(q->event.insert, sqlite_rows_next(&q->event),
	    ev->kernel ? "iiixoii" : "iiiioii", row);
	sqlite_rows_put(&q->event);
	members_add(q->members, ev, q->id);
	if (q->d->unordered)
		SQL_ROW(&q->db, q->unordered, "i", q->id);
}

/* Writes a pair; the client's pointer of a start is the id of its row, 0 for events without
   one. */
static void
sql_pair(struct sql *q, const struct pair_slice *s, int64_t end)
{
	SQL_ROW(&q->db, q->pair, "siiiiizz", SQL_TEXT(s->name), s->start->time,
	    s->start->time + s->duration, s->duration, s->start->pid, s->start->lwpid,
	    (intptr_t)*s->user, end);
}

int
sqlite_event(struct dump *d, const struct tnf_event *ev)
{
	struct sql *q = d->state;
	bool kept = d->keep == KEEP_ALL;
	struct pair_slice s;

	if (kept) {
		sql_count(q, ev);
		sql_event(q, ev);
	}
	enum pair_role role = formats_feed(d, q->states, ev, &s);
	if (role == PAIR_START && kept)
		*s.user = (void *)(intptr_t)q->id;
	else if (role == PAIR_END && s.kept)
		sql_pair(q, &s, kept ? q->id : 0);
	sleeps_event(q->sleeps, ev);
	return q->db.error == NULL ? 0 : sql_fail(q);
}

int
sqlite_end(struct dump *d)
{
	struct sql *q = d->state;
	int rc = 0;

	if (q == NULL)
		return 0;
	states_end(q->states);
	sleeps_end(q->sleeps);
	sqlite_rows_end(&q->event);
	sqlite3_finalize(q->pair);
	sqlite3_finalize(q->state);
	sqlite3_finalize(q->unordered);
	members_free(q->members);
	sleeps_free(q->sleeps);
	if (q->db.error == NULL) {
		sql_threads(q);
		sql_seen(q);
		sqlite_run(&q->db, summary);
		sqlite_commit(&q->db);
		if (q->db.error != NULL)
			rc = sql_fail(q);
	}
	sqlite_close(&q->db);
	sql_free_threads(q);
	free(q->files);
	free(q);
	d->state = NULL;
	return rc;
}
