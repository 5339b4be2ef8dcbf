/*
 * live.h - what tests over real processes have in common.
 *
 * A test is one program over libtnfctl; it exits 0, 1 or 77.  Victims are
 * started with their input and output in our hands and die with us.
 */
#ifndef LIVE_H
#define LIVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/tnfctl.h>

struct victim {
	pid_t	 pid;
	FILE	*in;		/* its output */
	int	 out;		/* its input */
};

/* name: without "victim-"; up to four arguments.  Waits for "ready". */
struct victim victim_start(const char *name, const char *const *args);
#define VICTIM(name, ...) \
	victim_start(name, (const char *const []){ __VA_ARGS__ __VA_OPT__(,) NULL })
/* Not 0: victims are started as this user. */
extern uid_t victim_user;
/* Path of a victim, static storage. */
const char *victim_path(const char *name);
void	victim_tell(struct victim *, const char *line);
/* Next line of its output without newline, static storage; "" at the end. */
const char *victim_says(struct victim *);
/* Nothing more is told: its input ends. */
void	victim_leave(struct victim *);
/* Until it sleeps in a system call. */
void	wait_asleep(pid_t);
/* tnfctl_continue() that SIGALRM interrupts after 'ms', and again until it has
   noticed; returns the event. */
tnfctl_event_t go_on_for(tnfctl_handle_t *, int ms);
/* Lets the target run until it says something; its line. */
const char *heard(tnfctl_handle_t *, struct victim *);
/* Waits for its end; the status of wait(2). */
int	victim_end(struct victim *);
/* An attach in a process of its own, which gets this signal after a second, or 0.  Its status;
   a minute without an answer is a failure. */
int	attach_apart(pid_t, int sig);
/* Writes into a file of a cgroup; false: there is none, or the kernel refuses. */
bool	put_text(const char *group, const char *name, const char *text);
/* Until this child has ended; it is left for wait(2). */
void	wait_for_zombie(pid_t);

/* Text of /proc/PID/what, malloc'ed. */
char	*proc_text(pid_t, const char *what);
/* A line of /proc/PID/status, without name; static storage. */
const char *proc_field(pid_t, const char *field);
bool	state_is(pid_t, const char *letters);	/* waits 100 s, while the process is there */

void	failed(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));
#define CHECK(cond) do { \
	if (!(cond)) \
		failed(__FILE__, __LINE__, "%s", #cond); \
} while (0)
#define CHECK_CODE(expr, wanted) do { \
	tnfctl_errcode_t code_ = (expr); \
	if (code_ != (wanted)) \
		failed(__FILE__, __LINE__, "%s: %s (%s), not %s", #expr, \
		    tnfctl_strerror(code_), tnfctl_error_detail(), \
		    tnfctl_strerror(wanted)); \
} while (0)
#define OK(expr)	CHECK_CODE(expr, TNFCTL_ERR_NONE)
#define CHECK_STR(got, wanted) do { \
	const char *got_ = (got); \
	if (strcmp(got_, wanted) != 0) \
		failed(__FILE__, __LINE__, "\"%s\", not \"%s\"", got_, wanted); \
} while (0)

/* Name of a fresh trace file, removed at the end; static storage. */
const char *trace_name(void);
void	make_trace(tnfctl_handle_t *);
/* How many records of events the file has, by the names of the probes. */
size_t	file_size(const char *path);
bool	file_has(const char *path, const char *text);

size_t	count_probes(tnfctl_handle_t *);
/* The probe of this name, or NULL. */
tnfctl_probe_t *find_probe(tnfctl_handle_t *, const char *name);
void	enable_all(tnfctl_handle_t *);

/* Seconds since the start of the test. */
double	seconds(void);
/* How long stress tests go on: TNF_STRESS=long in the environment. */
int	rounds(int normal, int many);

#endif
