/*
 * test-context.c - what a context tells, line by line, and what a process has written of its
 * threads into its file, in both byte orders; lines and files that are damaged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/com.h>
#include <tnf/context.h>
#include <tnf/tnf.h>

#include "libtnf/context.h"
#include "tests/check-run.h"

#define BLOCK	512u
#define SIZE	(4 * BLOCK)

/* "tid pid ppid ended name;" of each task, and so on: the whole as one line. */
static const char *
show(const tnf_context_t *c)
{
	static char text[2000];
	const struct tnf_context_task *t;
	const struct tnf_context_former *f;
	const struct tnf_context_symbol *s;
	const struct tnf_context_object *o;
	FILE *out = fmemopen(text, sizeof text, "w");
	size_t n;

	t = tnf_context_tasks(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s %d %d %d %s;", t[i].ended ? "ended" : "task", t[i].tid, t[i].pid,
		    t[i].ppid, t[i].comm);
	f = tnf_context_formers(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "named %d %lld %s;", f[i].tid, (long long)f[i].time, f[i].comm);
	f = tnf_context_ran(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "ran %d %lld %s;", f[i].tid, (long long)f[i].time, f[i].comm);
	s = tnf_context_symbols(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "symbol %llx %llx %s %s;", (unsigned long long)s[i].start,
		    (unsigned long long)s[i].end, s[i].module, s[i].name);
	o = tnf_context_objects(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "object %d %llx %llx %llx %s %s;", o[i].pid, (unsigned long long)o[i].start,
		    (unsigned long long)o[i].end, (unsigned long long)o[i].offset, o[i].build_id, o[i].path);
	fclose(out);
	return text;
}

static tnf_context_t *
parse(const char *lines)
{
	char text[1000];
	tnf_context_t *c;
	int n = snprintf(text, sizeof text, "TNFCTX 1\n%s", lines);

	ck_assert_int_eq(tnf_context_parse(text, (size_t)n, &c), 0);
	return c;
}

static const struct { const char *lines, *want; } rows[] = {
	{ "", "" }, { "\n \nword\n task 1 1 1 a\n", "" },
	{ "task 2 1 0 b\ntask 1 1 0 a\n", "task 1 1 0 a;task 2 1 0 b;" },
	{ "task 1 1 0 a", "" },				/* not finished */
	{ "task 1 1 0 a b  c\n", "task 1 1 0 a b  c;" },
	{ "task 1 1 0\n", "" }, { "task 1 1 0 \n", "task 1 1 0 ;" }, { "task -1 1 0 a\n", "" },
	{ "task 2147483647 1 0 a\n", "task 2147483647 1 0 a;" }, { "task 2147483648 1 0 a\n", "" },
	{ "task 1x 1 0 a\ntask 1 y 0 a\ntask 1 1 :0 a\n", "" },
	{ "task 1 1 0 a\\040\\134\\12\\400\\377\\080\\008\\x\\\n", "task 1 1 0 a \\\\12\\400\377\\080\\008\\x\\;" },
	{ "task 1 1 0 \\000b\n", "task 1 1 0 \\000b;" },
	/* Numbers that were used again: who lives is found; noted twice is one. */
	{ "task 1 1 0 new\nended 1 9 0 old\n", "ended 1 9 0 old;task 1 1 0 new;" },
	{ "task 1 1 0 a\nended 1 1 0 a\nended 2 2 0 a\nended 2 2 0 a\n", "task 1 1 0 a;ended 2 2 0 a;" },
	{ "ended 1 2 0 a\ntask 1 1 0 a\nended 1 1 0 b\n", NULL },
	{ "named 2 5 b\nnamed 1 9 y\nnamed 1 3 x\nnamed 1 9223372036854775808 x\n",
	    "named 1 3 x;named 1 9 y;named 2 5 b;" },
	{ "symbol 20 30 - b\nsymbol 10 20 m\\040n a\nsymbol 30 30 - x\nsymbol 31 30 - x\nsymbol g 30 - x\n"
	    "symbol ffffffffffffff00 ffffffffffffffff - top\nsymbol 10000000000000000 2 - x\n",
	    "symbol 10 20 m n a;symbol 20 30  b;symbol ffffffffffffff00 ffffffffffffffff  top;" },
	{ "object 2 10 20 0 id /a b\nobject 1 30 40 5 - /c\nobject 1 10 20 0 - /d\nobject 1 20 20 0 - /x\n"
	    "object 1 20 30 A - /x\n",
	    "object 1 10 20 0 - /d;object 1 30 40 5 - /c;object 2 10 20 0 id /a b;" },
	/* The names that a process gives its threads count where the context has none, or where the
	   name has changed since. */
	{ "thread 5 4 1 own\n", "task 5 4 1 own;" },
	{ "task 9 9 0 a\nthread 5 4 1 own\n", "ended 5 4 1 own;task 9 9 0 a;" },
	{ "task 5 4 1 theirs\nthread 5 4 1 own\n", "task 5 4 1 theirs;" },
	{ "task 5 4 1 theirs\nthread 5 4 1 own\nrenamed 5 7 was\n", "task 5 4 1 own;named 5 7 was;" },
	{ "ended 5 3 1 old\ntask 5 4 1 theirs\nthread 5 4 1 own\nrenamed 5 7 was\n",
	    "ended 5 3 1 old;task 5 4 1 own;named 5 7 was;" },
	{ "thread 5 4 1 first\nthread 5 4 1 last\nthread 3 4 1 x\n", "task 3 4 1 x;task 5 4 1 last;" },
	/* In a namespace of pids the process does not know the machine's numbers. */
	{ "task 105 104 1 a\ninner 105 104 5 4\ninner 104 104 4 4\nthread 5 4 1 own\nrenamed 5 7 was\n",
	    "task 105 104 1 own;named 105 7 was;" },
	{ "task 104 104 1 a\ninner 104 104 4 4\nthread 5 4 1 own\n", "ended 5 104 1 own;task 104 104 1 a;" },
	{ "ran 5 20 /b\nran 5 10 /a\nran 3 9 /c d\nran 5 /e\n", "ran 3 9 /c d;ran 5 10 /a;ran 5 20 /b;" },
	{ "task 104 104 1 a\ninner 104 104 4 4\nruns 4 7 /own\nran 104 3 /x\n",
	    "task 104 104 1 a;ran 104 3 /x;ran 104 7 /own;" },
};

