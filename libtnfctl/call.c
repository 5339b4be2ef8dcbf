/*
 * call.c - call functions of the target, on a stack of our own.
 *
 * One thread of the target makes the call.  If it has to wait for a lock, the other
 * threads run and release it.  So only the calling thread must be at a place where
 * it holds no lock that dlopen() or malloc() need.  Such a thread is either
 *
 * - asleep in a system call that waits for something, or
 * - in code outside the linker, libtnfprobe and the object that has malloc,
 *
 * and its stack, from there upwards, has no function of the linker or libtnfprobe and no
 * signal handler, which may have interrupted anything.  If no thread is at such a
 * place, the target runs for a moment and we look again.
 *
 * stack_is_fine() takes each word that looks like a return address into these objects for one:
 * that is cheap, and needs nothing from the program.  But such a word may be a remnant of an
 * earlier call, such as the linker's at the program's start, in a large array that is not
 * written yet.  So if there is such a word, callers_are_fine() walks the frames (frames.c) and
 * decides.  So it does if a function returns to libtnfprobe because its return is a fast probe:
 * the walk finds the function that has called it.
 *
 * The thread must not be in a restartable sequence (rseq(2)), either.  The kernel would find
 * the thread outside of the sequence during the call and forget the sequence; afterwards we
 * set the thread back into it, and the kernel would not abort it when it has to.
 *
 * A thread's stack may be small: coroutines have stacks of 16 KiB or less, side by side,
 * and the memory map does not tell where one ends.  So the calls get a stack
 * of their own, mapped in the target for that time.  The call of mmap() that
 * maps this stack needs one, too; we use the far end of the main thread's stack, in
 * memory that has never been used, while every other thread is stopped.
 */
#include <sys/mman.h>

#include <elf.h>

#include "libtnfctl/control.h"

#define CALL_MS		10000
/*
 * Between two looks at its threads the target runs for one to ten times TRY_US, in a fixed rotation.
 * Every LONG_TRY-th run is longer: twice so long after TRIES_ALIKE looks, and again twice so long after
 * as many more, up to TRY_SHIFT_MAX times.
 */
#define TRY_US		100
#define TRY_MEAN_US	550
#define TRIES_ALIKE	100
#define TRY_SHIFT_MAX	5
#define LONG_TRY	16
#define SCAN_MAX	(256u << 10)	/* of the stack */
#define CODE_MAX	(8u << 20)	/* at most so much code is searched for the restorer */
#define RESTORER_MAX	16u
#define CODE_PIECE	(128u << 10)	/* read at a time: nearly always the first one has it */
#define STACK_SIZE	(256u << 10)	/* of ours */
#define PAD_SIZE	(REMOTE_FRAME + 2048u)	/* for mmap() */

/* Calls in which threads wait, and that no program makes while it holds a lock of malloc's
   or the linker's. */
static const long waiting_calls[] = {
	SYS_read, SYS_readv, SYS_write, SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
	SYS_epoll_pwait2, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_futex, SYS_accept, SYS_accept4, SYS_recvfrom,
	SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_connect, SYS_wait4,
	SYS_waitid, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
	SYS_restart_syscall, SYS_semop, SYS_semtimedop, SYS_msgrcv, SYS_flock,
	SYS_io_getevents, SYS_io_uring_enter,
#ifdef SYS_poll			/* x86-64 has them, arm64 does not */
	SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#endif
};

static const char confined[] = "all of its threads have a seccomp filter, "
    "which might kill it for opening a file";

static bool
is_waiting_call(long call)
{
	for (size_t i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++)
		if (waiting_calls[i] == call)
			return true;
	return false;
}

static bool
is_inside(const struct mapping *m, uintptr_t address)
{
	return m != NULL && address >= m->start && address < m->end;
}

/* True if this word of a stack says that its thread may hold a lock. */
static bool
is_bad_word(const struct calls *c, uint64_t word)
{
	word = tnfctl_arch_address(word);
	return word == c->restorer || (word == c->back && word != 0) || ((is_inside(c->linker, word) ||
	    is_inside(c->library, word)) && tnfctl_arch_is_return_address(c->p, word));
}

