/*
 * check-shared.c - words and lines of the file that other processes write, too: what stands
 * there may be of any kind, and harms nobody.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check-run.h"
#include "tests/writer/suite.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define BLOCK		512u
#define DIRECTORY_END	0x10000u

static char *file;
static struct tnf_ext *ext;

/* The file, as another process sees it. */
static void
look(void)
{
	int fd = open(path, O_RDWR);

	file = mmap(NULL, 0x20000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(file != MAP_FAILED);
	close(fd);
	ext = (struct tnf_ext *)(void *)(file + TNF_EXT_OFFSET);
}

/* Places where the next definition's word is said to be: before the directory, behind it, between two
   words, anywhere.  A definition made then can be read, and so it can in the next file. */
static const uint32_t cursors[] = {
	0, 4, BLOCK, 0x1002, DIRECTORY_END - 2, DIRECTORY_END, DIRECTORY_END + 4, 0x1fffc, 0x20000,
	0x7ffffffc, 0xfffffffc,
};

START_TEST(directory)
{
	start(128);
	TNF_PROBE_1(before, "", "", tnf_int, i, 1);
	look();
	ext->dir_cursor = cursors[_i];
	TNF_PROBE_1(lied_to, "", "", tnf_int, i, 2);
	ext->dir_cursor = cursors[_i];
	ck_assert_int_eq(selfctl_open(second, 256), 0);
	TNF_PROBE_1(behind, "", "", tnf_int, i, 3);
	finish();
	ck_assert_uint_eq(ev.n, 2);
	IS(0, "before i=1");
	IS(1, "lied_to i=2");
	events_free(&ev);
	events_read(second, &ev);
	ck_assert_uint_eq(ev.damaged, 0);
	ck_assert_uint_eq(ev.n, 1);
	IS(0, "behind i=3");
}
END_TEST

/* ---- names (tnf(5), "Names") ---- */

/* All lines in the file, in their order. */
static const char *
lines(void)
{
	static char text[BLOCK];
	const char *block = file + (ext->names >> 32);
	uint32_t word;

	*text = '\0';
	for (uint32_t at = TNF_NAMES_FIRST; at < (ext->names & 0xffff); at += 8) {
		memcpy(&word, block + at, sizeof(word));
		if ((word & 0xffff0000u) == TNF_NAMES_CELL && (word & 0xffff) <= BLOCK - 4 - at) {
			strncat(text, block + at + 4, word & 0xffff);
			strcat(text, "\n");
		}
	}
	return text;
}

static void
plant_word(uint32_t word)
{
	memcpy(file + (ext->names >> 32) + (ext->names & 0xffff), &word, sizeof(word));
	ext->names += 8;
}

/* A cell with lines, the only one in the block; '%' stands for the process's number. */
static void
plant(const char *format, uint32_t word_before)
{
	char text[BLOCK] = "", *block = file + (ext->names >> 32);
	uint32_t n;

	memset(block + TNF_NAMES_FIRST, 0, BLOCK - TNF_NAMES_FIRST);
	ext->names = (ext->names & ~(uint64_t)0xffff) | TNF_NAMES_FIRST;
	for (; *format != '\0'; format++)
		sprintf(text + strlen(text), *format == '%' ? "%d" : "%c", *format == '%' ? (int)getpid() : *format);
	n = (uint32_t)strlen(text);
	if (word_before != 0)
		plant_word(word_before);
	memcpy(block + (ext->names & 0xffff) + 4, text, n);
	n |= TNF_NAMES_CELL;
	memcpy(block + (ext->names & 0xffff), &n, sizeof(n));
	ext->names += (4 + strlen(text) + 7) & ~(size_t)7;
}

/* The text that the file has after its line "renamed N TIME NAME" of the process; "": there is none. */
static const char *
former_name(pid_t pid)
{
	static char name[BLOCK];
	char word[32];
	const char *s;

	snprintf(word, sizeof(word), "renamed %d ", (int)pid);
	*name = '\0';
	if ((s = strstr(lines(), word)) != NULL)
		ck_assert_int_eq(sscanf(s + strlen(word), "%*d %511[^\n]", name), 1);
	return name;
}

/* The first hit of a child, for which the file has these lines already. */
static pid_t
child_with(const char *format, uint32_t word_before)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		plant(format, word_before);
		TNF_PROBE_0(child, "", "");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return pid;
}

#define NAME_63		"123456789012345678901234567890123456789012345678901234567890123"

/* The process is called "own".  An earlier line with its number says what the program
   was called before, if the line can be read. */
static const struct {
	const char *lines;
	uint32_t    word_before;	/* of a cell that can be none */
	const char *former;
} planted[] = {
	{ "thread % 1 1 own", 0, "" },
	{ "thread % 1 1 other", 0, "other" },
	{ "thread % 1 1 even", 0, "even" },
	{ "thread % 1 1 owner", 0, "owner" },
	{ "thread % 1 1 two words\\012", 0, "two words\\012" },
	{ "thread % 1 1 first\nthread % 1 1 last", 0, "last" },
	{ "thread % 1 1 first\nthread % 1 1 own", 0, "" },
	{ "thread % 1 1 own\nprogram % /bin/true", 0, "" },
	{ "program % /bin/true\nthread % 1 1 other", 0, "other" },
	{ "thread % 1 1 other\nthread 1 1 1 another", 0, "other" },
	/* Another thread, or no such line. */
	{ "thread 1% 1 1 other", 0, "" },
	{ "thread 1 % 1 other", 0, "" },
	{ "threads % 1 1 other", 0, "" },
	{ "thread % 1 other", 0, "" },
	{ "thread % 1 1", 0, "" },
	{ "thread %", 0, "" },
	{ "thread", 0, "" },
	{ "", 0, "" },
	/* As long as a name of 15 characters of which each takes four, and longer. */
	{ "thread % 1 1 " NAME_63, 0, NAME_63 },
	{ "thread % 1 1 " NAME_63 "4", 0, "" },
	{ "thread % 1 1 other\nthread % 1 1 " NAME_63 NAME_63, 0, "other" },
	/* A cell in front that has been reserved only, is empty, or is said to go on behind the block. */
	{ "thread % 1 1 other", 1, "other" },
	{ "thread % 1 1 other", TNF_NAMES_CELL, "other" },
	{ "thread % 1 1 other", TNF_NAMES_CELL | 0xffff, "other" },
	{ "thread % 1 1 other", TNF_NAMES_CELL | (BLOCK - TNF_NAMES_FIRST - 3), "other" },
};

