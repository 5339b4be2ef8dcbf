/*
 * exec.c - start a program under control.
 *
 * The child waits until we hold it and then becomes the program.  It runs into
 * the dynamic linker, up to the point where all start-up objects are mapped
 * and relocated and no initialiser has run: there the linker calls its
 * function for debuggers, at which an instruction of ours (proc-note.c) or a breakpoint register
 * stops it.  If neither can be had we stop at each system call until the linker's
 * list is complete; the linker makes one more before it starts initialisers.
 */
#include <sys/socket.h>
#include <sys/xattr.h>

#include <elf.h>

#include "common/elf-file.h"
#include "libtnfctl/control.h"

extern char **environ;

struct child {
	pid_t	 pid;
	int	 fd;		/* write: now; read: errno of exec, or end of file */
};

/* Searches PATH as prex(1) says: takes the first directory that has the name at all. */
static bool
find_program(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH"), *end;
	struct stat st;
	int n;

	if (strchr(name, '/') != NULL)
		return snprintf(ret, size, "%s", name) < (int)size &&
		    stat(ret, &st) == 0;
	if (path == NULL)
		path = getuid() == 0 || geteuid() == 0 ?
		    "/usr/sbin:/usr/bin" : "/usr/bin:";
	for (;; path = end + 1) {
		end = strchrnul(path, ':');
		n = snprintf(ret, size, "%.*s%s%s", (int)(end - path), path,
		    end > path ? "/" : "", name);
		if (*name != '\0' && n < (int)size && stat(ret, &st) == 0 &&
		    !S_ISDIR(st.st_mode))
			return true;
		if (*end == '\0')
			return false;
	}
}

/* True if the program would run with other rights than ours. */
static bool
is_set_id(const char *file)
{
	char caps[64];
	struct stat st;

	if (stat(file, &st) < 0)
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st.st_gid != getegid())
		return true;
	return geteuid() != 0 &&
	    getxattr(file, "security.capability", caps, sizeof(caps)) > 0;
}

/*
 * AddressSanitizer in the program.  If its library is shared, it ends a program in which
 * another library comes first.  Its search for leaks ends a program that is under control,
 * before the program's output is written.
 */
struct sanitizer {
	bool	there;
	char	library[64];	/* "": linked in */
};

static void
find_sanitizer(const char *file, struct sanitizer *ret)
{
	static const char *const init[] = { "__asan_init" };
	uint64_t at = 0;
	autoelf struct elffile *e = tnf_elffile_take(tnfctl_file_open(file));

	*ret = (struct sanitizer){ .there = false };
	if (e == NULL)
		return;
	ret->there = tnf_elffile_needed(e, "libasan.so", ret->library, sizeof(ret->library));
	if (!ret->there)
		tnf_elffile_symbols(e, init, &at, 1, true);
	ret->there |= at != 0;
}

/* "LD_PRELOAD=[libasan] <old> [path/]libtnfprobe.so.1 <more>", parts that are
   there. */
static char *
exec_preload(const char *first, const char *dir, const char *more)
{
	const char *old = getenv("LD_PRELOAD");
	char library[PATH_MAX], *text;

	if (!tnfctl_library_path(dir, library, sizeof(library)) ||
	    strpbrk(library, " :") != NULL)
		snprintf(library, sizeof(library), "%s%s%s", dir ? dir : "",
		    dir ? "/" : "", TNFCTL_LIBTNFPROBE);
	if (asprintf(&text, "LD_PRELOAD=%s%s%s%s%s%s%s", first,
	    *first ? " " : "", old ? old : "", old && *old ? " " : "",
	    library, more && *more ? " " : "", more ? more : "") < 0)
		return NULL;
	return text;
}

/* The user's own options come last, so they count. */
static char *
without_leaks(void)
{
	const char *old = getenv("ASAN_OPTIONS");
	char *text;

	if (asprintf(&text, "ASAN_OPTIONS=detect_leaks=0%s%s", old ? ":" : "",
	    old ? old : "") < 0)
		return NULL;
	return text;
}

