/*
 * kernel-write.c - a snapshot of the kernel's buffer, for an incident.
 *
 * The copy is made as by tnfxtract; blocks that are in segments already are left out.
 */
#include "libtnf/context-write.h"
#include "tnfwatch/history.h"
#include "tnfwatch/source.h"
#include "tnfxtract/image.h"
#include "tnfxtract/snapshot.h"

struct kernel_copy {
	int	 fd;
	const struct history *history;
	uint32_t block_size;
	struct addrs addrs;
	int	 error;
};

/* The piece has blocks side by side. */
static bool
kernel_put(void *arg, uint64_t offset, const void *bytes, size_t n)
{
	struct kernel_copy *k = arg;
	const char *p = bytes;
	size_t at, run = 0;

	for (at = 0; at <= n && k->error == 0; at += k->block_size) {
		const struct tnf_block_header *h = (const void *)(p + at);
		if (at < n && !history_has(k->history, (uint32_t)((offset + at) / k->block_size),
		    h->generation)) {
			run += k->block_size;
			continue;
		}
		if (run > 0)
			k->error = pwrite_all(k->fd, p + at - run, run, offset + at - run);
		run = 0;
	}
	return k->error == 0;
}

static void
kernel_look(void *arg, const unsigned char *block, size_t valid)
{
	struct kernel_copy *k = arg;

	addrs_scan(&k->addrs, block, valid);
}

static int
snapshot_error(enum snapshot_result r, int error)
{
	switch (r) {
	case SNAPSHOT_OK:
		return 0;
	case SNAPSHOT_SINK:
		return error;
	case SNAPSHOT_NO_MEMORY:
		return ENOMEM;
	default:
		return EBADMSG;
	}
}

static int
put_context(const struct source *s, struct kernel_copy *k)
{
	struct context_writer w;

	context_begin(&w);
	context_host(&w);
	kernel_context(s->kp, &w);
	addrs_pack(&k->addrs);
	/* Without names the trace still has the addresses. */
	context_kernel_symbols(&w, k->addrs.slot, k->addrs.n);
	int e = context_append(&w, k->fd, 0);
	context_free(&w);
	return e == EINVAL ? 0 : e;
}

int
kernel_write(const struct source *s, int fd)
{
	struct kernel_copy k = { .fd = fd, .history = s->history,
	    .addrs.start = image_arch_code_here() };
	struct snapshot_sink sink = { .put = kernel_put, .look = kernel_look,
	    .arg = &k };
	struct snapshot copy;
	int e;

	enum snapshot_result r = snapshot_open(&copy, s->base, s->size);
	k.block_size = copy.block_size;
	if (r == SNAPSHOT_OK && ftruncate(fd, (off_t)copy.size) != 0)
		return errno;
	if (r == SNAPSHOT_OK)
		r = snapshot_copy(&copy, &sink);
	if ((e = snapshot_error(r, k.error)) == 0)
		e = kernel_put_lost(s->kp, fd);
	if (e == 0)
		e = put_context(s, &k);
	addrs_free(&k.addrs);
	return e;
}
