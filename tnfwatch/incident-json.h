/*
 * incident-json.h - incident.json: why an incident was kept, and what is in it.
 */
#ifndef TNFWATCH_INCIDENT_JSON_H
#define TNFWATCH_INCIDENT_JSON_H

#include "common/out.h"
#include "tnfwatch/daemon.h"

/* What has been written of a source. */
struct incident_source {
	const struct source *source;
	char	**files;
	size_t	 n_files;
	int64_t	 since;		/* everything from here on is there; 0: not known */
	uint64_t size;		/* bytes of the files */
	int	 error;		/* errno of the first segment that could not be put */
	char	 why[256];	/* why there is nothing, or less than promised */
};

struct incident_facts {
	const struct daemon *d;
	const struct incident_source *sources;
	size_t	 n_sources;
	int64_t	 mono_to_wall;
	int64_t	 end;		/* monotonic: when the copies were made */
	uint64_t number;	/* of the incident */
	const char *crash;	/* boot id of the machine that went down; NULL: this boot */
};

void incident_json(struct out *, const struct incident_facts *);

#endif /* TNFWATCH_INCIDENT_JSON_H */
