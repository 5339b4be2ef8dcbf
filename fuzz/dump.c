/*
 * dump.c - fuzzes tnfdump in all its modes.
 *
 * The first byte chooses the mode, the second one flags; the rest is a trace
 * file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *option, *arg;
} modes[] = {
	{ "to", "text" }, { "raw", NULL }, { "to", "jsonl" }, { "to", "csv" },
	{ "to", "chrome" }, { "to", "perfetto" }, { "to", "ctf" },
	{ "to", "folded" }, { "to", "tnf" }, { "stats", NULL },
	{ "stats", "probe,keys,a" }, { "states", NULL }, { "tree", NULL },
	{ "info", NULL }, { "info", "json" }, { "template", "/dev/null" },
};

static char dir[] = "/tmp/tnf-fuzz-dump.XXXXXX";

static void
clean_up(void)
{
	static const char *const names[] = { "stream", "metadata", "slice" };
	size_t i;

	for (i = 0; chdir(dir) == 0 && i < 3; i++)
		unlink(names[i]);
	rmdir(dir);
}

static void
choose(struct dump *d, unsigned mode, unsigned flags)
{
	static char slice[sizeof dir + 8];

	if (slice[0] == '\0') {
		if (mkdtemp(dir) == NULL || atexit(clean_up) != 0)
			abort();
		sprintf(slice, "%s/slice", dir);
	}
	mode %= sizeof modes / sizeof *modes;
	dump_option(d, modes[mode].option, modes[mode].arg);
	if (d->output == output_find("tnf"))
		d->path = slice;
	if (d->output == output_find("ctf"))
		d->path = dir;
	d->escape = flags & 1;
	d->hex = flags & 2;
	d->salvage = flags & 4;
	d->pretty = flags & 8;
	d->histogram = flags & 16;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dump d = { .output = &outputs[0] };

	if (size < 3)
		return 0;
	choose(&d, data[0], data[1]);
	dump_run(&d, data + 2, size - 2);
	return 0;
}
