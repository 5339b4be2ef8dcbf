/*
 * sqlite.c - an SQLite database: events, what they begin and end, threads and
 * their states.  The schema is the table below, and in tnfformats(5).
 */
#include <stdio.h>

#include "analysis/losses.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/hosts.h"
#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "analysis/pairs.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/report/reports.h"
#include "tnfdump/to/sqlite-members.h"
#include "analysis/states.h"
#include "common/map.h"
#include "common/xalloc.h"

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
    "CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT, clock_offset INTEGER,"
    " clock_error INTEGER, source TEXT, moved INTEGER);"
    "CREATE TABLE unordered (event INTEGER PRIMARY KEY REFERENCES events(id));"
    "CREATE TABLE pairs (id INTEGER PRIMARY KEY, span TEXT, start INTEGER,"
    " \"end\" INTEGER, duration INTEGER, pid INTEGER, lwpid INTEGER,"
    " start_event INTEGER REFERENCES events(id),"
    " end_event INTEGER REFERENCES events(id));"
    "CREATE TABLE states (tid TEXT, pid INTEGER, lwpid INTEGER, state TEXT,"
    " start INTEGER, duration INTEGER, host INTEGER REFERENCES hosts(id));"
    "CREATE TABLE threads (pid INTEGER, lwpid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER REFERENCES hosts(id), program TEXT, cgroup TEXT,"
    " PRIMARY KEY (host, pid, lwpid));"
    "CREATE TABLE processes (pid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER REFERENCES hosts(id), program TEXT, cgroup TEXT,"
    " PRIMARY KEY (host, pid));"
    "CREATE TEMP TABLE seen (pid INTEGER, lwpid INTEGER, comm TEXT,"
    " first INTEGER, last INTEGER, events INTEGER, host INTEGER, program TEXT,"
    " cgroup TEXT);";

/* When all rows are in: each once over the table is faster than row by row. */
static const char summary[] =
    "CREATE INDEX events_time ON events (time);"
    "CREATE INDEX pairs_start ON pairs (start);"
    "CREATE INDEX states_start ON states (start);"
    "INSERT INTO threads SELECT * FROM seen ORDER BY pid, lwpid;"
    "INSERT INTO processes SELECT pid, max(CASE WHEN lwpid = pid THEN comm END),"
    " min(first), max(last), sum(events), host, max(program), max(cgroup) FROM threads"
    " GROUP BY host, pid;"
    "UPDATE files SET (first, last, events) = (SELECT min(time), max(time),"
    " count(*) FROM events WHERE file = files.id);"
    "CREATE VIEW log AS SELECT e.id, e.time,"
    " (e.time + f.clock) / 1e9 AS unix, e.pid, e.lwpid, e.cpu, t.comm,"
    " p.name AS probe, p.keys, h.name AS host FROM events e"
    " JOIN probes p ON p.id = e.probe"
    " JOIN files f ON f.id = e.file JOIN hosts h ON h.id = f.host_id"
    " LEFT JOIN threads t ON t.host = f.host_id AND t.pid = e.pid AND"
    " t.lwpid = e.lwpid;";

struct sql_thread {
	struct sql_thread *next;	/* seen first after this one */
	int32_t	 pid;
	uint32_t lwpid;
	unsigned host;
	char	*comm;			/* or NULL, as the next two */
	char	*program, *cgroup;
	int64_t	 first, last;
	int64_t	 events;
};

struct sql {
	struct sqlite	 db;
	struct dump	*d;
	struct members	*members;
	struct pairs	*pairs;		/* the dump's */
	struct states	*states;
	struct map	 threads;	/* by pid and lwpid: struct sql_thread */
	struct sql_thread *oldest, **end, *latest;
	sqlite3_stmt	*event, *pair, *state, *unordered;
	int64_t		 id;		/* of the newest event */
};

static int
sql_fail(struct sql *q)
{
	dump_error(q->d, "--to sqlite: %s: %s", q->d->path, q->db.error);
	return -1;
}

static void
sql_task_id(sqlite3_stmt *row, int i, bool kernel, uint64_t tid)
{
	char text[24];

	if (!kernel) {
		sqlite3_bind_int64(row, i, (int64_t)tid);
		return;
	}
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)tid);
	sqlite3_bind_text(row, i, text, -1, SQLITE_TRANSIENT);
}

