/*
 * odd.c - makes well-formed traces that nobody would write.
 *
 * Usage: odd KIND FILE
 */
#include <stdio.h>
#include <string.h>

#include "tests/reader/mkfile.h"

static struct mk_thread thread = { .pid = 7, .lwpid = 7, .tid = 7 };

/* A back reference of 'n' bytes. */
static uint32_t
back(uint32_t n)
{
	return -n & 0x7ffffffc;
}

/* An attribute that is longer than any line of a source. */
static bool
line(struct mk *m)
{
	char attrs[1024], number[801];
	unsigned p;

	memset(number, '1', sizeof number - 1);
	number[sizeof number - 1] = '\0';
	snprintf(attrs, sizeof attrs, "keys a;file f.c;line %s;", number);
	p = mk_probe(m, "line", attrs, "");
	return mk_event(m, &thread, p, 1000);
}

/* Names that are not UTF-8, and that a terminal would act on. */
static bool
names(struct mk *m)
{
	unsigned p = mk_probe(m, "na\377me", "keys k\377y;file f\033.c;line 1;",
	    "in\377t:tnf_int32 e\033sc:tnf_string");

	return mk_event(m, &thread, p, 1000, (int64_t)5, "va\377lue") &&
	    mk_event(m, &thread, p, 2000, (int64_t)6, "\033[2J\n");
}

/* A record all of whose members are itself. */
static bool
circle(struct mk *m)
{
	unsigned p, i;
	uint32_t at;

	mk_record_type(m, "circle", "a:circle b:circle c:circle d:circle");
	p = mk_probe(m, "circle_of", "keys a;file f.c;line 1;", "c:circle");
	if (!mk_event(m, &thread, p, 1000, (int64_t)0))
		return false;
	at = mk_record(m, &thread, "circle", (int64_t)0, (int64_t)0,
	    (int64_t)0, (int64_t)0);
	for (i = 4; i <= 16; i += 4)
		mk_put32(m, at + i, back(i));
	return at != 0 && mk_event(m, &thread, p, 2000, (int64_t)at);
}

/* A list longer than a page is wide, and a record that an event is not. */
static bool
list(struct mk *m)
{
	unsigned p, q, i;
	uint32_t at = 0;

	mk_record_type(m, "node", "next:node v:tnf_int32");
	mk_record_type(m, "span", "a:tnf_int32 time_delta:tnf_uint32 b:tnf_int32");
	p = mk_probe(m, "list_of", "keys a;file f.c;line 1;", "n:node");
	q = mk_probe(m, "span_of", "keys a;file f.c;line 2;", "s:span");
	if (!mk_event(m, &thread, p, 1000, (int64_t)0))
		return false;
	for (i = 0; i < 20; i++)
		at = mk_record(m, &thread, "node", (int64_t)at, (int64_t)i);
	if (at == 0 || !mk_event(m, &thread, p, 2000, (int64_t)at))
		return false;
	at = mk_record(m, &thread, "span", (int64_t)1, (int64_t)2, (int64_t)3);
	return at != 0 && mk_event(m, &thread, q, 3000, (int64_t)at);
}

/* An array of arrays of its own type, all of them itself. */
static bool
array(struct mk *m)
{
	uint32_t type = mk_type_pos(m, "tnf_symbols"), at, i;
	unsigned p;

	mk_put32(m, type + 20, 0x80000000 | type);
	mk_record_type(m, "room", "a:tnf_int32 b:tnf_int32 c:tnf_int32 d:tnf_int32");
	p = mk_probe(m, "array_of", "keys a;file f.c;line 1;", "s:tnf_symbols");
	if (!mk_event(m, &thread, p, 1000, (int64_t)0))
		return false;
	at = mk_record(m, &thread, "room", (int64_t)20, (int64_t)0, (int64_t)0,
	    (int64_t)0);
	mk_put32(m, at, 0x80000002 | type);
	for (i = 8; i <= 16; i += 4)
		mk_put32(m, at + i, back(i));
	return at != 0 && mk_event(m, &thread, p, 2000, (int64_t)at);
}

