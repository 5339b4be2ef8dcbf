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

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In-file scalar types under the names that TNF_PROBE users know. */
typedef char		tnf_char_t;
typedef unsigned char	tnf_uchar_t;
typedef int8_t		tnf_int8_t;
typedef uint8_t		tnf_uint8_t;
typedef int16_t		tnf_int16_t;
typedef uint16_t	tnf_uint16_t;
typedef int32_t		tnf_int32_t;
typedef uint32_t	tnf_uint32_t;
typedef int64_t		tnf_int64_t;
typedef uint64_t	tnf_uint64_t;
typedef float		tnf_float32_t;
typedef double		tnf_float64_t;

/* A reference: 32 bits, the low two say which kind (tnf(5), "References"). */
typedef uint32_t	tnf_ref32_t;
typedef tnf_ref32_t	tnf_reference_t;

#define TNF_REF32_T_MASK	0x3u
#define TNF_REF32_T_FULL	0x0u	/* to a record or a forwarding word */
#define TNF_REF32_T_PAIR	0x1u	/* event: tag half and schedule half */
#define TNF_REF32_T_TAG		0x2u	/* full, in a tag slot */
#define TNF_REF32_T_RESERVED	0x3u
#define TNF_REF32_PERMANENT	0x80000000u	/* absolute; else self-relative */
#define TNF_TAG16_ABS		0x1u	/* high half: offset of a directory word */

#define TNF_MAGIC		0x544e4600u
#define TNF_MAGIC_SWAPPED	0x00464e54u
#define TNF_FILE_VERSION	1u
#define TNF_FILE_HEADER_SIZE	36u	/* the nine members tag .. blocks_valid */

#define TNF_GENERATION_FREE	0u		/* block never used */
#define TNF_GENERATION_TAG	0xffffffffu	/* permanent block of definitions */

#define TNF_BLOCK_SIZE_MIN	64u
#define TNF_BLOCK_SIZE_MAX	32768u	/* references inside a block are 16 bits */
#define TNF_STRING_MAX		255u	/* characters, the NUL not counted */
#define TNF_NAME_MAX		127u	/* probe and slot names */
#define TNF_PROBE_ARGS_MAX	5u
#define TNF_DIRECTORY_NAMED	0x10000u /* only so much can be named in 16 bits */

/* The tags of the originals: the first three directory words, permanent. */
#define TNF_DIR_FILE_HEADER	0u	/* word 0 */
#define TNF_DIR_BLOCK_HEADER	4u	/* word 1 */
#define TNF_DIR_STRUCT_TYPE	8u	/* word 2 */
#define TNF_DIR_FIRST_PROBE	12u

/* Block 0. */
struct tnf_file_header {
	uint32_t magic;
	uint32_t tag;
	uint32_t file_version;
	uint32_t file_header_size;
	uint32_t file_logical_size;	/* log2 of the size, rounded up */
	uint32_t block_header_size;	/* 24; 32-bit writers 16 */
	uint32_t block_size;		/* power of two */
	uint32_t directory_size;	/* multiple of block_size */
	uint32_t block_count;		/* of the whole file */
	uint32_t blocks_valid;		/* hint: highest block used so far */
};

struct tnf_block_header {
	uint32_t tag;
	uint32_t generation;	/* 0 free, TNF_GENERATION_TAG, else the lap */
	uint16_t bytes_valid;	/* committed, counted from the block's start */
	uint8_t	 A_lock;	/* a thread is filling this block */
	uint8_t	 B_lock;	/* it is being taken over */
	uint32_t pad;
	uint64_t next_block;	/* private to the writer: who holds the block */
};

/* A process's schedule record: who runs, and from when deltas count. */
struct tnf_sched_rec {
	uint32_t tag;
	uint32_t tid;
	uint32_t lwpid;
	int32_t	 pid;
	int64_t	 time_base;	/* ns, CLOCK_MONOTONIC */
};

