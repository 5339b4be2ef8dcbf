/*
 * probe.c - the probes around a request.
 */
#include <tnf/probe.h>

#include "tests/why/causes.h"

void
request_begins(int id)
{
	TNF_PROBE_1(request_start, "request", "", tnf_long, id, id);
}

void
request_taken(int id)
{
	TNF_PROBE_1(request_taken, "request", "", tnf_long, id, id);
}

void
request_ends(int id)
{
	TNF_PROBE_1(request_end, "request", "", tnf_long, id, id);
}
