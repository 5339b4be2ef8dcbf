/*
 * buffer.c - the buffer is made, read and removed; blocks are taken from its pool.
 */
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sysinfo.h>

#include "kernel-probes/handle.h"

static int
cpus_up(void)
{
	int n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n;
}

static size_t
round_size(size_t size)
{
	size_t least = KP_DATA + ((size_t)cpus_up() + 1) * KP_CPU_HOLDS * KP_BLOCK_SIZE;

	if (size < KP_BUFFER_MIN)
		size = KP_BUFFER_MIN;
	if (size < least)
		size = least;
	return (size + KP_BLOCK_SIZE - 1) & ~((size_t)KP_BLOCK_SIZE - 1);
}

/* True if 'cpu' is in the list of CPUs that are up, like "0-3,8". */
static bool
cpu_is_up(const char *list, int cpu)
{
	int from, to, n;

	while (sscanf(list, "%d%n", &from, &n) == 1) {
		to = from;
		list += n;
		if (*list == '-' && sscanf(list + 1, "%d%n", &to, &n) == 1)
			list += 1 + n;
		if (cpu >= from && cpu <= to)
			return true;
		if (*list++ != ',')
			break;
	}
	return false;
}

/* Gives each CPU that is up its blocks, all empty.  Returns the first block that is left. */
static uint32_t
give_blocks(struct kp_cpu *cpu, int cpus, char *buf, uint32_t next, uint32_t blocks)
{
	struct tnf_ext *ext = (void *)(buf + TNF_EXT_OFFSET);
	struct tnf_block_header *h;
	char online[1024];

	if (tnf_proc_file(online, sizeof online, "/sys/devices/system/cpu/online") < 0)
		online[0] = '\0';
	for (int i = 0; i < cpus; i++) {
		memset(&cpu[i], 0, sizeof cpu[i]);
		cpu[i].sched = ~0ull;
		if (!cpu_is_up(online, i) || next + KP_CPU_HOLDS >= blocks)
			continue;
		for (uint32_t n = 1; n <= KP_CPU_HOLDS; n++)
			cpu[i].held[n % KP_CPU_HOLDS] = next++;
		cpu[i].cursor = cpu[i].published = 1u << KP_BLOCK_SHIFT | KP_BLOCK_HEADER;
		cpu[i].ready = 1 + KP_CPU_AHEAD;
		for (uint32_t n = 1; n <= cpu[i].ready; n++) {
			h = (void *)(buf + (size_t)cpu[i].held[n] * KP_BLOCK_SIZE);
			h->generation = KP_GENERATION(ext->data_cursor);
			ext->data_cursor++;
		}
	}
	return next;
}

/* Puts all other blocks into the pool. */
static int
fill_pool(struct kp *kp, uint64_t ticket, uint32_t next, uint32_t blocks)
{
	uint32_t slots = blocks - next;
	size_t size = ((size_t)slots * sizeof(uint64_t) + 4095) & ~4095ul;
	uint64_t *pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kp->pool_fd, 0);

	if (pool == MAP_FAILED)
		return kp_fail(kp, -errno, "tnf_pool: cannot map: %s", strerror(errno));
	for (uint32_t i = 0; i < slots; i++)
		pool[(ticket + i) % slots] = KP_SLOT(ticket + i - slots, next + i);
	munmap(pool, size);
	kp->state->pool = slots;
	kp->state->pool_taken = 0;
	return 0;
}

