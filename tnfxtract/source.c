/*
 * source.c - the buffer of the running kernel; and for images, too, the facts, the names and the
 * count of lost events.
 */
#include <inttypes.h>
#include <sched.h>

#include "common/proc.h"
#include "kernel-probes/kernel_probes.h"
#include "tnfxtract/snapshot.h"
#include "tnfxtract/source.h"

void
source_close(struct source *s)
{
	kp_close(s->kernel);
	s->kernel = NULL;
	image_buffer_free(&s->found);
	image_search_free(&s->search);
	image_close(&s->image);
}

static void
context_crashed(struct context_writer *w, int64_t when)
{
	time_t t = (time_t)when;
	struct tm tm;
	char text[64];

	if (gmtime_r(&t, &tm) != NULL &&
	    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
		context_fact(w, "crashed", text);
}

/* Writes the boot of the trace. */
static void
context_boot(struct context_writer *w, const void *base)
{
	char text[TNF_BOOT_ID_TEXT];
	struct tnf_ext ext;

	memcpy(&ext, (const char *)base + TNF_EXT_OFFSET, sizeof ext);
	tnf_boot_id_text(ext.boot_id, text);
	context_fact(w, "boot", text);
}

void
source_context_missing(struct context_writer *w, size_t missing, size_t blocks)
{
	char text[64];

	snprintf(text, sizeof text, "%zu of %zu blocks", missing, blocks);
	if (missing > 0)
		context_fact(w, "missing", text);
}

/* Writes the facts that the image tells.  Nothing comes from the machine we run on: the image is of
   another one, or of an earlier boot. */
static void
context_of_image(const struct source *s, struct context_writer *w)
{
	context_boot(w, s->base);
	source_context_missing(w, s->found.missing, s->found.size / 4096);
	if (s->image.arch != NULL)
		context_fact(w, "machine", s->image.arch->name);
	if (s->previous || s->image.release[0] == '\0')
		return;
	context_fact(w, "system", "Linux");
	context_fact(w, "release", s->image.release);
	if (s->image.host[0] != '\0')
		context_fact(w, "host", s->image.host);
	if (s->image.crashed > 0)
		context_crashed(w, s->image.crashed);
	char *printk = image_printk(&s->image);
	if (printk != NULL)
		context_fact(w, "printk", printk);
	free(printk);
}

void
source_context(const struct source *s, struct context_writer *w)
{
	if (s->kernel == NULL) {
		context_of_image(s, w);
		return;
	}
	context_host(w);
	kernel_context(s->kernel, w);
}

uint64_t
source_code(const struct source *s)
{
	return s->kernel == NULL ? image_arch_code(s->image.arch) : image_arch_code_here();
}

static const char *const lost_text[TNF_LOST_REASONS] = {
	[TNF_LOST_NO_BLOCK] = "without a free block",
	[TNF_LOST_NESTED] = "nested in another event",
	[TNF_LOST_TOO_LARGE] = "too large for a block",
	[TNF_LOST_NO_TAG_SPACE] = "without room for a definition",
	[TNF_LOST_BUSY] = "while a definition was made",
	[TNF_LOST_HOOK] = "passed over by the kernel",
	[TNF_LOST_PREEMPTED] = "preempted while they were written",
	[TNF_LOST_FULL] = "after the buffer was full",
};

/* Counts the events lost until now.  The kernel counts some itself, those that it skips, so the
   buffer's counts are not enough. */
void
source_count_lost(struct source *s)
{
	struct kp_status status;
	struct tnf_ext ext;

	memset(s->lost, 0, sizeof s->lost);
	s->lost_cpu = -1;
	if (s->kernel != NULL && kp_status(s->kernel, &status) == 0) {
		memcpy(s->lost, status.lost, sizeof s->lost);
		s->lost_cpu_max = status.lost_cpu_max;
		s->lost_cpu = status.lost_cpu_max != 0 ? status.lost_cpu : -1;
		return;
	}
	memcpy(&ext, (const char *)s->base + TNF_EXT_OFFSET, sizeof ext);
	if (ext.magic == TNF_EXT_MAGIC)
		memcpy(s->lost, ext.lost, sizeof s->lost);
}

/* The advice that would have kept the events, or most of them. */
static const char *
lost_remedy(const uint64_t *lost)
{
	if (lost[TNF_LOST_FULL] > 0)
		return "a larger buffer keeps more, and one without \"fill\" the latest";
	if (lost[TNF_LOST_NESTED] > 0 || lost[TNF_LOST_TOO_LARGE] > 0)
		return "a larger buffer, or fewer probes traced, helps";
	if (lost[TNF_LOST_NO_BLOCK] > 0)
		return "a buffer allocated anew has room for each CPU that is up";
	return "fewer probes traced help";
}

void
source_report_lost(const struct source *s)
{
	char why[512] = "", where[64] = "";
	uint64_t sum = 0;
	size_t i, n = 0;

	for (i = 0; i < TNF_LOST_REASONS; i++) {
		sum += s->lost[i];
		if (s->lost[i] == 0 || lost_text[i] == NULL || n >= sizeof why)
			continue;
		n += (size_t)snprintf(why + n, sizeof why - n,
		    "%s%" PRIu64 " %s", n == 0 ? "" : ", ", s->lost[i],
		    lost_text[i]);
	}
	if (s->lost_cpu >= 0)
		snprintf(where, sizeof where, ", %" PRIu64 " of them on CPU %d",
		    s->lost_cpu_max, s->lost_cpu);
	if (sum != 0)
		complain("%" PRIu64 " events lost%s: %s: %s", sum, where, why,
		    lost_remedy(s->lost));
}

static bool
complain_kernel(struct kp *kp, int e)
{
	const char *detail = kp_detail(kp);

	if (e == -ENOENT)
		fprintf(stderr, "No trace data available in the kernel.\n");
	else if (*detail != '\0')
		complain("%s", detail);
	else
		complain("kernel: %s", strerror(-e));
	return false;
}

bool
source_open_kernel(struct source *s)
{
	memset(s, 0, sizeof *s);
	s->image.fd = -1;
	s->symbols = KALLSYMS;
	int e = kp_open(false, &s->kernel);
	if (e == 0 && kp_standing(s->kernel) != KP_OK)
		e = -ENOENT;
	if (e == 0)
		e = kp_map(s->kernel, &s->base, &s->size);
	return e == 0 || complain_kernel(s->kernel, e);
}

/*
 * Reads the names.  A BPF program lists living tasks (kernel-context.c), some 1 us a task;
 * devices, and the paths and groups of processes, are in /proc and /sys.  If the kernel
 * does not accept that program, everything is read there, some 20 us a task.  A thread reads
 * the names while we copy.  On one CPU there is no such thread, as it would delay the copy while
 * events are overwritten: names_end() reads the names after the copy.  With the thread, reading begins
 * at the moment of the copy.  The writer of any event in it existed then, and is found among the living or among the ended tasks that the kernel
 * remembers.
 */
static void *
names_read(void *arg)
{
	struct names *n = arg;

	source_context(n->source, &n->context);
	source_count_lost(n->source);
	return NULL;
}

/* True if threads may run on several CPUs. */
static bool
two_cpus(void)
{
	cpu_set_t set;

	/* More CPUs than the set has room for count as several. */
	return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

void
names_begin(struct names *n, struct source *source)
{
	n->source = source;
	n->begun = true;
	context_begin(&n->context);
	n->beside = two_cpus() && pthread_create(&n->thread, NULL, names_read, n) == 0;
}

void
names_end(struct names *n)
{
	if (n->beside)
		pthread_join(n->thread, NULL);
	else
		names_read(n);
	n->beside = false;
}

void
names_free(struct names *n)
{
	if (n->beside)
		pthread_join(n->thread, NULL);
	n->beside = false;
	if (n->begun)
		context_free(&n->context);
	n->begun = false;
}
