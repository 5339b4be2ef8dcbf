/*
 * catalogue.c - the kernel's probes, one row for each.
 *
 * From these rows come the list that prex shows, the types in the file, and which programs
 * the loader attaches.  A row names the BPF programs that its probe needs; catalogue.h has the
 * tracepoint of each program, and hooks.c looks which of the tracepoints this kernel has.
 * When a probe fires, and what its members tell, is in tnf_kernel_probes(7).
 */
#include "kernel-probes/catalogue.h"
#include "lines.h"

#define P(name)		(1ull << KP_PROGRAM_##name)
#define M(t, n)		{ "tnf_" t, n }
#define ROW(id, type)	.size = (sizeof(struct type) + 7) & ~7u, .line = LINE_##id

/* sched_switch has a program for each of its prototypes; the loader keeps one. */
#define SWITCH		(P(context_switch) | P(context_switch3))
/* One hook under two names; the loader keeps the one that this kernel has. */
#define SWAP_WRITE	(P(swap_write) | P(swap_write_page))
#define FAULT		(P(user_fault) | P(kernel_fault))
/* Some kernels have a hook where faults are counted; others, and those without memory
   cgroups, have the software events.  The loader keeps what this kernel has. */
#define FAULT_END	(P(fault_counted) | P(minor_done) | P(major_done))
/* The work that this CPU does in place of the thread that is interrupted. */
#define INTERRUPTS	(P(irq_begin) | P(irq_end) | P(softirq_begin) | P(softirq_end) | \
			 P(softirq_raised) | P(hrtimer_begin) | P(hrtimer_end) | \
			 P(timer_begin) | P(timer_end))
#define REQUESTS	(P(bio_queue) | P(request_done) | P(bio_done))
#define SCAN		(P(kswapd_wake) | P(kswapd_sleep) | P(direct_begin) | \
			 P(direct_end) | P(memcg_begin) | P(memcg_end))

