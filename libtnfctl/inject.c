/*
 * inject.c - load libtnfprobe into a stopped process.
 */
#include "direct.h"

tnfctl_errcode_t
inject_library(tnfctl_handle_t *h)
{
	return fail(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: "
	    TNFCTL_LIBTNFPROBE " is not loaded: start it with LD_PRELOAD="
	    TNFCTL_LIBTNFPROBE, (int)h->pid);
}
