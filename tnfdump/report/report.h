/*
 * report.h - the reports and their options: statistics, --info, --diff, --top, --why.  The headers
 * that most reports need come with it.
 */
#ifndef TNFDUMP_REPORT_REPORT_H
#define TNFDUMP_REPORT_REPORT_H

#include "analysis/stats.h"
#include "analysis/why.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/pretty.h"

int stats_set(struct dump *, const char *list);
int pair_set(struct dump *, const char *rule);
int link_set(struct dump *, const char *by);		/* --link */

/* Sets the output of --stats=LIST or --top=LIST after checking the list. */
struct output;
int reports_by(struct dump *, const char *option, const struct output *, const char *list);
/* Statistics by the expressions of dump->by; NULL after a message. */
struct stats *reports_stats(struct dump *);

/* The matcher of starts and ends, with the rules of --pair. */
struct pairs *reports_pairs(struct dump *);

int  info_set(struct dump *, const char *form);		/* --info */
bool info_chosen(const struct dump *);

int diff_fail_on(struct dump *, const char *condition);	/* --fail-on */
/* Compares the two files of the command line; the exit status. */
int diff_run(struct dump *, char **paths);

/* Says on standard error what each file lost, and why. */
void loss_report(struct dump *);
void loss_report_paths(struct dump *, char **paths);	/* -r: not in a stream */

int  top_set(struct dump *, const char *list);		/* --top */
int  interval_set(struct dump *, const char *seconds);	/* --interval */
bool top_asked(const struct dump *);

int  why_set(struct dump *, const char *pair);		/* --why */
int  why_slow_set(struct dump *, const char *pair);	/* --why-slow */
int  why_id_set(struct dump *, const char *value);	/* --id */
/* After all options: these three choose the output; 0, or -1 after options_wrong(). */
int  why_choose(struct dump *);
/* report-why.c: the index behind --why.  Each event goes in after pairs_feed(), with its
   answer. */
struct why_input;
struct why_input *why_input_new(struct dump *);
void why_input_free(struct why_input *);
void why_input_event(struct why_input *, const struct tnf_event *, enum pair_role,
    const struct pair_slice *);
struct why_pairs *why_input_pairs(struct why_input *);
/* report-why.c: stacks of at most 'max' instances, weighed in ns. */
void why_fold(struct why_pairs *, struct dump *, size_t max);

/* Called while no event comes: handles keys, and draws the table when it is due. */
void top_tick(struct dump *);

#endif
