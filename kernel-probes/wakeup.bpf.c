/*
 * wakeup.bpf.c - who wakes a thread, and who sends it a signal.
 *
 * sched_waking is always hit on the CPU that wakes a thread.  (sched_wakeup may be hit later, on
 * the woken thread's CPU, if that CPU is idle and gets the wake-up handed over.)  The thread that
 * runs at sched_waking is the waker, unless an interrupt has stopped it.
 */
#include "kernel-probes/interrupt.bpf.h"
#include "kernel-probes/left-out.bpf.h"

#define NET_TX_SOFTIRQ	2
#define NET_RX_SOFTIRQ	3
#define IS_NET(vector)	((vector) == NET_TX_SOFTIRQ || (vector) == NET_RX_SOFTIRQ)

#define BIO_DEPTH	4096	/* bytes of stack from a request's end to the wake-ups that it causes */

/* An interrupt or a softirq begins, whose number is one less, or ends (0). */
static __always_inline int note_interrupt(bool soft, u32 number)
{
	struct interrupt *i = my_interrupt();

	if (i == NULL)
		return 0;
	if (soft)
		i->softirq = number;
	else
		i->irq = number;
	if (number == 0)
		i->bio = 0;
	return 0;
}

SEC("tnf/irq_handler_entry")
int BPF_PROG(irq_begin, int irq)
{
	return note_interrupt(false, irq + 1);
}

SEC("tnf/irq_handler_exit")
int BPF_PROG(irq_end)
{
	return note_interrupt(false, 0);
}

SEC("tnf/softirq_entry")
int BPF_PROG(softirq_begin, unsigned int vector)
{
	return note_interrupt(true, vector + 1);
}

SEC("tnf/softirq_exit")
int BPF_PROG(softirq_end)
{
	return note_interrupt(true, 0);
}

/* Notes who raises NET_RX or NET_TX: a thread, if it sends to this machine; an interrupt of a device, if
   packets come from outside (raiser 0). */
SEC("tnf/softirq_raise")
int BPF_PROG(softirq_raised, unsigned int vector)
{
	struct interrupt *i;

	if (!IS_NET(vector) || (i = my_interrupt()) == NULL || IS_NET(i->softirq - 1))
		return 0;
	i->raiser = i->irq == 0 && i->softirq == 0 ? bpf_get_current_task() : 0;
	return 0;
}

/* A timer begins to run, or ends (0). */
static __always_inline int note_timer(u64 function)
{
	struct interrupt *i = my_interrupt();

	if (i != NULL) {
		i->timer = function;
		i->timer_irq = i->irq;
	}
	return 0;
}

SEC("tnf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_begin, struct hrtimer *timer)
{
	return note_timer((u64)timer->function);
}

SEC("tnf/hrtimer_expire_exit")
int BPF_PROG(hrtimer_end)
{
	return note_timer(0);
}

SEC("tnf/timer_expire_entry")
int BPF_PROG(timer_begin, struct timer_list *timer)
{
	return note_timer((u64)timer->function);
}

SEC("tnf/timer_expire_exit")
int BPF_PROG(timer_end)
{
	return note_timer(0);
}

/* True if the wake-up at 'place' of the stack comes from the end of the disk request that is noted:
   the end was on the same stack, and 'place' is at most BIO_DEPTH bytes deeper. */
static __always_inline bool ends_request(const struct interrupt *i, u64 thread, u64 place)
{
	return i->bio != 0 && i->bio_thread == thread && i->bio_stack - place < BIO_DEPTH;
}

/* Returns who wakes a thread here, KP_BY_*, and sets *source; the catalogue says what both mean. */
static __always_inline u32 woken_by(const struct interrupt *i, u64 thread, u64 place, u64 *source)
{
	u32 vector;

	*source = 0;
	if (ends_request(i, thread, place)) {
		*source = i->bio;
		return KP_BY_DISK;
	}
	if (i->timer != 0 && i->timer_irq == i->irq) {
		*source = i->timer;
		return KP_BY_TIMER;
	}
	if (i->irq != 0) {
		*source = i->irq - 1;
		return KP_BY_INTERRUPT;
	}
	if (i->softirq == 0)
		return KP_BY_THREAD;
	vector = i->softirq - 1;
	if (IS_NET(vector)) {
		*source = i->raiser;
		return i->raiser == thread ? KP_BY_THREAD : KP_BY_NETWORK;
	}
	*source = vector;
	return KP_BY_SOFTIRQ;
}

#define WAKEUP_PROBES	(KP_BIT(KP_THREAD_WAKEUP) | KP_BIT(KP_THREAD_WAKEUP_BY))

static __always_inline int woken_by_thread(void *ctx, struct task_struct *me,
    struct task_struct *p)
{
	struct kp_address *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(KP_THREAD_WAKEUP)) ||
	    (e = EVENT_BY(ctx, &hit, me, THREAD_WAKEUP, kp_address)) == NULL)
		return 0;
	e->address = (u64)p;
	event_end(&hit);
	return 0;
}

