/*
 * daemon.c - tnfwatch in the foreground: its loop.
 */
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <malloc.h>
#include <poll.h>

#include "tnfwatch/daemon.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/webhook.h"

#define SIGNAL_TRIGGER	"signal"	/* what SIGUSR1 fires */
#define SIGNAL_AFTER	(5 * SECOND)
#define PIN_TRIGGER	"asked"		/* as the incidents of questions are called */
#define STOP_NS		(60 * SECOND)	/* for writers, when we end; systemd gives us 90 s */
#define READY_NS	(20 * SECOND)	/* later than that we are ready in any case */
#define EVENTS		32
#define PRIORITY	(-10)
#define LOCK_TRIES	40
#define PAGE_EVENTS	100000.0
#define PAGE_BEFORE	(10 * SECOND)
#define PAGE_AFTER	(250 * MS)	/* the note of a firing comes later than the firing */
#define SAME_LOOKS	20	/* in the time of same_cause */
#define CAUSES_MAX	1000	/* of a trigger, that are remembered */
#define MALLOC_LARGE	(128 << 10)	/* bytes: pages of their own */

/* True if this trigger may open one more window now, by its limit. */
static bool
limit_allows(const struct config_trigger *t, struct trigger_counts *st, int64_t now)
{
	int64_t *oldest;

	if (t->once && st->incidents > 0)
		return false;
	if (t->limit_n == 0)
		return true;
	if (st->begun == NULL)
		st->begun = tnf_xcalloc(t->limit_n, sizeof *st->begun);
	oldest = &st->begun[st->n_begun % t->limit_n];
	if (st->n_begun >= t->limit_n && now - *oldest < t->limit_ns)
		return false;
	*oldest = now;
	st->n_begun++;
	return true;
}

/* Was an incident made for the same section, program and probe lately?  Of an operation that took
   long the writer finds out whether the cause is the same (cause_is_known()): its files must be there for
   that, so it is looked at again only after a part of the time. */
static bool
is_same_cause(const struct config_trigger *t, struct trigger_counts *st,
    const struct trigger_firing *f, int64_t now)
{
	const struct source *s = f->source;
	const struct tnf_event *ev = f->span != NULL ? f->span->start : f->event;
	const char *comm = s == NULL || ev == NULL ? NULL : source_comm(s, ev);
	int64_t *last;
	char *cause;
	bool fresh;

	if (t->same == 0)
		return false;
	cause = tnf_xasprintf("%s\n%s\n%s", s != NULL ? s->name : "", comm != NULL ? comm : "",
	    f->event != NULL ? f->event->probe->name : "");
	if (st->causes.n >= CAUSES_MAX)
		tnf_map_free(&st->causes);
	if (st->causes.value_size == 0)
		tnf_map_init(&st->causes, sizeof *last);
	last = tnf_xmap_put(&st->causes, cause, strlen(cause), &fresh);
	free(cause);
	if (!fresh && now - *last < (f->span != NULL ? t->same / SAME_LOOKS : t->same))
		return true;
	*last = now;
	return false;
}

/* The incident of a trigger was not kept, as its cause is known: the limit does not count it. */
static void
incident_same(struct daemon *d, const char *trigger)
{
	int i = trigger != NULL ? config_trigger_find(d->config, trigger) : -1;
	struct trigger_counts *st = i >= 0 ? &d->counts[i] : NULL;
	unsigned n = i >= 0 ? d->config->trigger[i].limit_n : 0;

	if (st == NULL)
		return;
	st->suppressed++;
	st->incidents--;
	if (n > 0 && st->begun != NULL && st->n_begun > 0)
		st->begun[--st->n_begun % n] = INT64_MIN / 2;
}

/* A writer that has just been started has perhaps not made its directory yet. */
static bool
is_written(const void *arg, const char *id)
{
	const struct daemon *d = arg;

	for (size_t i = 0; i < WRITERS_MAX; i++)
		if (d->writer[i].pid > 0 && strcmp(d->writer[i].id, id) == 0)
			return true;
	return false;
}

