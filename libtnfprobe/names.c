/*
 * names.c - who the process and its threads are, in the file itself (tnf(5), "Names").
 *
 * Blocks of names are permanent, and one chain of them serves all processes that
 * write the file: a cell is reserved by moving the word in the extension, filled in,
 * and counts when its first word is stored.  Each cell is a line as contexts have
 * them.  What finds no room is left out; events do not depend on it.
 *
 * A thread begins with the name of the thread that has made it.  So as long as nobody
 * changes one, all have that of the process, and nothing is asked or written for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtnfprobe/internal.h"

#define NAME_SIZE	16	/* the kernel's, with its NUL */
#define PATH_SHOWN	240	/* of the program; the end of a longer path */
#define LINE_SIZE	(BLOCK_SIZE - TNF_NAMES_FIRST - 4)
#define FILE_SHARE	64	/* one block of so many may be one of names */
#define BLOCKS_LEAST	4

static char process_name[NAME_SIZE], program[PATH_SHOWN];
static int32_t process_parent;
static uint32_t renamed;	/* somebody has changed a name */

struct line {
	char	 text[LINE_SIZE];
	size_t	 n;
};

static void
put_chars(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n && l->n < sizeof(l->text); i++)
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

/* The last field of a line: bytes that would end it as a backslash and their number. */
static void
put_rest(struct line *l, const char *s)
{
	char code[4];

	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= ' ' && c != '\\' && c != 0x7f) {
			put_chars(l, s, 1);
			continue;
		}
		code[0] = '\\';
		code[1] = (char)('0' + (c >> 6));
		code[2] = (char)('0' + (c >> 3 & 7));
		code[3] = (char)('0' + (c & 7));
		put_chars(l, code, sizeof(code));
	}
}

static void
put_word(struct line *l, const char *word)
{
	if (l->n > 0)
		put_chars(l, "\n", 1);
	put_chars(l, word, strlen(word));
	put_chars(l, " ", 1);
}

/* A block for names that follows this one; 0: no room. */
static uint32_t
names_block(const struct file *f, uint32_t before)
{
	uint32_t block, *at;

	if (!tnf_tag_begin())
		return 0;
	if ((block = tnf_tag_block()) != 0) {
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
	for (;;) {
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
}

static void
names_put(const struct line *l)
{
	uint32_t size = (4 + (uint32_t)l->n + 7) & ~7u;
	char *at;

	if (l->n == 0 || (at = names_room(tnf_file(), size)) == NULL)
		return;
	memcpy(at + 4, l->text, l->n);
	__atomic_store_n((uint32_t *)(void *)at, TNF_NAMES_CELL | (uint32_t)l->n,
	    __ATOMIC_RELEASE);
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

static void
ask_names(void)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, process_name, NAME_SIZE - 1) : -1;
	char path[PATH_MAX];

	if (fd >= 0)
		close(fd);
	if (n > 0 && process_name[n - 1] == '\n')
		n--;
	/* No /proc: this thread is as good as another. */
	if (n <= 0)
		syscall(SYS_prctl, PR_GET_NAME, process_name, 0, 0, 0);
	else
		process_name[n] = '\0';
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	memcpy(program, n < PATH_SHOWN ? path : path + n - (PATH_SHOWN - 1), PATH_SHOWN - 1);
}

/* Nothing is asked in a child, since a filter might refuse it: its name and program
   are those of the thread that has forked. */
void
tnf_names_process(int32_t parent, bool child)
{
	struct line l = { .n = 0 };
	int saved = errno;

	if (child && tnf_t.name[0] != '\0')
		memcpy(process_name, tnf_t.name, NAME_SIZE);
	else if (!child)
		ask_names();
	process_parent = parent;
	put_thread(&l, (uint32_t)tnf_p.pid, process_name);
	put_word(&l, "program");
	put_number(&l, (uint32_t)tnf_p.pid);
	put_rest(&l, program);
	names_put(&l);
	errno = saved;
}

/* The first hit of a thread. */
void
tnf_names_thread(struct thread *t)
{
	char name[NAME_SIZE] = "";
	struct line l = { .n = 0 };

	if (t->tid == (uint32_t)tnf_p.pid || tnf_p.quiet ||
	    !__atomic_load_n(&renamed, __ATOMIC_RELAXED) ||
	    syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) != 0 ||
	    strcmp(name, process_name) == 0)
		return;
	memcpy(t->name, name, NAME_SIZE);
	put_thread(&l, t->tid, name);
	names_put(&l);
}

