/*
 * bakery.c - a small server with probes: orders, a recipe cache, a ledger.
 *
 * The shop puts orders into a queue; bakers (threads) take them, look up the
 * recipe in a cache that is too small, bake, and write a line to the ledger.
 *
 *	bakery [-b bakers] [-n orders] [-s seconds]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tnf/probe.h>

#define QUEUE_SIZE	16
#define CACHE_SIZE	3
#define MAX_BAKERS	64

struct order {
	int	 id;
	int	 pieces;
	const char *cake;
};
TNF_DECLARE_RECORD(struct order, bakery_order);
TNF_DEFINE_RECORD_3(struct order, bakery_order,
    tnf_int, id, tnf_int, pieces, tnf_string, cake)

static const char *const cakes[] = {
	"apple pie", "brownie", "croissant", "danish", "eclair"
};
#define N_CAKES	(sizeof cakes / sizeof *cakes)

static struct {
	pthread_mutex_t	 lock;
	pthread_cond_t	 not_empty, not_full;
	struct order	 orders[QUEUE_SIZE];
	unsigned	 head, used;
	int		 closed;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER };

static struct {
	pthread_mutex_t	 lock;
	const char	*cake[CACHE_SIZE];
	unsigned	 next;
	unsigned	 hits, misses;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int ledger = -1;

static void
queue_put(const struct order *o)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.used == QUEUE_SIZE)
		pthread_cond_wait(&queue.not_full, &queue.lock);
	queue.orders[(queue.head + queue.used++) % QUEUE_SIZE] = *o;
	TNF_PROBE_2(order_new, "order queue", "", bakery_order, order,
	    (struct order *)o, tnf_uint, queued, queue.used);
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

/* 0: the shop is closed and the queue is empty. */
static int
queue_get(struct order *o)
{
	int found;

	pthread_mutex_lock(&queue.lock);
	while (queue.used == 0 && !queue.closed)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	found = queue.used > 0;
	if (found) {
		*o = queue.orders[queue.head++ % QUEUE_SIZE];
		queue.used--;
		pthread_cond_signal(&queue.not_full);
	}
	pthread_mutex_unlock(&queue.lock);
	return found;
}

static void
queue_close(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.closed = 1;
	pthread_cond_broadcast(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

/* A recipe that is not in the cache is read from a file: here, random bytes. */
static void
recipe_read(const char *cake)
{
	char page[512];
	ssize_t n = -1;
	int fd;

	TNF_PROBE_1(recipe_read_start, "io cache", "", tnf_string, cake,
	    (char *)cake);
	if ((fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, page, sizeof page);
		close(fd);
	}
	TNF_PROBE_1(recipe_read_end, "io cache", "", tnf_long, bytes, n);
}

static void
recipe(const char *cake)
{
	unsigned i;
	int hit = 0;

	pthread_mutex_lock(&cache.lock);
	for (i = 0; i < CACHE_SIZE && !hit; i++)
		hit = cache.cake[i] == cake;
	TNF_PROBE_2(cache_lookup, "cache", "sunw%debug 'recipe wanted'",
	    tnf_string, cake, (char *)cake, tnf_int, hit, hit);
	if (hit) {
		cache.hits++;
	} else {
		cache.misses++;
		recipe_read(cake);
		cache.cake[cache.next++ % CACHE_SIZE] = cake;
	}
	pthread_mutex_unlock(&cache.lock);
}

static void
bake(const struct order *o)
{
	struct timespec t = { 0, 50000L * o->pieces };

	TNF_PROBE_1_DEBUG(knead, "oven", "", tnf_int, pieces, o->pieces);
	TNF_PROBE_2(bake_start, "oven", "", tnf_int, id, o->id, tnf_int, pieces,
	    o->pieces);
	nanosleep(&t, NULL);
	TNF_PROBE_1(bake_end, "oven", "", tnf_int, id, o->id);
}

static int
ledger_write(const struct order *o)
{
	char line[80];
	int n = snprintf(line, sizeof line, "%d\t%d\t%s\n", o->id, o->pieces, o->cake);
	int error = 0;

	TNF_PROBE_1(ledger_start, "io ledger", "", tnf_int, bytes, n);
	if (write(ledger, line, (size_t)n) != n)
		error = errno;
	TNF_PROBE_1(ledger_end, "io ledger", "", tnf_int, error, error);
	return error;
}

static void *
baker(void *arg)
{
	int number = *(int *)arg;
	struct order o;
	int error;

	TNF_PROBE_1(baker_start, "thread", "", tnf_int, number, number);
	while (queue_get(&o)) {
		TNF_PROBE_2(order_start, "order", "", tnf_int, id, o.id, tnf_string,
		    cake, (char *)o.cake);
		recipe(o.cake);
		bake(&o);
		error = ledger_write(&o);
		TNF_PROBE_2(order_end, "order", "", tnf_int, id, o.id, tnf_int,
		    error, error);
	}
	TNF_PROBE_1(baker_end, "thread", "", tnf_int, number, number);
	return NULL;
}

/* Orders come in until there were enough of them or the time is over. */
static int
sell(int max, int seconds)
{
	struct timespec pause = { 0, 200000 };
	time_t end = time(NULL) + seconds;
	unsigned seed = 1;
	struct order o;
	int id;

	for (id = 0; (max == 0 || id < max) &&
	    (seconds == 0 || time(NULL) < end); id++) {
		o.id = id;
		o.pieces = 1 + rand_r(&seed) % 12;
		o.cake = cakes[(unsigned)rand_r(&seed) % N_CAKES];
		queue_put(&o);
		nanosleep(&pause, NULL);
	}
	return id;
}

static int
number(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (*s == '\0' || *end != '\0' || n < 0 || n > 1000000000) {
		fprintf(stderr, "bakery: %s: not a number of use here\n", s);
		exit(2);
	}
	return (int)n;
}

int
main(int argc, char **argv)
{
	pthread_t thread[MAX_BAKERS];
	int numbers[MAX_BAKERS];
	int bakers = 3, orders = 0, seconds = 0, sold, i, c;
	char name[] = "/tmp/bakery.XXXXXX";

	while ((c = getopt(argc, argv, "b:n:s:")) != -1)
		switch (c) {
		case 'b':	bakers = number(optarg); break;
		case 'n':	orders = number(optarg); break;
		case 's':	seconds = number(optarg); break;
		default:
			fprintf(stderr, "usage: bakery [-b bakers] [-n orders] "
			    "[-s seconds]\n");
			return 2;
		}
	if (bakers < 1 || bakers > MAX_BAKERS) {
		fprintf(stderr, "bakery: 1 to %d bakers\n", MAX_BAKERS);
		return 2;
	}
	if ((ledger = mkstemp(name)) < 0) {
		perror("bakery: ledger");
		return 1;
	}
	unlink(name);

	for (i = 0; i < bakers; i++) {
		numbers[i] = i;
		if ((errno = pthread_create(&thread[i], NULL, baker, &numbers[i])) != 0) {
			perror("bakery: thread");
			return 1;
		}
	}
	sold = sell(orders, seconds);
	queue_close();
	for (i = 0; i < bakers; i++)
		pthread_join(thread[i], NULL);
	printf("%d orders, cache %u hits %u misses\n", sold, cache.hits,
	    cache.misses);
	return 0;
}
