/*
 * file.c - the trace file: open it, be sure of it, set it up, change it, and live if it
 * shrinks.
 *
 * The controller has created the file, zero-filled, with its space reserved;
 * the first process to get there writes the header and the core types.  The
 * file's magic is stored last: until then it is an empty file to a reader.
 */
#include "libtnfprobe/internal.h"

#define KEPT	8	/* older files that stay mapped */
#define WAITS	50	/* milliseconds for another process to set it up */

/* A plain file as large as we have been told; if a name has led to the file, also ours, and
   under no other name. */
static int
file_check(const struct stat *st, uint64_t size, bool named)
{
	if (!S_ISREG(st->st_mode) || (named && st->st_nlink != 1))
		return EINVAL;
	if (named && st->st_uid != geteuid() && st->st_uid != 0)
		return EPERM;
	return size < FILE_MIN || (uint64_t)st->st_size < size ? EFBIG : 0;
}

/* Addresses for a file, and in front of them a page for what we know of it. */
static struct file *
file_reserve(uint32_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct file *f = mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	if (mprotect(f, page, PROT_READ | PROT_WRITE) == -1) {
		munmap(f, page + size);
		return NULL;
	}
	f->base = (char *)f + page;
	f->size = size;
	f->data_blocks = (size - DATA_START) / BLOCK_SIZE;
	for (f->shift = 0; 1u << f->shift < size; f->shift++)
		;
	return f;
}

/* Returns the errno of before. */
static int
file_release(struct file *f)
{
	int error = errno;

	munmap(f, (size_t)(f->base - (char *)f) + f->size);
	return error;
}

static int
file_map(int fd, uint64_t size, struct file **ret)
{
	struct file *f;

	if (size > FILE_MAX)
		size = FILE_MAX;
	f = file_reserve((uint32_t)(size / BLOCK_SIZE * BLOCK_SIZE));
	if (f == NULL)
		return errno;
	if (mmap(f->base, f->size, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_FIXED, fd, 0) == MAP_FAILED)
		return file_release(f);
	f->fill = (tnf_ext(f)->compatible & TNF_EXT_FILL) != 0;
	*ret = f;
	return 0;
}

/* fd: the file; -1: it has this name. */
static int
open_and_map(const char *path, uint64_t size, int fd, struct file **ret)
{
	bool named = fd == -1;
	struct stat st;
	int error;

	if (named && (fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) == -1)
		return errno;
	error = fstat(fd, &st) == -1 ? errno : file_check(&st, size, named);
	if (error == 0)
		error = file_map(fd, size, ret);
	if (named)
		close(fd);
	return error;
}

/* Maps the same file at another address, for a child of a fork within a hit. */
int
tnf_file_again(const struct file *f, struct file **ret)
{
	struct file *again = file_reserve(f->size);

	if (again == NULL)
		return errno;
	if (mremap(f->base, 0, f->size, MREMAP_MAYMOVE | MREMAP_FIXED, again->base) == MAP_FAILED)
		return file_release(again);
	again->fill = f->fill;
	*ret = again;
	return 0;
}

