/*
 * fleet-agent.c - tnfwatch agent: keeps what others ask for, and gives it to them.
 *
 * It is a process of its own, which tnfwatch starts where there is a section [fleet];
 * what happens on the wire concerns neither rings nor triggers.  Two threads of the
 * library call us: one with questions, one with requests for what a question has kept;
 * they share nothing but files.  A question is a file DIRECTORY/fleet/QUESTION with the
 * answer in it, so that one that comes again, after whatever break, gets the same one.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tnfwatch/control.h"
#include "tnfwatch/fleet.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

#define INBOX		"_INBOX."	/* of whoever asks, as NATS' libraries call them */
#define RECORDED	"recorded"	/* the incident of files that are there anyway */
#define SLICE_CPU	(120 * SECOND)	/* what filtering for one question may cost ... */
#define SLICE_WALL	(300 * SECOND)	/* ... during which others wait */
#define SLICE_LEAST	(UINT64_C(1) << 20)	/* bytes of a slice, if [watch] has a small limit */
#define COSTS_MAX	64		/* questions whose cost is known */
#define SLICE_MEMORY	(UINT64_C(1) << 30)
#define RECORD_YOUNG	(3600 * SECOND)	/* its incident may still be written */
#define PENDING_MAX	256		/* messages that wait; more are dropped */
#define PENDING_BYTES	(4 << 20)

struct agent_cost {
	char	 question[FLEET_NAME];
	int64_t	 cpu, wall;	/* ns */
};

/* What a child may still take. */
struct agent_room {
	unsigned cpu, wall;	/* s */
	uint64_t bytes;
};

struct agent {
	const struct config *c;
	const char *host;
	char	 label[FLEET_LABELS][FLEET_NAME];
	unsigned n_labels;
	natsConnection *nc;
	char	*directory;		/* DIRECTORY/fleet */

	/* Of the thread with questions. */
	int64_t	*asked;			/* when the last limit_n came, a ring */
	uint64_t n_asked, n_refused, n_bad;

	/* Of the thread with requests. */
	int64_t	 free_at;		/* when the next bytes may go */
	struct agent_cost cost[COSTS_MAX];	/* a ring */
	uint64_t n_costs;
	struct fleet_message in, out;	/* each is large */
	unsigned char *raw, *packed;
};

/* --- what a question has kept --- */

static char *
agent_record_path(const struct agent *a, const char *question)
{
	return xasprintf("%s/%s", a->directory, question);
}

static bool
agent_record_read(const struct agent *a, const char *question, struct fleet_message *m)
{
	char *path = agent_record_path(a, question), *text = read_text(path, FLEET_HEAD_MAX);
	bool good = text != NULL && fleet_decode(text, strlen(text), m, NULL);

	free(text);
	free(path);
	return good;
}

/* The whole file or none, whoever interrupts us. */
static bool
agent_record_write(const struct agent *a, const struct fleet_message *m)
{
	char *path = agent_record_path(a, m->question), *temp = xasprintf("%s/.new", a->directory);
	size_t size;
	void *text = fleet_encode(m, &size);
	FILE *f = text != NULL ? fopen(temp, "we") : NULL;
	bool good = f != NULL && fwrite(text, 1, size, f) == size && fflush(f) == 0 &&
	    fsync(fileno(f)) == 0;

	if (f != NULL && fclose(f) != 0)
		good = false;
	good = good && rename(temp, path) == 0;
	if (!good)
		say("%s: %s", path, strerror(errno));
	free(text);
	free(temp);
	free(path);
	return good;
}

/* Files that are there anyway do not go like incidents: their questions go by age. */
static bool
agent_is_over(const struct agent *a, const struct fleet_message *record, int64_t age)
{
	char *path;
	bool gone;

	if (strcmp(record->incident, RECORDED) == 0)
		return age > FLEET_FORGET;
	path = incident_path(a->c, record->incident);
	gone = access(path, F_OK) != 0;
	free(path);
	return gone;
}

