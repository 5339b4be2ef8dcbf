/*
 * stacks.c - which events have stacks, and how deep.
 */
#include "kernel-probes/handle.h"

/* Their programs write several events at once. */
#define NO_STACKS	(KP_BIT(KP_THREAD_STATE_WOKEN) | KP_BIT(KP_THREAD_STATE_OUT) | \
			 KP_BIT(KP_THREAD_STATE_IN) | KP_BIT(KP_THREAD_STATE_FAULT) | \
			 KP_BIT(KP_THREAD_STATE_RETURN))

/* The programs that are in the kernel make room for others that can take stacks: the verifier
   has left that code out of the former.  Events of the moment in between are missing. */
static int
stacks_reload(struct kp *kp)
{
	int r;

	if (kp_pinned(KP_DIR_LINK, kp_programs[KP_PROGRAM_remember_exit].name))
		kp_iterate(KP_PROGRAM_remember_living);
	kp_filter_notes(kp, false);
	for (unsigned i = KP_PROGRAM_COUNT; i-- > 0;)
		kp_detach(kp, i);
	for (unsigned i = 0; i < kp->imports; i++)
		kp_import_stop(kp, kp->import[i]);
	kp_programs_close(kp);
	kp_pins_remove(kp, KP_SUB_PROG);
	kp->loaded = 0;
	if ((r = kp_load(kp, 0)) < 0 || (r = kp_imports_sync(kp)) < 0)
		return r;
	return kp_attach_sync(kp);
}

static int
stacks_ready(struct kp *kp)
{
	if (kp->state->with_stacks)
		return 0;
	kp_glue_find(kp->state);
	kp->state->with_stacks = 1;
	return kp->state->buffer_size != 0 ? stacks_reload(kp) : 0;
}

bool
kp_has_addresses(const struct kp *kp, uint64_t probes)
{
	if (probes & KP_BIT(KP_SAMPLE))
		return true;
	for (unsigned id = 1; id < KP_PROBES; id++)
		if (probes & KP_BIT(id) && kp->state->stack[id].user != 0)
			return true;
	for (unsigned i = 0; i < kp->imports; i++)
		if (kp->import[i]->enabled && kp->import[i]->row.stacks.user != 0)
			return true;
	return false;
}

/* The files of processes that end are noted from now on, or no more. */
static int
objects_sync(struct kp *kp)
{
	int r = kp->state->buffer_size != 0 ? kp_load(kp, 0) : 0;

	return r < 0 ? r : kp_attach_sync(kp);
}

static int
stacks_define(struct kp *kp, unsigned id)
{
	char *buf;
	int r;

	if ((buf = kp_buffer_writable(kp)) == NULL)
		return -ENOMEM;
	r = kp_defs_add_stacked(kp, buf, id);
	return r == -ENOSPC ? kp_fail(kp, r, "%s: the buffer has no room for more definitions: "
	    "make a larger one", kp_catalogue[id].name) : r;
}

/* Defines the types of events with stacks in a new buffer. */
int
kp_stacks_keep(struct kp *kp)
{
	int r = 0;

	for (unsigned id = 1; r == 0 && id < KP_PROBES; id++)
		if (kp->state->stacks & KP_BIT(id))
			r = stacks_define(kp, id);
	return r;
}

static int
stacks_of_row(struct kp *kp, unsigned id, struct kp_stacks s)
{
	bool on = s.kernel != 0 || s.user != 0;
	int r;

	if (KP_BIT(id) & NO_STACKS)
		return kp_fail(kp, -ENOTSUP, "%s: has no stacks: thread_block, thread_wakeup and "
		    "address_fault tell from where", kp_catalogue[id].name);
	if (id == KP_SAMPLE)
		return kp_fail(kp, -ENOTSUP, "sample: has its stacks already, as deep as they are");
	if (id == KP_THREAD_BLOCK && s.user != 0)
		return kp_fail(kp, -ENOTSUP, "thread_block: has no user stack: "
		    "syscall_start has");
	if (id == KP_THREAD_BLOCK)
		return kp_setting_set(kp, "stack_depth", s.kernel);
	if ((r = kp_state_make(kp)) < 0 ||
	    (on && (r = stacks_ready(kp)) < 0) ||
	    (on && kp->state->buffer_size != 0 && (r = stacks_define(kp, id)) < 0))
		return r;
	s.at = on ? (__u16)kp_defs_stacks_at(&kp_catalogue[id]) : 0;
	/* One store: programs read all of it at once. */
	__atomic_store(&kp->state->stack[id], &s, __ATOMIC_RELEASE);
	if (on)
		kp->state->stacks |= KP_BIT(id);
	else
		kp->state->stacks &= ~KP_BIT(id);
	return objects_sync(kp);
}

int
kp_import_stacks(struct kp_import *imp)
{
	int r;

	if (imp->row.stacks.kernel == 0 && imp->row.stacks.user == 0)
		return 0;
	if ((r = kp_import_member(imp, "tnf_symbols", "stack")) < 0 ||
	    (r = kp_import_member(imp, "tnf_symbols", "user")) < 0)
		return r;
	imp->row.stacks.at = (__u16)imp->member[imp->members - 2].at;
	return 0;
}

static int
stacks_of_import(struct kp *kp, struct kp_import *imp, struct kp_stacks s)
{
	int r;

	if (s.kernel != 0 && (imp->kind == &kp_uprobe || imp->kind == &kp_function))
		return kp_fail(kp, -ENOTSUP, "%s: is in a program: ustack=N records the "
		    "program's stack", imp->name);
	if ((r = kp_import_describe(kp, imp)) < 0)
		return r;
	s.at = imp->row.stacks.at;
	if (s.at == 0 && s.kernel == 0 && s.user == 0)
		return 0;
	if (s.at == 0 && imp->defined)
		return kp_fail(kp, -EBUSY, "%s: the buffer has it without stacks already: free "
		    "that first (buffer dealloc)", imp->name);
	if ((r = kp_state_make(kp)) < 0 || (r = stacks_ready(kp)) < 0)
		return r;
	imp->row.stacks = s;
	if (s.at == 0 && (r = kp_import_stacks(imp)) < 0) {
		imp->row.stacks = (struct kp_stacks){ 0 };
		return kp_fail(kp, r, "%s: has no room for stacks", imp->name);
	}
	if ((r = kp_asked_save(kp, imp)) < 0)
		return r;
	if (imp->attached && (r = kp_import_row_renew(kp, imp)) < 0)
		return r;
	return objects_sync(kp);
}

KP_EXPORT int
kp_probe_stacks(struct kp *kp, unsigned id, unsigned kernel, unsigned user)
{
	struct kp_stacks s = { .kernel = (__u8)kernel, .user = (__u8)user };
	struct kp_import *imp = kp_import_of(kp, id);
	int r;

	if (kernel > KP_STACK_MAX || user > KP_USER_STACK_MAX)
		return kp_fail(kp, -EINVAL, "stack: at most %u frames, and %u of a program",
		    KP_STACK_MAX, KP_USER_STACK_MAX);
	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (imp != NULL)
		return stacks_of_import(kp, imp, s);
	return id == 0 || id >= KP_PROBES ? -EINVAL : stacks_of_row(kp, id, s);
}
