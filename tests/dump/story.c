/*
 * story.c - makes a trace from lines on standard input.
 *
 * Usage: story FILE < LINES
 *
 *	kernel				events have CPUs; first line, if at all
 *	blocks N			of data, 4096 bytes each; before all probes
 *	wrap				the oldest block is written over
 *	process PID | kernel-part	an extension of that kind
 *	boot N				of its boot id, each byte
 *	begun TIME			when the buffer was made
 *	lost REASON N			its counter
 *	cursor N			blocks that have been taken
 *	type NAME BASE			before the probes that have it
 *	probe NAME KEYS [SLOT:TYPE ...]
 *	TIME PID LWPID TID CPU NAME [VALUE ...]
 *	@LINE				a line of the context
 *
 * A value is a number; or text, of a probe whose first slot is a string and
 * whose others are numbers; or four addresses, of one whose slot is tnf_symbols
 * (of a thread that has had another event); or four words of bytes and how many these are, if
 * it is tnf_uint8_array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/com.h>

#include "tests/reader/mkfile.h"

#define MAX		64	/* probes */
#define THREADS_MAX	4096
#define VALUES		8	/* of an event, besides a text */

static struct mk_opts opts = { .block_size = 4096, .data_blocks = 16 };
static struct mk *mk;
static struct tnf_ext ext;
static struct mk_thread threads[THREADS_MAX];
static unsigned n_threads;
static struct { char name[64]; unsigned id; bool text; const char *array; } probes[MAX];
static unsigned n_probes;
static char context[65536];

static void
wrong(const char *line)
{
	fprintf(stderr, "story: %s\n", line);
	exit(2);
}

static struct mk *
maker(void)
{
	if (mk == NULL)
		mk = mk_new(&opts);
	return mk;
}

/* A thread's events on one CPU. */
static struct mk_thread *
writer(const struct mk_thread *t)
{
	for (unsigned i = 0; i < n_threads; i++)
		if (threads[i].pid == t->pid && threads[i].lwpid == t->lwpid &&
		    threads[i].tid == t->tid && threads[i].cpu == t->cpu)
			return &threads[i];
	if (n_threads == THREADS_MAX)
		wrong("too many threads");
	threads[n_threads] = *t;
	return &threads[n_threads++];
}

static void
probe(char *rest)
{
	char name[64], keys[64], attrs[256], slots[512] = "";
	int at = 0;

	if (n_probes == MAX || sscanf(rest, "%63s %63s %n", name, keys, &at) != 2)
		wrong(rest);
	snprintf(slots, sizeof slots, "%s", rest + at);
	snprintf(attrs, sizeof attrs, "keys %s;file story.c;line 1;", keys);
	snprintf(probes[n_probes].name, sizeof probes[0].name, "%s", name);
	probes[n_probes].text = strstr(slots, ":tnf_string") != NULL;
	probes[n_probes].array = strstr(slots, ":tnf_symbols") != NULL ? "tnf_symbols" :
	    strstr(slots, ":tnf_uint8_array") != NULL ? "tnf_uint8_array" : NULL;
	if (probes[n_probes].array != NULL)
		mk_record_type(maker(), "frames", "size:tnf_uint32 a:tnf_uint64 "
		    "b:tnf_uint64 c:tnf_uint64 d:tnf_uint64");
	probes[n_probes++].id = mk_probe(maker(), name, attrs, slots);
}

static void
type(const char *rest)
{
	char name[64], base[64];

	if (sscanf(rest, "%63s %63s", name, base) != 2)
		wrong(rest);
	mk_derived_type(maker(), name, base);
}

/* An array of four addresses, or of v[4] bytes, as the record that has its layout. */
static int64_t
array(struct mk_thread *t, const char *type_name, const long long *v)
{
	int64_t size = strcmp(type_name, "tnf_symbols") == 0 ? 40 : 8 + v[4];
	uint32_t at = mk_record(mk, t, "frames", size, (int64_t)v[0],
	    (int64_t)v[1], (int64_t)v[2], (int64_t)v[3]);

	if (at == 0)
		wrong("an array comes behind another event of its thread");
	mk_put32(mk, at, 0x80000002 | mk_type_pos(mk, type_name));
	return at;
}

