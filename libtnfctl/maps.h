/*
 * maps.h - what is mapped where in a process.
 */
#ifndef LIBTNFCTL_MAPS_H
#define LIBTNFCTL_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uintptr_t start;
	uintptr_t end;
	uint64_t offset;
	uint64_t inode;
	bool	 exec;
	char	*path;		/* "" anonymous; "[stack]" and the like */
};

struct maps {
	struct mapping *m;	/* by address */
	size_t	 n;
	char	*text;
};

int	maps_read(pid_t, struct maps *ret);	/* 0 or an errno */
void	maps_free(struct maps *);
const struct mapping *maps_find(const struct maps *, uintptr_t);
/* The mapping of the start of the same file, at or below this one. */
const struct mapping *maps_file_start(const struct maps *,
	    const struct mapping *);

#endif
