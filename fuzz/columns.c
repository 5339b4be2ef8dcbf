/*
 * columns.c - fuzzes tnfdump's filters, then its columns.
 *
 * These options are for the life of a process; so all are set at once, and the
 * filters so that they keep whatever they can be made to look at.  The first
 * byte holds flags; the rest is a trace file.
 */
#include <stdlib.h>

#include "fuzz/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *name, *arg;
} options[] = {
	{ "columns", "elapsed,delta,delta-thread,delta-probe,wall,utc,mono,pid,"
	    "lwpid,tid,cpu,comm,probe,keys,src,args" },
	{ "color", "always" },
	{ "process", "*,0-6000" },
	{ "probe", "*" },
	{ "key", "*" },
	{ "tid", "0-18446744073709551615" },
	{ "from", "0.5us" },
	{ "until", "20h" },
	{ "last", "30h" },
	{ "where", "comm == \"sh\" or pid >= 0" },
};

static void
ask(struct dump *d)
{
	size_t i;

	d->output = &outputs[0];
	for (i = 0; i < sizeof options / sizeof *options; i++)
		if (!dump_option(d, options[i].name, options[i].arg))
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dump asked;
	struct dump d;

	if (asked.output == NULL)
		ask(&asked);
	if (size < 2)
		return 0;
	d = asked;
	d.out.escape = data[0] & 1;
	d.hex = data[0] & 2;
	d.salvage = data[0] & 4;
	d.pretty = data[0] & 8;
	dump_run(&d, data + 1, size - 1);
	return 0;
}
