/*
 * work-tasks.c - threads and processes that begin, wait, compute and end; system calls.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kernel/work.h"

/* Times that the process, or its children, went to sleep: what the kernel says. */
static long
sleeps_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return u.ru_nvcsw;
}

static void
say_sleeps(const char *word, int who)
{
	printf("%s %ld\n", word, sleeps_of(who));
}

static void
syscalls(long n, char **arg)
{
	for (long i = 0; i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_close, -1);
	}
}

#define GETPPID_32	64
#define FUTEX_32	240

static void
calls32(long n, char **arg)
{
	struct { int seconds, nanoseconds; } *limit = (void *)work_low_memory(1);
	int *futex = (int *)(limit + 1);
	long slept = 0, before;

	limit->nanoseconds = 2000000;
	for (long i = 0; i < n; i++)
		work_call32(GETPPID_32, 0, 0, 0, 0, 0);
	/* Its time may be over before it sleeps: then it is made again. */
	while (slept < n) {
		before = sleeps_of(RUSAGE_SELF);
		work_call32(FUTEX_32, (long)futex, 0, *futex, (long)limit, 0);
		slept += sleeps_of(RUSAGE_SELF) > before;
	}
	syscall(40000);
	printf("futex %#lx\n", (unsigned long)futex);
}

static void *
nothing(void *arg)
{
	return NULL;
}

static void
threads(long n, char **arg)
{
	pthread_t t;
	pid_t pid;

	for (long i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, nothing, NULL) != 0)
			work_die("pthread_create");
		pthread_join(t, NULL);
	}
	for (long i = 0; i < n; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		printf("child %d\n", (int)pid);
		work_reap(pid);
	}
}

static void
echo(long n, int from, int to)
{
	char c;

	for (long i = 0; i < n; i++)
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			work_die("pipe");
}

static void
pipes(long n, char **arg)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) == -1 || pipe(back) == -1)
		work_die("pipe");
	pid = fork();
	if (pid == 0) {
		echo(n, there[0], back[1]);
		_exit(0);
	}
	printf("child %d\n", (int)pid);
	if (write(there[1], "x", 1) != 1)
		work_die("pipe");
	echo(n - 1, back[0], there[1]);
	work_reap(pid);
	say_sleeps("sleeps", RUSAGE_SELF);
	say_sleeps("childsleeps", RUSAGE_CHILDREN);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t contenders[3];

