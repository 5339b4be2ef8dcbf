/*
 * check-fast.c - hits of fast probes, at sites that this program patches itself: what they
 * record, and that no register, flag or byte of the red zone changes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <tnf/probe.h>
#include <tnf/runtime.h>

#include "tests/writer/fast-site.h"
#include "tests/writer/suite.h"

static unsigned char *pads;

/* Writes a pad by hand, as the controller does. */
static unsigned char *
make_pad(struct tnf_fast_site *s, unsigned char *site, bool inner)
{
	static const unsigned char down[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 };
	static const unsigned char up[] = { 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	unsigned char *pad = pads + 16, *at = pad;
	void (*target)(void) = inner ? _tnf_process_control.fast_inner :
	    _tnf_process_control.fast_entry;
	int32_t away;

	memcpy(pads, &s, 8);
	memcpy(pads + 8, &target, 8);
	if (inner)
		at = mempcpy(at, down, sizeof(down));
	*at++ = 0xff;
	*at++ = 0x15;
	away = (int32_t)(pads + 8 - (at + 4));
	at = mempcpy(at, &away, 4);
	if (inner)
		at = mempcpy(at, up, sizeof(up));
	at = mempcpy(at, site, 5);
	*at++ = 0xe9;
	away = (int32_t)(site + 5 - (at + 4));
	at = mempcpy(at, &away, 4);
	pads = pads + 64;
	return pad;
}

static void
write_code(unsigned char *site, const void *bytes)
{
	uintptr_t page = (uintptr_t)site & ~(uintptr_t)4095;

	ck_assert_int_eq(mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memcpy(site, bytes, 5);
}

static struct {
	struct tnf_fast_area area;
	struct tnf_fast_site site;
} a;

static void
patch(const char *name, unsigned char *site, bool inner, unsigned n,
    const struct tnf_fast_value *v)
{
	unsigned char jump[5] = { 0xe9 };
	unsigned char *pad;
	int32_t away;

	memset(&a, 0, sizeof(a));
	a.area.n = 1;
	a.area.size = sizeof(a);
	a.site.resume = (uintptr_t)site + 1;
	a.site.name = name;
	a.site.keys = "fast";
	a.site.detail = "";
	a.site.n = n;
	if (n > 0)
		memcpy(a.site.v, v, n * sizeof(*v));
	_tnf_process_control.fast_define(&a.area);
	ck_assert_ptr_nonnull(a.site.probe);
	pad = make_pad(&a.site, site, inner);
	away = (int32_t)(pad - (site + 5));
	memcpy(jump + 1, &away, 4);
	memcpy(a.site.before, site, 5);
	write_code(site, jump);
}

static void
begin(void)
{
	unsigned char *near = (unsigned char *)(((uintptr_t)fast_run & ~(uintptr_t)4095) - (64u << 20));

	pads = mmap(near, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_FIXED_NOREPLACE, -1, 0);
	ck_assert(pads == near);
	start(1024);
}

/* One run through the site with these contents; all must be as before. */
static void
run_through(void (*run)(void), bool inner, unsigned seed)
{
	ck_assert(fast_run_keeps(run, inner, seed));
}

static void
many(void (*run)(void), unsigned char *site, bool inner)
{
	const struct tnf_fast_value v[] = {
		{ .kind = TNF_ARG_INT32, .size = 4, .sign = 1, .base = TNF_FAST_DI,
		    .index = TNF_FAST_NONE, .name = "a" },
		{ .kind = TNF_ARG_UINT64, .size = 8, .base = inner ? TNF_FAST_R15 : TNF_FAST_R11,
		    .index = TNF_FAST_NONE, .name = "b" },
	};
	struct fast_state in;
	char want[128];

	begin();
	patch("site", site, inner, 2, v);
	run_through(run, inner, 1);
	selfctl_on(a.site.probe);
	for (unsigned i = 0; i < 3000; i++)
		run_through(run, inner, i);
	a.site.probe->traced = 0;
	run_through(run, inner, 9);
	finish();
	ck_assert_uint_eq(ev.n, 3000);
	for (unsigned i = 0; i < 3000; i++) {
		fast_fill(&in, i);
		snprintf(want, sizeof(want), "site a=%d b=%lu", (int)in.r[7], in.r[inner ? 15 : 11]);
		IS(i, want);
	}
}

/* 3,000 hits with two arguments: values are right, no register changes, whatever the way
   through the library: first hits, blocks that are full, anchors that are old. */
START_TEST(entry)
{
	many(fast_entry_run, fast_entry_site, false);
}
END_TEST

START_TEST(inner)
{
	many(fast_inner_run, fast_inner_site, true);
}
END_TEST

/* Numbers of all widths, and from memory. */
START_TEST(operands)
{
	static const struct { uint64_t word; int32_t half; } there = { 0xfedcba9876543210, -7 };
	const struct tnf_fast_value v[] = {
		{ .kind = TNF_ARG_INT8, .size = 1, .sign = 1, .base = TNF_FAST_SI,
		    .index = TNF_FAST_NONE, .shift = 8, .name = "second" },
		{ .kind = TNF_ARG_UINT16, .size = 2, .base = TNF_FAST_SI, .index = TNF_FAST_NONE,
		    .name = "short" },
		{ .kind = TNF_ARG_INT64, .size = 8, .sign = 1, .base = TNF_FAST_NONE,
		    .index = TNF_FAST_NONE, .offset = -42, .name = "constant" },
		{ .kind = TNF_ARG_INT64, .from = TNF_FAST_MEMORY, .size = 4, .sign = 1,
		    .base = TNF_FAST_AX, .index = TNF_FAST_CX, .scale = 4, .name = "memory" },
		{ .kind = TNF_ARG_UINT64, .from = TNF_FAST_MEMORY, .size = 8, .base = TNF_FAST_NONE,
		    .index = TNF_FAST_NONE, .offset = (intptr_t)&there.word, .name = "word" },
		{ .kind = TNF_ARG_UINT64, .from = TNF_FAST_MEMORY, .size = 8, .base = TNF_FAST_DX,
		    .index = TNF_FAST_NONE, .name = "bad" },
		{ .kind = TNF_ARG_UINT64, .from = TNF_FAST_MEMORY, .size = 8, .base = TNF_FAST_SP,
		    .index = TNF_FAST_NONE, .offset = -128, .name = "red" },
		{ .kind = TNF_ARG_UINT64, .size = 8, .base = TNF_FAST_IP, .index = TNF_FAST_NONE,
		    .name = "ip" },
	};
	struct fast_state in, out;
	char want[512];

	begin();
	patch("op", fast_inner_site, true, 8, v);
	selfctl_on(a.site.probe);
	fast_fill(&in, 4);
	in.r[6] = 0x8281;
	in.r[0] = (uintptr_t)&there;
	in.r[1] = 2;
	in.r[2] = 64;
	fast_run(&in, &out, fast_inner_run);
	finish();
	snprintf(want, sizeof(want), "op second=-126 short=33409 constant=-42 memory=-7 word=%lu bad=0 "
	    "red=%lu ip=%lu", there.word, in.red[0], (uintptr_t)fast_inner_site);
	IS(0, want);
}
END_TEST

/* Text: short, as long as can be, up to memory that is not there, none, and counted. */
START_TEST(texts)
{
	const struct tnf_fast_value v[] = {
		{ .kind = TNF_ARG_STRING, .size = 8, .base = TNF_FAST_DI, .index = TNF_FAST_NONE,
		    .name = "s" },
		{ .kind = TNF_ARG_STRING, .size = 8, .base = TNF_FAST_SI, .index = TNF_FAST_NONE,
		    .counted = 1, .name = "c" },
		{ .kind = TNF_ARG_UINT32, .size = 4, .base = TNF_FAST_DX, .index = TNF_FAST_NONE,
		    .name = "len" },
	};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char lots[300], want[400];
	struct { const char *s, *c; uint32_t len; } cases[] = {
		{ "cake", "abcdef", 3 }, { lots, lots, 0 }, { page + 4090, page + 4092, 2 },
		{ NULL, (char *)64, 5 }, { page + 4096, "", 1 }, { "", lots, 77 },
	};
	struct fast_state in, out;

	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	memcpy(page + 4090, "unends", 6);
	ck_assert_int_eq(mprotect(page + 4096, 4096, PROT_NONE), 0);
	begin();
	patch("text", fast_entry_site, false, 3, v);
	selfctl_on(a.site.probe);
	for (unsigned round = 0; round < 100; round++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			fast_fill(&in, (unsigned)i);
			in.r[7] = (uintptr_t)cases[i].s;
			in.r[6] = (uintptr_t)cases[i].c;
			in.r[2] = cases[i].len;
			fast_run(&in, &out, fast_entry_run);
			ck_assert_mem_eq(in.vector, out.vector, sizeof(in.vector));
		}
	finish();
	ck_assert_uint_eq(ev.n, 600);
	for (size_t i = 0; i < 600; i += 6) {
		IS(i, "text s=\"cake\" c=\"abc\" len=3");
		snprintf(want, sizeof(want), "text s=\"%.255s\"... c=\"\" len=0", lots);
		IS(i + 1, want);
		IS(i + 2, "text s=\"unends\" c=\"en\" len=2");
		IS(i + 3, "text s=NULL c=NULL len=5");
		IS(i + 4, "text s=NULL c=\"\" len=1");
		snprintf(want, sizeof(want), "text s=\"\" c=\"%.77s\" len=77", lots);
		IS(i + 5, want);
	}
}
END_TEST

static int inside;

/* A connected function that hits the probe's site itself. */
static void
again(struct tnf_probe_setup *setup)
{
	inside++;
	__asm__ volatile("call fast_entry_site" : : : "memory", "cc");
	TNF_PROBE_0(compiled, "", "");
}

/* A hit within a hit is lost and counted; registers survive a connected function. */
START_TEST(nested)
{
	static const tnf_probe_func_t chain[] = { again, NULL };

	begin();
	patch("nest", fast_entry_site, false, 0, NULL);
	selfctl_on(a.site.probe);
	a.site.probe->chain = chain;
	for (unsigned i = 0; i < 5; i++)
		run_through(fast_entry_run, false, i);
	finish();
	ck_assert_int_eq(inside, 5);
	ck_assert_uint_eq(ev.n, 5);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NESTED], 10);
}
END_TEST

