/*
 * names.c - the names of the process and its threads, in the file itself (tnf(5), "Names").
 *
 * Blocks of names are permanent, and one chain of them serves all processes that
 * write the file: a cell is reserved by moving the word in the extension, filled in,
 * and counts when its first word is stored.  Each cell is a line as contexts have
 * them.  A name that finds no room is left out; events do not depend on it.
 *
 * A thread begins with the name of the thread that has made it.  So as long as nobody
 * changes one, all have that of the process, and nothing is asked or written for them.
 *
 * A name may be asked for and another thread's may be read only while no filter can
 * refuse it (is_quiet()).  After that a change makes the one system call that the
 * program asked for, and the former name is the one that we remember.
 */
#include <linux/prctl.h>
#include <sys/single_threaded.h>

#include "libtnfprobe/internal.h"

#define NAME_SIZE	16	/* the kernel's, with its NUL */
#define TRACEPARENT_SIZE 56	/* "00-<32 digits>-<16 digits>-01" (W3C Trace Context) */
#define SERVICE_SIZE	96	/* of OpenTelemetry's name of the service; a longer one is left out */
#define PATH_SHOWN	240	/* of the program; the end of a longer path */
#define LINE_SIZE	(BLOCK_SIZE - TNF_NAMES_FIRST - 4)
#define FILE_SHARE	64	/* one block of so many may be one of names */
#define BLOCKS_LEAST	4
#define LOOK_BACK	512	/* blocks that are searched for an earlier name */
#define TRIES		64	/* until we leave the words to faster processes */
/* A line is a word, numbers, and a name of which each byte may take four. */
#define THREAD_SIZE	112
#define RENAMED_SIZE	112

static char process_name[NAME_SIZE], program[PATH_SHOWN];
/* The value in the environment at the start, or "". */
static char traceparent[TRACEPARENT_SIZE], service[SERVICE_SIZE];
static int32_t process_parent;
static uint32_t renamed;	/* some thread has changed a name */
static bool from_start;		/* we were there before the program made threads or filters */

void
tnf_names_load(void)
{
	const char *parent = secure_getenv("TRACEPARENT"), *name = secure_getenv("OTEL_SERVICE_NAME");

	from_start = __libc_single_threaded;
	if (parent != NULL && strlen(parent) == sizeof(traceparent) - 1 &&
	    strspn(parent, "0123456789abcdef-") == sizeof(traceparent) - 1)
		memcpy(traceparent, parent, sizeof(traceparent));
	if (name != NULL && strlen(name) < sizeof(service))
		memcpy(service, name, strlen(name));
}

/* True if a hit, or what we stand in front of, may make a system call of its own: only while no
   filter can refuse it; in a program that ran before we came we do not know. */
static bool
may_ask(void)
{
	return from_start && !is_quiet();
}

/* In memory of the caller, who has no more of it on the stack than it needs. */
struct line {
	char	*text;
	size_t	 size, n;
};

static void
put_chars(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n && l->n < l->size; i++)
		l->text[l->n++] = s[i];
}

static void
put_number(struct line *l, uint64_t v)
{
	char digits[24];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	put_chars(l, digits + n, sizeof(digits) - n);
	put_chars(l, " ", 1);
}

/* Puts the last field of a line; bytes that would end it become a backslash and a number. */
static void
put_rest(struct line *l, const char *s)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= ' ' && c != '\\' && c != 0x7f) {
			put_chars(l, s, 1);
			continue;
		}
		put_chars(l, (char[]){ '\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
		    (char)('0' + (c & 7)) }, 4);
	}
}

static void
put_word(struct line *l, const char *word)
{
	put_chars(l, "\n", l->n > 0);
	put_chars(l, word, strlen(word));
	put_chars(l, " ", 1);
}

/* Takes a block for names that follows the block 'before'; 0: no room. */
static uint32_t
names_block(const struct file *f, uint32_t before)
{
	uint32_t block, *at;

	if (!tnf_tag_begin())
		return 0;
	/* If the process has got another file by now, a new block would be in that file. */
	block = f == tnf_file() ? tnf_tag_block() : 0;
	if (block != 0) {
		at = (uint32_t *)(void *)(f->base + block + HEADER_SIZE);
		memset(at, 0, BLOCK_SIZE - HEADER_SIZE);
		at[2] = before;		/* at 32 */
	}
	tnf_tag_end(NULL);
	return block;
}

/* Room for 'size' bytes in the blocks of names; NULL: none.  The word is shared with
   other processes: it leads nowhere but into the file, whatever they write there. */
