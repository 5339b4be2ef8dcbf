/*
 * record.h - what the BPF programs and the loader share.
 *
 * The probes' numbers, the layout of their events in the buffer, and the maps'
 * values.  Everything here is pinned and outlives programs: a change of layout
 * needs a new KP_LAYOUT.
 */
#ifndef KERNEL_PROBES_RECORD_H
#define KERNEL_PROBES_RECORD_H

#include <linux/types.h>

#define KP_MAGIC	0x504b464eu
#define KP_LAYOUT	9u

/* A block of the buffer is one element of the map; the whole map is the file. */
#define KP_BLOCK_SHIFT	12
#define KP_BLOCK_SIZE	4096u
#define KP_BLOCK_HEADER	24u
#define KP_BLOCK_END	4088u	/* records end here: a position never reaches the next block */
#define KP_DIRECTORY	0x1000u	/* offset of the directory, three blocks */
#define KP_TAGS		0x4000u	/* of the definitions; more blocks come from the pool */
#define KP_DATA		0x8000u	/* offset of the first block of events */
#define KP_TYPES_MAX	96u
#define KP_CPU_HOLDS	8u	/* blocks that a CPU holds; a power of two */
#define KP_CPU_AHEAD	3u	/* of these, the empty ones for nested writers */
#define KP_STACK_MAX	32u	/* frames in an event */
#define KP_FREEZE_TEXT	128u	/* bytes of the reason of a freeze, with its NUL */
#define KP_USER_STACK_MAX 96u	/* of a program, in a sample */
#define KP_USER_STACK_FEW 3u	/* so few seem to have ended early */
#define KP_SAMPLE_WORDS	384u	/* of a program's stack, in a sample: its block has no room for more */

/* A probe's number, from 1, is its index in the catalogue and in the directory. */
enum kp_id {
	KP_THREAD_CREATE = 1,
	KP_THREAD_STATE_WOKEN,
	KP_THREAD_STATE_OUT,
	KP_THREAD_STATE_IN,
	KP_THREAD_STATE_FAULT,
	KP_THREAD_STATE_RETURN,
	KP_THREAD_EXIT,
	KP_THREAD_QUEUE,
	KP_THREAD_BLOCK,
	KP_SYSCALL_START,
	KP_SYSCALL_START_OTHER,
	KP_SYSCALL_END,
	KP_ADDRESS_FAULT,
	KP_MAJOR_FAULT,
	KP_ANON_PRIVATE,
	KP_ANON_ZERO,
	KP_PAGE_UNMAP,
	KP_PAGEIN,
	KP_PAGEOUT,
	KP_PAGEOUT_SCAN_START,
	KP_PAGEOUT_SCAN_END,
	KP_SWAPOUT_PROCESS,
	KP_SWAPOUT_LWP,
	KP_SWAPIN_LWP,
	KP_STRATEGY,
	KP_BIODONE,
	KP_PHYSIO_START,
	KP_PHYSIO_END,
	KP_THREAD_WAKEUP,
	KP_THREAD_WAKEUP_BY,
	KP_THREAD_THROTTLE,
	KP_THREAD_SIGNAL,
	KP_LOCK_OWNER,
	KP_SAMPLE,
	KP_PROBES		/* one more than the last */
};

#define KP_BIT(id)	(1ull << (id))
#define KP_IMPORTED	KP_BIT(0)	/* all imported probes, among those that record */

/* An event's tag word refers to the event's type by a word of the directory. */
#define KP_TAG(id)	(((KP_DIRECTORY + 8u + 4u * (id)) | 1u) << 16 | 1u)

/* Events of a probe of the catalogue that have stacks are of another type, with two more
   members: they have the number KP_STACKED(id). */
#define KP_STACKED(id)	((id) + 64u)
#define KP_STACKS_MAX	64u
#define KP_GLUE_MAX	4096u	/* a power of two */

_Static_assert(KP_PROBES <= KP_STACKS_MAX, "KP_STACKED()");

/*
 * An imported probe (import.h) has a slot, a number from 0, which is the probe's index
 * in the maps, the cookie of its links, and selects its word of the directory.  Each
 * block of the directory ends in a struct tnf_page_id.
 */
