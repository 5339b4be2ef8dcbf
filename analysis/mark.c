/*
 * mark.c - marks: events that say what somebody had to say about a time.
 */
#include <string.h>

#include <tnf/com.h>

#include "analysis/mark.h"

bool
mark_text(const struct tnf_event *ev, char text[MARK_TEXT_MAX])
{
	const struct tnf_probe *p = ev->probe;
	struct tnf_value v;

	if (strcmp(p->name, TNF_N_MARK) != 0)
		return false;
	for (unsigned i = 0; i < p->n_members; i++) {
		if (strcmp(p->members[i].name, TNF_N_MARK_TEXT) != 0)
			continue;
		if (!tnf_event_value(ev, i, &v) || v.null || v.kind != TNF_K_STRING)
			return false;
		size_t n = v.u.s.len < MARK_TEXT_MAX - 1 ? v.u.s.len : MARK_TEXT_MAX - 1;
		memcpy(text, v.u.s.chars, n);
		text[n] = '\0';
		return true;
	}
	return false;
}
