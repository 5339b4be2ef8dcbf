/*
 * reader.c - fuzzes the classic interface of libtnf: every record, every slot.
 */
#include <stdlib.h>

#include <tnf/tnf.h>

#include "tests/reader/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By number, forwards and back again, with what only blocks can be asked. */
static void
walk_blocks(TNF *tnf)
{
	int i, n = tnf_get_block_count(tnf);
	tnf_datum_t b;

	for (i = 0; i < n && i < 64; i++) {
		b = tnf_get_block_absolute(tnf, (unsigned)i);
		if (b == TNF_DATUM_NULL)
			continue;
		tnf_is_block_header(b);
		tnf_get_block_relative(b, 1);
		tnf_get_block_relative(b, -1);
		tnf_get_slot_named(b, "generation");
		tnf_get_block_header(tnf_get_next_record(b));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TNF *tnf;

	walk_classic(data, size);
	if (tnf_reader_begin((char *)(uintptr_t)data, size, &tnf) == 0) {
		walk_blocks(tnf);
		tnf_reader_end(tnf);
	}
	return 0;
}
