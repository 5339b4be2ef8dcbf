/*
 * normalize.h - queries and paths without their literals, so that equal ones group together.
 */
#ifndef ANALYSIS_NORMALIZE_H
#define ANALYSIS_NORMALIZE_H

#include "common/out.h"

/*
 * Appends the text with '?' for what differs between uses of the same query or path: text in
 * single quotes, numbers, digits of three or more within a word, and long hexadecimal words (a
 * UUID, a hash).  Lists of them become "?, ...", and blanks in a row one blank.  Names in double
 * quotes stay, and so does what begins with '$'.
 */
void text_normalize(struct out *, const char *, size_t);

#endif
