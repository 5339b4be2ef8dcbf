/*
 * loss.h - events that the writers could not record.
 */
#ifndef TNFDUMP_LOSS_H
#define TNFDUMP_LOSS_H

#include "tnfdump/tnfdump.h"

int fail_on_loss_set(struct dump *, const char *);	/* the option */

/* Says on standard error what each file lost, and why. */
void loss_report(struct dump *);

#endif