#define KP_IMPORT_WORD	128u	/* their first word; those before are the catalogue's */
#define KP_DIR_WORDS	1018u	/* in a block of the directory */
#define KP_IMPORTS	(3u * KP_DIR_WORDS - KP_IMPORT_WORD)
#define KP_IMPORT_AT(slot)						\
	(KP_DIRECTORY + ((slot) + KP_IMPORT_WORD) / KP_DIR_WORDS * KP_BLOCK_SIZE + \
	((slot) + KP_IMPORT_WORD) % KP_DIR_WORDS * 4u)
/* The number that KP_TAG() takes for an imported probe. */
#define KP_IMPORT_ID(slot)	((KP_IMPORT_AT(slot) - KP_DIRECTORY - 8u) / 4u)

struct kp_event {		/* how every event begins */
	__u32 tag;
	__u32 time_delta;
};

struct kp_thread_create {
	struct kp_event h;
	__u64 tid;
	__s32 pid;
	__u32 pad;
	__u64 start_pc;
};

struct kp_thread_state {	/* of the writer */
	struct kp_event h;
	__s32 state;
	__u32 pad;
};

struct kp_thread_state_of {
	struct kp_event h;
	__u64 tid;
	__s32 state;
	__u32 pad;
};

struct kp_thread_queue {
	struct kp_event h;
	__u64 tid;
	__s32 cpuid;
	__u32 pad;
	__s64 priority;
	__u64 queue_length;
};

struct kp_thread_block {
	struct kp_event h;
	__u64 reason;
	__u32 stack;		/* reference to the record that follows, or 0 */
	__u32 pad;
};

struct kp_symbols {		/* tnf_symbols */
	__u32 tag;
	__u32 self_size;
	__u64 pc[];
};

struct kp_syscall_start {
	struct kp_event h;
	__s16 sysnum;
	__u16 pad0;
	__u32 pad1;
};

struct kp_syscall_other {	/* what sysnum's 16 bits cannot say */
	struct kp_event h;
	__u64 sysnum;
	__s64 abi;
};

struct kp_syscall_end {
	struct kp_event h;
	__s64 rval1;
	__s64 rval2;
	__s64 error;
};

struct kp_address_fault {
	struct kp_event h;
	__u64 address;
	__s32 fault_type;
	__s32 access;
};

struct kp_address {		/* anon_private, anon_zero; physio_end: device; thread_wakeup: tid */
	struct kp_event h;
	__u64 address;
};

struct kp_page {		/* major_fault, page_unmap */
	struct kp_event h;
	__u64 vnode;
	__s64 offset;
};

struct kp_pagein {
	struct kp_event h;
	__u64 vnode;
	__s64 offset;
	__u64 size;
};

struct kp_pageout {
	struct kp_event h;
	__u64 vnode;
	__u64 pages_pageout;
	__u64 pages_freed;
	__u64 pages_reclaimed;
};

struct kp_pair {		/* pageout_scan_start, pageout_scan_end */
	struct kp_event h;
	__u64 first;
	__u64 second;
};

struct kp_swap_lwp {
	struct kp_event h;
	__s32 pid;
	__u32 lwpid;
	__u64 tid;
	__u64 page_count;
};

struct kp_swapout_process {
	struct kp_event h;
	__s32 pid;
	__u32 pad;
	__u64 page_count;
};

struct kp_strategy {
	struct kp_event h;
	__u64 device;
	__s64 block;
	__u64 size;
	__u64 buf;
	__s32 flags;
	__u32 pad;
};

struct kp_biodone {
	struct kp_event h;
	__u64 device;
	__s64 block;
	__u64 buf;
};

struct kp_physio_start {
	struct kp_event h;
	__u64 device;
	__s64 offset;
	__u64 size;
	__s32 rw;
	__u32 pad;
};

enum kp_waker {			/* kp_thread_wakeup_by.by */
	KP_BY_THREAD,		/* not written: thread_wakeup's other row */
	KP_BY_INTERRUPT, KP_BY_SOFTIRQ, KP_BY_TIMER, KP_BY_DISK, KP_BY_NETWORK
};

struct kp_thread_wakeup_by {
	struct kp_event h;
	__u64 tid;
	__s64 by;		/* enum kp_waker */
	__u64 source;
};

struct kp_thread_throttle {
	struct kp_event h;
	__u64 tid;
	__u64 group;
};

struct kp_thread_signal {
	struct kp_event h;
	__u64 tid;
	__s32 pid;
	__u32 pad;
	__s64 signo;
	__s64 code;
};

