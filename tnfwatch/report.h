/*
 * report.h - the page of each incident, made when it is complete.
 *
 * A page takes longer than the incident itself: they are made one after the other, beside
 * what is watched, and who writes the next incident does not wait for them.
 */
#ifndef TNFWATCH_REPORT_H
#define TNFWATCH_REPORT_H

#include <stdint.h>
#include <sys/types.h>

#define REPORTS_MAX	64	/* that wait; of more the oldest go without */

struct config;

struct report {
	char	*id;
	int64_t	 first;		/* monotonic: of the first trigger, which the page is about */
};

struct reports {
	struct report list[REPORTS_MAX];	/* the first one is being made */
	size_t	 n;
	pid_t	 pid;			/* who makes it; 0: nobody */
};

/* What one who was killed has left half done; at the start. */
void reports_clean(const struct config *);
void reports_add(struct reports *, const struct config *, const char *id, int64_t first);
/* Any child. */
void reports_ended(struct reports *, const struct config *, pid_t, int status);
/* What is not made now is not made. */
void reports_stop(struct reports *, const struct config *);

#endif /* TNFWATCH_REPORT_H */
