/*
 * source-write.c - writes the contents of a source as a trace file of an incident.
 */
#include <sys/sendfile.h>

#include <tnf/context.h>

#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"

#define LONG_RUN	(64u << 10)
#define AHEAD		16	/* blocks: each header is on a line of its own, which is not in a cache yet */

/* Writes block 0, with the place of the context behind the end. */
static int
write_header(const struct blocks *b, int fd, uint64_t context)
{
	autofree unsigned char *block = tnf_xcalloc(1, b->block_size);
	struct tnf_ext ext;

	memcpy(block, b->base, b->block_size);
	memcpy(&ext, block + TNF_EXT_OFFSET, sizeof ext);
	ext.extra_offset = context > 0 ? b->size : 0;
	ext.extra_size = context;
	memcpy(block + TNF_EXT_OFFSET, &ext, sizeof ext);

	return pwrite_all(fd, block, b->block_size, 0);
}

static bool
is_wanted(const struct source *s, const struct blocks *b, uint32_t i)
{
	struct blocks_mark m;

	if (i < b->first || blocks_is_tag(b, i))
		return true;
	return blocks_look(b, i, &m) && !history_has(s->history, i, m.generation);
}

/* The kernel copies a ring whose writer has ended sooner than we write what is mapped of it, and
   sooner still if the disk has been asked for the room first.  What the kernel does not copy, and a
   ring in use, which was copied to memory (tnf_image_open()), is written from memory. */
static int
write_run(const struct source *s, const struct blocks *b, int fd, uint64_t at, uint64_t n)
{
	off_t to = (off_t)at, end = (off_t)(at + n);

	if (n >= LONG_RUN)
		fallocate(fd, 0, to, (off_t)n);
	if (s->ours && !b->live && lseek(fd, to, SEEK_SET) == to)
		while (to < end && sendfile(fd, s->fd, &to, (size_t)(end - to)) > 0)
			;
	return pwrite_all(fd, b->base + to, (size_t)(end - to), (uint64_t)to);
}

/* Blocks that are left out are holes, which read as blocks that were never used. */
static int
write_blocks(const struct source *s, const struct blocks *b, int fd)
{
	uint64_t i, run = 0;
	int e = 0;

	for (i = 1; i <= b->n && e == 0; i++) {
		__builtin_prefetch(blocks_at(b, (uint32_t)i + AHEAD));
		if (i < b->n && is_wanted(s, b, (uint32_t)i)) {
			run++;
			continue;
		}
		if (run > 0)
			e = write_run(s, b, fd, (i - run) * b->block_size, run * b->block_size);
		run = 0;
	}
	return e;
}

static int
write_copy(struct source *s, const struct blocks *b, int fd)
{
	int e = 0;

	/* A live process is asked for its context again; one that has ended was asked before. */
	if (s->ended == 0)
		source_note_context(s);
	if (ftruncate(fd, (off_t)(b->size + s->context_size)) != 0)
		e = errno;
	if (e == 0)
		e = write_header(b, fd, s->context_size);
	if (e == 0)
		e = write_blocks(s, b, fd);
	return e != 0 || s->context_size == 0 ? e :
	    pwrite_all(fd, s->context, s->context_size, b->size);
}

/* True if a trace file begins here, or one that has no header yet. */
static bool
is_trace(const unsigned char *base)
{
	uint32_t magic;

	memcpy(&magic, base, sizeof magic);
	return magic == TNF_MAGIC || magic == TNF_MAGIC_SWAPPED || magic == 0;
}

static bool
has_its_size(const struct source *s)
{
	struct stat st;

	return fstat(s->fd, &st) == 0 && (uint64_t)st.st_size <= s->most + TNF_CONTEXT_SIZE_MAX;
}

int
source_write(struct source *s, int fd)
{
	struct blocks b;
	const void *base;
	size_t size;
	int e;

	/* A kernel's buffer that is watched no more is not mapped. */
	if (s->kind == SOURCE_KERNEL)
		return s->base != NULL ? kernel_write(s, fd) : ENODATA;
	if (s->fd < 0)
		return ENODATA;
	/* We do not read a file again that was no trace, or has become another one. */
	if (*s->broken != '\0' || (s->base != NULL && !is_trace(s->base)))
		return EBADMSG;
	if (!has_its_size(s))
		return EFBIG;
	if ((e = tnf_image_open(s->fd, &base, &size)) != 0)
		return e;
	if (tnf_image_is_empty(base, size))
		e = ENODATA;
	else if (size > s->most + TNF_CONTEXT_SIZE_MAX)
		e = EFBIG;
	else if (blocks_open(&b, base, size))
		e = write_copy(s, &b, fd);
	else if (s->kind == SOURCE_PROCESS)
		/* The process names its file itself, and that file is no trace of this
		   machine. */
		e = EBADMSG;
	else
		/* A trace of another writer or machine is copied as it is. */
		e = pwrite_all(fd, base, size, 0);
	tnf_image_close(base, size);
	return e;
}
