/*
 * handle.h - a session with the kernel, as the loader's files share it.  import.h, libbpf's headers
 * and those of the C library that most of these files need come with it.
 */
#ifndef KERNEL_PROBES_HANDLE_H
#define KERNEL_PROBES_HANDLE_H

#include <sys/syscall.h>

#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "common/files.h"
#include "common/map.h"
#include "common/proc.h"
#include "kernel-probes/catalogue.h"
#include "kernel-probes/import.h"

#define KP_BPFFS	"/sys/fs/bpf"
#define KP_DIR		KP_BPFFS "/tnf"
#define KP_SUB_PROG	"prog"
#define KP_SUB_LINK	"link"
#define KP_DIR_PROG	KP_DIR "/" KP_SUB_PROG
#define KP_DIR_LINK	KP_DIR "/" KP_SUB_LINK
#define KP_PIN_STATE	KP_DIR "/state"
#define KP_PIN_FILTER	KP_DIR "/filter"
#define KP_PIN_RULES	KP_DIR "/rules"
#define KP_PIN_BUF	KP_DIR "/buf"
#define KP_PIN_CPU	KP_DIR "/cpu"
#define KP_PIN_ENDED	KP_DIR "/ended"
#define KP_PIN_RENAMED	KP_DIR "/renamed"
#define KP_PIN_RAN	KP_DIR "/ran"
#define KP_PIN_PATHS	KP_DIR "/paths"
#define KP_PIN_OBJECTS	KP_DIR "/objects"
#define KP_PIN_INTERRUPTS KP_DIR "/interrupts"
#define KP_PIN_POOL	KP_DIR "/pool"
/* For imported probes (import.h). */
#define KP_SUB_IMPORT	"import"
#define KP_DIR_IMPORT	KP_DIR "/" KP_SUB_IMPORT	/* their links */
#define KP_PIN_ASKED	KP_DIR "/asked"
#define KP_PIN_ROWS	KP_DIR "/rows"
#define KP_PIN_COUNTS	KP_DIR "/counts"
#define KP_PIN_WHERE	KP_DIR "/where"
#define KP_PIN_SITES	KP_DIR "/sites"

#define KP_EXPORT	__attribute__((visibility("default")))

struct kp {
	bool		 control;
	bool		 looking;	/* without the rights: nothing but lists */
	bool		 foreign;	/* pins of another version are there */
	bool		 fill;		/* the next buffer stops when it is full */
	int		 lock;		/* directory that we hold the lock on */
	int		 state_fd, filter_fd, buf_fd, cpu_fd;	/* -1: no such map */
	int		 pool_fd;
	int		 rules_fd;	/* of the filter */
	int		 asked_fd, rows_fd, counts_fd;	/* of imports; -1: not yet */
	int		 where_fd, sites_fd;
	struct kp_import **import;	/* by number; they live as long as we */
	unsigned	 imports;
	struct map	 import_by_key;	/* struct kp_import *, by kind, name and source */
	unsigned	 imports_on;	/* enabled and traced */
	uint64_t	 slots[(KP_IMPORTS + 63) / 64];	/* given away */
	uint8_t		*filter;	/* mapping of the filter's set, by process, or NULL */
	struct kp_shared	*state;		/* the pinned map's, or &local */
	struct kp_shared	 local;		/* until there is something to pin */
	struct kp_cpu	*cpu;		/* the pinned map's, or NULL */
	int		 cpus;		/* elements of it */
	char		*buf;		/* mapping of the buffer, or NULL */
	size_t		 buf_size;
	char		*wbuf;		/* to write to, or NULL: kp_buffer_writable() */
	uint64_t	*pool;		/* mapping of the pool, or NULL */
	int		*program_fd;	/* of each program that is pinned; NULL: nobody asked */
	uint64_t	 missing;	/* programs that this kernel has no hook for */
	uint64_t	 loaded;	/* programs that are known to be in the kernel */
	const char	*lacks;		/* kp_hooks_lacking() */
	struct btf	*btf;		/* the kernel's types, or NULL: kp_types() */
	int		 types_fd;	/* where libbpf looks for types while it loads programs, or -1 */
	__u32		 call[KP_CALL_COUNT];	/* its number; 0: this kernel lacks the function */
	__u32		 cast_type;	/* that of struct pt_regs */
	__u32		 gfp_movable, gfp_zero, bio_remapped;	/* its flags */
	pid_t		*kept;		/* the filter's set, while nothing is pinned */
	int		 kepts;
	struct rules	*kept_rules;	/* its rules, likewise; NULL: none */
	char		 attrs[8192];
	char		 detail[512];
};

