/*
 * shared.c - CPUs share the blocks: a busy one has the history, an idle one keeps
 * its last events, and a copy has those of each CPU without a hole, on large machines too.
 *
 * The CPUs are threads, and the code is the kernel's.  With the name of a file as
 * argument it writes one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernel-probes/catalogue.h"
#include "tests/kernel/fake-bpf.h"
#include "tnfxtract/snapshot.h"

#define BLOCKS	256u
#define CPUS	4u
#define CPUS_MAX	256u		/* of the model of a large machine */
#define FIRST	(KP_DATA / KP_BLOCK_SIZE)

static struct kp_block *buffer;
static struct kp_cpu cpus[CPUS_MAX];
static u64 pool[CPUS_MAX * KP_CPU_HOLDS * 2];
static u32 written[CPUS_MAX], n_cpus, n_blocks;
static volatile bool stop;
static __thread u32 this;
static __thread u64 tries;	/* looks at a slot of the pool */

/* The table of bench/README, "Many CPUs". */
_Static_assert(sizeof(struct kp_cpu) == 192 && offsetof(struct kp_cpu, lost) == 72 &&
    offsetof(struct kp_cpu, thread) == 136, "struct kp_cpu is told otherwise in bench/README");
_Static_assert((TNF_EXT_OFFSET + offsetof(struct tnf_ext, data_cursor)) / 64 == 1 &&
    (TNF_EXT_OFFSET + offsetof(struct tnf_ext, lost)) / 64 == 2 &&
    offsetof(struct kp_shared, stored) / 64 == 1,
    "the lines of the file header and of struct kp_shared are told otherwise there");

/* At the chosen place of the code a CPU stops, and this happens meanwhile. */
static __thread void (*meanwhile)(void);
static __thread int place, chosen;
static __thread u32 yields;	/* not 0: now and then another CPU runs on */

static void
interrupt(void)
{
	void (*f)(void) = meanwhile;

	if (yields != 0 && (yields = yields * 1664525 + 1013904223) >> 24 == 0)
		sched_yield();
	if (f == NULL || place++ != chosen)
		return;
	meanwhile = NULL;
	f();
}

static u32
fake_cpu(void)
{
	return this;
}

static u64
fake_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static void *
fake_lookup(const void *map, u32 key)
{
	if (map == &tnf_cpu)
		return key < n_cpus ? &cpus[key] : NULL;
	tries += map == &tnf_pool;
	if (map == &tnf_pool)
		return key < state.pool ? &pool[key] : NULL;
	return map == &tnf_buf && key < n_blocks ? &buffer[key] : NULL;
}

static void
begin_with(u32 how_many, u32 blocks)
{
	struct kp_defs defs;

	n_cpus = how_many;
	n_blocks = blocks;
	free(buffer);
	buffer = aligned_alloc(KP_BLOCK_SIZE, blocks * KP_BLOCK_SIZE);
	if (buffer == NULL)
		abort();
	memset(buffer, 0, blocks * KP_BLOCK_SIZE);
	memset(written, 0, sizeof written);
	if (kp_defs_write((char *)buffer, blocks * KP_BLOCK_SIZE, 1, &defs) != 0)
		abort();
	fake_begin((void *)((char *)buffer + TNF_EXT_OFFSET), buffer, FIRST, blocks,
	    cpus, how_many, pool);
	state.sched_tag = defs.sched_tag;
}

static void
begin(void)
{
	begin_with(CPUS, BLOCKS);
}

/* The n-th event of a CPU says so. */
static void
write_event(u32 cpu)
{
	struct kp_thread_state *e;
	struct hit hit;

	this = cpu;
	e = EVENT(NULL, &hit, THREAD_STATE_OUT, kp_thread_state);
	if (e == NULL)
		return;
	e->state = (s32)++written[cpu];
	e->pad = 0;
	event_end(&hit);
}

/* The part of a copy that a CPU wrote. */
struct part {
	u32 blocks, first, last;	/* numbers of blocks */
	u32 events, low, high;
};

static bool
add_block(struct part *part, const char *base)
{
	const struct tnf_kernel_schedule *s = (const void *)(base + KP_BLOCK_HEADER);
	const struct tnf_block_header *h = (const void *)base;
	const struct kp_thread_state *e;
	struct part *p = &part[s->cpuid];
	u32 at;

	if (s->tag != state.sched_tag || s->cpuid < 0 || s->cpuid >= (s32)n_cpus)
		return false;
	p->first = p->blocks == 0 || s->number < p->first ? s->number : p->first;
	p->last = p->blocks == 0 || s->number > p->last ? s->number : p->last;
	p->blocks++;
	for (at = KP_BLOCK_HEADER; at < h->bytes_valid;) {
		e = (const void *)(base + at);
		if (e->h.tag == state.sched_tag) {
			at += SCHED_SIZE;
			continue;
		}
		p->low = p->events == 0 || (u32)e->state < p->low ? (u32)e->state : p->low;
		p->high = p->events == 0 || (u32)e->state > p->high ? (u32)e->state : p->high;
		p->events++;
		at += EVENT_SIZE(kp_thread_state);
	}
	return at == h->bytes_valid;
}