void
trigger_counts_free(struct trigger_counts *st)
{
	free(st->begun);
	tnf_map_free(&st->causes);
}

static void
window_begin(struct daemon *d, const char *name, int64_t time, int64_t after)
{
	int64_t now = now_mono();

	d->window.open = true;
	/* If an event has fired, all events up to its time have been fed: the window need not
	   wait for more. */
	d->window.until = time + after > d->fed ? time + after : d->fed;
	d->window.id = incident_name(d->config, name, now_wall() - (now - time), is_written, d);
}

/* A firing opens a window, or belongs to the one that a trigger has opened. */
static void
daemon_note(struct daemon *d, int trigger, const char *name, const struct trigger_firing *f,
    const char *note)
{
	const struct config_trigger *t = trigger >= 0 ? &d->config->trigger[trigger] : NULL;
	struct trigger_counts *st = trigger >= 0 ? &d->counts[trigger] : NULL;
	const struct source *s = f->source;
	int64_t after = t != NULL ? t->after : SIGNAL_AFTER;
	bool opens = false;

	if (st != NULL && t->every > 0 && ++st->passed < t->every)
		return;
	if (st != NULL) {
		st->passed = 0;
		st->fired++;
	}
	if (!d->window.open || window_trigger(&d->window) == NULL) {
		if (t != NULL && (is_same_cause(t, st, f, now_mono()) ||
		    !limit_allows(t, st, now_mono()))) {
			st->suppressed++;
			return;
		}
		opens = true;
		if (st != NULL)
			st->incidents++;
		if (!d->window.open)
			window_begin(d, name, f->time, after);
		else if (f->time + after > d->window.until)
			d->window.until = f->time + after;
	}
	self_fired(name, f);
	size_t n = d->window.n;
	window_add(&d->window, name, f, s != NULL ? s->id : NULL, note);
	if (d->window.n > n)
		window_note(d->config, &d->window);
	if (opens && t != NULL)
		actions_do(d, t->then, (struct source *)(uintptr_t)s);
}

#define KILLED	"tnfwatch was killed before this was kept"

/* Opens a window again for an incident that was not made, because tnfwatch was killed in the
   window or while it wrote. */
static void
daemon_resume(void *arg, const struct firing *f)
{
	struct daemon *d = arg;
	const char *again = strstr(f->reason, KILLED);

	/* Writing this incident may be what ends tnfwatch each time. */
	if (again != NULL && strstr(again + 1, KILLED) != NULL) {
		say("%s: %s: not tried a third time", f->trigger, f->reason);
		return;
	}
	autofree char *text = tnf_xasprintf("%s; " KILLED ", and came back %.1f s after it",
	    f->reason, (double)(now_mono() - f->time) / 1e9);
	if (!d->window.open)
		window_begin(d, f->trigger, f->time, 0);
	d->window.resumed = true;
	window_add_again(&d->window, f, text);
	window_note(d->config, &d->window);
}

static void
daemon_fired(void *arg, const struct trigger_firing *f)
{
	struct daemon *d = arg;

	daemon_note(d, (int)f->trigger, d->config->trigger[f->trigger].name, f, NULL);
}

bool
daemon_fire(struct daemon *d, const char *name, int64_t time, const char *note)
{
	int i = config_trigger_find(d->config, name);
	struct trigger_firing f = { .time = time, .reason = "fired from outside" };

	if (i < 0)
		return false;
	daemon_note(d, i, name, &f, note);
	return true;
}

void
daemon_pin(struct daemon *d, const char *question)
{
	struct trigger_firing f = { .time = now_mono(), .reason = "asked by another machine" };

	if (!d->window.open)
		window_begin(d, PIN_TRIGGER, f.time, 0);
	self_fired(PIN_TRIGGER, &f);
	window_add_question(&d->window, PIN_TRIGGER, &f, question);
}

static bool
daemon_posted(void *arg, const char *trigger, const char *note)
{
	return daemon_fire(arg, trigger, now_mono(), note);
}