static void *
contend(void *arg)
{
	__atomic_store_n((pid_t *)arg, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static char
thread_status(pid_t tid)
{
	char path[64], line[512], status = '?';
	const char *name_end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	if ((f = fopen(path, "r")) == NULL)
		return status;
	if (fgets(line, sizeof line, f) != NULL &&
	    (name_end = strrchr(line, ')')) != NULL && name_end[1] == ' ')
		status = name_end[2];
	fclose(f);
	return status;
}

/* Nothing but the mutex puts one of them to an interruptible sleep. */
static void
await_contender(pid_t *tid)
{
	pid_t t;

	while ((t = __atomic_load_n(tid, __ATOMIC_ACQUIRE)) == 0 || thread_status(t) != 'S')
		usleep(1000);
}

static void
mutex_inherits(void)
{
	pthread_mutexattr_t inherit;

	if (pthread_mutexattr_init(&inherit) != 0 ||
	    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT) != 0 ||
	    pthread_mutex_init(&mutex, &inherit) != 0)
		work_die("PTHREAD_PRIO_INHERIT");
}

/* N times three threads that all sleep on the mutex before it is free. */
static void
mutexes(long n, char **arg)
{
	pthread_t t[3];

	if (arg[0] != NULL)
		mutex_inherits();
	printf("mutex %#lx\n", (unsigned long)&mutex);
	for (; n > 0; n--) {
		pthread_mutex_lock(&mutex);
		for (int i = 0; i < 3; i++) {
			contenders[i] = 0;
			pthread_create(&t[i], NULL, contend, &contenders[i]);
		}
		for (int i = 0; i < 3; i++)
			await_contender(&contenders[i]);
		pthread_mutex_unlock(&mutex);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
	}
	say_sleeps("sleeps", RUSAGE_SELF);
}

/* Nanoseconds that it has been on a CPU. */
static unsigned long long
on_the_cpu(pid_t pid)
{
	unsigned long long ns;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
	if ((f = fopen(path, "r")) == NULL || fscanf(f, "%llu", &ns) != 1)
		work_die(path);
	fclose(f);
	return ns;
}

/* It computes all the time: waits until it has been let to. */
static void
await_cpu(pid_t pid)
{
	unsigned long long before = on_the_cpu(pid);

	for (int tries = 0; on_the_cpu(pid) < before + 1000000 && tries < 60000; tries++)
		usleep(1000);
}

/* How often it has left the CPU of its own accord. */
static long
left_the_cpu(pid_t pid)
{
	char path[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if ((f = fopen(path, "r")) == NULL)
		return n;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	fclose(f);
	return n;
}

static void
stop(long n, char **arg)
{
	pid_t pid = fork();
	long before;
	int status;

	if (pid == 0)
		for (;;)
			work_sink++;
	printf("child %d\n", (int)pid);
	for (long i = 0; i < n; i++) {
		before = left_the_cpu(pid);
		await_cpu(pid);
		kill(pid, SIGSTOP);
		waitpid(pid, &status, WUNTRACED);
		/* We are told before it has left the CPU; continued then, it never does. */
		for (int tries = 0; left_the_cpu(pid) == before && tries < 10000; tries++)
			usleep(1000);
		kill(pid, SIGCONT);
	}
	await_cpu(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static double
cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void *
compute(void *arg)
{
	while (cpu_seconds() < 0.05)
		for (int i = 0; i < 10000; i++)
			work_sink++;
	return NULL;
}

static void
spin(long n, char **arg)
{
	struct sched_param param = { .sched_priority = atoi(arg[0]) };
	pthread_t t[16];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof set, &set);
	if (param.sched_priority != 0 && sched_setscheduler(0, SCHED_FIFO, &param) == -1)
		work_die("sched_setscheduler");
	for (int i = 0; i < n && i < 16; i++)
		pthread_create(&t[i], NULL, compute, NULL);
	for (int i = 0; i < n && i < 16; i++)
		pthread_join(t[i], NULL);
}

static void
nap(void)
{
	struct timespec ts = { 0, 3000000 };

	nanosleep(&ts, NULL);
}

/* Lets its parent go on, each time when that is asleep. */
static void
let_go_on(long n, int fd, int queue, int sem)
{
	struct { long type; char text[1]; } m = { 1, "" };
	struct sembuf up = { 0, 1, 0 };
	pid_t parent = getppid();

	for (long i = 0; i < n; i++) {
		work_await_call(parent, SYS_poll, SYS_ppoll);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		work_await_call(parent, SYS_select, SYS_pselect6);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		work_await_call(parent, SYS_msgrcv, SYS_msgrcv);
		msgsnd(queue, &m, 1, 0);
		work_await_call(parent, SYS_semop, SYS_semtimedop);
		semop(sem, &up, 1);
	}
	_exit(0);
}

static void
waits(long n, char **arg)
{
	int queue = msgget(IPC_PRIVATE, 0600), sem = semget(IPC_PRIVATE, 1, 0600), fd[2];
	struct { long type; char text[1]; } m = { 1, "" };
	struct sembuf down = { 0, -1, 0 };
	struct pollfd p;
	fd_set set;
	char c;
	pid_t pid;

	if (queue == -1 || sem == -1 || pipe(fd) == -1)
		work_die("waits");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		let_go_on(n, fd[1], queue, sem);
	for (long i = 0; i < n; i++) {
		p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
		poll(&p, 1, -1);
		if (read(fd[0], &c, 1) != 1)
			work_die("read");
		FD_ZERO(&set);
		FD_SET(fd[0], &set);
		select(fd[0] + 1, &set, NULL, NULL, NULL);
		if (read(fd[0], &c, 1) != 1 || msgrcv(queue, &m, 1, 0, 0) == -1 ||
		    semop(sem, &down, 1) == -1)
			work_die("waits");
	}
	work_reap(pid);
	for (long i = 0; i < n; i++) {
		pid = vfork();
		if (pid == 0) {
			nap();
			_exit(0);
		}
		work_reap(pid);
	}
	msgctl(queue, IPC_RMID, NULL);
	semctl(sem, 0, IPC_RMID);
}

/* It is not the leader, has touched a page, and becomes another program. */
static void *
become(void *arg)
{
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		work_die("mmap");
	*page = 1;
	printf("thread %d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	execlp("true", "true", NULL);
	work_die("true");
	return NULL;
}

static void
execs(long n, char **arg)
{
	pthread_t thread;
	pid_t pid;

	for (long i = 0; i < n; i++) {
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			if (pthread_create(&thread, NULL, become, NULL) != 0)
				work_die("pthread_create");
			pthread_join(thread, NULL);
			_exit(1);
		}
		work_reap(pid);
	}
}

const struct work work_tasks[] = {
	{ "syscalls", syscalls }, { "calls32", calls32 }, { "threads", threads },
	{ "pipe", pipes }, { "mutex", mutexes }, { "stop", stop }, { "spin", spin },
	{ "waits", waits }, { "execs", execs }, { 0 }
};
