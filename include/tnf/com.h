/*
 * com.h - what a TNF file is made of, for whoever writes or reads one.
 *
 * tnf(5) is the description in prose, section by section.  Change one, change
 * both.  The structures here have the layout of a 64-bit writer of this host;
 * a reader of foreign files (other byte order, 32-bit writers) must not use
 * them but go through libtnf.  Offsets are bytes from the start of the file.
 */
#ifndef TNF_COM_H
#define TNF_COM_H


#ifndef __UINT64_TYPE__
#include <stdint.h>
#define __INT8_TYPE__	int8_t
#define __UINT8_TYPE__	uint8_t
#define __INT16_TYPE__	int16_t
#define __UINT16_TYPE__	uint16_t
#define __INT32_TYPE__	int32_t
#define __UINT32_TYPE__	uint32_t
#define __INT64_TYPE__	int64_t
#define __UINT64_TYPE__	uint64_t
#define __UINTPTR_TYPE__ uintptr_t
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * In-file scalar types under the names that TNF_PROBE users know; they are those
 * of <stdint.h>.  That header is not included here, nor by the headers for
 * writers: it would settle which interfaces the C library shows, and a source
 * with probes may want to say that afterwards.
 */
typedef char		tnf_char_t;
typedef unsigned char	tnf_uchar_t;
typedef __INT8_TYPE__	tnf_int8_t;
typedef __UINT8_TYPE__	tnf_uint8_t;
typedef __INT16_TYPE__	tnf_int16_t;
typedef __UINT16_TYPE__	tnf_uint16_t;
typedef __INT32_TYPE__	tnf_int32_t;
typedef __UINT32_TYPE__	tnf_uint32_t;
typedef __INT64_TYPE__	tnf_int64_t;
typedef __UINT64_TYPE__	tnf_uint64_t;
typedef float		tnf_float32_t;
typedef double		tnf_float64_t;

/* A reference: 32 bits, the low two say which kind (tnf(5), "References"). */
typedef tnf_uint32_t	tnf_ref32_t;
typedef tnf_ref32_t	tnf_reference_t;

#define TNF_REF32_T_MASK	0x3u
#define TNF_REF32_T_FULL	0x0u	/* to a record or a forwarding word */
#define TNF_REF32_T_PAIR	0x1u	/* event: tag half and schedule half */
#define TNF_REF32_T_TAG		0x2u	/* full, in a tag slot */
#define TNF_REF32_T_RESERVED	0x3u
#define TNF_REF32_PERMANENT	0x80000000u	/* absolute; else self-relative */
#define TNF_TAG16_ABS		0x1u	/* high half: offset of a directory word */

/* A reference taken apart and put together. */
#define TNF_REF32_TYPE(ref)	((ref) & TNF_REF32_T_MASK)
#define TNF_REF32_VAL(ref)	((ref) & ~TNF_REF32_T_MASK)
#define TNF_REF32_IS_FULL(ref)	(TNF_REF32_TYPE(ref) == TNF_REF32_T_FULL)
#define TNF_REF32_IS_PAIR(ref)	(TNF_REF32_TYPE(ref) == TNF_REF32_T_PAIR)
#define TNF_REF32_IS_TAG(ref)	(TNF_REF32_TYPE(ref) == TNF_REF32_T_TAG)
#define TNF_REF32_IS_PERMANENT(ref)	(((ref) & TNF_REF32_PERMANENT) != 0)
#define TNF_REF32_IS_RECLAIMABLE(ref)	(((ref) & TNF_REF32_PERMANENT) == 0)
#define TNF_REF32_MAKE_PERMANENT(ref)	((ref) | TNF_REF32_PERMANENT)
#define TNF_REF32_MAKE_RECLAIMABLE(ref)	((ref) & ~TNF_REF32_PERMANENT)
/* Without bit 31: bit 30 is the sign. */
#define TNF_REF32_SIGN_EXTEND(ref) \
	((tnf_int32_t)(((ref) & 0x7fffffffu) | (((ref) & 0x40000000u) << 1)))