/* True if the stack has, from sp up, no word of a function that may hold a lock. */
static bool
stack_is_fine(const struct calls *c, uintptr_t sp)
{
	const struct mapping *m = tnf_maps_find(&c->maps, sp);
	uint64_t *words;
	size_t i, n;
	bool fine;

	if (m == NULL)
		return false;
	n = m->end - sp < SCAN_MAX ? m->end - sp : SCAN_MAX;
	n /= sizeof(*words);
	if ((words = calloc(n + 1, sizeof(*words))) == NULL)
		return false;
	fine = tnfctl_proc_read(c->p, sp, words, n * sizeof(*words));
	for (i = 0; i < n && fine; i++)
		fine = !is_bad_word(c, words[i]);
	free(words);
	return fine;
}

static bool
caller_is_fine(void *arg, uintptr_t ip)
{
	const struct calls *c = arg;

	return ip == c->back || (!is_inside(c->linker, ip) && !is_inside(c->library, ip));
}

static bool
callers_are_fine(struct calls *c, const struct thread *t)
{
	if (c->frames == NULL)
		c->frames = tnfctl_frames_new(c->p, &c->maps, c->back);
	return c->frames != NULL && tnfctl_frames_all(c->frames, t, caller_is_fine, c);
}

static bool
code_is_fine(const struct calls *c, uintptr_t ip)
{
	const struct mapping *m = tnf_maps_find(&c->maps, ip), *a;

	if (m == NULL || !m->exec)
		return false;
	if (m->path[0] != '/')
		return strcmp(m->path, "[vdso]") == 0;
	a = tnf_maps_find(&c->maps, c->malloc);
	return a == NULL || strcmp(a->path, m->path) != 0;
}

/* True if the thread has a seccomp filter.  Such a filter might kill for what we call. */
static bool
is_confined(const struct calls *c, const struct thread *t)
{
	return tnf_thread_status(c->p->pid, t->tid, "Seccomp") > 0;
}

/* True if the thread can make our call: it surely holds no lock that the call may need. */
static bool
thread_is_fine(struct calls *c, const struct thread *t)
{
	uintptr_t ip, sp;
	long call;

	if (!t->stopped || t->signal != 0 || t->event != PROC_NOTHING ||
	    !tnfctl_arch_where(c->p, t, &ip, &sp, &call))
		return false;
	if (is_inside(c->linker, ip) || is_inside(c->library, ip) ||
	    !(call >= 0 ? is_waiting_call(call) : code_is_fine(c, ip)))
		return false;
	return !tnfctl_remote_is_in_sequence(c->p, t, ip) &&
	    tnfctl_arch_is_thread(c->p, t->tid) && !is_confined(c, t) &&
	    (stack_is_fine(c, sp) || callers_are_fine(c, t));
}

/* Prefers a thread that sleeps in a call: a thread that computes may be about to look at
   errno, which our calls change. */
static struct thread *
choose_thread(struct calls *c)
{
	struct thread *t, *end = c->p->threads + c->p->n;
	uintptr_t ip, sp;
	long call;

	for (t = c->p->threads; t < end; t++)
		if (t->stopped && tnfctl_arch_where(c->p, t, &ip, &sp, &call) &&
		    call >= 0 && thread_is_fine(c, t))
			return t;
	for (t = c->p->threads; t < end; t++)
		if (thread_is_fine(c, t))
			return t;
	return NULL;
}

/* Finds these bytes of code in the mapping that has this address; 0: they are not there. */
static uintptr_t
find_code(const struct calls *c, uintptr_t address, const unsigned char *code,
    size_t size)
{
	const struct mapping *m = tnf_maps_find(&c->maps, address);
	unsigned char *copy, *at;
	uintptr_t found = 0;
	size_t n, piece;

	if (m == NULL || size == 0 || (copy = malloc(CODE_PIECE)) == NULL)
		return 0;
	n = m->end - m->start < CODE_MAX ? m->end - m->start : CODE_MAX;
	/* The next piece begins with the last bytes of this one: code may be in both. */
	for (size_t i = 0; found == 0 && i + size <= n; i += CODE_PIECE - size + 1) {
		piece = n - i < CODE_PIECE ? n - i : CODE_PIECE;
		if (!tnfctl_proc_read(c->p, m->start + i, copy, piece))
			break;
		if ((at = memmem(copy, piece, code, size)) != NULL)
			found = m->start + i + (uintptr_t)(at - copy);
	}
	free(copy);
	return found;
}