static int
fill_buffer(struct kp *kp, size_t size)
{
	uint32_t blocks = size / KP_BLOCK_SIZE, next;
	struct kp_defs defs;
	char *buf;
	int r;

	kp->buf_fd = bpf_obj_get(KP_PIN_BUF);
	kp->cpu_fd = bpf_obj_get(KP_PIN_CPU);
	kp->pool_fd = bpf_obj_get(KP_PIN_POOL);
	kp->cpus = libbpf_num_possible_cpus();
	if (kp->buf_fd < 0 || kp->cpu_fd < 0 || kp->pool_fd < 0 || kp->cpus < 1)
		return kp_refused(kp, -ENOENT, KP_DIR);
	kp->cpu = mmap(NULL, kp->cpus * sizeof *kp->cpu, PROT_READ | PROT_WRITE,
	    MAP_SHARED, kp->cpu_fd, 0);
	if (kp->cpu == MAP_FAILED) {
		kp->cpu = NULL;
		return kp_fail(kp, -errno, KP_PIN_CPU ": cannot map: %s", strerror(errno));
	}
	buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kp->buf_fd, 0);
	if (buf == MAP_FAILED)
		return kp_fail(kp, -errno, KP_PIN_BUF ": cannot map: %s", strerror(errno));
	while (kp->state->cookie == 0)
		if (getrandom(&kp->state->cookie, sizeof kp->state->cookie, 0) == -1)
			break;
	r = kp_defs_write(buf, size, kp->state->cookie, &defs);
	if (r < 0)
		kp_fail(kp, r, "buffer: no room for the definitions");
	else {
		if (kp->fill)
			((struct tnf_ext *)(void *)(buf + TNF_EXT_OFFSET))->compatible |= TNF_EXT_FILL;
		next = give_blocks(kp->cpu, kp->cpus, buf, KP_DATA / KP_BLOCK_SIZE, blocks);
		r = fill_pool(kp, ((struct tnf_ext *)(void *)(buf + TNF_EXT_OFFSET))->data_cursor,
		    next, blocks);
	}
	munmap(buf, size);
	if (r < 0)
		return r;
	kp->state->fill = kp->fill;
	kp->state->sched_tag = defs.sched_tag;
	kp->state->symbols_tag = defs.symbols_tag;
	kp->state->tag_next = defs.next;
	memcpy(kp->state->record_tag, defs.record_tag, sizeof defs.record_tag);
	memcpy(kp->state->type, defs.type, sizeof defs.type);
	return 0;
}

static void
fill_state(struct kp *kp)
{
	struct kp_shared *s = kp->state;

	s->on = 0;
	s->tracing = 0;
	s->frozen = 0;
	s->refused = 0;
	s->cookie = 0;
	s->gfp_movable = kp->gfp_movable;
	s->page_shift = (__u32)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	s->gfp_zero = kp->gfp_zero;
	s->bio_remapped = kp->bio_remapped;
}

/* Removes all pins; what was asked for stays known to this session. */
static void
buffer_forget(struct kp *kp)
{
	if (!kp->foreign) {
		free(kp->kept);
		kp->kept = NULL;
		kp->kepts = 0;
		kp_filter_list(kp, &kp->kept, &kp->kepts);
		kp_rules_keep(kp);
	}
	kp_imports_forget(kp);
	kp_state_close(kp);
	kp_pins_remove_all(kp);
	kp->foreign = false;
}

KP_EXPORT void
kp_buffer_fill(struct kp *kp, bool fill)
{
	kp->fill = fill;
}

KP_EXPORT int
kp_buffer_alloc(struct kp *kp, size_t size, size_t *ret_size)
{
	struct sysinfo now;
	int r;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (kp->state->buffer_size != 0)
		return kp_fail(kp, -EEXIST, "buffer: there is one already");
	if (size > KP_BUFFER_MAX)
		size = KP_BUFFER_MAX;
	size = round_size(size);
	if (sysinfo(&now) == 0 && size / now.mem_unit > now.totalram / 2)
		return kp_fail(kp, -ENOMEM, "buffer of %zu bytes: more than half of "
		    "this machine's memory: ask for less", size);
	/* Programs that a killed session has left here are of no use. */
	kp_imports_forget(kp);
	kp_pins_remove(kp, KP_SUB_LINK);
	kp_pins_remove(kp, KP_SUB_PROG);
	if ((r = kp_state_make(kp)) < 0)
		return r;
	fill_state(kp);
	if ((r = kp_load(kp, size)) < 0 || (r = fill_buffer(kp, size)) < 0) {
		buffer_forget(kp);
		return r;
	}
	kp_iterate(KP_PROGRAM_find_nodes);
	kp->state->buffer_size = size;
	*ret_size = size;
	if ((r = kp_stacks_keep(kp)) < 0)
		return r;
	return kp_imports_keep(kp);
}

static int
buffer_readers(struct kp *kp)
{
	autoclose int fd = openat(kp->lock, KP_SUB_PROG,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == -1)
		return kp_fail(kp, -EBUSY, "buffer: tnfxtract is reading it: try again");
	return 0;
}

