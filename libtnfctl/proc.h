/*
 * proc.h - a process: what is loaded in it; hold it still, look inside, call its functions, let it go.
 * arch.h, common/proc.h and the headers of ptrace(2) and wait(2) come with it.
 */
#ifndef LIBTNFCTL_PROC_H
#define LIBTNFCTL_PROC_H

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/proc.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/handle.h"

/*
 * The objects that are loaded in the process.
 */
/* Symbols that we look for in every object. */
enum known {
	KNOWN_CONTROL,		/* libtnfprobe: _tnf_process_control */
	KNOWN_INTERNAL_FLAG,	/* libtnfctl: the target controls itself */
	KNOWN_EXTERNAL_PID,	/* libtnfctl: who is controlled from outside */
	KNOWN_COUNT
};

struct section {
	uintptr_t address;
	size_t	 size;
};

struct object {
	struct object	*next;
	char		*name;		/* as users see it */
	char		*file;		/* where to open it, if fd is -1 */
	int		 fd;
	uintptr_t	 bias;		/* memory address - file address */
	uintptr_t	 key[2];	/* what tells it from a later one there */
	struct section	*sections;	/* of control blocks */
	size_t		 nsections;
	uintptr_t	 known[KNOWN_COUNT];
	bool		 seen;
	bool		 fresh;		/* its probes have not been read yet */
	bool		 main;		/* the executable */
};

/* The kind of target says this about an object. */
struct object_info {
	const char	*name;
	const char	*file;
	int		 fd;		/* stays the caller's; -1: open 'file' */
	uintptr_t	 bias;		/* or NO_BIAS: compute from 'base' */
	uintptr_t	 base;		/* where it is loaded, 0 unknown */
	uintptr_t	 key[2];
	bool		 main;
};
#define NO_BIAS		UINTPTR_MAX

struct objects_change {
	bool	came;
	bool	went;
};

/* Brings h->objects up to date; probes of what went are marked gone. */
tnfctl_errcode_t tnfctl_objects_refresh(tnfctl_handle_t *, struct objects_change *ret);
/* For target_ops.objects: is it known?  Then it is marked as still there. */
bool	tnfctl_object_known(tnfctl_handle_t *, const uintptr_t key[2]);
tnfctl_errcode_t tnfctl_object_seen(tnfctl_handle_t *, const struct object_info *);
void	tnfctl_objects_free(tnfctl_handle_t *);

/* Opens the file of an object; -1: it cannot be had any more. */
int	tnfctl_object_open(const struct object *);
/* A regular file, whatever the name leads to; else -1 and errno. */
int	tnfctl_file_open(const char *path);

/* The function's address in the target; lib: base name or NULL for the first
   that has it. */
bool	tnfctl_objects_function(tnfctl_handle_t *, const char *lib, const char *name,
	    uintptr_t *ret);
/* Static storage of the caller; false: no name for it. */
bool	tnfctl_objects_function_at(tnfctl_handle_t *, uintptr_t, char *ret, size_t);
/* Address of a known symbol, the first that defines it; 0: none. */
uintptr_t tnfctl_objects_known(tnfctl_handle_t *, enum known, struct object **ret);

/* A process, and how its memory is read: all n bytes, or false. */
struct reader {
	pid_t	 pid;
	bool	 (*read)(void *arg, uintptr_t, void *, size_t n);
	void	 *arg;
};

struct linker {
	uintptr_t debug;	/* its struct r_debug; 0: not found yet */
	uintptr_t brk;		/* function it calls at each change */
	bool	 consistent;	/* as of the latest tnfctl_linkmap_look() */
	uint64_t print;		/* changes when the list does */
	bool	 alone;		/* there is none: the program is linked statically */
};

/* Without 'debug' finds it; then reads state and fingerprint.  False: the
   program's linker has not come that far. */
bool	tnfctl_linkmap_look(const struct reader *, struct linker *);
/* target_ops.objects of a process that we see through /proc: calls tnfctl_object_seen() with
   the handle for each object in the list. */
tnfctl_errcode_t tnfctl_linkmap_objects(tnfctl_handle_t *, const struct reader *,
    struct linker *);

/* An entry of /proc/PID/auxv; 0: not there. */
uintptr_t tnfctl_auxv_get(pid_t, unsigned long type);

