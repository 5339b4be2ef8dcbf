/* lttng-tp.h - the tracepoints of peers/lttng.c, in the form lttng-ust asks for. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng-tp.h"

#if !defined(BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, none,
	LTTNG_UST_TP_ARGS(void),
	LTTNG_UST_TP_FIELDS()
)
LTTNG_UST_TRACEPOINT_EVENT(bench, args,
	LTTNG_UST_TP_ARGS(int, a, int, b, const char *, s),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
		lttng_ust_field_string(s, s)
	)
)

#endif

#include <lttng/tracepoint-event.h>
