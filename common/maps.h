/*
 * maps.h - what is mapped where in a process.
 */
#ifndef COMMON_MAPS_H
#define COMMON_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uintptr_t start;
	uintptr_t end;
	uint64_t offset;
	uint64_t device;	/* of the file system, and the file's number there */
	uint64_t inode;
	bool	 exec;
	bool	 write;
	bool	 shared;
	char	*path;		/* "" anonymous; "[stack]" and the like */
};

struct maps {
	struct mapping *m;	/* by address */
	size_t	 n;
	char	*text;
};

#define MAPPING_FILE_MAX	96
/* A name that leads to the very file that is mapped, whatever its own name leads to
   now, for who has CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN (root, as a rule); others are
   refused.  'name' is returned. */
const char *tnf_mapping_file(const struct mapping *, pid_t,
	    char name[MAPPING_FILE_MAX]);
/* A file that others see change. */
bool	tnf_mapping_is_written(const struct mapping *);

/* Has the process this file mapped so?  False also if nobody may know. */
struct stat;
bool	tnf_maps_write_file(pid_t, const struct stat *);

/* Two mappings of one file; false for memory that has none. */
static inline bool
mapping_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

int	tnf_maps_read(pid_t, struct maps *ret);	/* 0 or an errno */
void	tnf_maps_free(struct maps *);
const struct mapping *tnf_maps_find(const struct maps *, uintptr_t);
/* The mapping of the start of the same file, at or below this one. */
const struct mapping *tnf_maps_file_start(const struct maps *,
	    const struct mapping *);

#endif