struct kp_sample {		/* references to the records that follow, or 0 */
	struct kp_event h;
	__u32 stack;
	__u32 user;
	__u32 registers;
	__u32 words;
};

struct kp_lock_owner {
	struct kp_event h;
	__u64 reason;
	__u32 owner;
	__u32 pad;
};

/*
 * A position of a CPU: number of the block << 12 | offset.  A CPU numbers the
 * blocks that it writes from 1.  Positions only grow, so that two are equal only
 * if nobody wrote in between.
 */
#define KP_BLOCK_OF(pos)	((pos) >> KP_BLOCK_SHIFT)
#define KP_OFFSET_OF(pos)	((__u32)(pos) & (KP_BLOCK_SIZE - 1))
#define KP_SAME_BLOCK(a, b)	((((a) ^ (b)) >> KP_BLOCK_SHIFT) == 0)

/* Element of the map tnf_cpu: the state of one CPU's writers. */
struct kp_cpu {
	__u64 cursor;		/* position of the next record */
	__u64 sched;		/* position of the latest schedule record */
	__u64 published;	/* position up to which readers see everything */
	__u64 ready;		/* number of the last block that may be written;
				   0: CPU came up after the buffer was made */
	__u32 nest;		/* writers under way: the thread's, interrupts' */
	__u32 pad;
	__u32 held[KP_CPU_HOLDS];	/* its latest blocks in tnf_buf, by number */
	__u64 lost[8];		/* by enum tnf_lost */
	__u64 thread;		/* the writer, while it needs a schedule record */
	__u64 full;		/* it found no unused block in the pool */
	__u64 reserved[5];	/* 192 bytes: no two CPUs share a cache line of 64 */
};

/*
 * Element of the map tnf_pool: ticket << 32 | block.  Blocks that no CPU holds
 * wait here, the oldest first.  A CPU that takes a block gives another one back.  Ticket
 * t, counted by tnf_ext.data_cursor, is for slot t modulo the number of slots.  A slot
 * with block 0 has lost its block to definitions, and CPUs pass over it.
 */
#define KP_SLOT(ticket, block)	((__u64)(ticket) << 32 | (__u32)(block))
#define KP_SLOT_TICKET(slot)	((__u32)((slot) >> 32))
#define KP_SLOT_BLOCK(slot)	((__u32)(slot))

/* The generation of a block tells when it was taken: neither free nor a tag. */
#define KP_GENERATION(ticket)	(((__u32)(ticket) & TNF_GENERATION_AGES) + 1)

/* Why a process is in the filter's set. */
enum kp_filter_value {
	KP_FILTER_CHILDREN = 1,	/* its future children are added, too */
	KP_FILTER_NAME = 2,	/* a rule asks for its name */
	KP_FILTER_GROUP = 4,	/* a rule asks for a group that it is in */
	KP_FILTER_ALONE = 8,	/* somebody named this process */
	KP_FILTER_FOLLOW = KP_FILTER_ALONE | KP_FILTER_CHILDREN,
};

/*
 * The set: a byte for each number that a process may have (the kernel's PID_MAX_LIMIT), with its
 * reasons, or 0.  It is one element of a map, at an address that programs know: a look at it
 * takes no call of a helper, as one at a hash map does.  A process that is left out has
 * to pay for no more than a look.
 */
#define KP_FILTER_MAX	(1u << 22)

/* The filter's mode (kp_shared.filter), and a flag: only some CPUs record. */
enum kp_filter_mode { KP_FILTER_OFF, KP_FILTER_ONLY, KP_FILTER_EXCEPT };
#define KP_FILTER_MODE	3u
#define KP_FILTER_CPUS	4u
#define KP_CPUS_WORDS	32	/* 2,048 CPUs */

/* Element of the map tnf_rules: a group by its number, or a name. */
#define KP_RULES_MAX	64

struct kp_rule_key {
	__u64 group;
	char  comm[16];
};

struct kp_rule {
	__u32 reason;		/* KP_FILTER_NAME, KP_FILTER_GROUP */
	__u32 pad;
	char  text[256];	/* as it was written */
};

/* Element of the map tnf_ended, by number: a thread that has ended. */
struct kp_ended {
	__u32 pid;
	__u32 ppid;
	char  comm[16];
};

