/*
 * window.c - one stall, from its first trigger to the end of what follows.
 */
#include "analysis/json.h"
#include "tnfwatch/util.h"
#include "tnfwatch/window.h"

#define QUESTIONS_MAX	(FIRINGS_MAX / 2)

static char *
copy_or_null(const char *s)
{
	return s != NULL ? tnf_xstrdup(s) : NULL;
}

/* The event as --to jsonl writes it, now: its values go with the ring.  NULL: no event. */
static char *
event_text(const struct tnf_event *ev)
{
	struct out o;
	struct json_values w = { .o = &o };

	if (ev == NULL)
		return NULL;
	tnf_out_memory(&o);
	out_lit(&o, "{\"time\":");
	tnf_out_i64(&o, ev->time);
	out_lit(&o, ",\"wall\":");
	json_wall(&o, ev->time + now_wall() - now_mono());
	json_who(&o, ev);
	json_probe(&o, ev->probe);
	out_lit(&o, ",\"args\":{");
	json_args(&w, ev);
	out_lit(&o, "}}");
	char *text = tnf_xstrndup(o.base, (size_t)(o.p - o.base));
	tnf_out_close(&o);
	return text;
}

void
window_add(struct window *w, const char *trigger, const struct trigger_firing *fired,
    const char *source, const char *note)
{
	if (w->n == FIRINGS_MAX) {
		w->more++;
		return;
	}
	struct firing *f = &w->firing[w->n++];
	f->asked = false;
	f->trigger = tnf_xstrdup(trigger);
	f->time = fired->time;
	f->source = copy_or_null(source);
	f->reason = copy_or_null(fired->reason);
	f->note = copy_or_null(note);
	f->event = event_text(fired->event);
}

void
window_add_question(struct window *w, const char *name, const struct trigger_firing *fired,
    const char *question)
{
	size_t n = w->n;

	/* However many there are, they leave room for what our triggers say. */
	if (w->n_asked == QUESTIONS_MAX) {
		w->more++;
		return;
	}
	window_add(w, name, fired, NULL, question);
	if (w->n > n) {
		w->firing[n].asked = true;
		w->n_asked++;
	}
}

const struct firing *
window_trigger(const struct window *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->firing[i].asked)
			return &w->firing[i];
	return NULL;
}

void
window_clear(struct window *w)
{
	while (w->n > 0) {
		struct firing *f = &w->firing[--w->n];
		free(f->trigger);
		free(f->source);
		free(f->reason);
		free(f->note);
		free(f->event);
	}
	free(w->id);
	w->id = NULL;
	w->n_asked = 0;
	w->more = 0;
	w->open = w->resumed = false;
}