/* The halves of a pair. */
#define TNF_REF32_TAG16(ref)	((tnf_uint16_t)((ref) >> 16))
#define TNF_REF32_ARG16(ref)	((tnf_int16_t)((ref) & 0xfffcu))
#define TNF_TAG16_T_MASK	0x3u
#define TNF_TAG16_T_REL		0x0u	/* distance of a forwarding word */
#define TNF_TAG16_T_ABS		TNF_TAG16_ABS
#define TNF_TAG16_TYPE(tag)	((tag) & TNF_TAG16_T_MASK)
#define TNF_TAG16_VAL(tag)	((tnf_uint16_t)((tag) & ~TNF_TAG16_T_MASK))
#define TNF_TAG16_IS_ABS(tag)	(TNF_TAG16_TYPE(tag) == TNF_TAG16_T_ABS)
#define TNF_TAG16_IS_REL(tag)	(TNF_TAG16_TYPE(tag) == TNF_TAG16_T_REL)

/* A record in memory, of whatever type. */
typedef char		*tnf_record_p;

/* The kinds of a probe's arguments. */
typedef enum {
	TNF_UNKNOWN,
	TNF_INT32, TNF_UINT32,
	TNF_INT64, TNF_UINT64,
	TNF_FLOAT32, TNF_FLOAT64,
	TNF_STRING, TNF_ARRAY, TNF_STRUCT,
	TNF_OPAQUE
} tnf_arg_kind_t;

/* Names of types, as they stand in a file. */
#define TNF_N_TAGGED		"tnf_tagged"
#define TNF_N_INLINE		"tnf_inline"
#define TNF_N_SCALAR		"tnf_scalar"
#define TNF_N_DERIVED		"tnf_derived"
#define TNF_N_ARRAY		"tnf_array"
#define TNF_N_STRUCT		"tnf_struct"
#define TNF_N_TYPE		"tnf_type"
#define TNF_N_TAG_ARG		"tnf_tag_arg"

#define TNF_N_SCALAR_TYPE	"tnf_scalar_type"
#define TNF_N_DERIVED_TYPE	"tnf_derived_type"
#define TNF_N_ARRAY_TYPE	"tnf_array_type"
#define TNF_N_STRUCT_TYPE	"tnf_struct_type"
#define TNF_N_PROBE_TYPE	"tnf_probe_type"

#define TNF_N_CHAR		"tnf_char"
#define TNF_N_INT8		"tnf_int8"
#define TNF_N_INT16		"tnf_int16"
#define TNF_N_INT32		"tnf_int32"
#define TNF_N_INT64		"tnf_int64"
#define TNF_N_UINT8		"tnf_uint8"
#define TNF_N_UINT16		"tnf_uint16"
#define TNF_N_UINT32		"tnf_uint32"
#define TNF_N_UINT64		"tnf_uint64"
#define TNF_N_FLOAT32		"tnf_float32"
#define TNF_N_FLOAT64		"tnf_float64"

#define TNF_N_STRING		"tnf_string"
#define TNF_N_NAME		"tnf_name"
#define TNF_N_OPAQUE		"tnf_opaque"
#define TNF_N_SIZE		"tnf_size"
#define TNF_N_TYPE_ARRAY	"tnf_type_array"
#define TNF_N_NAME_ARRAY	"tnf_name_array"

#define TNF_N_TAG		"tnf_tag"
#define TNF_N_PROPERTIES	"tnf_properties"
#define TNF_N_SLOT_TYPES	"tnf_slot_types"
#define TNF_N_SLOT_NAMES	"tnf_slot_names"
#define TNF_N_TYPE_SIZE		"tnf_type_size"
#define TNF_N_HEADER_SIZE	"tnf_header_size"
#define TNF_N_SELF_SIZE		"tnf_self_size"
#define TNF_N_ALIGN		"tnf_align"
#define TNF_N_DERIVED_BASE	"tnf_derived_base"
#define TNF_N_ELEMENT_TYPE	"tnf_element_type"

#define TNF_N_FILE_HEADER	"tnf_file_header"
#define TNF_N_BLOCK_HEADER	"tnf_block_header"
#define TNF_N_SCHED_REC		"tnf_sched_rec"
#define TNF_N_KERNEL_SCHEDULE	"tnf_kernel_schedule"
#define TNF_N_PROBE_EVENT	"tnf_probe_event"
#define TNF_N_TIME_BASE		"tnf_time_base"
#define TNF_N_TIME_DELTA	"tnf_time_delta"
#define TNF_N_PID		"tnf_pid"
#define TNF_N_LWPID		"tnf_lwpid"
#define TNF_N_KTHREAD_ID	"tnf_kthread_id"
#define TNF_N_CPUID		"tnf_cpuid"