START_TEST(names_before)
{
	pid_t pid;

	prctl(PR_SET_NAME, "own");
	start(128);
	TNF_PROBE_0(parent, "", "");
	look();
	pid = child_with(planted[_i].lines, planted[_i].word_before);
	ck_assert_msg(strcmp(former_name(pid), planted[_i].former) == 0, "%s: \"%s\" instead of \"%s\", in:\n%s",
	    planted[_i].lines, former_name(pid), planted[_i].former, lines());
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

/* A name of any length is the same as before. */
START_TEST(same_name)
{
	char name[16] = "", line[64];
	pid_t pid;

	memset(name, 'n', (size_t)_i);
	prctl(PR_SET_NAME, name);
	start(128);
	TNF_PROBE_0(parent, "", "");
	look();
	snprintf(line, sizeof(line), "thread %% 1 1 %s", name);
	pid = child_with(line, 0);
	ck_assert_str_eq(former_name(pid), "");
	name[_i - 1] = 'm';
	snprintf(line, sizeof(line), "thread %% 1 1 %s", name);
	pid = child_with(line, 0);
	ck_assert_str_eq(former_name(pid), name);
}
END_TEST

/* Places where the latest block of names is said to be, and where in it there is room. */
static const uint64_t words[] = {
	0xffffffffffffffff, 0xffffffff00000000, 0xfffffe0000000028, 0x2000000000028, 0x1fe0000000028, 0x1000100000028,
	0x20000000028, 0x28, 0x1000000000000, 0x1000000000027, 0x10000000001f8, 0x100000000fff8,
};

START_TEST(names_anywhere)
{
	int status;

	start(128);
	TNF_PROBE_1(number, "", "", tnf_int, i, 1);
	look();
	ext->names = words[_i];
	if (fork() == 0) {
		TNF_PROBE_1(number, "", "", tnf_int, i, 2);
		prctl(PR_SET_NAME, "another");
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	TNF_PROBE_1(number, "", "", tnf_int, i, 3);
	finish();
	ck_assert_uint_eq(ev.n, 3);
}
END_TEST

static void *
thread(void *name)
{
	if (name != NULL)
		pthread_setname_np(pthread_self(), name);
	TNF_PROBE_0(thread, "", "");
	return NULL;
}

/* Once a name has been changed, a thread's is written, unless it is that of the process. */
START_TEST(names_of_threads)
{
	static char other[] = "other";
	const char *const names[] = { NULL, other };
	pthread_t t;

	prctl(PR_SET_NAME, "own");
	start(128);
	TNF_PROBE_0(first, "", "");
	look();
	prctl(PR_SET_NAME, "changed");
	for (size_t i = 0; i < COUNT(names); i++) {
		ck_assert_int_eq(pthread_create(&t, NULL, thread, (void *)(uintptr_t)names[i]), 0);
		pthread_join(t, NULL);
		ck_assert_int_eq(strstr(lines(), " other\n") != NULL, names[i] != NULL);
	}
	finish();
	ck_assert_uint_eq(ev.n, 3);
	/* The first thread's three: its first name, that it had it until then, and the other one. */
	ck_assert_ptr_nonnull(strstr(lines(), " own\n"));
	ck_assert_ptr_nonnull(strstr(lines(), " changed\n"));
	for (size_t i = 0; i < ev.n; i++) {
		char word[32];

		snprintf(word, sizeof(word), "thread %u ", ev.v[i].tid);
		ck_assert_int_eq(strstr(lines(), word) != NULL, i != 1);
	}
}
END_TEST

/* A child's line has its parent, also if that one has hit no probe. */
START_TEST(parents)
{
	const char *line;
	pid_t pid, parent;
	int status;

	prctl(PR_SET_NAME, "own");
	start(128);
	TNF_PROBE_0(first, "", "");
	look();
	if ((pid = fork()) == 0) {
		if (_i == 0 || fork() == 0) {
			TNF_PROBE_0(child, "", "");
			exit(0);
		}
		_exit(wait(&status) > 0 ? status : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(line = strstr(strchr(lines(), '\n'), "thread "));
	ck_assert_int_eq(sscanf(line, "thread %*d %*d %d own", &parent), 1);
	ck_assert_int_eq(parent, _i == 0 ? getpid() : pid);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("shared");
	TCase *t = tcase_create("shared");

	suite_setup(t);
	tcase_add_loop_test(t, directory, 0, COUNT(cursors));
	tcase_add_loop_test(t, names_before, 0, COUNT(planted));
	tcase_add_loop_test(t, same_name, 1, 16);
	tcase_add_loop_test(t, names_anywhere, 0, COUNT(words));
	tcase_add_test(t, names_of_threads);
	tcase_add_loop_test(t, parents, 0, 2);
	suite_add_tcase(s, t);
	return check_run(s);
}
