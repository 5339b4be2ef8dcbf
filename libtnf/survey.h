/*
 * survey.h - large files: what is known of all blocks before any is read.
 *
 * A block of a process begins with the schedule record of its first event, or names
 * it there, so that its header and a few words tell whose it is and from when on.
 * That much is read of every block, by several threads; the rest of a block is read
 * when its turn comes.  Blocks that begin otherwise are read as a whole at once.
 *
 * A thread has one block after the other: nothing in one of them is later than
 * the beginning of the next.  So it is known, too, which blocks cannot hold
 * anything from a given time on.  Where threads of two processes may bear the same numbers
 * that is not known, and nothing is left out.
 */
#ifndef LIBTNF_SURVEY_H
#define LIBTNF_SURVEY_H

#include <tnf/stream.h>

#include "libtnf/merge.h"

/* Whether the file is to be read as it is asked for. */
bool tnf_survey_wanted(const tnf_stream_t *, const struct tnf_file *);
/* Looks at the headers of all blocks from 'from' on.  0, an error, or ENOTSUP: the file
   does not have the words by which blocks and schedule records are recognised, and
   nothing was noted. */
int  tnf_survey_file(tnf_stream_t *, struct tnf_file *, uint64_t from);
void tnf_survey_free(struct survey *);
/* Adds what was found to the merge. */
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

#endif /* LIBTNF_SURVEY_H */
