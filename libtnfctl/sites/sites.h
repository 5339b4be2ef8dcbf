/*
 * sites.h - where a jump may be put into the code of a program: at which functions and
 * USDT probes of an ELF file, and the instructions that have to move for it.
 *
 * A site is patched by one jump (SITE_JUMP bytes) over its first bytes.  The jump leads to
 * a pad, which calls the probe, executes the instructions that the jump has replaced, and
 * jumps back behind them.  This is sound only if no thread comes to a byte inside of the
 * jump: the analysis here looks for everything in the file that may lead there, and refuses
 * the site if it finds something.  A uprobe of the kernel, which anybody may put there later,
 * executes the first instruction elsewhere and goes on behind it: so the jump begins behind a
 * short first instruction.  Threads that stand in the jump when it is written are the caller's
 * affair, and so is everything else that is not in the file: seccomp, a shadow stack, code that
 * was made at run time, breakpoints.
 *
 * Files are untrusted.  Addresses are those of the file, without the bias, unless a
 * comment says "live".  Reasons are static strings that fit behind "fast=no: ".
 */
#ifndef LIBTNFCTL_SITES_H
#define LIBTNFCTL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#define SITE_JUMP	4u	/* bytes of the jump */
#define SITE_REACH	((int64_t)127 << 20)	/* how far it leads, either way */
#else
#define SITE_JUMP	5u
#define SITE_REACH	((int64_t)2047 << 20)
#endif
#define SITE_BYTES_MAX	20u	/* the instructions that a jump touches */
#define SITE_MOVED_MAX	64u	/* the same in a pad, with the jump back */

struct site {
	uint64_t address;	/* where the jump begins: of a function, behind endbr64 or behind
				   another short instruction, so that uprobes there do no harm */
	uint8_t	 length;	/* of the whole instructions that it touches: SITE_JUMP or more */
	bool	 usdt;
	bool	 calls;		/* the last one is a call: not for threads with a shadow stack */
	bool	 nops;		/* they have no effect: nothing moves */
	uint8_t	 first;		/* bytes of the instruction before it, other than endbr64 */
	uint8_t	 pushed;	/* how far that one moves the stack pointer down */
	uint32_t lost;		/* argument registers that have other values there: 1 << KP_R_... */
	uint8_t	 bytes[SITE_BYTES_MAX];	/* the first 'length' of the file at 'address' */
	const char *refused;	/* NULL: may be patched; else the reason, and length is 0 */
};

struct sites;

/*
 * Analyses an object that is open; the file stays the caller's, and need not stay open.
 * NULL and errno: ENOEXEC, no ELF file of this machine; ENOMEM; EFBIG.  An object that must not
 * be patched at all is none of these: each of its sites has the reason.
 *
 * The result is kept, and the next call for the same file, also from another thread,
 * returns it at once.  A site of it may be asked for by several threads at once.
 */
struct sites *tnfctl_sites_open(int fd);
void	tnfctl_sites_close(struct sites *);	/* NULL: nothing happens */

/* The site at a function that begins at this address. */
void	tnfctl_sites_function(const struct sites *, uint64_t address, struct site *ret);
/* The site at a USDT probe whose nop is at this address. */
void	tnfctl_sites_usdt(const struct sites *, uint64_t address, struct site *ret);

/*
 * Writes what the pad has to execute in place of the site's instructions, and the jump back
 * behind them.  from: the live address of the site; pad: that of ret[0].  NULL: *length bytes
 * of ret are set, SITE_MOVED_MAX at most; else why it cannot be done, which is only that
 * the pad is too far from the site, or from what the site refers to, or that the site is refused.
 *
 * A call is the last instruction, and pushes the same return address as before; so no
 * address of a pad is ever on a stack.
 */
const char *tnfctl_site_relocate(const struct site *, uint64_t from, uint64_t pad,
	    uint8_t ret[SITE_MOVED_MAX], size_t *length);

/*
 * Returns the address in the pad of the instruction that lies at live address ip of the site; 0:
 * none of the site's instructions begins there.  A thread that stands in the site while the site is
 * patched goes on at the returned address.
 */
uint64_t tnfctl_site_to_pad(const struct site *, uint64_t from, uint64_t pad, uint64_t ip);

/*
 * Objects and functions that are left alone whatever their code is like.
 */
struct elffile;

/* Why nothing in an object may be patched; NULL: it may.  Static. */
const char *tnfctl_refused_object(struct elffile *);
/* The same for the function of this name. */
const char *tnfctl_refused_name(const char *name);
/* The same for its return alone. */
const char *tnfctl_refused_return(const char *name);
/* True if the object makes code once it runs, and looks at addresses to return to. */
bool tnfctl_object_makes_code(struct elffile *);

/*
 * Functions that differ between machines: each machine has a file move-*.c, which also has
 * tnfctl_site_relocate() and tnfctl_site_to_pad().
 */
/* NULL, or why this build moves no instructions at all. */
const char *tnfctl_move_unknown(void);

/* Has a jump bytes that threads may come to from elsewhere?  Not if it replaces one
   instruction. */
extern const bool tnfctl_move_needs_branches;

/* The size of the instruction for indirect branches that a function may begin with; 0: it has
   none. */
size_t	tnfctl_move_landing(const uint8_t *bytes, size_t n);

/*
 * Sets the pushed and lost of *s, and returns the size of the first instruction if the jump has to be put
 * behind it: else a breakpoint of the kernel (uprobe) there, whoever made it, would lead
 * threads into the jump.  0: no need; SIZE_MAX: this cannot be.
 */
size_t	tnfctl_move_first(const uint8_t *bytes, size_t n, struct site *s);

/* Does an instruction begin at this distance from the first of those that n bytes hold? */
bool	tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance);

/*
 * Can the instructions that n bytes begin with make room for a jump?  The function has 'inside'
 * of these bytes.  NULL: length, calls, nops and bytes of *s are set; else why not.
 */
const char *tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s);

#endif
