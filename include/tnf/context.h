/*
 * context.h - what a trace file tells about the machine it was made on. (Linux)
 *
 * A snapshot of the kernel, and a process trace that prex has closed, carry
 * behind the end that the file header declares a short text (tnf(5),
 * "Context"): the machine, the tasks, the symbols of the kernel addresses in
 * the trace, the objects of the process.  Every reader may ignore it.  It is
 * as little to be trusted as the rest of the file; strings may hold any byte
 * but NUL.
 *
 * Functions that return int return 0, an errno or a TNF_ERR_* code; ENODATA
 * says that the file has no context.  *ret is written only on success; the caller
 * closes it.  The text is copied: what tnf_context_open_mem() and
 * tnf_context_parse() are given may be freed when they return.  All that a context
 * hands out belongs to it and is valid until tnf_context_close().  A context does not
 * change once it is open, so several threads may use it at the same time.
 */
#ifndef TNF_CONTEXT_H
#define TNF_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TNF_CONTEXT_SIZE_MAX	(64u << 20)	/* larger ones are refused */

typedef struct tnf_context tnf_context_t;

/* A thread; the first of its process has tid == pid. */
struct tnf_context_task {
	int32_t		 tid;
	int32_t		 pid;		/* of the process (tgid) */
	int32_t		 ppid;		/* of the parent process */
	bool		 ended;		/* before the snapshot was taken */
	const char	*comm;
};

/* A name that a thread had until a time (CLOCK_MONOTONIC, as events have it). */
struct tnf_context_former {
	int32_t		 tid;
	int64_t		 time;
	const char	*comm;
};

/* A function or variable of the kernel: [start, end). */
struct tnf_context_symbol {
	uint64_t	 start;
	uint64_t	 end;
	const char	*name;
	const char	*module;	/* "" : the kernel itself */
};

/* A mapped object of a traced process: [start, end). */
struct tnf_context_object {
	int32_t		 pid;
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 offset;	/* in the file, of 'start' */
	const char	*build_id;	/* hexadecimal; "-": none */
	const char	*path;
};

int  tnf_context_open(const char *path, tnf_context_t **ret);
/* From the whole file in memory; from the context's text alone. */
int  tnf_context_open_mem(const void *base, size_t size, tnf_context_t **ret);
int  tnf_context_parse(const void *text, size_t size, tnf_context_t **ret);
void tnf_context_close(tnf_context_t *);	/* NULL is fine */

/* A fact by its name: "host", "system", "release", "version", "machine",
   "boot", "cpus", "zone"...  NULL: not told. */
const char *tnf_context_fact(const tnf_context_t *, const char *name);

/* Wall clock time (ns since 1970) of an event's time.  false: not told. */
bool tnf_context_wall(const tnf_context_t *, int64_t time, int64_t *ret);

/* NULL: unknown. */
const struct tnf_context_task *tnf_context_task(const tnf_context_t *,
    int32_t tid);
/* The thread whose events in a process's trace say 'tid': a process in a
   container has other numbers there than on the machine, and the context tells
   both.  Where it does not, the same as tnf_context_task(). */
const struct tnf_context_task *tnf_context_writer(const tnf_context_t *,
    int32_t tid);
/* A thread's name at an event's time, as far as the context knows of changes (a
   program that is started has its parent's name first), else the one that it
   kept; NULL: unknown. */
const char *tnf_context_name(const tnf_context_t *, int32_t tid, int64_t time);
/* The path of the program that a process ran at an event's time (INT64_MAX: ran last), and
   its control group; NULL: not told.  A process in a container may be known by the number
   that it has there. */
const char *tnf_context_program(const tnf_context_t *, int32_t pid, int64_t time);
const char *tnf_context_cgroup(const tnf_context_t *, int32_t pid);
const struct tnf_context_symbol *tnf_context_symbol(const tnf_context_t *,
    uint64_t addr);
const struct tnf_context_object *tnf_context_object(const tnf_context_t *,
    int32_t pid, uint64_t addr);
const char *tnf_context_device(const tnf_context_t *, uint32_t major,
    uint32_t minor);

/* All of them, ordered by tid, start, (pid, start), (tid, time). */
const struct tnf_context_task *tnf_context_tasks(const tnf_context_t *,
    size_t *n);
const struct tnf_context_symbol *tnf_context_symbols(const tnf_context_t *,
    size_t *n);
const struct tnf_context_object *tnf_context_objects(const tnf_context_t *,
    size_t *n);
const struct tnf_context_former *tnf_context_formers(const tnf_context_t *,
    size_t *n);
/* The programs of processes: here 'time' is the time at which one began. */
const struct tnf_context_former *tnf_context_ran(const tnf_context_t *, size_t *n);

#ifdef __cplusplus
}
#endif

#endif /* TNF_CONTEXT_H */