/* open.c: keeps what went wrong and returns 'r'. */
int kp_fail(struct kp *, int r, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a BPF system call: says who stands in the way. */
int kp_refused(struct kp *, int r, const char *what);
/* Names what all programs need and the kernel with these types lacks, with the version
   that brought it; NULL: it lacks nothing. */
struct btf;
const char *kp_hooks_lacking(const struct btf *);
int kp_may_use(struct kp *);		/* -EPERM: a capability is missing */

/* pins.c */
int kp_pins_mount(struct kp *);
int kp_pins_open(struct kp *);		/* a descriptor, -ENOENT, or why not */
int kp_pins_dir(struct kp *, const char *path);
void kp_pins_remove(struct kp *, const char *name);
void kp_pins_remove_all(struct kp *);
/* Pins it there: 0, or the error of kp_refused(). */
int kp_pin(struct kp *, int fd, const char *path);
/* Pins the programs of the object that were loaded, in place of those that are there. */
struct bpf_object;
int kp_pin_programs(struct kp *, const struct bpf_object *);
/* Opens a pinned map; -EPROTO: its elements have another size, so that the kernel would write
   behind ours. */
int kp_map_open(const char *path, uint32_t key_size, uint32_t value_size);
/* Closes *fd, which is -1 then. */
void kp_close_fd(int *fd);
bool kp_pinned(const char *dir, const char *name);

/* state.c */
void kp_state_new(struct kp *);	/* of the session alone */
int kp_state_open(struct kp *);		/* of pins that are there */
int kp_state_make(struct kp *);		/* pins it, if it is not */
void kp_state_close(struct kp *);
int kp_state_usable(struct kp *);	/* -EPROTO: of another version; -EPERM: looking */

/* True if the master switch is on, and the buffer is not frozen. */
static inline bool
kp_is_tracing(const struct kp_shared *s)
{
	return s->tracing && s->frozen == 0;
}

/* status.c */
void kp_programs_close(struct kp *);

/* hooks.c */
int kp_hooks_find(struct kp *);	/* reads the BTF once: some 25 ms */
/* The number of each program's hook among the types of this kernel, the same for all sessions. */
extern __u32 kp_hook[KP_PROGRAM_COUNT];
/* The kernel's types, read when they are first needed; NULL: it has none. */
struct btf *kp_types(struct kp *);
/* The prototype of a tracepoint's probes, whose first argument is no argument of the
   tracepoint, or NULL. */
const struct btf_type *kp_types_tracepoint(const struct btf *, const char *event);
uint64_t kp_needs(const struct kp *, const struct kp_row *);
uint64_t kp_extra(const struct kp *, const struct kp_row *);

/* rules.c */
/* Why a process is in the set: a place with enum kp_filter_value; NULL: there is no set, or no
   process can have this number. */
uint8_t *kp_filter_reasons(struct kp *, pid_t);
/* To be called after each change that may let a thread through, of whom programs have perhaps
   noted the contrary. */
void kp_filter_changed(struct kp *);
void kp_filter_notes(struct kp *, bool on);	/* whether programs may note threads as left out */
int kp_filter_make(struct kp *);	/* the map of an empty set */

/* rules.c: a list such as "0-3,8"; NULL or "all": all CPUs record. */
int kp_cpus_set(struct kp *, const char *text);
/* Writes "cpus=LIST"; false: all CPUs record. */
bool kp_cpus_get(struct kp *, char *text, size_t size);

/* Puts the processes to which rules apply into the set, and takes the others out; 0, or an error
   that kp_detail() tells. */
int kp_rules_scan(struct kp *);
/* kp_rules_keep() copies the rules before their pin goes; kp_rules_put_back() writes them into the
   next one. */
void kp_rules_keep(struct kp *);
void kp_rules_put_back(struct kp *);

/* load.c */
/* Loads the programs that enabled probes need, unless they are in the kernel.  size: of the
   buffer that is made; 0: there is one. */
int kp_load(struct kp *, size_t size);

/* stacks.c */
/* True if events of these probes (KP_BIT()s), or of imported ones that are enabled, have addresses
   of programs. */
bool kp_has_addresses(const struct kp *, uint64_t probes);

/* attach.c */
int kp_attach_sync(struct kp *);	/* attaches and detaches, as the state says */
/* Detaches a program, which kp_attach_sync() attaches anew. */
void kp_detach(struct kp *, unsigned program);
/* A descriptor for reading an iterator's output, or a negative errno: this kernel did not
   take the iterator. */
int kp_iterator(enum kp_program);
void kp_iterate(enum kp_program);
int kp_event_refused(struct kp *, int r, const char *event);

/* buffer.c */
char *kp_buffer_writable(struct kp *);	/* NULL: kp_detail() says why */
/* Makes a block of events an empty one for definitions, and returns its offset; 0: no block
   can be spared. */
uint32_t kp_block_take(struct kp *, char *buf);

/* probes.c: as kp_probe_where() and kp_probe_freezes(), of a row of the catalogue. */
int kp_row_where(struct kp *, unsigned id, const char *text);
int kp_row_freezes(struct kp *, unsigned id, bool freezes);
/* syscall_end's condition; "": it has none. */
void kp_row_condition(const struct kp *, char *buf, size_t n);

/* import.c */
struct kp_import *kp_import_of(struct kp *, unsigned id);	/* NULL: none */
int kp_import_get(struct kp *, unsigned id, struct kp_probe *ret);
int kp_import_set(struct kp *, unsigned id, bool enabled, bool traced);
int kp_imports_open(struct kp *);	/* those that somebody has asked for */
int kp_imports_keep(struct kp *);	/* pins what the session knows of them */
int kp_imports_sync(struct kp *);	/* attaches and detaches, as the state says */
bool kp_imports_wanted(const struct kp *);	/* true if any records */
int kp_imports_rerate(struct kp *);	/* the setting has changed */
void kp_imports_forget(struct kp *);	/* their pins go, or are of no use */
void kp_imports_close(struct kp *);
void kp_imports_free(struct kp *);

/* import-load.c */
int kp_import_load(struct kp *);	/* does nothing if it is done */

/* stacks.c */
int kp_stacks_keep(struct kp *);	/* defines them in a new buffer */

/* types.c: opens a skeleton's object, whose load then needs the handle as it is. */
struct bpf_object_skeleton;
int kp_skeleton_open(struct kp *, struct bpf_object_skeleton *);

/* hooks.c */
void kp_symbols_find(struct kp_shared *);
/* The same, and the functions between tracepoints and programs. */
void kp_glue_find(struct kp_shared *);

#endif /* KERNEL_PROBES_HANDLE_H */
