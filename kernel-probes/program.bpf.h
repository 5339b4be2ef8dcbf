/*
 * program.bpf.h - remembers which program each process runs, and since when.
 *
 * A process takes its program over from the process that forks it, and gets another by exec.
 * Thousands of processes run few programs: a path is kept once, under a number that is
 * made of what names the file.
 */
#ifndef KERNEL_PROBES_PROGRAM_BPF_H
#define KERNEL_PROBES_PROGRAM_BPF_H

#include "kernel-probes/write.bpf.h"

#define DEPTH		32	/* directories and mounts up to the root */
#define ROOM		KP_PATH_SIZE	/* a power of 2 */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct kp_renamed);
	__type(value, u64);
} tnf_ran SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct kp_path);
} tnf_paths SEC(".maps");

/* A path is written from its end; what is copied from there on is as long as an element. */
struct walk {
	char text[2 * ROOM];
	u32 at;			/* where the path begins by now */
	struct dentry *dentry;	/* the next name is its */
	struct mount *mount;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk);
} tnf_walk SEC(".maps");

static __always_inline u64 mixed(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* Puts the name of a directory or file in front; false: there is no room. */
static __always_inline bool put_name(struct walk *w, struct dentry *d)
{
	u32 size = BPF_CORE_READ(d, d_name.len), at = w->at;

	if (size >= at)
		return false;
	at -= size;
	bpf_probe_read_kernel(&w->text[at & (ROOM - 1)], size & (ROOM - 1),
	    BPF_CORE_READ(d, d_name.name));
	at--;
	w->text[at & (ROOM - 1)] = '/';
	w->at = at;
	return true;
}

/* One step towards the root; 1: that is reached. */
static long walk_up(u32 n, struct walk **on_stack)
{
	struct walk *w = *on_stack;
	struct dentry *d = w->dentry, *up = BPF_CORE_READ(d, d_parent);
	struct mount *m = w->mount, *outer;

	if (d == BPF_CORE_READ(m, mnt.mnt_root) || d == up) {
		outer = BPF_CORE_READ(m, mnt_parent);
		w->dentry = BPF_CORE_READ(m, mnt_mountpoint);
		w->mount = outer;
		return outer == m;
	}
	if (!put_name(w, d))
		return 1;
	w->dentry = up;
	return 0;
}

/* Writes the file's path from the root of its name space of mounts, or the end of a longer one. */
static __always_inline void put_path(struct walk *w, struct file *f)
{
	w->dentry = BPF_CORE_READ(f, f_path.dentry);
	w->mount = (void *)BPF_CORE_READ(f, f_path.mnt) - bpf_core_field_offset(struct mount, mnt);
	w->at = ROOM - 1;
	w->text[ROOM - 1] = '\0';
	repeat(DEPTH, walk_up, &w);
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

/* Remembers that the task's process runs its present program since 'time'. */
static __attribute__((noinline)) int program_note(struct task_struct *t, u64 time)
{
	struct kp_renamed key = { .time = time, .tid = BPF_CORE_READ(t, tgid) };
	struct file *f = BPF_CORE_READ(t, mm, exe_file);
	struct dentry *d;
	u64 number;

	if (f == NULL)
		return 0;
	d = BPF_CORE_READ(f, f_path.dentry);
	number = mixed(mixed(mixed(mixed(0, (u64)d), (u64)BPF_CORE_READ(f, f_path.mnt)),
	    BPF_CORE_READ(f, f_inode, i_ino)), BPF_CORE_READ(d, d_name.hash_len));
	if (bpf_map_lookup_elem(&tnf_paths, &number) == NULL)
		path_note(number, f);
	bpf_map_update_elem(&tnf_ran, &key, &number, BPF_ANY);
	return 0;
}

#endif /* KERNEL_PROBES_PROGRAM_BPF_H */
