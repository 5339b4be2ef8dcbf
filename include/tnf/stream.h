/*
 * stream.h - events of one or more trace files, in order of time.  (Linux)
 *
 * The fast way through a trace; <tnf/tnf.h> is the classic one, record by
 * record.  Files may come from any writer: 32 or 64 bits, either byte order,
 * process or kernel.  Nothing in a file is trusted; damage is reported through
 * the stream's 'damage' callback and what is sound is delivered.  Memory grows
 * with the number of blocks, not of events.  A stream and all it hands out
 * serve one thread at a time and live until tnf_stream_close().
 */
#ifndef TNF_STREAM_H
#define TNF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>
#include <tnf/tnf.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tnf_stream tnf_stream_t;
struct tnf_file;			/* one open trace file */

/* A type as the file describes it. */
struct tnf_type {
	const char	*name;		/* "tnf_int32", "tnf_pid", "my_record" */
	const char	*base;		/* ultimate base: "tnf_int32"; else name */
	tnf_kind_t	 kind;		/* of the base */
	bool		 opaque;	/* shown in hexadecimal */
	uint32_t	 size;		/* of a member; a record: of itself */
	uint32_t	 align;
	/* Records: all members except the tag.  So it is with an event that another
	   record refers to: its first member here is time_delta, which the members
	   of struct tnf_probe leave out. */
	unsigned	 n_members;
	const struct tnf_member *members;
	const struct tnf_type *element;	/* arrays */
	/* Arrays of pieces (tnf(5), "Long values"): kind is TNF_K_ARRAY, and a value
	   is put together and has the kind TNF_K_STRING. */
	bool		 text;		/* tnf_text: characters */
	bool		 blob;		/* tnf_blob: bytes of any kind */
};

struct tnf_member {
	const char	*name;
	const struct tnf_type *type;
	uint32_t	 offset;	/* from the start of the record */
};

/* A probe as the file defines it.  One name may have several definitions. */
struct tnf_probe {
	const char	*name;
	const char	*attrs;		/* "keys K L;file F;line N;..."; or NULL */
	const char	*keys;		/* "K L"; "" without */
	struct tnf_file	*file;
	bool		 defined;	/* its definition is one of the records */
	unsigned	 id;		/* 0, 1, ... over all files of the stream */
	unsigned	 n_members;	/* arguments of the probe */
	const struct tnf_member *members;
	void		*user;		/* the client's, NULL at first */
	uint32_t	 pos;		/* of its type in the file */
};

/* A value read from a record. */
struct tnf_value {
	const struct tnf_type *type;	/* of the member or element */
	tnf_kind_t	 kind;		/* of what was found (TNF_K_STRING, ...) */
	bool		 null;		/* null reference, or overwritten */
	bool		 cut;		/* TNF_K_STRING: the writer has cut it, or the
					   rest has been overwritten */
	union {
		int64_t	 i;		/* TNF_K_CHAR, INT8 ... INT64 */
		uint64_t u;		/* TNF_K_UINT8 ... UINT64 */
		double	 d;		/* FLOAT32, FLOAT64 */
		struct {		/* TNF_K_STRING: not NUL-terminated */
			const char *chars;
			size_t	    len;
		} s;
		struct {		/* TNF_K_STRUCT, TNF_K_ARRAY */
			uint32_t pos;	/* file offset of the record */
			uint32_t count;	/* members or elements */
			const struct tnf_type *type;	/* of the record found */
		} r;
	} u;
};

struct tnf_event {
	int64_t		 time;		/* ns; the writer's CLOCK_MONOTONIC */
	uint64_t	 tid;		/* kernel: address of the task */
	uint32_t	 lwpid;
	int32_t		 pid;
	int32_t		 cpu;		/* -1: the file does not say */
	bool		 kernel;
	struct tnf_probe *probe;
	struct tnf_file	*file;
	uint32_t	 pos;		/* file offset of the record */
	uint32_t	 block;		/* kernel: number of its block among those
					   of its CPU, from 1; 0: not told */
};

