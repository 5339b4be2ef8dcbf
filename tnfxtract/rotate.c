/*
 * rotate.c - --rotate-time, --rotate-size, --keep.
 *
 * Copies overlap, since each has all that the ring has; tnfdump reads what two of them
 * have once.  So nothing is missing as long as a copy is made before the ring comes around.
 */
#include <sys/wait.h>

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/core.h"
#include "tnfxtract/source.h"

#define LOOK_MS	100

static volatile sig_atomic_t ended;

static void
rotate_on_signal(int sig)
{
	ended = 1;
}

bool
rotate_number(const char *text, uint64_t max, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *unit;
	uint64_t v;
	char *end;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno != 0 || v > max)
		return false;
	if (*end != '\0' && (unit = strchr(units, *end)) != NULL) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);
		if (v > max >> shift)
			return false;
		v <<= shift;
		end++;
	}
	*ret = v;
	return *end == '\0';
}

/* The number of the latest FILE.n that is there; 0: none. */
static unsigned long
latest(const char *file)
{
	char pattern[4096];
	unsigned long n, most = 0;
	glob_t found;
	char *end;

	if ((size_t)snprintf(pattern, sizeof pattern, "%s.[1-9]*", file) >= sizeof pattern ||
	    glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		n = strtoul(found.gl_pathv[i] + strlen(file) + 1, &end, 10);
		if (*end == '\0' && n > most)
			most = n;
	}
	globfree(&found);
	return most;
}

/* The number of blocks that the kernel has taken so far: the newest block has it. */
static uint32_t
blocks_taken(const struct source *s, uint32_t block_size)
{
	uint32_t most = 0, generation;

	for (size_t at = block_size; at + block_size <= s->size; at += block_size) {
		const struct tnf_block_header *h = (const void *)((const char *)s->base + at);
		generation = __atomic_load_n(&h->generation, __ATOMIC_RELAXED);
		if (generation <= TNF_GENERATION_AGES && generation > most)
			most = generation;
	}
	return most;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits until the next copy is due, or a signal has come. */
static void
wait_for_due(const struct rotation *r, const struct source *s)
{
	uint32_t block_size = ((const struct tnf_file_header *)s->base)->block_size, from = 0;
	double end = now() + r->seconds;

	if (block_size < sizeof(struct tnf_block_header))
		return;
	if (r->bytes != 0)
		from = blocks_taken(s, block_size);
	while (!ended && (r->seconds == 0 || now() < end)) {
		usleep(LOOK_MS * 1000);
		if (r->bytes != 0 && (uint64_t)(blocks_taken(s, block_size) - from) * block_size >= r->bytes)
			return;
	}
}

static int
rotate_once(const char *file, unsigned long n, int (*copy)(void *arg, const char *file), void *arg)
{
	char name[4096];
	int status;
	pid_t pid;

	if ((size_t)snprintf(name, sizeof name, "%s.%lu", file, n) >= sizeof name) {
		complain("%s: the name is too long", file);
		return 1;
	}
	fflush(NULL);
	if ((pid = fork()) < 0) {
		complain("no process for a copy: %s", strerror(errno));
		return 1;
	}
	if (pid == 0) {
		setpgid(0, 0);	/* an interrupt from the terminal is for us, not for a copy */
		exit(copy(arg, name));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
rotate(const struct rotation *r, const char *file, int (*copy)(void *arg, const char *file), void *arg)
{
	struct sigaction sa = { .sa_handler = rotate_on_signal };
	unsigned long n = latest(file);
	char old[4096];
	struct source s;
	int status = 0;

	if (!source_open_kernel(&s)) {
		source_close(&s);
		return 1;
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (status == 0) {
		wait_for_due(r, &s);
		status = rotate_once(file, ++n, copy, arg);
		if (status == 0 && n > r->keep &&
		    (size_t)snprintf(old, sizeof old, "%s.%lu", file, n - r->keep) < sizeof old)
			unlink(old);
		if (ended)
			break;
	}
	source_close(&s);
	return status;
}
