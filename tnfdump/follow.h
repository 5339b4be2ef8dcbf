/*
 * follow.h - --follow FILE|PID|kernel: events as they are committed.
 */
#ifndef TNFDUMP_FOLLOW_H
#define TNFDUMP_FOLLOW_H

#include <sys/stat.h>
#include <sys/types.h>

#include "tnfdump/tnfdump.h"

/* The longest time from an event's time to its commit in the file; also the longest delay
   of the output. */
#define FOLLOW_DELAY_NS		100000000

struct kp;
struct live;

int follow_set(struct dump *, const char *what);	/* the option */

/* Finds the targets and waits until each has its first record.  false: a target was refused
   or ended without any record, and the reason was told. */
bool follow_open(struct dump *);
/* Waits for more; false: the targets have ended and everything is read. */
bool follow_wait(struct dump *);
void follow_close(struct dump *);

/* follow_what() names the targets: "kernel, 4711"; follow_missed() counts the blocks so far
   that were overwritten before they were read. */
void follow_what(const struct dump *, char *buf, size_t size);
uint64_t follow_missed(const struct dump *);

/* True if this is one of the followed files. */
bool follow_has_file(const struct dump *, const struct stat *);
/* The live source for the target behind an input; NULL: the writer of the file has ended,
   or the input is not followed. */
struct live *follow_live(struct dump *, const struct tnf_file *);

/* follow-kernel.c: maps the kernel's buffer; returns 0, or an errno after a message. */
int follow_map_kernel(struct dump *, struct kp **, const void **base, size_t *size);
/* As kp_ended(). */
void follow_kernel_ended(struct kp *, void (*fn)(void *arg, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm), void *arg);
/* As kp_value_names_of(). */
void follow_kernel_values(struct kp *, const char *probe, void (*fn)(void *arg,
    const char *probe, const char *member, const char *names), void *arg);

#endif
