/*
 * tnf.c - writes the kept events as a new trace: blocks, directory, header.
 *
 * Headers stand at the front and are known last.  So the output is written in place; only if it
 * is standard output and cannot be sought in, a temporary file is written and then copied there.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/xalloc.h"
#include "format/core.h"
#include "tnfdump/origin.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/tnf-write.h"

struct slice {
	struct tnf_writer w;
	int	 fd;		/* of the file that is written */
	bool	 copy;		/* to standard output when it is done */
	uint64_t left_out;	/* events too large for a block */
	bool	 kernel;	/* any event of a kernel */
	struct map redacted;	/* the texts, with --redact */
};

static void
put_bytes(struct tnf_writer *w, const void *bytes, size_t size, uint64_t at)
{
	if (w->error == 0)
		w->error = pwrite_all(w->fd, bytes, size, at);
}

bool
tnfw_begin_block(struct tnf_writer *w, struct tnfw_block *b, uint64_t limit)
{
	if (w->next > limit) {
		if (w->error == 0)
			w->error = EFBIG;
		return false;
	}
	memset(b->bytes, 0, sizeof(b->bytes));
	b->offset = (uint32_t)w->next;
	b->used = sizeof(struct tnf_block_header);
	w->next += TNFW_BLOCK;
	return true;
}

static void
write_block(struct tnf_writer *w, struct tnfw_block *b, uint32_t generation)
{
	struct tnf_block_header h = {
		.tag = TNF_BLOCK_HEADER_TAG(TNFW_BLOCK),
		.generation = generation,
		.bytes_valid = (uint16_t)b->used,
	};

	memcpy(b->bytes, &h, sizeof(h));
	put_bytes(w, b->bytes, b->used, b->offset);
}

char *
tnfw_room(struct tnfw_block *b, uint32_t size)
{
	size = tnfw_round(size, 8);
	if (b->offset == 0 || size > TNFW_BLOCK - b->used)
		return NULL;
	char *p = b->bytes + b->used;
	b->used += size;
	return p;
}

char *
tnfw_tag_room(struct tnf_writer *w, uint32_t size, uint32_t *offset)
{
	struct tnfw_block *b = w->n_tags == 0 ? NULL : w->tags[w->n_tags - 1];
	char *p;

	if (size > TNFW_ROOM) {
		w->too_large = true;
		return NULL;
	}
	if (b == NULL || (p = tnfw_room(b, size)) == NULL) {
		b = tnf_xcalloc(1, sizeof(*b));
		w->tags = tnf_xreallocarray(w->tags, w->n_tags + 1, sizeof(*w->tags));
		w->tags[w->n_tags++] = b;
		if (!tnfw_begin_block(w, b, TNFW_TAG_LIMIT))
			return NULL;
		p = tnfw_room(b, size);
	}
	*offset = b->offset + (uint32_t)(p - b->bytes);
	return p;
}

void
tnfw_write_data(struct tnf_writer *w, struct tnfw_block *b)
{
	write_block(w, b, 1);
	w->ext.data_cursor++;
}

int
tnfw_new_data_block(struct tnf_writer *w)
{
	if (w->data->offset != 0)
		tnfw_write_data(w, w->data);
	if (w->error == 0)
		tnfw_begin_block(w, w->data, TNFW_FILE_LIMIT);
	return w->error;
}

static int
tnfw_open(struct tnf_writer *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->next = TNFW_DIRECTORY;
	w->data = tnf_xcalloc(1, sizeof(*w->data));
	w->nowhere = tnf_xcalloc(1, TNFW_BLOCK);
	tnf_map_init(&w->types, sizeof(int));
	return tnfw_define_core(w);
}

static void
write_header(struct tnf_writer *w)
{
	struct tnf_file_header h = { .magic = TNF_MAGIC,
		.blocks_valid = (uint32_t)(w->next / TNFW_BLOCK) - 1 };

	tnf_header_set(&h, TNFW_BLOCK, TNFW_DIRECTORY, w->next);
	w->ext.magic = TNF_EXT_MAGIC;
	w->ext.version = TNF_EXT_VERSION;
	w->ext.size = sizeof(w->ext);
	w->ext.tag_cursor = w->n_tags;
	w->ext.dir_cursor = TNFW_BLOCK + 4 * w->n_directory;
	w->ext.data_start = TNFW_DIRECTORY;
	put_bytes(w, w->directory, sizeof(w->directory), TNFW_BLOCK);
	if (w->has_ext)
		put_bytes(w, &w->ext, sizeof(w->ext), TNF_EXT_OFFSET);
	put_bytes(w, &h, sizeof(h), 0);
}

/* Writes the blocks that are left, the context behind the trace (or NULL), then directory and
   header. */
static int
tnfw_finish(struct tnf_writer *w, const char *context, size_t size)
{
	for (unsigned i = 0; i < w->n_tags; i++)
		write_block(w, w->tags[i], TNF_GENERATION_TAG);
	if (w->data->offset != 0)
		tnfw_write_data(w, w->data);
	if (ftruncate(w->fd, (off_t)w->next) != 0 && w->error == 0)
		w->error = errno;
	if (context != NULL) {
		w->ext.extra_offset = w->next;
		w->ext.extra_size = size;
		put_bytes(w, context, size, w->next);
	}
	write_header(w);
	return w->error;
}