/* The record that tell_tasks writes for each living task. */
struct kp_told {
	__u32 size;		/* of this struct, which differs between versions */
	__u32 tid, pid, ppid;
	__u32 flags;		/* the kernel's PF_* */
	__u32 pad;
	__u64 groups;		/* its css_set: which control groups it is in */
	char  comm[16];
};

/* Key of the map tnf_renamed: the thread that got a new name, and the time. */
struct kp_renamed {
	__u64 time;		/* ns, CLOCK_MONOTONIC, as events have it */
	__u32 tid;
	__u32 pad;
};

struct kp_former {		/* the element: its name until then */
	char  comm[16];
};

/* Element of the map tnf_paths, by a number: the path of a program, or its end.  Elements of
   the map tnf_ran are such numbers; their keys, as above, say which process runs the program
   from that time on. */
#define KP_PATH_SIZE	256

struct kp_path {
	char  text[KP_PATH_SIZE];
};

/* Element of the map tnf_objects: a file that a process which has ended had mapped as code. */
struct kp_object_key {
	__u32 pid;
	__u32 n;		/* from 0, in order of the addresses */
};

struct kp_object {
	__u64 time;		/* the same for all that were noted together */
	__u64 start, end;
	__u64 offset;		/* of 'start' in the file */
	__u64 path;		/* key in tnf_paths */
	__u64 inode;
	__u32 device;		/* as the kernel has it: major << 20 | minor */
	__u32 pad;
};

#define KP_OBJECT_MAIN	(~0ull)	/* offset: not told; the program, where its first code lies */
#define KP_OBJECTS_MAX	256u	/* of a process */

/* A function that leads from a tracepoint to its programs: its place in the kernel's text. */
struct kp_glue {
	__u32 from, to;
};

/* The stacks of a probe's events. */
struct kp_stacks {
	__u8  kernel, user;	/* frames that are asked for; 0: none */
	__u16 at;		/* of the two references in an event: stack, user; 0: no stacks */
};

/*
 * An imported probe's program makes an event of a hook's record: each operation copies
 * one member, at 'from' of the record, to 'to' of an image of the event.
 */
enum kp_op_kind {
	KP_OP_COPY,		/* 'size' bytes that lie at 'from' */
	KP_OP_STRING,		/* characters there, up to a NUL or 'size' */
	KP_OP_ARRAY,		/* 'size' bytes there, as an array */
	KP_OP_LOC_STRING,	/* the word there has place and size, 16 bits each */
	KP_OP_LOC_ARRAY,
	KP_OP_REL_STRING,	/* the same, its place is counted from behind the word */
	KP_OP_REL_ARRAY,
};

struct kp_op {
	__u16 from;
	__u16 to;
	__u16 size;
	__u8  kind;		/* enum kp_op_kind */
	__u8  type;		/* enum kp_record, unless it is a scalar */
};

/* The records that an event refers to: an index of kp_shared.record_tag. */
enum kp_record {
	KP_R_STRING,
	KP_R_INT8, KP_R_UINT8, KP_R_INT16, KP_R_UINT16,
	KP_R_INT32, KP_R_UINT32, KP_R_INT64, KP_R_UINT64,
	KP_RECORDS
};

#define KP_OPS_MAX	27u
#define KP_IMAGE_MAX	2048u	/* bytes of an event with what it refers to */
#define KP_FIXED_MAX	1024u	/* of them, those that are not in records referred to */
#define KP_TEXT_MAX	256u	/* bytes of a string with its NUL, or of an array */

/*
 * 8 bytes of an event, or a part of them: the 8 bytes at 'from' of the record, without the
 * lowest 'below' and the highest 'above' bits, and the bits in 'fixed'.  They go to 'to';
 * if 'again' is 1, the bits that the element before has put there stay.
 */
struct kp_word {
	__u64 fixed;
	__u8  from;
	__u8  below, above;	/* 63 both: no bit is left */
	__u8  again;
	__u16 to;
	__u16 pad;
};

#define KP_WORDS_MAX	13u	/* they are where operations are */
#define KP_WORDS_FROM	128u	/* the part of a record that they reach */

/* KP_ROW_FREEZES: the first event that it records ends the recording. */
enum kp_row_on { KP_ROW_OFF, KP_ROW_ON, KP_ROW_FREEZES };

