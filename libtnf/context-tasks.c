/*
 * context-tasks.c - who runs on this machine, on which devices, and what they have mapped.
 */
#include <elf.h>
#include <inttypes.h>

#include "common/files.h"
#include "common/map.h"
#include "common/proc.h"
#include "libtnf/context-write.h"

struct task {
	pid_t	tid;
	pid_t	ppid;
	long	threads;
	bool	of_kernel;	/* has no program */
	char	comm[64];
};

/* A pid as a name in /proc; 0: another name. */
static pid_t
pid_name(const char *name)
{
	long v;
	char *end;

	if (*name < '1' || *name > '9')
		return 0;
	v = strtol(name, &end, 10);
	return *end == '\0' && v <= 0x7fffffff ? (pid_t)v : 0;
}

#define TASK_OF_KERNEL	0x00200000u	/* PF_KTHREAD of the kernel */
#define TASK_WORKER	0x00000020u	/* PF_WQ_WORKER */
#define COMM_FULL	15u		/* no longer name has room in the kernel's task */

/* Parses "PID (COMM) STATE PPID ... FLAGS ... THREADS ..."; COMM may hold anything. */
static bool
parse_stat(char *text, struct task *t)
{
	char *open, *close, *p;
	unsigned flags;
	int field;

	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (open == NULL || close == NULL || close < open)
		return false;
	*close = '\0';
	snprintf(t->comm, sizeof t->comm, "%s", open + 1);
	p = close + 1;
	if (sscanf(p, " %*c %d %*d %*d %*d %*d %u", &t->ppid, &flags) != 2)
		return false;
	t->of_kernel = (flags & TASK_OF_KERNEL) != 0;
	for (field = 3; field < 20 && p != NULL; field++)
		p = strchr(p + 1, ' ');
	t->threads = p != NULL ? strtol(p + 1, NULL, 10) : 1;
	return true;
}

/* The rest of a line. */
static void
put_rest(struct context_writer *w, const char *text)
{
	context_escaped(w, text);
	putc_unlocked('\n', w->f);
}

static void
put_task(struct context_writer *w, const char *word, pid_t tid, pid_t pid,
    pid_t ppid, const char *comm)
{
	fprintf(w->f, "%s %d %d %d ", word, (int)tid, (int)pid, (int)ppid);
	put_rest(w, comm);
}

/* Writes the ids that a task's own events bear, if they differ from the machine's. */
void
context_inner(struct context_writer *w, pid_t tid, pid_t pid, pid_t inner_tid,
    pid_t inner_pid)
{
	if (inner_tid > 0 && inner_pid > 0 && inner_tid != tid)
		fprintf(w->f, "inner %d %d %d %d\n", (int)tid, (int)pid,
		    (int)inner_tid, (int)inner_pid);
}

static void
put_inner(struct context_writer *w, pid_t tid, pid_t pid)
{
	context_inner(w, tid, pid,
	    (pid_t)tnf_thread_status_last(pid, tid, "NSpid"),
	    (pid_t)tnf_thread_status_last(pid, tid, "NStgid"));
}

static void
put_threads(struct context_writer *w, const struct task *leader, bool inner)
{
	char path[64], comm[64];
	struct dirent *e;
	autoclosedir DIR *dir = NULL;
	pid_t tid;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/task", (int)leader->tid);
	if ((dir = directory_open(AT_FDCWD, path)) == NULL)
		return;
	while ((e = readdir(dir)) != NULL) {
		tid = pid_name(e->d_name);
		if (tid == 0 || tid == leader->tid ||
		    (n = tnf_proc_file(comm, sizeof comm, "%s/%d/comm", path, (int)tid)) <= 0)
			continue;
		if (comm[n - 1] == '\n')
			comm[n - 1] = '\0';
		put_task(w, "task", tid, leader->tid, leader->ppid, comm);
		if (inner)
			put_inner(w, tid, leader->tid);
	}
}

static void
put_path(struct context_writer *w, const char *word, pid_t pid, const char *path)
{
	fprintf(w->f, "%s %d ", word, (int)pid);
	put_rest(w, path);
}

static void
put_program(struct context_writer *w, pid_t pid)
{
	char path[64], program[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, program, sizeof program - 1);
	if (n <= 0)
		return;			/* not ours to see */
	program[n] = '\0';
	put_path(w, "program", pid, program);
}

#define CGROUP_ROOM	4096

/* The group of cgroup v2 or, where that says nothing, of the hierarchy by which systemd tells
   services apart. */
