/*
 * kept.c - what this machine keeps for a question: the record (question and answer), the traces
 * and, if the question chooses events by --where or --last, the slice of the traces.
 *
 * The record is a file DIRECTORY/fleet/QUESTION with the question and its answer.  If the
 * question asks for a slice, tnfdump cuts it out of each trace, into a directory beside the
 * record.  tnfdump does so in a process of its own, whose memory is limited; its time and disk
 * are limited for each question, also if it is repeated (of the last AGENT_COSTS questions).
 */
#include <sys/resource.h>

#include "tnffleet/fleet.h"
#include "tnfwatch/watch.h"

#define RECORD_YOUNG	(3600 * SECOND)	/* its incident may still be written */

bool
agent_record_read(const struct agent *a, const char *question, struct fleet_message *m)
{
	autofree char *text = path_text(FLEET_HEAD_MAX, "%s/%s", a->directory, question);

	return text != NULL && fleet_decode(text, strlen(text), m, NULL);
}

bool
agent_record_write(const struct agent *a, const struct fleet_message *m)
{
	autoclose int dir = open(a->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t size;
	autofree void *text = fleet_encode(m, &size);
	struct whole w;
	int e = text == NULL ? ENOMEM : dir < 0 ? errno : tnf_whole_open(&w, dir, m->question);

	if (e == 0) {
		if ((e = pwrite_all(w.fd, text, size, 0)) == 0)
			e = tnf_whole_commit(&w);
		tnf_whole_discard(&w);
	}
	if (e != 0)
		say("%s/%s: %s", a->directory, m->question, strerror(e));
	return e == 0;
}

static bool
sync_path(const char *path, int flags)
{
	autoclose int fd = open(path, flags | O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0;
}

void
agent_record_sync(const struct agent *a, const char *question)
{
	autofree char *path = tnf_xasprintf("%s/%s", a->directory, question);

	/* The directory is synced, too, as it has the file's name. */
	if (!sync_path(path, 0) || !sync_path(a->directory, O_DIRECTORY))
		say("%s: not on the disk: %s", path, strerror(errno));
}

/* True if a question is over: its incident has been removed.  The files of the key 'recorded' are
   never removed, so a question about them is over after FLEET_FORGET. */
static bool
agent_is_over(const struct agent *a, const struct fleet_message *record, int64_t age)
{
	if (strcmp(record->incident, AGENT_RECORDED) == 0)
		return age > FLEET_FORGET;
	autofree char *path = incident_path(a->c, record->incident);

	return access(path, F_OK) != 0;
}

void
agent_clean(const struct agent *a)
{
	autofree struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	autoclosedir DIR *dir = opendir(a->directory);
	const struct dirent *e;
	struct stat st;
	int64_t age;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		/* A young record stays: perhaps its incident is not complete, and so has no name yet. */
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (age = now_wall() - (int64_t)st.st_mtim.tv_sec * SECOND) < RECORD_YOUNG)
			continue;
		if (!fleet_name_is_good(e->d_name) || strstr(e->d_name, ".slice") != NULL)
			continue;
		/* A record that cannot be read is removed when it is older than FLEET_FORGET: the
		   machine went down before the record was on the disk. */
		if (agent_record_read(a, e->d_name, m) ? !agent_is_over(a, m, age) :
		    age <= FLEET_FORGET)
			continue;
		autofree char *slice = tnf_xasprintf("%s.slice", e->d_name);
		remove_all(dirfd(dir), slice);
		unlinkat(dirfd(dir), e->d_name, 0);
	}
}

/* The name of the slice that was made first, which the caller frees; NULL: there is none.  *all is the
   size of all slices. */
static char *
agent_oldest_slice(const struct agent *a, uint64_t *all)
{
	autoclosedir DIR *dir = opendir(a->directory);
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
			oldest = tnf_xstrdup(e->d_name);
		}
	}
	return oldest;
}