#define TEXT_SIZE	4096u	/* of the longest attribute string, with NUL */

/* Many strings lie close together: the surroundings are kept. */
struct text;

struct text *tnfctl_text_new(void);	/* free() it */
/* False: no readable memory, or no NUL within TEXT_SIZE. */
bool	tnfctl_text_read(tnfctl_handle_t *, struct text *, uintptr_t,
	    char ret[TEXT_SIZE]);

/*
 * The process held.
 */

/* The instruction in the target that stops it where its linker tells of a change, or where the
   program itself begins (proc-note.c). */
#define PLANT_CODE	4

struct plant {
	uintptr_t at;		/* 0: there has been none in this program */
	uint8_t	 code[PLANT_CODE]; /* what is there without it */
	bool	 there;
	bool	 start;		/* the program begins here */
	bool	 hit;		/* a thread has stopped here */
	bool	 forked;	/* a child may have a copy: no other is planted for the linker */
};

enum proc_event {
	PROC_NOTHING,
	PROC_LINKER,		/* the linker has called its r_brk */
	PROC_SYSCALL,
	PROC_FORK,
	PROC_EXEC,
	PROC_EXITED,
	PROC_KILLED
};

/* A system call that a thread slept in when it was asked to stop, and where it
   would have returned to; call -1: none that we know of. */
struct asleep {
	long	 call;
	uint64_t arg[6];
	uint64_t sp, pc;
};

struct thread {
	pid_t	 tid;
	bool	 stopped;	/* we have seen it stop, and it has not run since */
	int	 group;		/* ... by this signal, in a job control stop; or 0 */
	bool	 asked;		/* to stop */
	bool	 absent;	/* dead, or deep in the kernel: nothing to wait for */
	bool	 armed;		/* breakpoint register set */
	bool	 syscalls;	/* stop it at each system call */
	bool	 leave_group;	/* let it run although the others are stopped */
	bool	 foreign;	/* of another process: let it go when it stops */
	int	 signal;	/* that it is about to get */
	enum proc_event event;	/* that nobody has been told yet */
	pid_t	 child;		/* PROC_FORK */
	struct plant plant;	/* of a foreign one, or of the child: as it was at its birth */
	unsigned int options;	/* of ptrace */
#ifdef __aarch64__
	struct asleep asleep;	/* registers tell it elsewhere */
	struct asleep before;	/* ... and when it was last let run */
#endif
};

/* Threads that have ended, with their names: a ring of the latest; all zero is an empty one. */
struct ended {
	tnfctl_ended_t *threads;
	size_t	 next;		/* the oldest, once the ring is full */
	size_t	 n;
};

struct proc {
	pid_t	 pid;
	bool	 ours;		/* exec handle: our child, dies with us */
	bool	 child;		/* of our client's own, who will wait for it */
	bool	 gone;
	bool	 follow;	/* forks */
	bool	 load;		/* libtnfprobe, also if there is no probe */
	bool	 works;		/* it runs: tnfctl_proc_work_begin() */
	int64_t	 worked;	/* CLOCK_MONOTONIC, ns, when we last looked at it while it ran */
	bool	 suspended;	/* by a controller: we may let it run again */
	/* We attached at the start of an exec, where there is no control block yet that
	   could say whether a controller left the process stopped.  So only
	   TNFCTL_TARG_RESUME ends its stop. */
	bool	 stopper_unknown;
	bool	 no_registers;	/* breakpoint registers do not work here */
	int	 mem;		/* /proc/PID/mem */
	struct thread *threads;
	size_t	 n, room;
	struct map place;	/* tid: index in threads */
	struct reader reader;	/* by tnfctl_proc_read() */
	struct linker linker;
	struct plant plant;
	int64_t	 next_look;	/* at the linker's list; CLOCK_MONOTONIC, ns */
	enum proc_event event;	/* of the process: exec, exited, killed */
	bool	 fate_known;
	int	 fate;		/* as of wait(2) */
	int64_t	 since, until;	/* CLOCK_MONOTONIC, ns: see tnfctl_proc_hurry() */
	const sigset_t *mask;	/* of the caller; NULL: signals are not looked for */
	struct proc *next;	/* proc.c */
	timer_t	 moment;	/* proc-threads.c */
	int	 moment_signal;	/* or 0 */
	struct ended ended;	/* threads, the leader too */
	uint64_t runs;		/* one more whenever a thread is let run; no two processes begin alike */
};

