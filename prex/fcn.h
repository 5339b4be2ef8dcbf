/*
 * fcn.h - handles for functions of the target: &name.
 */
#ifndef PREX_FCN_H
#define PREX_FCN_H

#include <sys/queue.h>

struct fcn {
	TAILQ_ENTRY(fcn) entry;
	char	*name;
	char	*symbol;
};
TAILQ_HEAD(fcns, fcn);

/* A handle of that name goes; the new one comes last. */
void	fcns_define(struct fcns *, const char *name, const char *symbol);
struct fcn *fcns_find(const struct fcns *, const char *name);
struct fcn *fcns_find_symbol(const struct fcns *, const char *symbol);
void	fcns_free(struct fcns *);

#endif
