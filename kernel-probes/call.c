/*
 * call.c - what system calls are about, as imported probes: syscall_args, syscall_path
 * and syscall_fd.
 *
 * They hang on one tracepoint, and are imported ones because they cost: nobody has
 * them without asking.
 */
#include <stdio.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

#define EVENT	"raw_syscalls.sys_enter"

static int
describe_args(struct kp *kp, struct kp_import *imp)
{
	char name[8];
	int r = kp_import_member(imp, "tnf_sysnum", "sysnum");

	for (int i = 0; r == 0 && i < 6; i++) {
		snprintf(name, sizeof name, "arg%d", i);
		r = kp_import_member(imp, "tnf_opaque", name);
	}
	return r;
}

static int
describe_path(struct kp *kp, struct kp_import *imp)
{
	int r = kp_import_member(imp, "tnf_sysnum", "sysnum");

	return r < 0 ? r : kp_import_member(imp, "tnf_string", "path");
}

static int
describe_fd(struct kp *kp, struct kp_import *imp)
{
	int r;

	if ((r = kp_import_member(imp, "tnf_sysnum", "sysnum")) < 0 ||
	    (r = kp_import_member(imp, "tnf_int32", "fd")) < 0 ||
	    (r = kp_import_member(imp, "tnf_device", "device")) < 0 ||
	    (r = kp_import_member(imp, "tnf_uint64", "inode")) < 0)
		return r;
	return kp_import_member(imp, "tnf_string", "name");
}

static int
attach_call(struct kp *kp, struct kp_import *imp, int prog)
{
	return kp_tracepoint_attach(kp, imp, EVENT, prog);
}

const struct kp_import_kind kp_call_args = {
	.number = KP_IMPORT_CALL_ARGS, .name = "syscall", .program = "import_call_args",
	.describe = describe_args, .attach = attach_call,
};
const struct kp_import_kind kp_call_path = {
	.number = KP_IMPORT_CALL_PATH, .name = "syscall", .program = "import_call_path",
	.describe = describe_path, .attach = attach_call,
};
const struct kp_import_kind kp_call_fd = {
	.number = KP_IMPORT_CALL_FD, .name = "syscall", .program = "import_call_fd",
	.describe = describe_fd, .attach = attach_call,
};

int
kp_import_calls(struct kp *kp)
{
	static const struct kp_import_new calls[] = {
		{ .kind = &kp_call_args, .name = "syscall_args", .keys = "args" },
		{ .kind = &kp_call_path, .name = "syscall_path", .keys = "path" },
		{ .kind = &kp_call_fd, .name = "syscall_fd", .keys = "fd" },
	};
	struct kp_import *imp;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < sizeof calls / sizeof *calls; i++)
		r = kp_import_add(kp, &calls[i], &imp);
	return r;
}