/* The executable mapping of the object whose first mapping this is. */
static const struct mapping *
find_exec(const struct maps *maps, const struct mapping *first)
{
	for (const struct mapping *m = first; m != NULL && m < maps->m + maps->n; m++)
		if (m->exec && mapping_same_file(m, first))
			return m;
	return NULL;
}

/* An address in the mapping that has the code for signal handlers to return. */
static uintptr_t
sigreturn_home(const struct calls *c)
{
	if (tnfctl_arch_sigreturn_home == NULL)
		return c->mmap;
	for (size_t i = 0; i < c->maps.n; i++)
		if (strcmp(c->maps.m[i].path, tnfctl_arch_sigreturn_home) == 0)
			return c->maps.m[i].start;
	return 0;
}

/* True if the code is still there. */
static bool
is_restorer(const struct calls *c, uintptr_t address)
{
	unsigned char code[RESTORER_MAX];
	size_t n = tnfctl_arch_sigreturn_size;

	return address != 0 && n <= sizeof(code) && tnfctl_proc_read(c->p, address, code, n) &&
	    memcmp(code, tnfctl_arch_sigreturn, n) == 0;
}

static void
find_linker(struct calls *c)
{
	uintptr_t base = tnfctl_auxv_get(c->h->pid, AT_BASE);

	if (base != 0)
		c->linker = find_exec(&c->maps, tnf_maps_find(&c->maps, base));
}

static void
find_addresses(struct calls *c)
{
	struct tnf_process_control control;
	const struct mapping *m;

	if (c->h->control != 0 &&
	    (m = tnf_maps_find(&c->maps, c->h->control)) != NULL && m->inode != 0)
		c->library = find_exec(&c->maps, tnf_maps_file_start(&c->maps, m));
	/* An older libtnfprobe has less. */
	if (c->h->control != 0 && c->h->ops->read(c->h, c->h->control, &control, sizeof(control)) &&
	    control.size >= sizeof(control))
		c->back = (uintptr_t)control.fast_return;
	tnfctl_objects_function(c->h, NULL, "malloc", &c->malloc);
	tnfctl_objects_function(c->h, "libc.so.6", "mmap", &c->mmap);
	tnfctl_objects_function(c->h, "libc.so.6", "munmap", &c->munmap);
	if (!is_restorer(c, c->h->restorer))
		c->h->restorer = find_code(c, sigreturn_home(c), tnfctl_arch_sigreturn,
		    tnfctl_arch_sigreturn_size);
	c->restorer = c->h->restorer;
}

static bool
all_confined(const struct calls *c)
{
	for (size_t i = 0; i < c->p->n; i++)
		if (!is_confined(c, &c->p->threads[i]))
			return false;
	return c->p->n > 0;
}

/* Returns a reason for which no call can be made, as far as one is seen before anything is touched;
   NULL: there is none. */
static const char *
find_obstacle(const struct calls *c)
{
	char text[256];

	if (all_confined(c))
		return confined;
	if (tnf_proc_status_text(c->h->pid, "x86_Thread_features", text,
	    sizeof(text)) && strstr(text, "shstk") != NULL)
		return "the process has a shadow stack";
	if (c->linker == NULL)
		return "its dynamic linker cannot be found";
	if (strstr(c->linker->path, "musl") != NULL)
		return "its C library is musl, not glibc";
	if (c->mmap == 0 || c->munmap == 0 || c->restorer == 0)
		return "its C library is of an unknown kind";
	return NULL;
}

static bool
is_zero(const unsigned char *at, size_t n)
{
	while (n > 0 && at[n - 1] == 0)
		n--;
	return n == 0;
}

/* True if a thread's stack pointer is in [start, end). */
static bool
has_stack_pointer(const struct calls *c, uintptr_t start, uintptr_t end)
{
	uintptr_t ip, sp;
	long call;

	for (size_t i = 0; i < c->p->n; i++)
		if (tnfctl_arch_where(c->p, &c->p->threads[i], &ip, &sp, &call) &&
		    sp >= start && sp < end)
			return true;
	return false;
}