/* What earlier questions cut out of incidents that have gone. */
static void
agent_clean(const struct agent *a)
{
	struct fleet_message *m = xcalloc(1, sizeof *m);
	DIR *dir = opendir(a->directory);
	const struct dirent *e;
	struct stat st;
	int64_t age;
	char *slice;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		/* An incident gets its name only when it is complete. */
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (age = now_wall() - (int64_t)st.st_mtim.tv_sec * SECOND) < RECORD_YOUNG)
			continue;
		if (!fleet_name_is_good(e->d_name) || strstr(e->d_name, ".slice") != NULL ||
		    !agent_record_read(a, e->d_name, m) || !agent_is_over(a, m, age))
			continue;
		slice = xasprintf("%s.slice", e->d_name);
		remove_all(dirfd(dir), slice);
		unlinkat(dirfd(dir), e->d_name, 0);
		free(slice);
	}
	if (dir != NULL)
		closedir(dir);
	free(m);
}

/* The slice that was made first; the caller frees; NULL: there is none. */
static char *
agent_oldest_slice(const struct agent *a, uint64_t *all)
{
	DIR *dir = opendir(a->directory);
	const struct dirent *e;
	struct stat st;
	char *oldest = NULL;
	int64_t time = INT64_MAX;

	*all = 0;
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (!fleet_name_is_good(e->d_name) || strstr(e->d_name, ".slice") == NULL ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*all += disk_usage(dirfd(dir), e->d_name);
		if (st.st_mtim.tv_sec < time) {
			time = st.st_mtim.tv_sec;
			free(oldest);
			oldest = xstrdup(e->d_name);
		}
	}
	if (dir != NULL)
		closedir(dir);
	return oldest;
}

/* Before another slice is made: with it, all take no more than twice what one may have.
   What has gone can be made again, as long as its incident is there. */
static void
agent_slices_trim(const struct agent *a, uint64_t max)
{
	char *oldest, *path;
	uint64_t all;
	int e = 0;

	while (e == 0 && (oldest = agent_oldest_slice(a, &all)) != NULL) {
		path = xasprintf("%s/%s", a->directory, oldest);
		e = all > max ? remove_all(AT_FDCWD, path) : -1;
		free(path);
		free(oldest);
	}
}

/* --- questions --- */

/* Is one more allowed now? */
static bool
agent_limit(struct agent *a)
{
	unsigned n = a->c->fleet.limit_n;
	int64_t now = now_mono(), *oldest;

	if (n == 0)
		return true;
	if (a->asked == NULL)
		a->asked = xcalloc(n, sizeof *a->asked);
	oldest = &a->asked[a->n_asked % n];
	if (a->n_asked >= n && now - *oldest < a->c->fleet.limit_ns)
		return false;
	*oldest = now;
	a->n_asked++;
	return true;
}

/* The daemon keeps everything of now; "" if it does not. */
static void
agent_pin(const struct agent *a, const struct fleet_message *ask, char incident[FLEET_NAME])
{
	char *text = NULL;
	size_t size;
	FILE *f;

	*incident = '\0';
	if (a->c->fleet.recorded != NULL) {
		strcpy(incident, RECORDED);
		return;
	}
	if ((f = open_memstream(&text, &size)) == NULL)
		return;
	if (control_ask(a->c, f, (const char *const[]){ "pin", ask->question, NULL }) == 0 &&
	    fflush(f) == 0 && text != NULL) {
		text[strcspn(text, "\n")] = '\0';
		if (fleet_name_is_good(text))
			strcpy(incident, text);
	}
	fclose(f);
	free(text);
}

/* Where the answer goes: to an inbox, and to no other subject, where it may mean something
   to others.  NULL: there is none. */
static const char *
agent_reply(natsMsg *msg)
{
	const char *reply = natsMsg_GetReply(msg);

	return reply != NULL && strncmp(reply, INBOX, strlen(INBOX)) == 0 ? reply : NULL;
}

