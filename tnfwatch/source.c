/*
 * source.c - one thing that is watched: a process, a file, the kernel.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include <tnf/context.h>

#include "libtnf/context-write.h"
#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"
#include "tnfxtract/snapshot.h"

#define RETRY_NS	(200 * MS)	/* for a file that is not there yet */
#define RETOLD_NS	(5 * SECOND)	/* for one that a process must have mapped: that takes time */
#define RATE_NS		(1 * SECOND)
#define BLOCKS_PASSED	200u		/* that a writer tries for one event (libtnfprobe/block.c) */
#define REST		50	/* times what a look took, for a ring that is overwritten between two */
#define WAITING_MAX	4000000u	/* events with times to come: somebody lies */

/* A process can truncate the trace file that it has mapped, and so can everybody who may
   write to the file.  Bytes behind the new end then read as zeros, and source_poll() checks
   afterwards whether that has happened. */
static volatile uintptr_t sigbus_at;
static uintptr_t page;

/* Maps a page of zeros in place of the one that is not there.  Then we cannot see later contents
   of the file in that place: the reader gives the file up. */
static void
sigbus_handle(int sig, siginfo_t *si, void *context)
{
	uintptr_t at = (uintptr_t)si->si_addr;

	if (si->si_code != BUS_ADRERR || mmap((void *)(at & ~(page - 1)), page,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL);
		return;
	}
	sigbus_at = at;
}

void
sigbus_catch(void)
{
	struct sigaction sa = { .sa_sigaction = sigbus_handle, .sa_flags = SA_SIGINFO };

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &sa, NULL);
}

static bool
sigbus_happened(const void *base, size_t size)
{
	uintptr_t at = sigbus_at;

	if (at == 0 || at - (uintptr_t)base >= size)
		return false;
	sigbus_at = 0;
	return true;
}

static struct source *
source_new(enum source_kind kind, const char *name)
{
	struct source *s = tnf_xcalloc(1, sizeof *s);

	s->kind = kind;
	s->name = tnf_xstrdup(name);
	s->fd = s->pidfd = -1;
	s->status = -1;
	s->opened = s->rate_time = now_mono();
	return s;
}

static struct source *
process_new(const char *name, pid_t pid, const char *comm, const char *path, bool ours)
{
	struct source *s = source_new(SOURCE_PROCESS, name);

	s->id = tnf_xasprintf("%s-%d", name, (int)pid);
	s->pid = pid;
	s->path = tnf_xstrdup(path);
	s->ours = ours;
	snprintf(s->comm, sizeof s->comm, "%s", comm);
	return s;
}

struct source *
source_process_ended(const char *name, pid_t pid, const char *path, bool ours)
{
	struct source *s = process_new(name, pid, name, path, ours);

	s->ended = now_mono();
	s->ended_told = true;
	source_note_context(s);
	return s;
}

struct source *
source_process(const char *name, pid_t pid, const char *comm, const char *path, bool ours)
{
	struct source *s = process_new(name, pid, comm, path, ours);

	s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (s->pidfd < 0 && errno == ESRCH)
		s->ended = now_mono();
	source_note_context(s);
	return s;
}

struct source *
source_file(const char *name, const char *path)
{
	struct source *s = source_new(SOURCE_FILE, name);

	s->id = tnf_xstrdup(name);
	s->path = tnf_xstrdup(path);
	return s;
}

struct source *
source_kernel(char *why, size_t size)
{
	struct source *s = source_new(SOURCE_KERNEL, "kernel");
	const void *base;

	s->id = tnf_xstrdup("kernel");
	s->kp = kernel_map(&base, &s->size, why, size);
	s->base = base;
	if (s->kp != NULL)
		return s;
	source_delete(s);
	return NULL;
}

static void
source_close_trigger(struct source *s)
{
	trigger_source_close(s->trigger);
	s->trigger = NULL;
	s->chosen = s->fed = false;
	if (s->stream != NULL)
		tnf_stream_want(s->stream, NULL, NULL);
}

static void
source_close_stream(struct source *s)
{
	source_close_trigger(s);
	tnf_stream_close(s->stream);
	s->stream = NULL;
	s->file = NULL;
}

static void
source_unmap(struct source *s)
{
	source_close_stream(s);
	if (s->base != NULL && s->kp == NULL)
		munmap((void *)(uintptr_t)s->base, s->size);
	s->base = NULL;
}

void
source_delete(struct source *s)
{
	if (s == NULL)
		return;
	source_unmap(s);
	kernel_unmap(s->kp);
	history_free(s->history);
	channel_free(s->channel);
	if (s->fd >= 0)
		close(s->fd);
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s->name);
	free(s->id);
	free(s->path);
	free(s->probes);
	free(s->context);
	free(s);
}

