/*
 * mark.h - marks: events that say what somebody had to say about a time.
 */
#ifndef ANALYSIS_MARK_H
#define ANALYSIS_MARK_H

#include <tnf/stream.h>

#define MARK_TEXT_MAX	256

/* Is it an event of a probe "mark" with a string "text" (<tnf/com.h>)?  Then that is in
   'text', whole, or as much of it as fits. */
bool	mark_text(const struct tnf_event *, char text[MARK_TEXT_MAX]);

#endif
