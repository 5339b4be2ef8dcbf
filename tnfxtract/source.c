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

static void
put_ended(void *arg, pid_t tid, pid_t pid, pid_t ppid, const char *comm)
{
	context_ended(arg, tid, pid, ppid, comm);
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
		kp_ended(s->kernel, put_ended, w);
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

/* In all, and on the CPU that lost most; its number is -1 if unknown. */
static void
lost_counts(struct source *s, uint64_t *lost, uint64_t *cpu_max, int *cpu)
{
	struct kp_status status;
	struct tnf_ext ext;

	memset(lost, 0, sizeof ext.lost);
	*cpu = -1;
	if (s->kernel != NULL && kp_status(s->kernel, &status) == 0) {
		memcpy(lost, status.lost, sizeof status.lost);
		*cpu_max = status.lost_cpu_max;
		*cpu = *cpu_max != 0 ? status.lost_cpu : -1;
		return;
	}
	memcpy(&ext, (const char *)s->base + TNF_EXT_OFFSET, sizeof ext);
	if (ext.magic == TNF_EXT_MAGIC)
		memcpy(lost, ext.lost, sizeof ext.lost);
}

void
source_report_lost(struct source *s)
{
	uint64_t lost[TNF_LOST_REASONS], sum = 0, cpu_max = 0;
	char why[512] = "", where[64] = "";
	size_t i, n = 0;
	int cpu;

	lost_counts(s, lost, &cpu_max, &cpu);
	for (i = 0; i < TNF_LOST_REASONS; i++) {
		sum += lost[i];
		if (lost[i] == 0 || lost_text[i] == NULL || n >= sizeof why)
			continue;
		n += (size_t)snprintf(why + n, sizeof why - n,
		    "%s%" PRIu64 " %s", n == 0 ? "" : ", ", lost[i],
		    lost_text[i]);
	}
	if (cpu >= 0)
		snprintf(where, sizeof where, ", %" PRIu64 " of them on CPU %d",
		    cpu_max, cpu);
	if (sum != 0)
		complain("%" PRIu64 " events lost%s: %s: a larger buffer, or "
		    "fewer probes traced, helps", sum, where, why);
}
