/*
 * file-bytes-zstd.h - the bytes of a trace file that zstd(1) has compressed.
 */
#ifndef LIBTNF_FILE_BYTES_ZSTD_H
#define LIBTNF_FILE_BYTES_ZSTD_H

#include <stdbool.h>
#include <stdint.h>

/* Does such a file begin with these bytes? */
bool tnf_zstd_is_magic(const unsigned char *, uint64_t n);

/*
 * All frames of the file behind 'fd', unpacked into fresh memory of *size bytes.
 * *cut: the data ends early or is damaged, and this is what comes before.  0, an
 * errno, or TNF_ERR_NOTTNF; EFBIG: it would grow beyond what a trace of so many
 * compressed bytes can be.
 */
int tnf_zstd_unpack(int fd, void **map, uint64_t *size, bool *cut);

#endif /* LIBTNF_FILE_BYTES_ZSTD_H */
