/*
 * target.h - the contract between a traced program and its controller.
 *
 * A program that uses <tnf/probe.h> holds one struct tnf_probe_control for
 * each probe, in ELF sections whose names begin with TNF_PROBE_SECTION.  A
 * controller (libtnfctl) finds the sections with libelf, adds the load bias,
 * and reads and writes the blocks in the live process.  libtnfprobe exports
 * one struct tnf_process_control under the name of TNF_PROCESS_SYMBOL.
 *
 * The layout is ABI: it only ever grows at the end, and tnf_version tells.
 * All of it is untrusted for a controller: a target can put anything here.
 */
#ifndef TNF_TARGET_H
#define TNF_TARGET_H

#include <stddef.h>

#include <tnf/com.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TNF_PROBE_SECTION	"tnf_probes"	/* and "tnf_probes.<n>" */
#define TNF_PROBE_ABI		1u
#define TNF_PROCESS_SYMBOL	"_tnf_process_control"
#define TNF_PROBE_OPS_SYMBOL	"_tnf_probe_ops"

struct tnf_probe_control;
struct tnf_probe_ops;
struct tnf_tag_data;

/*
 * A hit in progress.  It lives on the stack of the site between alloc and
 * commit; the site uses only 'buffer', the rest belongs to libtnfprobe.
 */
struct tnf_probe_setup {
	void	*buffer;	/* the event: tag, time delta, members */
	struct tnf_probe_control *probe;
	void	*priv[14];
};

/* Their names in sources for Solaris. */
typedef struct tnf_probe_setup	tnf_probe_setup_t;
typedef struct tnf_probe_control tnf_probe_control_t;
typedef struct tnf_probe_ops	tnf_ops_t;
typedef struct tnf_tag_data	tnf_tag_data_t;

/* A function connected to a probe (TNF_PROBE(3), "Connected functions"). */
typedef void (*tnf_probe_func_t)(struct tnf_probe_setup *);

/* Functions of libtnfprobe that a site calls while its probe is on. */
struct tnf_probe_ops {
	tnf_uint32_t version;	/* TNF_PROBE_ABI */
	tnf_uint32_t size;
	/* Space for an event, or NULL: drop it.  Sets setup->buffer. */
	void	*(*alloc)(struct tnf_probe_control *, struct tnf_probe_setup *);
	/* Runs connected functions; then the event is committed or rolled back.
	   With setup->buffer NULL the hit is given up. */
	void	 (*commit)(struct tnf_probe_setup *);
	/*
	 * Encoders of arguments by reference.  'cell' is the member that will
	 * hold the result; the result is the reference word to store there, 0
	 * for a null pointer or when there was no room.
	 */
	tnf_reference_t (*string)(struct tnf_probe_setup *, const char *,
	    tnf_reference_t *cell);
	/* A record of a type by TNF_DEFINE_RECORD: allocates 'size' bytes. */
	void	*(*record)(struct tnf_probe_setup *, const struct tnf_tag_data *,
	    size_t size, tnf_reference_t *cell, tnf_reference_t *ref);
	/* As 'string', for an argument of type tnf_name. */
	tnf_reference_t (*name)(struct tnf_probe_setup *, const char *,
	    tnf_reference_t *cell);
};

/*
 * How a type is described to libtnfprobe.  Built-in types come from the
 * header, one copy an object file; records from TNF_DEFINE_RECORD.
 */
enum tnf_tag_kind {
	TNF_TAG_SCALAR, TNF_TAG_STRING, TNF_TAG_DERIVED, TNF_TAG_RECORD,
	TNF_TAG_TEXT, TNF_TAG_BLOB	/* of probes that are made at run time */
};

struct tnf_tag_data {
	tnf_uint32_t version;		/* TNF_PROBE_ABI */
	tnf_uint16_t kind;			/* enum tnf_tag_kind */
	tnf_uint16_t align;			/* of a member of this type */
	tnf_uint32_t size;			/* of a member; of the record itself */
	tnf_uint32_t index;			/* libtnfprobe: where it is in the file */
	const char *name;		/* as written in the file */
	const char *const *slot_names;	/* record: names of the members, NULL ends */
	const struct tnf_tag_data *const *slots; /* record: types, NULL ends */
};

struct tnf_probe_control {
	tnf_uint32_t tnf_version;	/* TNF_PROBE_ABI; anything else: leave alone */
	tnf_uint32_t size;		/* of this struct, as the program knows it */

	/* Written by the controller. */
	volatile tnf_uint32_t test;		/* non-zero: on.  All that a site loads */
	volatile tnf_uint32_t traced;	/* non-zero: commit; 0: roll back */
	const struct tnf_probe_ops *volatile ops; /* set before 'test' */
	const tnf_probe_func_t *volatile chain;	/* connected, NULL ends; or NULL */
	volatile tnf_uint64_t controlled;	/* non-zero: a controller has set it up */

