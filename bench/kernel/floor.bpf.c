/*
 * floor.bpf.c - programs that do nothing at both ends of a system call.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp/sys_enter")
int empty_enter(void *ctx)
{
	return 0;
}

SEC("raw_tp/sys_exit")
int empty_exit(void *ctx)
{
	return 0;
}
