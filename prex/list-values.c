/*
 * list-values.c - the values that attributes have.
 */
#include <stdio.h>

#include "prex/cmd.h"
#include "prex/list.h"
#include "prex/printable.h"
#include "prex/shell.h"
#include "prex/unmatched.h"
#include "prex/values.h"

void
list_values(struct shell *sh, const struct args *a)
{
	struct values l;
	tnfctl_errcode_t err = values_collect(sh, &a->specs, &l);

	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_TARGET, err,
		    "probe traversal error : ");
	for (size_t i = 0; err == TNFCTL_ERR_NONE && i < l.n; i++) {
		print_text(stdout, l.v[i].attr);
		puts(" =");
		for (size_t j = 0; j < l.v[i].values.n; j++) {
			fputs("\t   ", stdout);
			print_text(stdout, l.v[i].values.v[j]);
			putchar('\n');
		}
	}
	values_free(&l);
	if (err == TNFCTL_ERR_NONE)
		unmatched_attributes(sh, &a->specs);
}
