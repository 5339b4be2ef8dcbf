/*
 * segment.c - some blocks of a ring as a trace file of its own, compressed.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <tnf/com.h>

#include "common/pwrite.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/util.h"

#define LEVEL	1
#define CHUNK	(256u << 10)	/* the worker can be stopped behind each */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake, stands;
	pthread_t thread;
	bool	 runs, pause, paused, stop;
	bool	 writing;	/* a file, as slow as the disk is: as good as paused */
	struct segment *first, *last;
	uint64_t load;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
    .stands = PTHREAD_COND_INITIALIZER };

/* Where compressed bytes go: memory that grows. */
struct packed {
	ZSTD_CCtx *z;
	unsigned char *bytes;
	size_t	 size, room;
	void	(*breathe)(void);	/* between chunks; or NULL */
	size_t	 since;			/* bytes taken since the last breath */
};

static int
packed_put(struct packed *p, const void *bytes, size_t n, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	ZSTD_outBuffer out;
	size_t left;

	do {
		if (p->room - p->size < ZSTD_CStreamOutSize()) {
			p->room = 2 * p->room + 2 * ZSTD_CStreamOutSize();
			p->bytes = xreallocarray(p->bytes, p->room, 1);
		}
		out = (ZSTD_outBuffer){ p->bytes, p->room, p->size };
		left = ZSTD_compressStream2(p->z, &out, &in, end);
		if (ZSTD_isError(left))
			return ENOMEM;
		p->size = out.pos;
	} while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
	if (p->breathe != NULL && (p->since += n) >= CHUNK) {
		p->since = 0;
		p->breathe();
	}
	return 0;
}

static int
packed_zeros(struct packed *p, uint64_t n)
{
	static const unsigned char zeros[CHUNK];
	size_t one;
	int e = 0;

	for (; n > 0 && e == 0; n -= one) {
		one = n < sizeof zeros ? (size_t)n : sizeof zeros;
		e = packed_put(p, zeros, one, ZSTD_e_continue);
	}
	return e;
}

/* Neighbours in the ring are neighbours in 'raw'. */
static int
packed_blocks(struct packed *p, const struct segment *s)
{
	uint32_t i, run, next = 0;
	int e = 0;

	for (i = 0; i < s->n_raw && e == 0; i += run) {
		for (run = 1; i + run < s->n_raw && s->at[i + run] == s->at[i] + run &&
		    (run + 1) * s->block_size <= CHUNK; run++)
			;
		e = packed_zeros(p, (uint64_t)(s->at[i] - next) * s->block_size);
		if (e == 0)
			e = packed_put(p, s->raw + (size_t)i * s->block_size,
			    (size_t)run * s->block_size, ZSTD_e_continue);
		next = s->at[i] + run;
	}
	return e != 0 ? e : packed_zeros(p, (uint64_t)(s->n_file - next) * s->block_size);
}

static int
segment_pack(const struct segment *s, struct packed *p)
{
	uint64_t size = (uint64_t)s->n_file * s->block_size + s->context_size;
	int e;

	if ((p->z = ZSTD_createCCtx()) == NULL)
		return ENOMEM;
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setPledgedSrcSize(p->z, size);
	e = packed_blocks(p, s);
	if (e == 0)
		e = packed_put(p, s->context, s->context_size, ZSTD_e_end);
	ZSTD_freeCCtx(p->z);
	return e;
}

/* It is there under its name when it is whole, and, if so wanted, on the disk. */
static int
write_whole(int dir, const char *name, const void *bytes, size_t size, bool sync)
{
	char *temp = xasprintf("%s.tmp", name);
	int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), e;

	if (fd < 0)
		e = errno;
	else {
		e = pwrite_all(fd, bytes, size, 0);
		if (e == 0 && sync && fdatasync(fd) != 0)
			e = errno;
		close(fd);
		if (e == 0 && renameat(dir, temp, dir, name) != 0)
			e = errno;
		if (e != 0)
			unlinkat(dir, temp, 0);
	}
	free(temp);
	return e;
}

static void
segment_free_raw(struct segment *s)
{
	free(s->at);
	free(s->raw);
	free(s->context);
	s->at = NULL;
	s->raw = NULL;
	s->context = NULL;
}