/* A file in figures: they count what is in the file now, not what was written to it. */
struct tnf_summary {
	uint64_t size;		/* bytes that the header declares */
	uint64_t size_real;	/* of the file */
	bool	 swapped;	/* written in the other byte order */
	unsigned word_bits;	/* of the writer: 32 or 64 */
	uint32_t block_size;
	uint32_t blocks_tag;	/* definitions */
	uint32_t blocks_data;	/* hold events */
	uint32_t blocks_free;	/* never used */
	uint32_t generation;	/* the highest: laps over the data blocks */
	uint64_t events;
	uint64_t overwritten;	/* events whose schedule record is gone */
	uint64_t damaged;	/* blocks */
	int64_t	 first, last;	/* times; meaningless without events */
	unsigned probes;
	uint32_t blocks_held;	/* of a process's file: threads have them, or had
				   when they were killed */
};

/* tnf_stream_damage_fn is called once for each cause of damage while a file is added, with
   the offset of the first block that suffers from it, and a text without newline
   that says why, and how much is left out. */
typedef void tnf_stream_damage_fn(void *arg, struct tnf_file *, uint64_t offset,
    const char *text);

int  tnf_stream_new(tnf_stream_t **ret);	/* 0 or TNF_ERR_* */
void tnf_stream_close(tnf_stream_t *);
void tnf_stream_on_damage(tnf_stream_t *, tnf_stream_damage_fn *, void *arg);

/* Accept files that are shorter than their header says (default: refuse,
   TNF_ERR_BADTNF).  Applies to files added later. */
void tnf_stream_accept_cut(tnf_stream_t *, bool);

/* Adds a file; its probes are known from then on.  'ret' may be NULL.  A file
   in which nothing has been recorded yet gives ENODATA.  The memory variant
   borrows 'base' until the stream is closed. */
int tnf_stream_add(tnf_stream_t *, const char *path, struct tnf_file **ret);
int tnf_stream_add_mem(tnf_stream_t *, const void *base, size_t size,
    const char *name, struct tnf_file **ret);

/*
 * Large files.  Those that are added later and have at least 'size' bytes (0: none)
 * are read as their events are asked for; adding one looks at the beginning of its
 * blocks only.  Not for files of the kernel, nor for those that are followed.  What
 * tnf_stream_next() hands out is the same, but
 *  - damage is told by the call that finds no further event, or by
 *    tnf_stream_close(), and only that of what was read;
 *  - a summary counts events, and what is left out of them, as far as they were
 *    read; sizes, blocks and laps are known at once;
 *  - a probe that has no definition of its own is known when an event of it comes.
 */
void tnf_stream_lazily(tnf_stream_t *, uint64_t size);
/*
 * Shows 'fn' each event, before any was asked for, in whatever order is the fastest: large
 * files are then read block after block, and once.  Of files that are followed it shows, each
 * time, what tnf_stream_next() would hand out, in the same order; 'fn' must not call
 * tnf_stream_refresh().  0 or TNF_ERR_*.
 */
typedef void tnf_stream_each_fn(void *arg, const struct tnf_event *);
int  tnf_stream_each(tnf_stream_t *, tnf_stream_each_fn *, void *arg);
/* The caller has no use for events before 'from', and need not be handed them: of
   files that are read lazily the rest is not read.  0 or TNF_ERR_*. */
int  tnf_stream_skip(tnf_stream_t *, int64_t from);

/*
 * Following files that are being written.  tnf_stream_follow() comes before
 * they are added, by tnf_stream_add_mem() with a shared mapping.  Each
 * tnf_stream_refresh() looks for what was committed since, and tnf_stream_next()
 * hands out those events whose time is not after 'until' (choose it a little
 * behind the clock: an event is committed a moment after its time).  Later ones
 * wait for the next refresh.  Before the first refresh tnf_stream_next() hands out
 * what each file held when it was added.  These are different moments, and a writer
 * goes on between them: a caller that needs the events of several files or threads
 * in order calls tnf_stream_refresh() before the first tnf_stream_next(), too.
 */
struct tnf_progress {
	uint64_t events;	/* found by this refresh */
	uint64_t late;		/* of these: earlier than one already handed out */
	uint64_t blocks_missed;	/* overwritten before all in them was handed out */
};

