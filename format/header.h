/*
 * header.h - block 0 of a file: the header and this implementation's extension.
 *
 * The magic words say that the rest is there.  They are the caller's, who stores
 * them last.
 */
#ifndef FORMAT_HEADER_H
#define FORMAT_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <tnf/com.h>

/* All members but the magic and blocks_valid.  The directory begins at the second
   block and ends at 'directory_end'; 'size' is that of the file or buffer. */
void tnf_header_set(struct tnf_file_header *, uint32_t block_size,
    uint32_t directory_end, uint64_t size);

/* Tag words of the header and of each block's header. */
#define TNF_HEADER_TAG(block_size)	(TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	    ((block_size) + TNF_DIR_FILE_HEADER))
#define TNF_BLOCK_HEADER_TAG(block_size) (TNF_REF32_PERMANENT | TNF_REF32_T_TAG | \
	    ((block_size) + TNF_DIR_BLOCK_HEADER))

/* The id of this boot of the machine; false: it cannot be read, and *ret is not whole. */
#define TNF_BOOT_ID_SIZE	16
bool tnf_boot_id(uint8_t ret[TNF_BOOT_ID_SIZE]);
/* As the kernel prints it: 8-4-4-4-12 digits and a NUL. */
#define TNF_BOOT_ID_TEXT	37
void tnf_boot_id_text(const uint8_t id[TNF_BOOT_ID_SIZE], char ret[TNF_BOOT_ID_TEXT]);

/* Who writes, and when writing begins: size, kind, start_mono, start_wall (now) and
   boot_id (zeroes if it cannot be read).  The caller adds the cursors. */
void tnf_ext_begin(struct tnf_ext *, enum tnf_ext_kind);

/* Are both of one buffer?  Who writes it is known by where and when it began. */
static inline bool
tnf_ext_same(const struct tnf_ext *a, const struct tnf_ext *b)
{
	return a->start_mono != 0 && a->kind == b->kind && a->pid == b->pid &&
	    a->start_mono == b->start_mono && a->start_wall == b->start_wall &&
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

#endif /* FORMAT_HEADER_H */
