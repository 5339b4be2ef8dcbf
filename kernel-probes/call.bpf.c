/*
 * call.bpf.c - what a system call is about: its arguments, with the paths, files, socket addresses
 * and sizes that they refer to.
 *
 * The programs hang on the tracepoint raw_syscalls:sys_enter, whose record has the
 * number and six arguments.  common/syscall-table.h tells of which kind each is.  Numbers of
 * syscall_path and syscall_fd are those of the machine's own table.
 */
#include "common/call-kinds.h"
#include "kernel-probes/import.bpf.h"
#include "kernel-probes/path.bpf.h"

#define CALLS	512	/* rows of a table, a power of two */
#define NONE	(-1)	/* calls that a machine does not have go to row 0 */

#define ROW(a, b, c, d, e, f)						\
	((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40)

#pragma clang diagnostic ignored "-Winitializer-overrides"

/* The kinds of a call's arguments, a byte each, by number + 1. */
static const u64 kinds_native[CALLS] = {
#if defined(__TARGET_ARCH_x86)
#define CALL(name, n64, n32, nx32, arm, ...) [(n64) + 1] = CALL_EACH(ROW, ##__VA_ARGS__),
#elif defined(__TARGET_ARCH_arm64)
#define CALL(name, n64, n32, nx32, arm, ...) [(arm) + 1] = CALL_EACH(ROW, ##__VA_ARGS__),
#else
#error "which numbers have system calls on this machine?"
#endif
#include "common/syscall-table.h"
#undef CALL
};

#if defined(__TARGET_ARCH_x86)
static const u64 kinds_32[CALLS] = {
#define CALL(name, n64, n32, nx32, arm, ...) [(n32) + 1] = CALL_EACH(ROW, ##__VA_ARGS__),
#include "common/syscall-table.h"
#undef CALL
};
#endif

#define FAMILY_UNIX	1
#define FAMILY_IPV4	2
#define FAMILY_IPV6	10
#define S_FORMAT	0170000
#define S_SOCKET	0140000
#define PIPEFS_MAGIC	0x50495045
#define ANON_MAGIC	0x09041934

struct call_scratch {
	u8  image[KP_IMAGE_MAX + 2 * KP_TEXT_MAX];
	u64 file;		/* struct file */
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
	u64 argument[CALL_ARGUMENTS];
};

static __always_inline struct call_scratch *scratch(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&call_scratch, &zero);
}

/* (A member of ours must not be in an expression of BPF_CORE_READ().) */
static __always_inline struct file *file_at(const struct call_scratch *s)
{
	u64 file = s->file;

	barrier_var(file);
	return (struct file *)file;
}

static __always_inline u64 kinds_of(u64 number, u32 abi)
{
	u64 row = number + 1;

	if (row >= CALLS)
		return 0;
	/* Clang would leave out the masks, and 5.15 forgets bounds of what is on the stack. */
	barrier_var(row);
#if defined(__TARGET_ARCH_x86)
	if (abi == KP_ABI_32)
		return kinds_32[row & (CALLS - 1)];
#endif
	return abi == KP_ABI_NATIVE ? kinds_native[row & (CALLS - 1)] : 0;
}

/* The scratch memory; NULL: the call is not recorded. */
static __always_inline struct call_scratch *call_begin(void *ctx, const struct import_hit *h,
    struct call_entry *c, u32 *abi)
{
	const struct call_entry *from = ctx;

	c->number = from->number;
#pragma unroll
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		c->argument[i] = from->argument[i];
	*abi = call_abi(h->task, c->number);
	if (*abi == KP_ABI_X32)
		c->number &= ~0x40000000ull;
	return c->number >= CALLS ? NULL : scratch();
}

/* The bytes before the texts: the members, and the references to stacks behind them. */
static __always_inline u32 fixed_size(const struct import_hit *h)
{
	return h->row->size & (KP_FIXED_MAX - 8);
}

