/*
 * samples.c - small good files, one of each kind.
 */
#include <stdlib.h>

#include "tests/reader/samples.h"

const char *const sample_names[SAMPLES] = {
	"64 bits, little", "64 bits, big", "32 bits, little", "32 bits, big",
	"kernel, 64 bits, little", "kernel, 32 bits, big",
};

static const struct mk_opts options[SAMPLES] = {
	{ .data_blocks = 8 },
	{ .data_blocks = 8, .big = true },
	{ .data_blocks = 8, .narrow = true, .align4 = true },
	{ .data_blocks = 8, .narrow = true, .big = true },
	{ .data_blocks = 8, .kernel = true },
	{ .data_blocks = 8, .kernel = true, .narrow = true, .big = true },
};

struct mk *
sample(unsigned n)
{
	struct mk *m = mk_new(&options[n]);
	struct mk_thread t[2] = { { .pid = 100, .lwpid = 1, .tid = 1 },
	    { .pid = 100, .lwpid = 2, .tid = 2, .cpu = 1 } };
	unsigned plain, all, nested, i;
	uint32_t point;
	int64_t time = 5000000000;
	bool ok = true;

	mk_record_type(m, "point", "x:tnf_int32 y:tnf_int64");
	plain = mk_probe(m, "plain", "keys a;file f.c;line 1;", "");
	all = mk_probe(m, "all", "keys a b;file f.c;line 2;",
	    "i:tnf_int32 l:tnf_int64 c:tnf_char d:tnf_float64 s:tnf_string");
	nested = mk_probe(m, "nested", "keys c;file f.c;line 3;",
	    "p:point o:tnf_opaque");
	for (i = 0; ok && i < SAMPLE_EVENTS; i += 3) {
		ok = mk_event(m, &t[i & 1], plain, time += 1000) &&
		    mk_event(m, &t[i & 1], all, time += 1000, -(int64_t)i,
		    (int64_t)i << 33, (int64_t)'c', i / 2.0, "text");
		point = mk_record(m, &t[i & 1], "point", (int64_t)i, (int64_t)7);
		ok = ok && mk_event(m, &t[i & 1], nested, time += 1000,
		    (int64_t)point, (int64_t)0xbeef);
	}
	if (!ok)
		abort();
	return m;
}