static void
tnfw_free(struct tnf_writer *w)
{
	for (unsigned i = 0; i < w->n_tags; i++)
		free(w->tags[i]);
	tnfw_free_probes(w);
	tnf_map_free(&w->types);
	for (unsigned i = 0; i < w->n_defs; i++) {
		free(w->defs[i].slots);
		free(w->defs[i].slot_names);
	}
	free(w->nowhere);
	free(w->tags);
	free(w->defs);
	free(w->data);
}

static int
tnf_fail(struct dump *d, const char *what, int error)
{
	dump_error(d, "%s: %s: %s",
	    d->path != NULL ? d->path : "standard output", what,
	    strerror(error));
	return -1;
}

static bool
can_seek(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	    (flags & O_APPEND) == 0 && lseek(fd, 0, SEEK_CUR) == 0;
}

static int
open_output(struct dump *d, struct slice *s)
{
	if (d->path != NULL) {
		s->fd = open(d->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
		if (s->fd < 0)
			return tnf_fail(d, "cannot create", errno);
		if (can_seek(s->fd))
			return 0;
		dump_error(d, "--to tnf: %s is no regular file, in which the end is written "
		    "before the beginning: write to standard output (> %s)", d->path, d->path);
		return -1;
	}
	if (isatty(STDOUT_FILENO)) {
		dump_error(d, "--to tnf: standard output is a terminal: "
		    "give --output FILE");
		return -1;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return tnf_fail(d, "cannot write", errno);
	s->copy = !can_seek(STDOUT_FILENO);
	s->fd = s->copy ? tnf_unnamed_open("/tmp") : STDOUT_FILENO;
	return s->fd < 0 ? tnf_fail(d, "cannot create a temporary file", errno) : 0;
}

/* Fills the header: the process that recorded the trace, from the first file that tells it,
   and the events lost in all files. */
static void
tnf_describe(struct dump *d, struct slice *s)
{
	struct tnf_ext *to = &s->w.ext;
	bool first = true;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		const struct tnf_ext *from = tnf_file_ext(d->inputs[i].file);
		if (from == NULL)
			continue;
		for (unsigned k = 0; k < TNF_LOST_REASONS; k++)
			to->lost[k] += from->lost[k];
		to->shortened += from->shortened;
		s->w.has_ext = true;
		if (!first)
			continue;
		to->pid = from->pid;
		to->start_mono = from->start_mono;
		to->start_wall = from->start_wall;
		memcpy(to->boot_id, from->boot_id, sizeof(to->boot_id));
		first = false;
	}
}

int
slice_begin(struct dump *d)
{
	struct slice *s = tnf_xcalloc(1, sizeof(*s));

	s->fd = -1;
	d->state = s;
	if (open_output(d, s) != 0)
		return -1;
	int error = tnfw_open(&s->w, s->fd);
	if (error != 0)
		return tnf_fail(d, "cannot write", error);
	if (d->redact)
		s->w.redacted = &s->redacted;
	tnf_describe(d, s);
	return 0;
}

int
slice_event(struct dump *d, const struct tnf_event *ev)
{
	struct slice *s = d->state;
	struct tnf_event host = *ev;

	/* Several files share one context, in which processes have the machine's numbers, and not
	   those of their pid namespaces: so the events get these, too. */
	if (d->n_inputs > 1)
		origin_host(d, ev, &host.pid, &host.lwpid);
	int error = tnfw_event(&s->w, &host);

	s->kernel |= ev->kernel;
	if (error == E2BIG) {
		s->left_out++;
		return 0;
	}
	if (error == EFBIG) {
		dump_error(d, "--to tnf: more than 4 GiB: "
		    "narrow it down, with --from and --until");
		return -1;
	}
	/* ENOSPC without a failed write: the directory is full. */
	if (error == ENOSPC && s->w.error == 0) {
		dump_error(d, "--to tnf: more than %u probes",
		    TNFW_PROBES_MAX);
		return -1;
	}
	return error == 0 ? 0 : tnf_fail(d, "cannot write", error);
}

static int
copy_out(struct dump *d, int fd)
{
	char buf[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		tnf_out_bytes(&d->out, buf, (size_t)n);
		at += n;
	}
	return n < 0 ? tnf_fail(d, "cannot read the temporary file", errno) : 0;
}

int
slice_end(struct dump *d)
{
	struct slice *s = d->state;
	uint64_t unreachable = s->w.unreachable;
	size_t size;
	int error, rc = 0;

	if (s->fd >= 0 && s->w.data != NULL) {
		char *context = slice_context(d, s->w.redacted, &size);
		s->w.ext.kind = s->kernel ? TNF_EXT_KERNEL : TNF_EXT_PROCESS;
		error = tnfw_finish(&s->w, context, size);
		if (error != 0)
			rc = tnf_fail(d, "cannot write", error);
		else if (s->copy)
			rc = copy_out(d, s->fd);
		tnfw_free(&s->w);
		free(context);
	}
	if (s->left_out > 0) {
		dump_error(d, "--to tnf: %llu events left out: "
		    "too large for a block", (unsigned long long)s->left_out);
		rc = -1;
	}
	if (unreachable > 0) {
		dump_error(d, "--to tnf: %llu references are null: the records lie "
		    "behind the first GiB: narrow it down, with --from and --until",
		    (unsigned long long)unreachable);
		rc = -1;
	}
	if (s->fd >= 0 && s->fd != STDOUT_FILENO && close(s->fd) != 0)
		rc = tnf_fail(d, "cannot write", errno);
	tnf_map_free(&s->redacted);
	free(s);
	d->state = NULL;
	return rc;
}
