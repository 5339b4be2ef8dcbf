/*
 * trigger-ended.c - ended("NAME"): a watched process has ended.
 */
#include <string.h>

#include "tnfwatch/trigger-impl.h"

static void
ended_fire(struct watch *w, const struct ending *end)
{
	const char *comm = end->comm != NULL ? end->comm : "a process";
	int pid = (int)end->ev.pid, sig = end->values[0];
	const char *name = sigabbrev_np(sig);

	if (sig > 0)
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) was killed by signal %d%s%s",
		    comm, pid, sig, name != NULL ? ", SIG" : "", name != NULL ? name : "");
	else if (end->known)
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) ended with status %d", comm,
		    pid, end->values[1]);
	else
		trigger_fire(w, end->ev.time, NULL, "%.40s (%d) ended", comm, pid);
}

static void
ended_ended(struct watch *w, const struct ending *end)
{
	const struct when *when = &w->trigger->when;

	if (when->n_args > 0 && (end->comm == NULL || !probe_matches(when, 0, end->comm)))
		return;
	if (watch_holds(w, &end->ev))
		ended_fire(w, end);
}

const struct trigger_kind trigger_ended_kind = {
	.name = "ended", .usage = "ended(\"NAME\")",
	.args_max = 1, .ended = ended_ended,
};
