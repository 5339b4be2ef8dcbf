/*
 * context.h - a context in memory.
 */
#ifndef LIBTNF_CONTEXT_H
#define LIBTNF_CONTEXT_H

#include <tnf/context.h>

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

/* What a thread's own events say of it. */
struct inner {
	int32_t	inner_tid;
	int32_t	tid;		/* as the machine has it */
};

/* A name that a task had until 'time'. */
struct former {
	int32_t	 tid;
	int64_t	 time;
	const char *comm;
};

/* A growing array; 'size' is that of an element. */
struct table {
	void	*rows;
	size_t	 n;
	size_t	 room;
	size_t	 size;
};

struct tnf_context {
	char	*text;
	int64_t	 mono, wall;
	bool	 has_clock;
	struct table facts, tasks, inners, formers, symbols, objects, devices;
};

#endif /* LIBTNF_CONTEXT_H */