/* Element of the map tnf_import, by slot. */
struct kp_import_row {
	__u32 on;		/* enum kp_row_on: it records now */
	__u32 id;		/* KP_IMPORT_ID(slot) */
	__u32 slot;
	__u32 rate;		/* events in a window on one CPU; 0: any number */
	__u16 size;		/* of the fixed part, a multiple of 8 */
	__u16 ops;
	__u32 where;		/* conditions, 0: none */
	__u32 plain;		/* the operations are a place's operands (operand.h) */
	__u16 read;		/* 8 bytes each, of a record's beginning: what is needed */
	__u16 words;		/* the operations are so many words of ... */
	__u32 whole;		/* ... an event that is always this long; 0: operations */
	struct kp_stacks stacks;
	union {
		struct kp_op op[KP_OPS_MAX];
		struct kp_word word[KP_WORDS_MAX];
	};
};

/* A probe's conditions: alternatives joined by "or", each a run of conditions joined by
   "and"; 'first' marks where an alternative begins.  The event is recorded if all
   conditions of at least one alternative hold.  Element of the map tnf_where, by slot. */
#define KP_WHERE_MAX	8u
#define KP_WHERE_TEXT	32u	/* characters that are compared */

enum kp_where_op {
	KP_W_EQUAL, KP_W_UNEQUAL, KP_W_BELOW, KP_W_AT_MOST, KP_W_ABOVE, KP_W_AT_LEAST,
	KP_W_BITS
};

struct kp_condition {
	__u16 at;		/* of the member in an event */
	__u8  size;		/* of a number; 0: a reference to a string */
	__u8  op;		/* enum kp_where_op */
	__u8  is_signed;
	__u8  first;		/* of an alternative */
	__u16 pad;
	__u64 value[KP_WHERE_TEXT / 8];
	__u64 mask[KP_WHERE_TEXT / 8];
};

struct kp_where {
	__u32 n;
	__u32 pad;
	struct kp_condition c[KP_WHERE_MAX];
};

/* Element of the map tnf_counts, by slot: an imported probe's counts on a CPU. */
#define KP_WINDOW_SHIFT	27	/* 0.134 s */

struct kp_import_count {
	__u64 window;		/* number of the latest one */
	__u64 in_window;	/* events in it */
	__u64 hits;
	__u64 omitted;		/* hits that the rate left out */
};

/* Element of the map tnf_asked, by slot: a probe that was asked for.  It outlives the session. */
#define KP_SPEC_MAX	1536u

struct kp_asked {
	__u32 kind;		/* enum kp_import_number */
	__u16 flags;		/* KP_ASKED_* */
	__u8  kernel_frames, user_frames;	/* of stacks */
	__u32 defined;		/* as in struct kp_import (import.h) */
	__u32 spec_size;
	char  name[128];
	char  keys[128];
	char  source[256];
	char  where[256];	/* the conditions, as they were written */
	char  spec[KP_SPEC_MAX];
};

#define KP_ASKED_ENABLED	1u
#define KP_ASKED_TRACED		2u
#define KP_ASKED_FREEZES	4u

#define KP_FROZEN_BY_CALL	0xffffffffu	/* no slot has this number */

/*
 * The one element of the map that is pinned first and removed last: the settings that
 * users asked for, and the words that the programs read.
 */
struct kp_shared {
	__u64 on;		/* probes that record now; 0: all quiet */
	__u32 filter;		/* enum kp_filter_mode, KP_FILTER_CPUS */
	__u32 stack_depth;	/* frames of thread_block, 0: none */
	__u32 recover;		/* thread_block may search the stack for a reason */
	__u32 sched_tag;	/* tag of tnf_kernel_schedule */
	__u32 symbols_tag;	/* of tnf_symbols */
	__u32 has_filemap_fault;
	__u32 gfp_movable, gfp_zero;	/* bits of the kernel's unnamed enums */
	__u32 bio_remapped;
	__u64 kthread;		/* addresses, 0 where the kernel hides them */
	__u64 text_start, text_end;
	__u64 schedule_start, schedule_end;
	__u64 wake_page, wake_bit;
	__u32 pool;		/* slots of tnf_pool */
	__u32 fault_ends;	/* the end of a fault is seen */
	__u32 page_shift;	/* bytes of a page, as a power of two */
	__u32 fill;		/* no block is used twice: TNF_EXT_FILL */
	__u32 stored;		/* some thread's context is in its storage (context.bpf.h) */
	__u32 sample_stack;	/* samples may take words of a program's stack */
	__u64 image_end;	/* the kernel's own text and data end */
	__u64 stacks;		/* KP_BIT()s: those whose events have stacks */
	__u64 call_longer;	/* ns; syscall_end is written if a call took longer; 0: always */
	__u64 call_since;	/* ns, CLOCK_MONOTONIC; beginnings of calls before were not all seen */