static bool
count_parts(const char *copy, struct part *part)
{
	const struct tnf_block_header *h;

	memset(part, 0, n_cpus * sizeof *part);
	for (u32 n = FIRST; n < n_blocks; n++) {
		h = (const void *)(copy + (size_t)n * KP_BLOCK_SIZE);
		if (h->generation != 0 && h->bytes_valid > KP_BLOCK_HEADER &&
		    !add_block(part, (const char *)h)) {
			printf("# block %u is spoilt\n", n);
			return false;
		}
	}
	return true;
}

/* No block and no event is missing between the oldest and the newest. */
static bool
has_no_hole(const struct part *part)
{
	for (u32 i = 0; i < n_cpus; i++) {
		const struct part *p = &part[i];

		if (p->blocks == 0 || (p->last - p->first + 1 == p->blocks &&
		    p->high - p->low + 1 == p->events))
			continue;
		printf("# CPU %u: blocks %u to %u are %u, events %u to %u are %u\n", i,
		    p->first, p->last, p->blocks, p->low, p->high, p->events);
		return false;
	}
	return true;
}

/* CPU 0 goes round and round, 1 and 2 wrote before, 3 never. */
static bool
shares(void)
{
	struct part part[CPUS];
	u32 held = CPUS * KP_CPU_HOLDS, i;

	begin();
	for (i = 0; i < 100; i++)
		write_event(1);
	for (i = 0; i < 5000; i++)
		write_event(2);
	for (i = 0; i < 500000; i++)
		write_event(0);
	if (!count_parts((char *)buffer, part) || !has_no_hole(part))
		return false;
	printf("# blocks: %u %u %u %u of %u\n", part[0].blocks, part[1].blocks,
	    part[2].blocks, part[3].blocks, BLOCKS - FIRST);
	return part[0].high == 500000 && part[1].events == 100 && part[1].first == 1 &&
	    part[2].high == 5000 &&
	    part[2].blocks >= KP_CPU_HOLDS - KP_CPU_AHEAD && part[3].blocks == 0 &&
	    part[0].blocks >= BLOCKS - FIRST - held;
}

static void *
go_on(void *arg)
{
	u32 cpu = (u32)(uintptr_t)arg;

	/* They have different appetites. */
	for (u32 n = 0; !stop; n++)
		if (cpu == 0 || n % (cpu * 16) == 0)
			write_event(cpu);
	return NULL;
}

static bool
put(void *arg, uint64_t offset, const void *bytes, size_t n)
{
	memcpy((char *)arg + offset, bytes, n);
	return true;
}

/* The others go on while CPU 1 stands still, and then somebody makes a copy. */
static bool stands_well;

static void
others_go_on(void)
{
	static char copy[BLOCKS * KP_BLOCK_SIZE];
	struct snapshot_sink sink = { .put = put, .arg = copy };
	struct part part[CPUS];
	struct snapshot s;

	for (u32 i = 0; i < 20000; i++)
		write_event(0);
	this = 1;
	memset(copy, 0, sizeof copy);
	stands_well = snapshot_open(&s, buffer, sizeof copy) == SNAPSHOT_OK &&
	    snapshot_copy(&s, &sink) == SNAPSHOT_OK &&
	    count_parts(copy, part) && has_no_hole(part) &&
	    part[0].high == written[0] && part[0].blocks > 100;
}

/* Does CPU 1 get to the place while it takes a block? */
static bool
stops_at(int where)
{
	begin();
	for (u32 i = 0; i < 60000; i++)
		write_event(i % 16 == 0);
	while (KP_OFFSET_OF(cpus[1].cursor) <= KP_BLOCK_END - 2 * EVENT_SIZE(kp_thread_state))
		write_event(1);
	stands_well = true;
	place = 0;
	chosen = where;
	meanwhile = others_go_on;
	for (int i = 0; i < 3; i++)
		write_event(1);
	meanwhile = NULL;
	return place > where;
}

static bool
stops_anywhere(void)
{
	int where = 0;

	while (stops_at(where) && stands_well)
		where++;
	printf("# %d places\n", where);
	if (!stands_well)
		printf("# while a CPU stands at place %d, others and a copy go wrong\n", where);
	return stands_well && where > 20;
}

