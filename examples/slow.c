/*
 * slow.c - a server whose requests are slow now and then, for a reason that you choose.
 *
 *	slow lock	another thread has the lock, and writes to the disk meanwhile
 *	slow disk	other processes write while the request reads
 *	slow cpu	another process takes the CPU
 *
 * "examples/slow.sh REASON" records it together with the kernel, and asks why; tracing(7),
 * "Why was it slow", explains the answers.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>

#define REQUESTS	40
#define PIECE		(1 << 20)

static char piece[PIECE] __attribute__((aligned(4096)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file, go[2], went[2];

static void
pause_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static void
tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		err(1, "write");
}

static void
wait_for(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		exit(0);
}

static void
compute(int rounds)
{
	for (volatile int i = 0; i < rounds * 1000; i++)
		;
}

/* A thread that writes the log, and has the lock until the disk has it. */
static void *
logger(void *arg)
{
	prctl(PR_SET_NAME, "logger");
	for (;;) {
		wait_for(go[0]);
		pthread_mutex_lock(&lock);
		tell(went[1]);
		for (int i = 0; i < 32; i++)
			if (pwrite(file, piece, PIECE, (off_t)(i % 8) * PIECE) < 0 ||
			    (i % 8 == 7 && fsync(file) != 0))
				err(1, "write");
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void
helper(const char *name, void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return;
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		wait_for(go[0]);
		run();
	}
}

static void
write_much(void)
{
	for (int i = 0; i < 32; i++)
		if (pwrite(file, piece, PIECE, (off_t)(1 + i % 8) * PIECE) < 0)
			err(1, "write");
}

static void
take_cpu(void)
{
	compute(40000);
}

static void
prepare(const char *reason)
{
	char name[] = "slow.XXXXXX";
	pthread_t thread;
	cpu_set_t one;

	if (pipe(go) != 0 || pipe(went) != 0)
		err(1, "pipe");
	if ((file = mkostemp(name, O_CLOEXEC | (*reason == 'd' ? O_DIRECT : 0))) < 0)
		err(1, "%s", name);
	unlink(name);
	for (int i = 0; i < 9; i++)
		if (pwrite(file, piece, PIECE, (off_t)i * PIECE) < 0)
			err(1, "write");
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (*reason == 'l' && pthread_create(&thread, NULL, logger, NULL) != 0)
		errx(1, "no thread");
	if (*reason == 'c' && sched_setaffinity(0, sizeof(one), &one) != 0)
		err(1, "sched_setaffinity");
	for (int i = 0; i < 4 && *reason != 'l'; i++)
		helper(*reason == 'd' ? "backup" : "report", *reason == 'd' ? write_much : take_cpu);
}

static void
request(const char *reason, int id, int slow)
{
	/* The reason begins just before the request, as it does in life. */
	if (slow)
		for (int i = 0; i < (*reason == 'd' ? 4 : 1); i++)
			tell(go[1]);
	if (slow && *reason == 'l')
		wait_for(went[0]);
	TNF_PROBE_1(request_start, "request", "", tnf_int, id, id);
	pthread_mutex_lock(&lock);
	compute(*reason == 'c' ? 8000 : 100);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 10 && *reason == 'd'; i++)
		if (pread(file, piece, 65536, 0) < 0)
			err(1, "read");
	TNF_PROBE_1(request_end, "request", "", tnf_int, id, id);
}

int
main(int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "lock") != 0 && strcmp(argv[1], "disk") != 0 &&
	    strcmp(argv[1], "cpu") != 0))
		errx(2, "usage: slow lock | disk | cpu");
	prepare(argv[1]);
	for (int id = 1; id <= REQUESTS; id++) {
		request(argv[1], id, id % 10 == 0);
		pause_ms(id % 10 == 0 ? 100 : 5);
	}
	return 0;
}