static void
source_break(struct source *s, const char *why)
{
	snprintf(s->broken, sizeof s->broken, "%s", why);
	say("%s: %s: it is watched no more", s->id, why);
	source_unmap(s);
}

/* Opens the source's file.  tnfwatch can read more files than a process: one that tells us itself
   which file it writes could name a file that it has no right to read. */
static int
source_open(const struct source *s, struct stat *ret)
{
	if (!s->told || (s->ours && s->ended != 0))
		return tnf_open_regular(s->path, O_RDONLY, ret);
	return tnf_its_file_open(s->pid, s->path, O_RDONLY, ret);
}

/* Handles a file that could not be opened.  A file of the configuration may come later.  A
   process that has a ring of ours may have ended, or be another program by now, which we are
   about to learn. */
static void
source_not_opened(struct source *s, int error)
{
	if (s->kind == SOURCE_FILE ? error == ENOENT : s->ours && (error == ESRCH || error == EPERM)) {
		s->retry += s->told ? RETOLD_NS : 0;
		return;
	}
	source_break(s, error == EPERM || error == EINVAL || (s->told && error == EACCES) ?
	    "the trace file that it names is not its own" : strerror(error));
}

static void
source_too_large(struct source *s, uint64_t size)
{
	char why[sizeof s->broken];

	snprintf(why, sizeof why, "its trace file has %" PRIu64 " bytes, of which a source may have "
	    "%" PRIu64 ": raise limit, or size", size, s->most);
	source_break(s, why);
}

/* Maps the file of the source, once the file is there and has a size. */
static void
source_map(struct source *s, int64_t now)
{
	struct stat st;

	if (now < s->retry && s->ended == 0)
		return;
	s->retry = now + RETRY_NS;
	if (s->fd < 0 && (s->fd = source_open(s, &st)) < 0) {
		source_not_opened(s, errno);
		return;
	}
	if (fstat(s->fd, &st) != 0 || st.st_size == 0)
		return;
	/* Behind a buffer there may be a context. */
	if ((uint64_t)st.st_size > s->most + TNF_CONTEXT_SIZE_MAX) {
		source_too_large(s, (uint64_t)st.st_size);
		return;
	}
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED) {
		source_break(s, strerror(errno));
		return;
	}
	s->base = map;
	s->size = (size_t)st.st_size;
}

const char *
source_comm(const struct source *s, const struct tnf_event *ev)
{
	static char comm[64];

	if (s->kind != SOURCE_KERNEL)
		return *s->comm != '\0' ? s->comm : NULL;
	read_comm((pid_t)ev->lwpid, comm);
	return *comm != '\0' ? comm : NULL;
}

static const char *
comm_of(void *source, const struct tnf_event *ev)
{
	return source_comm(source, ev);
}

/* True if a process of the section wrote the event, or began what the event is about. */
static bool
is_of(void *source, const char *section, const struct tnf_event *ev)
{
	const struct source *kernel = source;

	for (const struct source *s = *kernel->all; s != NULL; s = s->next)
		if (s->kind == SOURCE_PROCESS && strcmp(s->name, section) == 0 &&
		    (ev == NULL ? s->ended == 0 : s->pid == ev->pid &&
		    (s->ended == 0 || ev->time <= s->ended)))
			return true;
	return false;
}

static const struct trigger_source_ops process_ops = { .comm = comm_of };
static const struct trigger_source_ops kernel_ops = { .comm = comm_of, .is_of = is_of };

/* Has silence() count from now on, not from the first event. */
static void
source_expect(struct source *s)
{
	int64_t now = now_mono();
	char *names = tnf_xstrdup(s->probes != NULL ? s->probes : ""), *rest = names, *name;

	while ((name = strsep(&rest, "\n")) != NULL)
		if (*name != '\0')
			trigger_expect(s->trigger, name, now);
	free(names);
}

static void
source_open_trigger(struct source *s)
{
	if (s->stream == NULL || s->trigger != NULL || s->engine == NULL || s->frozen)
		return;
	s->trigger = trigger_source_open(s->engine, s, s->name, s->pid,
	    s->kind == SOURCE_KERNEL, s->kind == SOURCE_KERNEL ? &kernel_ops : &process_ops);
	if (s->trigger != NULL)
		source_expect(s);
}

void
source_engine(struct source *s, struct trigger_engine *e)
{
	source_close_trigger(s);
	s->engine = e;
	source_open_trigger(s);
}

static uint64_t source_lost(const struct source *);

