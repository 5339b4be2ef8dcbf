/*
 * check.h - probes that are there when a configuration is checked.
 */
#ifndef TNFWATCH_CHECK_H
#define TNFWATCH_CHECK_H

#include "tnfwatch/config.h"

struct check_probes {
	struct tnf_probe *v;	/* as a trace would have them */
	bool	*on;		/* meant by "enable" */
	size_t	 n;
};

/* Adds a probe by its attributes, "name N;slots A B;keys K". */
void check_probes_add(struct check_probes *, const char *attrs, bool on);
void check_probes_free(struct check_probes *);

/*
 * check-live.c: adds the probes of the section's processes that run now, without stopping them,
 * and sets used[] for the words of its "enable" by which some of them are meant.  Returns the
 * number of processes.
 */
unsigned check_live(const struct config_process *, struct check_probes *, bool *used);

#endif /* TNFWATCH_CHECK_H */
