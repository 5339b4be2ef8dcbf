/*
 * types.c - opens objects of BPF programs without libbpf's reading the kernel's types.
 *
 * libbpf reads all of them each time that programs are loaded, and goes through them for each type
 * that a program names.  We read them once a session (hooks.c), and hand libbpf a file of those
 * alone that have a name which the object knows.  Hooks and functions of the kernel are told by their
 * numbers: program_prepare() in load.c, and below.
 */
#include <sys/mman.h>

#include <bpf/btf.h>

#include "kernel-probes/handle.h"

struct few {
	const struct btf *all;
	struct btf *few;
	int	*number;	/* in few, by the number in all; 0: not there yet */
};

static int few_add(struct few *, __u32 id);

/* The type's member or element, whose number is at an offset of the type. */
static int
few_follow(struct few *f, int number, size_t at, __u32 id)
{
	int r = few_add(f, id);

	if (r >= 0)
		memcpy((char *)(uintptr_t)btf__type_by_id(f->few, number) + at, &r, sizeof r);
	return r;
}

/* Adds a type with those that its layout needs: pointers lead nowhere.  Returns its number, 0 for void. */
static int
few_add(struct few *f, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(f->all, id);
	int number, r = 0;

	if (id == 0 || f->number[id] != 0)
		return f->number[id];
	if ((number = btf__add_type(f->few, f->all, t)) < 0)
		return number;
	f->number[id] = number;
	if (btf_is_ptr(t))
		r = few_follow(f, number, offsetof(struct btf_type, type), 0);
	else if (btf_is_mod(t) || btf_is_typedef(t))
		r = few_follow(f, number, offsetof(struct btf_type, type), t->type);
	else if (btf_is_array(t) && (r = few_follow(f, number, sizeof *t +
	    offsetof(struct btf_array, type), btf_array(t)->type)) >= 0)
		r = few_follow(f, number, sizeof *t + offsetof(struct btf_array, index_type),
		    btf_array(t)->index_type);
	for (unsigned i = 0; r >= 0 && btf_is_composite(t) && i < btf_vlen(t); i++)
		r = few_follow(f, number, sizeof *t + i * sizeof(struct btf_member) +
		    offsetof(struct btf_member, type), btf_members(t)[i].type);
	return r < 0 ? r : number;
}

/* A type's name; 0: it has none that programs ask for.  What follows ___ tells layouts apart. */
static size_t
name_length(const struct btf *btf, const struct btf_type *t, const char **name)
{
	const char *end;

	if (!btf_is_composite(t) && !btf_is_any_enum(t) && !btf_is_typedef(t))
		return 0;
	*name = btf__name_by_offset(btf, t->name_off);
	end = strstr(*name, "___");
	return end != NULL ? (size_t)(end - *name) : strlen(*name);
}

static int
few_fill(struct few *f, const struct btf *asked)
{
	struct map names = { 0 };
	const char *name;
	size_t n;
	int r = 0;

	for (unsigned id = 1; r >= 0 && id < btf__type_cnt(asked); id++)
		if ((n = name_length(asked, btf__type_by_id(asked, id), &name)) != 0 &&
		    tnf_map_put(&names, name, n, NULL) == NULL)
			r = -ENOMEM;
	for (unsigned id = 1; r >= 0 && id < btf__type_cnt(f->all); id++)
		if ((n = name_length(f->all, btf__type_by_id(f->all, id), &name)) != 0 &&
		    tnf_map_get(&names, name, n) != NULL)
			r = few_add(f, id);
	tnf_map_free(&names);
	return r;
}

static int
few_write(const struct few *f, int fd)
{
	__u32 size;
	const void *raw = btf__raw_data(f->few, &size);
	ssize_t n = raw == NULL ? 0 : write(fd, raw, size);

	return raw == NULL ? -ENOMEM : n == (ssize_t)size ? 0 : n < 0 ? -errno : -ENOSPC;
}

/* Writes the kernel's types that the object asks for. */
static int
types_write(struct kp *kp, const struct btf *asked, int fd)
{
	struct few f = { kp_types(kp), btf__new_empty(), NULL };
	int r = -ENOMEM;

	if (f.all != NULL && f.few != NULL &&
	    (f.number = calloc(btf__type_cnt(f.all), sizeof *f.number)) != NULL &&
	    (r = few_fill(&f, asked)) >= 0)
		r = few_write(&f, fd);
	free(f.number);
	btf__free(f.few);
	return r;
}

/*
 * Puts calls of the kernel's functions in place of their marks.  A weak symbol would not do: Linux
 * before 5.16 refuses a program that names a function which the kernel lacks, even where nothing leads
 * to its call, libbpf 1.1 links no two files that name it, and reads all types for it.
 */
static void
calls_put(const struct kp *kp, struct bpf_insn *insn, size_t n)
{
	unsigned call;

	for (size_t i = 0; i < n; i++) {
		call = (unsigned)insn[i].imm - KP_CALL_MARK;
		if (insn[i].code == (BPF_JMP | BPF_CALL) && insn[i].src_reg == 0 &&
		    call < KP_CALL_COUNT && kp->call[call] != 0) {
			insn[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
			insn[i].imm = kp->call[call];
		}
	}
}

int
kp_skeleton_open(struct kp *kp, struct bpf_object_skeleton *s)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	const void *object = s->data;
	struct bpf_insn *copy;
	char path[64];
	int r;

	kp_close_fd(&kp->types_fd);
	if ((kp->types_fd = memfd_create("tnf_types", MFD_CLOEXEC)) == -1)
		return -errno;
	snprintf(path, sizeof path, "/proc/self/fd/%d", kp->types_fd);
	opts.btf_custom_path = path;
	if ((copy = malloc(s->data_sz)) == NULL)
		return -ENOMEM;
	memcpy(copy, object, s->data_sz);
	calls_put(kp, copy, s->data_sz / sizeof *copy);
	s->data = copy;
	r = bpf_object__open_skeleton(s, &opts);
	s->data = object;
	free(copy);
	return r != 0 ? r : types_write(kp, bpf_object__btf(*s->obj), kp->types_fd);
}
