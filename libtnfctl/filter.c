/*
 * filter.c - does a thread's seccomp filter let through what libtnfprobe calls?
 *
 * The kernel gives a filter's code to a process that has CAP_SYS_ADMIN and no filter itself.
 * We run the code for each call, of which we know only the number and the machine.  If the
 * code branches on anything else, we follow both branches, and all paths must end with
 * "allow".  Such code has no loops, but may have many paths: after STEPS_MAX steps the answer
 * is no.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "libtnfctl/proc.h"

#define FILTERS_MAX	64
#define STEPS_MAX	100000u
#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER	0x420c
#endif

#if defined(__x86_64__)
#define MACHINE	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE	AUDIT_ARCH_AARCH64
#else
#define MACHINE	0
#endif

/* The calls that libtnfprobe may make at a process's first event, at that of a thread or a child, and
   when it waits for another thread. */
static const int hit_calls[] = {
	SYS_openat, SYS_read, SYS_close, SYS_fstat, SYS_newfstatat, SYS_readlinkat, SYS_mmap,
	SYS_munmap, SYS_mprotect, SYS_madvise, SYS_rt_sigaction, SYS_sigaltstack, SYS_getpid,
	SYS_getppid, SYS_gettid, SYS_geteuid, SYS_prctl, SYS_sched_yield, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_clock_gettime, SYS_tgkill,
#ifdef SYS_readlink			/* and what only old machines have */
	SYS_readlink, SYS_stat,
#endif
};

/* The call that every hit makes where the machine's clock is none that the vDSO reads. */
static const int clock_calls[] = { SYS_clock_gettime };

/* Clocks that only the kernel can read.  A clock that is not named here counts as a fast one,
   and so does an unknown clock, where /sys is not mounted. */
static const char *const slow_clocks[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen" };
#define CLOCK_FILE	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* A word of the filter's machine, known or not. */
struct word {
	bool	 known;
	uint32_t v;
};

struct machine {
	struct word a, x, m[BPF_MEMWORDS];
};

struct code {
	struct sock_filter f[BPF_MAXINSNS];
	unsigned n, steps;
	uint32_t call;
};

static struct word
filter_load(const struct code *c, uint32_t offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return (struct word){ true, c->call };
	if (offset == offsetof(struct seccomp_data, arch))
		return (struct word){ true, MACHINE };
	return (struct word){ .known = false };
}

static struct word
filter_compute(uint16_t op, struct word a, struct word b)
{
	struct word r = { a.known && b.known, 0 };

	if (!r.known)
		return r;
	switch (op) {
	case BPF_ADD: r.v = a.v + b.v; break;
	case BPF_SUB: r.v = a.v - b.v; break;
	case BPF_MUL: r.v = a.v * b.v; break;
	case BPF_DIV: r.v = b.v != 0 ? a.v / b.v : 0; break;
	case BPF_OR: r.v = a.v | b.v; break;
	case BPF_AND: r.v = a.v & b.v; break;
	case BPF_XOR: r.v = a.v ^ b.v; break;
	case BPF_LSH: r.v = b.v < 32 ? a.v << b.v : 0; break;
	case BPF_RSH: r.v = b.v < 32 ? a.v >> b.v : 0; break;
	case BPF_NEG: r.v = -a.v; break;
	default: r.known = false;
	}
	return r;
}

static bool
filter_jumps(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	default: return (a & b) != 0;
	}
}

/* Runs an instruction that neither jumps nor returns.  False: no filter has such a one. */
static bool
filter_step(const struct code *c, const struct sock_filter *f, struct machine *m)
{
	struct word k = { true, f->k }, source = BPF_SRC(f->code) == BPF_X ? m->x : k;

	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS: m->a = filter_load(c, f->k); return true;
	case BPF_LD | BPF_W | BPF_LEN: m->a = (struct word){ true, sizeof(struct seccomp_data) }; return true;
	case BPF_LDX | BPF_W | BPF_LEN: m->x = (struct word){ true, sizeof(struct seccomp_data) }; return true;
	case BPF_LD | BPF_IMM: m->a = k; return true;
	case BPF_LDX | BPF_IMM: m->x = k; return true;
	case BPF_LD | BPF_MEM: m->a = m->m[f->k % BPF_MEMWORDS]; return true;
	case BPF_LDX | BPF_MEM: m->x = m->m[f->k % BPF_MEMWORDS]; return true;
	case BPF_ST: m->m[f->k % BPF_MEMWORDS] = m->a; return true;
	case BPF_STX: m->m[f->k % BPF_MEMWORDS] = m->x; return true;
	case BPF_MISC | BPF_TAX: m->x = m->a; return true;
	case BPF_MISC | BPF_TXA: m->a = m->x; return true;
	}
	if (BPF_CLASS(f->code) != BPF_ALU)
		return false;
	m->a = filter_compute(BPF_OP(f->code), m->a, source);
	return true;
}