	__u32 magic;
	__u32 layout;
	__u32 size;		/* of this struct */
	__u32 tracing;		/* master switch */
	__u32 turn;		/* of the filter: counts changes that may let a thread through */
	__u32 notes;		/* filter_fork is attached, so threads that are left out may be noted */
	__u64 enabled;		/* KP_BIT()s */
	__u64 traced;
	__u64 buffer_size;	/* 0: none */
	__u64 refused;		/* programs that the verifier did not take */
	__u64 cookie;
	__u32 import_rate;	/* events a second of an imported probe on a CPU */
	__u32 tag_next;		/* where the next definition goes */
	__u32 pool_taken;	/* slots that have lost their block to definitions */
	__u32 rules;		/* reasons that rules give */
	__u32 filter_except;	/* the set has the processes that are left out */
	__u32 sample_rate;	/* samples a second on a CPU */
	/*
	 * A freeze: nothing is recorded any more, until tracing is switched on anew.  Who
	 * freezes puts the time here if the word is 0, and then clears 'on'; the programs stay
	 * attached until somebody looks.  A program of an imported probe gives its slot + 1 as
	 * the reason, syscall_end gives KP_FROZEN_BY_CALL; from a command, that is 0, and
	 * the reason is text.
	 */
	__u64 frozen;		/* ns, CLOCK_MONOTONIC; 0: no freeze */
	__u64 frozen_by;
	char  frozen_why[KP_FREEZE_TEXT];
	__u64 cpus[KP_CPUS_WORDS]; /* bits of CPUs that record, with KP_FILTER_CPUS */
	struct kp_stacks stack[KP_STACKS_MAX];	/* by enum kp_id */
	__u32 with_stacks;	/* the programs are loaded with the code that takes stacks */
	__u32 call_freezes;	/* the first syscall_end that is written ends the recording */
	__u32 rawio;		/* physio probes hang on system calls in any case */
	struct kp_glue glue[KP_GLUE_MAX];	/* in order; those behind the last: from UINT32_MAX */
	__u32 record_tag[16];	/* by enum kp_record */
	__u32 type[KP_TYPES_MAX]; /* offsets of the definitions, by enum tnf_core */
};

/* Functions of the kernel that programs call.  In a program that is not loaded yet their calls have
   the number of a helper that there is not: libbpf need not know them (types.c). */
#define KP_CALLS(X)			\
	X(bpf_rdonly_cast)		\
	X(bpf_iter_task_vma_new)	\
	X(bpf_iter_task_vma_next)	\
	X(bpf_iter_task_vma_destroy)	\
	X(bpf_preempt_disable)		\
	X(bpf_preempt_enable)

enum kp_call {
#define X(name) KP_CALL_##name,
	KP_CALLS(X)
#undef X
	KP_CALL_COUNT
};

#define KP_CALL_MARK	0x7ca57c00

/* Values of the enum-like members, as the original numbered them. */

enum kp_microstate {
	KP_USER, KP_SYSTEM, KP_TRAP, KP_TFAULT, KP_DFAULT, KP_KFAULT,
	KP_USER_LOCK, KP_SLEEP, KP_WAIT_CPU, KP_STOPPED
};

enum kp_fault_type { KP_F_INVAL, KP_F_PROT };
enum kp_seg_access { KP_S_OTHER, KP_S_READ, KP_S_WRITE, KP_S_EXEC };

enum kp_bioflags {
	KP_B_BUSY = 0x1, KP_B_PAGEIO = 0x10, KP_B_PHYS = 0x20, KP_B_READ = 0x40,
	KP_B_WRITE = 0x100, KP_B_ASYNC = 0x400
};

/* The table that a system call's number is from: this machine's own, or another. */
enum kp_abi { KP_ABI_NATIVE, KP_ABI_32, KP_ABI_X32 };

#endif /* KERNEL_PROBES_RECORD_H */
