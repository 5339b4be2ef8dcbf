/*
 * tnf-write.c - blocks, directory and header of a written TNF file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/xalloc.h"
#include "format/header.h"
#include "tnfdump/to/tnf-write.h"

/* Definitions are named by 31-bit signed offsets, events by 32-bit ones. */
#define TAG_LIMIT	TNFW_REACH
#define FILE_LIMIT	((uint64_t)UINT32_MAX - TNFW_BLOCK)

static void
put_bytes(struct tnf_writer *w, const void *bytes, size_t size, uint64_t at)
{
	if (w->error == 0)
		w->error = pwrite_all(w->fd, bytes, size, at);
}

static bool
begin_block(struct tnf_writer *w, struct tnfw_block *b, uint64_t limit)
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
		w->tags = tnf_xreallocarray(w->tags, w->n_tags + 1,
		    sizeof(struct tnfw_block *));
		w->tags[w->n_tags++] = b;
		if (!begin_block(w, b, TAG_LIMIT - TNFW_BLOCK))
			return NULL;
		p = tnfw_room(b, size);
	}
	*offset = b->offset + (uint32_t)(p - b->bytes);
	return p;
}

bool
tnfw_begin_block(struct tnf_writer *w, struct tnfw_block *b)
{
	return begin_block(w, b, FILE_LIMIT);
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
		tnfw_begin_block(w, w->data);
	return w->error;
}

int
tnfw_open(struct tnf_writer *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->next = TNFW_DIRECTORY;
	w->data = tnf_xcalloc(1, sizeof(*w->data));
	w->nowhere = tnf_xcalloc(1, TNFW_BLOCK);
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

int
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

void
tnfw_free(struct tnf_writer *w)
{
	for (unsigned i = 0; i < w->n_tags; i++)
		free(w->tags[i]);
	tnfw_free_probes(w);
	for (unsigned i = 0; i < w->n_defs; i++) {
		free(w->defs[i].slots);
		free(w->defs[i].slot_names);
	}
	free(w->nowhere);
	free(w->tags);
	free(w->probes);
	free(w->defs);
	free(w->types);
	free(w->data);
}