/* An array of strings where an array of symbols might be. */
static bool
strings(struct mk *m)
{
	uint32_t type = mk_type_pos(m, "tnf_symbols"), at;
	unsigned p;

	mk_put32(m, type + 20, 0x80000000 | mk_type_pos(m, "tnf_string"));
	mk_record_type(m, "room", "a:tnf_int32 b:tnf_int32");
	p = mk_probe(m, "strings", "keys a;file f.c;line 1;",
	    "s:tnf_symbols t:tnf_string");
	at = mk_event(m, &thread, p, 1000, (int64_t)0, "text") ?
	    mk_record(m, &thread, "room", (int64_t)12, (int64_t)0) : 0;
	if (at == 0 || !mk_event(m, &thread, p, 2000, (int64_t)at, "text"))
		return false;
	mk_put32(m, at, 0x80000002 | type);
	/* The second event's string is the last thing in the file. */
	mk_put32(m, at + 8, mk_last_event(m) + 16 - (at + 8));
	return true;
}

/* Records that together are larger than a page; only a file with large blocks
   can have them in one. */
static bool
large(struct mk *m)
{
	int64_t at = 0;
	unsigned p, i;

	mk_record_type(m, "wide", "next:wide a:tnf_int64 b:tnf_int64 c:tnf_int64 "
	    "d:tnf_int64 e:tnf_int64 f:tnf_int64 g:tnf_int64 h:tnf_int64 "
	    "i:tnf_int64 j:tnf_int64 k:tnf_int64 l:tnf_int64");
	p = mk_probe(m, "large", "keys a;file f.c;line 1;", "w:wide s:tnf_string");
	/* Its block and schedule. */
	if (!mk_event(m, &thread, p, 1000, (int64_t)0, "first"))
		return false;
	for (i = 0; i < 60; i++)
		at = mk_record(m, &thread, "wide", at, (int64_t)i, (int64_t)0,
		    (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0,
		    (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, -(int64_t)i);
	return at != 0 && mk_event(m, &thread, p, 2000, at, "second") &&
	    mk_event(m, &thread, p, 3000, at, "third");
}

/* Fifteen records that lead to the last by 16,384 ways; 200 events show all. */
static bool
graph(struct mk *m)
{
	int64_t at = 0;
	unsigned p, i;

	mk_record_type(m, "fork", "a:fork b:fork");
	p = mk_probe(m, "graph_of", "keys a;file f.c;line 1;", "f:fork");
	if (!mk_event(m, &thread, p, 1000, (int64_t)0))
		return false;
	for (i = 0; i < 15; i++)
		at = mk_record(m, &thread, "fork", at, at);
	for (i = 0; at != 0 && i < 200; i++)
		if (!mk_event(m, &thread, p, 2000 + i, at))
			return false;
	return at != 0;
}

/* Times at both ends of the clock. */
static bool
times(struct mk *m)
{
	unsigned p = mk_probe(m, "t_start", "keys a;file f.c;line 1;", "");
	unsigned q = mk_probe(m, "t_end", "keys a;file f.c;line 2;", "");

	return mk_event(m, &thread, p, INT64_MIN + 5) &&
	    mk_event(m, &thread, q, -3) && mk_event(m, &thread, p, 0) &&
	    mk_event(m, &thread, q, INT64_MAX - 5);
}

static const struct {
	const char *name;
	bool	  (*make)(struct mk *);
} kinds[] = {
	{ "line", line }, { "names", names }, { "circle", circle }, { "list", list },
	{ "array", array }, { "large", large }, { "graph", graph }, { "strings", strings }, { "times", times },
};

int
main(int argc, char **argv)
{
	struct mk_opts o = { .block_size = argc == 3 &&
	    strcmp(argv[1], "large") == 0 ? 32768 : 4096, .data_blocks = 4 };
	struct mk *m = mk_new(&o);
	bool ok = false;
	size_t i;

	for (i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			ok = kinds[i].make(m) && mk_save(m, argv[2]);
	mk_free(m);
	return ok ? 0 : 2;
}
