/*
 * segment.c - some blocks of a ring as a trace file of its own, compressed.
 */
#include <pthread.h>
#include <zstd.h>

#include "tnfwatch/segment.h"
#include "tnfwatch/watch.h"

#define LEVEL	1
/* Records repeat at short distances: to look further back, with a larger table, finds no
   more of them, and needs memory that is farther away. */
#define WINDOW_LOG	17
#define HASH_LOG	12
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

/* Compressed bytes, in memory that grows. */
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
			p->bytes = tnf_xreallocarray(p->bytes, p->room, 1);
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

/* Begins a frame of zstd for so many bytes; the file is all frames, one behind the other. */
static int
packed_begin(struct packed *p, uint64_t size)
{
	return ZSTD_isError(ZSTD_CCtx_reset(p->z, ZSTD_reset_session_only)) ||
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(p->z, size)) ? ENOMEM : 0;
}

static const unsigned char zeros[CHUNK];

/*
 * Most of a segment is zeros, and to compress them took longer than all the rest.  So
 * this compresses a chunk of them once, and copies the frame.  *left: the zeros that fill no
 * whole chunk, with which the next frame begins.
 */
static int
packed_gap(struct packed *p, uint64_t n, uint64_t *left)
{
	static unsigned char frame[256];
	static size_t size;
	uint64_t chunks = n / CHUNK;

	*left = n % CHUNK;
	if (size == 0)
		size = ZSTD_compress(frame, sizeof frame, zeros, CHUNK, LEVEL);
	if (ZSTD_isError(size)) {
		size = 0;
		return ENOMEM;
	}
	if (p->room - p->size < chunks * size) {
		p->room = 2 * p->room + chunks * size;
		p->bytes = tnf_xreallocarray(p->bytes, p->room, 1);
	}
	for (; chunks > 0; chunks--) {
		memcpy(p->bytes + p->size, frame, size);
		p->size += size;
	}
	return 0;
}

/* Bytes of zeros in front of this block. */
static uint64_t
gap_before(const struct segment *s, uint32_t i)
{
	return (uint64_t)(s->at[i] - (i > 0 ? s->at[i - 1] + 1 : 0)) * s->block_size;
}

/* Packs the blocks [i, end) and the zeros between them.  Neighbours in the ring mostly are
   neighbours in 'raw'. */
static int
packed_blocks(struct packed *p, const struct segment *s, uint32_t i, uint32_t end)
{
	uint32_t run, first = i;
	int e = 0;

	for (; i < end && e == 0; i += run) {
		for (run = 1; i + run < end && s->at[i + run] == s->at[i] + run &&
		    s->from[i + run] == s->from[i] + run && (run + 1) * s->block_size <= CHUNK; run++)
			;
		if (i > first)
			e = packed_put(p, zeros, gap_before(s, i), ZSTD_e_continue);
		if (e == 0)
			e = packed_put(p, s->raw + (size_t)s->from[i] * s->block_size,
			    (size_t)run * s->block_size, ZSTD_e_continue);
	}
	return e;
}

/* Packs one frame: zeros, and then blocks up to the next whole chunk of zeros. */
static int
packed_part(struct packed *p, const struct segment *s, uint64_t left, uint32_t i, uint32_t *end)
{
	uint32_t next = i + 1;
	int e;

	while (next < s->n_raw && gap_before(s, next) < CHUNK)
		next++;
	*end = next;
	e = packed_begin(p, left + (uint64_t)(s->at[next - 1] + 1 - s->at[i]) * s->block_size);
	if (e == 0)
		e = packed_put(p, zeros, left, ZSTD_e_continue);
	if (e == 0)
		e = packed_blocks(p, s, i, next);
	return e != 0 ? e : packed_put(p, zeros, 0, ZSTD_e_end);
}

/* Packs the zeros behind the last block, and the context. */
static int
packed_end(struct packed *p, const struct segment *s)
{
	uint32_t next = s->n_raw > 0 ? s->at[s->n_raw - 1] + 1 : 0;
	uint64_t left;
	int e = packed_gap(p, (uint64_t)(s->n_file - next) * s->block_size, &left);

	if (e != 0 || left + s->context_size == 0)
		return e;
	if ((e = packed_begin(p, left + s->context_size)) == 0)
		e = packed_put(p, zeros, left, ZSTD_e_continue);
	return e != 0 ? e : packed_put(p, s->context, s->context_size, ZSTD_e_end);
}