static bool
copies(int n)
{
	char *copy = malloc(BLOCKS * KP_BLOCK_SIZE);
	struct snapshot_sink sink = { .put = put, .arg = copy };
	pthread_t thread[CPUS];
	struct part part[CPUS];
	u64 events = 0, left_out = 0;
	struct snapshot s;
	bool ok = true;

	begin();
	stop = false;
	for (u32 i = 0; i < CPUS; i++)
		if (pthread_create(&thread[i], NULL, go_on, (void *)(uintptr_t)i) != 0)
			abort();
	for (int i = 0; i < n && ok; i++) {
		memset(copy, 0, BLOCKS * KP_BLOCK_SIZE);
		ok = snapshot_open(&s, buffer, BLOCKS * KP_BLOCK_SIZE) == SNAPSHOT_OK &&
		    snapshot_copy(&s, &sink) == SNAPSHOT_OK &&
		    count_parts(copy, part) && has_no_hole(part);
		for (u32 k = 0; k < CPUS; k++)
			events += part[k].events;
		left_out += s.blanked;
	}
	stop = true;
	for (u32 i = 0; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	printf("# %d copies of %llu events, %llu blocks were taken meanwhile\n", n,
	    (unsigned long long)events, (unsigned long long)left_out);
	if (ok && count_parts((char *)buffer, part)) {
		ok = has_no_hole(part);
		for (u32 i = 0; i < CPUS; i++)
			ok &= part[i].high == written[i];
	}
	free(copy);
	return ok;
}

/* A large machine: each CPU writes this many events, and stops where chance wants. */
#define MANY_EVENTS	4000u

static u64 all_tries;

static void *
write_many(void *arg)
{
	u32 cpu = (u32)(uintptr_t)arg;

	yields = cpu + 1;
	for (u32 i = 0; i < MANY_EVENTS; i++)
		write_event(cpu);
	yields = 0;
	__sync_fetch_and_add(&all_tries, tries);
	return NULL;
}

/* The copy has every block that was written to, and each CPU's last event. */
static bool
copy_of_many(u64 taken)
{
	size_t size = n_blocks * KP_BLOCK_SIZE;
	char *copy = calloc(1, size);
	struct snapshot_sink sink = { .put = put, .arg = copy };
	struct part part[CPUS_MAX];
	u64 lost = 0, used = 0, events = 0;
	struct snapshot s;
	bool ok;

	ok = copy != NULL && snapshot_open(&s, buffer, size) == SNAPSHOT_OK &&
	    snapshot_copy(&s, &sink) == SNAPSHOT_OK && count_parts(copy, part) &&
	    has_no_hole(part);
	for (u32 i = 0; ok && i < n_cpus; i++) {
		for (u32 k = 0; k < TNF_LOST_REASONS; k++)
			lost += cpus[i].lost[k];
		ok = part[i].high == written[i] &&
		    part[i].blocks >= KP_CPU_HOLDS - KP_CPU_AHEAD;
		used += part[i].blocks;
		events += written[i];
	}
	printf("# %u CPUs hold %u of %u blocks, %u are in the pool; %llu swaps took %llu tries; "
	    "%llu events lost; a copy of %zu KiB has %llu blocks of events\n", n_cpus,
	    n_cpus * KP_CPU_HOLDS, n_blocks - FIRST, (u32)state.pool, (unsigned long long)taken,
	    (unsigned long long)all_tries, (unsigned long long)lost, size / 1024,
	    (unsigned long long)used);
	free(copy);
	return ok && events + lost == (u64)n_cpus * MANY_EVENTS;
}

static bool
many(u32 how_many)
{
	const struct tnf_ext *ext;
	pthread_t thread[CPUS_MAX];
	u64 before;

	begin_with(how_many, FIRST + how_many * KP_CPU_HOLDS * 2);
	ext = (const void *)((char *)buffer + TNF_EXT_OFFSET);
	before = ext->data_cursor;
	all_tries = 0;
	for (u32 i = 0; i < how_many; i++)
		if (pthread_create(&thread[i], NULL, write_many, (void *)(uintptr_t)i) != 0)
			abort();
	for (u32 i = 0; i < how_many; i++)
		pthread_join(thread[i], NULL);
	return copy_of_many(ext->data_cursor - before);
}

/* A file in which CPU 0 has overwritten its first events, and CPU 1 has come late. */
static int
write_file(const char *name)
{
	FILE *f = fopen(name, "w");

	begin();
	for (u32 i = 0; i < 500000; i++)
		write_event(0);
	for (u32 i = 0; i < 10; i++)
		write_event(1);
	return f == NULL || fwrite(buffer, KP_BLOCK_SIZE, BLOCKS, f) != BLOCKS ||
	    fclose(f) != 0;
}

int
main(int argc, char **argv)
{
	const char *n = getenv("TNF_TEST_COPIES");
	bool ok, well;

	if (argc == 2)
		return write_file(argv[1]);
	ok = shares();

	printf("%s 1 - who writes has the blocks\n", ok ? "ok" : "not ok");
	if (!copies(n != NULL ? atoi(n) : 500))
		printf("not ok 2 - copies without a hole\n"), ok = false;
	else
		printf("ok 2 - copies without a hole\n");
	well = stops_anywhere();
	printf("%s 3 - a CPU that stands still while it takes a block\n", well ? "ok" : "not ok");
	if (!many(64) || !many(CPUS_MAX))
		printf("not ok 4 - 64 and 256 CPUs write at once\n"), ok = false;
	else
		printf("ok 4 - 64 and 256 CPUs write at once\n");
	printf("1..4\n");
	return !(ok && well);
}
