/*
 * model.c - a buffer in memory that looks like the kernel's.
 */
#include "tests/xtract/model.h"

#include <stdlib.h>
#include <string.h>

#define TAG	0x80001006u	/* of block headers, blocks of 4096 bytes */

struct tnf_block_header *
model_header(const struct model *m, uint32_t block)
{
	return (void *)(m->base + (size_t)block * MODEL_BLOCK);
}

void
model_init(struct model *m, uint32_t blocks, uint64_t cookie)
{
	struct tnf_file_header h = {
		.magic = TNF_MAGIC, .tag = 0x80001002, .file_version = 1,
		.file_header_size = TNF_FILE_HEADER_SIZE,
		.block_header_size = sizeof(struct tnf_block_header),
		.block_size = MODEL_BLOCK, .directory_size = MODEL_DIRECTORY,
		.block_count = blocks,
	};
	struct tnf_ext ext = {
		.magic = TNF_EXT_MAGIC, .version = TNF_EXT_VERSION,
		.size = sizeof ext, .kind = TNF_EXT_KERNEL, .cookie = cookie,
		.start_mono = 1,
	};
	struct tnf_page_id id = { TNF_PAGE_ID_MAGIC, cookie, 1 };
	uint32_t i, word = 0x80002018;

	m->blocks = blocks;
	m->cookie = cookie;
	m->base = aligned_alloc(MODEL_BLOCK, (size_t)blocks * MODEL_BLOCK);
	memset(m->base, 0, (size_t)blocks * MODEL_BLOCK);
	while (1u << h.file_logical_size < blocks * MODEL_BLOCK)
		h.file_logical_size++;
	memcpy(m->base, &h, sizeof h);
	memcpy(m->base + TNF_EXT_OFFSET, &ext, sizeof ext);
	memset(m->base + 2048, 0x5a, 64);	/* the writer's own */
	for (i = 0; i < 3; i++)
		memcpy(m->base + MODEL_BLOCK + 4 * i, &word, sizeof word);
	memcpy(m->base + MODEL_DIRECTORY - sizeof id, &id, sizeof id);
	for (i = 2; i < blocks; i++) {
		model_header(m, i)->tag = TAG;
		model_header(m, i)->pad = i;
		model_header(m, i)->next_block = cookie;
	}
}

void
model_free(struct model *m)
{
	free(m->base);
	m->base = NULL;
}

void
model_take(struct model *m, uint32_t block, uint32_t generation)
{
	struct tnf_ext *ext = (void *)(m->base + TNF_EXT_OFFSET);
	struct tnf_block_header *h = model_header(m, block);

	if (generation != TNF_GENERATION_TAG && generation > ext->data_cursor)
		__atomic_store_n(&ext->data_cursor, generation, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->bytes_valid, sizeof *h, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->generation, generation, __ATOMIC_SEQ_CST);
	h->A_lock = 1;
}

bool
model_record(struct model *m, uint32_t block)
{
	struct tnf_block_header *h = model_header(m, block);
	uint32_t at = h->bytes_valid, n = (at - sizeof *h) / MODEL_RECORD;
	volatile uint32_t *r;

	if (at + MODEL_RECORD > MODEL_BLOCK)
		return false;
	r = (volatile uint32_t *)(void *)((char *)h + at);
	r[0] = h->generation;
	r[1] = n;
	r[2] = ~h->generation;
	r[3] = ~n;
	__atomic_store_n(&h->bytes_valid, at + MODEL_RECORD, __ATOMIC_RELEASE);
	return true;
}

void
model_fill(struct model *m, uint32_t block, uint32_t generation)
{
	model_take(m, block, generation);
	while (model_record(m, block))
		;
}

void
model_define(struct model *m, uint32_t block)
{
	if (model_header(m, block)->generation != TNF_GENERATION_TAG)
		model_take(m, block, TNF_GENERATION_TAG);
	model_record(m, block);
}

bool
model_check_copy(const unsigned char *block, bool *used)
{
	struct tnf_block_header h;
	uint32_t at, n, r[4];

	memcpy(&h, block, sizeof h);
	*used = h.generation != 0;
	if (!*used) {
		for (at = 0; at < MODEL_BLOCK; at++)
			if (block[at] != 0)
				return false;
		return true;
	}
	if (h.tag != TAG || h.next_block != 0 || h.pad != 0 || h.A_lock != 0 ||
	    h.B_lock != 0 || h.bytes_valid > MODEL_BLOCK)
		return false;
	for (at = sizeof h, n = 0; at + MODEL_RECORD <= h.bytes_valid;
	    at += MODEL_RECORD, n++) {
		memcpy(r, block + at, sizeof r);
		if (r[0] != h.generation || r[1] != n || r[2] != ~r[0] ||
		    r[3] != ~n)
			return false;
	}
	for (at = h.bytes_valid; at < MODEL_BLOCK; at++)
		if (block[at] != 0)
			return false;
	return true;
}
