/*
 * stream-names.h - names of probes and members that a stream knows, and those that
 * were probably meant.
 */
#ifndef ANALYSIS_STREAM_NAMES_H
#define ANALYSIS_STREAM_NAMES_H

#include <tnf/stream.h>

bool stream_has_probe(tnf_stream_t *, const char *name);
bool stream_has_member(tnf_stream_t *, const char *name);	/* of any probe */
/* Has some definition of the probe the member?  True, too, if there is no such
   probe. */
bool stream_probe_has(tnf_stream_t *, const char *probe, const char *member);

/* A name that is there and much like this one, the stream's; NULL: none is. */
const char *stream_guess_probe(tnf_stream_t *, const char *name);
const char *stream_guess_member(tnf_stream_t *, const char *name);

#endif
