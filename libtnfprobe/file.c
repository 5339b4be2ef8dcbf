/*
 * file.c - the trace file: open it, be sure of it, set it up.
 *
 * The controller has created the file, zero-filled, with its space reserved;
 * the first process to get there writes the header and the core types.  The
 * file's magic is stored last: until then it is an empty file to a reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "type.h"

#define WAITS	50	/* milliseconds for another process to set it up */

/*
 * The file is there but not for us: created by root, and we are not root any
 * more.  In a directory where that is allowed we put our own in its place;
 * one with the sticky bit refuses, and so it should.
 */
static int
replace(const char *path, uint64_t size)
{
	struct rlimit rl;
	int error, fd;

	/* SIGXFSZ would kill the program. */
	if (getrlimit(RLIMIT_FSIZE, &rl) == 0 && size > rl.rlim_cur) {
		errno = EFBIG;
		return -1;
	}
	if (unlink(path) == -1)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -1;
	error = posix_fallocate(fd, 0, (off_t)size);
	if (error == 0)
		return fd;
	close(fd);
	unlink(path);
	errno = error;
	return -1;
}

static int
open_path(const char *path, uint64_t size)
{
	int fd;

	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	if (fd == -1 && errno == EACCES)
		fd = replace(path, size);
	return fd;
}

/* Ours, a plain file under one name, and as large as we have been told. */
static int
check(int fd, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return EINVAL;
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return EPERM;
	if (size < FILE_MIN || (uint64_t)st.st_size < size)
		return EFBIG;
	return 0;
}

static int
map(struct process *p, int fd, uint64_t size)
{
	void *at;

	if (size > FILE_MAX)
		size = FILE_MAX;
	p->size = (uint32_t)(size / BLOCK_SIZE * BLOCK_SIZE);
	p->data_blocks = (p->size - DATA_START) / BLOCK_SIZE;
	for (p->shift = 0; 1u << p->shift < p->size; p->shift++)
		;
	at = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return errno;
	__atomic_store_n(&p->base, (char *)at, __ATOMIC_RELEASE);
	return 0;
}

static int64_t
now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void
boot_id(uint8_t id[16])
{
	char text[64];
	ssize_t len, i;
	int n = 0, fd;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	len = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < len && n < 32; i++)
		if (hex(text[i]) >= 0) {
			id[n / 2] = (uint8_t)(id[n / 2] << 4 | hex(text[i]));
			n++;
		}
}

static void
init_ext(struct process *p)
{
	struct tnf_ext *x = tnf_ext(p);

	x->size = sizeof(*x);
	x->kind = TNF_EXT_PROCESS;
	x->dir_cursor = BLOCK_SIZE + TNF_DIR_FIRST_PROBE;
	x->data_start = DATA_START;
	x->pid = p->pid;
	x->start_mono = now(CLOCK_MONOTONIC);
	x->start_wall = now(CLOCK_REALTIME);
	boot_id(x->boot_id);
	__atomic_store_n(&x->magic, TNF_EXT_MAGIC, __ATOMIC_RELEASE);
}

static void
init_header(struct process *p)
{
	struct tnf_file_header *h =
	    (struct tnf_file_header *)(void *)p->base;

	h->tag = TAG_OF(BLOCK_SIZE + TNF_DIR_FILE_HEADER);
	h->file_version = TNF_FILE_VERSION;
	h->file_header_size = TNF_FILE_HEADER_SIZE;
	h->file_logical_size = p->shift;
	h->block_header_size = HEADER_SIZE;
	h->block_size = BLOCK_SIZE;
	h->directory_size = DIRECTORY_SIZE;
	h->block_count = p->size / BLOCK_SIZE;
}

/* The types that this process needs at once.  Their places are ours: a
   process that finds the file set up writes its own copies. */
static int
write_core(struct process *p, bool first)
{
	uint32_t *dir = (uint32_t *)(void *)(p->base + BLOCK_SIZE);
	uint32_t header, block, root;

	if (!tnf_tag_begin())
		return EAGAIN;
	header = tnf_core(CORE_file_header);
	block = tnf_core(CORE_block_header);
	root = tnf_core(CORE_struct_type);
	p->string_tag = tnf_core_tag(CORE_string);
	p->name_tag = tnf_core_tag(CORE_name);
	p->sched_tag = tnf_core_tag(CORE_sched_rec);
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
join(struct process *p)
{
	static int waited;
	const struct tnf_file_header *h =
	    (const struct tnf_file_header *)(const void *)p->base;
	const struct timespec ms = { 0, 1000000 };

	for (; __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != TNF_MAGIC;
	    waited++) {
		if (waited == WAITS)
			return EBUSY;
		nanosleep(&ms, NULL);
	}
	if (tnf_ext(p)->magic != TNF_EXT_MAGIC ||
	    (tnf_ext(p)->incompatible & ~TNF_EXT_INCOMPATIBLE) != 0 ||
	    h->block_size != BLOCK_SIZE || h->directory_size != DIRECTORY_SIZE ||
	    h->block_count != p->size / BLOCK_SIZE ||
	    h->block_header_size != HEADER_SIZE)
		return EINVAL;
	return write_core(p, false);
}

static int
set_up(struct process *p)
{
	struct tnf_file_header *h =
	    (struct tnf_file_header *)(void *)p->base;
	uint32_t version = 0;
	int error;

	if (!__atomic_compare_exchange_n(&tnf_ext(p)->version, &version,
	    TNF_EXT_VERSION, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return join(p);
	if (h->magic != 0)
		return EINVAL;
	init_ext(p);
	init_header(p);
	error = write_core(p, true);
	if (error == 0)
		__atomic_store_n(&h->magic, TNF_MAGIC, __ATOMIC_RELEASE);
	return error;
}

/* 0, or why not. */
int
tnf_file_open(struct process *p, const struct tnf_process_control *control)
{
	int error, fd;
	char *base;

	fd = open_path(control->file_name, control->file_size);
	if (fd == -1)
		return errno;
	error = check(fd, control->file_size);
	if (error == 0)
		error = map(p, fd, control->file_size);
	close(fd);
	if (error != 0)
		return error;
	tnf_core_forget();
	/* Broken meanwhile: see process.c, leave_hit(). */
	error = control->state == TNF_PROC_BROKEN ? ECHILD : set_up(p);
	if (error != 0) {
		base = p->base;
		p->base = NULL;
		munmap(base, p->size);
	} else {
		__atomic_fetch_add(&tnf_ext(p)->attached, 1, __ATOMIC_RELAXED);
		tnf_lost_early();
		tnf_sigbus_guard();
	}
	return error;
}
