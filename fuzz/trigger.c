/*
 * trigger.c - fuzzes the text of a trigger: understand it, feed a few events.
 *
 * A trigger that was accepted must bear events in any order of time, ticks, losses and ends.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tnfwatch/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tnf_probe probes[] = {
	{ .name = "order_start", .keys = "k", .id = 0 },
	{ .name = "order_end", .keys = "", .id = 1 },
	{ .name = "thread_state", .keys = "thread", .id = 2 },
	{ .name = "thread_exit", .keys = "thread", .id = 3 },
	{ .name = "req_in", .keys = "k", .id = 4 },
	{ .name = "req_out", .keys = "k", .id = 5 },
};

static void
on_fired(void *arg, const struct trigger_firing *f)
{
	if (strlen(f->reason) > 255)
		abort();
}

static void
feed(struct trigger_engine *e, bool kernel)
{
	struct trigger_source *s = trigger_source_open(e, NULL, "s", 7, kernel, NULL);
	struct tnf_event ev = { .pid = 7, .cpu = 0, .kernel = kernel };

	trigger_expect(s, "order_end", 1);
	for (unsigned i = 0; i < 60; i++) {
		ev.probe = &probes[(i * 7 + i / 6) % 6];
		ev.lwpid = 1 + i % 2;
		ev.tid = 100 + i % 3;
		ev.time = i == 50 ? INT64_MAX - 1 : i == 51 ? -5 : (int64_t)(i * 400000000);
		trigger_event(s, &ev);
		if (i % 20 == 19)
			trigger_lost(s, i);
		if (i % 15 == 14)
			trigger_tick(e, ev.time + 1000000000);
	}
	trigger_ended(e, s, "order", 7, 11, 5);
	trigger_source_close(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trigger_engine *e;
	struct trigger_error err = { SIZE_MAX, "" };
	char *text;

	if (size > 4096 || (text = calloc(size + 1, 1)) == NULL)
		return 0;
	memcpy(text, data, size);
	e = trigger_engine_new(on_fired, NULL);
	if (trigger_add(e, "t", text, &err) >= 0) {
		feed(e, false);
		feed(e, true);
		trigger_ended(e, NULL, NULL, 9, -1, 6);
	} else if (err.offset > strlen(text) || err.text[0] == '\0') {
		abort();
	}
	trigger_engine_free(e);
	free(text);
	return 0;
}
