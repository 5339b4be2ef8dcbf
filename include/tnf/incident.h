/*
 * incident.h - a program asks tnfwatch to keep what has just happened.
 *
 *	tnf_incident("checkout stuck for %d s", seconds);
 *
 * This is a probe "tnf_incident" with a text, as TNF_PROBE_1() of <tnf/probe.h> makes it: while
 * no tnfwatch watches the program, no argument is evaluated and nothing is called.  tnfwatch
 * switches the probe on in each program that it watches, and a trigger with "when = incident()"
 * keeps an incident, at most a fifth of a second later (tnfwatch.conf(5)).
 *
 * The arguments are those of printf(3); the text is cut after TNF_INCIDENT_MAX - 1 bytes.  The
 * call makes no system call.  It may be made in any thread, not in a signal handler.
 */
#ifndef TNF_INCIDENT_H
#define TNF_INCIDENT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <tnf/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TNF_INCIDENT_MAX	256

__attribute__((format(printf, 3, 4), unused))
static __inline__ const char *
tnf_incident_text_(char *text, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, size, format, ap);
	va_end(ap);
	return text;
}

/* C before 1999 has no such macros, but its compilers do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#define tnf_incident(...) \
	do { \
		char tnf_text_[TNF_INCIDENT_MAX]; \
		(void)tnf_text_; \
		TNF_PROBE_1(tnf_incident, "incident", "", tnf_string, text, \
		    tnf_incident_text_(tnf_text_, sizeof tnf_text_, __VA_ARGS__)); \
	} while (0)
#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

#endif /* TNF_INCIDENT_H */