const struct kp_row kp_catalogue[KP_PROBES] = {
	[KP_THREAD_CREATE] = {
		"thread_create", "thread", "thread.bpf.c",
		ROW(THREAD_CREATE, kp_thread_create),
		.member = { M("kthread_id", "tid"), M("pid", "pid"),
		    M("symbol", "start_pc") },
		.needs = P(thread_create),
	},
	[KP_THREAD_STATE_WOKEN] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_WOKEN, kp_thread_state_of),
		.member = { M("kthread_id", "tid"), M("microstate", "state") },
		.needs = P(wakeup) | P(wakeup_new),
	},
	[KP_THREAD_STATE_OUT] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_OUT, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = SWITCH, .extra = FAULT | FAULT_END,
	},
	[KP_THREAD_STATE_IN] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_IN, kp_thread_state_of),
		.member = { M("kthread_id", "tid"), M("microstate", "state") },
		.needs = SWITCH, .extra = FAULT | FAULT_END,
	},
	[KP_THREAD_STATE_FAULT] = {
		"thread_state", "thread", "vm.bpf.c",
		ROW(THREAD_STATE_FAULT, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = P(user_fault),
	},
	[KP_THREAD_STATE_RETURN] = {
		"thread_state", "thread", "vm.bpf.c",
		ROW(THREAD_STATE_RETURN, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = P(user_fault) | FAULT_END,
	},
	[KP_THREAD_EXIT] = {
		"thread_exit", "thread", "thread.bpf.c",
		ROW(THREAD_EXIT, kp_event),
		.needs = P(thread_exit),
	},
	[KP_THREAD_QUEUE] = {
		"thread_queue", "dispatcher", "sched.bpf.c",
		ROW(THREAD_QUEUE, kp_thread_queue),
		.member = { M("kthread_id", "tid"), M("cpuid", "cpuid"),
		    M("long", "priority"), M("ulong", "queue_length") },
		.needs = P(wakeup) | P(wakeup_new) | SWITCH,
		.extra = P(migrate),
	},
	[KP_THREAD_BLOCK] = {
		"thread_block", "synch", "sched.bpf.c",
		ROW(THREAD_BLOCK, kp_thread_block),
		.member = { M("opaque", "reason"), M("symbols", "stack") },
		.needs = SWITCH, .extra = P(lock_wait) | P(lock_done),
	},
	[KP_SYSCALL_START] = {
		"syscall_start", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_START, kp_syscall_start),
		.member = { M("sysnum", "sysnum") },
		.needs = P(syscall_start),
	},
	[KP_SYSCALL_START_OTHER] = {
		"syscall_start", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_START_OTHER, kp_syscall_other),
		.member = { M("ulong", "sysnum"), M("long", "abi") },
		.needs = P(syscall_start),
	},
	[KP_SYSCALL_END] = {
		"syscall_end", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_END, kp_syscall_end),
		.member = { M("long", "rval1"), M("long", "rval2"),
		    M("long", "errno") },
		.needs = P(syscall_end),
	},
	[KP_ADDRESS_FAULT] = {
		"address_fault", "vm pagefault", "vm.bpf.c",
		ROW(ADDRESS_FAULT, kp_address_fault),
		.member = { M("opaque", "address"), M("fault_type", "fault_type"),
		    M("seg_access", "access") },
		.needs = FAULT,
	},
	[KP_MAJOR_FAULT] = {
		"major_fault", "vm pagefault", "vm.bpf.c",
		ROW(MAJOR_FAULT, kp_page),
		.member = { M("opaque", "vnode"), M("offset", "offset") },
		.needs = P(cache_add) | P(bio_queue), .extra = P(file_fault),
	},
	[KP_ANON_PRIVATE] = {
		"anon_private", "vm pagefault", "vm.bpf.c",
		ROW(ANON_PRIVATE, kp_address),
		.member = { M("opaque", "address") },
		.needs = FAULT | P(page_alloc), .extra = FAULT_END,
	},
	[KP_ANON_ZERO] = {
		"anon_zero", "vm pagefault", "vm.bpf.c",
		ROW(ANON_ZERO, kp_address),
		.member = { M("opaque", "address") },
		.needs = FAULT | P(page_alloc), .extra = FAULT_END,
	},
	[KP_PAGE_UNMAP] = {
		"page_unmap", "vm pagefault", "vm.bpf.c",
		ROW(PAGE_UNMAP, kp_page),
		.member = { M("opaque", "vnode"), M("offset", "offset") },
		.needs = P(cache_delete),
	},
	[KP_PAGEIN] = {
		"pagein", "vm pageio io", "io.bpf.c", ROW(PAGEIN, kp_pagein),
		.member = { M("opaque", "vnode"), M("offset", "offset"),
		    M("size", "size") },
		.needs = P(bio_queue),
	},
	[KP_PAGEOUT] = {
		"pageout", "vm pageio io", "io.bpf.c", ROW(PAGEOUT, kp_pageout),
		.member = { M("opaque", "vnode"), M("ulong", "pages_pageout"),
		    M("ulong", "pages_freed"), M("ulong", "pages_reclaimed") },
		.needs = P(bio_queue) | P(request_done), .extra = P(bio_done),
	},
	[KP_PAGEOUT_SCAN_START] = {
		"pageout_scan_start", "vm pagedaemon", "swap.bpf.c",
		ROW(PAGEOUT_SCAN_START, kp_pair),
		.member = { M("ulong", "pages_free"), M("ulong", "pages_needed") },
		.needs = SCAN, .extra = P(find_nodes),
	},
	[KP_PAGEOUT_SCAN_END] = {
		"pageout_scan_end", "vm pagedaemon", "swap.bpf.c",
		ROW(PAGEOUT_SCAN_END, kp_pair),
		.member = { M("ulong", "pages_scanned"), M("ulong", "pages_free") },
		.needs = SCAN | P(lru_isolate), .extra = P(find_nodes),
	},
	[KP_SWAPOUT_PROCESS] = {
		"swapout_process", "vm swap swapout", "swap.bpf.c",
		ROW(SWAPOUT_PROCESS, kp_swapout_process),
		.member = { M("pid", "pid"), M("ulong", "page_count") },
		.needs = SCAN | P(swap_count),
	},
	[KP_SWAPOUT_LWP] = {
		"swapout_lwp", "vm swap swapout", "swap.bpf.c",
		ROW(SWAPOUT_LWP, kp_swap_lwp),
		.member = { M("pid", "pid"), M("lwpid", "lwpid"),
		    M("kthread_id", "tid"), M("ulong", "page_count") },
		.needs = SWAP_WRITE,
	},
	[KP_SWAPIN_LWP] = {
		"swapin_lwp", "vm swap swapin", "swap.bpf.c",
		ROW(SWAPIN_LWP, kp_swap_lwp),
		.member = { M("pid", "pid"), M("lwpid", "lwpid"),
		    M("kthread_id", "tid"), M("ulong", "page_count") },
		.needs = FAULT | P(swap_count),
		.extra = FAULT_END | P(page_alloc),
	},
	[KP_STRATEGY] = {
		"strategy", "io blockio", "io.bpf.c", ROW(STRATEGY, kp_strategy),
		.member = { M("device", "device"), M("diskaddr", "block"),
		    M("size", "size"), M("opaque", "buf"),
		    M("bioflags", "flags") },
		.needs = P(bio_queue),
	},
	[KP_BIODONE] = {
		"biodone", "io blockio", "io.bpf.c", ROW(BIODONE, kp_biodone),
		.member = { M("device", "device"), M("diskaddr", "block"),
		    M("opaque", "buf") },
		.needs = P(bio_queue) | P(request_done), .extra = P(bio_done),
	},
	[KP_PHYSIO_START] = {
		"physio_start", "io rawio", "rawio.bpf.c",
		ROW(PHYSIO_START, kp_physio_start),
		.member = { M("device", "device"), M("offset", "offset"),
		    M("size", "size"), M("bioflags", "rw") },
		.needs = P(physio_start) | P(physio_end),
	},
	[KP_PHYSIO_END] = {
		"physio_end", "io rawio", "rawio.bpf.c",
		ROW(PHYSIO_END, kp_address),
		.member = { M("device", "device") },
		.needs = P(physio_start) | P(physio_end),
	},
	[KP_THREAD_WAKEUP] = {
		"thread_wakeup", "wakeup", "wakeup.bpf.c",
		ROW(THREAD_WAKEUP, kp_address),
		.member = { M("kthread_id", "tid") },
		.needs = P(waking) | INTERRUPTS, .extra = REQUESTS,
	},
	[KP_THREAD_WAKEUP_BY] = {
		"thread_wakeup", "wakeup", "wakeup.bpf.c",
		ROW(THREAD_WAKEUP_BY, kp_thread_wakeup_by),
		.member = { M("kthread_id", "tid"), M("long", "by"), M("opaque", "source") },
		.needs = P(waking) | INTERRUPTS, .extra = REQUESTS,
	},
	[KP_THREAD_THROTTLE] = {
		"thread_throttle", "throttle", "sched.bpf.c",
		ROW(THREAD_THROTTLE, kp_thread_throttle),
		.member = { M("kthread_id", "tid"), M("ulong", "group") },
		.needs = SWITCH, .extra = P(wakeup),
	},
	[KP_THREAD_SIGNAL] = {
		"thread_signal", "signal", "wakeup.bpf.c",
		ROW(THREAD_SIGNAL, kp_thread_signal),
		.member = { M("kthread_id", "tid"), M("pid", "pid"), M("long", "signo"),
		    M("long", "code") },
		.needs = P(signal_sent),
	},
	[KP_LOCK_OWNER] = {
		"lock_owner", "owner", "sched.bpf.c",
		ROW(LOCK_OWNER, kp_lock_owner),
		.member = { M("opaque", "reason"), M("lwpid", "owner") },
		.needs = SWITCH, .extra = P(lock_wait) | P(lock_done) | P(lock_refused) |
		    P(flock_refused),
	},
	[KP_SAMPLE] = {
		"sample", "profile", "sample.bpf.c",
		ROW(SAMPLE, kp_sample),
		.member = { M("symbols", "stack"), M("symbols", "user"),
		    M("uint64_array", "registers"), M("uint64_array", "words") },
		.needs = P(sample_take),
	},
};

const struct kp_program_row kp_programs[KP_PROGRAM_COUNT] = {
#define X(name, kind, hook) { #name, KP_KIND_##kind, hook },
	KP_PROGRAMS(X)
#undef X
};
