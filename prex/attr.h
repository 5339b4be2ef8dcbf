/*
 * attr.h - the attributes of a probe and their values.
 */
#ifndef PREX_ATTR_H
#define PREX_ATTR_H

#include <stdbool.h>
#include <stddef.h>

#include <tnf/tnfctl.h>

struct names;

struct attr {
	char	*name;
	char	*text;		/* what follows the name, as it is */
	char	**values;	/* text cut at blanks; at least one, maybe "" */
	size_t	n_values;
};

struct attrs {
	struct attr *v;
	size_t	n;
	bool	imported;	/* the probe is a point that nobody wrote it for */
	bool	used;		/* it is enabled or traced */
};

/* enable, trace, object and funcs, which change, and then the probe's own. */
void	attrs_of_probe(struct attrs *l, const tnfctl_probe_state_t *state,
	    const struct names *fcns);
/* Adds those of an attribute string: "name N;slots A B ;keys K;..." */
void	attrs_parse(struct attrs *l, const char *s);
void	attrs_free(struct attrs *l);

#endif
