/*
 * condition.h - what --fail-on asks of a comparison: "p99(syscall) > +10%".
 *
 *	figure(group) operator [+|-]number[%|ns|us|ms|s]
 *
 * With a sign the number is a change from the first trace to the second, in
 * percent or in the figure's unit; without, a value of the second.
 */
#ifndef TNFDUMP_REPORT_CONDITION_H
#define TNFDUMP_REPORT_CONDITION_H

#include "analysis/stats.h"

enum figure {
	FIG_COUNT, FIG_RATE, FIG_TOTAL, FIG_MIN, FIG_MEAN, FIG_P50, FIG_P90,
	FIG_P99, FIG_MAX, FIG_NONE
};

struct condition {
	const char	*text;
	enum figure	 figure;
	char		 group[256];	/* row's text, or its first word */
	char		 op[3];		/* > >= < <= */
	bool		 change;	/* the number had a sign */
	bool		 percent;
	double		 number;	/* percent, ns, or a plain count */
};

/* NULL, or what is wrong with the text (constant). */
const char *condition_parse(struct condition *, const char *text);
/* Value of a figure in a row: ns, or events, or events a second. */
double figure_value(enum figure, const struct stats_row *, double seconds);
bool condition_holds(const struct condition *, double before, double after);
bool condition_names(const struct condition *, const struct stats_row *);

#endif