static __always_inline int woken_otherwise(void *ctx, struct task_struct *me,
    struct task_struct *p, u32 by, u64 source)
{
	struct kp_thread_wakeup_by *e;
	struct hit hit;

	if (!probe_is_on(KP_BIT(KP_THREAD_WAKEUP_BY)) ||
	    (e = EVENT_BY(ctx, &hit, me, THREAD_WAKEUP_BY, kp_thread_wakeup_by)) == NULL)
		return 0;
	e->tid = (u64)p;
	e->by = by;
	e->source = source;
	event_end(&hit);
	return 0;
}

SEC("tnf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	struct task_struct *me;
	struct interrupt *i;
	u64 source;
	u32 by;

	if (!probe_is_on(WAKEUP_PROBES) || (me = passing_waker(ctx, p)) == NULL ||
	    !is_on_about(WAKEUP_PROBES, filter_key(p)) || (i = my_interrupt()) == NULL)
		return 0;
	by = woken_by(i, (u64)me, stack_place(i, ctx), &source);
	/* The idle thread never wakes another: an interrupt without a handler did, such as a
	   reschedule. */
	if (by == KP_BY_THREAD && me->pid == 0)
		by = KP_BY_INTERRUPT;
	return by == KP_BY_THREAD ? woken_by_thread(ctx, me, p) :
	    woken_otherwise(ctx, me, p, by, source);
}

#define SI_USER	0
#define SI_KERNEL	0x80
#define SIGNAL_DELIVERED	0	/* TRACE_SIGNAL_*: how the sending ended */
#define SIGNAL_IGNORED		1
#define SIGNAL_LOST_INFO	4
#define SIGCONT			18	/* a stopped process goes on even if it ignores this */

/* Returns the si_code of a signal.  For the two usual kinds the kernel passes no structure, but 0
   (sent by a process) or 1 (by the kernel) in place of its address. */
static __always_inline s64 signal_code(u64 info)
{
	if (info <= 1)
		return info == 0 ? SI_USER : SI_KERNEL;
	return BPF_CORE_READ((struct kernel_siginfo *)info, si_code);
}

SEC("tnf/signal_generate")
int BPF_PROG(signal_sent, int signo, struct kernel_siginfo *info, struct task_struct *p,
    int group, int result)
{
	struct kp_thread_signal *e;
	struct hit hit;

	if ((result != SIGNAL_DELIVERED && result != SIGNAL_LOST_INFO &&
	    (result != SIGNAL_IGNORED || signo != SIGCONT)) ||
	    !is_on_about(KP_BIT(KP_THREAD_SIGNAL), filter_key(p)) ||
	    (e = EVENT(ctx, &hit, THREAD_SIGNAL, kp_thread_signal)) == NULL)
		return 0;
	e->tid = (u64)p;
	e->pid = p->tgid;
	e->pad = 0;
	e->signo = signo;
	e->code = signal_code(hook_argument(ctx, 1));
	event_end(&hit);
	return 0;
}