START_TEST(lines)
{
	tnf_context_t *c = parse(rows[_i].lines);

	if (rows[_i].want != NULL)
		ck_assert_str_eq(show(c), rows[_i].want);
	else
		ck_assert_str_eq(tnf_context_task(c, 1)->comm, "a");
	tnf_context_close(c);
}
END_TEST

START_TEST(finding)
{
	tnf_context_t *c = parse("release 6.1\nboot \\041x\nclock 100 5000\ntask 5 5 0 now\ntask 7 7 0 seven\n"
	    "named 5 10 first\nnamed 5 20 second\nprogram 7 /p\nprogram 5 /five\ncgroup 5 /c\n"
	    "ran 5 20 /p20\nran 5 10 /p10\ndevice 8 1 sda1\ndevice 8 0 sda\ndevice 4294967295 1 x\ndevice 4294967296 1 y\n"
	    "symbol 10 20 - a\nsymbol 30 40 - b\nobject 5 10 20 0 - /o\nobject 5 30 40 0 - /q\n");
	int64_t wall;

	ck_assert_str_eq(tnf_context_fact(c, "release"), "6.1");
	ck_assert_str_eq(tnf_context_fact(c, "boot"), "!x");
	ck_assert_ptr_null(tnf_context_fact(c, "task"));
	ck_assert(tnf_context_wall(c, 99, &wall) && wall == 4999);
	ck_assert(tnf_context_wall(c, 101, &wall) && wall == 5001);
	ck_assert(!tnf_context_wall(c, INT64_MAX, &wall) && !tnf_context_wall(c, INT64_MIN, &wall));
	ck_assert_str_eq(tnf_context_name(c, 5, 9), "first");
	ck_assert_str_eq(tnf_context_name(c, 5, 10), "second");
	ck_assert_str_eq(tnf_context_name(c, 5, 19), "second");
	ck_assert_str_eq(tnf_context_name(c, 5, 20), "now");
	ck_assert_str_eq(tnf_context_name(c, 7, 0), "seven");
	ck_assert_ptr_null(tnf_context_name(c, 6, 0));
	ck_assert_str_eq(tnf_context_program(c, 5, INT64_MAX), "/five");
	ck_assert_str_eq(tnf_context_program(c, 7, INT64_MAX), "/p");
	ck_assert_ptr_null(tnf_context_program(c, 6, INT64_MAX));
	/* Its last program is the context's; programs of before began at 10 and 20. */
	ck_assert_str_eq(tnf_context_program(c, 5, 9), "/p10");
	ck_assert_str_eq(tnf_context_program(c, 5, 19), "/p10");
	ck_assert_str_eq(tnf_context_program(c, 5, 20), "/p20");
	ck_assert_str_eq(tnf_context_program(c, 7, 0), "/p");
	ck_assert_str_eq(tnf_context_cgroup(c, 5), "/c");
	ck_assert_ptr_null(tnf_context_cgroup(c, 7));
	ck_assert_str_eq(tnf_context_device(c, 8, 0), "sda");
	ck_assert_str_eq(tnf_context_device(c, 8, 1), "sda1");
	ck_assert_ptr_null(tnf_context_device(c, 9, 0));
	ck_assert_ptr_null(tnf_context_device(c, 0, 1));
	ck_assert_str_eq(tnf_context_symbol(c, 0x10)->name, "a");
	ck_assert_str_eq(tnf_context_symbol(c, 0x1f)->name, "a");
	ck_assert_str_eq(tnf_context_symbol(c, 0x30)->name, "b");
	ck_assert(tnf_context_symbol(c, 0xf) == NULL && tnf_context_symbol(c, 0x20) == NULL);
	ck_assert_str_eq(tnf_context_object(c, 5, 0x10)->path, "/o");
	ck_assert_str_eq(tnf_context_object(c, 5, 0x3f)->path, "/q");
	ck_assert(tnf_context_object(c, 5, 0x20) == NULL && tnf_context_object(c, 5, 0x40) == NULL &&
	    tnf_context_object(c, 4, 0x10) == NULL && tnf_context_object(c, 6, 0x35) == NULL);
	ck_assert_int_eq(tnf_context_writer(c, 7)->tid, 7);
	ck_assert_ptr_null(tnf_context_writer(c, 6));
	tnf_context_close(c);
	c = parse("task 105 105 1 a\ninner 105 105 5 5\ninner 104 105 4 5\n");
	ck_assert_int_eq(tnf_context_writer(c, 5)->tid, 105);
	ck_assert(tnf_context_writer(c, 105) == NULL && tnf_context_writer(c, 4) == NULL);
	ck_assert(!tnf_context_wall(c, 0, &wall));
	tnf_context_close(c);
	tnf_context_close(NULL);
}
END_TEST