/* Nobody is told of a question that was refused for its form: it may be a flood. */
static void
agent_question(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct agent *a = arg;
	struct fleet_message *ask = xcalloc(1, sizeof *ask), *old = xcalloc(1, sizeof *old);
	int64_t received = now_wall();
	const char *reply = agent_reply(msg);
	bool known;

	if (!fleet_decode(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), ask, NULL) ||
	    strcmp(ask->kind, "ask") != 0 || *ask->question == '\0' || reply == NULL ||
	    strstr(ask->question, ".slice") != NULL) {
		a->n_bad++;
		goto out;
	}
	if (!fleet_matches(ask, a->host, a->label, a->n_labels))
		goto out;
	/* Neither noted nor sent back. */
	ask->body_size = 0;
	ask->n_files = 0;
	*ask->why = '\0';
	known = agent_record_read(a, ask->question, old);
	if (known)
		strcpy(ask->incident, old->incident);
	else if (!agent_limit(a)) {
		a->n_refused++;
		strcpy(ask->why, "asked too often: limit in [fleet]");
	} else {
		agent_pin(a, ask, ask->incident);
		if (*ask->incident == '\0')
			strcpy(ask->why, "nothing can be kept: see its log");
		else if (!agent_record_write(a, ask))
			strcpy(ask->why, "cannot note it: see its log");
		else
			say("fleet: question %s keeps %s", ask->question, ask->incident);
	}
	strcpy(ask->kind, *ask->why != '\0' ? "refused" : "pinned");
	snprintf(ask->host, sizeof ask->host, "%s", a->host);
	ask->received = received;
	ask->sent = now_wall();
	*ask->where = '\0';
	fleet_publish(nc, reply, NULL, ask);
out:
	free(ask);
	free(old);
	natsMsg_Destroy(msg);
}

/* --- what was kept is fetched --- */

static bool
agent_wants_slice(const struct fleet_message *record)
{
	return *record->where != '\0' || record->last != 0;
}

/* Files that were recorded may be given away no more, and the question is still known. */
static bool
agent_gives(const struct agent *a, const struct fleet_message *record)
{
	return strcmp(record->incident, RECORDED) != 0 || a->c->fleet.recorded != NULL;
}

/* The directory that a question's files are in; the caller frees it. */
static char *
agent_place(const struct agent *a, const struct fleet_message *record)
{
	if (agent_wants_slice(record))
		return xasprintf("%s/%s.slice", a->directory, record->question);
	if (strcmp(record->incident, RECORDED) == 0)
		return xstrdup(a->c->fleet.recorded);
	return incident_path(a->c, record->incident);
}

static bool
agent_is_trace(const char *name)
{
	size_t n = strlen(name);

	return fleet_name_is_good(name) && ((n > 4 && strcmp(name + n - 4, ".tnf") == 0) ||
	    (n > 8 && strcmp(name + n - 8, ".tnf.zst") == 0));
}

/* The trace files in a directory; a message has room for so many, 'why' then says how
   many others there are.  false: it cannot be read, 'why' says so. */
