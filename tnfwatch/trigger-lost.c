/*
 * trigger-lost.c - lost(): so many events were lost since it fired last.
 */
#include "tnfwatch/trigger-impl.h"

static void
lost_lost(struct watch *w, uint64_t n, int64_t now)
{
	const struct when *when = &w->trigger->when;
	struct tnf_event fact;
	double lost;

	w->lost = w->lost + n < n ? UINT64_MAX : w->lost + n;
	lost = (double)w->lost;
	if (lost < when->number || (lost <= when->number && !when->equal))
		return;
	trigger_fact(w->source, now, &fact);
	if (watch_holds(w, &fact))
		trigger_fire(w, now, NULL, "%llu event%s lost in %.60s",
		    (unsigned long long)w->lost, w->lost == 1 ? " was" : "s were",
		    w->source->name);
	w->lost = 0;
}

const struct trigger_kind trigger_lost_kind = {
	.name = "lost", .usage = "lost() > NUMBER",
	.compare = COMPARE_MORE, .lost = lost_lost,
};
