/*
 * names.h - what $name and &name stand for.
 */
#ifndef PREX_NAMES_H
#define PREX_NAMES_H

#include <sys/queue.h>

struct tnf_selectors;

struct name {
	TAILQ_ENTRY(name) entry;
	char	*name;		/* without the $ or & */
	struct tnf_selectors *selectors;	/* of a set */
	char	*symbol;	/* of a function */
};
TAILQ_HEAD(names, name);

/* One of that name goes; the new one comes last.  A set takes a reference. */
void	names_define_set(struct names *, const char *name, struct tnf_selectors *);
/* One that is there without anybody's making it: "all", "always". */
void	names_define_known(struct names *, const char *name);
void	names_define_fcn(struct names *, const char *name, const char *symbol);
struct name *names_find(const struct names *, const char *name);
struct name *names_find_symbol(const struct names *, const char *symbol);
void	names_free(struct names *);

#endif
