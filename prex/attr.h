/*
 * attr.h - the attributes of probes, the values that they have in all probes, and what a
 * command selects by them.
 */
#ifndef PREX_ATTR_H
#define PREX_ATTR_H

#include <stdbool.h>

#include <tnf/tnfctl.h>

#include "format/selector.h"
#include "prex/util.h"

struct names;
struct shell;

/* The attributes of a probe.  The caller frees ret->funcs; the rest is the state's. */
void	attrs_of_probe(struct tnf_probe_attrs *ret, const tnfctl_probe_state_t *state,
	    const struct names *fcns);

/* The same with the slots of a probe that may be imported, which are found only when they are
   asked for; false: the probe is not there any more. */
bool	attrs_describe(struct shell *, tnfctl_probe_t *, struct tnf_probe_attrs *ret);

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

struct value_list {
	char	*attr;
	struct strings values;
};

struct values {
	struct value_list *v;
	size_t	n;
};

/* Collects the values of the attributes whose names match; all are sorted bytewise. */
tnfctl_errcode_t values_collect(struct shell *, const struct specs *,
	    struct values *);
void	values_free(struct values *);

/* Warns of the selectors that no probe has matched, with a guess at the intended name.  'used'
   has a flag for each; warns of those of a set (NULL: none was named) only if none of them has
   matched. */
void	unmatched_tell(struct shell *, const char *command, const char *set,
	    const struct tnf_selectors *, const bool *used);
/* The same about attributes that no probe has. */
void	unmatched_attributes(struct shell *, const struct specs *);

#endif
