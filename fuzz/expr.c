/*
 * expr.c - fuzzes the expression language: compile, ask about events.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expr/expr.h"
#include "analysis/timespec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tnf_type
    t_int = { .name = "tnf_int32", .base = "tnf_int32",
	.kind = TNF_K_INT32, .size = 4, .align = 4 },
    t_big = { .name = "tnf_uint64", .base = "tnf_uint64",
	.kind = TNF_K_UINT64, .size = 8, .align = 8 },
    t_real = { .name = "tnf_float64", .base = "tnf_float64",
	.kind = TNF_K_FLOAT64, .size = 8, .align = 8 },
    t_text = { .name = "tnf_string", .base = "tnf_string",
	.kind = TNF_K_STRING, .size = 4, .align = 4 },
    t_call = { .name = "tnf_sysnum", .base = "tnf_int16",
	.kind = TNF_K_INT16, .size = 2, .align = 2 };
static const struct tnf_member pair_members[] = {
	{ "x", &t_int, 4 }, { "y", &t_text, 8 },
};
static const struct tnf_type t_pair = { .name = "pair", .base = "pair",
	.kind = TNF_K_STRUCT, .size = 12, .align = 4, .n_members = 2,
	.members = pair_members };
static const struct tnf_member members[] = {
	{ "a", &t_int, 8 }, { "b", &t_big, 16 }, { "c", &t_real, 24 },
	{ "d", &t_text, 32 }, { "e", &t_pair, 36 }, { "f", &t_call, 40 },
};
static struct tnf_probe probes[] = {
	{ .name = "one", .attrs = "keys k l;file x.c;line 3;", .keys = "k l",
	  .n_members = 6, .members = members },
	{ .name = "two", .keys = "", .id = 1 },
};

static void
value(const struct tnf_type *t, struct tnf_value *v)
{
	memset(v, 0, sizeof(*v));
	v->type = t;
	v->kind = t->kind;
	if (t->kind == TNF_K_STRING) {
		v->u.s.chars = "text";
		v->u.s.len = 4;
	} else if (t->kind == TNF_K_STRUCT) {
		v->u.r.count = 2;
		v->u.r.type = t;
	} else if (t->kind == TNF_K_FLOAT64) {
		v->u.d = -1e300;
	} else {
		v->u.u = t->kind == TNF_K_UINT64 ? UINT64_MAX : 2;
	}
}

static bool
member(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	if (i >= ev->probe->n_members)
		return false;
	value(members[i].type, v);
	return true;
}

static bool
item(const struct tnf_file *f, const struct tnf_value *r, unsigned i,
    struct tnf_value *v)
{
	if (i > 1)
		return false;
	value(pair_members[i].type, v);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expr_source source = { .member = member, .item = item };
	struct tnf_event ev = { .pid = 7, .time = INT64_MAX };
	struct expr_error error;
	struct timespec_arg time;
	char message[512], *text;
	struct expr *e;
	struct val v;
	unsigned i;

	if (size > 4096 || (text = calloc(size + 1, 1)) == NULL)
		return 0;
	memcpy(text, data, size);
	timespec_parse(text, &time);
	e = expr_new(text, &source, &error);
	if (e == NULL)
		expr_error_format(&error, text, message, sizeof(message));
	for (i = 0; e != NULL && i < 4; i++) {
		ev.probe = &probes[i & 1];
		v = expr_eval(e, &ev);
		if (expr_true(e, &ev) != (val_truth(&v) > 0))
			abort();
	}
	expr_free(e);
	free(text);
	return 0;
}