/* More rows than there is room for at first. */
START_TEST(many)
{
	char text[40 * 200] = "TNFCTX 1\n", *at = text + 9;
	tnf_context_t *c;
	size_t n;

	for (int i = 200; i > 0; i--)
		at += sprintf(at, "task %d 1 0 name%d\n", i, i);
	ck_assert_int_eq(tnf_context_parse(text, (size_t)(at - text), &c), 0);
	tnf_context_tasks(c, &n);
	ck_assert_uint_eq(n, 200);
	for (int i = 1; i <= 200; i++)
		ck_assert_int_eq(atoi(tnf_context_task(c, i)->comm + 4), i);
	tnf_context_close(c);
	/* All behind a NUL does not count; nor does what does not begin as a context does. */
	ck_assert_int_eq(tnf_context_parse("TNFCTX 1\nboot 1\n\0host 2\n", 24, &c), 0);
	ck_assert(tnf_context_fact(c, "boot") != NULL && tnf_context_fact(c, "host") == NULL);
	tnf_context_close(c);
	ck_assert_int_eq(tnf_context_parse("TNFCTX 1", 8, &c), TNF_ERR_BADTNF);
	ck_assert_int_eq(tnf_context_parse("TNFCTX 2\n", 9, &c), TNF_ERR_BADTNF);
}
END_TEST

static unsigned char file[SIZE];
static bool swapped;

static void
put32(size_t at, uint32_t v)
{
	v = swapped ? __builtin_bswap32(v) : v;
	memcpy(file + at, &v, sizeof v);
}

static void
put64(size_t at, uint64_t v)
{
	v = swapped ? __builtin_bswap64(v) : v;
	memcpy(file + at, &v, sizeof v);
}

