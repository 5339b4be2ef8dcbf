/*
 * sqlite-sleeps.c - the sleeps of threads in a database, and who ended each: the index of --why
 * knows them.
 */
#include "analysis/why.h"
#include "common/xalloc.h"
#include "tnfdump/origin.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/sqlite.h"

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
