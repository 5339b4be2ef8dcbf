/*
 * reports.h - options of the reports.
 */
#ifndef TNFDUMP_REPORT_REPORTS_H
#define TNFDUMP_REPORT_REPORTS_H

#include "analysis/stats.h"
#include "tnfdump/tnfdump.h"

int stats_set(struct dump *, const char *list);
int pair_set(struct dump *, const char *rule);

/* --stats=LIST and --top=LIST: the output, if the list is sound. */
struct output;
int reports_by(struct dump *, const char *option, const struct output *, const char *list);
/* Statistics by the expressions of dump->by; NULL after a message. */
struct stats *reports_stats(struct dump *);
/* Tells which members of these no probe has. */
void reports_stats_hint(struct dump *, const struct stats *);

/* The matcher of starts and ends, with the rules of --pair. */
struct pairs *reports_pairs(struct dump *);

#endif
