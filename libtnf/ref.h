/*
 * ref.h - 32-bit references: tnf(5), "References".
 */
#ifndef LIBTNF_REF_H
#define LIBTNF_REF_H

#include <stdint.h>

struct tnf_file;

enum ref_status {
	REF_OK,
	REF_NULL,	/* null, or what it led to has been overwritten */
	REF_BAD		/* no writer makes such a reference */
};

/* Where the word at 'src' leads to, forwarding words followed. */
enum ref_status tnf_ref_follow(const struct tnf_file *, uint64_t src, uint32_t *dst);
/* The halves of an event's first word, 'word', which stands at 'src'. */
enum ref_status tnf_ref_pair_tag(const struct tnf_file *, uint64_t src,
    uint32_t word, uint32_t *dst);
enum ref_status tnf_ref_pair_arg(const struct tnf_file *, uint64_t src,
    uint32_t word, uint32_t *dst);

#endif /* LIBTNF_REF_H */
