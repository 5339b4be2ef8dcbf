/*
 * ended.bpf.c - remembers the processes and names of threads in the trace.
 *
 * Threads that live when the buffer is read are in /proc.  The others have ended while
 * tracing was on, or lived when it was switched off.  Any of them may have had another
 * name before: a process that is started is its parent's copy first.  The names are kept
 * outside of the buffer, which busy probes overwrite.
 */
#include "kernel-probes/context.bpf.h"
#include "kernel-probes/program.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_ended);
} tnf_ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct kp_renamed);
	__type(value, struct kp_former);
} tnf_renamed SEC(".maps");

/* exec() or PR_SET_NAME renames a task, which still has its old name here. */
SEC("tnf/task_rename")
int BPF_PROG(remember_name, struct task_struct *p)
{
	struct kp_renamed key = { .time = bpf_ktime_get_ns(), .tid = p->pid };
	struct kp_former former = {};

	BPF_CORE_READ_STR_INTO(&former.comm, p, comm);
	bpf_map_update_elem(&tnf_renamed, &key, &former, BPF_ANY);
	return 0;
}

static __always_inline int remember(struct task_struct *p)
{
	struct kp_ended e = { 0 };
	u32 tid = p->pid;

	e.pid = p->tgid;
	e.ppid = BPF_CORE_READ(p, real_parent, tgid);
	BPF_CORE_READ_STR_INTO(&e.comm, p, comm);
	bpf_map_update_elem(&tnf_ended, &tid, &e, BPF_ANY);
	return 0;
}

/* Gives a thread's slot (context.bpf.h) back. */
static __always_inline void slot_leave(struct task_struct *p)
{
	struct slot *s = slot_of(p);

	if (s != NULL && slot_is_of(s, p))
		write_once(s->task, SLOT_EMPTY);
}

SEC("tnf/sched_process_exit")
int BPF_PROG(remember_exit, struct task_struct *p)
{
	slot_leave(p);
	return remember(p);
}

SEC("tnf/task_newtask")
int BPF_PROG(remember_fork, struct task_struct *p)
{
	return p->pid == p->tgid ? program_note(p, bpf_ktime_get_ns()) : 0;
}

/* A thread that is not the leader gets the leader's number when it becomes another
   program, and with it the time when the leader started: it will not find its slot again. */
SEC("tnf/sched_process_exec")
int BPF_PROG(remember_exec, struct task_struct *p, int before)
{
	u32 n = before & (SLOTS - 1);
	struct slot *s = bpf_map_lookup_elem(&tnf_slots, &n);

	if (before != p->pid && s != NULL && s->task == (u64)p)
		write_once(s->task, SLOT_EMPTY);
	return program_note(p, bpf_ktime_get_ns());
}

/*
 * The files that a process has mapped as code: by them, readers turn addresses of its stacks into
 * functions.  Those of a process that lives are in /proc when the buffer is read.  The two programs
 * are attached while events have such addresses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct kp_object_key);
	__type(value, struct kp_object);
} tnf_objects SEC(".maps");

/* Also counts the elements of the process: a number that the verifier does not follow from turn to
   turn of a loop.  (__noinline: see README.) */
__noinline int object_put(u64 file, struct kp_object_key *key, struct kp_object *o)
{
	struct file *f = (void *)file;
	struct inode *inode;

	if (f == NULL || key == NULL || o == NULL)
		return 0;
	inode = BPF_CORE_READ(f, f_inode);
	o->inode = BPF_CORE_READ(inode, i_ino);
	o->device = BPF_CORE_READ(inode, i_sb, s_dev);
	o->path = path_number(f);
	/* From the stack: before 6.2 an update takes no memory of a global function's argument. */
	struct kp_object_key k = *key;
	struct kp_object v = *o;
	bpf_map_update_elem(&tnf_objects, &k, &v, BPF_ANY);
	key->n++;
	return 0;
}

/* At least the program itself is known, also where the next program finds nothing. */
SEC("tnf/sched_process_exec")
int BPF_PROG(object_exec, struct task_struct *p)
{
	struct kp_object_key key = { .pid = p->tgid };
	struct mm_struct *mm = p->mm;
	struct kp_object o = { .time = bpf_ktime_get_ns(), .offset = KP_OBJECT_MAIN };

	if (mm == NULL || !passes(p))
		return 0;
	o.start = mm->start_code;
	o.end = mm->end_code;
	return object_put((u64)BPF_CORE_READ(mm, exe_file), &key, &o);
}

#define VM_EXEC	4

KERNEL_CALL(int, bpf_iter_task_vma_new, struct bpf_iter_task_vma *, struct task_struct *, u64);
KERNEL_CALL(struct vm_area_struct *, bpf_iter_task_vma_next, struct bpf_iter_task_vma *);
KERNEL_CALL(void, bpf_iter_task_vma_destroy, struct bpf_iter_task_vma *);

/* The last thread of a process exits.  The process still has its memory here since "exit: move and
   extend sched_process_exit() tracepoint" (6.16). */
SEC("tnf/sched_process_exit")
int BPF_PROG(object_exit, struct task_struct *p)
{
	struct kp_object_key key = { .pid = p->tgid };
	struct kp_object o = { .time = bpf_ktime_get_ns() };
	struct bpf_iter_task_vma it;
	struct vm_area_struct *v;
	u64 file;

	if (p->mm == NULL || p->signal->live.counter != 0 || !passes(p))
		return 0;
	call_bpf_iter_task_vma_new(&it, p, 0);
	while ((v = call_bpf_iter_task_vma_next(&it)) != NULL && key.n < KP_OBJECTS_MAX) {
		if (!(v->vm_flags & VM_EXEC) || (file = (u64)BPF_CORE_READ(v, vm_file)) == 0)
			continue;
		o.start = v->vm_start;
		o.end = v->vm_end;
		o.offset = (u64)v->vm_pgoff << state.page_shift;
		object_put(file, &key, &o);
	}
	call_bpf_iter_task_vma_destroy(&it);
	return 0;
}

static long
empty_slot(struct bpf_map *map, u32 *n, struct slot *s, void *unused)
{
	write_once(s->task, SLOT_EMPTY);
	return 0;
}

/* Runs when the first of these hooks is attached: no program has seen which of the slots'
   owners have exited meanwhile, nor which programs run.  A process that execs just then keeps
   the time at which it began. */
SEC("tnf/task")
int begin_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (ctx->meta->seq_num == 0)
		bpf_for_each_map_elem(&tnf_slots, empty_slot, NULL, 0);
	return t != NULL && t->pid == t->tgid ? program_note(t, t->start_time) : 0;
}

SEC("tnf/task")
int remember_living(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t != NULL ? remember(t) : 0;
}
