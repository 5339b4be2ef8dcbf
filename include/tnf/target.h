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

/*
 * Fast probes: sites in functions that nobody wrote a probe for.  A controller maps an area of
 * memory into the stopped target, describes the sites in the area, and has 'fast_define' called
 * there.  For each site it then writes a pad, which is never freed, near the code; and puts a
 * jump to the pad in the place of the site's first bytes while the site's probe is on.
 *
 * The pad calls one of the two trampolines and goes on with what the jump has replaced.  The
 * address of the site's description lies TNF_FAST_BEFORE_ENTRY or TNF_FAST_BEFORE_INNER bytes
 * before the address to which that call returns.
 *
 * A return has a site without code of its own.  It is recorded while its own probe is on, the
 * function's entry has the jump, and 'returns' of the entry's site leads to it.
 *
 * 'patched' of an area tells the next controller that sites of it may have their jump; their code
 * tells which.  It is written before the first jump, and cleared when the last one is out.
 */
#define TNF_FAST_JUMP		5u	/* bytes that are replaced */
#define TNF_FAST_VALUES		12u
#define TNF_FAST_CONDITIONS	8u
#define TNF_FAST_BEFORE_ENTRY	22
#define TNF_FAST_BEFORE_INNER	27

/* Numbers of registers: the values that a trampoline has saved, in this order.  The one for sites
   at which a function begins does not save R15 to R12, BP and BX. */
enum tnf_fast_register {
	TNF_FAST_R15, TNF_FAST_R14, TNF_FAST_R13, TNF_FAST_R12, TNF_FAST_BP, TNF_FAST_BX,
	TNF_FAST_R11, TNF_FAST_R10, TNF_FAST_R9, TNF_FAST_R8, TNF_FAST_AX, TNF_FAST_CX,
	TNF_FAST_DX, TNF_FAST_SI, TNF_FAST_DI, TNF_FAST_SP, TNF_FAST_IP,
	TNF_FAST_NONE,		/* always 0 */
	TNF_FAST_REGISTERS
};

/* The meaning of the number base + index * scale + offset. */
enum tnf_fast_from {
	TNF_FAST_VALUE,		/* the value */
	TNF_FAST_MEMORY		/* the address of the value */
};

/*
 * A value: the lowest 'size' bytes of (base + index * scale + offset) >> shift, or of the memory
 * at that address; 'sign' extends them.  A text is at the address that the value is: TNF_ARG_STRING
 * ends at a NUL, unless 'counted' says that the next value tells its length.  Memory that cannot be
 * read leaves a 0 or a null reference.
 */
struct tnf_fast_value {
	tnf_uint8_t kind;	/* enum tnf_argument_kind, <tnf/runtime.h> */
	tnf_uint8_t from;	/* enum tnf_fast_from */
	tnf_uint8_t size;	/* 1, 2, 4, 8 */
	tnf_uint8_t sign;
	tnf_uint8_t base, index, scale;
	tnf_uint8_t shift;	/* bits */
	tnf_int64_t offset;
	const char *name;	/* in the area */
	tnf_uint8_t counted;
	tnf_uint8_t plain;	/* libtnfprobe's: a register as it is, and so many bytes of it */
	tnf_uint8_t all_plain;	/* libtnfprobe's, in the first value: all of the site's are plain */
	tnf_uint8_t pad;
	tnf_uint32_t at;	/* libtnfprobe's: where it goes in the event */
};

/*
 * A site records only where conditions hold: alternatives joined by "or", each a run of conditions
 * joined by "and".  Each compares a value of the site, as it is recorded, with a number or with the
 * bytes of a text that are in the mask; of texts only EQUAL and UNEQUAL.
 */
enum tnf_fast_compare {
	TNF_FAST_EQUAL, TNF_FAST_UNEQUAL, TNF_FAST_BELOW, TNF_FAST_AT_MOST, TNF_FAST_ABOVE,
	TNF_FAST_AT_LEAST,
	TNF_FAST_BITS		/* any bit of the number */
};

struct tnf_fast_condition {
	tnf_uint8_t value;	/* which */
	tnf_uint8_t size;	/* of the number in an event; 0: a text */
	tnf_uint8_t sign;
	tnf_uint8_t op;		/* enum tnf_fast_compare */
	tnf_uint8_t first;	/* of an alternative */
	tnf_uint8_t pad[3];
	tnf_uint64_t with[4], mask[4];
};

struct tnf_fast_site {
	struct tnf_probe_control *volatile probe;	/* libtnfprobe's; NULL: not defined */
	tnf_uint64_t resume;	/* one more than the address of the site */
	tnf_uint64_t landing;	/* where the jump goes to, in the pad; 0: the site of a return */
	tnf_uint32_t n;		/* values */
	volatile tnf_uint32_t raised;	/* the controller's, non-zero: it has raised the semaphore */
	tnf_uint32_t length;	/* of the instructions that the jump touches */
	tnf_uint32_t pushed;	/* how far the stack pointer is below that of the function's entry */
	volatile tnf_uint64_t conditions;	/* 0: it records whenever it is hit */
	struct tnf_fast_site *volatile returns;	/* of an entry: the return that is on, or NULL */
	tnf_uint8_t before[8];	/* the first TNF_FAST_JUMP bytes without the jump, ... */
	tnf_uint8_t jump[8];	/* ... and with it */
	tnf_uint64_t semaphore;	/* the controller's: 16 bits that it raises by one while the site is
				   on; 0: none */
	const char *name, *keys, *detail;	/* as tnf_probe_define() takes them; in the area */
	struct tnf_fast_value v[TNF_FAST_VALUES];
	struct tnf_fast_condition c[TNF_FAST_CONDITIONS];
};

struct tnf_fast_area {
	struct tnf_fast_area *next;	/* an older one, or NULL */
	tnf_uint64_t size;		/* of the area, in bytes */
	tnf_uint64_t n;			/* sites, which follow */
	volatile tnf_uint32_t patched;	/* the controller's, non-zero: sites may have their jump */
	tnf_uint32_t pad;
	tnf_uint64_t reserved[4];	/* 0 */
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
	 * There if 'size' reaches it: opens, maps and sets up a trace
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
	 * There if 'size' reaches them: the pools of probes made at run
	 * time, the newest first, and how many of those there are.  The number is
	 * raised when a probe is complete; then libtnfprobe calls the function
	 * that the dynamic linker calls when its list has changed, at which a
	 * controller may have a breakpoint.
	 */
	struct tnf_probe_pool *volatile pools;
	volatile tnf_uint64_t defined;
	/*
	 * There if 'size' reaches it: the controller's, 0 at first.  While it
	 * has a thread make calls, the address of the memory that these use.  A
	 * controller that finds one has come after one that was killed.
	 */
	volatile tnf_uint64_t calls;
	/*
	 * There if 'size' reaches them: the areas of fast probes, the newest first, which the
	 * controller puts here; the function that defines the probes of an area; the trampolines
	 * for sites at which a function begins, and for others, where data may lie below the
	 * stack pointer; and the code to which a function returns whose return is recorded.  The
	 * last four are NULL on machines without fast probes.
	 */
	struct tnf_fast_area *volatile fast;
	void	 (*fast_define)(struct tnf_fast_area *);
	void	 (*fast_entry)(void);
	void	 (*fast_inner)(void);
	void	 (*fast_return)(void);
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
