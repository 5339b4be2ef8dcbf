/*
 * spans.c - threads that hit probes while they are in spans, for spans.sh.
 *
 * usage: spans [LIBRARY]	without LINKED: the library, which is loaded late, has the
 *				functions of <tnf/otel.h>; a word behind it: it is not loaded
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/otel.h>
#include <tnf/probe.h>
#include <tnf/runtime.h>

static __typeof__(&tnf_otel_set) set;
static __typeof__(&tnf_otel_parse) parse;

#define TRACE	"0af7651916cd43dd8448eb211c80319c"

static struct tnf_otel_span
span_of(unsigned n)
{
	struct tnf_otel_span s;
	char text[64];

	snprintf(text, sizeof(text), "00-" TRACE "-%016x-01", n);
	if (!parse(text, &s))
		abort();
	return s;
}

static void
hit(int n)
{
	TNF_PROBE_1(hit, "test", "", tnf_int, n, n);
}

/* In each of its spans, hits that fill some blocks. */
static void *
worker(void *arg)
{
	unsigned first = (unsigned)(size_t)arg;
	struct tnf_otel_span s;

	set(NULL);	/* from here on the thread has the variable */
	hit(0);
	for (unsigned i = first; i < first + 3; i++) {
		s = span_of(i);
		set(&s);
		for (int k = 0; k < 100; k++)
			hit((int)i);
		set(NULL);
		hit(0);
	}
	return NULL;
}

static void
nested(int sig)
{
	hit(-1);
}

/* A span that began before the first hit, and another one for a signal handler. */
static void
single(void)
{
	struct tnf_otel_span s = span_of(0x100), t = span_of(0x101);

	set(&s);
	hit(0x100);
	set(&t);
	raise(SIGUSR1);
	hit(0x101);
	set(&s);
	TNF_PROBE_1(long_text, "test", "", tnf_string, text, "some text");
	hit(0x100);
	set(NULL);
}

int
main(int argc, char **argv)
{
	const struct tnf_probe_argument_type arg = { "n", TNF_ARG_INT32 };
	pthread_t threads[4];
#ifndef LINKED
	void *library;
#endif

#ifdef LINKED
	set = tnf_otel_set;
	parse = tnf_otel_parse;
#else
	if (argc == 3) {	/* the library is not loaded */
		hit(0);
		return 0;
	}
	if (argc != 2 || (library = dlopen(argv[1], RTLD_NOW)) == NULL)
		return fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: spans LIBRARY"), 1;
	*(void **)&set = dlsym(library, "tnf_otel_set");
	*(void **)&parse = dlsym(library, "tnf_otel_parse");
	if (set == NULL || parse == NULL)
		return fprintf(stderr, "%s\n", dlerror()), 1;
#endif
	/* A program that loads an SDK late defines probes after that. */
	tnf_probe_define("late", "test", NULL, 1, &arg);
	signal(SIGUSR1, nested);
	single();
	for (unsigned i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)(size_t)(i * 16 + 1)) != 0)
			return 1;
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
