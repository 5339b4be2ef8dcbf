/*
 * work.c - does something that the kernel's probes see, and says what.
 *
 *	work syscalls N		N times getppid, close(-1)
 *	work calls32 N		N times getppid, a futex that times out, of the 32-bit table
 *	work direct32 N DEVICE	unbuffered transfers by calls of that table
 *	work waits N		N times each: poll, select, msgrcv, semop, vfork
 *	work threads N		N threads and N children, one after another
 *	work pipe N		N bytes from one process to another and back
 *	work mutex N		N rounds of three threads that want one mutex
 *	work stop		a child is stopped and continued
 *	work spin N PRIORITY	N threads that compute, on one CPU
 *	work zero N		writes N new pages; reads, then writes N others
 *	work huge N		reads, then writes N huge pages
 *	work cow N FILE		copies of N pages: a child's; a private file's
 *	work protect N		N writes to pages that allow reading only
 *	work mlock N		N pages without a single fault
 *	work evict N FILE	N pages of a file, cold, one by one
 *	work text N FILE	N cold pages of code
 *	work cache N FILE	N pages in the cache, then out of it
 *	work swap MIB [large]	more memory than there may be; in large folios
 *	work stacks MIB		the same, and three threads that sleep meanwhile
 *	work direct N DEVICE	unbuffered transfers
 *	work merged N FILE	N pages at once, in requests of as many as can be
 *	work split N DEVICE	N times 256 KiB by each of four threads
 *
 * Lines on standard output: a word and numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096l

static volatile char sink;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static char *
map(long pages, int prot, int flags, int fd)
{
	char *p = mmap(NULL, pages * PAGE, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static char *
memory(long pages)
{
	return map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void
say_range(const char *word, const char *p, long pages)
{
	printf("%s %#lx %#lx\n", word, (unsigned long)p, (unsigned long)(p + pages * PAGE));
}

static void
write_each(char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

static void
read_each(const char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		sink += p[i * PAGE];
}

static void
reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) == -1 || !WIFEXITED(status))
		die("waitpid");
}

static int
open_file(const char *path, long pages, char byte)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	char *buf = malloc(pages * PAGE);

	if (fd == -1 || buf == NULL)
		die(path);
	memset(buf, byte, pages * PAGE);
	if (write(fd, buf, pages * PAGE) != pages * PAGE || fsync(fd) == -1)
		die(path);
	free(buf);
	return fd;
}

static void
evict(int fd)
{
	if (fsync(fd) == -1 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		die("posix_fadvise");
}

/* Times that the process, or its children, went to sleep: what the kernel says. */
static void
say_sleeps(const char *word, int who)
{
	struct rusage u;

	getrusage(who, &u);
	printf("%s %ld\n", word, u.ru_nvcsw);
}

static void
syscalls(long n, char **arg)
{
	for (long i = 0; i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_close, -1);
	}
}

#ifdef __x86_64__
/* A call of the 32-bit table, which a 64-bit program can make as well. */
static long
call32(long nr, long a, long b, long c, long d, long e)
{
	long r;

	asm volatile("int $0x80" : "=a" (r) : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d),
	    "D" (e) : "memory", "r8", "r9", "r10", "r11");
	return r;
}
#else
/* Elsewhere a program is of one kind: nothing is told apart. */
#define MAP_32BIT	0
static long
call32(long nr, long a, long b, long c, long d, long e)
{
	exit(77);
}
#endif

/* Memory that 32-bit calls reach. */
static char *
low_memory(long pages)
{
	return map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1);
}

#define GETPPID_32	64
#define PREAD_32	180
#define PREADV_32	333
#define FUTEX_32	240

static void
calls32(long n, char **arg)
{
	struct { int seconds, nanoseconds; } *limit = (void *)low_memory(1);
	int *futex = (int *)(limit + 1);

	limit->nanoseconds = 2000000;
	for (long i = 0; i < n; i++)
		call32(GETPPID_32, 0, 0, 0, 0, 0);
	for (long i = 0; i < n; i++)
		call32(FUTEX_32, (long)futex, 0, *futex, (long)limit, 0);
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
			die("pthread_create");
		pthread_join(t, NULL);
	}
	for (long i = 0; i < n; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		printf("child %d\n", (int)pid);
		reap(pid);
	}
}

static void
echo(long n, int from, int to)
{
	char c;

	for (long i = 0; i < n; i++)
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			die("pipe");
}

