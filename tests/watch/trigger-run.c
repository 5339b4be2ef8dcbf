/*
 * trigger-run.c - what fires on a recorded file.
 *
 * Usage: trigger-run FILE WHEN...
 * A line each time: number of the WHEN, time, reason.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <tnf/stream.h>

#include "tnfwatch/trigger.h"

static void
on_fired(void *arg, const struct trigger_firing *f)
{
	printf("%u %lld %s\n", f->trigger, (long long)f->time, f->reason);
}

int
main(int argc, char **argv)
{
	struct trigger_engine *engine = trigger_engine_new(on_fired, NULL);
	struct trigger_source *source;
	struct trigger_error err;
	struct tnf_event ev = { 0 };
	tnf_stream_t *stream;

	for (int i = 2; i < argc; i++)
		if (trigger_add(engine, argv[i], argv[i], &err) < 0) {
			fprintf(stderr, "%s\n%*s^ %s\n", argv[i], (int)err.offset, "", err.text);
			return 2;
		}
	source = trigger_source_open(engine, NULL, argv[1], 0, true, NULL);
	if (tnf_stream_new(&stream) != 0 || tnf_stream_add(stream, argv[1], NULL) != 0) {
		fprintf(stderr, "%s: no trace\n", argv[1]);
		return 2;
	}
	while (tnf_stream_next(stream, &ev) == 1)
		trigger_event(source, &ev);
	trigger_tick(engine, ev.time + INT64_C(3600000000000));
	trigger_engine_free(engine);
	tnf_stream_close(stream);
	return 0;
}
