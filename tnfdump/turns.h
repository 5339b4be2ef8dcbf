/*
 * turns.h - two processes that write one output in turn.
 *
 * Both have what there was before the fork.  Each keeps in memory what it prints, writes it
 * when the other has written what comes before, and so on by turns, the parent first.  If
 * the child cannot go on, the parent ends, too, and nothing more is written.  No
 * thread is used, and nothing is shared but the output and the word whose turn it is.
 */
#ifndef TNFDUMP_TURNS_H
#define TNFDUMP_TURNS_H

#include "tnfdump/tnfdump.h"

struct turns;

/* May this process run on more than one CPU? */
bool turns_worth_it(void);
/* Forks.  NULL: that could not be, and this process goes on alone. */
struct turns *turns_begin(struct dump *);
/* This is the process that ends in turns_end(). */
bool turns_in_child(const struct turns *);
/* Waits until the other has written; dump->out.error is set if it has failed.  *ret_note
   (may be NULL) is what it has left, or stays as it is before the first turn. */
void turns_take(struct dump *, struct turns *, uint64_t *ret_note);
/* To be called now and then in a turn: if much is held in memory, it waits until the other
   has written, and writes what there is and what comes. */
void turns_bound(struct dump *, struct turns *);
/* Writes what was printed, and leaves the turn and 'note' to the other. */
void turns_give(struct dump *, struct turns *, uint64_t note);
/* After the last turn, which was this process's or not.  The child does not come back; the
   parent has its status, and writes by itself again. */
void turns_end(struct dump *, struct turns *, bool mine);

#endif
