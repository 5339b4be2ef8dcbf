/*
 * who.h - who asks for something, in words for other people.
 */
#ifndef COMMON_WHO_H
#define COMMON_WHO_H

#include <stddef.h>
#include <sys/types.h>

/* "root by prex[4711]"; a name that is not known is a number, or left out.  The answer
   is cut to fit. */
void	tnf_who_is(uid_t, pid_t, char *ret, size_t size);

#endif
