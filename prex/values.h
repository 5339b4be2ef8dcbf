/*
 * values.h - which values do attributes have in all probes?
 */
#ifndef PREX_VALUES_H
#define PREX_VALUES_H

#include <tnf/tnfctl.h>

#include "prex/util.h"

struct shell;
struct specs;

struct value_list {
	char	*attr;
	struct strings values;
};

struct values {
	struct value_list *v;
	size_t	n;
};

/* Of the attributes whose names match; all sorted bytewise. */
tnfctl_errcode_t values_collect(struct shell *, const struct specs *,
	    struct values *);
void	values_free(struct values *);

#endif
