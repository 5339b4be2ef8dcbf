/*
 * context-write.c - the text of a context, and its place in a file.
 */
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include <inttypes.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/proc.h"
#include "libtnf/context-write.h"

void
context_begin(struct context_writer *w)
{
	*w = (struct context_writer){ .text = NULL };
	w->f = open_memstream(&w->text, &w->size);
	if (w->f != NULL)
		fputs("TNFCTX 1\n", w->f);
}

void
context_free(struct context_writer *w)
{
	if (w->f != NULL)
		fclose(w->f);
	w->f = NULL;
	free(w->text);
	w->text = NULL;
}

/* Bytes above 127 stay: names are UTF-8 as a rule, and readers must cope. */
void
context_escaped(struct context_writer *w, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7f || c == '\\')
			fprintf(w->f, "\\%03o", c);
		else
			putc_unlocked(c, w->f);
	}
}

void
context_fact(struct context_writer *w, const char *word, const char *value)
{
	if (w->f == NULL)
		return;
	fprintf(w->f, "%s ", word);
	context_escaped(w, value);
	putc('\n', w->f);
}

/* Writes both clocks at one instant: of several tries, the one that took the least time. */
static void
context_write_clocks(struct context_writer *w)
{
	int64_t before, wall, after, best = INT64_MAX;
	int64_t best_mono = 0, best_wall = 0;

	for (int i = 0; i < 8; i++) {
		before = clock_ns(CLOCK_MONOTONIC);
		wall = clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC);
		if (after - before < best) {
			best = after - before;
			best_mono = before + best / 2;
			best_wall = wall;
		}
	}
	fprintf(w->f, "clock %" PRId64 " %" PRId64 "\n", best_mono, best_wall);
}

/* Writes the wall clock's error as the kernel knows it from chronyd, ntpd or
   systemd-timesyncd.  Any user may ask the kernel. */
static void
context_write_sync(struct context_writer *w)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);
	int64_t offset = (t.status & STA_NANO) != 0 ? t.offset : t.offset * (int64_t)1000;

	if (state < 0)
		return;
	fprintf(w->f, "sync %s %" PRId64 " %" PRId64 " %" PRId64 "\n",
	    state == TIME_ERROR || (t.status & STA_UNSYNC) != 0 ? "free" : "synchronised",
	    offset, t.maxerror * (int64_t)1000, t.esterror * (int64_t)1000);
}

static void
context_write_zone(struct context_writer *w)
{
	time_t t = time(NULL);
	struct tm tm;

	if (localtime_r(&t, &tm) != NULL)
		fprintf(w->f, "zone %+ld %s\n", tm.tm_gmtoff, tm.tm_zone);
}

static void
context_write_boot(struct context_writer *w)
{
	uint8_t id[TNF_BOOT_ID_SIZE];
	char text[TNF_BOOT_ID_TEXT];

	if (!tnf_boot_id(id))
		return;
	tnf_boot_id_text(id, text);
	context_fact(w, "boot", text);
}

void
context_host(struct context_writer *w)
{
	struct utsname u;

	if (w->f == NULL)
		return;
	if (uname(&u) == 0) {
		context_fact(w, "host", u.nodename);
		context_fact(w, "system", u.sysname);
		context_fact(w, "release", u.release);
		context_fact(w, "version", u.version);
		context_fact(w, "machine", u.machine);
	}
	context_write_boot(w);
	fprintf(w->f, "cpus %ld\n", sysconf(_SC_NPROCESSORS_CONF));
	context_write_clocks(w);
	context_write_sync(w);
	context_write_zone(w);
}

#define EXT(member)	(TNF_EXT_OFFSET + offsetof(struct tnf_ext, member))

/* Reads from the header where the trace ends, or will end; 0 or an errno. */
static int
declared_end(int fd, uint64_t reserved, uint64_t *ret)
{
	struct tnf_file_header h;
	uint32_t magic;

	if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
	    pread(fd, &magic, sizeof magic, EXT(magic)) !=
	    (ssize_t)sizeof magic)
		return EINVAL;
	if (h.magic == 0) {
		*ret = reserved;
		return reserved != 0 ? 0 : ENODATA;
	}
	if (h.magic != TNF_MAGIC || magic != TNF_EXT_MAGIC)
		return EINVAL;
	*ret = (uint64_t)h.block_size * h.block_count;
	return 0;
}

/*
 * A file that was cut off stays as short as it is: a context behind the cut would
 * hide that something is missing.  A write past RLIMIT_FSIZE would raise SIGXFSZ.
 */
static int
has_room(int fd, uint64_t end, uint64_t size, uint64_t *ret_size)
{
	struct rlimit limit;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	*ret_size = (uint64_t)st.st_size;
	if (*ret_size < end)
		return EINVAL;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end + size > limit.rlim_cur)
		return EFBIG;
	return 0;
}

/* If the file system is full, the file gets its former size back: a process that maps
   the file would get a SIGBUS at a page without a block. */
static int
context_write_put_text(const struct context_writer *w, int fd, uint64_t end, uint64_t was)
{
	int e = pwrite_all(fd, w->text, w->size, end);

	if (ftruncate(fd, (off_t)(e == 0 ? end + w->size : was)) != 0 && e == 0)
		e = errno;
	return e;
}

/* The size goes in last: until then there is no context. */
int
context_append(struct context_writer *w, int fd, uint64_t reserved)
{
	uint64_t end, size, was = 0, none = 0;

	if (w->f == NULL || fputs("end 1\n", w->f) == EOF || fflush(w->f) != 0)
		return ENOMEM;
	int e = declared_end(fd, reserved, &end);
	if (e != 0)
		return e;
	size = w->size;
	e = has_room(fd, end, size, &was);
	if (e == 0)
		e = pwrite_all(fd, &none, sizeof none, EXT(extra_size));
	if (e == 0)
		e = context_write_put_text(w, fd, end, was);
	if (e == 0)
		e = pwrite_all(fd, &end, sizeof end, EXT(extra_offset));
	if (e == 0)
		e = pwrite_all(fd, &size, sizeof size, EXT(extra_size));
	return e;
}
