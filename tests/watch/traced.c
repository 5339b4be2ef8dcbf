/*
 * traced.c - a service whose requests have ids of OpenTelemetry: the n-th has the trace ...0n and
 * the span ...0n; it runs until somebody ends it.
 */
#include <stdio.h>
#include <unistd.h>

#include <tnf/probe.h>

int
main(void)
{
	char trace[33], span[17];

	for (long n = 1; ; n++) {
		snprintf(trace, sizeof trace, "%032lx", n);
		snprintf(span, sizeof span, "%016lx", n);
		TNF_PROBE_3(checkout_start, "checkout", "", tnf_string, trace, trace, tnf_string, span, span,
		    tnf_long, id, n);
		usleep(1000);
		TNF_PROBE_1(checkout_end, "checkout", "", tnf_long, id, n);
		usleep(20000);
	}
}
