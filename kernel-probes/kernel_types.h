/*
 * kernel_types.h - the kernel's types, as far as the probes look at them.
 *
 * No layout here is real: the loader relocates every member by the BTF of the
 * kernel that runs.  Members that only some kernels have, and names that
 * changed, are in kernel_compat.h.
 */
#ifndef KERNEL_PROBES_KERNEL_TYPES_H
#define KERNEL_PROBES_KERNEL_TYPES_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic_long_t;

struct thread_struct {
	unsigned long sp;
};

struct thread_info {
	u32 status;
	u32 cpu;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
};

struct file_lock_context {
	struct list_head flc_flock, flc_posix;
};

struct file_lock_core {
	struct list_head flc_list;
	unsigned char flc_type;
	u32 flc_pid;
};

struct file_lock {
	struct file_lock_core c;
	s64 fl_start, fl_end;
};

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
	struct file_lock_context *i_flctx;
};

struct address_space {
	struct inode *host;
};

struct qstr {
	union {
		struct {
			u32 hash;
			u32 len;
		};
		u64 hash_len;
	};
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	void *private_data;
	struct address_space *f_mapping;
	struct inode *f_inode;
	unsigned int f_flags;
	s64 f_pos;
};

struct in6_addr {
	u8 in6_u[16];
};

struct sock_common {
	u32 skc_daddr, skc_rcv_saddr;
	u16 skc_dport, skc_num, skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
};

struct socket {
	struct sock *sk;
};

struct rt_rq {
	unsigned int rt_nr_running;
};

struct dl_rq {
	unsigned long dl_nr_running;
};

struct cfs_rq {
	struct rq *rq;
	struct task_group *tg;
	unsigned int h_nr_runnable;
};

struct rq {
	unsigned int nr_running;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct task_struct *curr, *idle;
	int cpu;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct signal_struct {
	atomic_t live;		/* threads that have not exited */
	struct list_head thread_head;
};

struct mm_struct {
	struct task_struct *owner;
	struct file *exe_file;
	unsigned long start_code, end_code;
};

struct bpf_iter_task_vma {
	u64 opaque[1];
} __attribute__((aligned(8)));

struct hrtimer {
	void *function;
};

struct timer_list {
	void *function;
};

struct rt_mutex_base {
	struct task_struct *owner;
};

struct rt_mutex_waiter {
	struct rt_mutex_base *lock;
};

struct mutex {
	atomic_long_t owner;
};

struct rw_semaphore {
	atomic_long_t count;
	atomic_long_t owner;
};

struct kernel_siginfo {
	int si_code;
};

struct pid {
	unsigned int level;	/* of nested name spaces; 0: the first one alone */
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct task_group {
	struct cgroup_subsys_state css;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	unsigned int flags;
	int on_rq;
	int prio;
	struct sched_entity se;
	struct mm_struct *mm;
	s32 pid, tgid;
	struct task_struct *real_parent;
	char comm[16];
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct list_head thread_node;
	struct files_struct *files;
	struct css_set *cgroups;
	void *worker_private;
	struct rt_mutex_waiter *pi_blocked_on;
	int pagefault_disabled;
	unsigned long min_flt, maj_flt;
	u64 start_time;
	struct thread_struct thread;
};

struct kthread {
	void *data;
};

struct kthread_create_info {
	void *threadfn;
};

struct page {
	unsigned long compound_head;
};

struct folio {
	struct address_space *mapping;
	unsigned long index;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	void *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct anon_vma_chain {
	struct vm_area_struct *vma;
	struct rb_node rb;
};

struct anon_vma {
	struct rb_root_cached rb_root;
};

struct block_device {
	u64 bd_start_sect;
	u32 bd_dev;
};

struct bvec_iter {
	u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
	void *bi_private;
	unsigned short bi_vcnt;
	struct bio_vec *bi_io_vec;
};

struct request {
	struct bio *bio;
};

struct zone {
	unsigned long _watermark[4];
	unsigned long watermark_boost;
	atomic_long_t vm_stat[1];
};

struct pglist_data {
	struct zone node_zones[1];
	int nr_zones;
	int node_id;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

enum pageflags { PG_head, PG_active, PG_writeback, PG_reclaim, PG_swapcache,
	PG_swapbacked };
enum req_flag_bits { __REQ_SYNC, __REQ_RAHEAD, __REQ_SWAP };
enum vm_event_item { PGFAULT };
enum zone_stat_item { NR_FREE_PAGES };
enum zone_watermarks { WMARK_HIGH };

#pragma clang attribute pop

#endif /* KERNEL_PROBES_KERNEL_TYPES_H */
