/*
 * probes.c - the catalogue's rows as they stand now, switched on and off.
 */
#include "kernel-probes/handle.h"

KP_EXPORT int
kp_probe_count(struct kp *kp)
{
	return KP_PROBES - 1 + (int)kp->imports;
}

/* Why a probe cannot be had here, or an empty string. */
static void
probes_reason(const struct kp *kp, const struct kp_row *row, char *buf, size_t n)
{
	uint64_t lacks = kp_needs(kp, row) & (kp->missing | kp->state->refused);
	int program;

	buf[0] = '\0';
	if (lacks == 0)
		return;
	program = __builtin_ctzll(lacks);
	if (kp->missing >> program & 1)
		snprintf(buf, n, "no tracepoint %s", kp_programs[program].hook);
	else
		snprintf(buf, n, "program %s refused by the kernel",
		    kp_programs[program].name);
}

/* syscall_end's condition, in the unit in which its number is whole; "": it has none. */
void
kp_row_condition(const struct kp *kp, char *buf, size_t n)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	uint64_t longer = kp->state->call_longer;
	unsigned u = 0;

	buf[0] = '\0';
	if (longer == 0)
		return;
	while (longer % units[u].ns != 0)
		u++;
	snprintf(buf, n, "duration > %llu%s", (unsigned long long)(longer / units[u].ns),
	    units[u].name);
}

/* In the catalogue syscall_end alone has a condition: the programs know when its call began. */
int
kp_row_where(struct kp *kp, unsigned id, const char *text)
{
	char name[] = "duration";
	const struct kp_import_member member = { "tnf_uint64", name, 0 };
	struct kp_where_of of = { "syscall_end", &member, 1, kp->detail, sizeof kp->detail };
	struct kp_where w = { 0 };
	int r;

	if (id != KP_SYSCALL_END)
		return text == NULL ? 0 : kp_fail(kp, -ENOTSUP, "where: only imported probes and "
		    "syscall_end have conditions: for others see tnfdump --where");
	if (text == NULL && kp->state->call_longer == 0)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0 ||
	    (text != NULL && (r = kp_where_compile(&of, text, &w)) < 0))
		return r;
	if (text != NULL && (w.n != 1 || (w.c[0].op != KP_W_ABOVE && w.c[0].op != KP_W_AT_LEAST)))
		return kp_fail(kp, -EINVAL, "where: of syscall_end one condition is known, a "
		    "duration that is exceeded: duration > 50ms");
	kp->state->call_longer = w.c[0].value[0] -
	    (w.c[0].op == KP_W_AT_LEAST && w.c[0].value[0] > 0);
	r = kp_attach_sync(kp);
	kp->state->call_since = (__u64)clock_ns(CLOCK_MONOTONIC);
	return r;
}

int
kp_row_freezes(struct kp *kp, unsigned id, bool freezes)
{
	int r;

	if (id != KP_SYSCALL_END)
		return !freezes ? 0 : kp_fail(kp, -ENOTSUP, "freeze: only imported probes and "
		    "syscall_end end the recording by themselves");
	if (freezes == (kp->state->call_freezes != 0))
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	kp->state->call_freezes = freezes;
	return 0;
}

KP_EXPORT int
kp_probe_get(struct kp *kp, unsigned id, struct kp_probe *ret)
{
	const struct kp_row *row;
	char why[128], condition[64];
	size_t n;

	if (id >= KP_PROBES)
		return kp_import_get(kp, id, ret);
	if (id < 1)
		return -EINVAL;
	row = &kp_catalogue[id];
	probes_reason(kp, row, why, sizeof why);
	n = snprintf(kp->attrs, sizeof kp->attrs, "name %s;slots ", row->name);
	for (const struct kp_member *m = row->member; m->name != NULL; m++)
		n += snprintf(kp->attrs + n, sizeof kp->attrs - n, "%s ", m->name);
	n += snprintf(kp->attrs + n, sizeof kp->attrs - n,
	    ";keys %s;file kernel-probes/%s;line %d;", row->keys, row->file, row->line);
	if (kp->state->stack[id].kernel != 0)
		n += snprintf(kp->attrs + n, sizeof kp->attrs - n, "stack %u;",
		    kp->state->stack[id].kernel);
	if (kp->state->stack[id].user != 0)
		n += snprintf(kp->attrs + n, sizeof kp->attrs - n, "ustack %u;",
		    kp->state->stack[id].user);
	if (id == KP_SYSCALL_END) {
		kp_row_condition(kp, condition, sizeof condition);
		if (condition[0] != '\0')
			n += snprintf(kp->attrs + n, sizeof kp->attrs - n, "where '%s';", condition);
		if (kp->state->call_freezes)
			n += snprintf(kp->attrs + n, sizeof kp->attrs - n, "then freeze;");
	}
	if (why[0] != '\0')
		snprintf(kp->attrs + n, sizeof kp->attrs - n, "unavailable %s;", why);
	ret->id = id;
	ret->attrs = kp->attrs;
	ret->available = why[0] == '\0';
	ret->imported = false;
	ret->enabled = kp->state->enabled >> id & 1;
	ret->traced = kp->state->traced >> id & 1;
	return 0;
}

/* Its programs are in the kernel, if there is a buffer for what they write. */
static int
probes_load(struct kp *kp, unsigned id)
{
	char why[128];
	int r = kp->state->buffer_size != 0 ? kp_load(kp, 0) : 0;

	if (r < 0)
		return r;
	probes_reason(kp, &kp_catalogue[id], why, sizeof why);
	return why[0] == '\0' ? 0 : kp_fail(kp, -ENOTSUP, "%s: not available: %s",
	    kp_catalogue[id].name, why);
}

static uint64_t
probes_with(uint64_t set, unsigned id, bool on)
{
	return on ? set | KP_BIT(id) : set & ~KP_BIT(id);
}

KP_EXPORT int
kp_probe_set(struct kp *kp, unsigned id, bool enabled, bool traced)
{
	uint64_t was_enabled, was_traced;
	int r;

	if (id >= KP_PROBES)
		return kp_import_set(kp, id, enabled, traced);
	if (id < 1)
		return -EINVAL;
	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if ((r = kp_state_make(kp)) < 0)
		return r;
	was_enabled = kp->state->enabled;
	was_traced = kp->state->traced;
	kp->state->enabled = probes_with(was_enabled, id, enabled);
	kp->state->traced = probes_with(was_traced, id, traced);
	if ((r = enabled ? probes_load(kp, id) : 0) == 0)
		r = kp_attach_sync(kp);
	if (r < 0) {
		kp->state->enabled = was_enabled;
		kp->state->traced = was_traced;
	}
	return r;
}

KP_EXPORT int
kp_trace_set(struct kp *kp, bool on)
{
	int r;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (kp->state->buffer_size == 0)
		return kp_fail(kp, -ENOENT, "ktrace: no buffer: allocate one first");
	kp->state->tracing = on;
	if (on)
		kp->state->frozen = 0;
	/* One store in kp_attach_sync() switches all probes on, imported ones with the others:
	   so these are attached before, and detached after it. */
	r = on ? kp_imports_sync(kp) : 0;
	if (r == 0)
		r = kp_attach_sync(kp);
	if (r == 0 && !on)
		r = kp_imports_sync(kp);
	if (r == 0 && on && kp->state->filter & KP_FILTER_MODE)
		r = kp_rules_scan(kp);
	if (r < 0) {
		kp->state->tracing = 0;
		kp->state->on = 0;
		/* Detaching needs nothing that could be refused. */
		kp_attach_sync(kp);
		kp_imports_sync(kp);
	}
	return r;
}
