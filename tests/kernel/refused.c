/*
 * refused.c - a program that the verifier does not take is left out, and known:
 * the others are loaded, whatever libbpf says about it, or does not.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "kernel-probes/handle.h"
#include "kernel.skel.h"

/* Its first instruction, which takes an argument, reads what nobody has set. */
static void
spoil(struct bpf_program *p)
{
	struct bpf_insn *first = (struct bpf_insn *)(uintptr_t)bpf_program__insns(p);

	*first = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
	    .dst_reg = BPF_REG_0, .src_reg = BPF_REG_5 };
}

static int
spoilt_open(struct kp *kp, struct bpf_object_skeleton *s)
{
	int r = kp_skeleton_open(kp, s);

	for (int i = 0; r == 0 && i < s->prog_cnt; i++)
		if (strcmp(s->progs[i].name, "lock_wait") == 0 || strcmp(s->progs[i].name, "migrate") == 0)
			spoil(*s->progs[i].prog);
	return r;
}

static libbpf_print_fn_t
nobody_listens(libbpf_print_fn_t fn)
{
	static libbpf_print_fn_t quiet;

	return quiet;
}

#define kp_skeleton_open	spoilt_open
#define libbpf_set_print	nobody_listens
#define kp_load			kp_load_spoilt
int kp_load_spoilt(struct kp *, size_t);
#include "kernel-probes/load.c"
#undef libbpf_set_print

/* A kernel that knows no task storage is told by its types. */
static bool
lacking_is_known(void)
{
	struct btf *btf = btf__new_empty();
	bool known = kp_hooks_lacking(btf) != NULL;

	btf__add_enum(btf, "bpf_map_type", 4);
	btf__add_enum_value(btf, "BPF_MAP_TYPE_HASH", 1);
	known = known && kp_hooks_lacking(btf) != NULL;
	btf__add_enum_value(btf, "BPF_MAP_TYPE_TASK_STORAGE", 29);
	known = known && kp_hooks_lacking(btf) == NULL;
	btf__free(btf);
	return known;
}

int
main(void)
{
	const uint64_t spoilt = 1ull << KP_PROGRAM_lock_wait | 1ull << KP_PROGRAM_migrate;
	struct kernel_bpf *skel = NULL;
	struct kp *kp;
	int r;

	libbpf_set_print(NULL);
	r = kp_open(true, &kp);
	if (r == 0)
		r = kp_state_make(kp);
	if (r == 0)
		r = load_programs(kp, 1 << 20, ~kp->missing, &skel);
	if (r == 0 && (kp->state->refused != spoilt ||
	    bpf_program__fd(skel->progs.thread_create) < 0 ||
	    bpf_program__fd(skel->progs.lock_wait) >= 0))
		r = -EINVAL;
	if (r != 0)
		printf("# %s, refused %#llx: %s\n", strerror(-r),
		    (unsigned long long)kp->state->refused, kp_detail(kp));
	kernel_bpf__destroy(skel);
	kp_buffer_dealloc(kp);
	kp_close(kp);
	printf("%s 1 - refused programs are left out\n", r == 0 ? "ok" : "not ok");
	if (!lacking_is_known()) {
		r = -EINVAL;
		printf("not ");
	}
	puts("ok 2 - what a kernel lacks as a whole\n1..2");
	return r != 0;
}