static bool
filter_is_yes(struct word action)
{
	action.v &= SECCOMP_RET_ACTION_FULL;
	return action.known && (action.v == SECCOMP_RET_ALLOW || action.v == SECCOMP_RET_LOG);
}

/* Runs the code from this instruction on, along each path. */
static bool
filter_run(struct code *c, unsigned pc, struct machine m)
{
	const struct sock_filter *f;
	struct word b;

	for (; pc < c->n && ++c->steps < STEPS_MAX; pc++) {
		f = &c->f[pc];
		b = BPF_SRC(f->code) == BPF_X ? m.x : (struct word){ true, f->k };
		if (BPF_CLASS(f->code) == BPF_RET)
			return filter_is_yes(BPF_RVAL(f->code) == BPF_A ? m.a :
			    (struct word){ true, f->k });
		if (f->code == (BPF_JMP | BPF_JA)) {
			pc += f->k;
		} else if (BPF_CLASS(f->code) != BPF_JMP) {
			if (!filter_step(c, f, &m))
				return false;
		} else if (m.a.known && b.known) {
			pc += filter_jumps(BPF_OP(f->code), m.a.v, b.v) ? f->jt : f->jf;
		} else {
			if (!filter_run(c, pc + 1 + f->jt, m))
				return false;
			pc += f->jf;
		}
	}
	return false;
}

static bool
filter_allows(struct code *c, const int *calls, size_t n)
{
	/* The kernel clears all registers and memory before a run. */
	struct machine zero;

	memset(&zero, 0, sizeof(zero));
	zero.a.known = zero.x.known = true;
	for (size_t i = 0; i < n; i++) {
		c->call = (uint32_t)calls[i];
		c->steps = 0;
		if (!filter_run(c, 0, zero))
			return false;
	}
	return true;
}

/* True if the thread has as many filters as we.  In a container both have inherited the same ones,
   and we make these calls all the time. */
static bool
has_ours_alone(const struct proc *p, const struct thread *t)
{
	long ours = tnf_proc_status(getpid(), "Seccomp_filters");

	return ours > 0 && tnf_proc_status(getpid(), "Seccomp") == SECCOMP_MODE_FILTER &&
	    tnf_thread_status(p->pid, t->tid, "Seccomp_filters") == ours;
}

/* True if the thread's filter allows these calls. */
static bool
filter_lets(const struct proc *p, const struct thread *t, const int *calls, size_t n)
{
	long mode = tnf_thread_status(p->pid, t->tid, "Seccomp"), got = 0;
	static __thread struct code c;

	if (mode != SECCOMP_MODE_FILTER)
		return mode == SECCOMP_MODE_DISABLED;
	if (has_ours_alone(p, t))
		return true;
	if (!t->stopped || MACHINE == 0)
		return false;
	for (uintptr_t i = 0; i < FILTERS_MAX; i++) {
		got = ptrace(PTRACE_SECCOMP_GET_FILTER, t->tid, i, NULL);
		if (got < 0)
			return errno == ENOENT && i > 0;
		if (got > BPF_MAXINSNS || ptrace(PTRACE_SECCOMP_GET_FILTER, t->tid, i, c.f) != got)
			return false;
		c.n = (unsigned)got;
		if (!filter_allows(&c, calls, n))
			return false;
	}
	return false;
}

const char *
tnfctl_filter_forbids(const struct proc *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (tnf_thread_status(p->pid, p->threads[i].tid, "Seccomp") == SECCOMP_MODE_STRICT)
			return "a thread of it is in the strict mode of seccomp, where an event "
			    "would kill it: start the program under control";
	for (size_t i = 0; i < p->n; i++)
		if (!filter_lets(p, &p->threads[i], hit_calls, sizeof(hit_calls) / sizeof(hit_calls[0])))
			return "a thread of it has a seccomp filter, which might kill it for that "
			    "at its first event: start the program under control, or be root "
			    "(CAP_SYS_ADMIN), who can read the filter";
	return NULL;
}

bool
tnfctl_filter_forbids_clock(const struct proc *p, char clock[TNFCTL_CLOCK_NAME])
{
	bool slow = false;

	if (tnf_proc_file(clock, TNFCTL_CLOCK_NAME, CLOCK_FILE) <= 0)
		return false;
	clock[strcspn(clock, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(slow_clocks) / sizeof(slow_clocks[0]); i++)
		slow |= strcmp(clock, slow_clocks[i]) == 0;
	for (size_t i = 0; slow && i < p->n; i++)
		if (!filter_lets(p, &p->threads[i], clock_calls, 1))
			return true;
	return false;
}
