/*
 * its-file.h - open the trace file that a process names, if it is that process's.
 *
 * A process says itself which file it writes, and can say anything.  So a caller that has
 * other rights than the process (root, as a rule) gets a file only if the process has just
 * this one mapped, shared and writable; or, where it has not opened any yet, if the file
 * belongs to its user, who can open it by this name, which means the same in its root.
 */
#ifndef COMMON_ITS_FILE_H
#define COMMON_ITS_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

/* A descriptor with these flags of open(2), O_CLOEXEC added, and *ret filled; or -1 and
   errno.  EPERM: it is another's file, or has several names; EINVAL: it is no regular
   file; ESRCH: there is no such process.  Links are not followed. */
int tnf_its_file_open(pid_t, const char *name, int flags, struct stat *ret);

#endif