static void
agent_slices_trim(const struct agent *a, uint64_t max)
{
	char *oldest;
	uint64_t all;
	int e = 0;

	while (e == 0 && (oldest = agent_oldest_slice(a, &all)) != NULL) {
		autofree char *path = tnf_xasprintf("%s/%s", a->directory, oldest);
		e = all > max ? remove_all(AT_FDCWD, path) : -1;
		free(oldest);
	}
}

bool
agent_wants_slice(const struct fleet_message *record)
{
	return *record->where != '\0' || record->last != 0;
}

bool
agent_gives(const struct agent *a, const struct fleet_message *record)
{
	return strcmp(record->incident, AGENT_RECORDED) != 0 || a->c->fleet.recorded != NULL;
}

char *
agent_place(const struct agent *a, const struct fleet_message *record)
{
	if (agent_wants_slice(record))
		return tnf_xasprintf("%s/%s.slice", a->directory, record->question);
	if (strcmp(record->incident, AGENT_RECORDED) == 0)
		return tnf_xstrdup(a->c->fleet.recorded);
	return incident_path(a->c, record->incident);
}

bool
agent_is_trace(const char *name)
{
	size_t n = strlen(name);

	return fleet_name_is_good(name) && ((n > 4 && strcmp(name + n - 4, ".tnf") == 0) ||
	    (n > 8 && strcmp(name + n - 8, ".tnf.zst") == 0));
}

bool
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

#define SLICE_CPU	(120 * SECOND)	/* that filtering for one question may take */
#define SLICE_WALL	(300 * SECOND)	/* the same; other questions wait during this time */
#define SLICE_LEAST	(UINT64_C(1) << 20)	/* bytes of a slice, if [watch] has a small limit */
#define SLICE_MEMORY	(UINT64_C(1) << 30)

/* The resources that a child may still take. */
struct agent_room {
	unsigned cpu, wall;	/* s */
	uint64_t bytes;
};

/* The option with a time in RFC 3339 with nanoseconds, as --from takes it. */
static char *
time_text(const char *option, int64_t wall)
{
	time_t t = (time_t)(wall / SECOND);
	struct tm tm;
	char text[32];

	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	return tnf_xasprintf("--%s=%s.%09" PRId64 "Z", option, text, wall % SECOND);
}

/* The cost of filtering for a question since it was first asked; of the last AGENT_COSTS questions,
   while the agent runs. */
static struct agent_cost *
agent_cost(struct agent *a, const char *question)
{
	for (size_t i = 0; i < AGENT_COSTS; i++)
		if (strcmp(a->cost[i].question, question) == 0)
			return &a->cost[i];
	struct agent_cost *c = &a->cost[a->n_costs++ % AGENT_COSTS];
	*c = (struct agent_cost){ .cpu = 0 };
	strcpy(c->question, question);
	return c;
}

/* Bytes that the slice of one question may have. */
static uint64_t
slice_max(const struct agent *a)
{
	uint64_t share = a->c->limit / 8;

	return share > SLICE_LEAST ? share : SLICE_LEAST;
}

static _Noreturn void
slice_main(char **argv, pid_t agent, const struct agent_room *room)
{
	const struct rlimit cpu = { room->cpu, room->cpu }, size = { room->bytes, room->bytes };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!child_begin(agent, 10))
		_exit(127);
	signal(SIGALRM, SIG_DFL);
	alarm(room->wall);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_FSIZE, &size);
#ifndef SANITIZED	/* a sanitizer takes more memory than the limit by itself */
	/* We do not limit the address space: traces are mapped, and may be large. */
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

static bool
is_spent(const struct agent_cost *cost)
{
	return cost->cpu >= SLICE_CPU || cost->wall >= SLICE_WALL;
}

