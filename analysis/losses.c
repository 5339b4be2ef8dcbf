/*
 * losses.c - why events are missing, in words.
 */
#include <stddef.h>

#include <tnf/com.h>

#include "analysis/losses.h"

static const char *const names[] = {
	[TNF_LOST_NO_BLOCK] = "no free block",
	[TNF_LOST_NESTED] = "inside another event",
	[TNF_LOST_TOO_LARGE] = "larger than a block",
	[TNF_LOST_NO_TAG_SPACE] = "no room for a definition",
	[TNF_LOST_BUSY] = "definition being written",
	[TNF_LOST_HOOK] = "skipped by the kernel",
	[TNF_LOST_PREEMPTED] = "writer preempted",
	[TNF_LOST_FULL] = "came when the file was full",
};

const char *
loss_name(unsigned reason)
{
	return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}
