/*
 * whole.h - a file that appears under its name whole, or not at all.
 *
 * The file has no name (O_TMPFILE) while it is written, so that not even SIGKILL
 * leaves anything behind; where the file system cannot do that, it has a
 * temporary one in the same directory.  rename(2) replaces a symbolic link and
 * does not follow it.
 */
#ifndef COMMON_WHOLE_H
#define COMMON_WHOLE_H

struct whole {
	int	    dir;	/* the caller's, open as long as this is */
	const char *name;	/* in 'dir'; the caller's */
	int	    fd;		/* readable and writable; -1: given up, or committed */
	char	    temp[64];	/* the file's name for now; "": it has none */
};

/* These return 0 or an errno. */
int	tnf_whole_open(struct whole *, int dir, const char *name);	/* mode 0600 */
int	tnf_whole_commit(struct whole *);	/* under its name, in place of what has it */

/* Gives up what is not committed.  Safe in signal handlers and when repeated; errno
   stays. */
void	tnf_whole_discard(struct whole *);

#endif
