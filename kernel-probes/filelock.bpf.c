/*
 * filelock.bpf.c - who has the lock of a file that a thread did not get.
 *
 * Programs such as SQLite do not wait for the lock: they sleep for a while and try again.  So
 * lock_owner tells of a lock that is refused, too.
 */
#include "kernel-probes/write.bpf.h"

#define EAGAIN		11
#define DEFERRED	1	/* FILE_LOCK_DEFERRED: the thread goes to sleep for the lock */
#define LOCKS_MAX	16	/* of a file, that are looked at */
#define READS		0	/* F_RDLCK */

/* The members that all locks have are in a struct of their own since 6.9 ("filelock: split common
   fields into struct file_lock_core"). */
struct file_lock___whole {
	struct list_head fl_list;
	unsigned char fl_type;
	unsigned int fl_pid;
	s64 fl_start, fl_end;
} __attribute__((preserve_access_index));

struct held {
	s64 start, end;
	u32 pid;
	u32 type;
};

static __always_inline bool is_split(void)
{
	return bpf_core_field_exists(((struct file_lock *)0)->c);
}

static __always_inline struct held lock_read(struct file_lock *l)
{
	struct file_lock___whole *w = (void *)l;

	return is_split() ? (struct held){ BPF_CORE_READ(l, fl_start), BPF_CORE_READ(l, fl_end),
	    BPF_CORE_READ(l, c.flc_pid), BPF_CORE_READ(l, c.flc_type) } :
	    (struct held){ BPF_CORE_READ(w, fl_start), BPF_CORE_READ(w, fl_end),
	    BPF_CORE_READ(w, fl_pid), BPF_CORE_READ(w, fl_type) };
}

struct search {
	struct held want;
	u64 at, list;		/* an entry of the list, and its head */
	u32 holder;		/* the process that was found, or 0 */
	u32 pad;
};

/* A process that refuses itself, by another open file, is not told. */
static long look_at_lock(u32 n, struct search *s)
{
	u64 at = s->at;
	struct held h;

	if (at == 0 || at == s->list)
		return 1;
	h = lock_read((struct file_lock *)(at - (is_split() ?
	    bpf_core_field_offset(struct file_lock, c.flc_list) :
	    bpf_core_field_offset(struct file_lock___whole, fl_list))));
	s->at = (u64)BPF_CORE_READ((struct list_head *)at, next);
	if (h.pid == s->want.pid || (s32)h.pid <= 0 || h.start > s->want.end || s->want.start > h.end ||
	    (h.type == READS && s->want.type == READS))
		return 0;
	s->holder = h.pid;
	return 1;
}

/* The number of the process that has a lock in this list which excludes the wanted one, or 0. */
static __always_inline u32 lock_holder(u64 list, u64 wanted)
{
	struct search s = { .list = list };

	s.want = lock_read((struct file_lock *)wanted);
	s.at = (u64)BPF_CORE_READ((struct list_head *)list, next);
	repeat(LOCKS_MAX, look_at_lock, &s);
	return s.holder;
}

/* (__noinline: see README.) */
__noinline int holder_tell(u64 inode, u64 list, u64 wanted)
{
	u32 holder = lock_holder(list, wanted);
	struct kp_lock_owner *e;
	struct hit hit;

	if (holder == 0 || (e = EVENT(NULL, &hit, LOCK_OWNER, kp_lock_owner)) == NULL)
		return 0;
	e->reason = inode;
	e->owner = holder;
	e->pad = 0;
	event_end(&hit);
	return 0;
}

static __always_inline int refused(void *ctx, struct inode *inode, int ret, u32 list)
{
	u64 locks;

	if ((ret != -EAGAIN && ret != DEFERRED) || inode == NULL || !is_on(KP_BIT(KP_LOCK_OWNER)))
		return 0;
	locks = (u64)BPF_CORE_READ(inode, i_flctx);
	return locks == 0 ? 0 : holder_tell(hook_argument(ctx, 0), locks + list, hook_argument(ctx, 1));
}

SEC("tnf/posix_lock_inode")
int BPF_PROG(lock_refused, struct inode *inode, struct file_lock *l, int ret)
{
	return refused(ctx, inode, ret, bpf_core_field_offset(struct file_lock_context, flc_posix));
}

SEC("tnf/flock_lock_inode")
int BPF_PROG(flock_refused, struct inode *inode, struct file_lock *l, int ret)
{
	return refused(ctx, inode, ret, bpf_core_field_offset(struct file_lock_context, flc_flock));
}