KP_EXPORT int
kp_buffer_dealloc(struct kp *kp)
{
	int r;

	if (kp->looking)
		return kp_state_usable(kp);
	if (!kp->foreign && kp->state->buffer_size == 0) {
		buffer_forget(kp);	/* filter, settings: no trace of us stays */
		return kp_fail(kp, -ENOENT, "buffer: there is none");
	}
	if (!kp->foreign && kp_is_tracing(kp->state))
		return kp_fail(kp, -EBUSY, "buffer: tracing is on: switch it off first");
	if ((r = buffer_readers(kp)) < 0)
		return r;
	buffer_forget(kp);
	return 0;
}

KP_EXPORT int
kp_map(struct kp *kp, const void **ret, size_t *ret_size)
{
	size_t size = kp->state->buffer_size;
	void *p;

	if (size == 0)
		return kp_fail(kp, -ENOENT, "buffer: there is none");
	if (kp->buf == NULL) {
		p = mmap(NULL, size, PROT_READ, MAP_SHARED, kp->buf_fd, 0);
		if (p == MAP_FAILED)
			return kp_fail(kp, -errno, KP_PIN_BUF ": cannot map: %s",
			    strerror(errno));
		kp->buf = p;
		kp->buf_size = size;
	}
	*ret = kp->buf;
	*ret_size = size;
	return 0;
}

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

/* If nothing may be overwritten, only a block that nobody has written to may be taken. */
static bool
slot_may_go(struct kp *kp, uint64_t there, const char *buf)
{
	const struct tnf_block_header *h = (const void *)(buf +
	    (size_t)KP_SLOT_BLOCK(there) * KP_BLOCK_SIZE);

	return !kp->state->fill ||
	    __atomic_load_n(&h->generation, __ATOMIC_ACQUIRE) == TNF_GENERATION_FREE;
}

/* Takes the block out of a slot and returns its number.  0: the slot had none, the block
   must not be taken, or a CPU was faster. */
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

/*
 * Takes the oldest block that may be had: no CPU holds a block of the pool.  The slot
 * stays, without a block, and buffer.bpf.c passes over it.  Only every second slot may
 * lose its block, so that a CPU that looks for a block finds one soon.
 */
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

/* A reader that copies the block sees that it is no block of events any more before its events
   go. */
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

/* Keeps the buffer as it is, with the reason (struct kp_shared, "frozen"). */
KP_EXPORT int
kp_freeze(struct kp *kp, const char *why)
{
	struct kp_shared *s = kp->state;
	__u64 none = 0;
	int r;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (s->buffer_size == 0)
		return kp_fail(kp, -ENOENT, "freeze: there is no buffer: make one (buffer alloc)");
	if (strlen(why) >= KP_FREEZE_TEXT)
		return kp_fail(kp, -EINVAL, "freeze: a reason has at most %u bytes",
		    KP_FREEZE_TEXT - 1);
	/* A program of the kernel may decide the same at this moment: the first reason stays. */
	if (!s->tracing || !__atomic_compare_exchange_n(&s->frozen, &none, (__u64)clock_ns(CLOCK_MONOTONIC),
	    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return kp_fail(kp, -EAGAIN, "freeze: tracing is off, and the buffer stays as it is");
	s->frozen_by = 0;
	memcpy(s->frozen_why, why, strlen(why) + 1);
	return (r = kp_attach_sync(kp)) < 0 ? r : kp_imports_sync(kp);
}

KP_EXPORT bool
kp_frozen(struct kp *kp, int64_t *time, char *why, size_t size)
{
	const struct kp_shared *s = kp->state;
	const struct kp_import *imp;
	char condition[64];

	if (kp->foreign || s->buffer_size == 0 || s->frozen == 0)
		return false;
	*time = (int64_t)s->frozen;
	snprintf(why, size, "%.*s", (int)KP_FREEZE_TEXT - 1, s->frozen_why);
	if (s->frozen_by == KP_FROZEN_BY_CALL) {
		kp_row_condition(kp, condition, sizeof condition);
		snprintf(why, size, "syscall_end%s%s", condition[0] != '\0' ? " where " : "", condition);
	}
	for (unsigned i = 0; s->frozen_by != 0 && i < kp->imports; i++) {
		imp = kp->import[i];
		if (imp->slot >= 0 && (__u64)imp->slot + 1 == s->frozen_by)
			snprintf(why, size, "%s%s%s", imp->name, imp->where ? " where " : "",
			    imp->where ? imp->where : "");
	}
	return true;
}
