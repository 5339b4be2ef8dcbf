/*
 * always.c - the kernel probes that may be on for ever.
 */
#include <stddef.h>

#include "prex/always.h"
#include "prex/selector.h"

/*
 * Probes whose hooks are passed a few thousand times a second at most.  A probe at
 * a system call, a wake-up or every page fault is not for this list.
 */
static const char *const always[] = {
	"thread_create", "thread_exit", "strategy", "biodone", "major_fault",
	"pagein", "pageout", "pageout_scan_start", "pageout_scan_end",
	"swapout_lwp", NULL
};

struct selectors *
always_selectors(void)
{
	struct selectors *set = selectors_new();
	struct spec attr, value;

	for (size_t i = 0; always[i] != NULL; i++) {
		spec_init(&attr, "name", false);
		spec_init(&value, always[i], false);
		selectors_add(set, attr, value);
	}
	return set;
}