/* A thread has another name from now on. */
static void
names_change(uint32_t tid, const char *old, const char *new)
{
	struct line l = { .n = 0 };

	__atomic_store_n(&renamed, 1, __ATOMIC_RELAXED);
	if (tid == (uint32_t)tnf_p.pid)
		memcpy(process_name, new, NAME_SIZE);
	if (tnf_file() == NULL || tnf_p.later != NULL || strcmp(old, new) == 0 ||
	    __atomic_load_n(&tnf_p.guard->phase, __ATOMIC_ACQUIRE) != PHASE_READY)
		return;
	if (*old != '\0') {
		put_word(&l, "renamed");
		put_number(&l, tid);
		put_number(&l, (uint64_t)tnf_clock_now());
		put_rest(&l, old);
	}
	put_thread(&l, tid, new);
	names_put(&l);
}

static void
name_copy(char to[NAME_SIZE], const char *from)
{
	size_t n = strnlen(from, NAME_SIZE - 1);

	memset(to, 0, NAME_SIZE);
	memcpy(to, from, n);
}

/* prctl(PR_SET_NAME, name): 0, or -1 and errno. */
int
tnf_names_set(const char *name)
{
	char old[NAME_SIZE] = "", new[NAME_SIZE];
	uint32_t tid;
	int saved;

	syscall(SYS_prctl, PR_GET_NAME, old, 0, 0, 0);
	if (syscall(SYS_prctl, PR_SET_NAME, name, 0, 0, 0) != 0)
		return -1;
	saved = errno;
	name_copy(new, name);
	memcpy(tnf_t.name, new, NAME_SIZE);
	tid = tnf_p.ask_tid ? (uint32_t)syscall(SYS_gettid) : tnf_own_tid();
	names_change(tid, old, new);
	errno = saved;
	return 0;
}

static uint32_t
tid_of(pthread_t thread)
{
	clockid_t id;

	return pthread_getcpuclockid(thread, &id) != 0 ? 0 : ~((uint32_t)id >> 3) & 0x1fffffff;
}

/* Another thread's, in /proc as the C library does it. */
static int
set_other(uint32_t tid, const char *name, size_t len, char old[NAME_SIZE])
{
	struct line path = { .n = 0 };
	ssize_t n;
	int fd;

	put_chars(&path, "/proc/self/task/", 16);
	put_number(&path, tid);
	path.n--;
	put_chars(&path, "/comm", 6);
	fd = open(path.text, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = pread(fd, old, NAME_SIZE - 1, 0);
	old[n > 0 && old[n - 1] == '\n' ? n - 1 : n > 0 ? n : 0] = '\0';
	n = write(fd, name, len);
	n = n < 0 ? errno : (size_t)n != len ? EIO : 0;
	close(fd);
	return (int)n;
}

/* The C library does not call the prctl() above for it. */
int TNF_API pthread_setname_np(pthread_t, const char *);

int
pthread_setname_np(pthread_t thread, const char *name)
{
	char old[NAME_SIZE] = "", new[NAME_SIZE];
	size_t len = strnlen(name, NAME_SIZE);
	int error, saved = errno;

	if (len >= NAME_SIZE)
		return ERANGE;
	if (pthread_equal(thread, pthread_self())) {
		error = tnf_names_set(name) != 0 ? errno : 0;
	} else if ((error = set_other(tid_of(thread), name, len, old)) == 0) {
		name_copy(new, name);
		names_change(tid_of(thread), old, new);
	}
	errno = saved;
	return error;
}
