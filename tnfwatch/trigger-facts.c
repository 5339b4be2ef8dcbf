/*
 * trigger-facts.c - expressions about what is no event: a state, a loss, an end.
 *
 * They are asked about an event made up for it, of a probe without members, or of one
 * whose members lie behind it in memory.
 */
#include <string.h>

#include "tnfwatch/trigger-impl.h"

static const struct tnf_type int_type = { .name = "tnf_int32", .base = "tnf_int32",
	.kind = TNF_K_INT32, .size = 4, .align = 4 };
static const struct tnf_member ending_members[] = {
	{ "signal", &int_type, 0 }, { "status", &int_type, 4 }, { "core", &int_type, 8 },
};
#define N_MEMBERS (sizeof(ending_members) / sizeof(ending_members[0]))

struct tnf_probe trigger_fact_probe = { .name = "tnfwatch", .keys = "", .id = 0 };
struct tnf_probe trigger_ending_probe = { .name = "ended", .keys = "", .id = 1,
	.n_members = N_MEMBERS, .members = ending_members };

bool
trigger_has_ending_member(const char *name)
{
	return perprobe_member(&trigger_ending_probe, name) >= 0;
}

void
trigger_fact(const struct trigger_source *s, int64_t now, struct tnf_event *ret)
{
	*ret = (struct tnf_event){ .time = now, .pid = s->pid, .lwpid = (uint32_t)s->pid,
	    .cpu = -1, .kernel = s->kernel, .probe = &trigger_fact_probe };
}

static bool
fact_member(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	const struct ending *e = (const struct ending *)(const void *)ev;

	if (ev->probe != &trigger_ending_probe || i >= N_MEMBERS || !e->known)
		return false;
	*v = (struct tnf_value){ .type = &int_type, .kind = TNF_K_INT32, .u.i = e->values[i] };
	return true;
}

static bool
fact_item(const struct tnf_file *f, const struct tnf_value *r, unsigned i,
    struct tnf_value *v)
{
	return false;
}

static const char *
fact_comm(void *arg, const struct tnf_event *ev)
{
	const struct trigger_source *s = arg;

	if (ev->probe == &trigger_ending_probe)
		return ((const struct ending *)(const void *)ev)->comm;
	return s->ops.comm != NULL ? s->ops.comm(s->client, ev) : NULL;
}

void
facts_source(struct expr_source *ret, struct trigger_source *s)
{
	*ret = (struct expr_source){ .member = fact_member, .item = fact_item,
	    .comm = fact_comm, .arg = s };
}
