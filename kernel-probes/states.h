/*
 * states.h - values of the enum-like members, as the original numbered them.
 */
#ifndef KERNEL_PROBES_STATES_H
#define KERNEL_PROBES_STATES_H

enum kp_microstate {
	KP_USER, KP_SYSTEM, KP_TRAP, KP_TFAULT, KP_DFAULT, KP_KFAULT,
	KP_USER_LOCK, KP_SLEEP, KP_WAIT_CPU, KP_STOPPED
};

enum kp_fault_type { KP_F_INVAL, KP_F_PROT };
enum kp_seg_access { KP_S_OTHER, KP_S_READ, KP_S_WRITE, KP_S_EXEC };

enum kp_bioflags {
	KP_B_BUSY = 0x1, KP_B_PAGEIO = 0x10, KP_B_PHYS = 0x20, KP_B_READ = 0x40,
	KP_B_WRITE = 0x100, KP_B_ASYNC = 0x400
};

/* The table that a system call's number is from: this machine's own, or another. */
enum kp_abi { KP_ABI_NATIVE, KP_ABI_32, KP_ABI_X32 };

#endif /* KERNEL_PROBES_STATES_H */