/* A mark: what somebody says about a time.  An event of a probe of this name, with two
   strings: what was said, and who said it. */
#define TNF_N_MARK		"mark"
#define TNF_N_MARK_TEXT		"text"
#define TNF_N_MARK_BY		"by"

/* Names of members of the file header and of a block's. */
#define TNF_N_FILE_VERSION	"file_version"
#define TNF_N_FILE_HEADER_SIZE	"file_header_size"
#define TNF_N_FILE_LOGICAL_SIZE	"file_logical_size"
#define TNF_N_BLOCK_HEADER_SIZE	"block_header_size"
#define TNF_N_BLOCK_SIZE	"block_size"
#define TNF_N_DIRECTORY_SIZE	"directory_size"
#define TNF_N_BLOCK_COUNT	"block_count"
#define TNF_N_BLOCKS_VALID	"blocks_valid"
#define TNF_N_GENERATION	"generation"
#define TNF_N_BYTES_VALID	"bytes_valid"
#define TNF_N_A_LOCK		"A_lock"
#define TNF_N_B_LOCK		"B_lock"
#define TNF_N_NEXT_BLOCK	"next_block"

#define TNF_MAGIC		0x544e4600u
#define TNF_MAGIC_SWAPPED	0x00464e54u
#define TNF_FILE_VERSION	1u
#define TNF_FILE_HEADER_SIZE	36u	/* the nine members tag .. blocks_valid */

#define TNF_GENERATION_FREE	0u		/* block never used */
#define TNF_GENERATION_TAG	0xffffffffu	/* permanent block of definitions */
/* A kernel's buffer: a block's generation is 1 + (n & TNF_GENERATION_AGES), where n
   blocks of the whole buffer were taken before it. */
#define TNF_GENERATION_AGES	0x7fffffffu

#define TNF_BLOCK_SIZE_MIN	64u
#define TNF_BLOCK_SIZE_MAX	32768u	/* references inside a block are 16 bits */
#define TNF_STRING_MAX		255u	/* characters, the NUL not counted */
/* A string that was cut there has one word more, which is this one ("...").  (Linux) */
#define TNF_STRING_CUT		0x2e2e2eu
#define TNF_NAME_MAX		127u	/* probe and slot names */
#define TNF_PROBE_ARGS_MAX	10u
#define TNF_DIRECTORY_NAMED	0x10000u /* only so much can be named in 16 bits */

/* The tags of the originals: the first three directory words, permanent. */
#define TNF_DIR_FILE_HEADER	0u	/* word 0 */
#define TNF_DIR_BLOCK_HEADER	4u	/* word 1 */
#define TNF_DIR_STRUCT_TYPE	8u	/* word 2 */
#define TNF_DIR_FIRST_PROBE	12u

/* Block 0. */
struct tnf_file_header {
	tnf_uint32_t magic;
	tnf_uint32_t tag;
	tnf_uint32_t file_version;
	tnf_uint32_t file_header_size;
	tnf_uint32_t file_logical_size;	/* log2 of the size, rounded up */
	tnf_uint32_t block_header_size;	/* 24; 32-bit writers 16 */
	tnf_uint32_t block_size;		/* power of two */
	tnf_uint32_t directory_size;	/* multiple of block_size */
	tnf_uint32_t block_count;		/* of the whole file */
	tnf_uint32_t blocks_valid;		/* hint: highest block used so far */
};

struct tnf_block_header {
	tnf_uint32_t tag;
	tnf_uint32_t generation;	/* 0 free, TNF_GENERATION_TAG, else the lap; in a
				   kernel's buffer see TNF_GENERATION_AGES */
	tnf_uint16_t bytes_valid;	/* committed, counted from the block's start */
	tnf_uint8_t	 A_lock;	/* a thread is filling this block */
	tnf_uint8_t	 B_lock;	/* it is being taken over */
	tnf_uint32_t pad;
	tnf_uint64_t next_block;	/* private to the writer: who holds the block */
};

