/*
 * mktrace.c - writes a large trace file, for benchmarks and tests.
 *
 * Usage: mktrace [-BNkP] [-b block-size] [-n events] [-t threads] [-p probe] file
 *   -B big-endian, -N 32-bit writer, -k kernel schedule records
 *   -P each thread is a process of its own, and all of their numbers are equal
 *      where a hash is likely to look: pid ^ lwpid is 0, tid ends in 18 zeros
 *   -p none | ints | string (two ints and "hello"; default)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/reader/mkfile.h"

#define THREADS_MAX	1000000

struct job {
	struct mk_opts	o;
	uint64_t	events;
	unsigned	threads;
	bool		processes;
	const char	*probe;
};

static void
usage(void)
{
	fprintf(stderr, "usage: mktrace [-BNkP] [-b block-size] [-n events] "
	    "[-t threads] [-p none|ints|string] file\n");
	exit(2);
}

static struct job
parse(int argc, char **argv)
{
	struct job j = { .events = 1000000, .threads = 1, .probe = "string" };
	int c;

	while ((c = getopt(argc, argv, "BNkPb:n:t:p:")) != -1)
		switch (c) {
		case 'B':
			j.o.big = true;
			break;
		case 'N':
			j.o.narrow = true;
			break;
		case 'k':
			j.o.kernel = true;
			break;
		case 'P':
			j.processes = true;
			break;
		case 'b':
			j.o.block_size = (uint32_t)atoi(optarg);
			break;
		case 'n':
			j.events = strtoull(optarg, NULL, 0);
			break;
		case 't':
			j.threads = (unsigned)atoi(optarg);
			break;
		case 'p':
			j.probe = optarg;
			break;
		default:
			usage();
		}
	if (optind != argc - 1 || j.threads == 0 || j.threads > THREADS_MAX)
		usage();
	return j;
}

/* Blocks that suffice for the events of the job. */
static uint32_t
blocks_for(const struct job *j, uint32_t size)
{
	uint32_t event = strcmp(j->probe, "none") == 0 ? 8 :
	    strcmp(j->probe, "ints") == 0 ? 16 : 40;
	uint32_t in_block = (size - 24 - 112 - event) / event;

	return (uint32_t)(j->events / in_block) + j->threads + 1;
}

static struct mk_thread *
make_threads(const struct job *j)
{
	struct mk_thread *threads = calloc(j->threads, sizeof(*threads));

	for (unsigned i = 0; threads != NULL && i < j->threads; i++)
		threads[i] = (struct mk_thread){
		    .pid = j->processes ? (int32_t)i + 1 : 4711, .lwpid = i + 1,
		    .tid = j->processes ? (uint64_t)(i + 1) << 18 : i + 1,
		    .cpu = (int)i % 64 };
	return threads;
}

/* A process writes once before the next one does: 100,000 of them are many. */
static bool
write_events(struct mk *m, struct mk_thread *threads, const struct job *j)
{
	static const char attrs[] = "keys bench io;file mktrace.c;line 1;";
	unsigned none = mk_probe(m, "work_none", attrs, "");
	unsigned ints = mk_probe(m, "work_ints", attrs,
	    "a:tnf_int32 b:tnf_int32");
	unsigned string = mk_probe(m, "work_string", attrs,
	    "a:tnf_int32 b:tnf_int32 s:tnf_string");
	int64_t time = 1000000000000, n;
	struct mk_thread *t;
	bool ok = true;

	for (n = 0; ok && n < (int64_t)j->events; n++) {
		t = &threads[n / (j->processes ? 1 : 7) % j->threads];
		time += 100 + n % 50;
		if (j->probe[0] == 'n')
			ok = mk_event(m, t, none, time);
		else if (j->probe[0] == 'i')
			ok = mk_event(m, t, ints, time, n, n * 3);
		else
			ok = mk_event(m, t, string, time, n, n * 3, "hello");
	}
	return ok;
}

int
main(int argc, char **argv)
{
	struct job j = parse(argc, argv);
	struct mk_thread *threads = make_threads(&j);
	struct mk *m;
	bool ok;

	if (j.o.block_size == 0)
		j.o.block_size = 512;
	j.o.data_blocks = blocks_for(&j, j.o.block_size);
	m = mk_new(&j.o);
	ok = threads != NULL && write_events(m, threads, &j);
	if (!ok)
		fprintf(stderr, "mktrace: too many events for the file\n");
	else if (!(ok = mk_save(m, argv[argc - 1])))
		perror(argv[argc - 1]);
	mk_free(m);
	free(threads);
	return ok ? 0 : 1;
}
