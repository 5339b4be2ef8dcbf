/*
 * context.c - what the writer of a context says, the reader understands.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tnf/com.h>
#include <tnf/context.h>
#include <tnf/tnf.h>

#include "tests/check-run.h"
#include "libtnf/context-write.h"

#define TRACE_SIZE	(32u * 4096)

static char name[32];
static int fd;

/* A trace without events. */
static void
setup(void)
{
	struct tnf_file_header h = {
		.magic = TNF_MAGIC, .block_size = 4096, .block_count = 32,
	};
	struct tnf_ext ext = {
		.magic = TNF_EXT_MAGIC, .version = TNF_EXT_VERSION,
		.size = sizeof ext,
	};

	strcpy(name, "/tmp/tnf-context.XXXXXX");
	fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, TRACE_SIZE), 0);
	ck_assert_int_gt(pwrite(fd, &h, sizeof h, 0), 0);
	ck_assert_int_gt(pwrite(fd, &ext, sizeof ext, TNF_EXT_OFFSET), 0);
}

static void
teardown(void)
{
	close(fd);
	unlink(name);
}

static tnf_context_t *
finish(struct context_writer *w)
{
	tnf_context_t *c = NULL;

	ck_assert_int_eq(context_append(w, fd, 0), 0);
	context_free(w);
	ck_assert_int_eq(tnf_context_open(name, &c), 0);
	return c;
}

START_TEST(host)
{
	struct context_writer w;
	int64_t wall, mono;
	struct timespec t;
	struct utsname u;
	tnf_context_t *c;

	context_begin(&w);
	context_host(&w);
	c = finish(&w);
	uname(&u);
	ck_assert_str_eq(tnf_context_fact(c, "host"), u.nodename);
	ck_assert_str_eq(tnf_context_fact(c, "release"), u.release);
	ck_assert_str_eq(tnf_context_fact(c, "machine"), u.machine);
	ck_assert_uint_eq(strlen(tnf_context_fact(c, "boot")), 36);
	ck_assert_int_ge(atoi(tnf_context_fact(c, "cpus")), 1);
	ck_assert_ptr_nonnull(tnf_context_fact(c, "zone"));
	ck_assert_ptr_null(tnf_context_fact(c, "nonsense"));

	clock_gettime(CLOCK_MONOTONIC, &t);
	mono = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	ck_assert(tnf_context_wall(c, mono, &wall));
	ck_assert_int_lt(llabs(wall / 1000000000 - (int64_t)time(NULL)), 3);
	ck_assert(!tnf_context_wall(c, INT64_MIN, &wall));
	tnf_context_close(c);
}
END_TEST

/* Its number, and waits for the end of the pipe. */
static void *
helper(void *arg)
{
	int *pipes = arg;
	pid_t tid = gettid();
	char byte;

	prctl(PR_SET_NAME, "helper");
	ck_assert_int_eq(write(pipes[1], &tid, sizeof tid), sizeof tid);
	ck_assert_int_eq(read(pipes[2], &byte, 1), 0);
	return NULL;
}

/* qemu-user answers itself for the program's own /proc/PID/stat, with another name: then
   the threads of the program cannot be known. */
static bool
stat_is_emulated(const char *own)
{
	char path[32], text[256];
	ssize_t n;
	int f;

	prctl(PR_SET_NAME, own);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
	ck_assert_int_ge(f = open(path, O_RDONLY), 0);
	ck_assert_int_gt(n = read(f, text, sizeof text - 1), 0);
	close(f);
	text[n] = '\0';
	return strstr(text, own) == NULL;
}

/* A thread has its own name, and its process. */
START_TEST(threads)
{
	const struct tnf_context_task *t;
	struct context_writer w;
	tnf_context_t *c;
	pthread_t thread;
	int pipes[4];
	pid_t tid;

	if (stat_is_emulated("threads"))
		return;
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(pipe(pipes + 2), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, helper, pipes), 0);
	ck_assert_int_eq(read(pipes[0], &tid, sizeof tid), sizeof tid);
	context_begin(&w);
	context_tasks(&w, 0);
	close(pipes[3]);
	pthread_join(thread, NULL);
	c = finish(&w);
	t = tnf_context_task(c, tid);
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->comm, "helper");
	ck_assert_int_eq(t->pid, getpid());
	ck_assert_int_eq(t->ppid, getppid());
	ck_assert(!t->ended);
	tnf_context_close(c);
}
END_TEST