/* The index of the first argument of this kind; CALL_ARGUMENTS: there is none. */
static __always_inline u32 first_of(u64 kinds, u32 kind)
{
	u32 i;

	for (i = 0; i < CALL_ARGUMENTS; i++)
		if ((kinds >> 8 * i & 0xff) == kind)
			break;
	return i;
}

static __always_inline u64 argument_of(const struct call_entry *c, u32 at)
{
	switch (at) {
	case 0:
		return c->argument[0];
	case 1:
		return c->argument[1];
	case 4:
		return c->argument[4];
	}
	return 0;
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

/* Returns the place where the text of a record at 'at' begins, with room for KP_TEXT_MAX bytes. */
static __always_inline u8 *text_at(struct call_scratch *s, u32 at)
{
	return s->image + (at & (KP_IMAGE_MAX - 1) & ~7u) + 8;
}

/* Ends a text of n bytes, NUL included, that is in its place: returns the new free part. */
static __always_inline u32 text_end(struct call_scratch *s, u32 at, u32 to, long n)
{
	if (n <= 0 || n > KP_TEXT_MAX) {
		import_null(s->image, to);
		return at;
	}
	import_append(s->image, &at, to, n, state.record_tag[KP_R_STRING]);
	return at;
}

/* A text by bpf_snprintf(), at 'at' in the image. */
#define PRINT(s, at, to, format, ...) ({				\
	static const char print_format[] = format;			\
	u64 print_args[] = { __VA_ARGS__ };				\
	text_end(s, at, to, bpf_snprintf((char *)text_at(s, at), KP_TEXT_MAX,	\
	    print_format, print_args, sizeof print_args));		\
})

/* A descriptor that is a socket, as both addresses. */
__noinline u64 call_socket(u32 at, u32 to)
{
	struct call_scratch *s = scratch();
	struct socket *socket;
	struct file *file;
	struct sock *sk;
	u16 family;

	if (s == NULL || !import_room(at))
		return at;
	file = file_at(s);
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u64 type = BPF_CORE_READ(sk, sk_type) == 1 ? (u64)"TCP" : (u64)"UDP";
	u64 local = BPF_CORE_READ(sk, __sk_common.skc_num);
	u64 remote = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));

	if (family == FAMILY_IPV4)
		return PRINT(s, at, to, "%s:[%pI4:%u->%pI4:%u]", type,
		    (u64)&sk->__sk_common.skc_rcv_saddr, local,
		    (u64)&sk->__sk_common.skc_daddr, remote);
	if (family == FAMILY_IPV6)
		return PRINT(s, at, to, "%s:[[%pI6]:%u->[%pI6]:%u]", type,
		    (u64)&sk->__sk_common.skc_v6_rcv_saddr, local,
		    (u64)&sk->__sk_common.skc_v6_daddr, remote);
	return PRINT(s, at, to, "socket:[%lu]", BPF_CORE_READ(file, f_inode, i_ino));
}

/* The path of a file. */
__noinline u64 call_path_of(u32 at, u32 to)
{
	u32 zero = 0;
	struct walk *w = bpf_map_lookup_elem(&tnf_walk, &zero);
	struct call_scratch *s = scratch();

	if (s == NULL || w == NULL)
		return at;
	put_path(w, file_at(s));
	import_string(s->image, &at, to, (u64)&w->text[w->at & (ROOM - 1)], KP_TEXT_MAX + 1, false);
	return at;
}

/* Writes what a descriptor refers to: a path, a socket's addresses, a pipe, or an anonymous
   file. */
__noinline u64 call_fd(u32 fd, u32 at, u32 to)
{
	struct call_scratch *s = scratch();
	struct inode *inode;
	struct file *file;
	u64 magic;

	if (s == NULL || !import_room(at))
		return at;
	file = file_of(bpf_get_current_task_btf(), fd);
	if (file == NULL) {
		import_null(s->image, to);
		return at;
	}
	s->file = (u64)file;
	inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & S_FORMAT) == S_SOCKET)
		return call_socket(at, to);
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	if (magic == PIPEFS_MAGIC)
		return PRINT(s, at, to, "pipe:[%lu]", BPF_CORE_READ(inode, i_ino));
	if (magic == ANON_MAGIC)
		return PRINT(s, at, to, "anon_inode:%s",
		    (u64)BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return call_path_of(at, to);
}