/*
 * From now on, and until tnfctl_proc_unhurry(), whoever waits for the target gives up when
 * tnfctl_proc_is_late() says so: the time of 'ms' milliseconds is over, or a signal that
 * ends us waits, which 'mask' would let in.  tnfctl_proc_late() is the error for that, if the
 * target has not stopped; else tnfctl_proc_late_at() says what is late, and because of what.
 */
void	tnfctl_proc_hurry(struct proc *, int ms, const sigset_t *mask);
void	tnfctl_proc_unhurry(struct proc *);
bool	tnfctl_proc_is_late(const struct proc *);
tnfctl_errcode_t tnfctl_proc_late(const struct proc *);
tnfctl_errcode_t tnfctl_proc_late_at(const struct proc *, const char *what, const char *why);

/* Half-built ones are fine for tnfctl_proc_free(), which does not let go. */
struct proc *tnfctl_proc_new(pid_t, bool ours);
void	tnfctl_proc_free(struct proc *);

/* Takes all threads and stops them. */
tnfctl_errcode_t tnfctl_proc_attach(struct proc *);
/* Takes a thread that the kernel has given us already (fork, exec). */
tnfctl_errcode_t tnfctl_proc_adopt(struct proc *);
tnfctl_errcode_t tnfctl_proc_open_memory(struct proc *);
/*
 * Opens what is mapped there, and finds the path by which the kernel does: that of
 * the file system as we see it, that of the process's root, or the mapping itself,
 * which is there as long as the process is.
 */
int	tnfctl_proc_open_mapped(pid_t, const struct mapping *, char *path, size_t size);
/* True if the address space for which the memory was opened has ended, by an exec or by the end of the
   process. */
bool	tnfctl_proc_memory_is_gone(const struct proc *);
/* True if there is no thread of this tid, or none that lives. */
bool	tnfctl_proc_is_dead(const struct proc *, pid_t tid);

/* Lets the process run; a thread whose child has not been reported stands still, as else the
   child would be lost. */
void	tnfctl_proc_run(struct proc *);
/* In two seconds: a thread that has not stopped by then stops before it runs any further
   instruction of its own, and is absent. */
void	tnfctl_proc_stop(struct proc *);
/* Lets the process run for about so long, or until there is an event to tell. */
void	tnfctl_proc_run_for(struct proc *, long us);
/* Until tnfctl_proc_work_end() the process runs, as we look at files alone, which takes long; one that
   we have started, or that has an event to tell, stands still all the same. */
void	tnfctl_proc_work_begin(struct proc *);
/* To be called often between: threads that a signal has stopped go on. */
void	tnfctl_proc_work_look(struct proc *);
void	tnfctl_proc_work_end(struct proc *);
/* Work that cannot call that function is done by another thread. */
void	tnfctl_proc_work(struct proc *, void (*work)(void *), void *arg);
/* Lets go.  Stops with a job control stop before it, if suspend is set.  False:
   a thread sleeps in the kernel for so long that it must be tried again. */
bool	tnfctl_proc_detach(struct proc *, bool suspend);
/* Lets it run as it was found, and frees p; a thread that sleeps in the kernel for long is
   let go by tnfctl_proc_leave_again(), in the same thread of ours, or by our end. */
void	tnfctl_proc_leave(struct proc *);
void	tnfctl_proc_leave_again(void);
/* The signal of the job control stop that a stopped process is in, or 0. */
int	tnfctl_proc_group_stop(const struct proc *);
/* Ends that stop; the process runs when we let it. */
void	tnfctl_proc_end_group_stop(struct proc *);
void	tnfctl_proc_kill(struct proc *);

/* Takes what wait(2) has to say about 'tid'; false: nothing, or not ours. */
bool	tnfctl_proc_take(struct proc *, pid_t tid);
/* Takes all that wait(2) has to say about any thread. */
void	tnfctl_proc_take_all(struct proc *);
/* Next event that nobody has been told, or NULL; PROC_EXEC and ends go first.  forks: those of
   PROC_FORK, too, which can wait. */
