/*
 * list-tracefile.c - where do the records go?
 */
#include <stdio.h>

#include "prex/cmd.h"
#include "prex/list.h"
#include "prex/printable.h"
#include "prex/shell.h"

void
list_tracefile(struct shell *sh, const struct args *a)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;
	const char *name;

	if (sh->mode == MODE_KERNEL) {
		shell_error(sh, ERROR_PLAIN,
		    "There is no trace file in kernel mode!");
		return;
	}
	err = tnfctl_trace_attrs_get(sh->target, &attrs);
	name = sh->plan.name != NULL ? sh->plan.name : attrs.trace_file_name;
	if (err != TNFCTL_ERR_NONE)
		shell_tnfctl_error(sh, ERROR_TARGET, err,
		    "cannot read tracing status : ");
	else if (name == NULL)
		shell_error(sh, ERROR_TARGET, "the target has no trace file");
	else {
		fputs("Current trace file is: ", stdout);
		print_text(stdout, name);
		putchar('\n');
	}
}
