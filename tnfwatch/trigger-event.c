/*
 * trigger-event.c - an expression alone: fires at each event for which it holds.
 */
#include "tnfwatch/trigger-impl.h"

static bool
event_concerns(struct watch *w, const struct tnf_probe *p)
{
	return expr_possible(w->condition, p);
}

static void
event_event(struct watch *w, const struct hit *hit)
{
	char who[WHO_TEXT];

	if (watch_holds(w, hit->ev))
		trigger_fire(w, hit->ev->time, hit->ev, "%.60s%s", hit->ev->probe->name,
		    who_text(who, w, hit->ev));
}

const struct trigger_kind trigger_event_kind = {
	.usage = "an expression",
	.members = true,
	.concerns = event_concerns,
	.event = event_event,
};
