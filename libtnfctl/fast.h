/*
 * fast.h - fast probes: functions and USDT probes of a process whose code is patched, so that
 * libtnfprobe records their hits (<tnf/target.h>).
 *
 * imports-add.c lists a probe as imported; the analysis (sites.h) says whether its sites can
 * be patched.  When the probe is first switched on, it is made: libtnfprobe defines it, as a probe
 * made at run time, and each site gets a pad.  From then on it has a control block, and is
 * switched as any other probe of the process.
 */
#ifndef LIBTNFCTL_FAST_H
#define LIBTNFCTL_FAST_H

#include "libtnfctl/imports.h"
#include "libtnfctl/sites/sites.h"

struct calls;
struct elffile;

/* An area of the process. */
struct fast_area {
	struct fast_area *next;
	uintptr_t at;
	size_t	 patched;	/* so many of its sites have their jump */
	bool	 told;		/* the process has it that some may */
};

struct fast_site {
	struct site site;	/* without a length: another controller has found it */
	unsigned length;	/* bytes of the instructions that the jump touches */
	uintptr_t address;	/* in the process */
	uintptr_t note;		/* its struct tnf_fast_site there; 0: not made yet */
	struct fast_area *area;	/* where that is */
	uintptr_t moved;	/* what is executed in place of its instructions; 0: not known */
	uintptr_t semaphore;	/* 0: none */
	uint8_t	 before[TNF_FAST_JUMP], jump[TNF_FAST_JUMP];
	bool	 placed;	/* tnfctl_fast_at() finds it there, and no other probe */
	bool	 patched;	/* the jump is there */
	bool	 raised;	/* and so is its part of the semaphore */
};

struct fast {			/* what a tnfctl_probe has; NULL: it is no fast one */
	struct fast_site *v;
	size_t	 n;
	bool	 made;
	bool	 at_return;	/* its hits come by the jump of the function's entry */
	bool	 alone;		/* the kernel would do harm: it must not get the probe */
	tnfctl_probe_t *other;	/* the entry of a return, the return of an entry, or NULL */
};

struct fast_pads {		/* memory for pads, of which 'used' bytes are taken */
	uintptr_t start;
	size_t	 size, used;
	size_t	 there;		/* so many are written, ... */
	uint8_t	*copy;		/* ... the others stand here; NULL: there are none */
};

/* A failure that was none of the probe at hand: for each of thousands of probes we would wait as long for the same
   answer.  So it holds for all until nobody has asked for a second; then we try again. */
struct fast_failure {
	const char *why;	/* static; NULL: none */
	int64_t	 at;		/* CLOCK_MONOTONIC, ns */
};
/* Why not; NULL: try it. */
const char *tnfctl_fast_failed(struct fast_failure *);

/* The part of a handle that exists from the first fast probe on. */
struct fast_room {
	uintptr_t define, entry, inner, back;	/* in libtnfprobe */
	struct fast_area *areas; /* of all controllers */
	struct fast_area *area;	/* the newest that we have made; NULL: none */
	size_t	 size;		/* of it, ... */
	size_t	 sites, text;	/* ... sites in it, and bytes of text at its end */
	size_t	 sites_there, text_there; /* so many are written, ... */
	uint8_t	*copy;		/* ... the others stand here, where they are in the area; NULL: there are none */
	struct fast_pads *pads;
	size_t	 npads;
	bool	 returns_known;
	struct fast_failure no_call;	/* libtnfprobe cannot be called */
	struct fast_failure no_search;	/* the stacks cannot be searched (patch.c) */
	const char *returns_none;	/* why no return can be fast, once known; NULL: they can */
	struct map places;	/* the probe at each site, by its address, ... */
	uint64_t bits[1 << 17];	/* ... and a bit by its last 23 bits, which is looked at first */
};

/* Returns NULL if there can be fast probes in the process, or why not; static.  'run': a program that
   we have started, and that is in its linker, runs to its start for that. */
const char *tnfctl_fast_none(tnfctl_handle_t *, bool run);
/* Why the return of a function of this name cannot be fast in the process; NULL: it can. */
const char *tnfctl_fast_return_none(tnfctl_handle_t *, const char *function);
/* True if the handle has a fast probe, so that one that is imported may be the same. */
bool	tnfctl_fast_any(const tnfctl_handle_t *);
void	tnfctl_room_free(struct fast_room *);
void	tnfctl_fast_free(struct fast *);

/* Asks the analysis about a probe of an open file, which is mapped there: of a function that begins
   at 'address' of the file, or of a USDT probe.  NULL: it cannot be fast, and *why, which is
   static. */
struct usdt_probe;
struct fast *tnfctl_fast_function(tnfctl_handle_t *, const struct maps *, int fd, const struct mapping *,
	    uint64_t address, const char **why);
