/*
 * event.c - a hit, from alloc to commit: all cases but the common one, which is in event-hit.h.
 * The functions here prepare the thread so that its next hits are the common case.
 *
 * An event exists for readers as soon as bytes_valid has moved over it.
 */
#include "libtnfprobe/event-hit.h"

#define EVENT_MAX	(BLOCK_SIZE - HEADER_SIZE - SCHED_SIZE - 8)
#define SCHED_SIZE	((uint32_t)sizeof(struct tnf_sched_rec))

__thread struct thread tnf_t;

const struct tnf_probe_ops TNF_API _tnf_probe_ops = {
	.version = TNF_PROBE_ABI,
	.size = sizeof(struct tnf_probe_ops),
	.alloc = tnf_probe_alloc,
	.commit = tnf_probe_commit,
	.string = tnf_probe_string,
	.record = tnf_probe_record,
	.name = tnf_probe_name,
};

/*
 * A busy thread hits a probe.  Either it is still within its first hit (in an argument, a connected
 * function or a signal handler), or longjmp() or an exception has left the first hit, which will
 * never be committed.  True: the first hit was left, because its frame is gone.  We know this if the
 * new frame is above it (stacks grow down), or if the first frame was on the alternate signal stack and
 * the new one is not.  False: the new hit is within the first, or we cannot tell.
 */
bool
tnf_hit_left(const struct thread *t, const void *setup, uintptr_t frame)
{
	uintptr_t low;
	bool on_alternate, busy_on_alternate;
	stack_t ss;

	if (frame == t->busy && setup == t->setup)
		return true;
	if (is_quiet() || alternate_stack(&ss) != 0)
		return false;
	low = (uintptr_t)ss.ss_sp;
	on_alternate = (ss.ss_flags & SS_ONSTACK) != 0;
	busy_on_alternate = (ss.ss_flags & SS_DISABLE) == 0 && t->busy - low < ss.ss_size;
	if (on_alternate != busy_on_alternate)
		return busy_on_alternate;
	return frame > t->busy;
}

/* Gives the block back.  The thread forgets the block first, so that a handler that does not return
   does not leave the thread with a block that another thread may take. */
static void
give_block(struct thread *t)
{
	struct tnf_block_header *b = header_of(t->block);

	t->block = t->pos = t->end = t->sched = NULL;
	t->text_age++;
	t->tsc_limit = 0;
	signal_fence();
	if (b != NULL)
		tnf_block_give(b);
}

/*
 * Takes the first n blocks out of held[].  The thread forgets all of them first, so that no block
 * is in held[] twice if a handler does not return in between.
 */
static void
drop_held(struct thread *t, unsigned n)
{
	unsigned left = t->nheld - n;

	t->nheld = 0;
	signal_fence();
	for (unsigned i = 0; i < left; i++)
		t->held[i] = t->held[n + i];
	signal_fence();
	t->nheld = left;
}

/* Gives the thread another block: the oldest one of held[], as a thread goes from older blocks to newer
   ones, or else a new one.  The old block goes back first, as it may be the only one of the file.
   False: there is no block; a new one is not looked for again within a millisecond. */
static bool
replace_block(struct thread *t, int64_t now)
{
	char *b;

	give_block(t);
	if (t->nheld > 0) {
		b = t->held[0];
		drop_held(t, 1);
	} else if (now < t->retry)
		b = NULL;
	else if ((b = (char *)tnf_block_take(t, now)) != NULL)
		t->file = t->run_file;
	if (b == NULL) {
		if (now >= t->retry)
			t->retry = now + 1000000;
		tnf_lost(tnf_block_why_none());
		return false;
	}
	t->block = b;
	t->pos = b + HEADER_SIZE;
	t->end = t->lim = b + BLOCK_SIZE;
	return true;
}

static void
put_sched(struct thread *t, char *at, int64_t now)
{
	struct tnf_sched_rec *s = (struct tnf_sched_rec *)(void *)at;

	s->tag = tnf_p.sched_tag;
	s->tid = t->tid;
	s->lwpid = t->tid;
	s->pid = tnf_p.pid;
	s->time_base = now;
	s->cpuid = t->cpu = cpu_now(t);
	s->pad = 0;
	t->sched = at;
	t->base = now;
	t->new_sched = 1;
}

/* True if the thread's OpenTelemetry span has to be recorded in front of an event of this size. */
static bool
brings_span(struct thread *t, const char *at, uint32_t size, bool sched)
{
	uint64_t span;

	if (t->context == NULL)
		return false;
	span = span_now(t);
	if (span == t->span && (span == 0 || !sched))
		return false;
	t->span = span;
	return __atomic_load_n(&tnf_span_probe.index, __ATOMIC_ACQUIRE) - 1 < DIRECTORY_SIZE - 1 &&
	    (size_t)(t->end - at) >= size + sizeof(struct span_event);
}