static bool
agent_list(const char *path, struct fleet_message *m)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	struct stat st;
	unsigned left = 0;

	m->n_files = 0;
	if (dir == NULL) {
		snprintf(m->why, sizeof m->why, "its files cannot be listed: %s", strerror(errno));
		return false;
	}
	while ((e = readdir(dir)) != NULL) {
		if (!agent_is_trace(e->d_name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (m->n_files == FLEET_FILES) {
			left++;
			continue;
		}
		strcpy(m->files[m->n_files].name, e->d_name);
		m->files[m->n_files++].size = st.st_size;
	}
	closedir(dir);
	if (left > 0)
		snprintf(m->why, sizeof m->why, "without %u of its files: one answer has at most %d",
		    left, FLEET_FILES);
	return true;
}

/* RFC 3339 with nanoseconds, as --from takes it. */
static char *
agent_time_text(const char *option, int64_t wall)
{
	time_t t = (time_t)(wall / SECOND);
	struct tm tm;
	char text[32];

	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	return xasprintf("--%s=%s.%09" PRId64 "Z", option, text, wall % SECOND);
}

/* What filtering for a question has cost so far, however often it is asked for. */
static struct agent_cost *
agent_cost(struct agent *a, const char *question)
{
	struct agent_cost *c;

	for (size_t i = 0; i < COSTS_MAX; i++)
		if (strcmp(a->cost[i].question, question) == 0)
			return &a->cost[i];
	c = &a->cost[a->n_costs++ % COSTS_MAX];
	*c = (struct agent_cost){ .cpu = 0 };
	strcpy(c->question, question);
	return c;
}

/* Bytes that the slice of one question may have. */
static uint64_t
agent_slice_max(const struct agent *a)
{
	uint64_t share = a->c->limit / 8;

	return share > SLICE_LEAST ? share : SLICE_LEAST;
}

static _Noreturn void
agent_slice_main(char **argv, pid_t agent, const struct agent_room *room)
{
	const struct rlimit cpu = { room->cpu, room->cpu }, size = { room->bytes, room->bytes };
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* It ends with the agent, also if that was killed before this. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != agent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(room->wall);
	setpriority(PRIO_PROCESS, 0, 10);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_FSIZE, &size);
#ifndef SANITIZED	/* which takes more by itself */
	/* Not of addresses: traces are mapped, and may be large. */
	setrlimit(RLIMIT_DATA, &(struct rlimit){ SLICE_MEMORY, SLICE_MEMORY });
#endif
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static int64_t
timeval_ns(const struct timeval *t)
{
	return (int64_t)t->tv_sec * SECOND + t->tv_usec * 1000;
}

/* What is left of what the question may cost; false: nothing. */
static bool
agent_room(const struct agent *a, const struct agent_cost *cost, struct agent_room *room)
{
	char *temp = xasprintf("%s/.slice", a->directory);
	uint64_t max = agent_slice_max(a), used = disk_usage(AT_FDCWD, temp);

	free(temp);
	if (cost->cpu >= SLICE_CPU || cost->wall >= SLICE_WALL || used >= max)
		return false;
	room->cpu = (unsigned)((SLICE_CPU - cost->cpu + SECOND - 1) / SECOND);
	room->wall = (unsigned)((SLICE_WALL - cost->wall + SECOND - 1) / SECOND);
	room->bytes = max - used;
	return true;
}

static int
agent_run(struct agent *a, const char *question, char **argv)
{
	struct agent_cost *cost = agent_cost(a, question);
	int64_t begun = now_mono();
	struct agent_room room;
	struct rusage u;
	pid_t agent = getpid(), pid;
	int status;

	if (!agent_room(a, cost, &room))
		return -1;
	if ((pid = fork()) == 0)
		agent_slice_main(argv, agent, &room);
	if (pid < 0)
		return -1;
	while (wait4(pid, &status, 0, &u) < 0)
		if (errno != EINTR)
			return -1;
	cost->cpu += timeval_ns(&u.ru_utime) + timeval_ns(&u.ru_stime);
	cost->wall += now_mono() - begun;
	return status;
}

/* One file of what is asked for, which is there even if no event is left in it; false:
   it could not be made.  An expression is an argument, and never a command. */
static bool
agent_slice_file(struct agent *a, const struct fleet_message *r, const char *from, const char *to)
{
	char *argv[16], *where = NULL, *begin = NULL, *end = NULL;
	unsigned n = 0;
	bool good;

	argv[n++] = program_path("tnfdump");
	argv[n++] = (char *)(uintptr_t)"--to";
	argv[n++] = (char *)(uintptr_t)"tnf";
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = (char *)(uintptr_t)to;
	if (*r->where != '\0')
		argv[n++] = where = xasprintf("--where=%s", r->where);
	if (r->last != 0 && r->at != 0) {
		argv[n++] = begin = agent_time_text("from", r->at > r->last ? r->at - r->last : 0);
		argv[n++] = end = agent_time_text("until", r->at);
	}
	argv[n++] = (char *)(uintptr_t)"--";
	argv[n++] = (char *)(uintptr_t)from;
	argv[n] = NULL;
	good = agent_run(a, r->question, argv) == 0;
	free(argv[0]);
	free(where);
	free(begin);
	free(end);
	return good;
}

/* Each file by itself, into a directory that gets its name when all are there; false:
   one is not, and a->out.why says why. */
static bool
agent_slice(struct agent *a, const struct fleet_message *r, const char *from, const char *place)
{
	struct fleet_message *list = xcalloc(1, sizeof *list);
	char *temp = xasprintf("%s/.slice", a->directory), *source, *to;
	bool good = false;

	remove_all(AT_FDCWD, temp);
	if (mkdir(temp, 0700) != 0)
		snprintf(a->out.why, sizeof a->out.why, "no room to filter in: %s", strerror(errno));
	else if (!(good = agent_list(from, list)))
		strcpy(a->out.why, list->why);
	for (unsigned i = 0; good && i < list->n_files; i++) {
		source = xasprintf("%s/%s", from, list->files[i].name);
		to = xasprintf("%s/%u.tnf", temp, i);
		if (!(good = agent_slice_file(a, r, source, to)))
			snprintf(a->out.why, sizeof a->out.why, "%s cannot be filtered: ask without "
			    "--where and --last", list->files[i].name);
		free(source);
		free(to);
	}
	if (good && rename(temp, place) != 0) {
		snprintf(a->out.why, sizeof a->out.why, "no room to filter in: %s", strerror(errno));
		good = false;
	}
	if (!good)
		remove_all(AT_FDCWD, temp);
	free(temp);
	free(list);
	return good;
}

/* The largest piece: a second's worth, since an asker does not wait for one for long. */
static int64_t
agent_piece(const struct agent *a)
{
	uint64_t rate = a->c->fleet.rate;

	return rate > 0 && rate < FLEET_CHUNK ? (int64_t)rate : FLEET_CHUNK;
}

/* What was left out of the files is left out of the filtered ones. */
static void
agent_answer_list(struct agent *a, const struct fleet_message *r, const char *place)
{
	bool recorded = strcmp(r->incident, RECORDED) == 0;
	char *from = recorded ? xstrdup(a->c->fleet.recorded) : incident_path(a->c, r->incident);
	bool whole = recorded || access(from, F_OK) == 0;

	if (whole && agent_wants_slice(r) && access(place, F_OK) != 0 &&
	    !agent_slice(a, r, from, place))
		goto out;
	if (whole) {
		if (!agent_list(from, &a->out) ||
		    (agent_wants_slice(r) && !agent_list(place, &a->out)))
			goto out;
		a->out.complete = 1;
	}
	a->out.length = agent_piece(a);
	strcpy(a->out.kind, "kept");
out:
	free(from);
}

/* So many bytes in a second, and no more. */
static void
agent_pace(struct agent *a, size_t size)
{
	int64_t now = now_mono(), wait;

	if (a->c->fleet.rate == 0)
		return;
	if (a->free_at < now)
		a->free_at = now;
	wait = a->free_at - now;
	a->free_at += (int64_t)((double)size / (double)a->c->fleet.rate * 1e9);
	if (wait > 0)
		nanosleep(&(struct timespec){ wait / SECOND, wait % SECOND }, NULL);
}

static void
agent_answer_chunk(struct agent *a, const char *place)
{
	int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = dir >= 0 && agent_is_trace(a->in.file) ?
	    openat(dir, a->in.file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
	int64_t most = agent_piece(a), length = a->in.length < most ? a->in.length : most;
	struct stat st;
	ssize_t n = -1;
	size_t packed;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, a->raw, (size_t)length, a->in.offset);
	if (n < 0)
		strcpy(a->out.why, "no such file of this question");
	else {
		strcpy(a->out.kind, "chunk");
		a->out.offset = a->in.offset;
		a->out.length = n;
		a->out.size = st.st_size;
		a->out.crc = (int64_t)crc32(0, a->raw, (uInt)n);
		packed = ZSTD_compress(a->packed, ZSTD_compressBound(FLEET_CHUNK), a->raw, (size_t)n, 1);
		a->out.packed = !ZSTD_isError(packed) && packed < (size_t)n;
		a->out.body = a->out.packed ? a->packed : a->raw;
		a->out.body_size = a->out.packed ? packed : (size_t)n;
		agent_pace(a, a->out.body_size);
	}
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
}

/* A slice that is still to be made has its limits; false: they are used up. */
static bool
agent_prepare(struct agent *a, const struct fleet_message *r, const char *place)
{
	const struct agent_cost *cost;

	if (!agent_wants_slice(r) || access(place, F_OK) == 0)
		return true;
	agent_clean(a);
	agent_slices_trim(a, agent_slice_max(a));
	cost = agent_cost(a, r->question);
	return cost->cpu < SLICE_CPU && cost->wall < SLICE_WALL;
}

static void
agent_request(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct agent *a = arg;
	struct fleet_message *r = xcalloc(1, sizeof *r);
	const char *reply = agent_reply(msg);
	int64_t received = now_wall();
	char *place;

	if (reply == NULL || !fleet_decode(natsMsg_GetData(msg),
	    (size_t)natsMsg_GetDataLength(msg), &a->in, NULL) || strcmp(a->in.host, a->host) != 0 ||
	    *a->in.question == '\0')
		goto out;
	memset(&a->out, 0, sizeof a->out);
	strcpy(a->out.kind, "refused");
	strcpy(a->out.question, a->in.question);
	strcpy(a->out.file, a->in.file);
	snprintf(a->out.host, sizeof a->out.host, "%s", a->host);
	if (!agent_record_read(a, a->in.question, r))
		strcpy(a->out.why, "no such question has been asked here");
	else if (!agent_gives(a, r))
		strcpy(a->out.why, "there is no recorded = in [fleet] any more");
	else {
		place = agent_place(a, r);
		if (strcmp(a->in.kind, "list") == 0 && agent_prepare(a, r, place))
			agent_answer_list(a, r, place);
		else if (strcmp(a->in.kind, "list") == 0)
			strcpy(a->out.why, "filtering has cost all that one question may: ask "
			    "without --where and --last");
		else if (strcmp(a->in.kind, "get") == 0)
			agent_answer_chunk(a, place);
		else
			strcpy(a->out.why, "no such request: the programs are of different versions");
		free(place);
	}
	a->out.received = received;
	a->out.sent = now_wall();
	fleet_publish(nc, reply, NULL, &a->out);
out:
	free(r);
	natsMsg_Destroy(msg);
}

/* --- the lease --- */

/* Whoever asks knows by it whom to expect. */
static void
agent_lease(const struct agent *a, jsCtx **js)
{
	struct fleet_message *m = xcalloc(1, sizeof *m);
	const char *why;
	kvStore *kv = fleet_registry(a->c, a->nc, js, &why);
	size_t size;
	void *text;

	strcpy(m->kind, "lease");
	snprintf(m->host, sizeof m->host, "%s", a->host);
	memcpy(m->label, a->label, sizeof m->label);
	m->n_labels = a->n_labels;
	m->until = now_wall() + FLEET_LEASE;
	if (kv != NULL && (text = fleet_encode(m, &size)) != NULL) {
		kvStore_Put(NULL, kv, a->host, text, (int)size);
		free(text);
	}
	kvStore_Destroy(kv);
	free(m);
}

static bool
agent_subscribe(struct agent *a, natsSubscription *subs[2])
{
	char subject[FLEET_TEXT];

	fleet_subject(a->c, "ask", NULL, subject, sizeof subject);
	if (natsConnection_Subscribe(&subs[0], a->nc, subject, agent_question, a) != NATS_OK)
		return false;
	fleet_subject(a->c, "host", a->host, subject, sizeof subject);
	if (natsConnection_Subscribe(&subs[1], a->nc, subject, agent_request, a) != NATS_OK)
		return false;
	for (int i = 0; i < 2; i++)
		natsSubscription_SetPendingLimits(subs[i], PENDING_MAX, PENDING_BYTES);
	return true;
}

/* The lease is renewed until a signal ends us. */
static _Noreturn void
agent_loop(struct agent *a)
{
	jsCtx *js = NULL;
	bool connected;

	for (;;) {
		if ((connected = natsConnection_Status(a->nc) == NATS_CONN_STATUS_CONNECTED))
			agent_lease(a, &js);
		/* Not connected yet: soon again. */
		sleep(connected ? FLEET_LEASE / SECOND / 3 : 1);
	}
}

/*
 * At once, whatever our threads do: what they write has its name only when it is whole,
 * and nothing of it may be freed while they run.
 */
static void
agent_end(int sig)
{
	_exit(0);
}

static int
agent_command(const struct watch_options *o, int argc, char **argv)
{
	struct config *c = config_read(o->config, stderr);
	struct agent a = { .c = c };
	natsSubscription *subs[2] = { NULL, NULL };
	const struct sigaction end = { .sa_handler = agent_end };

	if (c == NULL)
		return 1;
	if (c->fleet.servers == NULL) {
		say("%s: no [fleet] with servers = ...: nobody to answer", c->file);
		config_free(c);
		return 1;
	}
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "tnfwatch-agent");
	a.directory = xasprintf("%s/fleet", c->directory);
	a.n_labels = fleet_labels(c, a.label);
	a.raw = xcalloc(1, FLEET_CHUNK);
	a.packed = xcalloc(1, ZSTD_compressBound(FLEET_CHUNK));
	if ((a.host = fleet_host(c)) != NULL && make_directory(a.directory) == 0) {
		agent_clean(&a);
		a.nc = fleet_connect(c, true);
	}
	if (a.nc != NULL && agent_subscribe(&a, subs))
		agent_loop(&a);
	/* Threads of the library may still be in what we have: nothing is freed. */
	fflush(NULL);
	_exit(1);
}

const struct watch_command command_agent = {
	.name = "agent", .usage = "", .run = agent_command,
	.help = "answers other machines; started where there is [fleet]"
};