static void
pipes(long n, char **arg)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) == -1 || pipe(back) == -1)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		echo(n, there[0], back[1]);
		_exit(0);
	}
	printf("child %d\n", (int)pid);
	if (write(there[1], "x", 1) != 1)
		die("pipe");
	echo(n - 1, back[0], there[1]);
	reap(pid);
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

/* N times three threads that all sleep on the mutex before it is free. */
static void
mutexes(long n, char **arg)
{
	pthread_t t[3];

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
			sink++;
	printf("child %d\n", (int)pid);
	for (long i = 0; i < n; i++) {
		before = left_the_cpu(pid);
		usleep(20000);
		kill(pid, SIGSTOP);
		waitpid(pid, &status, WUNTRACED);
		/* We are told before it has left the CPU; continued then, it never does. */
		for (int tries = 0; left_the_cpu(pid) == before && tries < 10000; tries++)
			usleep(1000);
		kill(pid, SIGCONT);
	}
	usleep(20000);
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
			sink++;
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
		die("sched_setscheduler");
	for (int i = 0; i < n && i < 16; i++)
		pthread_create(&t[i], NULL, compute, NULL);
	for (int i = 0; i < n && i < 16; i++)
		pthread_join(t[i], NULL);
}

static void
zero(long n, char **arg)
{
	char *p = memory(n);

	say_range("written", p, n);
	write_each(p, n);
	p = memory(n);
	say_range("readfirst", p, n);
	read_each(p, n);
	write_each(p, n);
}

#define HUGE	(2l << 20)

static void
huge(long n, char **arg)
{
	char *p = memory((n + 1) * HUGE / PAGE);

	p = (char *)(((uintptr_t)p + HUGE - 1) & -(uintptr_t)HUGE);
	madvise(p, n * HUGE, MADV_HUGEPAGE);
	say_range("huge", p, n * HUGE / PAGE);
	for (long i = 0; i < n; i++)
		sink += p[i * HUGE];
	for (long i = 0; i < n; i++)
		p[i * HUGE] = 1;
}

static void
cow(long n, char **arg)
{
	char *p = memory(n), *q;
	int fd = open_file(arg[0], 2 * n, 7);
	pid_t pid;

	write_each(p, n);
	say_range("shared", p, n);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		write_each(p, n);
		_exit(0);
	}
	printf("child %d\n", (int)pid);
	reap(pid);
	q = map(2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	madvise(q, 2 * n * PAGE, MADV_RANDOM);
	say_range("absent", q, n);
	write_each(q, n);
	say_range("present", q + n * PAGE, n);
	read_each(q + n * PAGE, n);
	write_each(q + n * PAGE, n);
}

static char *allowed;

static void
allow(int sig, siginfo_t *info, void *ctx)
{
	mprotect((char *)((unsigned long)info->si_addr & ~(PAGE - 1)), PAGE,
	    PROT_READ | PROT_WRITE);
}

static void
protect(long n, char **arg)
{
	struct sigaction sa = { .sa_sigaction = allow, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	allowed = memory(n);
	write_each(allowed, n);
	mprotect(allowed, n * PAGE, PROT_READ);
	say_range("protected", allowed, n);
	write_each(allowed, n);
}

static void
lock(long n, char **arg)
{
	char *p = memory(n);

	say_range("locked", p, n);
	if (mlock(p, n * PAGE) == -1)
		die("mlock");
	write_each(p, n);
}

static long
major_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_majflt;
}

static long
all_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_majflt + u.ru_minflt;
}

static void
cold(long n, char **arg)
{
	int fd = open_file(arg[0], n, 7);
	struct stat st;
	long before, all;
	char *p;

	evict(fd);
	p = map(n, PROT_READ, MAP_SHARED, fd);
	madvise(p, n * PAGE, MADV_RANDOM);
	say_range("cold", p, n);
	fstat(fd, &st);
	before = major_faults();
	all = all_faults();
	read_each(p, n);
	all = all_faults() - all;
	printf("major %ld\n", major_faults() - before);
	printf("faults %ld\n", all);
	printf("inode %ld\n", (long)st.st_ino);
}

