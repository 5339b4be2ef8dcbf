/*
 * call.bpf.c - what a system call is about: its arguments, path or descriptor.
 *
 * The programs hang on the tracepoint raw_syscalls:sys_enter, whose record has the
 * number and six arguments.  Numbers are those of x86-64; calls of other tables are
 * passed over, and those of other machines have neither path nor descriptor.
 */
#include "kernel-probes/import.bpf.h"

#define CALLS		512
#define NO_ARGUMENT	0	/* else one more than its index */

struct path {
	struct dentry *dentry;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct file___path {
	struct path f_path;
} __attribute__((preserve_access_index));

/* Which argument is a path. */
static const u8 path_at[CALLS] = {
#ifdef __TARGET_ARCH_x86
	[2] = 1, [4] = 1, [6] = 1, [21] = 1, [59] = 1, [76] = 1, [80] = 1, [82] = 1,
	[83] = 1, [84] = 1, [85] = 1, [86] = 1, [87] = 1, [88] = 1, [89] = 1, [90] = 1,
	[92] = 1, [94] = 1, [132] = 1, [133] = 1, [137] = 1, [155] = 1, [161] = 1,
	[163] = 1, [165] = 2, [166] = 1, [167] = 1, [168] = 1, [179] = 2, [188] = 1,
	[189] = 1, [191] = 1, [192] = 1, [194] = 1, [195] = 1, [197] = 1, [198] = 1,
	[235] = 1, [254] = 2, [257] = 2, [258] = 2, [259] = 2, [260] = 2, [261] = 2,
	[262] = 2, [263] = 2, [264] = 2, [265] = 2, [266] = 1, [267] = 2, [268] = 2,
	[269] = 2, [280] = 2, [301] = 5, [303] = 2, [316] = 2, [322] = 2, [332] = 2,
	[428] = 2, [433] = 2, [437] = 2, [439] = 2, [442] = 2, [452] = 2,
#endif
};

/* Which argument is the descriptor that it works on. */
static const u8 fd_at[CALLS] = {
#ifdef __TARGET_ARCH_x86
	[0] = 1, [1] = 1, [3] = 1, [5] = 1, [8] = 1, [9] = 5, [16] = 1, [17] = 1,
	[18] = 1, [19] = 1, [20] = 1, [32] = 1, [33] = 1, [40] = 1, [42] = 1, [43] = 1,
	[44] = 1, [45] = 1, [46] = 1, [47] = 1, [48] = 1, [49] = 1, [50] = 1, [51] = 1,
	[52] = 1, [54] = 1, [55] = 1, [72] = 1, [73] = 1, [74] = 1, [75] = 1, [77] = 1,
	[78] = 1, [81] = 1, [91] = 1, [93] = 1, [138] = 1, [187] = 1, [190] = 1,
	[193] = 1, [196] = 1, [199] = 1, [217] = 1, [221] = 1, [232] = 1, [233] = 1,
	[275] = 1, [276] = 1, [277] = 1, [278] = 1, [281] = 1, [285] = 1, [286] = 1,
	[287] = 1, [288] = 1, [292] = 1, [295] = 1, [296] = 1, [299] = 1, [306] = 1,
	[307] = 1, [326] = 1, [327] = 1, [328] = 1,
#endif
};

struct call_scratch {
	u64 ctx;
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

/* The scratch memory with its number filled in; NULL: it is not for us. */
static __always_inline struct call_scratch *call_begin(void *ctx, struct call_entry *c)
{
	u32 zero = 0;
	struct call_scratch *s = bpf_map_lookup_elem(&call_scratch, &zero);

	if (s == NULL)
		return NULL;
	*(volatile u64 *)&s->ctx = (u64)ctx;
	if (bpf_probe_read_kernel(c, sizeof *c, (void *)s->ctx) != 0 ||
	    c->number >= CALLS || call_abi(bpf_get_current_task_btf(), c->number) != KP_ABI_NATIVE)
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
	struct kp_import_row *row = import_on(bpf_get_attach_cookie(ctx));
	struct call_scratch *s;
	struct call_entry c;

	if (row == NULL || (s = call_begin(ctx, &c)) == NULL)
		return 1;
	for (int i = 0; i < 6; i++)
		*(u64 *)(s->image + 16 + 8 * i) = c.argument[i];
	import_write(row, s->image, 64);
	return 1;
}

SEC("tp")
int import_call_path(void *ctx)
{
	struct kp_import_row *row = import_on(bpf_get_attach_cookie(ctx));
	struct call_scratch *s;
	u32 at = 16, where;
	struct call_entry c;

	if (row == NULL || (s = call_begin(ctx, &c)) == NULL)
		return 1;
	where = path_at[c.number & (CALLS - 1)];
	if (where == NO_ARGUMENT)
		return 1;
	import_string(s->image, &at, 12, argument_of(&c, where), KP_TEXT_MAX + 1, true);
	import_write(row, s->image, at);
	return 1;
}

static __always_inline struct file *file_of(s32 fd)
{
	struct fdtable *t = BPF_CORE_READ(bpf_get_current_task_btf(), files, fdt);
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
	struct kp_import_row *row = import_on(bpf_get_attach_cookie(ctx));
	struct call_scratch *s;
	u32 at = 40, where;
	struct file *file;
	struct inode *inode;
	struct call_entry c;

	if (row == NULL || (s = call_begin(ctx, &c)) == NULL)
		return 1;
	where = fd_at[c.number & (CALLS - 1)];
	if (where == NO_ARGUMENT)
		return 1;
	*(s32 *)(s->image + 12) = argument_of(&c, where);
	file = file_of(argument_of(&c, where));
	inode = file == NULL ? NULL : BPF_CORE_READ(file, f_inode);
	*(u64 *)(s->image + 16) = inode == NULL ? 0 : BPF_CORE_READ(inode, i_sb, s_dev);
	*(u64 *)(s->image + 24) = inode == NULL ? 0 : BPF_CORE_READ(inode, i_ino);
	*(u64 *)(s->image + 32) = 0;
	if (file != NULL)
		import_string(s->image, &at, 32, (u64)BPF_CORE_READ((struct file___path *)file,
		    f_path.dentry, d_name.name), KP_TEXT_MAX + 1, false);
	import_write(row, s->image, at);
	return 1;
}