static bool
cgroup_of(pid_t pid, char buf[CGROUP_ROOM])
{
	bool has = tnf_proc_cgroup(pid, "", buf, CGROUP_ROOM);
	char other[CGROUP_ROOM];

	if ((has && strcmp(buf, "/") != 0) ||
	    !tnf_proc_cgroup(pid, "name=systemd", other, sizeof other))
		return has;
	memcpy(buf, other, strlen(other) + 1);
	return true;
}

/* Writes a process' group and, where this machine is a node of Kubernetes, a fact
   "container/ID": the names of pod, namespace and container. */
static void
put_group(struct context_writer *w, pid_t pid, const char *group)
{
	struct container_names names;
	struct container c;
	char word[80], text[400];

	put_path(w, "cgroup", pid, group);
	if (!tnf_container_of(group, &c) || strcmp(c.id, w->container) == 0)
		return;
	memcpy(w->container, c.id, sizeof w->container);
	if (!tnf_container_names(CONTAINER_LOGS, c.id, &names))
		return;
	snprintf(word, sizeof word, "container/%s", c.id);
	snprintf(text, sizeof text, "%s %s %s", names.pod, names.pod_namespace, names.name);
	context_fact(w, word, text);
}

static void
put_cgroup(struct context_writer *w, pid_t pid)
{
	char group[CGROUP_ROOM];

	if (cgroup_of(pid, group))
		put_group(w, pid, group);
}

static void
put_process(struct context_writer *w, pid_t pid, bool inner)
{
	struct task t = { .tid = pid };
	char text[1024];

	if (tnf_proc_file(text, sizeof text, "/proc/%d/stat", (int)pid) <= 0 ||
	    !parse_stat(text, &t))
		return;
	put_task(w, "task", pid, pid, t.ppid, t.comm);
	if (inner)
		put_inner(w, pid, pid);
	if (!t.of_kernel)
		put_program(w, pid);
	put_cgroup(w, pid);
	if (t.threads > 1)
		put_threads(w, &t, inner);
}

COMPARE_BY(told_by_thread, struct context_task, tid)

/* Processes that are not among the n told ones: a kernel may show some in /proc and not to
   its programs, as a sandbox was seen to do with its init. */
static void
put_untold(struct context_writer *w, const struct context_task *t, size_t n)
{
	autoclosedir DIR *proc = w->f != NULL ? opendir("/proc") : NULL;
	struct context_task key = { .tid = 0 };
	struct dirent *e;

	while (proc != NULL && (e = readdir(proc)) != NULL)
		if ((key.tid = pid_name(e->d_name)) != 0 &&
		    (n == 0 || bsearch(&key, t, n, sizeof *t, told_by_thread) == NULL))
			put_process(w, key.tid, false);
}

void
context_tasks(struct context_writer *w, pid_t only)
{
	if (only == 0)
		put_untold(w, NULL, 0);
	else if (w->f != NULL)
		put_process(w, only, true);
}

/* Only /proc tells what a kernel thread works on just now, and a name that is longer than a
   task has room for. */
static bool
has_longer_name(const struct context_task *t)
{
	return t->flags & TASK_OF_KERNEL &&
	    (t->flags & TASK_WORKER || strlen(t->comm) == COMM_FULL);
}

static void
put_told(struct context_writer *w, const struct context_task *t)
{
	const char *name = t->comm;
	char comm[64];

	if (has_longer_name(t) &&
	    tnf_proc_file(comm, sizeof comm, "/proc/%d/comm", (int)t->tid) > 0) {
		comm[strcspn(comm, "\n")] = '\0';
		name = comm;
	}
	put_task(w, "task", t->tid, t->pid, t->ppid, name);
	if (t->tid == t->pid && !(t->flags & TASK_OF_KERNEL))
		put_program(w, t->pid);
}

static int
told_by_groups(const void *a, const void *b)
{
	const struct context_task *p = *(const struct context_task *const *)a;
	const struct context_task *q = *(const struct context_task *const *)b;

	if (p->groups != q->groups)
		return p->groups < q->groups ? -1 : 1;
	return (p->pid > q->pid) - (p->pid < q->pid);
}

/*
 * Writes the group of processes that all were in the same groups when they were told.  We ask
 * for two of them, since one may have moved to another group before it ended.  Old hierarchies say
 * "/" for a process that has ended and was not waited for; kernel threads do not end like that.
 */