static void
worker_breathe(void)
{
	pthread_mutex_lock(&worker.lock);
	worker.writing = false;
	while (worker.pause) {
		worker.paused = true;
		pthread_cond_broadcast(&worker.stands);
		pthread_cond_wait(&worker.wake, &worker.lock);
	}
	worker.paused = false;
	pthread_mutex_unlock(&worker.lock);
}

/* The worker says that it is writing to the disk.  Until it next calls worker_breathe()
   it changes no memory that a forked process reads, so the main thread may fork without
   waiting for it. */
static void
worker_writes(void)
{
	pthread_mutex_lock(&worker.lock);
	worker.writing = true;
	pthread_cond_broadcast(&worker.stands);
	pthread_mutex_unlock(&worker.lock);
}

static void
worker_make(struct segment *s)
{
	struct packed p = { .breathe = worker_breathe };
	uint64_t load = (uint64_t)s->n_raw * s->block_size;
	int e = segment_pack(s, &p);

	if (e == 0 && s->path != NULL) {
		worker_writes();
		e = write_whole(AT_FDCWD, s->path, p.bytes, p.size, true);
	}
	worker_breathe();
	pthread_mutex_lock(&worker.lock);
	s->size = p.size;
	s->error = e;
	if (e == 0 && s->path == NULL)
		s->bytes = xreallocarray(p.bytes, p.size, 1);
	else
		free(p.bytes);
	segment_free_raw(s);
	s->state = e == 0 ? SEGMENT_DONE : SEGMENT_FAILED;
	worker.load -= load;
	pthread_mutex_unlock(&worker.lock);
}

static void *
worker_main(void *arg)
{
	struct segment *s;

	pthread_mutex_lock(&worker.lock);
	for (;;) {
		if (worker.pause) {
			worker.paused = true;
			pthread_cond_broadcast(&worker.stands);
			pthread_cond_wait(&worker.wake, &worker.lock);
			continue;
		}
		worker.paused = false;
		if ((s = worker.first) == NULL) {
			if (worker.stop)
				break;
			pthread_cond_wait(&worker.wake, &worker.lock);
			continue;
		}
		if ((worker.first = s->queued) == NULL)
			worker.last = NULL;
		pthread_mutex_unlock(&worker.lock);
		worker_make(s);
		pthread_mutex_lock(&worker.lock);
	}
	pthread_mutex_unlock(&worker.lock);
	return NULL;
}

