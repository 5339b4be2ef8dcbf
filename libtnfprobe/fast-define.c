/*
 * fast-define.c - the probes of fast sites, which a controller has described in an area of our
 * memory: <tnf/target.h>.
 */
#include <tnf/runtime.h>

#include "libtnfprobe/internal.h"

static bool
fits(const struct tnf_fast_value *v)
{
	return v->base < TNF_FAST_REGISTERS && v->index < TNF_FAST_REGISTERS && v->shift < 64 &&
	    (v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8);
}

/* 4 or 8, if these bytes of a register are the value, as it is recorded; else 0. */
static uint8_t
plain_bytes(const struct tnf_fast_value *v)
{
	bool is_word = v->kind == TNF_ARG_INT32 || v->kind == TNF_ARG_UINT32;
	bool is_long = v->kind == TNF_ARG_INT64 || v->kind == TNF_ARG_UINT64 ||
	    v->kind == TNF_ARG_OPAQUE;

	if (v->from != TNF_FAST_VALUE || v->index != TNF_FAST_NONE || v->offset != 0 || v->shift != 0)
		return 0;
	return is_word && v->size == 4 ? 4 : is_long && v->size == 8 ? 8 : 0;
}

static void
define_site(struct tnf_fast_site *s)
{
	struct tnf_probe_argument_type args[TNF_FAST_VALUES];
	struct tnf_probe_control *p;
	bool plain = true;
	uint32_t at = 8;

	if (s->n > TNF_FAST_VALUES)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		if (!fits(&s->v[i]) || (s->v[i].counted && i + 1 == s->n))
			return;
		args[i].name = s->v[i].name;
		args[i].kind = s->v[i].kind;
	}
	if (s->landing == 0)
		tnf_fast_calls_make();
	p = tnf_runtime_define(s->name, s->keys, s->detail, s->n, args, false);
	if (p == NULL)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		s->v[i].plain = plain_bytes(&s->v[i]);
		plain &= s->v[i].plain != 0;
		s->v[i].at = at = member_place(p->slots[i], at);
		at += p->slots[i]->size;
	}
	s->v[0].all_plain = plain;
	__atomic_store_n(&s->probe, p, __ATOMIC_RELEASE);
}

void
tnf_fast_define(struct tnf_fast_area *area)
{
	struct tnf_fast_site *s = (struct tnf_fast_site *)(void *)(area + 1);

	tnf_vectors_look();
	for (uint64_t i = 0; i < area->n; i++)
		define_site(&s[i]);
}
