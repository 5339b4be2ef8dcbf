/*
 * selector.h - patterns for attributes and their values, and lists of them.
 */
#ifndef PREX_SELECTOR_H
#define PREX_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <regex.h>

struct attrs;

struct spec {
	char	*text;
	regex_t	*regex;		/* NULL: text is to be equal */
	bool	is_regex;	/* with a NULL regex: it matches nothing */
	bool	any;		/* a pattern that fits whatever there is: no choice */
};

struct selector {
	struct spec attr, value;
};

/* Shared by sets, commands and the history: counted, never changed. */
struct selectors {
	unsigned refs;
	size_t	n;
	struct selector *v;
};

struct specs {
	size_t	n;
	struct spec *v;
};

/* Returns 0, or what regerror(3) explains: it matches nothing then. */
int	spec_init(struct spec *s, const char *text, bool is_regex);
void	spec_free(struct spec *s);
bool	spec_match(const struct spec *s, const char *text);
bool	specs_match(const struct specs *l, const char *text);
void	specs_add(struct specs *l, struct spec s);	/* takes s */
void	specs_free(struct specs *l);

struct selectors *selectors_new(void);
struct selectors *selectors_ref(struct selectors *l);
void	selectors_unref(struct selectors *l);
void	selectors_add(struct selectors *l, struct spec attr, struct spec value);
/* Does any of them?  With used, sets used[i] of all that do. */
bool	selectors_match(const struct selectors *l, const struct attrs *attrs,
	    bool *used);
/* What "$always" stands for: the kernel probes that may be on for ever. */
struct selectors *always_selectors(void);
char	*selector_text(const struct selector *);	/* to be freed */
void	selectors_print(const struct selectors *l);	/* "'a'=/v/ " for each */

#endif
