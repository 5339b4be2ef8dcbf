/*
 * family.c - the children of the target, with --follow-fork.
 */
#include <glob.h>

#include "prex/shell.h"

struct member {
	TAILQ_ENTRY(member) entry;
	pid_t	pid;
	tnfctl_handle_t *h;
	bool	needs_file;
};

struct family {
	struct shell *sh;
	TAILQ_HEAD(members, member) members;
	size_t	n;
	const char *file;	/* -o, or NULL */
	/* The target and then the members, for tnfctl_continue_any(). */
	tnfctl_handle_t **handles;
};

struct family *
family_new(struct shell *sh)
{
	struct family *f = tnf_xcalloc(1, sizeof *f);

	f->sh = sh;
	TAILQ_INIT(&f->members);
	return f;
}

static void
family_say(const struct family *f, const struct member *m, const char *what)
{
	shell_say(f->sh, "child process %ld %s", (long)m->pid, what);
}

static void
family_add(struct family *f, tnfctl_errcode_t err, tnfctl_handle_t *child)
{
	tnfctl_trace_attrs_t attrs = { 0 };
	struct member *m;

	if (err != TNFCTL_ERR_NONE) {
		shell_say(f->sh, "a child cannot be followed: %s", tnfctl_strerror(err));
		shell_tell_detail(f->sh);
		return;
	}
	tnfctl_trace_attrs_get(child, &attrs);
	m = tnf_xcalloc(1, sizeof *m);
	m->pid = attrs.targ_pid;
	m->h = child;
	TAILQ_INSERT_TAIL(&f->members, m, entry);
	f->n++;
	history_follow(f->sh, child);
	family_say(f, m, "is followed");
	history_catch_up(f->sh, child, m->pid);
}

static bool
is_member(const struct family *f, pid_t pid)
{
	const struct member *m;

	TAILQ_FOREACH(m, &f->members, entry)
		if (m->pid == pid)
			return true;
	return false;
}

/* Calls fn for each child of a process, from the files that /proc has for its threads.  true: fn
   has found the child that it looks for. */
static bool
children_each(pid_t pid, bool (*fn)(void *arg, pid_t child), void *arg)
{
	char pattern[64];
	bool found = false;
	glob_t files;
	long child;
	FILE *fp;

	snprintf(pattern, sizeof pattern, "/proc/%ld/task/*/children", (long)pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &files) != 0)
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		if ((fp = fopen(files.gl_pathv[i], "re")) == NULL)
			continue;
		while (!found && fscanf(fp, "%ld", &child) == 1)
			found = fn(arg, (pid_t)child);
		fclose(fp);
	}
	globfree(&files);
	return found;
}

struct adoption {
	struct family *f;
	bool	fill;
};

/* Attaches to a child that was there before us. */
static bool
adopt_one(void *arg, pid_t pid)
{
	const struct adoption *a = arg;
	struct family *f = a->f;
	tnfctl_trace_attrs_t attrs = { 0 };
	tnfctl_handle_t *h;
	struct member *m;
	tnfctl_errcode_t err;

	/* If a signal has ended prex while it attached, it attaches to no further child. */
	if (ending_signal() != 0)
		return true;
	if (is_member(f, pid) || pid == target_pid(f->sh))
		return false;
	if ((err = tnfctl_pid_open(pid, &h)) != TNFCTL_ERR_NONE) {
		shell_say(f->sh, "child process %ld is left alone: %s", (long)pid,
		    tnfctl_strerror(err));
		return children_each(pid, adopt_one, arg);
	}
	if (a->fill)
		tnfctl_buffer_fill_set(h, B_TRUE);
	family_add(f, TNFCTL_ERR_NONE, h);
	m = TAILQ_LAST(&f->members, members);
	tnfctl_trace_attrs_get(h, &attrs);
	m->needs_file = attrs.trace_buf_state == TNFCTL_BUF_NONE;
	return false;
}

/* Takes the child, or the first of its descendants that has probes, as the target; false: none
   has probes. */
static bool
open_one(void *arg, pid_t pid)
{
	struct shell *sh = arg;

	return tnfctl_pid_open(pid, &sh->target) == TNFCTL_ERR_NONE ||
	    children_each(pid, open_one, sh);
}

static bool
is_one(void *arg, pid_t pid)
{
	return true;
}

bool
family_exists(pid_t pid)
{
	return children_each(pid, is_one, NULL);
}

bool
family_open_first(struct shell *sh, pid_t pid)
{
	if (!children_each(pid, open_one, sh))
		return false;
	shell_say(sh, "process %ld has no probes: its child %ld has, and is the target", (long)pid,
	    (long)target_pid(sh));
	return true;
}

/* Attaches to all descendants.  A process that prex holds is stopped and forks no more, so no
   child is missed; the list grows at its end while we go through it. */