/* A socket address of the program. */
__noinline u64 call_address(u64 from, u32 at, u32 to)
{
	struct call_scratch *s = scratch();
	struct {
		u16 family, port;
		u32 v4;
		u8 v6[16];
	} a = { 0 };
	u64 port;

	if (s == NULL || !import_room(at))
		return at;
	if (bpf_probe_read_user(&a, 8, (void *)from) != 0) {
		import_null(s->image, to);
		return at;
	}
	port = __builtin_bswap16(a.port);
	if (a.family == FAMILY_IPV4)
		return PRINT(s, at, to, "{AF_INET, %pI4:%u}", (u64)&a.v4, port);
	if (a.family == FAMILY_IPV6) {
		bpf_probe_read_user(a.v6, 16, (void *)(from + 8));
		return PRINT(s, at, to, "{AF_INET6, [%pI6]:%u}", (u64)a.v6, port);
	}
	if (a.family == FAMILY_UNIX && (port >> 8) == 0)
		return PRINT(s, at, to, "{AF_UNIX, @\"%pus\"}", from + 3);
	if (a.family == FAMILY_UNIX)
		return PRINT(s, at, to, "{AF_UNIX, \"%pus\"}", from + 2);
	return PRINT(s, at, to, "{family %u}", a.family);
}

#define BUFFERS_MAX	4	/* whose sizes are told */

/* The sizes of a program's buffers. */
__noinline u64 call_buffers(u64 from, u64 count, u32 at, u32 to)
{
	struct call_scratch *s = scratch();
	struct {
		u64 base, size;
	} v[BUFFERS_MAX] = { 0 };
	u32 size = (count < BUFFERS_MAX ? count : BUFFERS_MAX) * sizeof v[0];

	if (s == NULL || !import_room(at))
		return at;
	barrier_var(size);
	if (size > sizeof v)
		size = sizeof v;	/* for the verifier */
	if (count == 0 || bpf_probe_read_user(v, size, (void *)from) != 0) {
		import_null(s->image, to);
		return at;
	}
	if (count == 1)
		return PRINT(s, at, to, "[{iov_len=%lu}]", v[0].size);
	if (count == 2)
		return PRINT(s, at, to, "[{iov_len=%lu}, {iov_len=%lu}]", v[0].size, v[1].size);
	if (count == 3)
		return PRINT(s, at, to, "[{iov_len=%lu}, {iov_len=%lu}, {iov_len=%lu}]",
		    v[0].size, v[1].size, v[2].size);
	if (count == 4)
		return PRINT(s, at, to, "[{iov_len=%lu}, {iov_len=%lu}, {iov_len=%lu}, {iov_len=%lu}]",
		    v[0].size, v[1].size, v[2].size, v[3].size);
	return PRINT(s, at, to, "[{iov_len=%lu}, {iov_len=%lu}, {iov_len=%lu}, {iov_len=%lu}, ...]",
	    v[0].size, v[1].size, v[2].size, v[3].size);
}

/* struct msghdr of the program: the buffers. */
static __always_inline u64 call_message(u64 from, u32 at, u32 to)
{
	struct {
		u64 name, name_size, buffers, count;
	} m = { 0 };

	bpf_probe_read_user(&m, sizeof m, (void *)from);
	return call_buffers(m.buffers, m.count, at, to);
}

__noinline u64 call_time(u64 from, u32 at, u32 to)
{
	struct call_scratch *s = scratch();
	u64 t[2] = { 0 };

	if (s == NULL || !import_room(at))
		return at;
	if (bpf_probe_read_user(t, sizeof t, (void *)from) != 0) {
		import_null(s->image, to);
		return at;
	}
	return PRINT(s, at, to, "{tv_sec=%lld, tv_nsec=%lld}", t[0], t[1]);
}