int
segment_worker_start(void)
{
	sigset_t all, mask;
	int e;

	/* Signals are the main thread's. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	e = pthread_create(&worker.thread, NULL, worker_main, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	worker.runs = e == 0;
	return e;
}

void
segment_worker_stop(void)
{
	if (!worker.runs)
		return;
	pthread_mutex_lock(&worker.lock);
	worker.stop = true;
	pthread_cond_broadcast(&worker.wake);
	pthread_mutex_unlock(&worker.lock);
	pthread_join(worker.thread, NULL);
	worker.runs = false;
}

uint64_t
segment_worker_load(void)
{
	uint64_t load;

	pthread_mutex_lock(&worker.lock);
	load = worker.load;
	pthread_mutex_unlock(&worker.lock);
	return load;
}

void
segment_worker_pause(void)
{
	if (!worker.runs)
		return;
	pthread_mutex_lock(&worker.lock);
	worker.pause = true;
	pthread_cond_broadcast(&worker.wake);
	while (!worker.paused && !worker.writing)
		pthread_cond_wait(&worker.stands, &worker.lock);
	pthread_mutex_unlock(&worker.lock);
}

void
segment_worker_go_on(void)
{
	pthread_mutex_lock(&worker.lock);
	worker.pause = false;
	worker.paused = false;
	pthread_cond_broadcast(&worker.wake);
	pthread_mutex_unlock(&worker.lock);
}

void
segment_queue(struct segment *s)
{
	pthread_mutex_lock(&worker.lock);
	s->queued = NULL;
	if (worker.last != NULL)
		worker.last->queued = s;
	else
		worker.first = s;
	worker.last = s;
	worker.load += (uint64_t)s->n_raw * s->block_size;
	pthread_cond_broadcast(&worker.wake);
	pthread_mutex_unlock(&worker.lock);
}

enum segment_state
segment_state(const struct segment *s)
{
	enum segment_state state;

	pthread_mutex_lock(&worker.lock);
	state = (enum segment_state)s->state;
	pthread_mutex_unlock(&worker.lock);
	return state;
}

void
segment_free(struct segment *s)
{
	if (s == NULL)
		return;
	if (s->path != NULL)
		unlink(s->path);
	segment_free_raw(s);
	free(s->blocks);
	free(s->path);
	free(s->bytes);
	free(s);
}

static int
copy_file(const char *path, int dir, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), e;
	unsigned char *bytes;
	struct stat st;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st) != 0) {
		e = errno;
		close(fd);
		return e;
	}
	bytes = xcalloc(1, (size_t)st.st_size + 1);
	e = read(fd, bytes, (size_t)st.st_size) == st.st_size ?
	    write_whole(dir, name, bytes, (size_t)st.st_size, false) : EIO;
	free(bytes);
	close(fd);
	return e;
}

int
segment_put(const struct segment *s, int dir, const char *name)
{
	struct packed p = { .z = NULL };
	int e;

	if (s->state == SEGMENT_DONE && s->path == NULL)
		return write_whole(dir, name, s->bytes, s->size, false);
	if (s->state == SEGMENT_DONE && linkat(AT_FDCWD, s->path, dir, name, 0) == 0)
		return 0;
	if (s->state == SEGMENT_DONE)
		return copy_file(s->path, dir, name);
	/* It could not be written, and its bytes are freed.  That error was of another
	   directory: the caller must not take it for a refusal by this one. */
	if (s->state == SEGMENT_FAILED)
		return ENOENT;
	e = segment_pack(s, &p);
	if (e == 0)
		e = write_whole(dir, name, p.bytes, p.size, false);
	free(p.bytes);
	return e;
}

/* The whole file in memory; NULL: it is none of ours. */
static unsigned char *
segment_unpack(const char *path, size_t *ret)
{
	unsigned char *packed = NULL, *bytes = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned long long size;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && (packed = malloc((size_t)st.st_size + 1)) != NULL &&
	    read(fd, packed, (size_t)st.st_size) == st.st_size) {
		size = ZSTD_getFrameContentSize(packed, (size_t)st.st_size);
		if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR &&
		    size >= 4096 && size <= UINT32_MAX && (bytes = malloc((size_t)size)) != NULL)
			*ret = ZSTD_decompress(bytes, (size_t)size, packed, (size_t)st.st_size);
		if (bytes != NULL && ZSTD_isError(*ret)) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	free(packed);
	return bytes;
}

static int
blank_block(int fd, uint64_t at, const struct tnf_block_header *in, uint32_t block_size)
{
	struct tnf_block_header there;
	unsigned char *zeros;
	int e;

	if (pread(fd, &there, sizeof there, (off_t)at) != sizeof there ||
	    there.generation != in->generation)
		return 0;
	zeros = xcalloc(1, block_size);
	e = pwrite_all(fd, zeros, block_size, at);
	free(zeros);
	return e;
}

int
segment_blank(const char *path, int fd)
{
	struct tnf_block_header in;
	struct tnf_file_header h;
	size_t size = 0;
	unsigned char *bytes = segment_unpack(path, &size);
	int e = 0;

	if (bytes == NULL)
		return EBADMSG;
	memcpy(&h, bytes, sizeof h);
	if (h.magic != TNF_MAGIC || h.block_size < 512 || h.block_size > TNF_BLOCK_SIZE_MAX)
		e = EBADMSG;
	for (uint64_t at = h.directory_size; e == 0 && at + h.block_size <= size &&
	    at < (uint64_t)h.block_size * h.block_count; at += h.block_size) {
		memcpy(&in, bytes + at, sizeof in);
		if (in.generation != TNF_GENERATION_FREE && in.generation != TNF_GENERATION_TAG)
			e = blank_block(fd, at, &in, h.block_size);
	}
	free(bytes);
	return e;
}
