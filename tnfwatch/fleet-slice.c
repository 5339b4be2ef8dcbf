/*
 * fleet-slice.c - the part of what was kept that a question asks for.
 *
 * tnfdump cuts it out, in a process of its own, which may take only so much: of time, of
 * memory, of the disk, over all the times that one question is asked.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/program.h"
#include "tnfwatch/fleet-agent.h"
#include "tnfwatch/util.h"

#define SLICE_CPU	(120 * SECOND)	/* what filtering for one question may cost ... */
#define SLICE_WALL	(300 * SECOND)	/* ... during which others wait */
#define SLICE_LEAST	(UINT64_C(1) << 20)	/* bytes of a slice, if [watch] has a small limit */
#define SLICE_MEMORY	(UINT64_C(1) << 30)

/* What a child may still take. */
struct agent_room {
	unsigned cpu, wall;	/* s */
	uint64_t bytes;
};

/* RFC 3339 with nanoseconds, as --from takes it. */
static char *
agent_time_text(const char *option, int64_t wall)
{
	time_t t = (time_t)(wall / SECOND);
	struct tm tm;
	char text[32];

	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	return tnf_xasprintf("--%s=%s.%09" PRId64 "Z", option, text, wall % SECOND);
}

/* What filtering for a question has cost so far, however often it is asked for. */
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
	char *temp = tnf_xasprintf("%s/.slice", a->directory);
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

	argv[n++] = tnf_program_path("tnfdump");
	argv[n++] = (char *)(uintptr_t)"--to";
	argv[n++] = (char *)(uintptr_t)"tnf";
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = (char *)(uintptr_t)to;
	if (*r->where != '\0')
		argv[n++] = where = tnf_xasprintf("--where=%s", r->where);
	if (r->last != 0 && r->at != 0) {
		argv[n++] = begin = agent_time_text("from", r->at > r->last ? r->at - r->last : 0);
		argv[n++] = end = agent_time_text("until", r->at);
	}
	argv[n++] = (char *)(uintptr_t)"--";
	argv[n++] = (char *)(uintptr_t)from;
	argv[n] = NULL;
	bool good = agent_run(a, r->question, argv) == 0;
	free(argv[0]);
	free(where);
	free(begin);
	free(end);
	return good;
}

bool
agent_slice(struct agent *a, const struct fleet_message *r, const char *from, const char *place)
{
	struct fleet_message *list = tnf_xcalloc(1, sizeof *list);
	char *temp = tnf_xasprintf("%s/.slice", a->directory), *source, *to;
	bool good = false;

	remove_all(AT_FDCWD, temp);
	if (mkdir(temp, 0700) != 0)
		snprintf(a->out.why, sizeof a->out.why, "no room to filter in: %s", strerror(errno));
	else if (!(good = agent_list(from, list)))
		strcpy(a->out.why, list->why);
	for (unsigned i = 0; good && i < list->n_files; i++) {
		source = tnf_xasprintf("%s/%s", from, list->files[i].name);
		to = tnf_xasprintf("%s/%u.tnf", temp, i);
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

bool
agent_prepare(struct agent *a, const struct fleet_message *r, const char *place)
{
	if (!agent_wants_slice(r) || access(place, F_OK) == 0)
		return true;
	agent_clean(a);
	agent_slices_trim(a, agent_slice_max(a));
	const struct agent_cost *cost = agent_cost(a, r->question);
	return cost->cpu < SLICE_CPU && cost->wall < SLICE_WALL;
}