static void
put_cgroup_of_all(struct context_writer *w, const struct context_task **t, size_t n)
{
	char first[CGROUP_ROOM], last[CGROUP_ROOM];
	bool same = n > 2 && cgroup_of(t[0]->pid, first) &&
	    cgroup_of(t[n - 1]->pid, last) && strcmp(first, last) == 0 &&
	    (strcmp(first, "/") != 0 || t[0]->flags & TASK_OF_KERNEL);

	for (size_t i = 0; i < n; i++)
		if (same)
			put_group(w, t[i]->pid, first);
		else
			put_cgroup(w, t[i]->pid);
}

static void
put_told_groups(struct context_writer *w, const struct context_task **t, size_t n)
{
	size_t i, same;

	qsort(t, n, sizeof *t, told_by_groups);
	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && t[i + same]->groups == t[i]->groups; same++)
			;
		put_cgroup_of_all(w, t + i, same);
	}
}

void
context_tasks_told(struct context_writer *w, const struct context_task *t, size_t n)
{
	const struct context_task **process = calloc(n + 1, sizeof *process);
	size_t i, processes = 0;

	for (i = 0; w->f != NULL && process != NULL && i < n; i++) {
		put_told(w, &t[i]);
		if (t[i].tid == t[i].pid)
			process[processes++] = &t[i];
	}
	if (processes > 0)
		put_told_groups(w, process, processes);
	if (process != NULL)
		put_untold(w, t, n);
	free(process);
}

void
context_ended(struct context_writer *w, pid_t tid, pid_t pid, pid_t ppid,
    const char *comm)
{
	if (w->f != NULL)
		put_task(w, "ended", tid, pid, ppid, comm);
}

static void
put_at_time(struct context_writer *w, const char *word, pid_t tid, int64_t time, const char *text)
{
	if (w->f == NULL)
		return;
	fprintf(w->f, "%s %d %" PRId64 " ", word, (int)tid, time);
	put_rest(w, text);
}

void
context_renamed(struct context_writer *w, pid_t tid, int64_t time, const char *comm)
{
	put_at_time(w, "named", tid, time, comm);
}

void
context_ran(struct context_writer *w, pid_t pid, int64_t time, const char *path)
{
	put_at_time(w, "ran", pid, time, path);
}

/* Names in /sys/dev/block are "MAJOR:MINOR", links to ".../NAME". */
void
context_devices(struct context_writer *w)
{
	char target[1024];
	unsigned major, minor;
	autoclosedir DIR *dir = w->f != NULL ? opendir("/sys/dev/block") : NULL;
	const char *name;
	struct dirent *e;
	ssize_t n;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof target - 1);
		if (n <= 0 || sscanf(e->d_name, "%u:%u", &major, &minor) != 2)
			continue;
		target[n] = '\0';
		name = strrchr(target, '/');
		fprintf(w->f, "device %u %u ", major, minor);
		put_rest(w, name != NULL ? name + 1 : target);
	}
}

/*
 * The files belong to the process and may be anything: sizes are bounded, and
 * only ordinary files are read.
 */
#define PHDRS_MAX	64
#define NOTES_MAX	4096
#define BUILD_ID_MAX	32	/* bytes; usual are 16 and 20 */
#define OBJECTS_MAX	4096

#if UINTPTR_MAX > 0xffffffffu
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#define ELF_CLASS	ELFCLASS64
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#define ELF_CLASS	ELFCLASS32
#endif

/* Looks for the build id among notes; in hexadecimal to 'ret'. */
static bool
find_build_id(const unsigned char *notes, size_t n, char *ret)
{
	size_t at = 0, name, desc, i;
	Elf32_Nhdr h;

	while (n - at >= sizeof h) {
		memcpy(&h, notes + at, sizeof h);
		at += sizeof h;
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name > n - at || desc > n - at - name)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0 && h.n_descsz > 0 &&
		    h.n_descsz <= BUILD_ID_MAX) {
			for (i = 0; i < h.n_descsz; i++)
				sprintf(ret + 2 * i, "%02x",
				    notes[at + name + i]);
			return true;
		}
		at += name + desc;
	}
	return false;
}

static bool
build_id_of_fd(int fd, char *ret)
{
	unsigned char notes[NOTES_MAX];
	elf_segment ph;
	elf_header eh;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, &eh, sizeof eh, 0) != (ssize_t)sizeof eh ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELF_CLASS ||
	    eh.e_phentsize != sizeof ph || eh.e_phnum > PHDRS_MAX)
		return false;
	for (int i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof ph, (off_t)(eh.e_phoff +
		    (uint64_t)i * sizeof ph)) != (ssize_t)sizeof ph)
			return false;
		if (ph.p_type != PT_NOTE)
			continue;
		ssize_t n = pread(fd, notes, ph.p_filesz < sizeof notes ?
		    (size_t)ph.p_filesz : sizeof notes, (off_t)ph.p_offset);
		if (n > 0 && find_build_id(notes, (size_t)n, ret))
			return true;
	}
	return false;
}