bool
tnf_file_gone(const struct file *f)
{
	return mmap(f->base, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

/* A number that tells this file from others that were in the same memory.  It need not be secret, so it
   is not random: a seccomp filter might kill the process for asking the kernel for random bytes. */
static uint64_t
make_cookie(const struct file *f, const struct tnf_ext *x)
{
	uint64_t c = (uint64_t)x->start_mono;

	c = (c ^ (uint64_t)(uintptr_t)f->base) * 0x9e3779b97f4a7c15u;
	c = (c ^ c >> 29 ^ (uint64_t)x->start_wall) * 0xbf58476d1ce4e5b9u;
	c = (c ^ c >> 32 ^ (uint64_t)tnf_p.pid) * 0x94d049bb133111ebu;
	c ^= c >> 31;
	return c != 0 ? c : 1;
}

static void
init_heads(const struct file *f, struct tnf_file_header *h)
{
	struct tnf_ext *x = tnf_ext(f);

	tnf_ext_begin(x, TNF_EXT_PROCESS);
	x->cookie = make_cookie(f, x);
	x->dir_cursor = BLOCK_SIZE + TNF_DIR_FIRST_PROBE;
	x->data_start = DATA_START;
	x->pid = tnf_p.pid;
	__atomic_store_n(&x->magic, TNF_EXT_MAGIC, __ATOMIC_RELEASE);
	tnf_header_set(h, BLOCK_SIZE, DIRECTORY_SIZE, f->size);
}

/* The types that this process needs at once.  Their places are ours: a
   process that finds the file set up writes its own copies. */
static int
write_core(const struct file *f, bool first)
{
	uint32_t *dir = (uint32_t *)(void *)(f->base + BLOCK_SIZE);
	uint32_t header, block, root;

	if (!tnf_tag_begin())
		return EAGAIN;
	header = tnf_define_core(&tnf_definer, TNF_CORE_file_header);
	block = tnf_define_core(&tnf_definer, TNF_CORE_block_header);
	root = tnf_define_core(&tnf_definer, TNF_CORE_struct_type);
	tnf_p.string_tag = tnf_define_core_tag(&tnf_definer, TNF_CORE_string);
	tnf_p.name_tag = tnf_define_core_tag(&tnf_definer, TNF_CORE_name);
	tnf_p.sched_tag = tnf_define_core_tag(&tnf_definer, TNF_CORE_sched_rec);
	if (!tnf_tag_end(NULL))
		return ENOSPC;
	if (first) {
		dir[0] = header;
		dir[1] = block;
		dir[2] = root;
	}
	return 0;
}

/* Another process came first: wait until it is done, but not at each hit, and
   look at its work. */
static int
file_join(const struct file *f)
{
	static int waited;
	const struct tnf_file_header *h = (const struct tnf_file_header *)(const void *)f->base;
	const struct timespec ms = { 0, 1000000 };

	for (; __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != TNF_MAGIC;
	    waited++) {
		if (waited == WAITS)
			return EBUSY;
		nanosleep(&ms, NULL);
	}
	if (tnf_ext(f)->magic != TNF_EXT_MAGIC ||
	    (tnf_ext(f)->incompatible & ~TNF_EXT_INCOMPATIBLE) != 0 ||
	    h->block_size != BLOCK_SIZE || h->directory_size != DIRECTORY_SIZE ||
	    h->block_count != f->size / BLOCK_SIZE || h->block_header_size != HEADER_SIZE)
		return EINVAL;
	return write_core(f, false);
}

static int
set_up(const struct file *f)
{
	struct tnf_file_header *h = (struct tnf_file_header *)(void *)f->base;
	uint32_t version = 0;
	int error;

	if (!__atomic_compare_exchange_n(&tnf_ext(f)->version, &version,
	    TNF_EXT_VERSION, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return file_join(f);
	if (h->magic != 0)
		return EINVAL;
	init_heads(f, h);
	error = write_core(f, true);
	if (error == 0)
		__atomic_store_n(&h->magic, TNF_MAGIC, __ATOMIC_RELEASE);
	return error;
}

/*
 * A store behind the new end of the file raises SIGBUS.  The program has done
 * nothing wrong and must live: memory takes the place of the file, tracing is
 * over, and the store is done again.  Every other SIGBUS goes where it went
 * before.  A program that sets its own handler later gets ours out of the way.
 */
static struct sigaction before;

/* True if an instruction of this thread raised the signal.  Other such signals come from kill(), or from
   memory that went bad somewhere. */
static bool
is_fault(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void
pass_on(int sig, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
	else if (before.sa_handler == SIG_DFL || is_fault(info)) {
		/* The fault comes again and finds nobody. */
		sigaction(SIGBUS, &before, NULL);
		if (!is_fault(info))
			syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
	}
}

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	const struct file *now = tnf_file(), *f = now;
	uintptr_t at = (uintptr_t)info->si_addr;
	int saved = errno;

	while (f != NULL && at - (uintptr_t)f->base >= f->size)
		f = f->older;
	if (f != NULL && info->si_code > 0 && tnf_file_gone(f)) {
		if (f == now)
			tnf_process_broken(EFAULT);
	} else {
		pass_on(sig, info, context);
	}
	errno = saved;
}

static void
sigbus_guard(void)
{
	struct sigaction ours = { .sa_sigaction = on_sigbus }, found;

	if (sigaction(SIGBUS, NULL, &found) == -1 || found.sa_sigaction == on_sigbus)
		return;
	before = found;
	ours.sa_mask = before.sa_mask;
	ours.sa_flags = (before.sa_flags & (SA_NODEFER | SA_RESTART)) | SA_ONSTACK | SA_SIGINFO;
	sigaction(SIGBUS, &ours, NULL);
}

/* The first file of this process. */
int
tnf_file_open(const char *path, uint64_t size, int fd)
{
	struct file *f = NULL;
	int error;

	if ((error = open_and_map(path, size, fd, &f)) != 0)
		return error;
	tnf_tag_forget();
	__atomic_store_n(&tnf_p.file, f, __ATOMIC_RELEASE);
	/* The state is broken by now if a handler has forked: see process.c, leave_hit(). */
	error = _tnf_process_control.state == TNF_PROC_BROKEN ? ECHILD :
	    set_up(f);
	if (error != 0) {
		tnf_p.file = NULL;
		file_release(f);
		return error;
	}
	__atomic_fetch_add(&tnf_ext(f)->attached, 1, __ATOMIC_RELAXED);
	tnf_lost_move_early();
	sigbus_guard();
	return 0;
}

/*
 * Copies definitions to the same places in the new file, so that whoever knows a place need not
 * hear of the new file.  The directory is copied first: the definitions to which it leads were there
 * before.
 */
static int
copy_definitions(const struct file *from, const struct file *to)
{
	const struct tnf_block_header *b;
	struct tnf_block_header *copy;
	uint32_t dir, end, at, n;

	dir = __atomic_load_n(&tnf_ext(from)->dir_cursor, __ATOMIC_ACQUIRE);
	if (dir < BLOCK_SIZE + TNF_DIR_FIRST_PROBE || dir > DIRECTORY_SIZE)
		dir = DIRECTORY_SIZE;
	memcpy(to->base + BLOCK_SIZE, from->base + BLOCK_SIZE, dir - BLOCK_SIZE);
	tnf_ext(to)->dir_cursor = dir;
	tnf_ext(to)->names = __atomic_load_n(&tnf_ext(from)->names, __ATOMIC_ACQUIRE);
	tnf_ext(to)->tag_cursor = __atomic_load_n(&tnf_ext(from)->tag_cursor, __ATOMIC_ACQUIRE);
	end = tnf_ext(to)->tag_cursor > TAG_RESERVE ? from->size : DATA_START;
	for (at = TAG_START; at < end; at += BLOCK_SIZE) {
		b = header_of(from->base + at);
		if (__atomic_load_n(&b->generation, __ATOMIC_ACQUIRE) != TNF_GENERATION_TAG)
			continue;
		if (at >= to->size)
			return ENOSPC;
		copy = header_of(to->base + at);
		n = __atomic_load_n(&b->bytes_valid, __ATOMIC_ACQUIRE);
		/* Names lie behind what is valid. */
		memcpy(copy, b, BLOCK_SIZE);
		copy->bytes_valid = (uint16_t)(n < BLOCK_SIZE ? n : BLOCK_SIZE);
		mark_block(to, copy);
		tnf_block_valid(to, at);
	}
	return 0;
}

/* With the lock of definitions held. */
static int
file_fill(const struct file *from, const struct file *to)
{
	struct tnf_file_header *h = (struct tnf_file_header *)(void *)to->base;
	int error;

	if (h->magic != 0 || tnf_ext(to)->version != 0)
		return EEXIST;
	tnf_ext(to)->version = TNF_EXT_VERSION;
	init_heads(to, h);
	error = copy_definitions(from, to);
	if (error == 0)
		__atomic_store_n(&h->magic, TNF_MAGIC, __ATOMIC_RELEASE);
	return error;
}

/*
 * Gives another file to a process that has one.  A hit that is in progress goes on in the old
 * file, which therefore stays mapped, as some files before it do.  In place of files that are
 * older than these there is memory: a hit that still writes there is lost.
 */
int
tnf_file_switch(const char *path, uint64_t size, int fd)
{
	struct file *old = tnf_file(), *new = NULL, *f = old;
	int error, kept;

	if ((error = open_and_map(path, size, fd, &new)) != 0)
		return error;
	if (!tnf_tag_begin()) {
		file_release(new);
		return EBUSY;
	}
	error = file_fill(old, new);
	/* The old file was cut off while it was read: part of it was zeros. */
	if (error == 0 && _tnf_process_control.state == TNF_PROC_BROKEN)
		error = EFAULT;
	if (error == 0) {
		new->older = old;
		__atomic_fetch_add(&tnf_ext(new)->attached, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&tnf_p.file, new, __ATOMIC_RELEASE);
		__atomic_fetch_add(&tnf_ext(old)->ended, 1, __ATOMIC_RELAXED);
		for (kept = 0; kept < KEPT && f != NULL; kept++)
			f = f->older;
		if (f != NULL)
			tnf_file_gone(f);
	}
	tnf_tag_end(NULL);
	if (error != 0)
		file_release(new);
	return error;
}
