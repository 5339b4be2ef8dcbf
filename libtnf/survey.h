/*
 * survey.h - large files: what is known of all blocks before any is read.
 *
 * A block of a process begins with the schedule record of its first event, or names that
 * record there: so its header and a few words tell which thread has it, and from when on.
 * Several threads read that much of every block; the rest of a block is read
 * when its turn comes.  Blocks that begin otherwise are read as a whole right away.
 *
 * A thread has one block after the other: no event in a block is later than the
 * beginning of the thread's next block.  So we also know which blocks hold no event from a
 * given time on.  If threads of two processes may bear the same ids, we do not know that, and
 * leave out nothing.
 */
#ifndef LIBTNF_SURVEY_H
#define LIBTNF_SURVEY_H

#include <pthread.h>

#include "libtnf/stream_impl.h"

/* Whether the file is to be read as it is asked for. */
bool tnf_survey_wanted(const tnf_stream_t *, const struct tnf_file *);
/* Looks at the headers of all blocks from 'from' on.  0, an error, or ENOTSUP: the file
   does not have the words by which blocks and schedule records are recognised, and
   nothing was noted. */
int  tnf_survey_file(tnf_stream_t *, struct tnf_file *, uint64_t from);
void tnf_survey_free(struct survey *);
/* Adds the blocks that were found to the merge. */
int  tnf_survey_merge(struct merge *, struct tnf_file *);
/* Adds the blocks of a stretch, whose turn has come. */
int  tnf_survey_open(struct merge *, struct tnf_file *, struct stretch *);
/* The earliest time (ns, not shifted) at which a block of the stretch begins. */
int64_t tnf_survey_time(const struct stretch *);
struct stretch *tnf_survey_next(struct stretch *);
/* Leaves out blocks that have not been opened and hold nothing from 'from' on. */
int  tnf_survey_skip(struct merge *, struct tnf_file *, int64_t from);
/* Times of the first and the last event; false: there is none. */
bool tnf_survey_span(tnf_stream_t *, struct tnf_file *, int64_t *first, int64_t *last);

#define PARTS_MAX	4u	/* more threads than this wait for memory */
#define STRETCH_MAX	64u	/* blocks that are noted as one */

/* The words with which blocks begin in this file. */
struct words {
	uint32_t header;	/* first word of a block */
	uint32_t sched;		/* first word of a schedule record */
	uint32_t size;		/* of that record, and its members: */
	uint32_t tid, pid, base;
};

/* The facts that tell whether a block is later or earlier than another of its thread. */
struct mark {
	int64_t	 min;			/* time of its first schedule */
	uint32_t block;			/* number */
	uint32_t generation;
};

/* One thread of the writer. */
struct owner {
	uint64_t key;			/* pid and tid */
	bool	 any;			/* 'last' is of a block */
	struct mark last;		/* the last block, by time */
	struct entry *entry;		/* of 'last', if it has one */
	uint32_t of_stretch;		/* where it is in the part's 'lasts' */
};

struct owners {
	struct owner *list;
	uint32_t n;
	struct map by_key;		/* uint32_t: the number */
};

/* The last block of a thread among those of a stretch. */
struct last {
	struct mark mark;
	uint32_t owner;			/* its number in the part */
};

/*
 * Blocks that follow one another in the file, all written in one lap, by threads that
 * are done with them.  Nearly all blocks are in such stretches.  The blocks' entries
 * are made when the first of them has its turn; until then the stretch is enough, and takes
 * far less memory than an entry for each block.
 */
struct stretch {
	int64_t	 min, max;		/* of the times at which its blocks begin */
	uint32_t block;			/* number of the first */
	uint32_t generation;
	uint32_t lasts;			/* first of them in the part */
	uint16_t n_lasts;
	bool	 opened;		/* its entries have been made */
};

/* Entries of blocks; they stay where they are. */
struct store {
	struct entry *entries;
	uint32_t n;
};

/* A piece of the file, surveyed by one thread. */
struct part {
	const struct tnf_file *f;
	const struct words *words;
	uint64_t from, to;		/* offsets */
	uint32_t stretch;		/* blocks of one */
	struct stretch *stretches;
	uint32_t n_stretches;
	size_t room_stretches;
	struct last *lasts;
	uint32_t n_lasts;
	struct entry *entries;		/* of blocks that are in no stretch */
	uint32_t n;
	struct owners owners;
	uint32_t *odd;			/* offsets of blocks that begin otherwise */
	uint32_t n_odd;
	uint32_t blocks_data, blocks_free, blocks_held, generation;
	bool failed;			/* no memory */
	pthread_t thread;
	bool has_thread;
};

struct survey {
	struct words words;
	unsigned n_parts;
	struct part parts[PARTS_MAX];
	struct store *stores;
	uint32_t n_stores;
	bool spanned, any;		/* first and last are known; there are events */
	bool apart_known, apart;	/* survey_apart() */
	int64_t first, last;
};

/* survey-part.c */
void	 tnf_owners_free(struct owners *);
struct entry tnf_entry_of(const struct mark *, bool keep);
/* The offset of the first schedule of a block in use; 0: the block begins otherwise. */
uint32_t tnf_block_begins(const struct part *, const struct block *, uint32_t word);
/* Surveys a whole part, in a thread. */
void	*tnf_part_run(void *part);

/* survey.c */
/* Notes entries, which then belong to the survey; false: no memory. */
bool	 tnf_store_add(struct survey *, struct entry *entries, uint32_t n);
/* Makes entries of those blocks of a stretch that no writer has taken over since, counts the
   others as lost, and returns how many entries there are. */
uint32_t tnf_stretch_entries(struct tnf_file *, const struct part *, const struct stretch *,
	     struct entry *entries);
/* Makes the entries of a stretch, in a store of their own; 0 or an error. */
int	 tnf_stretch_open(struct tnf_file *, const struct part *, struct stretch *);

#endif /* LIBTNF_SURVEY_H */