static int
segment_pack(const struct segment *s, struct packed *p)
{
	uint64_t left;
	int e = 0;

	if ((p->z = ZSTD_createCCtx()) == NULL)
		return ENOMEM;
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_hashLog, HASH_LOG);
	ZSTD_CCtx_setParameter(p->z, ZSTD_c_checksumFlag, 1);
	for (uint32_t i = 0; i < s->n_raw && e == 0;)
		if ((e = packed_gap(p, gap_before(s, i), &left)) == 0)
			e = packed_part(p, s, left, i, &i);
	if (e == 0)
		e = packed_end(p, s);
	ZSTD_freeCCtx(p->z);
	return e;
}

/* Writes a file that has its name only when it is whole and, if so wanted, on the disk. */
static int
write_whole(int dir, const char *name, const void *bytes, size_t size, bool sync)
{
	autofree char *temp = tnf_xasprintf("%s.tmp", name);
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
	return e;
}

static void
segment_free_raw(struct segment *s)
{
	free(s->at);
	free(s->from);
	free(s->raw);
	free(s->context);
	s->at = s->from = NULL;
	s->raw = NULL;
	s->context = NULL;
}

/* Has the worker, which holds the lock, stand still as long as it is paused. */
static void
worker_stand(void)
{
	while (worker.pause) {
		worker.paused = true;
		pthread_cond_broadcast(&worker.stands);
		pthread_cond_wait(&worker.wake, &worker.lock);
	}
	worker.paused = false;
}

static void
worker_breathe(void)
{
	pthread_mutex_lock(&worker.lock);
	worker.writing = false;
	worker_stand();
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
		s->bytes = tnf_xreallocarray(p.bytes, p.size, 1);
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
		worker_stand();
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

	/* The main thread handles signals. */
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
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return errno;
	autofree unsigned char *bytes = tnf_xcalloc(1, (size_t)st.st_size + 1);
	return read(fd, bytes, (size_t)st.st_size) == st.st_size ?
	    write_whole(dir, name, bytes, (size_t)st.st_size, false) : EIO;
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
	/* The segment could not be written, and its bytes are freed.  That error belongs to
	   another directory: the caller must not take it for a refusal by this one. */
	if (s->state == SEGMENT_FAILED)
		return ENOENT;
	e = segment_pack(s, &p);
	if (e == 0)
		e = write_whole(dir, name, p.bytes, p.size, false);
	free(p.bytes);
	return e;
}

/* The size of all frames together; 0: this is no segment. */
static uint64_t
unpacked_size(const unsigned char *packed, size_t n)
{
	unsigned long long one;
	uint64_t all = 0;
	size_t frame;

	for (; n > 0; packed += frame, n -= frame) {
		one = ZSTD_getFrameContentSize(packed, n);
		frame = ZSTD_findFrameCompressedSize(packed, n);
		if (one == ZSTD_CONTENTSIZE_UNKNOWN || one == ZSTD_CONTENTSIZE_ERROR ||
		    ZSTD_isError(frame) || one > UINT32_MAX - all)
			return 0;
		all += one;
	}
	return all;
}

/* The whole file in memory; NULL: this is no segment. */
static unsigned char *
segment_unpack(const char *path, size_t *ret)
{
	unsigned char *packed = NULL, *bytes = NULL;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t size;

	if (fd >= 0 && fstat(fd, &st) == 0 && (packed = malloc((size_t)st.st_size + 1)) != NULL &&
	    read(fd, packed, (size_t)st.st_size) == st.st_size) {
		size = unpacked_size(packed, (size_t)st.st_size);
		if (size >= 4096 && (bytes = malloc((size_t)size)) != NULL)
			*ret = ZSTD_decompress(bytes, (size_t)size, packed, (size_t)st.st_size);
		if (bytes != NULL && ZSTD_isError(*ret)) {
			free(bytes);
			bytes = NULL;
		}
	}
	free(packed);
	return bytes;
}

static int
blank_block(int fd, uint64_t at, const struct tnf_block_header *in, uint32_t block_size)
{
	struct tnf_block_header there;

	if (pread(fd, &there, sizeof there, (off_t)at) != sizeof there ||
	    there.generation != in->generation)
		return 0;
	autofree unsigned char *blank = tnf_xcalloc(1, block_size);
	return pwrite_all(fd, blank, block_size, at);
}

int
segment_blank(const char *path, int fd)
{
	struct tnf_block_header in;
	struct tnf_file_header h;
	size_t size = 0;
	autofree unsigned char *bytes = segment_unpack(path, &size);
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
	return e;
}
