/*
 * program.bpf.h - remembers which program each process runs, and since when.
 *
 * A process takes its program over from the process that forks it, and gets another by exec.
 * Thousands of processes run few programs: a path is kept once, under a number that is
 * made of what names the file.
 */
#ifndef KERNEL_PROBES_PROGRAM_BPF_H
#define KERNEL_PROBES_PROGRAM_BPF_H

#include "kernel-probes/path.bpf.h"
#include "kernel-probes/write.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct kp_renamed);
	__type(value, u64);
} tnf_ran SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);	/* with its memory: 5.15 has no safe allocation here */
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct kp_path);
} tnf_paths SEC(".maps");

static __always_inline u64 mixed(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static __always_inline void path_note(u64 number, struct file *f)
{
	u32 zero = 0;
	struct walk *w = bpf_map_lookup_elem(&tnf_walk, &zero);

	if (w == NULL)
		return;
	put_path(w, f);
	bpf_map_update_elem(&tnf_paths, &number, &w->text[w->at & (ROOM - 1)], BPF_ANY);
}

/* Keeps the file's path, and returns its number. */
static __attribute__((noinline)) u64 path_number(struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry);
	u64 number = mixed(mixed(mixed(mixed(0, (u64)d), (u64)BPF_CORE_READ(f, f_path.mnt)),
	    BPF_CORE_READ(f, f_inode, i_ino)), BPF_CORE_READ(d, d_name.hash_len));

	if (bpf_map_lookup_elem(&tnf_paths, &number) == NULL)
		path_note(number, f);
	return number;
}

/* Remembers that the task's process runs its present program since 'time'. */
static __attribute__((noinline)) int program_note(struct task_struct *t, u64 time)
{
	struct kp_renamed key = { .time = time, .tid = BPF_CORE_READ(t, tgid) };
	struct file *f = BPF_CORE_READ(t, mm, exe_file);
	u64 number;

	if (f == NULL)
		return 0;
	number = path_number(f);
	bpf_map_update_elem(&tnf_ran, &key, &number, BPF_ANY);
	return 0;
}

#endif /* KERNEL_PROBES_PROGRAM_BPF_H */
