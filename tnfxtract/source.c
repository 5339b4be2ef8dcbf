/*
 * source.c - what both kinds of source have in common.
 */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tnf/com.h>

#include "../kernel-probes/kernel_probes.h"
#include "../libtnf/context-write.h"
#include "snapshot.h"
#include "tnfxtract.h"

void
source_close(struct source *s)
{
	kp_close(s->kernel);
	s->kernel = NULL;
	image_buffer_free(&s->found);
	image_close(&s->image);
}

/* What an image does not tell about its machine stays out: this machine is
   another one, or has been started anew. */
void
source_context(struct source *s, struct context_writer *w)
{
	if (s->kernel != NULL) {
		context_host(w);
		context_devices(w);
		context_tasks(w, 0);
	} else if (s->image.release[0] != '\0') {
		context_fact(w, "system", "Linux");
		context_fact(w, "release", s->image.release);
	}
}

static const char *const lost_text[TNF_LOST_REASONS] = {
	[TNF_LOST_NO_BLOCK] = "without a free block",
	[TNF_LOST_NESTED] = "nested in another event",
	[TNF_LOST_TOO_LARGE] = "too large for a block",
	[TNF_LOST_NO_TAG_SPACE] = "without room for a definition",
	[TNF_LOST_BUSY] = "while a definition was made",
	[TNF_LOST_HOOK] = "passed over by the kernel",
};

static void
lost_counts(struct source *s, uint64_t *lost)
{
	struct kp_status status;
	struct tnf_ext ext;

	memcpy(&ext, (const char *)s->base + TNF_EXT_OFFSET, sizeof ext);
	memset(lost, 0, sizeof ext.lost);
	if (s->kernel != NULL && kp_status(s->kernel, &status) == 0)
		memcpy(lost, status.lost, sizeof status.lost);
	else if (ext.magic == TNF_EXT_MAGIC)
		memcpy(lost, ext.lost, sizeof ext.lost);
}

void
source_report_lost(struct source *s)
{
	uint64_t lost[TNF_LOST_REASONS], sum = 0;
	char why[512] = "";
	size_t i, n = 0;

	lost_counts(s, lost);
	for (i = 0; i < TNF_LOST_REASONS; i++) {
		sum += lost[i];
		if (lost[i] == 0 || lost_text[i] == NULL || n >= sizeof why)
			continue;
		n += (size_t)snprintf(why + n, sizeof why - n,
		    "%s%" PRIu64 " %s", n == 0 ? "" : ", ", lost[i],
		    lost_text[i]);
	}
	if (sum != 0)
		complain("%" PRIu64 " events lost: %s: a larger buffer, or "
		    "fewer probes traced, helps", sum, why);
}
