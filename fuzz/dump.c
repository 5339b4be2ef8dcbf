/*
 * dump.c - fuzzes tnfdump in all its modes.
 *
 * The first byte chooses the mode, the second one flags; the rest is a trace
 * file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tnfdump/report/report.h"

#include "fuzz/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPTIONS_MAX	4

/* Every statement, every format and the kernel's own members. */
static const char template[] =
    "@part { \"[{$n:6D}]\" }\n"
    "syscall_start L=KERN \"call\" { \"{sysnum:N}\" starttimer (lwpid) }\n"
    "syscall_end L=INT \"\" { if (errno != 0) { \"{errno:E}\" } else if (rval2) {\n"
    "	\"{rval2:X}\" } else { \"= {rval1:U} {{\\n\" } endtimer (lwpid) }\n"
    "thread_block { for $pc in (stack) { \" {$pc:Y}\" } \"{reason:-9O}\" }\n"
    "strategy L=SVC { \"{device:M} {size:Z} {time:T}\" bits (flags) {\n"
    "	0x40 \"read\" \"not\" 0x100 \"write\" } starttimer (buf) }\n"
    "biodone { switch (block) { 1, 2 { \"few\" } default { \"{block:B}\" } }\n"
    "	endtimer (buf) }\n"
    "anon_* { skip }\n"
    "p?ain L=APPL { use @part }\n"
    "default { let $n = $n + 1; use @part \"{probe:-20S} {elapsed:F} {comm}\" }\n";

static char template_path[32];

static const struct {
	const char *name, *arg;
} modes[][OPTIONS_MAX] = {
	{ { "to", "text" } },
	{ { "raw", NULL } },
	{ { "to", "jsonl" } },
	{ { "to", "csv" } },
	{ { "to", "chrome" } },
	{ { "to", "perfetto" } },
	{ { "to", "ctf" } },
	{ { "to", "folded" } },
	{ { "to", "pprof" } },
	{ { "to", "tnf" } },
	{ { "stats", NULL } },
	{ { "stats", "probe,keys,a" } },
	{ { "states", NULL } },
	{ { "tree", NULL } },
	{ { "info", NULL } },
	{ { "info", "json" } },
	{ { "template", "/dev/null" } },
	/* New modes go to the end: seeds name their mode by its number. */
	{ { "template", template_path } },
	{ { "diff", NULL } },
	{ { "stats", "comm,cpu,errno,stack[0],arg.s" }, { "pair", "plain,all,i" },
	    { "pair", "thread_create,thread_exit" } },
	{ { "to", "chrome" }, { "pair", "plain,all" } },
	{ { "tree", NULL }, { "pair", "plain,all,s,p" } },
	{ { "where", "comm =~ /^s/ or errno == \"ENOENT\" or stack[1] > 3 or "
	    "has sysnum and cpu in (0, 1) or p.x < d or s != key" } },
	{ { "to", "otlp" } },
	{ { "to", "otlp-pb" } },
	{ { "to", "otlp-logs-pb" } },
	{ { "why", NULL } },
	{ { "why", "json" } },
	{ { "why", NULL }, { "to", "folded" } },
	{ { "why-slow", NULL }, { "pair", "plain,all,i" } },
	{ { "stats", "probe,arg.s" }, { "normalize", NULL } },
	{ { "where", "duration > 1us or within(syscall, errno == 2) or arg.tid == 'x'" } },
	{ { "calls", NULL } },
};

static char dir[] = "/tmp/tnf-fuzz-dump.XXXXXX";
static char slice[sizeof dir + 8];

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
start(void)
{
	int fd = memfd_create("template", MFD_CLOEXEC);
	size_t n = sizeof template - 1;

	if (mkdtemp(dir) == NULL || atexit(clean_up) != 0 ||
	    fd < 0 || write(fd, template, n) != (ssize_t)n)
		abort();
	sprintf(slice, "%s/slice", dir);
	sprintf(template_path, "/proc/self/fd/%d", fd);
}

static void
choose(struct dump *d, unsigned mode, unsigned flags)
{
	unsigned i;

	mode %= sizeof modes / sizeof *modes;
	for (i = 0; i < OPTIONS_MAX && modes[mode][i].name != NULL; i++)
		if (!dump_option(d, modes[mode][i].name, modes[mode][i].arg))
			abort();
	if (why_choose(d) != 0)
		abort();
	if (d->output == output_find("tnf"))
		d->path = slice;
	if (d->output == output_find("ctf"))
		d->path = dir;
	d->out.escape = flags & 1;
	d->hex = flags & 2;
	d->salvage = flags & 4;
	d->pretty = flags & 8;
	d->histogram = flags & 16;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dump d = { .output = &outputs[0] };

	if (slice[0] == '\0')
		start();
	if (size < 3)
		return 0;
	choose(&d, data[0], data[1]);
	dump_run(&d, data + 2, size - 2);
	dump_done(&d);
	return 0;
}