static void
source_begin(struct source *s)
{
	struct tnf_summary sum;
	struct blocks b;
	int e;

	if ((e = tnf_stream_new(&s->stream)) == 0) {
		tnf_stream_follow(s->stream);
		e = tnf_stream_add_mem(s->stream, s->base, s->size, s->id, &s->file);
	}
	if (e != 0) {
		tnf_stream_close(s->stream);
		s->stream = NULL;
		if (e != ENODATA)
			source_break(s, tnf_error_message(e));
		return;
	}
	if (s->kind != SOURCE_KERNEL && blocks_open(&b, s->base, s->size) && b.size > s->most) {
		source_too_large(s, b.size);
		return;
	}
	/* Refreshes count those that come later. */
	tnf_file_summary(s->file, &sum);
	s->events += sum.events;
	/* Events lost before tnfwatch watched are no news, unless their number cannot be
	   true. */
	if (blocks_open(&b, s->base, s->size) && b.start < s->fires_from)
		s->lost = source_lost(s);
	source_open_trigger(s);
}

/* Some of the kernel's losses are counted outside of the buffer. */
static uint64_t
source_lost(const struct source *s)
{
	struct blocks b;
	uint64_t lost;

	if (s->kp != NULL && kernel_lost(s->kp, &lost))
		return lost;
	return blocks_open(&b, s->base, s->size) ? blocks_lost(&b) : s->lost;
}

static void
source_tell_lost(struct source *s, uint64_t blocks)
{
	struct blocks b;
	uint64_t lost = source_lost(s), n = lost > s->lost ? lost - s->lost : 0;

	/* More than one lost event in each nanosecond since the machine was started cannot
	   be true. */
	if (s->kp == NULL && lost > (uint64_t)now_mono()) {
		source_break(s, "it says that it has lost more events than there can have been");
		return;
	}
	/* A writer that finds no free block passes over many, whose numbers were never used.  How
	   many of the others were overwritten nobody can tell then; the lost events are told. */
	if (s->kp == NULL && n > 0)
		blocks = n < blocks / BLOCKS_PASSED && blocks_open(&b, s->base, s->size) ?
		    blocks - n * BLOCKS_PASSED : 0;
	s->lost = lost;
	s->missed += blocks;
	/* Events that tnfwatch has not seen are lost for a trigger, too: one in each block, at
	   least. */
	if (n + blocks > 0 && s->trigger != NULL)
		trigger_lost(s->trigger, n > 0 ? n : blocks);
}

static void
source_measure(struct source *s, int64_t now)
{
	int64_t dt = now - s->rate_time;

	if (dt < RATE_NS)
		return;
	double rate = (double)(s->events - s->rate_events) * 1e9 / (double)dt;
	double part = dt >= 10 * SECOND ? 1 : (double)dt / 10e9;
	s->rate = s->rate == 0 ? rate : s->rate + (rate - s->rate) * part;
	s->rate_events = s->events;
	s->rate_time = now;
}

/* True if somebody reads events of this probe.  All others are kept as bytes, and not decoded. */
static bool
is_read(void *arg, const struct tnf_probe *p)
{
	const struct source *s = arg;

	return (s->trigger != NULL && trigger_wants(s->trigger, p)) ||
	    (s->channel != NULL && channel_wants(s->channel, p));
}

/* The triggers are shown one event at least, whichever it is: they count "elapsed" from it. */
static void
source_choose(struct source *s)
{
	if (s->chosen || (s->trigger != NULL && !s->fed))
		return;
	tnf_stream_want(s->stream, is_read, s);
	s->chosen = true;
}

struct reading {
	struct source *s;
	struct blocks b;
};

static void
source_take(void *arg, const struct tnf_event *ev)
{
	const struct reading *r = arg;
	struct source *s = r->s;

	if (s->trigger == NULL)
		return;
	/* Events from before tnfwatch watched are history: they fire nothing.  The pairs
	   that a living process has begun, and not ended, are taken up. */
	if (ev->time >= s->fires_from) {
		s->fed = true;
		trigger_event(s->trigger, ev);
	} else if (s->kind == SOURCE_PROCESS && s->ended == 0)
		trigger_past(s->trigger, ev);
}

static void
source_take_channel(void *arg, const struct tnf_event *ev)
{
	const struct reading *r = arg;

	channel_event(r->s->channel, &r->b, ev);
	source_take(arg, ev);
}

/* A ring that is overwritten between two looks, time and again, is read for a small part of the time:
   of its events most are missed however much of a CPU that takes. */
static void
source_rest(struct source *s, bool missed, int64_t begun)
{
	int64_t now = now_mono();

	s->rest = missed && s->lapped ? now + REST * (now - begun) : 0;
	s->lapped = missed;
	trigger_source_rests(s->trigger, s->rest > now);
}