static void
put_span(const struct thread *t, char *at)
{
	struct span_event *e = (struct span_event *)(void *)at;
	const struct span_record *r = __atomic_load_n(t->context, __ATOMIC_RELAXED);
	bool none = t->span == 0 || r == NULL;

	e->tag = (tnf_span_probe.index | TNF_TAG16_ABS) << 16 | pair_low(at, t->sched);
	e->delta = t->last;
	e->trace_high = none ? 0 : first_byte_high(r->trace[0]);
	e->trace_low = none ? 0 : first_byte_high(r->trace[1]);
	e->span = none ? 0 : first_byte_high(t->span);
}

/*
 * Makes room for the event and for what goes with it: in front of the event a schedule record and the
 * thread's span, if they are due, and behind it a word that leads on to the probe, if the
 * directory has no place for the probe.  Returns the event; NULL: there is no block.
 */
static char *
event_place(struct thread *t, const struct tnf_probe_control *probe)
{
	uint32_t size, tail = probe->event_size, pair;
	bool far = probe->index >= DIRECTORY_SIZE, sched, span;
	int64_t now = tnf_clock_read(t);
	char *event, *fwd;

	/* The thread may have got the variable of its OpenTelemetry span (span.c) after we looked
	   last.  This function runs at least once for each block and each ANCHOR_NS. */
	if (t->context == NULL)
		t->context = tnf_span_variable();
	/* An event has 32 bits for the time since its schedule record.  The fast path does not
	   test that they suffice: it uses this record for another ANCHOR_NS at most.  A second
	   ANCHOR_NS is room for a clock that runs a little faster than we think.  (The kernel's
	   probes test the bits at each event: kernel-probes/write.bpf.h.) */
	sched = t->sched == NULL || cpu_now(t) != t->cpu ||
	    now - t->base > (int64_t)UINT32_MAX - 2 * (int64_t)ANCHOR_NS;
	size = event_round8(tail + far * 4);
	if ((size_t)(t->end - t->pos) < size + sched * SCHED_SIZE + span_is_new(t) *
	    sizeof(struct span_event) || tnf_block_is_far(t)) {
		if (!replace_block(t, now))
			return NULL;
		sched = true;
	}
	event = t->pos;
	if (sched) {
		put_sched(t, event, now);
		event += SCHED_SIZE;
	}
	t->last = (uint32_t)(now - t->base);
	span = brings_span(t, event, size, sched);
	if (span) {
		put_span(t, event);
		event += sizeof(struct span_event);
	}
	fwd = event + tail;
	t->next = event + size;
	event_put32(t->next - 4, 0);
	pair = probe->index << 16 | TNF_TAG16_ABS << 16;
	if (far) {
		event_put32(fwd, PERMANENT(probe->index));
		pair = (uint32_t)(fwd - event) << 16;
	}
	pair |= pair_low(event, t->sched);
	t->ns = t->abs - t->base;
	t->tsc_limit = t->good;
	event_put32(event, pair);
	event_put32(event + 4, t->last);
	return event;
}

/* Prepares the process, the thread and the probe; false: the thread cannot record now, or cannot record
   this probe. */
static uintptr_t
event_prepare(void *control)
{
	struct tnf_probe_control *probe = control;

	if ((!is_live() && !tnf_process_ready()) || !tnf_thread_ready(&tnf_t))
		return false;
	if (probe->event_size < 8 || probe->event_size > EVENT_MAX) {
		tnf_lost(TNF_LOST_TOO_LARGE);
		return false;
	}
	if (!span_is_defined(&tnf_t))
		tnf_define_probe(&tnf_span_probe);
	return __atomic_load_n(&probe->index, __ATOMIC_ACQUIRE) != 0 || tnf_define_probe(probe);
}

/* True if process, thread and probe are prepared for the present file: then the hit needs only a block
   or a new anchor. */
static bool
is_prepared(const struct thread *t, const struct tnf_probe_control *probe)
{
	return is_live() && t->epoch == __atomic_load_n(&tnf_p.epoch, __ATOMIC_ACQUIRE) &&
	    !t->gone && !t->disabled && span_is_defined(t) && __atomic_load_n(&probe->index, __ATOMIC_ACQUIRE) != 0;
}

static char *
event_make(struct thread *t, struct tnf_probe_control *probe)
{
	if (probe->tnf_version != TNF_PROBE_ABI ||
	    (!is_prepared(t, probe) && !keep_vectors(t, event_prepare, probe)))
		return NULL;
	return event_place(t, probe);
}