/*
 * Returns the end of PAD_SIZE unused bytes at the low end of the main thread's stack, or 0.  If these
 * are not all zero, or a thread's stack pointer is near, writes zeros below the mapping, for which
 * the kernel extends it.
 */
static uintptr_t
find_pad(const struct calls *c)
{
	unsigned char old[PAD_SIZE];
	uintptr_t start = 0;
	struct maps maps;

	/* The stack may have grown since the maps were read. */
	if (tnf_maps_read(c->h->pid, &maps) != 0)
		return 0;
	for (size_t i = 0; i < maps.n; i++)
		if (strcmp(maps.m[i].path, "[stack]") == 0)
			start = maps.m[i].start;
	tnf_maps_free(&maps);
	if (start < PAD_SIZE)
		return 0;
	if (tnfctl_proc_read(c->p, start, old, sizeof(old)) &&
	    is_zero(old, sizeof(old)) &&
	    !has_stack_pointer(c, start, start + 2 * PAD_SIZE))
		return start + PAD_SIZE;
	memset(old, 0, sizeof(old));
	return tnfctl_proc_write(c->p, start - PAD_SIZE, old, sizeof(old)) ? start : 0;
}

/* Returns why a call has no result; NULL: it has one. */
static const char *
result_message(const struct calls *c, enum remote_result result)
{
	switch (result) {
	case REMOTE_DONE:
		return NULL;
	case REMOTE_LATE:
		return "a function has not returned in time; it goes on by "
		    "itself";
	case REMOTE_ENDED:
		return c->p->gone ? "it has ended" :
		    "it became another program (exec)";
	default:
		return "no registers or memory of it can be written";
	}
}

/* How long the target runs before the next look.  Most times are short, because a thread may be
   at a good place for a moment only.  Some are long, because on a busy machine a thread gets no
   processor in a short time, and would stay where it is. */
static long
try_us(long i)
{
	long shift = i % LONG_TRY == 0 ? i / TRIES_ALIKE : 0;

	return TRY_US * (1 + i * 7 % 10) <<
	    (shift < TRY_SHIFT_MAX ? shift : TRY_SHIFT_MAX);
}

static const char *
no_thread(const struct calls *c)
{
	return all_confined(c) ? confined : "no thread of it came to a place "
	    "where it surely holds no lock";
}

/* Lets the target run until one of its threads can make a call. */
static const char *
await_thread(struct calls *c, struct thread **ret)
{
	long i, left = (c->tries - 1L) * TRY_MEAN_US;

	for (i = 1; ; i++) {
		if ((*ret = choose_thread(c)) != NULL)
			return NULL;
		if (left <= 0 || tnfctl_proc_is_late(c->p))
			break;
		left -= try_us(i);
		tnfctl_proc_run_for(c->p, try_us(i));
		if (c->p->gone || c->p->n == 0 || c->p->event != PROC_NOTHING)
			return result_message(c, REMOTE_ENDED);
	}
	return no_thread(c);
}

static const char *
call_on(struct calls *c, const struct thread *t, struct call *call,
    uintptr_t stack)
{
	enum remote_result result;

	call->tid = t->tid;
	call->stack = stack;
	call->restorer = c->restorer;
	call->waits = false;
	call->result = call->error = 0;
	result = tnfctl_remote_call(c->p, call, CALL_MS);
	c->in_use |= result == REMOTE_LATE;
	return result_message(c, result);
}

/* Makes a call without the calls' own stack, which is not mapped yet, or is to be unmapped. */
static const char *
call_on_pad(struct calls *c, struct call *call)
{
	static const unsigned char zero[PAD_SIZE];
	struct thread *t;
	const char *why;
	uintptr_t pad;

	if ((why = await_thread(c, &t)) != NULL)
		return why;
	if ((pad = find_pad(c)) == 0)
		return "the main thread's stack has no room left";
	why = call_on(c, t, call, pad);
	if (why == NULL)
		tnfctl_proc_write(c->p, pad - PAD_SIZE, zero, PAD_SIZE);
	return why;
}

/* True if the process has only one thread, and that is in the linker: so it is with a program that
   we have started, until its first own instruction. */
static bool
is_in_linker(const struct calls *c)
{
	uintptr_t ip, sp;
	long call;

	return c->p->n == 1 && tnfctl_arch_where(c->p, &c->p->threads[0], &ip, &sp, &call) &&
	    is_inside(c->linker, ip);
}

