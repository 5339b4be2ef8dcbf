/*
 * inject.c - load libtnfprobe into a stopped process.
 *
 * One thread of the target calls dlopen(), all the others run meanwhile: what
 * locks they hold they give back.  So only that one thread must be at a place
 * where it holds none that dlopen() or malloc() need.  These are:
 *
 * - asleep in a system call in which one waits for something
 * - in code outside the linker and outside whatever object has malloc
 *
 * and, from there up its stack, neither a function of the linker nor a signal
 * handler, which may have interrupted anything.  If no thread is at such a
 * place the target runs for a moment and we look again.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "direct.h"
#include "maps.h"
#include "remote.h"

#define CALL_MS		5000
#define TRIES		6000
#define TRY_US		100	/* and up to ten times as long, in turns */
#define SCAN_MAX	(256u << 10)	/* of the stack */
#define CODE_MAX	(8u << 20)	/* searched for the restorer */

struct injection {
	tnfctl_handle_t *h;
	struct proc *p;
	struct maps maps;
	const struct mapping *linker;	/* its code */
	uintptr_t dlopen, malloc, restorer;
};

/* Calls in which threads wait, and that nobody makes with a lock of malloc's
   or the linker's. */
static const long waiting_calls[] = {
	SYS_read, SYS_readv, SYS_write, SYS_poll, SYS_ppoll, SYS_select,
	SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_futex, SYS_accept, SYS_accept4, SYS_recvfrom,
	SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_connect, SYS_wait4,
	SYS_waitid, SYS_pause, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
	SYS_restart_syscall, SYS_semop, SYS_semtimedop, SYS_msgrcv, SYS_flock,
	SYS_io_getevents, SYS_io_uring_enter,
};

static bool
is_waiting_call(long call)
{
	size_t i;

	for (i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++)
		if (waiting_calls[i] == call)
			return true;
	return false;
}

static bool
inside(const struct mapping *m, uintptr_t address)
{
	return address >= m->start && address < m->end;
}

/* Is the instruction before this address a call? */
static bool
is_return_address(const struct injection *in, uintptr_t address)
{
	unsigned char c[7];

	if (!proc_read(in->p, address - sizeof(c), c, sizeof(c)))
		return false;
	return c[2] == 0xe8 ||				/* call rel32 */
	    (c[5] == 0xff && (c[6] & 0x38) == 0x10) ||	/* call *reg */
	    (c[4] == 0xff && (c[5] & 0x38) == 0x10) ||	/* call *d8(reg) */
	    (c[1] == 0xff && (c[2] & 0x38) == 0x10) ||	/* call *d32(..) */
	    (c[0] == 0xff && (c[1] & 0x38) == 0x10);
}

/* From sp up: room for the call below, nothing that may hold a lock above. */
static bool
stack_is_fine(const struct injection *in, uintptr_t sp)
{
	const struct mapping *m = maps_find(&in->maps, sp);
	uint64_t *words;
	size_t i, n;
	bool fine;

	/* The main stack grows by itself. */
	if (m == NULL || (sp - m->start < REMOTE_STACK &&
	    strcmp(m->path, "[stack]") != 0))
		return false;
	n = m->end - sp < SCAN_MAX ? m->end - sp : SCAN_MAX;
	n /= sizeof(*words);
	if ((words = calloc(n, sizeof(*words))) == NULL)
		return false;
	fine = proc_read(in->p, sp, words, n * sizeof(*words));
	for (i = 0; i < n && fine; i++)
		if (words[i] == in->restorer || (inside(in->linker, words[i]) &&
		    is_return_address(in, words[i])))
			fine = false;
	free(words);
	return fine;
}

static bool
code_is_fine(const struct injection *in, uintptr_t ip)
{
	const struct mapping *m = maps_find(&in->maps, ip), *a;

	if (m == NULL || !m->exec || m == in->linker)
		return false;
	if (m->path[0] != '/')
		return strcmp(m->path, "[vdso]") == 0;
	a = maps_find(&in->maps, in->malloc);
	return a == NULL || strcmp(a->path, m->path) != 0;
}

static bool
is_fine(const struct injection *in, const struct thread *t)
{
	uintptr_t ip, sp;
	long call;

	if (!t->stopped || t->signal != 0 || t->event != PROC_NOTHING ||
	    !remote_where(t, &ip, &sp, &call))
		return false;
	if (inside(in->linker, ip) ||
	    !(call >= 0 ? is_waiting_call(call) : code_is_fine(in, ip)))
		return false;
	return stack_is_fine(in, sp);
}

static struct thread *
choose(const struct injection *in)
{
	size_t i;

	for (i = 0; i < in->p->n; i++)
		if (is_fine(in, &in->p->threads[i]))
			return &in->p->threads[i];
	return NULL;
}

/* The code of the object that has this address. */
static uintptr_t
find_code(const struct injection *in, const unsigned char *code, size_t size)
{
	const struct mapping *m = maps_find(&in->maps, in->dlopen);
	unsigned char *copy, *at = NULL;
	uintptr_t found = 0;
	size_t n;

	if (m == NULL || size == 0)
		return 0;
	n = m->end - m->start < CODE_MAX ? m->end - m->start : CODE_MAX;
	if ((copy = malloc(n)) != NULL && proc_read(in->p, m->start, copy, n))
		at = memmem(copy, n, code, size);
	if (at != NULL)
		found = m->start + (uintptr_t)(at - copy);
	free(copy);
	return found;
}

