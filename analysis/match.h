/*
 * match.h - POSIX extended regular expressions; plain text is faster.
 */
#ifndef ANALYSIS_MATCH_H
#define ANALYSIS_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#define MATCH_TEXT_MAX 512u

struct match;

/* NULL: *wrong says why (valid until the next call). */
struct match *match_new(const char *pattern, bool ignore_case,
    const char **wrong);
void match_free(struct match *);
bool match_test(const struct match *, const char *chars, size_t len);

/* Shell pattern: * ? [...]; the whole of 'text'. */
bool match_glob(const char *pattern, const char *text);

#endif
