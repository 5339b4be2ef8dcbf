/*
 * blocks.c - a block of events becomes one of definitions, while others write.
 *
 * Only a block that waits in the pool can be had: no CPU holds it.  Its slot
 * stays, without a block (buffer.bpf.c passes over it).  Only every second slot
 * may lose its block, so that whoever looks for one finds it soon.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <tnf/com.h>

#include "kernel-probes/handle.h"

char *
kp_buffer_writable(struct kp *kp)
{
	void *p;

	if (kp->wbuf != NULL)
		return kp->wbuf;
	p = mmap(NULL, kp->state->buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    kp->buf_fd, 0);
	if (p == MAP_FAILED) {
		kp_fail(kp, -errno, KP_PIN_BUF ": cannot map: %s", strerror(errno));
		return NULL;
	}
	kp->buf_size = kp->state->buffer_size;
	return kp->wbuf = p;
}

static uint64_t *
pool_of(struct kp *kp)
{
	size_t size = ((size_t)kp->state->pool * sizeof(uint64_t) + 4095) & ~4095ul;
	void *p;

	if (kp->pool != NULL)
		return kp->pool;
	if (kp->pool_fd < 0)
		kp->pool_fd = bpf_obj_get(KP_PIN_POOL);
	if (kp->pool_fd < 0)
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kp->pool_fd, 0);
	return kp->pool = p == MAP_FAILED ? NULL : p;
}

/* Where nothing is overwritten, only a block that nobody has written to may be had. */
static bool
slot_may_go(struct kp *kp, uint64_t there, const char *buf)
{
	const struct tnf_block_header *h = (const void *)(buf +
	    (size_t)KP_SLOT_BLOCK(there) * KP_BLOCK_SIZE);

	return !kp->state->fill ||
	    __atomic_load_n(&h->generation, __ATOMIC_ACQUIRE) == TNF_GENERATION_FREE;
}

/* Takes the block out of a slot and returns its number.  0: the slot had none, the block
   may not be taken, or a CPU was faster. */
static uint32_t
slot_empty(struct kp *kp, uint64_t *slot, const char *buf)
{
	uint64_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	uint64_t empty = KP_SLOT(KP_SLOT_TICKET(there), 0);

	if (KP_SLOT_BLOCK(there) == 0 || !slot_may_go(kp, there, buf) ||
	    !__atomic_compare_exchange_n(slot, &there, empty, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return 0;
	return KP_SLOT_BLOCK(there);
}

/* The oldest that may be had. */
static uint32_t
pool_take(struct kp *kp, const char *buf)
{
	const struct tnf_ext *ext = (const void *)(buf + TNF_EXT_OFFSET);
	uint64_t ticket = __atomic_load_n(&ext->data_cursor, __ATOMIC_ACQUIRE);
	uint64_t *pool = pool_of(kp);
	uint32_t slots = kp->state->pool, i, block = 0;

	for (uint32_t n = 1; pool != NULL && block == 0 && n < slots; n++) {
		i = (ticket + n) % slots;
		if (i % 2 == 1)
			block = slot_empty(kp, &pool[i], buf);
	}
	if (block != 0)
		kp->state->pool_taken++;
	return block;
}

/* Whoever copies it sees that it is no block of events any more before it loses
   them. */
uint32_t
kp_block_take(struct kp *kp, char *buf)
{
	uint32_t block = pool_take(kp, buf);
	struct tnf_block_header *h = (void *)(buf + (size_t)block * KP_BLOCK_SIZE);

	if (block == 0)
		return 0;
	__atomic_store_n(&h->generation, TNF_GENERATION_FREE, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->bytes_valid, (uint16_t)KP_BLOCK_HEADER, __ATOMIC_SEQ_CST);
	memset((char *)h + KP_BLOCK_HEADER, 0, KP_BLOCK_SIZE - KP_BLOCK_HEADER);
	return block * KP_BLOCK_SIZE;
}
