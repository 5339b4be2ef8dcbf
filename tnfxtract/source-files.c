/*
 * source-files.c - writes trace files of processes from an image to a directory.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtnf/context-write.h"
#include "tnfxtract/source.h"

#define SAME_MAX	1000	/* limit of files for one pid */

struct files {
	const char *directory;
	unsigned    written;
};

/* Opens process-PID.tnf, or process-PID.2.tnf and so on; returns 0 or an errno. */
static int
open_file(const struct files *f, int32_t pid, char *name, size_t size, struct output *out)
{
	struct stat st;

	for (int n = 1; n < SAME_MAX; n++) {
		if (n == 1)
			snprintf(name, size, "%s/process-%d.tnf", f->directory, pid);
		else
			snprintf(name, size, "%s/process-%d.%d.tnf", f->directory, pid, n);
		if (lstat(name, &st) != 0 && errno == ENOENT)
			return output_open(out, name);
	}
	return EEXIST;
}

/* Writes the file; pages that are all zero stay holes. */
static int
put_file(struct output *out, const struct image_file *f)
{
	static const unsigned char zero[4096];
	int e = ftruncate(out->file.fd, (off_t)f->size) != 0 ? errno : 0;

	for (uint64_t at = 0; at < f->size && e == 0; at += sizeof zero) {
		size_t n = f->size - at < sizeof zero ? (size_t)(f->size - at) : sizeof zero;

		if (memcmp(f->base + at, zero, n) != 0)
			e = output_put(out, at, f->base + at, n);
	}
	return e;
}

/* Adds the context that counts missing blocks; a full disk is an error. */
static int
put_missing(const struct output *out, const struct image_file *f)
{
	struct context_writer w;
	int e;

	if (f->missing == 0)
		return 0;
	context_begin(&w);
	source_context_missing(&w, f->missing, f->used);
	e = context_append(&w, out->file.fd, 0);
	context_free(&w);
	return e == EINVAL ? 0 : e;	/* EINVAL: the file is cut off */
}

static void
source_files_tell(const struct image_file *f, const char *name)
{
	if (f->undefined != 0)
		complain("%s: %u definitions or blocks of them are not in the image: events "
		    "that need them are missing", name, f->undefined);
	if (f->missing != 0)
		complain("%s: %u of %u blocks are not in the image: their events are "
		    "missing", name, f->missing, f->used);
}

static int
source_files_take(void *arg, const struct image_file *file)
{
	struct files *f = arg;
	struct output out;
	char name[4096];

	memset(&out, 0, sizeof out);
	out.file.fd = out.dir = -1;
	int e = open_file(f, file->pid, name, sizeof name, &out);
	if (e == 0)
		e = put_file(&out, file);
	if (e == 0)
		e = put_missing(&out, file);
	if (e == 0)
		e = output_commit(&out, false);
	output_discard(&out);
	if (e != 0) {
		complain("%s: %s", name, strerror(e));
		return e;
	}
	f->written++;
	source_files_tell(file, name);
	return 0;
}

bool
source_write_files(struct source *s, const char *directory)
{
	struct files f = { .directory = directory };
	int e;

	if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
		complain("%s: %s", directory, strerror(errno));
		return false;
	}
	e = image_find_files(&s->image, &s->search, s->previous ? s->boot_id : NULL, source_files_take, &f);
	if (s->search.left_out != 0)
		complain("%llu pages of trace files were passed over: there are more than fit in "
		    "here", (unsigned long long)s->search.left_out);
	if (e == 0 && f.written == 0 && s->previous)
		complain("no trace file of an earlier boot's processes is in memory");
	else if (e == 0 && f.written == 0)
		complain("%s: no trace file of a process is in the image: makedumpfile leaves out the "
		    "page cache where its dump level (-d) has 2 or 4 in it", s->dump);
	return e == 0 && f.written > 0;
}