const char *
tnfctl_call_begin(struct calls *c, tnfctl_handle_t *h, int tries)
{
	struct call call = { .args = { 0, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uintptr_t)-1, 0 },
	    .alone = true };
	const char *why;

	*c = (struct calls){ .h = h, .p = direct_proc(h), .tries = tries };
	if (tnf_maps_read(h->pid, &c->maps) != 0)
		return "its memory map cannot be read";
	find_linker(c);
	/* The search for the functions reads the C library's file. */
	if (tries == 1 && is_in_linker(c))
		return no_thread(c);
	find_addresses(c);
	if ((why = find_obstacle(c)) != NULL)
		return why;
	call.function = c->mmap;
	if ((why = call_on_pad(c, &call)) != NULL)
		return why;
	if (call.error != 0 || call.result <= 0)
		return "it has no memory left";
	c->stack = (uintptr_t)call.result;
	if (tnfctl_left_settle(c) &&
	    h->ops->write(h, h->control_calls, &c->stack, sizeof(c->stack)))
		c->noted = h->control_calls;
	return NULL;
}

void
tnfctl_call_end(struct calls *c)
{
	struct call call = { .function = c->munmap,
	    .args = { c->stack, STACK_SIZE }, .alone = true };
	static const uintptr_t none;

	if (c->stack != 0 && !c->in_use && !c->p->gone &&
	    c->p->event == PROC_NOTHING) {
		if (c->noted != 0)
			c->h->ops->write(c->h, c->noted, &none, sizeof(none));
		call_on_pad(c, &call);
	}
	tnfctl_frames_free(c->frames);
	c->frames = NULL;
	tnf_maps_free(&c->maps);
}

/* Data lie at the end, where the stack begins. */
static uintptr_t
data_at(const struct calls *c, size_t offset)
{
	return c->stack + STACK_SIZE - CALL_DATA + offset;
}

uintptr_t
tnfctl_call_put(struct calls *c, size_t offset, const void *data, size_t n)
{
	uintptr_t at = data_at(c, offset);

	return offset <= CALL_DATA && n <= CALL_DATA - offset &&
	    tnfctl_proc_write(c->p, at, data, n) ? at : 0;
}

bool
tnfctl_call_get(struct calls *c, size_t offset, void *ret, size_t n)
{
	return offset <= CALL_DATA && n <= CALL_DATA - offset &&
	    tnfctl_proc_read(c->p, data_at(c, offset), ret, n);
}

const char *
tnfctl_call_make(struct calls *c, struct call *call)
{
	struct thread *t;
	const char *why;

	/* There is one stack, and a call that took too long is still on it.
	   We must not close descriptors that this call uses, either. */
	if (c->in_use)
		return result_message(c, REMOTE_LATE);
	why = await_thread(c, &t);
	return why != NULL ? why : call_on(c, t, call, data_at(c, 0));
}

/* Calls syscall(3), and not the C library's function for this system call: that one may be a
   cancellation point, at which a thread that has been cancelled would end. */
bool
tnfctl_call_kernel(struct calls *c, long number, uintptr_t a, uintptr_t b,
    uintptr_t d, uintptr_t e, long *ret)
{
	struct call call = { .args = { (uintptr_t)number, a, b, d, e },
	    .alone = true };

	if (!tnfctl_objects_function(c->h, "libc.so.6", "syscall", &call.function) ||
	    tnfctl_call_make(c, &call) != NULL || call.result < 0)
		return false;
	*ret = call.result;
	return true;
}

bool
tnfctl_call_get_of(const struct calls *c, uintptr_t stack, void *ret, size_t n)
{
	return n <= CALL_DATA && tnfctl_proc_read(c->p, stack + STACK_SIZE - CALL_DATA, ret, n);
}

bool
tnfctl_call_is_used(const struct calls *c, uintptr_t stack)
{
	const struct thread *t, *end = c->p->threads + c->p->n;
	uintptr_t ip, sp;
	long call;

	for (t = c->p->threads; t < end; t++)
		if (!t->stopped || !tnfctl_arch_where(c->p, t, &ip, &sp, &call) ||
		    sp - stack <= STACK_SIZE)
			return true;
	return false;
}
