/*
 * attrs.c - reads a probe's attributes and the text of marks, and counts missing events.
 */
#include "analysis/attrs.h"
#include "format/attributes.h"
#include "format/core.h"

const char *
attrs_find(const char *attrs, const char *name, size_t *len)
{
	struct attribute a;

	if (attrs == NULL || !attribute_find(attrs, name, &a))
		return NULL;
	*len = a.value_len;
	return a.value > a.name + a.name_len ? a.value : NULL;
}

static bool
has_key(const char *keys, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = keys; (s = strstr(s, key)) != NULL; s += n)
		if ((s == keys || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
			return true;
	return false;
}

unsigned
attrs_level(const struct tnf_event *ev)
{
	const char *keys = ev->probe->keys;

	if (has_key(keys, "irq") || has_key(keys, "interrupt"))
		return 3;
	if (has_key(keys, "syscall"))
		return 1;
	return ev->kernel ? 2 : 0;
}

bool
mark_text(const struct tnf_event *ev, char text[MARK_TEXT_MAX])
{
	struct tnf_value v;
	int i;

	if (strcmp(ev->probe->name, TNF_N_MARK) != 0 ||
	    (i = perprobe_member(ev->probe, TNF_N_MARK_TEXT)) < 0 ||
	    !tnf_event_value(ev, (unsigned)i, &v) || v.null || v.kind != TNF_K_STRING)
		return false;
	size_t n = v.u.s.len < MARK_TEXT_MAX - 1 ? v.u.s.len : MARK_TEXT_MAX - 1;
	memcpy(text, v.u.s.chars, n);
	text[n] = '\0';
	return true;
}

/*
 * Counts missing events, by reason.
 */

static const char *const names[] = {
	[TNF_LOST_NO_BLOCK] = "no free block",
	[TNF_LOST_NESTED] = "inside another event",
	[TNF_LOST_TOO_LARGE] = "larger than a block",
	[TNF_LOST_NO_TAG_SPACE] = "no room for a definition",
	[TNF_LOST_BUSY] = "definition being written",
	[TNF_LOST_HOOK] = "skipped by the kernel",
	[TNF_LOST_PREEMPTED] = "writer preempted",
	[TNF_LOST_FULL] = "came when the file was full",
};

const char *
loss_name(unsigned reason)
{
	return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}

/* The copy of the extension of x's buffer, with the largest counters so far. */
static struct tnf_ext *
losses_buffer(struct losses *l, const struct tnf_ext *x)
{
	for (unsigned i = 0; i < l->n; i++)
		if (tnf_ext_same(&l->seen[i], x))
			return &l->seen[i];
	l->seen = tnf_xreallocarray(l->seen, l->n + 1, sizeof(*l->seen));
	l->seen[l->n] = *x;
	memset(l->seen[l->n].lost, 0, sizeof(x->lost));
	l->seen[l->n].shortened = 0;
	return &l->seen[l->n++];
}

static uint64_t
losses_more(uint64_t *known, uint64_t now)
{
	uint64_t more = now > *known ? now - *known : 0;

	*known += more;
	return more;
}

struct loss
losses_count(struct losses *l, const struct tnf_ext *x)
{
	struct loss r = { .events = 0 };

	if (x == NULL)
		return r;
	struct tnf_ext *known = losses_buffer(l, x);
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++) {
		r.lost[i] = losses_more(&known->lost[i], x->lost[i]);
		r.events += r.lost[i];
	}
	r.shortened = losses_more(&known->shortened, x->shortened);
	return r;
}

void
losses_free(struct losses *l)
{
	free(l->seen);
	*l = (struct losses){ NULL, 0 };
}