void
family_adopt(struct family *f, pid_t pid, const char *file, bool fill)
{
	struct adoption a = { f, fill };
	struct member *m;

	f->file = file;
	children_each(pid, adopt_one, &a);
	if (pid != target_pid(f->sh))
		children_each(target_pid(f->sh), adopt_one, &a);
	TAILQ_FOREACH(m, &f->members, entry)
		children_each(m->pid, adopt_one, &a);
}

static char *
member_file(const struct family *f, const struct member *m)
{
	return f->file != NULL ? tnf_xasprintf("%s.%ld", f->file, (long)m->pid) :
	    trace_default_name(m->pid);
}

void
family_make_files(struct family *f)
{
	tnfctl_trace_attrs_t attrs = { 0 };
	tnfctl_errcode_t err;
	struct member *m;

	if (f == NULL || tnfctl_trace_attrs_get(f->sh->target, &attrs) != TNFCTL_ERR_NONE)
		return;
	TAILQ_FOREACH(m, &f->members, entry) {
		if (!m->needs_file)
			continue;
		m->needs_file = false;
		autofree char *name = member_file(f, m);
		err = tnfctl_buffer_alloc(m->h, name, (unsigned)attrs.trace_buf_size);
		if (err != TNFCTL_ERR_NONE)
			family_say(f, m, tnfctl_strerror(err));
		if (err != TNFCTL_ERR_NONE)
			shell_tell_detail(f->sh);
	}
}

static void
family_remove(struct family *f, struct member *m, tnfctl_targ_op_t op)
{
	tnfctl_close(m->h, op);
	TAILQ_REMOVE(&f->members, m, entry);
	f->n--;
	free(m);
}

static void
member_event(struct family *f, struct member *m, tnfctl_event_t event, tnfctl_errcode_t err)
{
	if (err != TNFCTL_ERR_NONE) {
		family_say(f, m, tnfctl_strerror(err));
		shell_tell_detail(f->sh);
		family_remove(f, m, TNFCTL_TARG_RESUME);
		return;
	}
	switch (event) {
	case TNFCTL_EVENT_EXEC:
		family_say(f, m, "has become another program");
		family_remove(f, m, TNFCTL_TARG_RESUME);
		break;
	case TNFCTL_EVENT_EXIT:
	case TNFCTL_EVENT_TARGGONE:
		family_say(f, m, event == TNFCTL_EVENT_EXIT ? "exited" :
		    "disappeared");
		family_remove(f, m, TNFCTL_TARG_DEFAULT);
		break;
	default:
		break;
	}
}

static void
list_handles(struct family *f, tnfctl_handle_t *target)
{
	struct member *m;
	size_t i = 0;

	f->handles = tnf_xreallocarray(f->handles, f->n + 1, sizeof *f->handles);
	f->handles[i++] = target;
	TAILQ_FOREACH(m, &f->members, entry)
		f->handles[i++] = m->h;
}

tnfctl_errcode_t
family_continue(struct family *f, tnfctl_handle_t *target, tnfctl_event_t *event)
{
	tnfctl_handle_t *child;
	tnfctl_errcode_t err;
	struct member *m;
	size_t which;

	*event = TNFCTL_EVENT_EINTR;
	if (f == NULL)
		return tnfctl_continue(target, event, NULL);
	list_handles(f, target);
	err = tnfctl_continue_any(f->handles, f->n + 1, &which, event, &child);
	if (*event == TNFCTL_EVENT_FORK)
		family_add(f, err, child);
	else if (which == 0)
		return err;
	else {
		for (m = TAILQ_FIRST(&f->members); which > 1; which--)
			m = TAILQ_NEXT(m, entry);
		member_event(f, m, *event, err);
	}
	*event = TNFCTL_EVENT_FORK;	/* nothing that the target itself did */
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
family_each(struct family *f, tnfctl_errcode_t (*fn)(tnfctl_handle_t *, void *arg), void *arg)
{
	tnfctl_errcode_t first = TNFCTL_ERR_NONE, err;
	struct member *m;

	if (f == NULL)
		return first;
	TAILQ_FOREACH(m, &f->members, entry) {
		err = fn(m->h, arg);
		if (first == TNFCTL_ERR_NONE)
			first = err;
	}
	return first;
}

void
family_close(struct family *f, tnfctl_targ_op_t op)
{
	struct member *m;
	pid_t pid;

	if (f == NULL)
		return;
	while ((m = TAILQ_FIRST(&f->members)) != NULL) {
		pid = m->pid;
		family_remove(f, m, op);
		if (op == TNFCTL_TARG_SUSPEND && f->sh->started)
			leave_stopped(pid);
	}
	free(f->handles);
	free(f);
}