	/* Written by libtnfprobe. */
	volatile tnf_uint32_t index;	/* directory word in the file; 0 not yet */
	tnf_uint32_t event_size;		/* of the event record, constant */

	/* Constant. */
	const char *attrs;	/* "name N;slots a b ;keys ...;file F;line L;..." */
	const struct tnf_tag_data *const *slots; /* argument types, NULL ends */
	tnf_uint64_t reserved[8];	/* 0: pads the block to 128 bytes */
};

/*
 * The control blocks of probes that the program has made at run time
 * (<tnf/runtime.h>) follow such a head, in an area of 'size' bytes.  A block that
 * holds no probe yet is all zeros.  A pool is never given back; a block is complete
 * when its tnf_version is set, and stays.
 */
struct tnf_probe_pool {
	struct tnf_probe_pool *next;	/* an older one, or NULL; constant */
	tnf_uint64_t size;		/* bytes of blocks behind this head; constant */
	tnf_uint64_t used;		/* libtnfprobe's: blocks handed out */
	tnf_uint64_t reserved[5];	/* 0 */
};

/*
 * The process as a whole.  A controller gives it a file through 'open'; one
 * that cannot call functions of the target writes file name and size while the
 * process is stopped and 'state' is TNF_PROC_NO_BUFFER, and then
 * TNF_PROC_READY.
 */
enum tnf_process_state {
	TNF_PROC_RUNNING = 0,	/* trace file open */
	TNF_PROC_NO_BUFFER = 1,	/* no file name yet */
	TNF_PROC_READY = 2,	/* name known; opened at the first hit */
	TNF_PROC_BROKEN = 3	/* cannot record; broken_errno says why */
};

#define TNF_PATH_SIZE	4096
#define TNF_CHAIN_SLOTS	2048	/* words for function chains, all probes */
#define TNF_SUSPENDED	(-1)	/* the last controller left the process stopped */

struct tnf_process_control {
	tnf_uint32_t version;	/* TNF_PROBE_ABI */
	tnf_uint32_t size;		/* of this struct */
	volatile tnf_uint32_t state;	/* enum tnf_process_state */
	volatile tnf_uint32_t stopped;	/* tnf_process_disable() is in force */
	volatile tnf_int32_t  broken_errno;
	volatile tnf_int32_t  controller;	/* pid of the one attached, TNF_SUSPENDED, or 0 */
	tnf_uint64_t file_size;		/* bytes */
	tnf_uint64_t file_min;		/* smallest file_size: 131072 */
	const struct tnf_probe_ops *ops;
	/*
	 * Room for function chains: the controller appends NULL-terminated
	 * arrays of function pointers and points probes at them.
	 */
	tnf_uint64_t chain_used;		/* words handed out */
	tnf_probe_func_t chains[TNF_CHAIN_SLOTS];
	char	 file_name[TNF_PATH_SIZE];	/* absolute, NUL-terminated */
	/*
	 * Where 'size' says that it is there: opens, maps and sets up a trace
	 * file, so that no hit has to.  The controller creates the file, empty
	 * and with its space reserved, and has a thread of the target make the
	 * call; other threads may run or be stopped meanwhile.  fd is a
	 * descriptor of the file, which the call leaves open, or -1: then it is
	 * opened by its name.  The answer is in open_result.  After 0 'state' is
	 * TNF_PROC_RUNNING, file_name and file_size are those of the new file,
	 * and a file that was written before gets no further event, save for hits
	 * that were in progress.  After an errno everything is as it was; EAGAIN
	 * and EBUSY: try again.
	 */
	void	 (*open)(const char *file, tnf_uint64_t size, tnf_int32_t fd);
	volatile tnf_int32_t open_result;	/* the controller stores -1 before */
	/* The controller's: non-zero where a thread has a seccomp filter that might refuse
	   what a hit calls: no hit makes a system call then. */
	volatile tnf_uint32_t quiet;
	/*
	 * Where 'size' says that they are there: the pools of probes made at run
	 * time, the newest first, and how many of those there are.  The number is
	 * raised when a probe is complete; then libtnfprobe calls the function
	 * that the dynamic linker calls when its list has changed, at which a
	 * controller may have a breakpoint.
	 */
	struct tnf_probe_pool *volatile pools;
	volatile tnf_uint64_t defined;
	/*
	 * Where 'size' says that it is there: the controller's, 0 at first.  While it
	 * has a thread make calls, the address of the memory that these use.  A
	 * controller that finds one has come after one that was killed.
	 */
	volatile tnf_uint64_t calls;
};

#ifdef __cplusplus
}
#else
__extension__ _Static_assert(sizeof(void *) != 8 || sizeof(struct tnf_probe_control) == 128,
    "the controller steps through the section by this");
__extension__ _Static_assert(sizeof(void *) != 8 || offsetof(struct tnf_probe_control, test) == 8,
    "ABI");
#endif

#endif /* TNF_TARGET_H */
