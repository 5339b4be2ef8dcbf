/*
 * refused.h - objects and functions that are left alone whatever their code is like.
 */
#ifndef LIBTNFCTL_REFUSED_H
#define LIBTNFCTL_REFUSED_H

struct elffile;

/* Why nothing in an object may be patched; NULL: it may.  Static. */
const char *tnfctl_refused_object(struct elffile *);
/* The same for the function of this name. */
const char *tnfctl_refused_name(const char *name);
/* The same for its return alone. */
const char *tnfctl_refused_return(const char *name);

#endif