static void
sql_span(void *arg, const struct state_span *s)
{
	struct sql *q = arg;

	if (q->state == NULL)
		return;
	sql_task_id(q->state, 1, true, s->tid);
	sqlite3_bind_int64(q->state, 2, s->pid);
	sqlite3_bind_int64(q->state, 3, s->lwpid);
	sqlite3_bind_text(q->state, 4, state_name(s->state), -1, SQLITE_STATIC);
	sqlite3_bind_int64(q->state, 5, s->start);
	sqlite3_bind_int64(q->state, 6, s->duration);
	sqlite3_bind_int64(q->state, 7, s->host + 1);
	sqlite_insert(&q->db, q->state);
}

static void
sql_losses(struct sql *q, sqlite3_stmt *row, int64_t id, struct loss l)
{
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		if (l.lost[i] == 0 || row == NULL)
			continue;
		const char *name = loss_name(i);
		sqlite3_bind_int64(row, 1, id);
		sqlite_bind_string(row, 2, name != NULL ? name : "other");
		sqlite3_bind_int64(row, 3, (int64_t)l.lost[i]);
		sqlite_insert(&q->db, row);
	}
}

static void
sql_boot_id(sqlite3_stmt *row, int i, const struct tnf_ext *x)
{
	char text[2 * sizeof(x->boot_id) + 1];

	if (x == NULL) {
		sqlite3_bind_null(row, i);
		return;
	}
	for (size_t k = 0; k < sizeof(x->boot_id); k++)
		snprintf(text + 2 * k, 3, "%02x", x->boot_id[k]);
	sqlite3_bind_text(row, i, text, -1, SQLITE_TRANSIENT);
}

static void
sql_file(struct sql *q, sqlite3_stmt *row, int64_t id, const struct tnf_file *f)
{
	int64_t clock;

	sqlite3_bind_int64(row, 1, id);
	sqlite_bind_string(row, 2, tnf_file_name(f));
	sqlite_bind_string(row, 3, origin_fact(q->d, f, "host"));
	sqlite_bind_string(row, 4, origin_fact(q->d, f, "release"));
	sqlite_bind_string(row, 5, origin_fact(q->d, f, "machine"));
	sql_boot_id(row, 6, tnf_file_ext(f));
	if (origin_clock(q->d, f, &clock))
		sqlite3_bind_int64(row, 7, clock);
	else
		sqlite3_bind_null(row, 7);
	sqlite3_bind_int64(row, 8, (int64_t)tnf_file_host(f) + 1);
	sqlite_insert(&q->db, row);
}

/* The machines; without --hosts the one that the first file tells. */
static void
sql_hosts(struct sql *q)
{
	sqlite3_stmt *row = sqlite_prepare(&q->db, "INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?)");
	unsigned n;

	const struct host *h = hosts_list(q->d, &n);
	for (unsigned i = 0; h != NULL && row != NULL && i < n; i++) {
		sqlite3_bind_int64(row, 1, i + 1);
		sqlite_bind_string(row, 2, h[i].name);
		sqlite3_bind_int64(row, 3, h[i].offset);
		sqlite3_bind_int64(row, 4, h[i].error);
		sqlite_bind_string(row, 5, h[i].source);
		sqlite3_bind_int64(row, 6, h[i].moved);
		sqlite_insert(&q->db, row);
	}
	if (h == NULL && row != NULL) {
		sqlite3_bind_int64(row, 1, 1);
		sqlite_bind_string(row, 2, q->d->n_inputs > 0 ?
		    origin_fact(q->d, q->d->inputs[0].file, "host") : NULL);
		sqlite_insert(&q->db, row);
	}
	sqlite3_finalize(row);
}

