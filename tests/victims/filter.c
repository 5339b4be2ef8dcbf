/*
 * filter.c - victim: seccomp filters that kill the process.
 *
 * filter WHO [FILTER]: "leader", "worker" or "all" of its two threads get a filter that
 * allows only what they need themselves; "child": all, but the hits are a
 * forked child's; "births": the leader, but the hits are those of a new thread and of a child,
 * which have its filter from birth.  FILTER allows less ("least"), all that libtnfprobe may call ("enough"), or
 * all but getpid, open or gettid, for which it kills or ("no-open") is an error.  For each line of input every thread hits the probe, the
 * filtered one first.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <tnf/probe.h>

#include "victim.h"

/* Nothing that opens or maps. */
static const int allowed[] = {
	SYS_read, SYS_write, SYS_futex, SYS_exit, SYS_exit_group,
	SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_restart_syscall, SYS_clone,
	SYS_wait4, SYS_set_robust_list, SYS_newfstatat, SYS_gettid,
#ifdef SYS_rseq
	SYS_rseq,
#endif
};
#define ALLOWED_MAX	64

static const int least[] = {
	SYS_read, SYS_write, SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn,
	SYS_restart_syscall,
};

/* Beside the least. */
static const int enough[] = {
	SYS_openat, SYS_close, SYS_fstat, SYS_newfstatat, SYS_readlinkat, SYS_mmap, SYS_munmap,
	SYS_mprotect, SYS_madvise, SYS_rt_sigaction, SYS_sigaltstack, SYS_getpid, SYS_getppid,
	SYS_gettid, SYS_geteuid, SYS_prctl, SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep,
	SYS_clock_gettime, SYS_tgkill,
#ifdef SYS_readlink
	SYS_readlink, SYS_stat,
#endif
};

/* The calls that the C library needs for a new thread or a child. */
static const int births[] = {
	SYS_clone, SYS_set_robust_list, SYS_rt_sigprocmask, SYS_wait4, SYS_mmap, SYS_munmap,
	SYS_mprotect, SYS_madvise, SYS_prctl,
#ifdef SYS_clone3
	SYS_clone3,
#endif
#ifdef SYS_rseq
	SYS_rseq,
#endif
};

static const int getpid_alone[] = { SYS_getpid };
static const int open_alone[] = { SYS_openat,
#ifdef SYS_open
	SYS_open,
#endif
};
static const int gettid_alone[] = { SYS_gettid };

#define LIST(a)	a, sizeof(a) / sizeof((a)[0])

/* Calls of both lists get 'on', others 'off'. */
static const struct filter {
	const char *name;
	const int *calls;
	size_t	 n;
	const int *more;
	size_t	 n_more;
	unsigned on, off;
} filters[] = {
	{ "own", LIST(allowed), NULL, 0, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS },
	{ "least", LIST(least), NULL, 0, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS },
	{ "enough", LIST(least), LIST(enough), SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS },
	{ "getpid", LIST(getpid_alone), NULL, 0, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW },
	{ "open", LIST(open_alone), NULL, 0, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW },
	{ "gettid", LIST(gettid_alone), NULL, 0, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW },
	{ "no-open", LIST(open_alone), NULL, 0, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW },
};

static int to_worker[2], from_worker[2];
static const char *who;
static const struct filter *filter = filters;

static void
put_calls(struct sock_fprog *prog, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		prog->filter[prog->len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ |
		    BPF_K, (unsigned)calls[i], 0, 1);
		prog->filter[prog->len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
		    filter->on);
	}
}

static void
confine(void)
{
	struct sock_filter f[2 * ALLOWED_MAX + 2];
	struct sock_fprog prog = { .filter = f };

	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr));
	put_calls(&prog, filter->calls, filter->n);
	put_calls(&prog, filter->more, filter->n_more);
	if (filter->on == SECCOMP_RET_ALLOW && (strcmp(who, "child") == 0 ||
	    strcmp(who, "births") == 0))
		put_calls(&prog, births, sizeof(births) / sizeof(births[0]));
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, filter->off);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		victim_harmed(strerror(errno));
}

static bool
is_to_be_confined(const char *thread)
{
	return strcmp(who, thread) == 0 || strcmp(who, "all") == 0 || strcmp(who, "child") == 0 ||
	    (strcmp(who, "births") == 0 && strcmp(thread, "leader") == 0);
}

static void
hit(const char *thread)
{
	TNF_PROBE_1(filtered, "filter", "", tnf_string, thread, thread);
}

/* For each byte one hit. */
static void *
worker(void *arg)
{
	char c = 0;

	if (is_to_be_confined("worker"))
		confine();
	do {
		if (c != 0)
			hit("worker");
	} while (write(from_worker[1], "", 1) == 1 &&
	    read(to_worker[0], &c, 1) == 1 && (c = 1) != 0);
	return arg;
}

static void
let_worker(void)
{
	char c;

	if (write(to_worker[1], "", 1) != 1 || read(from_worker[0], &c, 1) != 1)
		victim_harmed("worker");
}

static void
hit_in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		hit("child");
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		victim_harmed("child");
}

static void *
newborn(void *arg)
{
	hit("thread");
	return arg;
}

static void
hit_in_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, newborn, NULL) != 0 || pthread_join(t, NULL) != 0)
		victim_harmed("thread");
}

static void
hit_all(void)
{
	if (strcmp(who, "child") == 0) {
		hit_in_child();
	} else if (strcmp(who, "births") == 0) {
		hit_in_thread();
		hit_in_child();
	} else if (strcmp(who, "worker") == 0) {
		let_worker();
		hit("leader");
	} else {
		hit("leader");
		let_worker();
	}
}

int
main(int argc, char **argv)
{
	char line[16], c;
	pthread_t t;

	who = argc > 1 ? argv[1] : "";
	for (size_t i = 0; argc > 2 && i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(filters[i].name, argv[2]) == 0)
			filter = &filters[i];
	if (pipe(to_worker) < 0 || pipe(from_worker) < 0 ||
	    pthread_create(&t, NULL, worker, NULL) != 0 ||
	    read(from_worker[0], &c, 1) != 1)
		return 1;
	setvbuf(stdout, line, _IOLBF, sizeof(line));
	if (is_to_be_confined("leader"))
		confine();
	victim_ready();
	while (read(0, line, sizeof(line)) > 0) {
		hit_all();
		victim_ready();
	}
	return 0;
}