static bool
source_read(struct source *s, int64_t until)
{
	struct reading r = { .s = s };
	int64_t begun = now_mono();
	struct tnf_progress p;
	bool channel = s->channel != NULL && blocks_open(&r.b, s->base, s->size);
	int e;

	source_choose(s);
	if ((e = tnf_stream_refresh(s->stream, until, &p)) != 0 ||
	    (e = tnf_stream_each(s->stream, channel ? source_take_channel : source_take, &r)) != 0) {
		source_break(s, tnf_error_message(e));
		return false;
	}
	s->events += p.events;
	/* Waiting events that were overwritten do not count: they are gone. */
	if (tnf_stream_waiting(s->stream) > WAITING_MAX) {
		source_break(s, "it says that its events are of times to come");
		return false;
	}
	if (p.blocks_missed > 0)
		channel_missed(s->channel, until);
	source_tell_lost(s, p.blocks_missed);
	source_rest(s, p.blocks_missed > 0, begun);
	return true;
}

/* Triggers are not asked about what is frozen: silence() would fire. */
static void
source_look_frozen(struct source *s)
{
	int64_t time;
	char why[1];

	if (s->kp != NULL)
		s->frozen = kernel_frozen(s->kp, &time, why, sizeof why);
	if (!s->frozen)
		source_open_trigger(s);
	else if (s->trigger != NULL)
		source_close_trigger(s);
}

void
source_poll(struct source *s, int64_t until)
{
	int64_t begun = now_mono();
	uint64_t before = s->events;

	if (*s->broken != '\0' || (s->path != NULL && *s->path == '\0'))
		return;
	if (s->base == NULL)
		source_map(s, begun);
	if (s->base != NULL && s->stream == NULL)
		source_begin(s);
	if (s->stream != NULL && (begun >= s->rest || s->ended != 0) && source_read(s, until))
		source_look_frozen(s);
	if (s->base != NULL && s->kp == NULL && sigbus_happened(s->base, s->size))
		source_break(s, "its trace file was cut short while it was mapped");
	if (s->events != before)
		s->seen = begun;
	source_measure(s, begun);
	s->busy += now_mono() - begun;
}

/* For a process: the time at which the oldest of those blocks began that writers took in order.
   A block that a thread holds over laps is older, and has gaps behind it.  The block behind the
   cursor is the next to be taken, and so the oldest, unless somebody took it just now. */
static bool
reach_process(const struct blocks *b, int64_t *since)
{
	uint64_t cursor = blocks_cursor(b), data = b->n - b->data;
	struct blocks_mark m;
	uint32_t block;

	*since = b->start;
	if (cursor <= data)
		return true;
	for (uint64_t age = data; age-- > 0;) {
		block = b->data + (uint32_t)((cursor - 1 - age) % data);
		if (!blocks_look(b, block, &m) || m.time == INT64_MAX || blocks_age(b, block, &m, cursor) != age)
			continue;
		*since = m.time;
		return true;
	}
	return false;
}

bool
source_reach(const struct source *s, int64_t *since)
{
	struct blocks b;

	if (s->base == NULL || !blocks_open(&b, s->base, s->size))
		return false;
	return s->kp != NULL ? kernel_reach(s->kp, since) : reach_process(&b, since);
}

bool
source_since(const struct source *s, int64_t *since)
{
	struct history_status h;

	if (!source_reach(s, since))
		return false;
	history_status(s->history, &h);
	if (h.since != 0 && h.since < *since)
		*since = h.since;
	return true;
}

bool
source_is_whole(const struct source *s)
{
	struct blocks b;

	return history_has_all(s->history) || (s->base != NULL &&
	    blocks_open(&b, s->base, s->size) && blocks_cursor(&b) <= b.n - b.data);
}

bool
source_frozen(const struct source *s, int64_t *time, char *why, size_t size)
{
	tnf_context_t *c = NULL;
	const char *text;
	char path[64], *end;

	if (s->kind == SOURCE_KERNEL)
		return s->kp != NULL && kernel_frozen(s->kp, time, why, size);
	/* The one who froze the ring may have written a context behind what we have mapped. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
	if (s->fd < 0 || tnf_context_open(path, &c) != 0)
		return false;
	if ((text = tnf_context_fact(c, "frozen")) != NULL) {
		*time = strtoll(text, &end, 10);
		snprintf(why, size, "%s", *end == ' ' ? end + 1 : end);
	}
	tnf_context_close(c);
	return text != NULL;
}

void
source_note_context(struct source *s)
{
	struct context_writer w;

	context_begin(&w);
	context_host(&w);
	if (s->kind == SOURCE_KERNEL)
		kernel_context(s->kp, &w);
	else if (s->pid != 0 && s->ended == 0) {
		context_tasks(&w, s->pid);
		context_objects(&w, s->pid);
	}
	if (w.f != NULL && fputs("end 1\n", w.f) != EOF && fflush(w.f) == 0) {
		free(s->context);
		s->context = tnf_xstrndup(w.text, w.size);
		s->context_size = w.size;
	}
	context_free(&w);
	s->context_time = now_mono();
}
