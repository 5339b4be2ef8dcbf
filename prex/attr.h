/*
 * attr.h - the attributes of a probe, and those that a command asks for.
 */
#ifndef PREX_ATTR_H
#define PREX_ATTR_H

#include <tnf/tnfctl.h>

#include "format/selector.h"

struct names;

/* The attributes of a probe.  The caller frees ret->funcs; the rest is the state's. */
void	attrs_of_probe(struct tnf_probe_attrs *ret, const tnfctl_probe_state_t *state,
	    const struct names *fcns);

/* Names of attributes, or patterns for them. */
struct specs {
	size_t	n;
	struct tnf_spec *v;
};

bool	specs_match(const struct specs *l, const char *text);
void	specs_add(struct specs *l, struct tnf_spec s);	/* takes s */
void	specs_add_text(struct specs *l, const char *text, bool is_regex);
void	specs_free(struct specs *l);

char	*selector_text(const struct tnf_selector *);	/* to be freed */
void	selectors_print(const struct tnf_selectors *l);	/* "'a'=/v/ " for each */

#endif
