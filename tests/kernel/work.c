/*
 * work.c - does something that the kernel's probes see, and says what.
 *
 *	work syscalls N		N times getppid, close(-1)
 *	work calls32 N		N times getppid, a futex that times out, of the 32-bit table
 *	work direct32 N DEVICE	unbuffered transfers by calls of that table
 *	work waits N		N times each: poll, select, msgrcv, semop, vfork
 *	work threads N		N threads and N children, one after another
 *	work execs N		N children that run true by a second thread
 *	work pipe N		N bytes from one process to another and back
 *	work mutex N [inherit]	N rounds of three threads that want one mutex; their priority
 *				is that of the thread that has it
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
 *	work burn MS		so long on a CPU, in one function
 *	work maps N		two threads that want their process' memory map, until one has
 *				waited N times
 *	work wake-pipe N	N bytes to a process on another CPU and back
 *	work wake-tcp N		the same by a connection of this machine
 *	work wake-sleep N	N times 1 ms
 *	work wake-disk N DEVICE	N unbuffered reads of a page
 *	work mixed SECONDS FILE	much of the above at once, each thread between two marks
 *
 * Lines on standard output: a word and numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kernel/work.h"

static const struct work *const works[] = { work_tasks, work_pages, work_io, work_wake, work_mixed };

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof works / sizeof *works; i++)
		for (const struct work *w = works[i]; w->name != NULL; w++)
			if (strcmp(argv[1], w->name) == 0) {
				printf("pid %d\n", (int)getpid());
				w->run(atol(argv[2]), argv + 3);
				return 0;
			}
	fprintf(stderr, "usage: work NAME N [ARG]\n");
	return 2;
}