static void
text(long n, char **arg)
{
	int fd = open_file(arg[0], n, (char)0xc3);	/* ret */
	long before;
	char *p;

	evict(fd);
	p = map(n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
	madvise(p, n * PAGE, MADV_RANDOM);
	say_range("text", p, n);
	before = all_faults();
	for (long i = 0; i < n; i++)
		((void (*)(void))(uintptr_t)(p + i * PAGE))();
	printf("faults %ld\n", all_faults() - before);
}

static void
cache(long n, char **arg)
{
	int fd = open_file(arg[0], n, 7);
	char *buf = malloc(n * PAGE);

	evict(fd);
	if (buf == NULL || pread(fd, buf, n * PAGE, 0) != n * PAGE)
		die("pread");
	evict(fd);
	printf("pages %ld\n", n);
}

static void
swap(long mib, char **arg)
{
	long pages = mib * 256, before;
	unsigned *w, x = 1;
	char *p = arg[0] == NULL ? memory(pages) : mmap(NULL, pages * PAGE,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	for (long i = 0; i < pages; i++) {
		w = (unsigned *)(void *)(p + i * PAGE);
		for (int j = 0; j < 64; j++)
			w[j] = x = x * 1664525 + 1013904223;
	}
	before = major_faults();
	for (long i = 0; i < pages; i += 64)
		sink += p[i * PAGE];
	printf("major %ld\n", major_faults() - before);
}

#ifndef SYS_poll			/* new machines have none of these */
#define SYS_poll	SYS_ppoll
#define SYS_select	SYS_pselect6
#define SYS_pause	SYS_ppoll
#endif
#define TRIES	60000	/* of a millisecond and more: this is for hangs, not for load */

/* Waits until a thread sleeps in one of two calls. */
static void
await_call(pid_t tid, long call, long or)
{
	struct timespec ts = { 0, 1000000 };
	char path[64];
	long number;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	for (int tries = 0; tries < TRIES; tries++) {
		/* It says "running" of a thread that is not asleep. */
		if ((f = fopen(path, "r")) == NULL)
			break;
		if (fscanf(f, "%ld", &number) != 1)
			number = -1;
		fclose(f);
		if (number == call || number == or)
			return;
		nanosleep(&ts, NULL);
	}
	die("a thread that should sleep does not");
}

static void *
have_stack(void *arg)
{
	volatile char page[16 * PAGE];

	for (int i = 0; i < 16; i++)
		page[i * PAGE] = 1;
	atomic_store((atomic_int *)arg, (int)syscall(SYS_gettid));
	pause();
	return (void *)(long)page[0];
}

static void
stacks(long mib, char **arg)
{
	static atomic_int tids[3];
	pthread_t t;

	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, have_stack, &tids[i]);
	for (int i = 0; i < 3; i++) {
		while (atomic_load(&tids[i]) == 0)
			sched_yield();
		await_call(tids[i], SYS_pause, SYS_ppoll);
		printf("thread %d\n", tids[i]);
	}
	swap(mib, arg);
}

static void
say_transfer(const char *what, long offset, long size, ssize_t got)
{
	printf("%s %ld %ld %zd\n", what, offset, size, got);
}

static void
direct(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct iovec v[3];
	char *b = NULL;

	if (fd == -1 || posix_memalign((void **)&b, 4096, 1 << 20) != 0)
		die(arg[0]);
	memset(b, 5, 1 << 20);
	say_transfer("write", 65536, 8192, pwrite(fd, b, 8192, 65536));
	say_transfer("read", 4096, 4096, pread(fd, b, 4096, 4096));
	lseek(fd, 12288, SEEK_SET);
	say_transfer("read", 12288, 1536, read(fd, b, 1536));
	for (int i = 0; i < 3; i++)
		v[i] = (struct iovec){ b + i * 16384, i == 1 ? 8192 : 4096 };
	say_transfer("read", 1 << 20, 16384, preadv(fd, v, 3, 1 << 20));
	say_transfer("read", 0, 513, pread(fd, b, 513, 0));
}


/* One call hands them all in; as their places follow each other, the kernel makes
   few requests of many parts. */
static void
merged(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct iocb *cb = calloc(n, sizeof *cb), **list = calloc(n, sizeof *list);
	struct io_event *done = calloc(n, sizeof *done);
	aio_context_t ctx = 0;
	char *b = NULL;

	if (fd == -1 || cb == NULL || list == NULL || done == NULL ||
	    posix_memalign((void **)&b, PAGE, n * PAGE) != 0)
		die(arg[0]);
	memset(b, 6, n * PAGE);
	for (long i = 0; i < n; i++) {
		list[i] = &cb[i];
		cb[i] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd,
		    .aio_buf = (uintptr_t)(b + i * PAGE), .aio_nbytes = PAGE,
		    .aio_offset = i * PAGE };
	}
	if (syscall(SYS_io_setup, n, &ctx) != 0 ||
	    syscall(SYS_io_submit, ctx, n, list) != n ||
	    syscall(SYS_io_getevents, ctx, n, n, done, NULL) != n)
		die("aio");
	syscall(SYS_io_destroy, ctx);
}

