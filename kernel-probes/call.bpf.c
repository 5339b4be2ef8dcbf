/*
 * call.bpf.c - what a system call is about: its arguments, path or descriptor.
 *
 * The programs hang on the tracepoint raw_syscalls:sys_enter, whose record has the
 * number and six arguments.  Numbers are those of the machine's own table; calls of
 * its table for 32-bit programs are passed over.
 */
#include "kernel-probes/import.bpf.h"
#include "kernel-probes/arch/calls.bpf.h"

#define NO_ARGUMENT	0	/* else one more than its index */

struct call_scratch {
	u8  image[KP_IMAGE_MAX + 2 * KP_TEXT_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_scratch);
} call_scratch SEC(".maps");

struct call_entry {
	u64 regs;
	u64 number;
	u64 argument[6];
};

/* The scratch memory with the call's number filled in; NULL: the call is not recorded. */
static __always_inline struct call_scratch *call_begin(void *ctx, const struct import_hit *h,
    struct call_entry *c)
{
	const struct call_entry *from = ctx;
	u32 zero = 0;
	struct call_scratch *s = bpf_map_lookup_elem(&call_scratch, &zero);

	c->number = from->number;
#pragma unroll
	for (int i = 0; i < 6; i++)
		c->argument[i] = from->argument[i];
	if (s == NULL || c->number >= CALLS || call_abi(h->task, c->number) != KP_ABI_NATIVE)
		return NULL;
	*(u64 *)(s->image + 8) = c->number;
	return s;
}

static __always_inline u64 argument_of(const struct call_entry *c, u32 at)
{
	switch (at) {
	case 1:
		return c->argument[0];
	case 2:
		return c->argument[1];
	case 5:
		return c->argument[4];
	}
	return 0;
}

SEC("tp")
int import_call_args(void *ctx)
{
	struct call_scratch *s;
	struct import_hit h;
	struct call_entry c;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) || (s = call_begin(ctx, &h, &c)) == NULL)
		return 1;
	for (int i = 0; i < 6; i++)
		*(u64 *)(s->image + 16 + 8 * i) = c.argument[i];
	import_write(&h, s->image, 64);
	return 1;
}

SEC("tp")
int import_call_path(void *ctx)
{
	struct call_scratch *s;
	u32 at = 16, where;
	struct import_hit h;
	struct call_entry c;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) || (s = call_begin(ctx, &h, &c)) == NULL)
		return 1;
	where = path_at[c.number & (CALLS - 1)];
	if (where == NO_ARGUMENT)
		return 1;
	import_string(s->image, &at, 12, argument_of(&c, where), KP_TEXT_MAX + 1, true);
	import_write(&h, s->image, at);
	return 1;
}

static __always_inline struct file *file_of(struct task_struct *task, s32 fd)
{
	struct fdtable *t = BPF_CORE_READ(task, files, fdt);
	struct file **slot, *file = NULL;

	if (t == NULL || fd < 0 || (u32)fd >= BPF_CORE_READ(t, max_fds))
		return NULL;
	slot = BPF_CORE_READ(t, fd) + fd;
	bpf_probe_read_kernel(&file, sizeof file, slot);
	return file;
}

SEC("tp")
int import_call_fd(void *ctx)
{
	struct call_scratch *s;
	u32 at = 40, where;
	struct file *file;
	struct inode *inode;
	struct import_hit h;
	struct call_entry c;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) || (s = call_begin(ctx, &h, &c)) == NULL)
		return 1;
	where = fd_at[c.number & (CALLS - 1)];
	if (where == NO_ARGUMENT)
		return 1;
	*(s32 *)(s->image + 12) = argument_of(&c, where);
	file = file_of(h.task, argument_of(&c, where));
	inode = file == NULL ? NULL : BPF_CORE_READ(file, f_inode);
	*(u64 *)(s->image + 16) = inode == NULL ? 0 : BPF_CORE_READ(inode, i_sb, s_dev);
	*(u64 *)(s->image + 24) = inode == NULL ? 0 : BPF_CORE_READ(inode, i_ino);
	*(u64 *)(s->image + 32) = 0;
	if (file != NULL)
		import_string(s->image, &at, 32, (u64)BPF_CORE_READ(file,
		    f_path.dentry, d_name.name), KP_TEXT_MAX + 1, false);
	import_write(&h, s->image, at);
	return 1;
}
