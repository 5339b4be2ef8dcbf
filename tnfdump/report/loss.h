/*
 * loss.h - events that the writers could not record.
 */
#ifndef TNFDUMP_REPORT_LOSS_H
#define TNFDUMP_REPORT_LOSS_H

#include "tnfdump/tnfdump.h"

/* Says on standard error what each file lost, and why. */
void loss_report(struct dump *);
void loss_report_paths(struct dump *, char **paths);	/* -r: not in a stream */

#endif