/* A process's schedule record: who runs where, and from when deltas count.  The originals
   have no cpuid; nor have files that were written before 0.2. */
struct tnf_sched_rec {
	tnf_uint32_t tag;
	tnf_uint32_t tid;
	tnf_uint32_t lwpid;
	tnf_int32_t	 pid;
	tnf_int64_t	 time_base;	/* ns, CLOCK_MONOTONIC */
	tnf_int32_t	 cpuid;		/* negative: the C library does not tell */
	tnf_uint32_t pad;
};

/* The kernel's. */
struct tnf_kernel_schedule {
	tnf_uint32_t tag;
	tnf_uint32_t pad0;
	tnf_uint64_t tid;		/* address of the task */
	tnf_uint32_t lwpid;
	tnf_int32_t	 pid;
	tnf_int64_t	 time_base;	/* ns, CLOCK_MONOTONIC */
	tnf_int32_t	 cpuid;
	tnf_uint32_t number;	/* of the block among those of its CPU, from 1 */
};

/*
 * The extension of this implementation lies behind the file header's own bytes, in
 * the part of block 0 that belongs to the writer and that every other reader ignores.
 * Files of the original writers have none (magic differs).  All words are in the
 * writer's byte order.  The counters are changed with relaxed
 * atomic adds by every process or CPU that writes the file.
 *
 * How it may grow.  New members come at the end, out of 'reserved'; a reader
 * takes what lies behind 'size' as 0.  A writer that uses a member that
 * readers may ignore sets its bit in 'compatible'.  For a change that a reader of today
 * would misread, a writer sets a bit in 'incompatible': a reader refuses a file with a bit that
 * it does not know, and a writer does not join it.  'version' changes only if
 * nothing of this holds any more; a reader refuses one that it does not know.
 */
#define TNF_EXT_OFFSET	64u
#define TNF_EXT_MAGIC	0x4c4e4654u	/* "TFNL" in a little-endian dump */
#define TNF_EXT_VERSION	1u

enum tnf_lost {			/* why an event is missing; index of lost[] */
	TNF_LOST_NO_BLOCK,	/* every data block was held by a thread */
	TNF_LOST_NESTED,	/* probe inside a probe of the same thread */
	TNF_LOST_TOO_LARGE,	/* record does not fit a block */
	TNF_LOST_NO_TAG_SPACE,	/* no room left for a definition */
	TNF_LOST_BUSY,		/* a definition was being written elsewhere */
	TNF_LOST_HOOK,		/* kernel: the hook itself was skipped */
	TNF_LOST_PREEMPTED,	/* kernel: a writer was preempted; it may be torn */
	TNF_LOST_FULL,		/* came when the file was full: TNF_EXT_FILL */
	TNF_LOST_REASONS = 8	/* size of lost[]; the rest is 0 */
};

enum tnf_ext_kind { TNF_EXT_PROCESS = 1, TNF_EXT_KERNEL = 2 };

struct tnf_ext {
	tnf_uint32_t magic;		/* stored last */
	tnf_uint32_t version;
	tnf_uint32_t size;		/* of this struct, as the writer knew it */
	tnf_uint32_t kind;		/* enum tnf_ext_kind */
	tnf_uint64_t data_cursor;	/* data blocks taken so far, all laps; a few of
				   them are passed over unused */
	tnf_uint32_t tag_cursor;	/* tag blocks taken, from the reserve first */
	tnf_uint32_t dir_cursor;	/* offset of the next free directory word */
	tnf_uint32_t data_start;	/* offset of the first data block */
	tnf_int32_t	 pid;		/* first writer; 0 kernel */
	tnf_int64_t	 start_mono;	/* ns, CLOCK_MONOTONIC, at initialisation */
	tnf_int64_t	 start_wall;	/* ns since 1970, same instant */
	tnf_uint8_t	 boot_id[16];	/* /proc/sys/kernel/random/boot_id, binary */
	tnf_uint64_t lost[TNF_LOST_REASONS];
	tnf_uint32_t attached;	/* processes that have the file open for writing */
	tnf_uint32_t ended;		/* of these, how many left in order (exit) */
	tnf_uint64_t extra_offset;	/* kernel snapshots: context records, or 0 */
	tnf_uint64_t extra_size;	/* (tnf(5), "Context"); behind the declared end */
	tnf_uint64_t cookie;	/* not 0: blocks can be found in memory, see below */
	tnf_uint32_t incompatible;	/* features that a reader must know; none so far */
	tnf_uint32_t compatible;	/* features that it may ignore: TNF_EXT_CUT, FILL */
	tnf_uint64_t shortened;	/* values of events that are there, a part or all of
				   which is missing for want of room */
	tnf_uint64_t names;		/* of the process and its threads: see below */
	tnf_uint64_t reserved[4];	/* 0 */
};

