/*
 * path.bpf.h - the path of a file, written name by name from its end to the root.
 */
#ifndef KERNEL_PROBES_PATH_BPF_H
#define KERNEL_PROBES_PATH_BPF_H

#include "kernel-probes/write.bpf.h"

#define DEPTH		32	/* directories and mounts up to the root */
#define ROOM		KP_PATH_SIZE	/* a power of 2 */

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

#endif /* KERNEL_PROBES_PATH_BPF_H */
