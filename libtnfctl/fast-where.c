/*
 * fast-where.c - conditions of a fast probe, which libtnfprobe compares where the probe is hit.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernel-probes/import.h"
#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"

_Static_assert(KP_WHERE_MAX <= TNF_FAST_CONDITIONS && KP_WHERE_TEXT == 4 * sizeof(tnf_uint64_t) &&
    (int)KP_W_EQUAL == TNF_FAST_EQUAL && (int)KP_W_BELOW == TNF_FAST_BELOW &&
    (int)KP_W_ABOVE == TNF_FAST_ABOVE && (int)KP_W_BITS == TNF_FAST_BITS, "one table");

#define NAME_MAX_SIZE	128

/* The values of a site, as members whose places are their numbers. */
struct values {
	struct kp_import_member member[TNF_FAST_VALUES];
	char	 name[TNF_FAST_VALUES][NAME_MAX_SIZE];
	unsigned n;
};

static bool
read_name(tnfctl_handle_t *h, uintptr_t at, char *ret)
{
	size_t n = 0;

	while (n < NAME_MAX_SIZE - 1 && h->ops->read(h, at + n, ret + n, 1) && ret[n] != '\0')
		n++;
	ret[n] = '\0';
	return n > 0;
}

static bool
read_values(tnfctl_handle_t *h, const struct fast_site *s, struct values *ret)
{
	struct tnf_fast_site there;

	if (!h->ops->read(h, s->note, &there, offsetof(struct tnf_fast_site, c)) || there.n > TNF_FAST_VALUES)
		return false;
	for (ret->n = 0; ret->n < there.n; ret->n++) {
		const struct tnf_fast_value *v = &there.v[ret->n];

		ret->member[ret->n] = (struct kp_import_member){ .type = tnfctl_fast_type(v->kind),
		    .name = ret->name[ret->n], .at = ret->n };
		if (ret->member[ret->n].type == NULL || !read_name(h, (uintptr_t)v->name, ret->name[ret->n]))
			return false;
	}
	return true;
}

/* Writes the conditions, and then their number; the process is held. */
static bool
write_conditions(tnfctl_handle_t *h, const struct fast_site *s, const struct kp_where *w)
{
	struct tnf_fast_condition c[TNF_FAST_CONDITIONS] = { { .value = 0 } };
	tnf_uint64_t n = w->n;

	for (unsigned i = 0; i < w->n; i++) {
		c[i] = (struct tnf_fast_condition){ .value = (uint8_t)w->c[i].at, .size = w->c[i].size,
		    .sign = w->c[i].is_signed, .op = w->c[i].op, .first = w->c[i].first };
		memcpy(c[i].with, w->c[i].value, sizeof(c[i].with));
		memcpy(c[i].mask, w->c[i].mask, sizeof(c[i].mask));
	}
	return (n == 0 || h->ops->write(h, s->note + offsetof(struct tnf_fast_site, c), c, n * sizeof(c[0]))) &&
	    h->ops->write(h, s->note + offsetof(struct tnf_fast_site, conditions), &n, sizeof(n));
}

static tnfctl_errcode_t
set_site(tnfctl_handle_t *h, const tnfctl_probe_t *p, const struct fast_site *s, const char *text)
{
	const char *attrs = p->attrs + strlen("name ");
	char name[NAME_MAX_SIZE], why[256] = "its memory cannot be read";
	struct kp_where w = { .n = 0 };
	struct values values;
	struct kp_where_of of = { name, values.member, 0, why, sizeof(why) };
	tnf_uint64_t n;

	if (text == NULL)
		return !h->ops->read(h, s->note + offsetof(struct tnf_fast_site, conditions), &n, sizeof(n)) ||
		    (n != 0 && !write_conditions(h, s, &w)) ?
		    tnfctl_lost_target(h, "its memory cannot be written") : TNFCTL_ERR_NONE;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(attrs, ";"), attrs);
	if (!read_values(h, s, &values) || (of.members = values.n, kp_where_compile(&of, text, &w) < 0))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s", why);
	return write_conditions(h, s, &w) ? TNFCTL_ERR_NONE :
	    tnfctl_lost_target(h, "its memory cannot be written");
}

tnfctl_errcode_t
tnfctl_fast_where(tnfctl_handle_t *h, const tnfctl_probe_t *p, const char *conditions)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (conditions != NULL && *conditions == '\0')
		conditions = NULL;
	for (size_t i = 0; i < p->fast->n && err == TNFCTL_ERR_NONE; i++)
		err = set_site(h, p, &p->fast->v[i], conditions);
	return err;
}
