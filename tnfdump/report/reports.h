/*
 * reports.h - options of the reports.
 */
#ifndef TNFDUMP_REPORT_REPORTS_H
#define TNFDUMP_REPORT_REPORTS_H

#include "tnfdump/tnfdump.h"

int stats_set(struct dump *, const char *list);
int histogram_set(struct dump *, const char *);
int states_set(struct dump *, const char *);
int tree_set(struct dump *, const char *);
int pair_set(struct dump *, const char *rule);

/* The matcher of starts and ends, with the rules of --pair. */
struct pairs *reports_pairs(struct dump *);

#endif