static jmp_buf out_of_hit;

static void
leave(struct tnf_probe_setup *setup)
{
	longjmp(out_of_hit, 1);
}

/* A hit that longjmp() has left does not keep the thread from the next one. */
START_TEST(left)
{
	static const tnf_probe_func_t chain[] = { leave, NULL };

	begin();
	patch("left", fast_entry_site, false, 0, NULL);
	selfctl_on(a.site.probe);
	a.site.probe->chain = chain;
	if (setjmp(out_of_hit) == 0)
		run_through(fast_entry_run, false, 1);
	a.site.probe->chain = NULL;
	run_through(fast_entry_run, false, 2);
	run_through(fast_entry_run, false, 3);
	finish();
	ck_assert_uint_eq(ev.n, 2);
}
END_TEST

#define TRAP_FLAG	0x100u

static sigjmp_buf out_of_step;
static volatile unsigned steps_left;	/* 0: no more are to be counted */
static const struct fast_state *state;	/* the registers of the run */
static unsigned in_hits, found_sites;

/* Frames, from the handler outwards: in that of the site, registers have what the run gave them. */
static _Unwind_Reason_Code
look_for_site(struct _Unwind_Context *c, void *found)
{
	/* DWARF's numbers, and those of struct fast_state. */
	static const int kept[][2] = { { 3, 3 }, { 6, 5 }, { 12, 12 }, { 13, 13 }, { 14, 14 }, { 15, 15 } };
	bool same = true;

	if (_Unwind_GetIP(c) != (uintptr_t)fast_entry_site + 1)
		return _URC_NO_REASON;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		same = same && _Unwind_GetGR(c, kept[i][0]) == state->r[kept[i][1]];
	*(unsigned *)found += same;
	return _URC_NORMAL_STOP;
}