static void
event(char *line)
{
	struct mk_thread t = { 0 };
	long long time, tid, v[VALUES] = { 0 };
	char name[64], text[256] = "", *s;
	int at = 0, n = 0;
	unsigned i;
	bool ok;

	if (sscanf(line, "%lld %d %u %lli %d %63s %n", &time, &t.pid, &t.lwpid,
	    &tid, &t.cpu, name, &at) != 6)
		wrong(line);
	t.tid = (uint64_t)tid;
	for (i = 0; i < n_probes && strcmp(probes[i].name, name) != 0; i++)
		;
	if (i == n_probes)
		wrong(line);
	s = line + at;
	if (probes[i].text && sscanf(s, "%255s %n", text, &n) == 1)
		s += n;
	for (int k = 0; k < VALUES; k++)
		v[k] = (long long)strtoull(s, &s, 0);
	if (probes[i].array != NULL)
		v[0] = array(writer(&t), probes[i].array, v);
	/* As many are taken as the probe has. */
	if (probes[i].text)
		ok = mk_event(mk, writer(&t), probes[i].id, time, text, (int64_t)v[0], (int64_t)v[1],
		    (int64_t)v[2], (int64_t)v[3], (int64_t)v[4], (int64_t)v[5], (int64_t)v[6], (int64_t)v[7]);
	else
		ok = mk_event(mk, writer(&t), probes[i].id, time, (int64_t)v[0], (int64_t)v[1],
		    (int64_t)v[2], (int64_t)v[3], (int64_t)v[4], (int64_t)v[5], (int64_t)v[6], (int64_t)v[7]);
	if (!ok)
		wrong("no room");
}

static void
line(char *s)
{
	char word[64] = "";
	long long a = 0, b = 0;

	sscanf(s, "%63s %lli %lli", word, &a, &b);
	if (*s == '@')
		strcat(strcat(context, s + 1), "\n");
	else if (strcmp(word, "kernel") == 0)
		opts.kernel = true;
	else if (strcmp(word, "blocks") == 0)
		opts.data_blocks = (uint32_t)a;
	else if (strcmp(word, "wrap") == 0)
		opts.wrap = true;
	else if (strcmp(word, "process") == 0 || strcmp(word, "kernel-part") == 0) {
		ext.magic = TNF_EXT_MAGIC;
		ext.kind = *word == 'p' ? TNF_EXT_PROCESS : TNF_EXT_KERNEL;
		ext.pid = (int32_t)a;
	} else if (strcmp(word, "boot") == 0)
		memset(ext.boot_id, (int)a, sizeof ext.boot_id);
	else if (strcmp(word, "begun") == 0)
		ext.start_mono = (int64_t)a;
	else if (strcmp(word, "lost") == 0)
		ext.lost[a % TNF_LOST_REASONS] = (uint64_t)b;
	else if (strcmp(word, "cursor") == 0)
		ext.data_cursor = (uint64_t)a;
	else if (strcmp(word, "type") == 0)
		type(s + 5);
	else if (strcmp(word, "probe") == 0)
		probe(s + 6);
	else if (*word != '\0' && *word != '#')
		event(s);
}

/* The context lies behind the declared end. */
static bool
save(const char *path)
{
	size_t size;
	unsigned char *p = mk_bytes(maker(), &size);
	FILE *f = fopen(path, "w");
	bool ok;

	if (*context != '\0')
		strcat(context, "end 1\n");
	ext.version = TNF_EXT_VERSION;
	ext.size = sizeof ext;
	ext.data_start = mk_data_start(mk);
	ext.extra_offset = *context != '\0' ? size : 0;
	ext.extra_size = strlen(context);
	if (ext.magic != 0)
		memcpy(p + TNF_EXT_OFFSET, &ext, sizeof ext);
	ok = f != NULL && fwrite(p, 1, size, f) == size &&
	    fputs(context, f) >= 0;
	return f != NULL && fclose(f) == 0 && ok;
}

int
main(int argc, char **argv)
{
	char text[1024];
	bool ok;

	if (argc != 2)
		wrong("usage: story FILE");
	while (fgets(text, sizeof text, stdin) != NULL) {
		text[strcspn(text, "\n")] = '\0';
		if (*text == '@' && *context == '\0')
			strcpy(context, "TNFCTX 1\n");
		line(text);
	}
	ok = save(argv[1]);
	mk_free(mk);
	return ok ? 0 : 1;
}