/* This very process, under a name made to confuse. */
START_TEST(tasks)
{
	const struct tnf_context_task *t;
	struct context_writer w;
	tnf_context_t *c;
	size_t i, n;

	if (stat_is_emulated("a) R 1\n\\101 \x7f"))
		return;
	context_begin(&w);
	context_tasks(&w, 0);
	context_ended(&w, 2000000001, 2000000000, 1, "gone");
	context_ended(&w, getpid(), 1, 1, "earlier");
	c = finish(&w);
	t = tnf_context_task(c, getpid());
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->comm, "a) R 1\n\\101 \x7f");
	ck_assert_int_eq(t->pid, getpid());
	ck_assert_int_eq(t->ppid, getppid());
	ck_assert(!t->ended);
	t = tnf_context_task(c, 2000000001);
	ck_assert_ptr_nonnull(t);
	ck_assert(t->ended);
	ck_assert_int_eq(t->pid, 2000000000);
	ck_assert_str_eq(t->comm, "gone");
	ck_assert_ptr_null(tnf_context_task(c, 2000000002));
	ck_assert_ptr_null(tnf_context_task(c, -1));
	t = tnf_context_tasks(c, &n);
	for (i = 1; i < n; i++)
		ck_assert_int_le(t[i - 1].tid, t[i].tid);
	tnf_context_close(c);
}
END_TEST

/* Unsorted, with an alias, a module, a mapping symbol, hidden addresses. */
static const char list[] =
    "0000000000000000 A hidden\n"
    "ffffffff81001000 T first\n"
    "ffffffff81001000 t first_alias\n"
    "ffffffffc0200000 t in_module\t[some_module]\n"
    "ffffffff81002000 t second\n"
    "ffffffff81001800 t $x\n"
    "garbage\n"
    "ffffffff81003000 D third\n"
    "ffffffffc0300000 t alone\t[other]\n";

START_TEST(symbols)
{
	static const struct {
		uint64_t addr;
		const char *symbol, *module;
	} cases[] = {
		{ 0xffffffff81001000, "first", "" },
		{ 0xffffffff81001fff, "first", "" },
		{ 0xffffffff81002000, "second", "" },
		{ 0xffffffff81002abc, "second", "" },
		{ 0xffffffffc0200010, "in_module", "some_module" },
		{ 0xffffffff80000000, NULL, NULL },
		{ 0xffffffff81013000, NULL, NULL },	/* too far behind */
		{ 0xffffffffc0300005, "alone", "other" },
	};
	uint64_t addrs[8];
	char path[] = "/tmp/tnf-list.XXXXXX";
	const struct tnf_context_symbol *s;
	struct context_writer w;
	uint64_t shift = _i == 0 ? 0 : 0x1000000;
	tnf_context_t *c;
	size_t i;
	int f;

	f = mkstemp(path);
	ck_assert_int_eq(write(f, list, sizeof list - 1), sizeof list - 1);
	close(f);
	for (i = 0; i < 8; i++)
		addrs[7 - i] = cases[i].addr + shift;
	context_begin(&w);
	ck_assert_int_eq(context_symbols(&w, path, addrs, 8, shift), 0);
	unlink(path);
	c = finish(&w);
	for (i = 0; i < 8; i++) {
		s = tnf_context_symbol(c, cases[i].addr + shift);
		ck_assert_int_eq(s != NULL, cases[i].symbol != NULL);
		if (s == NULL)
			continue;
		ck_assert_str_eq(s->name, cases[i].symbol);
		ck_assert_str_eq(s->module, cases[i].module);
		ck_assert(s->start <= cases[i].addr + shift &&
		    cases[i].addr + shift < s->end);
	}
	tnf_context_close(c);
}
END_TEST

static struct symtab *
symtab_of_list(void)
{
	char path[] = "/tmp/tnf-list.XXXXXX";
	struct symtab *s;
	int f = mkstemp(path);

	ck_assert_int_eq(write(f, list, sizeof list - 1), sizeof list - 1);
	close(f);
	ck_assert_int_eq(symtab_read(path, 0, &s), 0);
	unlink(path);
	return s;
}

/* The kept context is the one that was read; one that is damaged, of another boot or open to
   others is not used. */