/* A busy thread hits a probe; true: the hit may go on, and the one before was rolled back.  False: the
   new hit is lost.  A fast hit has no setup (NULL), so only the frames are compared: two fast hits of
   which both may go on never have the same frame. */
bool __attribute__((noinline, cold))
tnf_event_busy(struct thread *t, struct tnf_probe_setup *setup, uintptr_t frame)
{
	int saved = errno;
	bool left = tnf_hit_left(t, setup != NULL ? setup : t->setup, frame);

	if (left)
		tnf_roll_back(t);
	else
		tnf_lost(TNF_LOST_NESTED);
	errno = saved;
	return left;
}

void * __attribute__((noinline, cold))
tnf_event_alloc(struct tnf_probe_control *probe, struct tnf_probe_setup *setup)
{
	struct thread *t = &tnf_t;
	int saved = errno;
	char *event = event_make(t, probe);

	setup->buffer = event;
	setup->probe = probe;
	signal_fence();
	if (event == NULL)
		t->busy = 0;
	errno = saved;
	return event;
}

void *
tnf_probe_alloc(struct tnf_probe_control *probe, struct tnf_probe_setup *setup)
{
	return event_alloc(probe, setup, (uintptr_t)__builtin_dwarf_cfa(), false);
}

void
tnf_roll_back(struct thread *t)
{
	t->text_age++;
	t->span = SPAN_UNKNOWN;
	if (t->new_sched) {
		t->sched = NULL;
		t->tsc_limit = 0;
	}
	if (t->failed == FAIL_BLOCK)
		give_block(t);
	if (t->nloose > 0)
		tnf_block_give_chain(t);
	while (t->nheld > SPARE_MAX) {
		t->nheld--;
		signal_fence();
		tnf_block_give(header_of(t->held[t->nheld]));
	}
	t->lim = t->end;
	t->used = t->failed = t->odd = t->new_sched = t->at_work = 0;
	t->shortened = 0;
}

/*
 * Commits an event whose values are also in other blocks.  These blocks are published before the
 * event and given back after it, so that readers never see the event without its values.  The
 * last block, which has room left, becomes the thread's.
 */
static void
commit_held(struct thread *t)
{
	unsigned i, last = t->used - 1u;
	char *done[HELD_MAX];

	event_publish(t->held[last], (uint32_t)(t->next - t->held[last]));
	for (i = 0; i < last; i++)
		event_publish(t->held[i], t->fill[i + 1]);
	event_publish(t->block, t->fill[0]);
	done[0] = t->block;
	for (i = 0; i < last; i++)
		done[i + 1] = t->held[i];
	t->block = t->held[last];
	t->end = t->lim = t->block + BLOCK_SIZE;
	t->text_age++;
	t->sched = NULL;
	t->tsc_limit = 0;
	drop_held(t, t->used);
	t->used = 0;
	signal_fence();
	if (t->nloose > 0)
		tnf_block_give_chain(t);
	for (i = 0; i <= last; i++)
		tnf_block_give(header_of(done[i]));
}

/* Calls the connected functions. */
static uintptr_t
call_chain(void *setup)
{
	struct tnf_probe_setup *s = setup;
	const tnf_probe_func_t *f = s->probe->chain;

	for (; s->buffer != NULL && f != NULL && *f != NULL; f++)
		(*f)(s);
	return 0;
}

void __attribute__((noinline, cold))
tnf_event_commit(struct thread *t, struct tnf_probe_setup *setup)
{
	const struct tnf_probe_control *probe = setup->probe;
	int saved = errno;

	if (probe->chain != NULL)
		keep_vectors(t, call_chain, setup);
	if (t->setup != setup) {
		/* A connected function has switched stacks, and another hit of the thread concluded
		   that this one had been left, and rolled it back: there is nothing to commit. */
		errno = saved;
		return;
	}
	if (!probe->traced || t->failed || setup->buffer == NULL) {
		tnf_roll_back(t);
	} else {
		if (t->shortened > 0) {
			__atomic_fetch_add(&tnf_ext(t->file)->shortened, t->shortened,
			    __ATOMIC_RELAXED);
			t->shortened = 0;
		}
		if (t->used > 0)
			commit_held(t);
		else
			event_publish(t->block, (uint32_t)(t->next - t->block));
		t->pos = t->next;
		t->odd = t->new_sched = 0;
	}
	if (t->disabled)
		tnf_block_drop_all(t, true);
	signal_fence();
	t->busy = 0;
	errno = saved;
}

void
tnf_probe_commit(struct tnf_probe_setup *setup)
{
	event_commit(setup);
}