/* Reads the mapped file itself where we may, else the file that has its name now. */
static void
build_id(pid_t pid, const struct mapping *m, char *ret)
{
	char name[4096 + 64];

	strcpy(ret, "-");
	autoclose int fd = open(tnf_mapping_file(m, pid, name), O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	if (fd < 0 && strlen(m->path) < 4096) {
		snprintf(name, sizeof name, "/proc/%d/root%s", (int)pid, m->path);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (fd >= 0 && !build_id_of_fd(fd, ret))
		strcpy(ret, "-");
}

void
context_objects(struct context_writer *w, pid_t pid)
{
	char id[2 * BUILD_ID_MAX + 1];
	const struct mapping *m;
	struct maps maps;

	if (w->f == NULL || tnf_maps_read(pid, &maps) != 0)
		return;
	for (m = maps.m; m < maps.m + maps.n && m < maps.m + OBJECTS_MAX; m++) {
		if (!m->exec || m->path[0] != '/')
			continue;
		build_id(pid, m, id);
		fprintf(w->f, "object %d %" PRIxPTR " %" PRIxPTR " %" PRIx64 " %s ",
		    (int)pid, m->start, m->end, m->offset, id);
		put_rest(w, m->path);
	}
	tnf_maps_free(&maps);
}

/* The program header of the first code, of a file that build_id_of_fd() has accepted. */
static bool
first_code(int fd, elf_segment *ret)
{
	elf_header eh;

	if (pread(fd, &eh, sizeof eh, 0) != (ssize_t)sizeof eh)
		return false;
	for (int i = 0; i < eh.e_phnum && i < PHDRS_MAX; i++)
		if (pread(fd, ret, sizeof *ret, (off_t)(eh.e_phoff +
		    (uint64_t)i * sizeof *ret)) == (ssize_t)sizeof *ret &&
		    ret->p_type == PT_LOAD && ret->p_flags & PF_X)
			return true;
	return false;
}

void
context_mapped(struct context_writer *w, const struct context_mapped *m)
{
	char id[2 * BUILD_ID_MAX + 1];
	uint64_t offset = m->offset;
	elf_segment code;
	struct stat st;
	int fd = w->f == NULL ? -1 : tnf_open_regular(m->path, O_RDONLY | O_NOFOLLOW, &st);
	bool same = fd >= 0 && st.st_ino == m->inode && st.st_dev == m->device &&
	    build_id_of_fd(fd, id);

	if (same && m->main && (same = first_code(fd, &code)))
		offset = code.p_offset;
	if (fd >= 0)
		close(fd);
	if (w->f == NULL || (m->main && !same))
		return;
	fprintf(w->f, "object %d %" PRIx64 " %" PRIx64 " %" PRIx64 " %s ", (int)m->pid, m->start,
	    m->end, offset, same ? id : "-");
	put_rest(w, m->path);
}

/* A symbol does not name an address that is farther off: a kernel that lists no data has a
   few marks of the linker there, far from what they seem to name. */
#define SYMBOL_SPAN_MAX	(1u << 16)

COMPARE_NUMBERS(compare_u64, uint64_t)

/* Each symbol once. */
static void
context_symbols_put(struct context_writer *w, const struct symtab *table,
    const uint64_t *addrs, size_t n)
{
	struct symtab_symbol s;
	uint64_t put = 0;

	for (size_t i = 0; i < n; i++) {
		if (symtab_find(table, addrs[i], &s) != 0 || s.start == put)
			continue;
		if (s.end - s.start > SYMBOL_SPAN_MAX)
			s.end = s.start + SYMBOL_SPAN_MAX;
		if (addrs[i] >= s.end)
			continue;
		put = s.start;
		fprintf(w->f, "symbol %" PRIx64 " %" PRIx64 " %s %s\n", s.start,
		    s.end, *s.module != '\0' ? s.module : "-", s.name);
	}
}

static int
context_symbols_look_up(struct context_writer *w, struct symtab *table,
    uint64_t *addrs, size_t n)
{
	qsort(addrs, n, sizeof *addrs, compare_u64);
	context_symbols_put(w, table, addrs, n);
	symtab_free(table);
	return 0;
}

int
context_symbols(struct context_writer *w, const char *list, uint64_t *addrs,
    size_t n, uint64_t shift)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_read(list, shift, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}

int
context_kernel_symbols(struct context_writer *w, uint64_t *addrs, size_t n)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_kernel(SYMTAB_DIRECTORY, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}
