/*
 * context.h - a context in memory.
 */
#ifndef LIBTNF_CONTEXT_H
#define LIBTNF_CONTEXT_H

#include <tnf/context.h>

#include "common/map.h"

#define EXPORT		__attribute__((visibility("default")))

struct fact {
	const char *name;
	const char *value;
};

struct device {
	uint32_t major;
	uint32_t minor;
	const char *name;
};

/* The number by which a thread's own events name it. */
struct inner {
	int32_t	inner_tid;
	int32_t	tid;		/* as the machine has it */
};

/* A growing array; 'size' is that of an element. */
struct table {
	void	*rows;
	size_t	 n;
	size_t	 size;
	int	 (*compare)(const void *, const void *);	/* of two rows; NULL: they are not sorted */
};

struct tnf_context {
	char	*text;
	int64_t	 mono, wall;
	bool	 has_clock;
	struct table facts, tasks, inners, formers, symbols, objects, devices, programs, cgroups;
	struct table ran;	/* a process, and its program from a time on */
	/* Rows that the process itself has told, before they are settled among the rest. */
	struct table threads, own_formers, own_ran, own_tasks, own_inners;
};

/* The program or the control group of a process. */
struct path_of {
	int32_t	 pid;
	const char *path;
};

void	*tnf_context_table_add(struct table *);

/* A trace file, in memory or not. */
struct context_source {
	/* 0: all of that is there; an error of libtnf. */
	int	(*read)(const struct context_source *, void *buf, size_t n, uint64_t offset);
	const unsigned char *base;
	int	 fd;
	uint64_t size;
	bool	 swapped;	/* its words have the other byte order than ours */
};

/* context-lookup.c: the lines in the file's blocks of names; *ret, to be freed, may be
   NULL.  0 or ENOMEM. */
int	tnf_context_names(const struct context_source *, char **ret, size_t *ret_size);
/* Counts the different pids that the writers of the file tell of themselves in it. */
uint32_t tnf_context_own_processes(const void *base, uint64_t size);
/* To be called when all is parsed and sorted; sort the tables to which it adds again. */
int	tnf_context_names_settle(struct tnf_context *);

#endif /* LIBTNF_CONTEXT_H */
