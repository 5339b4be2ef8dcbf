/*
 * out.c - buffered output with fast numbers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/out.h"
#include "common/xalloc.h"

int
tnf_out_init(struct out *o, int fd)
{
	*o = (struct out){ .fd = fd };
	if ((o->base = malloc(OUT_SIZE)) == NULL)
		return ENOMEM;
	/* A pipe as large: we and the reader wait less for each other. */
	fcntl(fd, F_SETPIPE_SZ, OUT_SIZE);
	o->p = o->base;
	o->limit = o->base + OUT_SIZE - OUT_MARGIN;
	return 0;
}

void
tnf_out_memory(struct out *o)
{
	*o = (struct out){ .fd = -1 };
	o->base = tnf_xreallocarray(NULL, OUT_FIRST, 1);
	o->p = o->base;
	o->limit = o->base + OUT_FIRST - OUT_MARGIN;
}

void
tnf_out_again(struct out *o)
{
	if (o->base == NULL)
		tnf_out_memory(o);
	o->p = o->base;
}

/* Writes all; 0 or an errno. */
static int
write_all(int fd, const char *s, size_t n)
{
	ssize_t done;

	while (n > 0) {
		done = write(fd, s, n);
		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			s += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/*
 * A thread of its own writes a full buffer while the output fills another one, since of the time that a
 * line of text took without it, a third was the kernel's copy into the pipe.
 */
struct out_thread {
	pthread_t	 thread;
	pthread_mutex_t	 lock;
	pthread_cond_t	 change;	/* of the members below, which the lock protects */
	char		*buffer;	/* the one that is not filled */
	size_t		 n;		/* bytes in it that are to be written; 0: none */
	int		 error;		/* errno of the first failure; nothing is written from then on */
	bool		 over;		/* nothing will follow */
	int		 fd;
};

static void *
out_thread_run(void *arg)
{
	struct out_thread *t = arg;

	pthread_mutex_lock(&t->lock);
	while (t->n > 0 || !t->over) {
		if (t->n == 0) {
			pthread_cond_wait(&t->change, &t->lock);
			continue;
		}
		if (t->error == 0) {
			pthread_mutex_unlock(&t->lock);
			int error = write_all(t->fd, t->buffer, t->n);
			pthread_mutex_lock(&t->lock);
			t->error = error;
		}
		t->n = 0;
		pthread_cond_signal(&t->change);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Starts the thread.  If that fails, the output goes on without one. */
static void
out_thread_start(struct out *o)
{
	struct out_thread *t = calloc(1, sizeof(*t));
	sigset_t most, old;

	o->beside = false;
	if (t == NULL)
		return;
	t->fd = o->fd;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->change, NULL);
	/* Signals are for the program's own thread, except those that a write itself causes. */
	sigfillset(&most);
	sigdelset(&most, SIGPIPE);
	sigdelset(&most, SIGXFSZ);
	pthread_sigmask(SIG_SETMASK, &most, &old);
	if ((t->buffer = malloc(OUT_SIZE)) != NULL &&
	    pthread_create(&t->thread, NULL, out_thread_run, t) == 0)
		o->thread = t;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (o->thread == NULL) {
		free(t->buffer);
		free(t);
	}
}

/* Waits until the thread has written all that it was given.  Afterwards the caller holds its lock. */
static void
out_thread_wait(struct out *o)
{
	struct out_thread *t = o->thread;

	pthread_mutex_lock(&t->lock);
	while (t->n > 0)
		pthread_cond_wait(&t->change, &t->lock);
	if (o->error == 0)
		o->error = t->error;
}

static void
out_thread_give(struct out *o)
{
	struct out_thread *t = o->thread;
	char *spare;

	out_thread_wait(o);
	spare = t->buffer;
	t->buffer = o->base;
	t->n = (size_t)(o->p - o->base);
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	o->base = o->p = spare;
	o->limit = o->base + OUT_SIZE - OUT_MARGIN;
}

static void
out_thread_end(struct out *o)
{
	struct out_thread *t = o->thread;

	out_thread_wait(o);
	t->over = true;
	pthread_cond_signal(&t->change);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	free(t->buffer);
	free(t);
	o->thread = NULL;
}

/* In memory the buffer grows instead. */
static void
out_grow(struct out *o)
{
	size_t used = (size_t)(o->p - o->base);
	size_t size = 2 * ((size_t)(o->limit - o->base) + OUT_MARGIN);

	o->base = tnf_xreallocarray(o->base, size, 1);
	o->p = o->base + used;
	o->limit = o->base + size - OUT_MARGIN;
}

void
tnf_out_full(struct out *o)
{
	if (o->fd < 0) {
		out_grow(o);
		return;
	}
	if (o->beside)
		out_thread_start(o);
	if (o->thread != NULL)
		out_thread_give(o);
	else
		tnf_out_flush(o);
}

void
tnf_out_flush(struct out *o)
{
	if (o->fd < 0)
		return;
	if (o->thread != NULL) {
		out_thread_wait(o);
		pthread_mutex_unlock(&o->thread->lock);
	}
	if (o->error == 0)
		o->error = write_all(o->fd, o->base, (size_t)(o->p - o->base));
	o->p = o->base;
}

int
tnf_out_close(struct out *o)
{
	if (o->base == NULL)
		return 0;
	tnf_out_flush(o);
	if (o->thread != NULL)
		out_thread_end(o);
	free(o->base);
	o->base = NULL;
	return o->error;
}

void
tnf_out_bytes(struct out *o, const char *s, size_t n)
{
	for (; n > OUT_MARGIN; s += OUT_MARGIN, n -= OUT_MARGIN) {
		out_room(o);
		memcpy(o->p, s, OUT_MARGIN);
		o->p += OUT_MARGIN;
	}
	out_room(o);
	memcpy(o->p, s, n);
	o->p += n;
}

void
tnf_out_pad(struct out *o, unsigned n)
{
	out_room(o);
	if (n > OUT_MARGIN)
		n = OUT_MARGIN;
	memset(o->p, ' ', n);
	o->p += n;
}

void
tnf_out_u64_width(struct out *o, uint64_t v, unsigned width)
{
	unsigned n = digits_count(v);

	if (n < width)
		tnf_out_pad(o, width - n);
	tnf_out_u64(o, v);
}

void
tnf_out_u64(struct out *o, uint64_t v)
{
	out_room(o);
	o->p = digits_u64(o->p, v);
}

void
tnf_out_i64(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	tnf_out_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
tnf_out_hex(struct out *o, uint64_t v)
{
	char *s;

	out_room(o);
	s = o->p += (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
	do {
		*--s = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v != 0);
}

void
tnf_out_0x(struct out *o, uint64_t v)
{
	out_lit(o, "0x");
	tnf_out_hex(o, v);
}

void
tnf_out_format(struct out *o, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = tnf_xvasprintf(fmt, ap);
	va_end(ap);
	out_str(o, text);
	free(text);
}

void
tnf_out_double(struct out *o, double v)
{
	char buf[40];
	int precision = 15;

	do
		snprintf(buf, sizeof(buf), "%.*g", precision, v);
	while (strtod(buf, NULL) != v && precision++ < 17);
	out_str(o, buf);
	if (strpbrk(buf, ".e") == NULL)
		out_lit(o, ".0");	/* still a floating-point number */
}

/* ns with 'decimals' digits behind the point. */
static void
out_fixed(struct out *o, int64_t ns, unsigned decimals, uint64_t unit, unsigned width)
{
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned n = (ns < 0) + digits_count(v / unit) + 1 + decimals;

	if (n < width)
		tnf_out_pad(o, width - n);
	out_room(o);
	if (ns < 0)
		*o->p++ = '-';
	o->p = digits_u64(o->p, v / unit);
	*o->p++ = '.';
	o->p = digits_last(o->p, v % unit, decimals);
}

void
tnf_out_ms(struct out *o, int64_t ns, unsigned width)
{
	out_fixed(o, ns, 6, 1000000, width);
}

void
tnf_out_us(struct out *o, int64_t ns)
{
	out_fixed(o, ns, 3, 1000, 0);
}