#define EXT(member)	(TNF_EXT_OFFSET + offsetof(struct tnf_ext, member))
#define HEAD(member)	offsetof(struct tnf_file_header, member)

/* A cell; where the next one begins. */
static size_t
put_cell(size_t at, const char *line)
{
	put32(at, TNF_NAMES_CELL | (uint32_t)strlen(line));
	memcpy(file + at + 4, line, strlen(line));
	return at + (4 + strlen(line) + 7) / 8 * 8;
}

/* Two blocks of names, of which the second is the latest, and a context in the last one. */
static void
make(bool other_order)
{
	size_t at;

	swapped = other_order;
	memset(file, 0, sizeof file);
	put32(HEAD(magic), TNF_MAGIC);
	put32(HEAD(block_size), BLOCK);
	put32(EXT(magic), TNF_EXT_MAGIC);
	put32(EXT(version), TNF_EXT_VERSION);
	put32(EXT(size), sizeof(struct tnf_ext));
	put64(EXT(names), (uint64_t)(2 * BLOCK) << 32 | 2 << 16 | 300);
	put32(2 * BLOCK + 32, BLOCK);
	at = put_cell(BLOCK + TNF_NAMES_FIRST, "thread 5 4 1 first");
	at = put_cell(at + 8, "program 4 /p\nthread 4 4 1 four");	/* behind one not finished */
	put_cell(2 * BLOCK + TNF_NAMES_FIRST, "thread 5 4 1 last");
	put32(3 * BLOCK - 16, TNF_NAMES_CELL | 13);	/* goes beyond its block */
	memcpy(file + 3 * BLOCK, "TNFCTX 1\nhost me\n", 17);
}

START_TEST(names)
{
	char path[] = "/tmp/tnf-context.XXXXXX";
	tnf_context_t *c;
	int fd;

	make(_i & 1);
	if (_i & 2) {
		put64(EXT(extra_offset), 3 * BLOCK);
		put64(EXT(extra_size), 17);
	}
	ck_assert_int_eq(tnf_context_open_mem(file, sizeof file, &c), 0);
	ck_assert_str_eq(show(c), "task 4 4 1 four;task 5 4 1 last;");
	ck_assert_str_eq(tnf_context_program(c, 4, INT64_MAX), "/p");
	ck_assert((tnf_context_fact(c, "host") != NULL) == ((_i & 2) != 0));
	tnf_context_close(c);
	put_cell(3 * BLOCK - 16, "boot 1234567");	/* ends with it */
	fd = mkstemp(path);
	ck_assert_int_eq(write(fd, file, sizeof file), sizeof file);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(tnf_context_open(path, &c), 0);
	ck_assert_str_eq(show(c), "task 4 4 1 four;task 5 4 1 last;");
	ck_assert_str_eq(tnf_context_fact(c, "boot"), "1234567");
	tnf_context_close(c);
	ck_assert_int_eq(truncate(path, TNF_EXT_OFFSET + sizeof(struct tnf_ext) - 1), 0);
	ck_assert_int_eq(tnf_context_open(path, &c), TNF_ERR_NOTTNF);
	unlink(path);
	ck_assert_int_eq(tnf_context_open(path, &c), ENOENT);
	ck_assert_uint_eq(tnf_context_own_processes(file, sizeof file), 1);
	put_cell(BLOCK + TNF_NAMES_FIRST, "thread 5 5 1 first");
	ck_assert_uint_eq(tnf_context_own_processes(file, sizeof file), 2);
	ck_assert_uint_eq(tnf_context_own_processes(file, TNF_EXT_OFFSET), 0);
	memset(file, 0, sizeof file);
	ck_assert_int_eq(tnf_context_open_mem(file, sizeof file, &c), ENODATA);
}
END_TEST

