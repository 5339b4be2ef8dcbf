/*
 * model.h - a buffer in memory that looks like the kernel's.
 */
#ifndef TESTS_XTRACT_MODEL_H
#define TESTS_XTRACT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

#define MODEL_BLOCK	4096u
#define MODEL_DIRECTORY	8192u		/* block 0 and one of words */
#define MODEL_RECORD	16u		/* generation, number, both inverted */

struct model {
	unsigned char *base;
	uint32_t blocks;
	uint64_t cookie;
};

void model_init(struct model *, uint32_t blocks, uint64_t cookie);
void model_free(struct model *);

/* Fills a data block as a writer does: takes it over, commits record by
   record.  A record of a live buffer is committed before the next begins. */
void model_take(struct model *, uint32_t block, uint32_t generation);
bool model_record(struct model *, uint32_t block);
void model_fill(struct model *, uint32_t block, uint32_t generation);

/* A block of definitions; each call commits one more record. */
void model_define(struct model *, uint32_t block);

struct tnf_block_header *model_header(const struct model *, uint32_t block);

/* Whether a copied block holds whole records of its own generation, and zeros
   behind them; a block never used is all zero. */
bool model_check_copy(const unsigned char *block, bool *used);

#endif /* TESTS_XTRACT_MODEL_H */
