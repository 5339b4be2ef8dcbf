/*
 * util.h - functions that all of tnfwatch uses.  The headers that common/files.h and
 * common/xalloc.h bring come with it.
 */
#ifndef TNFWATCH_UTIL_H
#define TNFWATCH_UTIL_H

#include <stdarg.h>
#include <stdint.h>

#include "analysis/timespec.h"
#include "common/files.h"
#include "common/xalloc.h"

#define MS	INT64_C(1000000)
#define SECOND	INT64_C(1000000000)

int64_t now_mono(void);		/* ns, CLOCK_MONOTONIC */
int64_t now_boot(void);		/* ns, CLOCK_BOOTTIME */
int64_t now_wall(void);		/* ns since 1970 */

/* "tnfwatch: text" and a newline on stderr, which is the journal's in a unit; the name
   is the one that the program was called by: tnffleet may be called as tnfwatch. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes a directory of mode 0700 and those above it (0755); 0 or an errno. */
int make_directory(const char *path);
/* Removes a file, or a directory and all in it, relative to 'dir'; 0 or an errno. */
int remove_all(int dir, const char *name);
/* Does this errno say that nothing else can be written there either? */
bool disk_refuses(int e);
/* Bytes that the file, or all files below the directory, take on the disk; the bytes of a file
   with several names are divided among the names. */
uint64_t disk_usage(int dir, const char *name);

/* Is there a file of that name? */
bool path_exists(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* open(2) with O_CLOEXEC and mode 0600, where the name is made first. */
int path_open(int flags, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* unlink(2) */
void path_unlink(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A file's text with a NUL behind it, at most 'max' bytes; NULL: errno. */
char *path_text(size_t max, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The name of a process or thread, as the kernel has it; "": it has gone. */
void read_comm(pid_t pid, char comm[64]);

/* To be called in a process that was just forked: has it end with its parent, sets the priority,
   and unblocks all signals.  false: the parent has ended before this call. */
bool child_begin(pid_t parent, int priority);

/* Frees a list and its n names. */
void names_free(char **names, size_t n);

/* "512k", "16m", "1g"; false: no size. */
bool size_parse(const char *text, uint64_t *ret);
/* Converts a time of day or date to monotonic ns, by *clock, which is filled in.  Returns NULL, or
   the mistake: 'no_duration' for a duration. */
const char *moment_parse(const char *text, const char *no_duration, struct timespec_clock *clock,
    int64_t *mono);

/* This boot, as the kernel writes it; "" if it does not tell. */
const char *boot_id(void);

#endif /* TNFWATCH_UTIL_H */