/* One word of the file differs: is there a context, and how many threads does it have? */
static const struct { size_t at; uint32_t v; int error; size_t n; } words[] = {
	{ HEAD(magic), 1, TNF_ERR_NOTTNF, 0 },
	{ HEAD(block_size), 64, 0, 1 }, { HEAD(block_size), TNF_NAMES_FIRST + 7, ENODATA, 0 },
	{ HEAD(block_size), TNF_BLOCK_SIZE_MAX + 1, ENODATA, 0 }, { HEAD(block_size), 2 * BLOCK, 0, 1 },
	{ HEAD(block_size), BLOCK, 0, 2 },
	{ EXT(magic), 0, ENODATA, 0 },
	{ EXT(size), offsetof(struct tnf_ext, names) + 7, ENODATA, 0 }, { EXT(size), offsetof(struct tnf_ext, names) + 8, 0, 2 },
	{ 2 * BLOCK + 32, 0, 0, 1 }, { 2 * BLOCK + 32, BLOCK + 8, 0, 1 }, { 2 * BLOCK + 32, SIZE, 0, 1 },
	{ 2 * BLOCK + 32, 2 * BLOCK, 0, 1 }, { BLOCK + 32, 2 * BLOCK, 0, 2 },
	{ 2 * BLOCK + TNF_NAMES_FIRST, TNF_NAMES_CELL, 0, 2 }, { 2 * BLOCK + TNF_NAMES_FIRST, 5, 0, 2 },
	{ 2 * BLOCK + TNF_NAMES_FIRST, TNF_NAMES_CELL | (BLOCK - TNF_NAMES_FIRST - 4), 0, 2 },
	{ 2 * BLOCK + TNF_NAMES_FIRST, TNF_NAMES_CELL | (BLOCK - TNF_NAMES_FIRST - 3), 0, 2 },
};

START_TEST(damaged)
{
	tnf_context_t *c;
	size_t n = 0;

	for (int other = 0; other < 2; other++) {
		make(other);
		put32(words[_i].at, words[_i].v);
		ck_assert_int_eq(tnf_context_open_mem(file, sizeof file, &c), words[_i].error);
		if (words[_i].error != 0)
			continue;
		tnf_context_tasks(c, &n);
		ck_assert_uint_eq(n, words[_i].n);
		tnf_context_close(c);
	}
}
END_TEST

/* Places where the context is said to be. */
static const struct { uint64_t at, size; uint32_t version, incompatible, ext; int error; } places[] = {
	{ 3 * BLOCK, 17, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), 0 },
	{ 3 * BLOCK, BLOCK, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), 0 },
	{ 3 * BLOCK, BLOCK + 1, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ SIZE, 1, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ SIZE + 1, 1, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ UINT64_MAX, 17, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ 3 * BLOCK, 8, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ 2 * BLOCK, 17, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), TNF_ERR_BADTNF },
	{ 0, 17, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), ENODATA },
	{ 3 * BLOCK, 0, TNF_EXT_VERSION, 0, sizeof(struct tnf_ext), ENODATA },
	{ 3 * BLOCK, 17, TNF_EXT_VERSION + 1, 0, sizeof(struct tnf_ext), ENODATA },
	{ 3 * BLOCK, 17, TNF_EXT_VERSION, 1, sizeof(struct tnf_ext), ENODATA },
	{ 3 * BLOCK, 17, TNF_EXT_VERSION, 0, offsetof(struct tnf_ext, cookie), 0 },
	{ 3 * BLOCK, 17, TNF_EXT_VERSION, 0, offsetof(struct tnf_ext, cookie) - 1, ENODATA },
};

START_TEST(located)
{
	tnf_context_t *c;

	for (int other = 0; other < 2; other++) {
		make(other);
		put64(EXT(names), 0);
		put64(EXT(extra_offset), places[_i].at);
		put64(EXT(extra_size), places[_i].size);
		put32(EXT(version), places[_i].version);
		put32(EXT(incompatible), places[_i].incompatible);
		put32(EXT(size), places[_i].ext);
		ck_assert_int_eq(tnf_context_open_mem(file, sizeof file, &c), places[_i].error);
		if (places[_i].error == 0) {
			ck_assert_str_eq(tnf_context_fact(c, "host"), "me");
			tnf_context_close(c);
		}
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("context");
	TCase *t = tcase_create("context");

	tcase_add_loop_test(t, lines, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, finding);
	tcase_add_test(t, many);
	tcase_add_loop_test(t, names, 0, 4);
	tcase_add_loop_test(t, damaged, 0, sizeof words / sizeof *words);
	tcase_add_loop_test(t, located, 0, sizeof places / sizeof *places);
	suite_add_tcase(s, t);
	return check_run(s);
}