static tnfctl_errcode_t
not_loaded(tnfctl_handle_t *h, const char *why)
{
	return fail(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: "
	    TNFCTL_LIBTNFPROBE " is not loaded and cannot be now: %s: start "
	    "the program under control, or with LD_PRELOAD="
	    TNFCTL_LIBTNFPROBE, (int)h->pid, why);
}

static bool
has_shadow_stack(pid_t pid)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strncmp(line, "x86_Thread_features:", 20) == 0 &&
		    strstr(line, "shstk") != NULL;
	fclose(f);
	return found;
}

/* Reasons that can be seen before anything is touched; NULL: none. */
static const char *
obstacle(const struct injection *in)
{
	switch (proc_status(in->h->pid, "Seccomp")) {
	case 1:
		return "the process is in strict seccomp mode";
	case 2:
		return "the process has a seccomp filter, which might kill it "
		    "for opening a library";
	}
	if (has_shadow_stack(in->h->pid))
		return "the process has a shadow stack";
	if (in->linker == NULL)
		return "its dynamic linker cannot be found";
	if (strstr(in->linker->path, "musl") != NULL)
		return "its C library is musl, not glibc";
	if (in->dlopen == 0)
		return "it has no dlopen()";
	if (in->restorer == 0)
		return "its C library is of an unknown kind";
	return NULL;
}

static void
find_things(struct injection *in)
{
	uintptr_t base = auxv_get(in->h->pid, AT_BASE);
	const struct mapping *m, *first;

	first = base ? maps_find(&in->maps, base) : NULL;
	for (m = first; m != NULL && m < in->maps.m + in->maps.n; m++)
		if (m->exec && m->inode == first->inode) {
			in->linker = m;
			break;
		}
	if (!objects_function(in->h, "libc.so.6", "dlopen", &in->dlopen))
		objects_function(in->h, NULL, "dlopen", &in->dlopen);
	objects_function(in->h, NULL, "malloc", &in->malloc);
	in->restorer = find_code(in, remote_restorer, remote_restorer_size);
}

/* The library under a name that means the same to the target. */
static tnfctl_errcode_t
library_name(tnfctl_handle_t *h, char *ret, size_t size)
{
	char theirs[PATH_MAX + 32];
	struct stat a, b;

	if (!library_path(NULL, ret, size)) {
		snprintf(ret, size, "%s", TNFCTL_LIBTNFPROBE);
		return TNFCTL_ERR_NONE;
	}
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)h->pid, ret);
	if (stat(ret, &a) == 0 && stat(theirs, &b) == 0 &&
	    (a.st_dev != b.st_dev || a.st_ino != b.st_ino))
		return not_loaded(h, "it lives in another root directory, "
		    "where there is another file of this name");
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
call(struct injection *in, struct thread *t, const char *library)
{
	struct remote r = {
		.thread = t, .function = in->dlopen, .string = library,
		.flags = RTLD_NOW, .restorer = in->restorer,
	};
	char why[PATH_MAX + 128];

	switch (remote_call(in->p, &r, CALL_MS)) {
	case REMOTE_DONE:
		break;
	case REMOTE_LATE:
		return not_loaded(in->h, "dlopen() has not returned in time; "
		    "it goes on by itself");
	case REMOTE_NOT_STARTED:
		return not_loaded(in->h, "its stack cannot be written");
	}
	control_refresh(in->h);
	if (in->h->control != 0)
		return TNFCTL_ERR_NONE;
	snprintf(why, sizeof(why), "its dlopen() refused %s%s%s", library,
	    r.error ? ": " : "", r.error ? strerror(r.error) : "");
	return not_loaded(in->h, why);
}

static tnfctl_errcode_t
try(struct injection *in, const char *library)
{
	struct thread *t;
	int i;

	for (i = 0; i < TRIES; i++) {
		if ((t = choose(in)) != NULL)
			return call(in, t, library);
		proc_run_for(in->p, TRY_US * (1 + i * 7 % 10));
		if (in->p->gone || in->p->event != PROC_NOTHING)
			return fail(TNFCTL_ERR_NOPROCESS,
			    "process %d: it has ended", (int)in->h->pid);
	}
	return not_loaded(in->h, "no thread of it came to a place where it "
	    "surely holds no lock");
}

tnfctl_errcode_t
inject_library(tnfctl_handle_t *h)
{
	struct injection in = { .h = h, .p = direct_proc(h) };
	char library[PATH_MAX];
	tnfctl_errcode_t err;
	const char *why;

	if (h->nprobes == 0)
		return fail(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: it has no "
		    "probes and " TNFCTL_LIBTNFPROBE " is not loaded: build "
		    "the program with <tnf/probe.h>", (int)h->pid);
	if (maps_read(h->pid, &in.maps) != 0)
		return not_loaded(h, "its memory map cannot be read");
	find_things(&in);
	if ((why = obstacle(&in)) != NULL)
		err = not_loaded(h, why);
	else if ((err = library_name(h, library,
	    sizeof(library))) == TNFCTL_ERR_NONE)
		err = try(&in, library);
	maps_free(&in.maps);
	return err;
}
