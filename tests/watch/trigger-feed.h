/*
 * trigger-feed.h - streams made for the engine of triggers, and what fired on them.
 */
#ifndef TESTS_WATCH_TRIGGER_FEED_H
#define TESTS_WATCH_TRIGGER_FEED_H

#include <stdio.h>
#include <stdlib.h>

#include <tnf/stream.h>

#include "analysis/pretty-names.h"
#include "tests/check-run.h"
#include "tests/reader/mkfile.h"
#include "tnfwatch/trigger.h"

#define MS		INT64_C(1000000)
#define S		(1000 * MS)
#define FIRED_MAX	64

static struct mk *m;
static tnf_stream_t *stream;
static struct trigger_engine *engine;
static struct trigger_source *source;
static unsigned fired;
static struct { int64_t time; char reason[200]; int32_t pid; char probe[32]; } log_[FIRED_MAX];

static void
on_fired(void *arg, const struct trigger_firing *f)
{
	if (arg != &fired)
		abort();	/* an assertion writes to a pipe each time */
	if (fired < FIRED_MAX) {
		log_[fired].time = f->time;
		snprintf(log_[fired].reason, sizeof(log_[0].reason), "%s", f->reason);
		log_[fired].pid = f->event != NULL ? f->event->pid : -1;
		snprintf(log_[fired].probe, sizeof(log_[0].probe), "%s",
		    f->event != NULL ? f->event->probe->name : "");
	}
	fired++;
}

static const char *
comm_of(void *client, const struct tnf_event *ev)
{
	return ev->pid == 812 ? "redis-server" : ev->pid == 666 ? "evil\033[2J\n" : NULL;
}

static const struct trigger_source_ops ops = { .comm = comm_of };

static void
setup(void)
{
	fired = 0;
	engine = trigger_engine_new(on_fired, &fired);
}

static void
teardown(void)
{
	trigger_engine_free(engine);
	engine = NULL;
	tnf_stream_close(stream);
	stream = NULL;
	pretty_machine_set(NULL);
	if (m != NULL)
		mk_free(m);
	m = NULL;
}

static void
when(const char *text)
{
	struct trigger_error err = { 0 };

	ck_assert_msg(trigger_add(engine, "t", text, &err) >= 0, "%s: %zu: %s", text,
	    err.offset, err.text);
}

static void
begin(bool kernel)
{
	m = mk_new(&(struct mk_opts){ .block_size = 4096, .data_blocks = 512,
	    .kernel = kernel });
	mk_derived_type(m, "tnf_sysnum", "tnf_int16");
	mk_derived_type(m, "tnf_microstate", "tnf_int32");
	source = trigger_source_open(engine, &source, "shop", 4242, kernel, &ops);
}

/* All that was made, into the engine; no tick. */
static void
feed(void)
{
	struct tnf_event ev;
	size_t size;
	unsigned char *bytes = mk_bytes(m, &size);

	ck_assert_int_eq(tnf_stream_new(&stream), 0);
	ck_assert_int_eq(tnf_stream_add_mem(stream, bytes, size, "made", NULL), 0);
	while (tnf_stream_next(stream, &ev) == 1)
		trigger_event(source, &ev);
}

__attribute__((unused))
static void
ticks(int64_t from, int64_t to)
{
	for (; from <= to; from += 100 * MS)
		trigger_tick(engine, from);
}

#endif /* TESTS_WATCH_TRIGGER_FEED_H */