/* Computes what the question may still cost; false: nothing. */
static bool
room_left(const struct agent *a, const struct agent_cost *cost, struct agent_room *room)
{
	char *temp = tnf_xasprintf("%s/.slice", a->directory);
	uint64_t max = slice_max(a), used = disk_usage(AT_FDCWD, temp);

	free(temp);
	if (is_spent(cost) || used >= max)
		return false;
	room->cpu = (unsigned)((SLICE_CPU - cost->cpu + SECOND - 1) / SECOND);
	room->wall = (unsigned)((SLICE_WALL - cost->wall + SECOND - 1) / SECOND);
	room->bytes = max - used;
	return true;
}

static int
slice_run(struct agent *a, const char *question, char **argv)
{
	struct agent_cost *cost = agent_cost(a, question);
	int64_t begun = now_mono();
	struct agent_room room;
	struct rusage u;
	pid_t agent = getpid(), pid;
	int status;

	if (!room_left(a, cost, &room))
		return -1;
	if ((pid = fork()) == 0)
		slice_main(argv, agent, &room);
	if (pid < 0)
		return -1;
	while (wait4(pid, &status, 0, &u) < 0)
		if (errno != EINTR)
			return -1;
	cost->cpu += timeval_ns(&u.ru_utime) + timeval_ns(&u.ru_stime);
	cost->wall += now_mono() - begun;
	return status;
}

/* Makes one file of the slice, even if no event is left in it; false: the file
   could not be made.  tnfdump gets the expression as one argument; no shell reads it. */
static bool
slice_file(struct agent *a, const struct fleet_message *r, const char *from, const char *to)
{
	char *argv[16], *where = NULL, *begin = NULL, *end = NULL;
	unsigned n = 0;

	argv[n++] = tnf_program_path("tnfdump");
	argv[n++] = (char *)(uintptr_t)"--to";
	argv[n++] = (char *)(uintptr_t)"tnf";
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = (char *)(uintptr_t)to;
	if (*r->where != '\0')
		argv[n++] = where = tnf_xasprintf("--where=%s", r->where);
	if (r->last != 0 && r->at != 0) {
		argv[n++] = begin = time_text("from", r->at > r->last ? r->at - r->last : 0);
		argv[n++] = end = time_text("until", r->at);
	}
	argv[n++] = (char *)(uintptr_t)"--";
	argv[n++] = (char *)(uintptr_t)from;
	argv[n] = NULL;
	bool good = slice_run(a, r->question, argv) == 0;
	free(argv[0]);
	free(where);
	free(begin);
	free(end);
	return good;
}

bool
agent_slice(struct agent *a, const struct fleet_message *r, const char *from, const char *place)
{
	autofree struct fleet_message *list = tnf_xcalloc(1, sizeof *list);
	autofree char *temp = tnf_xasprintf("%s/.slice", a->directory);
	char *to;
	bool good = false;

	remove_all(AT_FDCWD, temp);
	if (mkdir(temp, 0700) != 0)
		snprintf(a->out.why, sizeof a->out.why, "the directory of the slice cannot be made: %s", strerror(errno));
	else if (!(good = agent_list(from, list)))
		strcpy(a->out.why, list->why);
	for (unsigned i = 0; good && i < list->n_files; i++) {
		autofree char *source = tnf_xasprintf("%s/%s", from, list->files[i].name);
		to = tnf_xasprintf("%s/%u.tnf", temp, i);
		if (!(good = slice_file(a, r, source, to)))
			snprintf(a->out.why, sizeof a->out.why, "%s cannot be filtered: ask without "
			    "--where and --last", list->files[i].name);
		free(to);
	}
	if (good && rename(temp, place) != 0) {
		snprintf(a->out.why, sizeof a->out.why, "the directory of the slice cannot be made: %s", strerror(errno));
		good = false;
	}
	if (!good)
		remove_all(AT_FDCWD, temp);
	return good;
}

bool
agent_prepare(struct agent *a, const struct fleet_message *r, const char *place)
{
	if (!agent_wants_slice(r) || access(place, F_OK) == 0)
		return true;
	agent_clean(a);
	agent_slices_trim(a, slice_max(a));
	return !is_spent(agent_cost(a, r->question));
}
