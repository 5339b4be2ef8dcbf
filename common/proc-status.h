/*
 * proc-status.h - what the kernel says of a process or a thread in its files
 * "status" and "stat" (proc(5)).  Each call reads the file anew.
 */
#ifndef COMMON_PROC_STATUS_H
#define COMMON_PROC_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What follows "field:" of that task, and blanks, up to the end of the line; false:
   there is no such task or field, or we may not read it. */
bool	tnf_proc_status_text(pid_t, const char *field, char *ret, size_t size);
bool	tnf_thread_status_text(pid_t pid, pid_t tid, const char *field, char *ret,
	    size_t size);

/* The first number of the field; -1: as above. */
long	tnf_proc_status(pid_t, const char *field);
long	tnf_thread_status(pid_t pid, pid_t tid, const char *field);

/* When it began, in ticks of sysconf(_SC_CLK_TCK) since the boot (CLOCK_BOOTTIME); 0: there
   is no such process. */
uint64_t tnf_proc_started(pid_t);

/* One number of a field that has several: the user IDs are real, effective, saved,
   and that of the file system. */
enum { PROC_ID_REAL, PROC_ID_EFFECTIVE, PROC_ID_SAVED, PROC_ID_FS };
long	tnf_proc_status_nth(pid_t, const char *field, unsigned n);

/* The last number: of NSpid, what the task is called in its own name space. */
long	tnf_thread_status_last(pid_t pid, pid_t tid, const char *field);

/* The first bytes of a file, with a NUL behind them; how many, -1: it cannot be read. */
ssize_t	tnf_proc_file(char *ret, size_t size, const char *path, ...)
	    __attribute__((format(printf, 3, 4)));
/* All that is left to read there, malloc'ed, with a NUL behind it; 0 or an errno.
   ret_size: NULL, or what gets the size without that. */
int	tnf_read_all(int fd, char **ret, size_t *ret_size);

#endif
