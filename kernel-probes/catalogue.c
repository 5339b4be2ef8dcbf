/*
 * catalogue.c - the kernel's probes, one row for each.
 *
 * From these rows come the list that prex shows, the types in the file, which programs
 * the loader attaches, and the table in tnf_kernel_probes(7).  A row names the BPF
 * programs that its probe needs; programs.h has the tracepoint of each
 * program, and hooks.c looks which of the tracepoints this kernel has.
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
		.needs = P(thread_create), .fidelity = KP_EXACT,
		.when = "The writer created a thread; for a user thread start_pc"
		    " is the kernel address from which it enters user mode.",
		.example = "tid: 0xffff888102dc8000 pid: 15824 start_pc: 0xffffffff81248fd0",
		.says = "The writer has made a thread of process 15824; start_pc is "
		    "ret_from_fork in /proc/kallsyms, as for every user thread.",
	},
	[KP_THREAD_STATE_WOKEN] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_WOKEN, kp_thread_state_of),
		.member = { M("kthread_id", "tid"), M("microstate", "state") },
		.needs = P(wakeup) | P(wakeup_new), .fidelity = KP_EXACT,
		.when = "Thread tid was woken and waits for a CPU (8).",
		.differs = "The writer may be another thread than the one that woke"
		    " tid: if the CPU of tid is idle, the kernel passes the wake-up"
		    " to it, and the thread that runs there writes the event."
		    " thread_wakeup names the waker.",
		.example = "tid: 0xffff88812e375c00 state: 8",
		.says = "A thread was woken and waits for a CPU.",
	},
	[KP_THREAD_STATE_OUT] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_OUT, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = SWITCH, .extra = FAULT | FAULT_END,
		.fidelity = KP_DERIVED,
		.when = "The writer gives up the CPU: WAIT_CPU (8) if it was"
		    " preempted, STOPPED (9), USER_LOCK (6) in a futex,"
		    " TFAULT (3) or DFAULT (4) in a page fault, KFAULT (5) in"
		    " a page fault of the kernel, else SLEEP (7).",
		.differs = "The original calls a preempted thread sleeping.",
		.example = "state: 6",
		.says = "The writer sleeps in a futex.",
	},
	[KP_THREAD_STATE_IN] = {
		"thread_state", "thread", "sched.bpf.c",
		ROW(THREAD_STATE_IN, kp_thread_state_of),
		.member = { M("kthread_id", "tid"), M("microstate", "state") },
		.needs = SWITCH, .extra = FAULT | FAULT_END,
		.fidelity = KP_DERIVED,
		.when = "Thread tid gets the CPU: SYSTEM (1) in a system call or"
		    " in the kernel, TFAULT (3) or DFAULT (4) in a page fault,"
		    " else USER (0).",
		.example = "tid: 0xffff88812e375c00 state: 0",
		.says = "A thread that was preempted in user mode goes on.",
	},
	[KP_THREAD_STATE_FAULT] = {
		"thread_state", "thread", "vm.bpf.c",
		ROW(THREAD_STATE_FAULT, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = P(user_fault), .fidelity = KP_NEAREST,
		.when = "The writer leaves user mode for a page fault: TFAULT"
		    " (3) for an instruction, DFAULT (4) for data.",
		.differs = "Other traps have no hook; TRAP (2) does not occur.",
		.example = "state: 3",
		.says = "The writer needs a page of its program text.",
	},
	[KP_THREAD_STATE_RETURN] = {
		"thread_state", "thread", "vm.bpf.c",
		ROW(THREAD_STATE_RETURN, kp_thread_state),
		.member = { M("microstate", "state") },
		.needs = P(user_fault) | FAULT_END, .fidelity = KP_NEAREST,
		.when = "The fault of the writer is resolved: USER (0).",
		.differs = "A fault at an address without memory ends in a signal,"
		    " and has no such event.",
		.example = "state: 0",
		.says = "The page fault of the writer is over.",
	},
	[KP_THREAD_EXIT] = {
		"thread_exit", "thread", "thread.bpf.c",
		ROW(THREAD_EXIT, kp_event),
		.needs = P(thread_exit), .fidelity = KP_EXACT,
		.when = "The writer exits.",
	},
	[KP_THREAD_QUEUE] = {
		"thread_queue", "dispatcher", "sched.bpf.c",
		ROW(THREAD_QUEUE, kp_thread_queue),
		.member = { M("kthread_id", "tid"), M("cpuid", "cpuid"),
		    M("long", "priority"), M("ulong", "queue_length") },
		.needs = P(wakeup) | P(wakeup_new) | SWITCH,
		.extra = P(migrate), .fidelity = KP_NEAREST,
		.when = "Thread tid was put on the run queue of cpuid, where"
		    " queue_length threads wait.",
		.differs = "Priority: 139 minus the kernel's; 0 to 39 time"
		    " sharing, 40 to 138 real time, 140 deadline.\nThe event"
		    " is also written at sched_migrate_task, when tid is moved from"
		    " one queue to another.",
		.example = "tid: 0xffff88810a984500 cpuid: 1 priority: 9 queue_length: 3",
		.says = "A thread of nice value 10 is on the queue of CPU 1, one of "
		    "three.",
	},
	[KP_THREAD_BLOCK] = {
		"thread_block", "synch", "sched.bpf.c",
		ROW(THREAD_BLOCK, kp_thread_block),
		.member = { M("opaque", "reason"), M("symbols", "stack") },
		.needs = SWITCH, .extra = P(lock_wait) | P(lock_done),
		.fidelity = KP_EXACT,
		.when = "The writer goes to sleep on the object reason, from"
		    " stack.",
		.differs = "A thread that polls several files sleeps on the first."
		    "\nSleep on a timer alone has reason 0, and so has sleep on an"
		    " object that the kernel does not report: see COST.",
		.example = "reason: 0x7f75c2642498 stack: <tnf_symbols>",
		.says = "A contended mutex of the program, at that address.",
	},
	[KP_SYSCALL_START] = {
		"syscall_start", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_START, kp_syscall_start),
		.member = { M("sysnum", "sysnum") },
		.needs = P(syscall_start), .fidelity = KP_EXACT,
		.when = "The writer enters system call sysnum.",
		.example = "sysnum: 257",
		.says = "openat(2), on x86-64.",
	},
	[KP_SYSCALL_START_OTHER] = {
		"syscall_start", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_START_OTHER, kp_syscall_other),
		.member = { M("ulong", "sysnum"), M("long", "abi") },
		.needs = P(syscall_start), .fidelity = KP_NEAREST,
		.when = "The writer enters a system call whose number is not in this"
		    " machine's table, but in that of 32-bit programs (abi 1) or of"
		    " x32, with its bit 30 (abi 2), or has more than 15 bits (abi 0).",
		.example = "sysnum: 20 abi: 1",
		.says = "getpid(2) of a 32-bit program; in 64-bit programs 20"
		    " is writev(2).",
	},
	[KP_SYSCALL_END] = {
		"syscall_end", "syscall thread", "syscall.bpf.c",
		ROW(SYSCALL_END, kp_syscall_end),
		.member = { M("long", "rval1"), M("long", "rval2"),
		    M("long", "errno") },
		.needs = P(syscall_end), .fidelity = KP_NEAREST,
		.when = "The writer leaves a system call.",
		.differs = "rval2 is 0: there is no second return value.",
		.example = "rval1: -1 rval2: 0 errno: 2",
		.says = "The call failed: ENOENT.",
	},
	[KP_ADDRESS_FAULT] = {
		"address_fault", "vm pagefault", "vm.bpf.c",
		ROW(ADDRESS_FAULT, kp_address_fault),
		.member = { M("opaque", "address"), M("fault_type", "fault_type"),
		    M("seg_access", "access") },
		.needs = FAULT, .fidelity = KP_EXACT,
		.when = "A page fault at address begins.",
		.differs = "Soft locks (mlock, get_user_pages) cause no event."
		    "\nFaults of the kernel that it does not resolve, while it has"
		    " page faults disabled, cause no event either.",
		.example = "address: 0x7f1099df4020 fault_type: 0 access: 2",
		.says = "A write (2) to a page that is not mapped (0).",
	},
	[KP_MAJOR_FAULT] = {
		"major_fault", "vm pagefault", "vm.bpf.c",
		ROW(MAJOR_FAULT, kp_page),
		.member = { M("opaque", "vnode"), M("offset", "offset") },
		.needs = P(cache_add) | P(bio_queue), .extra = P(file_fault),
		.fidelity = KP_EXACT,
		.when = "A fault of the writer needs the page at offset of vnode"
		    " from storage.",
		.differs = "For swapped pages, vnode is the device's inode, and"
		    " offset the place on the device.",
		.example = "vnode: 0xffff8881d22b8e48 offset: 36864",
		.says = "The tenth page of a file.",
	},
	[KP_ANON_PRIVATE] = {
		"anon_private", "vm pagefault", "vm.bpf.c",
		ROW(ANON_PRIVATE, kp_address),
		.member = { M("opaque", "address") },
		.needs = FAULT | P(page_alloc), .extra = FAULT_END,
		.fidelity = KP_EXACT,
		.when = "The page at address gets its private copy.",
		.example = "address: 0x55ce8f984010",
		.says = "A write to a page shared since fork(2).",
	},
	[KP_ANON_ZERO] = {
		"anon_zero", "vm pagefault", "vm.bpf.c",
		ROW(ANON_ZERO, kp_address),
		.member = { M("opaque", "address") },
		.needs = FAULT | P(page_alloc), .extra = FAULT_END,
		.fidelity = KP_EXACT,
		.when = "A page of zeroes was made for address.",
		.differs = "Reading untouched memory causes no event: it maps the"
		    " kernel's one page of zeroes.\nA huge page is one event."
		    "\nShared memory (tmpfs, System V, MAP_SHARED) belongs to a file"
		    " and causes no event.",
		.example = "address: 0x7f1099dea000",
		.says = "The first write to a page of the heap.",
	},
	[KP_PAGE_UNMAP] = {
		"page_unmap", "vm pagefault", "vm.bpf.c",
		ROW(PAGE_UNMAP, kp_page),
		.member = { M("opaque", "vnode"), M("offset", "offset") },
		.needs = P(cache_delete), .fidelity = KP_EXACT,
		.when = "The page at offset of vnode left the page cache.",
		.differs = "Swap cache not included.",
		.example = "vnode: 0xffff8881d22b8e48 offset: 77824",
		.says = "The file was truncated, or memory was short.",
	},
	[KP_PAGEIN] = {
		"pagein", "vm pageio io", "io.bpf.c", ROW(PAGEIN, kp_pagein),
		.member = { M("opaque", "vnode"), M("offset", "offset"),
		    M("size", "size") },
		.needs = P(bio_queue), .fidelity = KP_EXACT,
		.when = "Pages of vnode are being read, size bytes from offset.",
		.differs = "File systems without a block device cause no event.",
		.example = "vnode: 0xffff8881d22b8e48 offset: 32768 size: 4096",
		.says = "One page of the file.",
	},
	[KP_PAGEOUT] = {
		"pageout", "vm pageio io", "io.bpf.c", ROW(PAGEOUT, kp_pageout),
		.member = { M("opaque", "vnode"), M("ulong", "pages_pageout"),
		    M("ulong", "pages_freed"), M("ulong", "pages_reclaimed") },
		.needs = P(bio_queue) | P(request_done), .extra = P(bio_done),
		.fidelity = KP_NEAREST,
		.when = "Pages of vnode have been written.",
		.differs = "pages_freed: pages that the next scan will free.",
		.example = "vnode: 0xffff888129dac110 pages_pageout: 512 pages_freed: 0 pages_reclaimed: 0",
		.says = "Two megabytes of a file were written back; nobody waits for "
		    "the memory.",
	},
	[KP_PAGEOUT_SCAN_START] = {
		"pageout_scan_start", "vm pagedaemon", "swap.bpf.c",
		ROW(PAGEOUT_SCAN_START, kp_pair),
		.member = { M("ulong", "pages_free"), M("ulong", "pages_needed") },
		.needs = SCAN, .extra = P(find_nodes), .fidelity = KP_NEAREST,
		.when = "The writer, kswapd or a thread that needs memory,"
		    " begins to look for pages.",
		.differs = "pages_needed: the sum of the high watermarks.",
		.example = "pages_free: 5854063 pages_needed: 7727340",
		.says = "Less memory is free than the daemon wants.",
	},
	[KP_PAGEOUT_SCAN_END] = {
		"pageout_scan_end", "vm pagedaemon", "swap.bpf.c",
		ROW(PAGEOUT_SCAN_END, kp_pair),
		.member = { M("ulong", "pages_scanned"), M("ulong", "pages_free") },
		.needs = SCAN | P(lru_isolate), .extra = P(find_nodes),
		.fidelity = KP_EXACT,
		.when = "The writer stops looking for pages.",
		.example = "pages_scanned: 121933 pages_free: 5988811",
		.says = "The scan looked at 121933 pages, and more are free now.",
	},
	[KP_SWAPOUT_PROCESS] = {
		"swapout_process", "vm swap swapout", "swap.bpf.c",
		ROW(SWAPOUT_PROCESS, kp_swapout_process),
		.member = { M("pid", "pid"), M("ulong", "page_count") },
		.needs = SCAN | P(swap_count), .fidelity = KP_DERIVED,
		.when = "A scan has swapped out page_count pages of process pid.",
		.differs = "Linux swaps pages, never whole processes.\nShared"
		    " memory (tmpfs, System V, MAP_SHARED) belongs to no process:"
		    " only pageout shows it.",
		.example = "pid: 17897 page_count: 32",
		.says = "A scan has taken 32 pages from process 17897.",
	},
	[KP_SWAPOUT_LWP] = {
		"swapout_lwp", "vm swap swapout", "swap.bpf.c",
		ROW(SWAPOUT_LWP, kp_swap_lwp),
		.member = { M("pid", "pid"), M("lwpid", "lwpid"),
		    M("kthread_id", "tid"), M("ulong", "page_count") },
		.needs = SWAP_WRITE, .fidelity = KP_DERIVED,
		.when = "Pages of the user stack of thread tid are written to"
		    " swap.",
		.differs = "Kernel stacks are not swapped; a page that processes"
		    " share counts for one of them.",
		.example = "pid: 17897 lwpid: 17912 tid: 0xffff888102dc8000 page_count: 1",
		.says = "A page of a sleeping thread's stack.",
	},
	[KP_SWAPIN_LWP] = {
		"swapin_lwp", "vm swap swapin", "swap.bpf.c",
		ROW(SWAPIN_LWP, kp_swap_lwp),
		.member = { M("pid", "pid"), M("lwpid", "lwpid"),
		    M("kthread_id", "tid"), M("ulong", "page_count") },
		.needs = FAULT | P(swap_count),
		.extra = FAULT_END | P(page_alloc),
		.fidelity = KP_NEAREST,
		.when = "A fault of thread tid brought a page back from swap.",
		.differs = "This may be any page of the process, not only of a stack."
		    "\nA large folio that is read at once counts with all its pages;"
		    " a folio that is still in the swap cache counts as one page."
		    "\nPages that get_user_pages or a write to shared memory needs"
		    " cause no event.",
		.example = "pid: 17897 lwpid: 17897 tid: 0xffff888102dcae00 page_count: 1",
		.says = "A page was read back.",
	},
	[KP_STRATEGY] = {
		"strategy", "io blockio", "io.bpf.c", ROW(STRATEGY, kp_strategy),
		.member = { M("device", "device"), M("diskaddr", "block"),
		    M("size", "size"), M("opaque", "buf"),
		    M("bioflags", "flags") },
		.needs = P(bio_queue), .fidelity = KP_EXACT,
		.when = "A request for size bytes at block (of 512 bytes) goes"
		    " to device.",
		.differs = "Stacked devices cause one event for each layer.\nflags"
		    " have neither 64 nor 256 if no data is moved: when"
		    " blocks are discarded or zeroed.\nA flush is a write of 0"
		    " bytes.",
		.example = "device: 266338304 block: 353004688 size: 4096 buf: 0xffff888102a80480 flags: 257",
		.says = "A write (256) of 4 KiB that somebody waits for, to device "
		    "254:0.",
	},
	[KP_BIODONE] = {
		"biodone", "io blockio", "io.bpf.c", ROW(BIODONE, kp_biodone),
		.member = { M("device", "device"), M("diskaddr", "block"),
		    M("opaque", "buf") },
		.needs = P(bio_queue) | P(request_done), .extra = P(bio_done),
		.fidelity = KP_EXACT,
		.when = "The request buf is done.",
		.differs = "On a busy machine the kernel sometimes does not run the program"
		    " for a millisecond: requests that end in this time cause no event,"
		    " and are counted as lost when their memory is used again.",
		.example = "device: 266338304 block: 353004688 buf: 0xffff888102a80480",
		.says = "The same request.",
	},
	[KP_PHYSIO_START] = {
		"physio_start", "io rawio", "rawio.bpf.c",
		ROW(PHYSIO_START, kp_physio_start),
		.member = { M("device", "device"), M("offset", "offset"),
		    M("size", "size"), M("bioflags", "rw") },
		.needs = P(physio_start) | P(physio_end), .fidelity = KP_EXACT,
		.when = "The writer begins unbuffered I/O on a block device.",
		.differs = "Requests of io_uring and libaio cause only strategy"
		    " events.",
		.example = "device: 7340032 offset: 65536 size: 8192 rw: 256",
		.says = "pwrite(2) to /dev/loop0, opened with O_DIRECT.",
	},
	[KP_PHYSIO_END] = {
		"physio_end", "io rawio", "rawio.bpf.c",
		ROW(PHYSIO_END, kp_address),
		.member = { M("device", "device") },
		.needs = P(physio_start) | P(physio_end), .fidelity = KP_EXACT,
		.when = "The writer's unbuffered I/O has ended.",
		.example = "device: 7340032",
		.says = "The I/O of the example above has ended.",
	},
	[KP_THREAD_WAKEUP] = {
		"thread_wakeup", "wakeup", "wakeup.bpf.c",
		ROW(THREAD_WAKEUP, kp_address),
		.member = { M("kthread_id", "tid") },
		.needs = P(waking) | INTERRUPTS, .extra = REQUESTS,
		.fidelity = KP_DERIVED,
		.when = "The writer wakes thread tid.",
		.differs = "The original has no such probe.\nThe writer is the waker in"
		    " any case; the writer of thread_state may be another thread.\nA thread that sends to a"
		    " socket of this machine wakes the receiver.",
		.example = "tid: 0xffff88812e375c00",
		.says = "The thread was waiting for the writer of this event.",
	},
	[KP_THREAD_WAKEUP_BY] = {
		"thread_wakeup", "wakeup", "wakeup.bpf.c",
		ROW(THREAD_WAKEUP_BY, kp_thread_wakeup_by),
		.member = { M("kthread_id", "tid"), M("long", "by"), M("opaque", "source") },
		.needs = P(waking) | INTERRUPTS, .extra = REQUESTS,
		.fidelity = KP_DERIVED,
		.when = "Thread tid is woken, not by a thread but by an interrupt (1), a softirq"
		    " (2), a timer (3), the end of a block request (4), or a packet (5).",
		.differs = "source is the number of the interrupt (0: it has no handler) or of"
		    " the softirq, the timer's function, the buf of biodone, or the thread that"
		    " sent the packet (0: it came from another machine).\nThe writer is the"
		    " thread that was interrupted, except that a kernel thread may have ended"
		    " the request.",
		.example = "tid: 0xffff88812e375c00 by: 3 source: 0xffffffff811a3b50",
		.says = "The timer for which the thread slept has run out; source is"
		    " hrtimer_wakeup in /proc/kallsyms.",
	},
	[KP_THREAD_THROTTLE] = {
		"thread_throttle", "throttle", "sched.bpf.c",
		ROW(THREAD_THROTTLE, kp_thread_throttle),
		.member = { M("kthread_id", "tid"), M("ulong", "group") },
		.needs = SWITCH, .extra = P(wakeup), .fidelity = KP_DERIVED,
		.when = "Thread tid could run, but its control group, or one above that, has"
		    " used up its quota (cpu.max).",
		.differs = "The original has no such probe.\ngroup is the number of the"
		    " thread's group, the inode of its directory.\nBefore Linux 6.18, a thread that"
		    " waits for a CPU already when the quota is used up causes no event.",
		.example = "tid: 0xffff88812e375c00 group: 4711",
		.says = "The thread gets no CPU until the next period of the quota.",
	},
	[KP_THREAD_SIGNAL] = {
		"thread_signal", "signal", "wakeup.bpf.c",
		ROW(THREAD_SIGNAL, kp_thread_signal),
		.member = { M("kthread_id", "tid"), M("pid", "pid"), M("long", "signo"),
		    M("long", "code") },
		.needs = P(signal_sent), .fidelity = KP_DERIVED,
		.when = "The writer sends signal signo to thread tid, or to the whole process"
		    " pid, of which tid is a thread.",
		.differs = "The original has no such probe.\ncode is the si_code of"
		    " sigaction(2); where it is 128 or -2 (a timer), the kernel"
		    " sends the signal while the writer happens to run.\nSignals that are ignored or"
		    " pending already cause no event, except SIGCONT, which lets a"
		    " stopped process go on in any case.",
		.example = "tid: 0xffff88812e375c00 pid: 15824 signo: 19 code: 0",
		.says = "The writer has stopped process 15824 with kill(2).",
	},
	[KP_LOCK_OWNER] = {
		"lock_owner", "owner", "sched.bpf.c",
		ROW(LOCK_OWNER, kp_lock_owner),
		.member = { M("opaque", "reason"), M("lwpid", "owner") },
		.needs = SWITCH, .extra = P(lock_wait) | P(lock_done) | P(lock_refused) |
		    P(flock_refused), .fidelity = KP_DERIVED,
		.when = "The writer goes to sleep on the lock reason, which thread owner has, or is"
		    " refused a lock of a file.",
		.differs = "The original has no such probe.\nThe event comes right before"
		    " thread_block, with the same reason, if the lock tells its owner: a mutex of"
		    " glibc, a futex with priority inheritance, a mutex or an rt_mutex of the kernel,"
		    " or an rw_semaphore of the kernel that a writer or a single reader has.\nThe"
		    " owner of a glibc mutex is the number that the program has noted in the mutex;"
		    " in a nested name space of processes such a mutex causes no event.\nFor a lock of"
		    " a file (fcntl(2), flock(2)) reason is the inode and owner the process that has"
		    " the lock; if the call does not wait, no sleep follows the event.",
		.example = "reason: 0x7f75c2642498 owner: 15834",
		.says = "The writer waits for a mutex that thread 15834 has locked.",
	},
	[KP_SAMPLE] = {
		"sample", "profile", "sample.bpf.c",
		ROW(SAMPLE, kp_sample),
		.member = { M("symbols", "stack"), M("symbols", "user"),
		    M("uint64_array", "registers"), M("uint64_array", "words") },
		.needs = P(sample_take), .fidelity = KP_DERIVED,
		.when = "The writer ran on this CPU when a sample was taken, 99 times a second"
		    " unless the setting sample_rate says otherwise.",
		.differs = "The original has no such probe.\nstack has the kernel's frames, the"
		    " innermost first, and is 0 in user mode; user has those of the program"
		    " (0: a kernel thread), as far as its functions keep frame pointers.\nWith"
		    " the setting sample_stack, registers has the program's, in the order of the"
		    " machine's struct pt_regs, and words the 3 KiB above its stack pointer, if user"
		    " has three frames or fewer; else both are 0.\nA CPU that is idle causes no"
		    " event.",
		.example = "stack: <tnf_symbols> user: <tnf_symbols> registers: 0x0 words: 0x0",
		.says = "The writer was in a system call or an interrupt.",
	},
};

const struct kp_program_row kp_programs[KP_PROGRAM_COUNT] = {
#define X(name, kind, hook) { #name, KP_KIND_##kind, hook },
	KP_PROGRAMS(X)
#undef X
};

const char *
kp_fidelity_name(enum kp_fidelity f)
{
	static const char *const name[] = { "exact", "nearest", "derived" };

	return name[f];
}
