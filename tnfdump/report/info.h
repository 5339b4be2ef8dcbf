/*
 * info.h - the files in figures (--info).
 */
#ifndef TNFDUMP_REPORT_INFO_H
#define TNFDUMP_REPORT_INFO_H

#include <tnf/context.h>

#include "analysis/idset.h"
#include "analysis/perprobe.h"
#include "tnfdump/pipeline.h"

#define INFO_CPUS_MAX	8192	/* others are not told apart */

/* What a file has of one CPU. */
struct info_cpu {
	uint64_t events;		/* 0: nothing */
	int64_t	 first, last;
	uint32_t block;			/* of the first: its number, or 0 */
};

/* One file. */
struct info {
	const struct input *in;
	const struct tnf_ext *ext;	/* NULL: not one of our writers */
	tnf_context_t	*context;	/* or NULL */
	struct tnf_summary sum;
	uint64_t	 events;	/* that the filters kept */
	int64_t		 first, last;	/* of these */
	struct idset	 threads, pids, cpus;
	struct info_cpu	*cpu;		/* by its number */
	unsigned	 n_cpu;
};

struct info_all {
	struct info	*files;
	unsigned	 n;
	bool		 begun;		/* info_text_begin() has printed */
	struct perprobe	 counts;	/* uint64_t: events */
};

int  info_set(struct dump *, const char *arg);	/* the option */
bool info_chosen(const struct dump *);
bool info_wall(const struct info *, int64_t time, int64_t *wall);
const char *info_ended(const struct info *);	/* NULL: not known */
/* How many of how many blocks an image of memory lacked; NULL: all were there. */
const char *info_missing(const struct info *);
uint64_t info_lost(const struct info *);
/*
 * From when on nothing has been overwritten.  A ring that has gone round keeps
 * the newest of each CPU, of a busy one less than of another: what all have.
 * INT64_MIN: from the start; INT64_MAX: not known, as where blocks are missing.
 */
int64_t info_complete(const struct dump *, const struct info *);
uint64_t info_count(const struct info_all *, unsigned probe);	/* its events */

/* Of a large file, what is known before its events have been counted. */
void info_text_begin(struct dump *);
int info_text(struct dump *);
int info_json(struct dump *);

#endif
