/*
 * kernel-write.c - what an incident's copy of the kernel's buffer looks up names for: the
 * words that may be addresses of the kernel's code, not each word.  More than 65536 are not
 * looked up, so times and numbers would take the room of the addresses.
 */
#include <sys/mman.h>

#include <string.h>
#include <unistd.h>

#include "libtnf/context-write.h"
#include "tests/check-run.h"
#include "tests/xtract/model.h"
#include "tnfwatch/history.h"
#include "tnfwatch/source.h"
#include "tnfxtract/snapshot.h"

#define CODE	UINT64_C(0xffffffff81000040)	/* on each machine that there is */

static uint64_t asked[8];
static size_t n_asked;

/* In place of the kernel, and of the history of its events. */
void
kernel_context(struct kp *kp, struct context_writer *w)
{
}

int
kernel_put_lost(struct kp *kp, int fd)
{
	return 0;
}

bool
history_has(const struct history *h, uint32_t block, uint32_t generation)
{
	return false;
}

int
context_kernel_symbols(struct context_writer *w, uint64_t *addrs, size_t n)
{
	n_asked = n;
	memcpy(asked, addrs, (n < 8 ? n : 8) * sizeof *addrs);
	return 0;
}

START_TEST(addresses)
{
	static const uint64_t words[] = { 1, 0x7f1234567890, CODE, 0x0000004200000017,
	    0x00007ffffffff000, CODE, UINT64_MAX };
	struct tnf_block_header *h;
	struct source s = { 0 };
	struct model m;
	int fd = memfd_create("kernel-write", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	model_init(&m, 8, 1);
	model_take(&m, 3, 1);
	h = model_header(&m, 3);
	memcpy(h + 1, words, sizeof words);
	h->bytes_valid = (uint16_t)(sizeof *h + sizeof words);
	s.base = m.base;
	s.size = (size_t)m.blocks * MODEL_BLOCK;
	ck_assert_int_eq(kernel_write(&s, fd), 0);
	ck_assert_uint_eq(n_asked, 1);
	ck_assert_uint_eq(asked[0], CODE);
	model_free(&m);
	close(fd);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("kernel-write");
	TCase *t = tcase_create("kernel-write");

	tcase_add_test(t, addresses);
	suite_add_tcase(s, t);
	return check_run(s);
}
