/*
 * otel.h - a C program tells in which span of OpenTelemetry its threads are, and what service
 * it is.  Programs with an SDK of OpenTelemetry do not need this: newer ones tell it themselves.
 *
 *	struct tnf_otel_span caller;
 *
 *	if (tnf_otel_parse(header, &caller))	the request's "traceparent"
 *		tnf_otel_set(&caller);
 *	... work ...
 *	tnf_otel_set(NULL);
 *
 * A reader that looks at the thread meanwhile finds the span by the variable otel_thread_ctx_v1 (OTEP
 * 4947): the probes of this thread, and profilers of others.  tnfdump shows it beside each event
 * of the thread, those of the kernel too, and makes the thread's own spans the span's children.
 *
 * Link with -ltnfotel.  Setting a span costs some nanoseconds, takes no lock, allocates nothing
 * and may be done in a signal handler, which sets the former span again before it returns.
 */
#ifndef TNF_OTEL_H
#define TNF_OTEL_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ids in the order in which their digits are written.  All zeros are no id. */
struct tnf_otel_span {
	uint8_t	trace[16];
	uint8_t	span[8];
};

#define TNF_OTEL_TEXT	56	/* bytes of a traceparent with its NUL */

/* The calling thread is in this span from now on, until the next call; NULL: in none. */
void tnf_otel_set(const struct tnf_otel_span *span);
/* The span that was set in this thread; false: none. */
bool tnf_otel_get(struct tnf_otel_span *ret);

/* Reads a header "traceparent" (W3C Trace Context), or the environment's TRACEPARENT:
   "00-<trace>-<span>-01".  false: the text is none (NULL is none either), and *ret is left. */
bool tnf_otel_parse(const char *text, struct tnf_otel_span *ret);
/* Writes one, for a request that this program makes of another. */
void tnf_otel_format(const struct tnf_otel_span *span, char text[TNF_OTEL_TEXT]);
/* A span of its own id in the trace of 'parent'; NULL: in a new trace. */
void tnf_otel_new(const struct tnf_otel_span *parent, struct tnf_otel_span *ret);

/*
 * Publishes attributes of the process (OTEP 4719): pairs of a name and a value, NULL ends.
 *
 *	tnf_otel_resource((const char *const[]){ "service.name", "shop", NULL });
 *
 * A later call replaces all of them.  A child of fork() has none.  0 or an errno.  Calls must
 * not overlap.
 */
int tnf_otel_resource(const char *const *attributes);

#ifdef __cplusplus
}
#endif

#endif /* TNF_OTEL_H */