/* In libtnfprobe, not in the pad nor in this program. */
static bool
is_in_hit(uintptr_t at)
{
	return at - (uintptr_t)_tnf_process_control.fast_entry + (1u << 20) < 2u << 20;
}

/* The processor calls it at each instruction, as long as the flag is set. */
static void
step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (steps_left == 0)
		u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	else if (--steps_left == 0) {
		if (is_in_hit((uintptr_t)u->uc_mcontext.gregs[REG_RIP])) {
			in_hits++;
			_Unwind_Backtrace(look_for_site, &found_sites);
		}
		siglongjmp(out_of_step, 1);
	}
}

/* A signal handler leaves hits at each of their instructions in turn: the next hit at the same place of
   the stack is recorded.  From each of them, unwinders find the site with the registers that it has. */
START_TEST(left_anywhere)
{
	struct sigaction act = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	struct fast_state in, out;
	volatile unsigned n = 0;
	volatile bool whole = false;

	begin();
	state = &in;
	sigaction(SIGTRAP, &act, NULL);
	patch("step", fast_entry_site, false, 0, NULL);
	selfctl_on(a.site.probe);
	fast_fill(&in, 1);
	fast_run(&in, &out, fast_entry_run);
	while (!whole) {
		n++;
		if (sigsetjmp(out_of_step, 1) == 0) {
			steps_left = n;
			in.flags |= TRAP_FLAG;
			fast_run(&in, &out, fast_entry_run);
			whole = true;
			steps_left = 0;
		}
		in.flags &= ~(uint64_t)TRAP_FLAG;
		fast_run(&in, &out, fast_entry_run);
	}
	finish();
	printf("# %u instructions, %u of them in hits, %u events\n", n, in_hits, (unsigned)ev.n);
	ck_assert_uint_gt(in_hits, 60);
	ck_assert_uint_eq(found_sites, in_hits);
	ck_assert_uint_ge(ev.n, n + 2);
	ck_assert_uint_eq(ev.ext.lost[TNF_LOST_NESTED], 0);
}
END_TEST

/* Signals in the middle of hits, handled on another stack, with hits of their own. */
static void
handler(int sig)
{
	inside++;
	__asm__ volatile("call fast_entry_site" : : : "memory", "cc");
}

START_TEST(signals)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	timer_t timer;
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	uint64_t hits = 0;

	begin();
	sigaltstack(&ss, NULL);
	sigaction(SIGALRM, &act, NULL);
	patch("sig", fast_entry_site, false, 0, NULL);
	selfctl_on(a.site.probe);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	timer_settime(timer, 0, &every, NULL);
	for (; __atomic_load_n(&inside, __ATOMIC_RELAXED) < 500; hits++)
		run_through(fast_entry_run, false, (unsigned)hits);
	timer_delete(timer);
	finish();
	ck_assert_uint_gt(ev.n, 0);
	ck_assert_uint_eq(ev.damaged, 0);
}
END_TEST


int
main(void)
{
	const TTest *const tests[] = { entry, inner, operands, texts, nested, left, left_anywhere, signals };

	if (!__builtin_cpu_supports("avx"))
		return 77;
	return run_tests("fast", tests, sizeof(tests) / sizeof(tests[0]));
}