START_TEST(kept)
{
	static const uint64_t places[] = { 0xffffffff81000fff, 0xffffffff81001000,
	    0xffffffff81002fff, 0xffffffffc0200000, 0xffffffffc0300001 };
	struct symtab_key key, other;
	struct symtab *s = symtab_of_list(), *again;
	char dir[] = "/tmp/tnf-kept.XXXXXX", path[64];
	struct symtab_symbol a, b;
	struct stat st;
	char byte;
	int f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/kallsyms", dir);
	ck_assert_int_eq(symtab_key_now(&key), 0);
	ck_assert_uint_ne(key.boot[0] | key.boot[7] | key.boot[15], 0);
	ck_assert_ptr_null(symtab_kept(dir, &key));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(symtab_keep(s, dir, &key), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	again = symtab_kept(dir, &key);
	ck_assert_ptr_nonnull(again);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		f = symtab_find(s, places[i], &a);
		ck_assert_int_eq(symtab_find(again, places[i], &b), f);
		ck_assert_int_eq(f, i == 0 ? ENOENT : 0);
		if (f != 0)
			continue;
		ck_assert(a.start == b.start && a.end == b.end);
		ck_assert_str_eq(a.name, b.name);
		ck_assert_str_eq(a.module, b.module);
	}
	symtab_free(again);
	symtab_free(s);
	/* The kernel's list is not read again where one of this boot is kept. */
	ck_assert_int_eq(symtab_kernel(dir, &again), 0);
	ck_assert_int_eq(symtab_find(again, 0xffffffff81001000, &a), 0);
	ck_assert_str_eq(a.name, "first");
	symtab_free(again);

	other = key;
	other.modules ^= 1;
	ck_assert_ptr_null(symtab_kept(dir, &other));
	other = key;
	other.boot[0] ^= 1;
	ck_assert_ptr_null(symtab_kept(dir, &other));
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_ptr_null(symtab_kept(dir, &key));
	ck_assert_int_eq(chmod(path, 0600), 0);

	f = open(path, O_RDWR);
	for (off_t at = 0; at < 48; at++) {	/* the header: magic, key, sizes */
		ck_assert_int_eq(pread(f, &byte, 1, at), 1);
		byte ^= 0x40;
		ck_assert_int_eq(pwrite(f, &byte, 1, at), 1);
		ck_assert_ptr_null(symtab_kept(dir, &key));
		byte ^= 0x40;
		ck_assert_int_eq(pwrite(f, &byte, 1, at), 1);
	}
	ck_assert_int_eq(pwrite(f, "\xff\xff\xff\xff", 4, 48 + 8), 4);	/* a name */
	again = symtab_kept(dir, &key);
	ck_assert_ptr_nonnull(again);
	ck_assert_int_eq(symtab_find(again, 0xffffffff81001000, &a), ENOENT);
	symtab_free(again);
	for (off_t size = st.st_size - 1; size >= 0; size--) {
		ck_assert_int_eq(ftruncate(f, size), 0);
		ck_assert_ptr_null(symtab_kept(dir, &key));
	}
	close(f);
	unlink(path);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_ptr_null(symtab_kept(dir, &key));
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);	/* nothing else is left */
}
END_TEST

/* This program is one of its own objects. */
START_TEST(objects)
{
	const struct tnf_context_object *o;
	struct context_writer w;
	char path[4096] = "";
	tnf_context_t *c;

	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof path - 1), 0);
	context_begin(&w);
	context_objects(&w, getpid());
	c = finish(&w);
	o = tnf_context_object(c, getpid(), (uintptr_t)&objects_fn);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(o->path, path);
	ck_assert_uint_ge(strlen(o->build_id), 1);
	o = tnf_context_object(c, getpid(), (uintptr_t)&getpid);
	if (o != NULL)		/* not in a plt of ours */
		ck_assert_uint_ge(strlen(o->build_id), 32);
	ck_assert_ptr_null(tnf_context_object(c, getpid(), 1));
	tnf_context_close(c);
}
END_TEST

START_TEST(no_context)
{
	tnf_context_t *c = NULL;
	uint32_t zero = 0;

	ck_assert_int_eq(tnf_context_open(name, &c), ENODATA);
	ck_assert_int_eq(tnf_context_open("/nonexistent", &c), ENOENT);
	ck_assert_int_eq(tnf_context_open("/tmp", &c), TNF_ERR_NOTTNF);
	ck_assert_int_gt(pwrite(fd, &zero, sizeof zero, 0), 0);
	ck_assert_int_eq(tnf_context_open(name, &c), ENODATA);
	ck_assert_int_gt(pwrite(fd, "abcd", 4, 0), 0);
	ck_assert_int_eq(tnf_context_open(name, &c), TNF_ERR_NOTTNF);
	ck_assert_ptr_null(c);
}
END_TEST