static char *
names_room(const struct file *f, uint32_t size)
{
	uint64_t *word = &tnf_ext(f)->names, now, next;
	uint32_t block, at, n, most = f->size / BLOCK_SIZE / FILE_SHARE;

	now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	for (int i = 0; i < TRIES; i++) {
		block = (uint32_t)(now >> 32);
		n = now >> 16 & 0xffff;
		at = now & 0xffff;
		if (block != 0 && (block % BLOCK_SIZE != 0 || block < TAG_START ||
		    block > f->size - BLOCK_SIZE || at % 8 != 0 || at < TNF_NAMES_FIRST))
			return NULL;
		if (block != 0 && at + size <= BLOCK_SIZE) {
			if (__atomic_compare_exchange_n(word, &now, now + size, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return f->base + block + at;
			continue;
		}
		if (n >= most && n >= BLOCKS_LEAST)
			return NULL;
		if ((block = names_block(f, block)) == 0)
			return NULL;
		next = (uint64_t)block << 32 | (n + 1) << 16 | TNF_NAMES_FIRST;
		if (__atomic_compare_exchange_n(word, &now, next, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			now = next;
		else
			tnf_tag_spare(block);
	}
	return NULL;
}

/* A block may be taken for it, as for a hit: handlers have to stay away. */
static void
names_put(const struct line *l)
{
	uint32_t size = (4 + (uint32_t)l->n + 7) & ~7u;
	bool free = tnf_t.busy == 0;
	char *at;

	if (l->n == 0)
		return;
	if (free)
		tnf_t.busy = BUSY_OTHERWISE;
	signal_fence();
	if ((at = names_room(tnf_file(), size)) != NULL) {
		memcpy(at + 4, l->text, l->n);
		__atomic_store_n((uint32_t *)(void *)at, TNF_NAMES_CELL | (uint32_t)l->n,
		    __ATOMIC_RELEASE);
	}
	signal_fence();
	if (free)
		tnf_t.busy = 0;
}

static void
put_thread(struct line *l, uint32_t tid, const char *name)
{
	put_word(l, "thread");
	put_number(l, tid);
	put_number(l, (uint32_t)tnf_p.pid);
	put_number(l, process_parent > 0 ? (uint32_t)process_parent : 0);
	put_rest(l, name);
}

/* word: "NAME/", of a fact of this process. */
static void
put_fact(struct line *l, const char *word, const char *value)
{
	if (value[0] == '\0')
		return;
	put_chars(l, "\n", l->n > 0);
	put_chars(l, word, strlen(word));
	put_number(l, (uint32_t)tnf_p.pid);
	put_rest(l, value);
}

/* Begins a line about a new name; the caller adds the old name. */
static void
put_renamed(struct line *l, uint32_t tid)
{
	put_word(l, "renamed");
	put_number(l, tid);
	put_number(l, (uint64_t)tnf_clock_now());
}

/* Skips a number and the blank behind it; returns the text behind these, or NULL. */
static const char *
skip_number(const char *s, const char *end, uint64_t *v)
{
	const char *begin = s;

	for (*v = 0; s < end && *s >= '0' && *s <= '9'; s++)
		*v = *v * 10 + (uint64_t)(*s - '0');
	return s > begin && s < end && *s == ' ' ? s + 1 : NULL;
}

/* The escaped name in a line that tells of this thread, and where it ends; or NULL. */
static const char *
name_in(const char *s, const char *end, uint32_t tid)
{
	uint64_t v = 0, unused;

	if (end - s < 7 || memcmp(s, "thread ", 7) != 0 ||
	    (s = skip_number(s + 7, end, &v)) == NULL || v != tid ||
	    (s = skip_number(s, end, &unused)) == NULL)
		return NULL;
	return skip_number(s, end, &unused);
}

/* The last line of a cell that tells of this thread gives 'name', escaped as it is. */
static bool
cell_name(const char *s, const char *end, uint32_t tid, char *name, size_t size)
{
	const char *next, *at;
	bool found = false;

	for (; s < end; s = next + 1) {
		if ((next = memchr(s, '\n', (size_t)(end - s))) == NULL)
			next = end;
		if ((at = name_in(s, next, tid)) == NULL || (size_t)(next - at) >= size)
			continue;
		memcpy(name, at, (size_t)(next - at));
		name[next - at] = '\0';
		found = true;
	}
	return found;
}

static bool
block_name(const char *block, uint32_t tid, char *name, size_t size)
{
	uint32_t at = TNF_NAMES_FIRST, head, n;
	bool found = false;

	while (at + 8 <= BLOCK_SIZE) {
		head = __atomic_load_n((const uint32_t *)(const void *)(block + at),
		    __ATOMIC_ACQUIRE);
		n = head & 0xffff;
		if ((head & 0xffff0000u) != TNF_NAMES_CELL || n == 0 || n > BLOCK_SIZE - at - 4) {
			at += 8;
			continue;
		}
		found |= cell_name(block + at + 4, block + at + 4 + n, tid, name, size);
		at += (4 + n + 7) & ~7u;
	}
	return found;
}

/* The name that the file has already for a thread with this number, which ran another
   program before, or which was another thread's number.  Other processes may write there
   at any time: a reference is followed only within the file. */
static bool
former_name(uint32_t tid, char *name, size_t size)
{
	const struct file *f = tnf_file();
	uint32_t block = (uint32_t)(__atomic_load_n(&tnf_ext(f)->names, __ATOMIC_ACQUIRE) >> 32);

	for (int i = 0; i < LOOK_BACK && block >= TAG_START && block % BLOCK_SIZE == 0 &&
	    block <= f->size - BLOCK_SIZE; i++) {
		if (block_name(f->base + block, tid, name, size))
			return true;
		block = __atomic_load_n((const uint32_t *)(const void *)
		    (f->base + block + 32), __ATOMIC_RELAXED);
	}
	return false;
}

/* If the file has another name of the thread by now, that one comes in front of its line. */
static void
put_former(struct line *l, uint32_t tid, const char *name)
{
	char text[4 * NAME_SIZE], old[4 * NAME_SIZE];
	struct line now = { text, sizeof(text) - 1, 0 };

	if (tnf_t.disabled || !former_name(tid, old, sizeof(old)))
		return;
	put_rest(&now, name);
	text[now.n] = '\0';
	if (strcmp(text, old) == 0)
		return;
	put_renamed(l, tid);
	put_chars(l, old, strlen(old));
}

/* Reads the process's name, which is that of its first thread, by bare system calls, since
   these are no cancellation points. */
static bool
read_comm(char name[NAME_SIZE])
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC);
	long n = fd >= 0 ? syscall(SYS_read, fd, name, NAME_SIZE - 1) : -1;

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (n > 0 && name[n - 1] == '\n')
		n--;
	if (n > 0)
		name[n] = '\0';
	return n > 0;
}

/* Only one thread sets up, so this need not be on its stack, which may be small. */
static void
ask_names(void)
{
	static char path[PATH_MAX];
	struct stat st;
	ssize_t n;

	/* No /proc: this thread is as good as another. */
	if (!read_comm(process_name))
		syscall(SYS_prctl, PR_GET_NAME, process_name, 0, 0, 0);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	memcpy(program, n < PATH_SHOWN ? path : path + n - (PATH_SHOWN - 1), PATH_SHOWN - 1);
	/* The threads that are there may have got any names before we came. */
	__atomic_store_n(&renamed, stat("/proc/self/task", &st) != 0 || st.st_nlink != 3,
	    __ATOMIC_RELAXED);
}

/* The first thread of a child has the name of the thread that has forked. */
static void
ask_child(void)
{
	char name[NAME_SIZE] = "";

	if (!__atomic_load_n(&renamed, __ATOMIC_RELAXED))
		return;
	if (!may_ask())
		memcpy(name, tnf_t.name, NAME_SIZE);
	else if (tnf_p.ask_tid || tnf_own_tid() == (uint32_t)tnf_p.pid)
		syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
	else
		read_comm(name);
	if (name[0] != '\0')
		memcpy(process_name, name, NAME_SIZE);
}

void
tnf_names_process(int32_t parent, bool child)
{
	static char text[LINE_SIZE];
	struct line l = { text, sizeof(text), 0 };
	int saved = errno;

	if (child)
		ask_child();
	else if (!is_quiet())
		ask_names();
	process_parent = parent;
	errno = saved;
	if (process_name[0] == '\0')
		return;
	put_former(&l, (uint32_t)tnf_p.pid, process_name);
	put_thread(&l, (uint32_t)tnf_p.pid, process_name);
	if (program[0] != '\0') {
		put_word(&l, "runs");
		put_number(&l, (uint32_t)tnf_p.pid);
		put_number(&l, (uint64_t)tnf_clock_now());
		put_rest(&l, program);
	}
	names_put(&l);
	l.n = 0;
	put_fact(&l, "traceparent/", traceparent);
	put_fact(&l, "service/", service);
	names_put(&l);
}

/* The first hit of a thread. */
void
tnf_names_thread(struct thread *t)
{
	char name[NAME_SIZE] = "", text[RENAMED_SIZE + THREAD_SIZE];
	struct line l = { text, sizeof(text), 0 };

	if (t->disabled || t->tid == (uint32_t)tnf_p.pid || !may_ask() ||
	    !__atomic_load_n(&renamed, __ATOMIC_RELAXED) ||
	    syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) != 0)
		return;
	memcpy(t->name, name, NAME_SIZE);
	put_former(&l, t->tid, name);
	if (l.n == 0 && strcmp(name, process_name) == 0)
		return;
	put_thread(&l, t->tid, name);
	names_put(&l);
}

/* True if a change may be recorded: not by a thread that must not read the clock, nor by a handler
   within a hit or while something is being defined. */
static bool
may_record(void)
{
	return tnf_file() != NULL && tnf_p.later == NULL && !tnf_t.disabled &&
	    !tnf_t.gone && tnf_t.busy == 0 && tnf_t.at_work == 0 &&
	    __atomic_load_n(&tnf_p.guard->phase, __ATOMIC_ACQUIRE) == PHASE_READY;
}

/* Records that a thread has another name from now on. */
static void
names_change(uint32_t tid, const char *old, const char *new)
{
	char text[RENAMED_SIZE + THREAD_SIZE];
	struct line l = { text, sizeof(text), 0 };

	if (tid == (uint32_t)tnf_p.pid)
		memcpy(process_name, new, NAME_SIZE);
	if (strcmp(old, new) == 0)
		return;
	if (*old != '\0') {
		put_renamed(&l, tid);
		put_rest(&l, old);
	}
	put_thread(&l, tid, new);
	names_put(&l);
}

/* Records that events end here on purpose; the reader finds it as a fact of the context. */
void
tnf_names_freeze(const char *why)
{
	char text[RENAMED_SIZE + THREAD_SIZE];
	struct line l = { text, sizeof(text), 0 };

	if (!may_record())
		return;
	put_word(&l, "frozen");
	put_number(&l, (uint64_t)tnf_clock_now());
	put_rest(&l, why);
	names_put(&l);
}

/* The number of this thread; 0: it is not known, and we must not ask the kernel.  The child of
   a vfork() has the number, and all that we know, of its parent, which waits. */
static uint32_t
number_of_caller(void)
{
	uint32_t known = tnf_p.ask_tid ? 0 : tnf_own_tid(), tid;

	if (!may_ask())
		return known;
	tid = (uint32_t)syscall(SYS_gettid);
	return known != 0 && known != tid ? 0 : tid;
}

/* prctl(PR_SET_NAME, name): 0, or -1 and errno. */
int
tnf_names_set(const char *name)
{
	char old[NAME_SIZE] = "", new[NAME_SIZE] = "";
	uint32_t tid = 0;
	int saved = errno;

	if (may_record() && (tid = number_of_caller()) != 0) {
		if (may_ask())
			syscall(SYS_prctl, PR_GET_NAME, old, 0, 0, 0);
		else
			memcpy(old, tnf_t.name[0] != '\0' ? tnf_t.name : process_name, NAME_SIZE);
	}
	if (syscall(SYS_prctl, PR_SET_NAME, name, 0, 0, 0) != 0)
		return -1;
	__atomic_store_n(&renamed, 1, __ATOMIC_RELAXED);
	if (!may_record())
		tnf_t.name[0] = '\0';
	if (tid != 0) {
		strncpy(new, name, NAME_SIZE - 1);
		memcpy(tnf_t.name, new, NAME_SIZE);
		names_change(tid, old, new);
	}
	errno = saved;
	return 0;
}

/* Another thread's, in /proc as the C library does it: by the same system calls, which
   are no cancellation points.  'old' is NULL, or read before. */
static int
set_other(uint32_t tid, const char *name, size_t len, char *old)
{
	char path[48];
	long fd, n;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
	if (fd < 0)
		return errno;
	if (old != NULL) {
		/* As many zeros as make an offset on any machine. */
		n = syscall(SYS_pread64, fd, old, (size_t)NAME_SIZE - 1, 0l, 0l, 0l);
		old[n > 0 && old[n - 1] == '\n' ? n - 1 : n > 0 ? n : 0] = '\0';
	}
	do
		n = syscall(SYS_write, fd, name, len);
	while (n < 0 && errno == EINTR);
	n = n < 0 ? errno : (size_t)n != len ? EIO : 0;
	syscall(SYS_close, fd);
	return (int)n;
}

/* The C library does not call the prctl() above for it.  We do not remember
   the name of another thread, so that a change counts only where it may be asked for. */
int TNF_API pthread_setname_np(pthread_t, const char *);

int
pthread_setname_np(pthread_t thread, const char *name)
{
	char old[NAME_SIZE] = "", new[NAME_SIZE] = "";
	size_t len = strnlen(name, NAME_SIZE);
	int error, saved = errno;
	bool record;

	if (len >= NAME_SIZE)
		return ERANGE;
	if (pthread_equal(thread, pthread_self())) {
		error = tnf_names_set(name) != 0 ? errno : 0;
	} else {
		record = may_ask() && may_record() && number_of_caller() != 0;
		error = set_other(tnf_tid_of(thread), name, len, record ? old : NULL);
		if (error == 0)
			__atomic_store_n(&renamed, 1, __ATOMIC_RELAXED);
		if (error == 0 && record) {
			strncpy(new, name, NAME_SIZE - 1);
			names_change(tnf_tid_of(thread), old, new);
		}
	}
	errno = saved;
	return error;
}