struct fast *tnfctl_fast_usdt(tnfctl_handle_t *, const struct maps *, int fd, const struct mapping *,
	    const struct usdt_probe *, const char **why);
/* The handle's probe that has a site there; NULL: none, or no more. */
tnfctl_probe_t *tnfctl_fast_at(const tnfctl_handle_t *, uintptr_t address);
/* True if a probe may have a site at an address from 'from' to before 'to', other than 'but'. */
bool	tnfctl_fast_beside(const tnfctl_handle_t *, uintptr_t from, uintptr_t to, uintptr_t but);
/* The probe has its sites from now on; one that was there before keeps the place. */
void	tnfctl_fast_placed(tnfctl_handle_t *, tnfctl_probe_t *);

/* The kernel is to have the probe, for a reason that is static. */
void	tnfctl_fast_give_up(tnfctl_probe_t *, const char *why);
/* Makes a fast probe, if need be, with those that were imported with it (others) or alone.  One that cannot be made is
   given up. */
tnfctl_errcode_t tnfctl_fast_ready(tnfctl_handle_t *, tnfctl_probe_t *, bool others);
/* As target_ops.probe_set; makes the probe first, if need be.  If the probe cannot be fast, the
   kernel gets it. */
tnfctl_errcode_t tnfctl_fast_set(tnfctl_handle_t *, tnfctl_probe_t *, bool enabling, bool on);

/* fast-make.c: defines the probe in the process; others: with those that were imported with it.  NONE also
   if it cannot be: then import->slow says why. */
tnfctl_errcode_t tnfctl_fast_make(tnfctl_handle_t *, tnfctl_probe_t *, bool others);
/* Reads what earlier controllers have made, and undoes what one has left half done. */
void	tnfctl_fast_settle(tnfctl_handle_t *);

/* True if the function's other probe is on, which needs the same jump. */
bool	tnfctl_fast_other_is_on(const tnfctl_probe_t *);

/* As tnfctl_probe_where(), of a probe that is made. */
tnfctl_errcode_t tnfctl_fast_where(tnfctl_handle_t *, const tnfctl_probe_t *, const char *conditions);

/*
 * pads.c: memory of the process.  Functions return NULL, or why not.  more: so many sites are about
 * to come.  What is put there is written by tnfctl_pads_flush(), in few pieces, and must be before there is
 * another area.
 */
bool	tnfctl_pads_is_full(const struct fast_room *, size_t sites, size_t text); /* its area */
struct fast_area *tnfctl_pads_area_add(struct fast_room *, uintptr_t at);	/* to those that are known */
const char *tnfctl_pads_area(struct calls *, struct fast_room *, size_t sites, size_t text, size_t more);
const char *tnfctl_pads_near(struct calls *, struct fast_room *, uintptr_t site, size_t more,
	    struct fast_pads **ret);
/* Puts a pad there for the site, whose note has its place, and sets moved, before and jump. */
const char *tnfctl_pads_put(tnfctl_handle_t *, struct fast_pads *, struct fast_site *);
const char *tnfctl_pads_flush(tnfctl_handle_t *);
#define PAD_MAX		(16 + 19 + SITE_MOVED_MAX)

/*
 * patch.c: puts the jumps of a probe's sites there, or the bytes of before.  On: all sites or
 * none.  NONE; BUSY: a thread stands in the way, or somebody else has changed the code; the detail
 * says which.
 */
tnfctl_errcode_t tnfctl_patch_set(tnfctl_handle_t *, struct fast *, bool on);
/* Has the process know whether sites of the area may have their jump: to be called before the first gets it, and when
   the last is out. */
bool	tnfctl_patch_tell(tnfctl_handle_t *, struct fast_area *);
/* True if a jump touches the site's instructions already: two must not touch the same. */
bool	tnfctl_patch_is_taken(const tnfctl_handle_t *, const struct fast *, const struct fast_site *);
/* The code that must be there when the site gets its jump: all instructions that its pad executes, as far as they are
   known.  Returns the number of bytes. */
size_t	tnfctl_patch_code(const struct fast_site *, const uint8_t **ret);
/* Calls fn with each address at which a thread stands, or to which one may come back; no jump may lie over such
   an address.  False: not all can be told.  The process stands still. */
bool	tnfctl_patch_places(tnfctl_handle_t *, void (*fn)(void *, uintptr_t at), void *arg);

/*
 * many.c: switches those of the probes that it can, for which the process runs and then stands still for a
 * moment, and sets their places in the list to NULL; the others are to be switched one by one.
 */
void	tnfctl_fast_set_many(tnfctl_handle_t *, tnfctl_probe_t **, size_t n, bool on);
#endif