/* A second context replaces the first, a shorter one leaves no rest. */
START_TEST(twice)
{
	struct context_writer w;
	tnf_context_t *c;
	size_t n;

	context_begin(&w);
	context_tasks(&w, 0);
	tnf_context_close(finish(&w));
	context_begin(&w);
	context_fact(&w, "host", "two\nlines");
	c = finish(&w);
	ck_assert_str_eq(tnf_context_fact(c, "host"), "two\nlines");
	tnf_context_tasks(c, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_lt(lseek(fd, 0, SEEK_END), TRACE_SIZE + 100);
	tnf_context_close(c);
}
END_TEST

START_TEST(extent)
{
	static const struct {
		uint64_t offset, size;
		int expected;
	} cases[] = {
		{ TRACE_SIZE, 1, TNF_ERR_BADTNF },
		{ UINT64_MAX, 2, TNF_ERR_BADTNF },
		{ 4096, UINT64_MAX, TNF_ERR_BADTNF },
		{ 4096, 0, ENODATA },
		{ 4096, 8192, TNF_ERR_BADTNF },		/* no such text there */
	};

	tnf_context_t *c = NULL;

	ck_assert_int_gt(pwrite(fd, &cases[_i].offset, 8, TNF_EXT_OFFSET +
	    offsetof(struct tnf_ext, extra_offset)), 0);
	ck_assert_int_gt(pwrite(fd, &cases[_i].size, 8, TNF_EXT_OFFSET +
	    offsetof(struct tnf_ext, extra_size)), 0);
	ck_assert_int_eq(tnf_context_open(name, &c), cases[_i].expected);
}
END_TEST

/* Lines that cannot be, and ones of the future. */
START_TEST(hostile_text)
{
	static const char text[] = "TNFCTX 1\n"
	    "task 1 1 0 init\ntask -1 1 0 x\ntask 99999999999 1 0 x\n"
	    "task 5\ntask  \n\n \ntask 7 7 1 \nsymbol 10 10 - none\n"
	    "symbol zz 10 - none\nsymbol 10 20 - \\\nclock 1\nclock 1 x\n"
	    "future a b c\nobject 1 10 20 0 - /bin/a b\n"
	    "device 7 0 loop0\nhost \\000\\012\\9\\\nunfinished";
	const struct tnf_context_object *o;
	tnf_context_t *c;
	int64_t wall;
	size_t n;

	ck_assert_int_eq(tnf_context_parse(text, sizeof text - 1, &c), 0);
	tnf_context_tasks(c, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(tnf_context_task(c, 7)->comm, "");
	ck_assert_str_eq(tnf_context_symbol(c, 0x1f)->name, "\\");
	ck_assert_ptr_null(tnf_context_symbol(c, 0x20));
	ck_assert(!tnf_context_wall(c, 0, &wall));
	ck_assert_str_eq(tnf_context_fact(c, "future"), "a b c");
	ck_assert_str_eq(tnf_context_fact(c, "host"), "\\000\n\\9\\");
	ck_assert_ptr_null(tnf_context_fact(c, "unfinished"));
	ck_assert_str_eq(tnf_context_device(c, 7, 0), "loop0");
	ck_assert_ptr_null(tnf_context_device(c, 7, 1));
	o = tnf_context_object(c, 1, 0x1f);
	ck_assert_str_eq(o->path, "/bin/a b");
	ck_assert_ptr_null(tnf_context_object(c, 2, 0x1f));
	ck_assert_ptr_null(tnf_context_object(c, 1, 0x20));
	tnf_context_close(c);
	tnf_context_close(NULL);
	ck_assert_int_eq(tnf_context_parse("TNFCTX 2\n", 9, &c),
	    TNF_ERR_BADTNF);
	ck_assert_int_eq(tnf_context_parse("", 0, &c), TNF_ERR_BADTNF);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("context");
	TCase *tc = tcase_create("context");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, host);
	tcase_add_test(tc, tasks);
	tcase_add_test(tc, threads);
	tcase_add_loop_test(tc, symbols, 0, 2);
	tcase_add_test(tc, kept);
	tcase_add_test(tc, objects);
	tcase_add_test(tc, no_context);
	tcase_add_test(tc, twice);
	tcase_add_loop_test(tc, extent, 0, 5);
	tcase_add_test(tc, hostile_text);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