static bool
daemon_metrics(void *arg, FILE *f)
{
	const struct daemon *d = arg;

	if (d->config->metrics)
		metrics_put(d, f);
	return d->config->metrics;
}

void
daemon_webhook(struct daemon *d)
{
	const char *address = d->config->webhook;
	char why[WEBHOOK_WHY];

	if (d->webhook != NULL)
		daemon_unwatch_fd(d, webhook_fd(d->webhook));
	webhook_close(d->webhook);
	d->webhook = NULL;
	if (address == NULL)
		return;
	if ((d->webhook = webhook_open(address, daemon_posted, daemon_metrics, d, why)) == NULL)
		say("webhook = %s: %s", address, why);
	else
		daemon_watch_fd(d, webhook_fd(d->webhook));
}

const struct config_trigger *
daemon_window_section(const struct daemon *d)
{
	const struct firing *f = window_trigger(&d->window);
	int i = f != NULL ? config_trigger_find(d->config, f->trigger) : -1;

	return i >= 0 ? &d->config->trigger[i] : NULL;
}

static void
daemon_signal_fire(struct daemon *d)
{
	struct trigger_firing f = { .time = now_mono(), .reason = "SIGUSR1" };

	if (!daemon_fire(d, SIGNAL_TRIGGER, f.time, "SIGUSR1"))
		daemon_note(d, -1, SIGNAL_TRIGGER, &f, NULL);
}

struct trigger_engine *
daemon_engine(struct daemon *d, const struct config *c)
{
	struct trigger_engine *e = trigger_engine_new(daemon_fired, d);
	struct trigger_error err;

	/* Each trigger was parsed when the configuration was read. */
	for (size_t i = 0; e != NULL && i < c->n_triggers; i++)
		if (trigger_add(e, c->trigger[i].name, c->trigger[i].when, &err) < 0)
			say("[trigger %s]: %s", c->trigger[i].name, err.text);
		else
			trigger_about(e, (int)i, c->trigger[i].of);
	return e;
}

static struct writer *
writer_free(struct daemon *d)
{
	for (size_t i = 0; i < WRITERS_MAX; i++)
		if (d->writer[i].pid == 0)
			return &d->writer[i];
	return NULL;
}

int64_t
daemon_window_due(const struct daemon *d)
{
	bool any = false;

	for (size_t i = 0; i < WRITERS_MAX; i++)
		any |= d->writer[i].pid == 0;
	if ((d->window.resumed && !d->ready) || d->freezer.pid > 0)
		return INT64_MAX;
	return d->window.open && any ? d->window.until + DELAY_NS : INT64_MAX;
}

/* Runs the command for a lost incident, in a child that daemon_reap() collects. */
static void
incident_lost(struct daemon *d, const char *id)
{
	d->failed++;
	if (d->config->lost == NULL || fork() != 0)
		return;
	child_begin(getppid(), 0);
	setenv("TNF_INCIDENT", id, 1);
	execl("/bin/sh", "sh", "-c", d->config->lost, "tnfwatch", (char *)NULL);
	_exit(127);
}

/* The part of the time line that a page shows: PAGE_EVENTS at the present rate, most of them
   before the trigger. */
static void
window_page(const struct daemon *d, struct writer *w)
{
	double rate = 1;
	int64_t room;

	for (const struct source *s = d->sources; s != NULL; s = s->next)
		rate += s->rate;
	room = (int64_t)(PAGE_EVENTS / rate * 1e9);
	w->from = w->first - (room < PAGE_BEFORE ? room : PAGE_BEFORE);
	w->until = w->first + room / 4 + PAGE_AFTER;
	if (w->until > d->window.until)
		w->until = d->window.until;
}

