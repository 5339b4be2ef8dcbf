/*
 * trigger-kinds.c - the functions of the language of triggers.
 */
#include "tnfwatch/trigger-impl.h"

static const struct trigger_kind *const kinds[] = {
	&trigger_event_kind,
	&trigger_duration,
	&trigger_open,
	&trigger_state,
	&trigger_rate,
	&trigger_silence,
	&trigger_lost_kind,
	&trigger_ended_kind,
};

const struct trigger_kind *
trigger_kind(unsigned i)
{
	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i] : NULL;
}