static void
sql_files(struct sql *q)
{
	sqlite3_stmt *file = sqlite_prepare(&q->db, "INSERT INTO files"
	    " (id, path, host, release, machine, boot_id, clock, host_id)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *loss = sqlite_prepare(&q->db,
	    "INSERT INTO losses VALUES (?, ?, ?)");
	struct losses losses = { NULL, 0 };

	for (unsigned i = 0; file != NULL && i < q->d->n_inputs; i++) {
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
	q->event = sqlite_prepare(&q->db,
	    "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	q->pair = sqlite_prepare(&q->db,
	    "INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)");
	q->state = sqlite_prepare(&q->db,
	    "INSERT INTO states VALUES (?, ?, ?, ?, ?, ?, ?)");
	q->unordered = sqlite_prepare(&q->db, "INSERT INTO unordered VALUES (?)");
	q->members = members_new(d, &q->db);
	q->pairs = reports_pairs(d);
	q->states = states_new(sql_span, q);
	if (d->filters != NULL)
		states_sieve(q->states);
	states_window(q->states, d->low, d->high);
	tnf_map_init(&q->threads, sizeof(struct sql_thread));
	q->end = &q->oldest;
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
sql_threads(struct sql *q)
{
	sqlite3_stmt *row = sqlite_prepare(&q->db,
	    "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (struct sql_thread *t = q->oldest; t != NULL && row != NULL; t = t->next) {
		sqlite3_bind_int64(row, 1, t->pid);
		sqlite3_bind_int64(row, 2, t->lwpid);
		sqlite_bind_string(row, 3, t->comm);
		sqlite3_bind_int64(row, 4, t->first);
		sqlite3_bind_int64(row, 5, t->last);
		sqlite3_bind_int64(row, 6, t->events);
		sqlite3_bind_int64(row, 7, (int64_t)t->host + 1);
		sqlite_bind_string(row, 8, t->program);
		sqlite_bind_string(row, 9, t->cgroup);
		sqlite_insert(&q->db, row);
	}
	sqlite3_finalize(row);
}

static void
sql_free_thread(struct sql_thread *t)
{
	free(t->comm);
	free(t->program);
	free(t->cgroup);
}

static void
sql_free_threads(struct sql *q)
{
	for (struct sql_thread *t = q->oldest; t != NULL; t = t->next)
		sql_free_thread(t);
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
	sqlite3_stmt *row = q->event;

	sqlite3_bind_int64(row, 1, ++q->id);
	sqlite3_bind_int64(row, 2, ev->time);
	sqlite3_bind_int64(row, 3, ev->pid);
	sqlite3_bind_int64(row, 4, ev->lwpid);
	sql_task_id(row, 5, ev->kernel, ev->tid);
	if (ev->cpu >= 0)
		sqlite3_bind_int64(row, 6, ev->cpu);
	else
		sqlite3_bind_null(row, 6);
	sqlite3_bind_int64(row, 7, sql_file_of(q, ev));
	sqlite3_bind_int64(row, 8, members_probe(q->members, ev->probe));
	sqlite_insert(&q->db, row);
	members_add(q->members, ev, q->id);
	if (q->d->unordered && q->unordered != NULL) {
		sqlite3_bind_int64(q->unordered, 1, q->id);
		sqlite_insert(&q->db, q->unordered);
	}
}

/* The ids of events that are no rows are null. */
static void
sql_pair_event(sqlite3_stmt *row, int i, int64_t id)
{
	if (id != 0)
		sqlite3_bind_int64(row, i, id);
	else
		sqlite3_bind_null(row, i);
}

/* The client's pointer of a start is the id of its row. */
static void
sql_pair(struct sql *q, const struct pair_slice *s, int64_t end)
{
	sqlite_bind_string(q->pair, 1, s->name);
	sqlite3_bind_int64(q->pair, 2, s->start->time);
	sqlite3_bind_int64(q->pair, 3, s->start->time + s->duration);
	sqlite3_bind_int64(q->pair, 4, s->duration);
	sqlite3_bind_int64(q->pair, 5, s->start->pid);
	sqlite3_bind_int64(q->pair, 6, s->start->lwpid);
	sql_pair_event(q->pair, 7, (int64_t)(intptr_t)*s->user);
	sql_pair_event(q->pair, 8, end);
	sqlite_insert(&q->db, q->pair);
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
	states_feed(q->states, ev);
	if (kept)
		states_choose(q->states, ev);
	enum pair_role role = pairs_feed(q->pairs, ev, d->keep, &s);
	if (role == PAIR_START && kept)
		*s.user = (void *)(intptr_t)q->id;
	else if (role == PAIR_END && s.kept)
		sql_pair(q, &s, kept ? q->id : 0);
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
	sqlite3_finalize(q->event);
	sqlite3_finalize(q->pair);
	sqlite3_finalize(q->state);
	sqlite3_finalize(q->unordered);
	members_free(q->members);
	if (q->db.error == NULL) {
		sql_threads(q);
		sqlite_run(&q->db, summary);
		sqlite_commit(&q->db);
		if (q->db.error != NULL)
			rc = sql_fail(q);
	}
	sqlite_close(&q->db);
	sql_free_threads(q);
	free(q);
	d->state = NULL;
	return rc;
}