/* Ends a complete window: starts its child, or tries that again with the next tick. */
static void
window_end(struct daemon *d)
{
	const struct config_trigger *section = daemon_window_section(d);
	struct writer *w = writer_free(d);
	int e, written;

	if (w == NULL)
		return;
	written = asker_start(d);
	d->numbers++;
	if ((e = incident_start(d, written, &w->pid)) == 0) {
		w->id = tnf_xstrdup(d->window.id);
		w->first = d->window.firing[0].time;
		w->began = d->window.firing[0].began;
		w->page = section == NULL || !section->no_page;
		w->trigger = section != NULL ? tnf_xstrdup(section->name) : NULL;
		w->when = section != NULL && section->when != NULL ? tnf_xstrdup(section->when) : NULL;
		window_page(d, w);
	} else {
		say("%s: lost: %s", d->window.id, strerror(e));
		window_note_done(d->config, d->window.id);
		w->pid = 0;
		incident_lost(d, d->window.id);
	}
	if (written >= 0)
		close(written);
	window_clear(&d->window);
}

/* A killed writer leaves a directory that nobody will complete. */
static void
writer_ended(struct daemon *d, struct writer *w, int status)
{
	char *temp = tnf_xasprintf("%s/incidents/%s%s", d->config->directory, INCIDENT_TEMP,
	    w->id);

	if (status == 0) {
		d->written++;
		if (w->page)
			reports_add(&d->reports, d->config, w);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == INCIDENT_SAME)
		incident_same(d, w->trigger);
	else
		incident_lost(d, w->id);
	if (WIFSIGNALED(status)) {
		say("%s: its writer was killed by signal %d", w->id, WTERMSIG(status));
		remove_all(AT_FDCWD, temp);
	}
	window_note_done(d->config, w->id);
	free(temp);
	free(w->id);
	free(w->trigger);
	free(w->when);
	*w = (struct writer){ .pid = 0 };
	incident_make_room(d->config);
}

static void
child_ended(struct daemon *d, pid_t pid, int status)
{
	fleet_child_ended(d, pid, status);
	actions_child_ended(d, pid, status);
	reports_ended(&d->reports, d->config, pid, status);
	for (size_t i = 0; i < WRITERS_MAX; i++)
		if (d->writer[i].pid == pid)
			writer_ended(d, &d->writer[i], status);
}

static void
daemon_reap(struct daemon *d)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		child_ended(d, pid, status);
}