/* The kernel's. */
struct tnf_kernel_schedule {
	uint32_t tag;
	uint32_t pad0;
	uint64_t tid;		/* address of the task */
	uint32_t lwpid;
	int32_t	 pid;
	int64_t	 time_base;	/* ns, CLOCK_MONOTONIC */
	int32_t	 cpuid;
	uint32_t pad1;
};

/*
 * What this implementation adds: behind the file header's own bytes, in the
 * part of block 0 that belongs to the writer and that every other reader
 * ignores.  Absent (magic differs) in files of the original writers.  All
 * words are the writer's byte order.  The counters are changed with relaxed
 * atomic adds by every process or CPU that writes the file.
 *
 * How it may grow.  New members come at the end, out of 'reserved'; a reader
 * takes what lies behind 'size' as 0.  Who uses one that readers may ignore
 * sets its bit in 'compatible'.  Who changes what a reader of today would
 * misread sets a bit in 'incompatible': a reader refuses a file with a bit that
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
	TNF_LOST_REASONS = 8	/* size of lost[]; the rest is 0 */
};

enum tnf_ext_kind { TNF_EXT_PROCESS = 1, TNF_EXT_KERNEL = 2 };

struct tnf_ext {
	uint32_t magic;		/* stored last */
	uint32_t version;
	uint32_t size;		/* of this struct, as the writer knew it */
	uint32_t kind;		/* enum tnf_ext_kind */
	uint64_t data_cursor;	/* data blocks taken so far, all laps; a few of
				   them are passed over unused */
	uint32_t tag_cursor;	/* tag blocks taken, from the reserve first */
	uint32_t dir_cursor;	/* offset of the next free directory word */
	uint32_t data_start;	/* offset of the first data block */
	int32_t	 pid;		/* first writer; 0 kernel */
	int64_t	 start_mono;	/* ns, CLOCK_MONOTONIC, at initialisation */
	int64_t	 start_wall;	/* ns since 1970, same instant */
	uint8_t	 boot_id[16];	/* /proc/sys/kernel/random/boot_id, binary */
	uint64_t lost[TNF_LOST_REASONS];
	uint32_t attached;	/* processes that have the file open for writing */
	uint32_t ended;		/* of these, how many left in order (exit) */
	uint64_t extra_offset;	/* kernel snapshots: context records, or 0 */
	uint64_t extra_size;	/* (tnf(5), "Context"); behind the declared end */
	uint64_t cookie;	/* kernel buffer in memory: see below; files: 0 */
	uint32_t incompatible;	/* features that a reader must know; none so far */
	uint32_t compatible;	/* features that it may ignore; none so far */
	uint64_t reserved[6];	/* 0 */
};

#define TNF_EXT_INCOMPATIBLE	0u	/* those that are known */

/*
 * The pages of a kernel buffer lie scattered in physical memory.  So that
 * tnfxtract finds and orders them in the memory image of a crashed machine,
 * whoever allocates the buffer puts a random, non-zero cookie into block 0
 * (tnf_ext.cookie), the same cookie into each block header's next_block and
 * the block's number into its 'pad', once; and at the end of each block of the
 * directory, which has no header, a struct tnf_page_id.  Snapshots clear all.
 */
struct tnf_page_id {
	uint64_t magic;		/* TNF_PAGE_ID_MAGIC */
	uint64_t cookie;
	uint64_t number;	/* of this block */
};
#define TNF_PAGE_ID_MAGIC	0x6469656761706e74ull

#ifdef __cplusplus
}
#else
__extension__ _Static_assert(sizeof(struct tnf_file_header) == 40, "tnf(5), File header");
__extension__ _Static_assert(sizeof(struct tnf_block_header) == 24, "tnf(5), Blocks");
__extension__ _Static_assert(sizeof(struct tnf_sched_rec) == 24, "tnf(5), Events");
__extension__ _Static_assert(sizeof(struct tnf_kernel_schedule) == 40, "tnf(5), Events");
__extension__ _Static_assert(sizeof(struct tnf_ext) <= 512 - TNF_EXT_OFFSET, "tnf(5), Extension");
#endif

#endif /* TNF_COM_H */