static bool
sets_same(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* The program's environment: ours, with two variables of our own. */
struct environment {
	char	*own[2];	/* NULL: not there */
	char	**all;
};

static void
environment_free(struct environment *env)
{
	free(env->own[0]);
	free(env->own[1]);
	free(env->all);
}

static bool
environment_make(struct environment *env, const char *file, const char *dir,
    const char *more)
{
	struct sanitizer s;
	size_t n = 0, i, j = 0;

	find_sanitizer(file, &s);
	*env = (struct environment){ .own = { exec_preload(s.library, dir, more),
	    s.there ? without_leaks() : NULL } };
	while (environ[n] != NULL)
		n++;
	env->all = calloc(n + 3, sizeof(*env->all));
	if (env->own[0] == NULL || env->all == NULL ||
	    (s.there && env->own[1] == NULL))
		return false;
	for (i = 0; i < n; i++)
		if (!sets_same(env->own[0], environ[i]) &&
		    (env->own[1] == NULL || !sets_same(env->own[1], environ[i])))
			env->all[j++] = environ[i];
	env->all[j++] = env->own[0];
	env->all[j] = env->own[1];
	return true;
}

_Noreturn static void
exec_child_main(int fd, const char *file, char *const *argv,
    char *const *env, const sigset_t *mask)
{
	char c;

	setpgid(0, 0);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	if (read(fd, &c, 1) == 1) {
		execve(file, argv, env);
		if (write(fd, &errno, sizeof(errno)) < 0)
			_exit(126);
	}
	_exit(127);
}

static tnfctl_errcode_t
exec_start(const char *file, char *const *argv, char *const *env, struct child *ret)
{
	sigset_t all, mask;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return tnfctl_error_set_errno(errno, "socketpair");
	/* No handler of ours may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	if ((ret->pid = fork()) == 0) {
		/* If we are killed before we say "go", the child reads the end of file. */
		close(pair[0]);
		exec_child_main(pair[1], file, argv, env, &mask);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close(pair[1]);
	ret->fd = pair[0];
	if (ret->pid > 0) {
		setpgid(ret->pid, ret->pid);
		return TNFCTL_ERR_NONE;
	}
	close(ret->fd);
	return tnfctl_error_set_errno(errno, "fork");
}

/* Until it has something to tell.  False: it is late, and is stopped where it waits. */
static bool
exec_await(struct proc *p)
{
	unsigned int pauses = 0;

	while (!p->gone && p->event == PROC_NOTHING && tnfctl_proc_pending(p, true) == NULL) {
		tnfctl_proc_take_all(p);
		if (p->event == PROC_NOTHING && tnfctl_proc_pending(p, true) == NULL) {
			if (tnfctl_proc_is_late(p)) {
				tnfctl_proc_stop(p);
				return false;
			}
			tnfctl_proc_resume_idle(p);
			tnfctl_proc_pause(pauses++);
		}
	}
	return true;
}

static tnfctl_errcode_t
exec_late(const struct proc *p)
{
	return tnfctl_proc_late_at(p, "it did not load its program and libraries",
	    "a file that does not answer, or a busy machine");
}

/* The error of a file that is there but cannot be executed: strerror(3) would mislead. */
static tnfctl_errcode_t
cannot_exec(int error, const char *file)
{
	tnfctl_errcode_t err = tnfctl_error_set_errno(error, "%s", file);

	switch (error) {
	case EACCES:
		return tnfctl_error_set(err, "%s: it is not an executable file: chmod +x, "
		    "if it is a program", file);
	case ENOENT:
		return tnfctl_error_set(err, "%s: the interpreter that it names (after #!, "
		    "or its dynamic linker) does not exist", file);
	case ENOEXEC:
		return tnfctl_error_set(err, "%s: it is neither a program for this machine "
		    "nor a script with #!", file);
	default:
		return err;
	}
}

/* Takes the waiting child to the first instruction of the program. */
static tnfctl_errcode_t
exec_become(struct proc *p, const struct child *c, const char *file)
{
	tnfctl_errcode_t err;
	int error = 0;

	if ((err = tnfctl_proc_attach(p)) != TNFCTL_ERR_NONE)
		return err;
	if (send(c->fd, "", 1, MSG_NOSIGNAL) != 1)
		return tnfctl_error_set_errno(errno, "%s", file);
	tnfctl_proc_run(p);
	if (!exec_await(p))
		return exec_late(p);
	if (read(c->fd, &error, sizeof(error)) == sizeof(error))
		return cannot_exec(error, file);
	if (p->event != PROC_EXEC)
		return tnfctl_error_set(TNFCTL_ERR_ACCES, "%s: it was killed before it "
		    "could start", file);
	p->event = PROC_NOTHING;
	p->linker = (struct linker){ 0 };
	if ((err = tnfctl_process_check_file(p->pid)) != TNFCTL_ERR_NONE)
		return err;
	return tnfctl_proc_open_memory(p);
}

/* The function of the linker that is called at each change of its list. */
static uintptr_t
find_break(pid_t pid)
{
	uintptr_t base = tnfctl_auxv_get(pid, AT_BASE);
	const struct mapping *m;
	char name[PATH_MAX + 32];
	struct maps maps;
	autoelf struct elffile *e = NULL;
	uint64_t value;

	if (base == 0 || tnf_maps_read(pid, &maps) != 0)
		return 0;
	m = tnf_maps_find(&maps, base);
	snprintf(name, sizeof(name), "/proc/%d/root%s", (int)pid,
	    m ? m->path : "");
	tnf_maps_free(&maps);
	if (m == NULL || (e = tnf_elffile_take(tnfctl_file_open(name))) == NULL ||
	    !tnf_elffile_function(e, "_dl_debug_state", &value))
		return 0;
	return base - tnf_elffile_lowest(e) + value;
}

/* Takes the program to where all start-up objects are in place.  A program without a
   linker has moved its own pointers before it makes its first system call; before
   that call we see the end of execve(). */
static tnfctl_errcode_t
exec_load(struct proc *p, const char *file)
{
	struct thread *t;
	bool in_time;
	int calls = 0;

	p->linker.brk = find_break(p->pid);
	do {
		/* Its only thread. */
		t = &p->threads[0];
		t->syscalls = !tnfctl_proc_arm(p, t);
		tnfctl_proc_resume(p, t);
		in_time = exec_await(p);
		t = tnfctl_proc_pending(p, true);
		if (p->gone || p->event != PROC_NOTHING || (in_time && t == NULL))
			return tnfctl_error_set(TNFCTL_ERR_ACCES, "%s: it ended before the "
			    "dynamic linker had loaded its objects", file);
		if (t == NULL)
			break;
		calls += t->event == PROC_SYSCALL;
		t->event = PROC_NOTHING;
	} while (!tnfctl_linkmap_look(&p->reader, &p->linker) || !p->linker.consistent ||
	    (p->linker.alone && calls < 2));
	p->threads[0].syscalls = false;
	return t != NULL ? TNFCTL_ERR_NONE : exec_late(p);
}

static tnfctl_errcode_t
open_child(const struct child *c, const char *file, const sigset_t *mask, tnfctl_handle_t **ret)
{
	struct proc *p = tnfctl_proc_new(c->pid, true);
	tnfctl_errcode_t err;

	if (p == NULL) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	tnfctl_proc_hurry(p, TNFCTL_ATTACH_MS, mask);
	if ((err = exec_become(p, c, file)) == TNFCTL_ERR_NONE &&
	    (err = exec_load(p, file)) == TNFCTL_ERR_NONE)
		return tnfctl_direct_open(p, ret);
	if (p->n == 0 && !p->gone) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	tnfctl_proc_kill(p);
	tnfctl_proc_free(p);
	return err;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_exec_open(const char *pgm, char *const *argv, char *const *envp,
    const char *ld_preload, const char *libtnfprobe_path, tnfctl_handle_t **ret)
{
	struct environment env = { .all = NULL };
	struct child c = { .pid = -1 };
	tnfctl_errcode_t err;
	char file[PATH_MAX];
	sigset_t all, mask;

	if (!find_program(pgm, file, sizeof(file)))
		return tnfctl_error_set(TNFCTL_ERR_FILENOTFOUND, "%s: no such program%s",
		    pgm, strchr(pgm, '/') ? "" : " in PATH");
	if (is_set_id(file))
		return tnfctl_error_set(TNFCTL_ERR_ACCES, "%s: it is set-id: it can be "
		    "traced only by the user whose rights it gets", file);
	if (envp == NULL && !environment_make(&env, file, libtnfprobe_path,
	    ld_preload)) {
		environment_free(&env);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	err = exec_start(file, argv, envp ? envp : env.all, &c);
	environment_free(&env);
	if (err != TNFCTL_ERR_NONE)
		return err;
	/* Our signals are blocked until the end of this function.  If one is pending, the wait for
	   the target ends early. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	err = open_child(&c, file, &mask, ret);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close(c.fd);
	return err;
}

static tnfctl_errcode_t
open_again(tnfctl_handle_t *h, struct proc *p)
{
	tnfctl_errcode_t err;

	p->event = PROC_NOTHING;
	p->linker = (struct linker){ 0 };
	if ((err = tnfctl_process_check_file(p->pid)) == TNFCTL_ERR_NONE &&
	    (err = tnfctl_proc_open_memory(p)) == TNFCTL_ERR_NONE &&
	    (err = exec_load(p, "the program that it became")) == TNFCTL_ERR_NONE &&
	    (err = tnfctl_direct_open_again(h)) == TNFCTL_ERR_NONE &&
	    h->given != NULL && h->proc_state == TNF_PROC_NO_BUFFER)
		err = tnfctl_buffer_keep(h, h->given, h->given_size);
	return err;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_exec_follow(tnfctl_handle_t *h)
{
	struct proc *p = h->ops->cont == tnfctl_direct_continue ? direct_proc(h) : NULL;
	tnfctl_errcode_t err;
	sigset_t all, mask;

	if (p == NULL || !p->ours || p->gone || p->event != PROC_EXEC)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "process %d: it has not become "
		    "another program, or was not started by us", (int)h->pid);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	tnfctl_proc_hurry(p, TNFCTL_ATTACH_MS, &mask);
	err = open_again(h, p);
	tnfctl_proc_unhurry(p);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (err != TNFCTL_ERR_NONE && !p->gone) {
		/* The target is as before: the handle can only be closed. */
		p->event = PROC_EXEC;
		tnfctl_control_forget(h);
	}
	return err;
}
