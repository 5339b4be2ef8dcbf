/*
 * fake.c - probes and events without a trace file.
 *
 *	0 alpha   keys "vm io"  num(int32) big(uint64) real(double) text
 *	1 beta    keys "vm"     num text point(record)
 *	2 gamma   keys ""       (none)
 *	3 call    keys "sys"    sysnum errno pid
 */
#include <string.h>

#include "tests/dump/fake.h"

#define SCALAR(v, n, b, k, s) \
	const struct tnf_type v = { .name = n, .base = b, .kind = k, \
	    .size = s, .align = s }

SCALAR(fake_int32, "tnf_int32", "tnf_int32", TNF_K_INT32, 4);
SCALAR(fake_uint64, "tnf_uint64", "tnf_uint64", TNF_K_UINT64, 8);
SCALAR(fake_double, "tnf_float64", "tnf_float64", TNF_K_FLOAT64, 8);
SCALAR(fake_string, "tnf_string", "tnf_string", TNF_K_STRING, 4);
SCALAR(fake_sysnum, "tnf_sysnum", "tnf_int16", TNF_K_INT16, 2);

static const struct tnf_member point_members[] = {
	{ "x", &fake_int32, 4 }, { "y", &fake_int32, 8 },
};
const struct tnf_type fake_point = { .name = "point", .base = "point",
	.kind = TNF_K_STRUCT, .n_members = 2, .members = point_members };

static const struct tnf_member alpha[] = {
	{ "num", &fake_int32, 8 }, { "big", &fake_uint64, 16 },
	{ "real", &fake_double, 24 }, { "text", &fake_string, 32 },
}, beta[] = {
	{ "num", &fake_int32, 8 }, { "text", &fake_string, 12 },
	{ "point", &fake_point, 16 },
}, call[] = {
	{ "sysnum", &fake_sysnum, 8 }, { "errno", &fake_int32, 12 },
	{ "pid", &fake_int32, 16 },
};

static struct tnf_probe probes[FAKE_PROBES] = {
	{ .name = "alpha", .attrs = "keys vm io;file a.c;line 12;",
	  .keys = "vm io", .id = 0, .n_members = 4, .members = alpha },
	{ .name = "beta", .attrs = "keys vm;file b.c;line 7;", .keys = "vm",
	  .id = 1, .n_members = 3, .members = beta },
	{ .name = "gamma", .attrs = "", .keys = "", .id = 2 },
	{ .name = "call", .attrs = "keys sys;", .keys = "sys", .id = 3,
	  .n_members = 3, .members = call },
};

/* The value of a member by its name. */
static struct { const char *name; struct tnf_value v; } values[] = {
	{ .name = "num" }, { .name = "big" }, { .name = "real" },
	{ .name = "text" }, { .name = "point" }, { .name = "sysnum" },
	{ .name = "errno" }, { .name = "pid" },
};

void
fake_set(unsigned member, struct tnf_value v)
{
	values[member].v = v;
}

struct tnf_probe *
fake_probe(unsigned i)
{
	return &probes[i];
}

static bool
member(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	unsigned k;

	if (i >= ev->probe->n_members)
		return false;
	for (k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
		if (strcmp(values[k].name, ev->probe->members[i].name) == 0)
			*v = values[k].v;
	}
	v->type = ev->probe->members[i].type;
	return true;
}

static bool
item(const struct tnf_file *f, const struct tnf_value *r, unsigned i,
    struct tnf_value *v)
{
	if (i > 1)
		return false;
	*v = fake_int(i == 0 ? 3 : -4);
	return true;
}

static const char *
comm(void *arg, const struct tnf_event *ev)
{
	return ev->pid == 7 ? "seven" : NULL;
}

struct expr_source fake_source = {
	.member = member, .item = item, .comm = comm, .first = 1000,
};

void
fake_event(struct tnf_event *ev, unsigned probe)
{
	memset(ev, 0, sizeof(*ev));
	ev->probe = &probes[probe];
	ev->time = 6001000;
	ev->pid = 7;
	ev->lwpid = 8;
	ev->tid = 9;
	ev->cpu = 3;
}

struct tnf_value
fake_int(int64_t i)
{
	return (struct tnf_value){ .type = &fake_int32, .kind = TNF_K_INT32,
	    .u.i = i };
}

struct tnf_value
fake_uint(uint64_t u)
{
	return (struct tnf_value){ .type = &fake_uint64,
	    .kind = TNF_K_UINT64, .u.u = u };
}

struct tnf_value
fake_real(double d)
{
	return (struct tnf_value){ .type = &fake_double,
	    .kind = TNF_K_FLOAT64, .u.d = d };
}

struct tnf_value
fake_text(const char *s)
{
	return (struct tnf_value){ .type = &fake_string,
	    .kind = TNF_K_STRING, .u.s = { s, strlen(s) } };
}

struct tnf_value
fake_null(void)
{
	return (struct tnf_value){ .type = &fake_string, .kind =
	    TNF_K_STRING, .null = true };
}

struct tnf_value
fake_record(void)
{
	return (struct tnf_value){ .type = &fake_point, .kind = TNF_K_STRUCT,
	    .u.r = { 64, 2, &fake_point } };
}