/*
 * Names with time, which busy rings do not overwrite (tnf(5), "Names").  'names'
 * packs three fields: bits 63 to 32 hold the file offset of the latest block of names (0:
 * none), bits 31 to 16 the number of such blocks, bits 15 to 0 the offset, within the
 * latest one, of its first free byte.  A block of names is permanent and has no record:
 * all lies behind its bytes_valid.  At byte 32 is the offset of the block of names before
 * it.  From TNF_NAMES_FIRST on there are cells, each a multiple of 8 bytes:
 * TNF_NAMES_CELL | length, and so many characters, which are lines of a context.  What
 * does not begin so is no cell yet.
 */
#define TNF_NAMES_FIRST	40u
#define TNF_NAMES_CELL	0x4e4d0000u

#define TNF_EXT_INCOMPATIBLE	0u	/* those that are known */

/* compatible: this is the beginning of a file whose end was lost, and its reader
   has been told so.  Set in memory, when a compressed file is unpacked. */
#define TNF_EXT_CUT		1u
/* compatible: no data block is used twice; what comes when all have been is lost.  Set
   by who creates the file, before a writer has set it up. */
#define TNF_EXT_FILL		2u

/*
 * The pages of a kernel buffer lie scattered in physical memory.  So that
 * tnfxtract finds and orders them in the memory image of a crashed machine,
 * whoever allocates the buffer puts a random, non-zero cookie into block 0
 * (tnf_ext.cookie), the same cookie into each block header's next_block and
 * the block's number into its 'pad', once; and at the end of each block of the
 * directory, which has no header, a struct tnf_page_id.  Snapshots clear all.
 *
 * A process's trace file lies in the page cache in the same way.  There the low 32 bits
 * of the cookie plus the block's number are in each header's 'pad', which is stored
 * when a block is used for the first time; next_block is the writer's.
 */
struct tnf_page_id {
	tnf_uint64_t magic;		/* TNF_PAGE_ID_MAGIC */
	tnf_uint64_t cookie;
	tnf_uint64_t number;	/* of this block */
};
#define TNF_PAGE_ID_MAGIC	0x6469656761706e74ull

/*
 * Block 0 says how large the buffer is, when and in which boot it was made.  A part of the
 * memory may be overwritten, by a new kernel for example: therefore each data block of a
 * kernel buffer, which has no event in its last 8 bytes, has one word of that there, block
 * n the word n % TNF_TAIL_WORDS.
 */
enum tnf_tail_word {
	TNF_TAIL_SIZE,			/* of the buffer, in bytes */
	TNF_TAIL_BLOCKS,		/* block_size, directory_size << 32 */
	TNF_TAIL_MONO, TNF_TAIL_WALL,	/* start_mono, start_wall */
	TNF_TAIL_BOOT, TNF_TAIL_BOOT2,	/* boot_id */
	TNF_TAIL_START,			/* data_start */
	TNF_TAIL_DEFINITIONS,		/* a sum, by which a writer knows its own; 0: none */
	TNF_TAIL_WORDS
};

#ifdef __cplusplus
}
#else
__extension__ _Static_assert(sizeof(struct tnf_file_header) == 40, "tnf(5), File header");
__extension__ _Static_assert(sizeof(struct tnf_block_header) == 24, "tnf(5), Blocks");
__extension__ _Static_assert(sizeof(struct tnf_sched_rec) == 32, "tnf(5), Events");
__extension__ _Static_assert(sizeof(struct tnf_kernel_schedule) == 40, "tnf(5), Events");
__extension__ _Static_assert(sizeof(struct tnf_ext) <= 512 - TNF_EXT_OFFSET, "tnf(5), Extension");
#endif

#endif /* TNF_COM_H */
