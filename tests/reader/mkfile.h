/*
 * mkfile.h - makes trace files of any byte order and word size in memory.
 *
 * Written after tnf(5), apart from libtnfprobe and libtnf, so that neither
 * tests itself.  Everything is bounded; a call that does not fit returns
 * false and leaves the file sound.
 */
#ifndef TESTS_MKFILE_H
#define TESTS_MKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mk_opts {
	bool	 big;		/* big-endian */
	bool	 narrow;	/* 32-bit writer */
	bool	 align4;	/* 64-bit integers at 4, as on 32-bit x86 */
	bool	 kernel;	/* kernel's schedule records, small directory */
	bool	 wrap;		/* take the oldest block when all are used, ... */
	bool	 hold;		/* ... but none that a thread writes in */
	uint32_t block_size;	/* 0: 512 */
	uint32_t data_blocks;	/* 0: 64 */
	uint32_t tag_reserve;	/* 0: 32 KB; when full, data blocks */
};

struct mk;

/* A writer; 'block' and what follows belong to mkfile.c, 0 at first. */
struct mk_thread {
	int32_t	 pid;
	uint32_t lwpid;
	uint64_t tid;
	int32_t	 cpu;
	uint32_t block, sched;
	int64_t	 base;
};

struct mk *mk_new(const struct mk_opts *);
void	   mk_free(struct mk *);

/* 'slots': "name:type name:type ..."; types as in tnf(5).  Returns an id. */
unsigned   mk_probe(struct mk *, const char *name, const char *attrs,
	       const char *slots);
/* A record type with such slots. */
void	   mk_record_type(struct mk *, const char *name, const char *slots);

/* Another name for a type. */
void	   mk_derived_type(struct mk *, const char *name, const char *base);

/* An event; the values after the slots: integers and references as int64_t,
   floats as double, strings as const char * (NULL: null). */
bool	   mk_event(struct mk *, struct mk_thread *, unsigned probe,
	       int64_t time, ...);
/* A record of a type, to be given as a reference to the next mk_event() of
   this thread; the values are int64_t.  0: does not fit. */
uint32_t   mk_record(struct mk *, struct mk_thread *, const char *type, ...);

/* The bytes; they may be changed. */
unsigned char *mk_bytes(struct mk *, size_t *size);
bool	   mk_save(struct mk *, const char *path);
uint32_t   mk_get32(struct mk *, uint32_t pos);
void	   mk_put32(struct mk *, uint32_t pos, uint32_t v);
void	   mk_put16(struct mk *, uint32_t pos, uint16_t v);
uint32_t   mk_type_pos(struct mk *, const char *name);
uint32_t   mk_data_start(struct mk *);
uint32_t   mk_last_event(struct mk *);	/* its offset */

#endif