static void
direct32(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	char *b = low_memory(8);
	struct { unsigned base, size; } *v = (void *)low_memory(1);

	if (fd == -1)
		die(arg[0]);
	for (long i = 0; i < n; i++)
		say_transfer("read", 8192 * i, 4096,
		    call32(PREAD_32, fd, (long)b, 4096, 8192 * i, 0));
	for (int i = 0; i < 4; i++) {
		v[i].base = (unsigned)(uintptr_t)(b + i * PAGE);
		v[i].size = PAGE;
	}
	say_transfer("read", 65536, 4 * PAGE, call32(PREADV_32, fd, (long)v, 4, 65536, 0));
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
		await_call(parent, SYS_poll, SYS_ppoll);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		await_call(parent, SYS_select, SYS_pselect6);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		await_call(parent, SYS_msgrcv, SYS_msgrcv);
		msgsnd(queue, &m, 1, 0);
		await_call(parent, SYS_semop, SYS_semtimedop);
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
		die("waits");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		let_go_on(n, fd[1], queue, sem);
	for (long i = 0; i < n; i++) {
		p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
		poll(&p, 1, -1);
		if (read(fd[0], &c, 1) != 1)
			die("read");
		FD_ZERO(&set);
		FD_SET(fd[0], &set);
		select(fd[0] + 1, &set, NULL, NULL, NULL);
		if (read(fd[0], &c, 1) != 1 || msgrcv(queue, &m, 1, 0, 0) == -1 ||
		    semop(sem, &down, 1) == -1)
			die("waits");
	}
	reap(pid);
	for (long i = 0; i < n; i++) {
		pid = vfork();
		if (pid == 0) {
			nap();
			_exit(0);
		}
		reap(pid);
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
		die("mmap");
	*page = 1;
	printf("thread %d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	execlp("true", "true", NULL);
	die("true");
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
				die("pthread_create");
			pthread_join(thread, NULL);
			_exit(1);
		}
		reap(pid);
	}
}

#define PIECE	(256l << 10)

struct writer {
	pthread_t thread;
	int	  fd;
	long	  n, from;
};

static void *
write_pieces(void *arg)
{
	struct writer *w = arg;
	char *b = NULL;

	if (posix_memalign((void **)&b, 4096, PIECE) != 0)
		die("memory");
	memset(b, 7, PIECE);
	for (long i = 0; i < w->n; i++)
		if (pwrite(w->fd, b, PIECE, w->from) != PIECE)
			die("pwrite");
	free(b);
	return NULL;
}

static void
split(long n, char **arg)
{
	int fd = open(arg[0], O_RDWR | O_DIRECT);
	struct writer w[4];

	if (fd == -1)
		die(arg[0]);
	for (long i = 0; i < 4; i++) {
		w[i] = (struct writer){ .fd = fd, .n = n, .from = i * PIECE };
		if (pthread_create(&w[i].thread, NULL, write_pieces, &w[i]) != 0)
			die("pthread_create");
	}
	for (int i = 0; i < 4; i++)
		pthread_join(w[i].thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(long n, char **arg);
} works[] = {
	{ "syscalls", syscalls }, { "threads", threads }, { "pipe", pipes },
	{ "mutex", mutexes }, { "stop", stop }, { "spin", spin },
	{ "zero", zero }, { "cow", cow }, { "protect", protect },
	{ "mlock", lock }, { "evict", cold }, { "text", text },
	{ "cache", cache }, { "swap", swap }, { "stacks", stacks }, { "direct", direct },
	{ "huge", huge }, { "calls32", calls32 }, { "direct32", direct32 }, { "waits", waits },
	{ "merged", merged }, { "split", split },
	{ "execs", execs },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof works / sizeof *works; i++)
		if (strcmp(argv[1], works[i].name) == 0) {
			printf("pid %d\n", (int)getpid());
			works[i].run(atol(argv[2]), argv + 3);
			return 0;
		}
	fprintf(stderr, "usage: work NAME N [ARG]\n");
	return 2;
}