struct thread *tnfctl_proc_pending(struct proc *, bool forks);
/* Lets the child of a PROC_FORK event run free, as soon as it can be had. */
void	tnfctl_proc_free_child(struct proc *, struct thread *);
/* All that nobody has been told of, and waits until they are free, or for two seconds. */
void	tnfctl_proc_free_children(struct proc *);
/* The planted instruction or a breakpoint register on linker.brk, in our own children; false:
   neither could be set. */
bool	tnfctl_proc_arm(struct proc *, struct thread *);
void	tnfctl_proc_resume(struct proc *, struct thread *);
/* Lets threads run that stopped for nothing of interest. */
void	tnfctl_proc_resume_idle(struct proc *);

/* proc-note.c.  The process is ours, and the threads concerned stand still. */
bool	tnfctl_plant_set(struct proc *);	/* is it there? */
void	tnfctl_plant_clear(struct proc *);
/* The same at the program's first instruction, in place of the one for the linker, which may be
   planted again after tnfctl_plant_clear_start().  Once plant.hit is true, the thread that
   is there must not run before that, which forgets its stop. */
bool	tnfctl_plant_set_start(struct proc *, uintptr_t entry);
void	tnfctl_plant_clear_start(struct proc *);
/* Takes the one that was there at the birth of a child, which is stopped, out of the child,
   unless the child has its mother's memory. */
void	tnfctl_plant_clean(struct proc *mother, pid_t child, const struct plant *);

/* filter.c: why events might kill a thread of the stopped process; NULL: none will be. */
const char *tnfctl_filter_forbids(const struct proc *);
/* True if a thread of the stopped process has a filter that forbids to read the machine's clock,
   and reading it is a system call, so that any hit would kill the thread; 'clock' is its name. */
#define TNFCTL_CLOCK_NAME	64
bool tnfctl_filter_forbids_clock(const struct proc *, char clock[TNFCTL_CLOCK_NAME]);

/* proc-note.c: sets a stopped thread that is about to run back onto its call, if need be. */
void	tnfctl_restart_call(struct proc *, struct thread *);

struct thread *tnfctl_proc_thread(struct proc *, pid_t);
bool	tnfctl_proc_read(struct proc *, uintptr_t, void *, size_t);
/* Reads what can be read at once, from the first byte on, and returns how many bytes that are; quickly, if the
   process stands still. */
size_t	tnfctl_proc_read_some(struct proc *, uintptr_t, void *, size_t);
bool	tnfctl_proc_write(struct proc *, uintptr_t, const void *, size_t);
/* True if all threads that we know of stand still, so that the process can call neither exec() nor
   anything else. */
bool	tnfctl_proc_stands(const struct proc *);
/* Writes at most PROC_PIECES pieces of data, each from one place of ours to one of the same size. */
#define PROC_PIECES	1024u	/* IOV_MAX */
struct iovec;
bool	tnfctl_proc_write_pieces(struct proc *, const struct iovec *from, const struct iovec *to, size_t n);

/* True if it is a kernel thread, which never had a program. */
bool	tnfctl_proc_is_kernel(pid_t pid);
/* State letter of a thread, as in ps(1); 0: there is none. */
char	tnfctl_proc_state(pid_t pid, pid_t tid);

/* The thread, which is new if it was not there; NULL: no memory. */
struct thread *tnfctl_proc_thread_add(struct proc *, pid_t tid);
/* A child that is to run free: it stops at its birth, and must be let go. */
void	tnfctl_proc_thread_add_foreign(struct proc *, pid_t child, const struct plant *);
/* Another thread takes its place in the array; a child that nobody was told of goes free. */
void	tnfctl_proc_thread_drop(struct proc *, struct thread *);
/* Drops all threads that are the process's own. */
void	tnfctl_proc_threads_drop(struct proc *);
/* The options of ptrace that its threads are to have. */
unsigned int tnfctl_proc_options(const struct proc *);
/* Reaps threads that an exec() of another thread has ended, be it while they stood still, or
   before their mother could tell of them: that exec() waits until we have done so. */
void	tnfctl_proc_reap(struct proc *);
/* Asks wait(2) once about each thread that runs; was there anything? */
bool	tnfctl_proc_take_round(struct proc *);
/* Waits for something that is near, for the nth time: gives the processor away a few times
   before it sleeps, as a sleep takes much longer than most of what is waited for. */