/* Writes the text of an argument; returns where the free part of the image begins then. */
__noinline u64 call_text(u32 kind, u64 value, u64 next, u32 at, u32 to)
{
	struct call_scratch *s = scratch();

	if (s == NULL)
		return at;
	switch (kind) {
	case CALL_FD:
	case CALL_DFD:
		return call_fd(value, at, to);
	case CALL_PATH:
	case CALL_TEXT:
		import_string(s->image, &at, to, value, KP_TEXT_MAX + 1, true);
		return at;
	case CALL_ADDRESS:
		return call_address(value, at, to);
	case CALL_IOVEC:
		return call_buffers(value, next, at, to);
	case CALL_MESSAGE:
		return call_message(value, at, to);
	case CALL_TIME:
		return call_time(value, at, to);
	}
	return at;
}

#define ARGUMENTS_AT	16u	/* behind the event's head, sysnum and abi */
#define TEXTS_AT	(ARGUMENTS_AT + 8 * CALL_ARGUMENTS)

/* Structures in the memory of 32-bit programs are others: only their texts are read. */
static __always_inline bool is_recorded(u32 kind, u32 abi)
{
	return kind != CALL_END && kind <= CALL_RECORDED &&
	    (abi == KP_ABI_NATIVE || kind <= CALL_ADDRESS);
}

SEC("tp")
int import_call_args(void *ctx)
{
	struct call_scratch *s;
	u32 at, abi, kind;
	struct import_hit h;
	struct call_entry c;
	u64 kinds;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) ||
	    (s = call_begin(ctx, &h, &c, &abi)) == NULL)
		return 1;
	*(u32 *)(s->image + 8) = c.number;
	*(u32 *)(s->image + 12) = abi;
	kinds = kinds_of(c.number, abi);
	at = fixed_size(&h);
#pragma unroll
	for (u32 i = 0; i < CALL_ARGUMENTS; i++) {
		*(u64 *)(s->image + ARGUMENTS_AT + 8 * i) = c.argument[i];
		*(u32 *)(s->image + TEXTS_AT + 4 * i) = 0;
		kind = kinds >> 8 * i & 0xff;
		if (is_recorded(kind, abi))
			at = call_text(kind, c.argument[i], i < 5 ? c.argument[i + 1] : 0, at,
			    TEXTS_AT + 4 * i);
	}
	import_write(&h, s->image, at);
	return 1;
}

SEC("tp")
int import_call_path(void *ctx)
{
	struct call_scratch *s;
	u32 at, where, abi;
	struct import_hit h;
	struct call_entry c;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) ||
	    (s = call_begin(ctx, &h, &c, &abi)) == NULL || abi != KP_ABI_NATIVE)
		return 1;
	where = first_of(kinds_of(c.number, abi), CALL_PATH);
	if (where == CALL_ARGUMENTS)
		return 1;
	*(u64 *)(s->image + 8) = c.number;
	at = fixed_size(&h);
	import_string(s->image, &at, 12, argument_of(&c, where), KP_TEXT_MAX + 1, true);
	import_write(&h, s->image, at);
	return 1;
}

SEC("tp")
int import_call_fd(void *ctx)
{
	struct call_scratch *s;
	u32 at, where, abi;
	struct file *file;
	struct inode *inode;
	struct import_hit h;
	struct call_entry c;

	if (!import_on(&h, ctx, bpf_get_attach_cookie(ctx)) ||
	    (s = call_begin(ctx, &h, &c, &abi)) == NULL || abi != KP_ABI_NATIVE)
		return 1;
	where = first_of(kinds_of(c.number, abi), CALL_FD);
	if (where == CALL_ARGUMENTS)
		return 1;
	*(u64 *)(s->image + 8) = c.number;
	at = fixed_size(&h);
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