/* As waitpid(2), but waits only until 'until', and returns 0 then. */
static pid_t
wait_until(pid_t pid, int *status, int64_t until)
{
	pid_t r;

	while (((r = waitpid(pid, status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) &&
	    now_mono() < until)
		poll(NULL, 0, 10);
	return r;
}

/* Ends the last window of this process; waits for a writer to end if there is no room for one
   more. */
static void
window_end_last(struct daemon *d, int64_t until)
{
	int status;
	pid_t pid;

	while (writer_free(d) == NULL && (pid = wait_until(-1, &status, until)) > 0)
		child_ended(d, pid, status);
	window_end(d);
	if (d->window.open)
		say("%s: lost: no writer is free", d->window.id);
}

static void
daemon_signals(struct daemon *d)
{
	struct signalfd_siginfo si;

	while (read(d->signals, &si, sizeof si) == sizeof si)
		switch (si.ssi_signo) {
		case SIGHUP:
			daemon_reload(d);
			break;
		case SIGUSR1:
			daemon_signal_fire(d);
			break;
		case SIGCHLD:
			daemon_reap(d);
			break;
		default:
			d->stop = true;
		}
}

static void
daemon_tick(struct daemon *d)
{
	int64_t now = now_mono(), until = now - DELAY_NS;

	if (until < d->fed)
		until = d->fed;
	if (d->webhook != NULL)
		webhook_run(d->webhook);
	daemon_sources_poll(d, now, until);
	d->fed = until;
	trigger_tick(d->engine, until);
	daemon_sources_care(d, now);
	actions_care(d, now);
	fleet_care(d, now);
	/* At 'until', all events of the window have been fed. */
	if (daemon_window_due(d) != INT64_MAX && until >= d->window.until)
		window_end(d);
	if (!d->ready && now - d->started > READY_NS)
		daemon_ready(d);
}

void
daemon_ready(struct daemon *d)
{
	if (!d->ready)
		notify("READY=1");
	d->ready = true;
}

void
daemon_watch_fd(struct daemon *d, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void
daemon_unwatch_fd(struct daemon *d, int fd)
{
	epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void
daemon_event(struct daemon *d, int fd)
{
	if (fd == d->signals)
		daemon_signals(d);
	else if (fd == d->control)
		control_serve(d, fd);
	else if (fd == d->taker.fd)
		daemon_taker(d);
	else if (d->webhook != NULL && fd == webhook_fd(d->webhook))
		webhook_run(d->webhook);
	else
		daemon_process_ended(d, fd);
}

static void
daemon_loop(struct daemon *d)
{
	int64_t next = now_mono(), now, watchdog = notify_watchdog() / 2, bark = 0;
	struct epoll_event ev[EVENTS];
	int64_t due;
	int n;

	while (!d->stop) {
		now = now_mono();
		if (now >= next) {
			d->look_late = now - next > d->look_late ? now - next : d->look_late;
			daemon_tick(d);
			d->look_long = now_mono() - now > d->look_long ? now_mono() - now : d->look_long;
			now = now_mono();
			next = daemon_due(d, now);
			if (watchdog > 0 && now >= bark) {
				notify("WATCHDOG=1");
				bark = now + watchdog;
			}
		}
		n = epoll_wait(d->epoll, ev, EVENTS, next > now ? (int)((next - now + MS - 1) / MS) : 0);
		for (int i = 0; i < n; i++)
			daemon_event(d, ev[i].data.fd);
		/* A firing from outside does not wait for the tick that was due before it. */
		if ((due = daemon_window_due(d)) < next)
			next = due;
	}
}

/* Waits for a lock: a child that a killed tnfwatch has just forked holds it until it execs. */
static bool
lock_wait(int fd)
{
	const struct timespec pause = { .tv_nsec = 50 * MS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Takes the lock of the directory: two tnfwatch at once would remove each other's files. */
static int
lock_take(const char *directory)
{
	autofree char *path = tnf_xasprintf("%s/lock", directory);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		say("%s: %s", path, strerror(errno));
	else if (!lock_wait(fd)) {
		say("%s: another tnfwatch has it: systemctl stop tnfwatch, or give this one "
		    "directories of its own", path);
		close(fd);
		fd = -1;
	}
	return fd;
}

bool
directories_make(const struct config *c)
{
	autofree char *incidents = tnf_xasprintf("%s/incidents", c->directory);
	autofree char *segments = tnf_xasprintf("%s/segments", c->directory);
	const char *const all[] = { c->run, c->directory, incidents, segments, c->rings };
	int e = 0;

	for (size_t i = 0; e == 0 && i < sizeof all / sizeof all[0]; i++)
		if ((e = make_directory(all[i])) != 0)
			say("%s: %s", all[i], strerror(e));
	return e == 0;
}

static bool
signals_catch(struct daemon *d)
{
	static const int sigs[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof sigs / sizeof sigs[0]; i++)
		sigaddset(&set, sigs[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigbus_catch();
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->signals >= 0;
}

/*
 * We run for months, with busy minutes now and then.  Once glibc has freed a large piece of
 * memory, it takes pieces of that size from its heaps, of which each thread has one, and gives
 * nothing back before twice as much is free at a heap's end.  So the memory of the busiest
 * moment stayed ours, and each fork() copied its page tables.  With limits of our own, large
 * pieces go back when they are freed.
 */
static void
memory_settle(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, MALLOC_LARGE);
	mallopt(M_TRIM_THRESHOLD, 2 * MALLOC_LARGE);
	mallopt(M_ARENA_MAX, 1);
#endif
}

static bool
daemon_begin(struct daemon *d)
{
	int e;

	/* A ring that is read too late has been overwritten, so we raise our priority.  Without
	   the right to do so we go on as we are. */
	setpriority(PRIO_PROCESS, 0, PRIORITY);

	if (!directories_make(d->config) || (d->lock = lock_take(d->config->directory)) < 0 ||
	    (d->lock_run = lock_take(d->config->run)) < 0)
		return false;
	incident_clean(d->config);
	unsynced_clean(d->config);
	reports_clean(d->config);
	leftover_begin(d->config);
	d->numbers = incident_numbers(d->config);
	if (!signals_catch(d) || (d->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
	    (d->control = control_open(d->config)) < 0) {
		say("%s: %s", d->config->run, strerror(errno));
		return false;
	}
	/* We fork the taker now, while this process has little memory and no threads. */
	if ((e = taker_start(&d->taker, d->config)) != 0) {
		say("fork: %s", strerror(e));
		return false;
	}
	if ((e = segment_worker_start()) != 0) {
		say("thread: %s", strerror(e));
		return false;
	}
	daemon_watch_fd(d, d->signals);
	daemon_watch_fd(d, d->control);
	daemon_watch_fd(d, d->taker.fd);
	d->engine = daemon_engine(d, d->config);
	d->counts = tnf_xcalloc(d->config->n_triggers + 1, sizeof *d->counts);
	daemon_sources_begin(d);
	/* Events in rings that are there by now fire nothing; events of programs that are
	   told from now on do. */
	daemon_start_tell(d);
	window_notes_left(d->config, daemon_resume, d);
	daemon_webhook(d);
	return true;
}

/* Waits for a writer: segments go with the sources, and the writer has perhaps not written them. */
static void
writer_end(struct daemon *d, const struct writer *w, int64_t until)
{
	int status = 0;

	/* The note of an incident whose writer takes too long stays: the next tnfwatch tries again. */
	if (wait_until(w->pid, &status, until) == 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, &status, 0);
	} else
		window_note_done(d->config, w->id);
	if (WIFEXITED(status) && WEXITSTATUS(status) == INCIDENT_SAME)
		return;
	/* The command of its trigger may have been what took so long. */
	if (status != 0 && !path_exists("%s/incidents/%s", d->config->directory, w->id))
		say("%s: not kept: its writer ended with status %d", w->id, status);
}

static void
daemon_end(struct daemon *d)
{
	int64_t until = now_mono() + STOP_NS;

	notify("STOPPING=1");
	actions_care(d, INT64_MAX);
	/* The rest may take long, and we do not look at the rings of programs that start during that
	   time. */
	start_end(d->config);
	if (d->start >= 0)
		close(d->start);
	d->start = -1;
	agent_stop(d);
	taker_stop(&d->taker);
	webhook_close(d->webhook);
	/* The open window is written, although tnfwatch ends. */
	if (d->window.open)
		window_end_last(d, until);
	for (size_t i = 0; i < WRITERS_MAX; i++)
		if (d->writer[i].pid > 0)
			writer_end(d, &d->writer[i], until);
	reports_stop(&d->reports, d->config);
	asker_stop(d);
	daemon_sources_end(d);
	segment_worker_stop();
	leftover_end(d->config);
	for (size_t i = 0; i < WRITERS_MAX; i++) {
		free(d->writer[i].id);
		free(d->writer[i].trigger);
		free(d->writer[i].when);
	}
	for (size_t i = 0; i < d->config->n_triggers; i++)
		trigger_counts_free(&d->counts[i]);
	free(d->counts);
	window_clear(&d->window);
	trigger_engine_free(d->engine);
	config_free(d->config);
	free(d);
}

int
watch_run(const struct watch_options *o)
{
	struct daemon *d = tnf_xcalloc(1, sizeof *d);

	d->start = d->lock = d->lock_run = d->control = d->epoll = d->signals = d->taker.fd = -1;
	d->started = now_mono();
	memory_settle();
	if ((d->config = config_read(o->config, stderr)) == NULL || !daemon_begin(d))
		return 1;
	daemon_loop(d);
	daemon_end(d);
	return 0;
}