void tnf_stream_follow(tnf_stream_t *);
int  tnf_stream_refresh(tnf_stream_t *, int64_t until, struct tnf_progress *);
/* How many of the events that refreshes have found have not been handed out yet. */
size_t tnf_stream_waiting(const tnf_stream_t *);

/*
 * Events of which probes refreshes are to hand out, from now on: those for which fn() says so,
 * which is asked once for each definition of a probe.  Other events are only counted
 * (tnf_progress.events), which takes a fraction of the time.  NULL: all, as at first.
 */
typedef bool tnf_stream_want_fn(void *arg, const struct tnf_probe *);
void tnf_stream_want(tnf_stream_t *, tnf_stream_want_fn *, void *arg);

/* The next event in order of time; events of equal time come in the order in which
   the files were added, then of their offsets.  1: *ev is filled; 0: there is no
   further one; negative: minus an errno or TNF_ERR_* code. */
int tnf_stream_next(tnf_stream_t *, struct tnf_event *ev);

unsigned tnf_stream_probes(const tnf_stream_t *);
struct tnf_probe *tnf_stream_probe(tnf_stream_t *, unsigned id);

/* Member i (0..n_members-1) of an event; member or element i of a record
   value.  false: no such member.  Strings are valid until the stream closes,
   of a file that is being written only until the next tnf_stream_next().  A text or
   blob of several pieces is put together in memory, once, as long as these take no
   more than the file itself; beyond that its first piece is what is returned. */
bool tnf_event_value(const struct tnf_event *, unsigned i, struct tnf_value *);
/* Is the event still where it was?  Of a file that is being written, what tnf_event_value() gave
   before is sound if this says so after it has been copied. */
bool tnf_event_there(const struct tnf_event *);
bool tnf_value_item(const struct tnf_file *, const struct tnf_value *,
    unsigned i, struct tnf_value *);

/* The bytes of a file, to be given to tnf_stream_add_mem() or
   tnf_reader_begin().  Mapped; but while a writer of ours has the file open,
   and up to 256 MiB, a copy of what it held at one moment: of each thread all
   events up to then, with what they refer to, and without those that were
   overwritten during the copy.  Only a part of a file of zeros is mapped.  0, an errno, or
   TNF_ERR_NOTTNF; ENODATA: of length 0. */
int  tnf_image_open(int fd, const void **base, size_t *size);
void tnf_image_close(const void *base, size_t size);	/* NULL is fine */
/* A TNF file without any record yet: all zeros, or just being set up. */
bool tnf_image_is_empty(const void *base, size_t size);

/* The file as a whole. */
const char *tnf_file_name(const struct tnf_file *);
const struct tnf_ext *tnf_file_ext(const struct tnf_file *); /* NULL: original writer */
void tnf_file_summary(const struct tnf_file *, struct tnf_summary *);
/* The times of a file's first and last event, as the events have them; reads no more than
   that takes.  0, or ENODATA: the file has no event. */
int  tnf_file_span(struct tnf_file *, int64_t *first, int64_t *last);
/* How many blocks a writer has overwritten after the file was added and before
   tnf_stream_next() handed out their events.  This happens only to files that are
   being written and too large to be copied (tnf_image_open()); for others this is 0.
   For a file that is followed this is 0, too, and tnf_progress.blocks_missed tells. */
uint64_t tnf_file_missed(const struct tnf_file *);

/* Files of several machines on one time line: 'shift' ns are added to the times of the
   file's events from then on (what leaves the range stays at its end), and 'host' is
   a number of the client's for the machine; both are 0 at first.  Call it after the
   file is added and before the first tnf_stream_next(); not for files that are
   followed.  The times that tnf_file_summary() tells are not shifted. */
void tnf_file_set_host(struct tnf_file *, unsigned host, int64_t shift);
unsigned tnf_file_host(const struct tnf_file *);	/* NULL: 0 */
int64_t tnf_file_shift(const struct tnf_file *);

#ifdef __cplusplus
}
#endif

#endif /* TNF_STREAM_H */