void	tnfctl_proc_pause(unsigned int n);

size_t	tnfctl_ended_fill(const struct ended *, tnfctl_ended_t *ret, size_t room);
void	tnfctl_ended_free(struct ended *);

/*
 * Calls of the target's functions, on a stack of our own.
 */
struct call;

/* Everything that calls of functions in one process need. */
struct calls {
	tnfctl_handle_t *h;
	struct proc *p;
	struct maps maps;
	struct frames *frames;		/* NULL: nobody has asked for callers yet */
	const struct mapping *linker;	/* its code */
	const struct mapping *library;	/* libtnfprobe's code, or NULL */
	uintptr_t malloc, mmap, munmap, restorer;
	uintptr_t back;			/* tnf_fast_return in libtnfprobe; 0: none */
	uintptr_t stack;		/* ours, in the target; 0: none */
	int	 tries;			/* to find a thread */
	bool	 in_use;		/* a call has not come back from there */
	uintptr_t noted;		/* where the target's memory says so; 0: nowhere */
};

#define CALL_DATA	8192u	/* bytes that tnfctl_call_put() has room for */

/*
 * The target must be stopped.  tries: how often we look for a thread that may make
 * the call; between the looks the target runs for a moment.  NULL: calls can be made, and
 * the target has memory for their stack.  Otherwise the reason why not, and nothing has changed;
 * p->gone or p->event says if the target has ended or called exec() meanwhile.
 * tnfctl_call_end() is due in either case.
 */
const char *tnfctl_call_begin(struct calls *, tnfctl_handle_t *, int tries);
void	tnfctl_call_end(struct calls *);
/* Copies data to where the calls can use it; its address there, 0: failed. */
uintptr_t tnfctl_call_put(struct calls *, size_t offset, const void *, size_t);
bool	tnfctl_call_get(struct calls *, size_t offset, void *, size_t);
/* NULL: the call has been made, and the target is stopped. */
const char *tnfctl_call_make(struct calls *, struct call *);
/* A system call; false: it has not been made, or has failed. */
bool	tnfctl_call_kernel(struct calls *, long number, uintptr_t, uintptr_t, uintptr_t,
	    uintptr_t, long *ret);
/* Reads what another controller's tnfctl_call_put() has put at offset 0; its calls had their
   memory at 'stack'. */
bool	tnfctl_call_get_of(const struct calls *, uintptr_t stack, void *ret, size_t);
/* True if a thread is still in a call that uses this stack. */
bool	tnfctl_call_is_used(const struct calls *, uintptr_t stack);

/* hand-over.c: closes descriptors that the last controller has left.  False: the target has no
   place to note that calls are made, or we cannot tell yet which descriptors are left. */
bool	tnfctl_left_settle(struct calls *);

/* remote.c: makes one call, in the thread that 'struct call' names. */
enum remote_result {
	REMOTE_DONE,
	REMOTE_NOT_STARTED,
	REMOTE_LATE,		/* it goes on, and will come back by itself */
	REMOTE_ENDED		/* the process has, or it has called exec() */
};

/* Bytes of the stack that the saved registers take. */
#define REMOTE_FRAME	(18u << 10)

/* The process is stopped before and after. */
enum remote_result tnfctl_remote_call(struct proc *, struct call *, int max_ms);

/* True if the thread, at this instruction, is within a restartable sequence. */
bool	tnfctl_remote_is_in_sequence(struct proc *, const struct thread *,
	    uintptr_t ip);

struct frames;		/* what the objects of one process say about frames */

/* 'maps' must stay until tnfctl_frames_free(); back: tnf_fast_return there, where functions return whose return
   is a fast probe, or 0.  NULL: no memory. */
struct frames *tnfctl_frames_new(struct proc *, const struct maps *, uintptr_t back);
void	tnfctl_frames_free(struct frames *);

/*
 * Calls fn with an address in each function that the thread is in.  True: fn has returned
 * true for each, and the last is the function that the thread began with.  False also if
 * a frame cannot be told for certain: code without call frame information, a signal
 * handler's frame, a stack that is not the thread's own.
 */
bool	tnfctl_frames_all(struct frames *, const struct thread *,
	    bool (*fn)(void *, uintptr_t ip), void *arg);

#endif
