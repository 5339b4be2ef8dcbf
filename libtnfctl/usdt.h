/*
 * usdt.h - the probes that <sys/sdt.h> puts into programs.
 *
 * A macro such as STAP_PROBE2(provider, name, a, b) leaves one nop in the program
 * and a note in .note.stapsdt: where the nop is, which 16-bit word of the program
 * (its semaphore) tells it that somebody listens, and in which registers or memory
 * the arguments are then, in the assembler's words.  Files are untrusted.
 */
#ifndef LIBTNFCTL_USDT_H
#define LIBTNFCTL_USDT_H

#include "kernel-probes/kernel_probes.h"

struct elffile;

/* Strings are those of the file, valid while fn runs; addresses have no bias. */
struct usdt_note {
	uint64_t address;	/* of the nop */
	uint64_t base;		/* of .stapsdt.base when the program was linked */
	uint64_t semaphore;	/* 0: none */
	const char *provider, *name, *args;
};

typedef bool usdt_note_f(void *arg, const struct usdt_note *);

/* Calls fn for each note of a section until it returns false.  Ends at the first
   note that does not fit; those of others are passed over. */
void	tnfctl_usdt_notes_read(const uint8_t *bytes, size_t size, usdt_note_f *, void *arg);

/*
 * The string is "N@OP N@OP ...": N is the size in bytes, negative for a signed
 * integer; OP is an operand as the assembler prints it.
 */

/* Finds the address of a symbol of the object, without the bias. */
typedef bool usdt_symbol_f(void *arg, const char *name, uint64_t *ret);

struct usdt_place {		/* what operands may refer to */
	uint64_t address;	/* of the nop */
	bool	 fixed;		/* addresses in the file are those in memory */
	usdt_symbol_f *symbol;	/* NULL: there are no symbols */
	void	*arg;
};

struct usdt_args {
	unsigned n;		/* at most KP_OPERANDS_MAX */
	unsigned unreadable;	/* of these: kind KP_OPERAND_UNREADABLE */
	struct kp_operand v[KP_OPERANDS_MAX];
	char	 why[96];	/* the first unreadable one, and why; or "" */
};

/* false: at least one argument cannot be read; the others can. */
bool	tnfctl_usdt_args_parse(const char *text, const struct usdt_place *,
	    struct usdt_args *ret);

/* The pieces that operands are read with.  Each function takes from the text what it understands.
   False: the operand cannot be read, and usdt_args.why has the reason. */
struct operand_text {
	const char *p;		/* what is not read yet */
	const struct usdt_place *place;
	struct usdt_args *args;	/* for the reason */
};

/* Always false. */
bool	tnfctl_operand_refuse(struct operand_text *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* How many characters at s a name may consist of. */
size_t	tnfctl_operand_name(const char *s);
/* "1", "-1", "+0x10"; false: no number here, which is no reason to refuse. */
bool	tnfctl_operand_number(const char **p, int64_t *ret);
/* "8", "symbol", "symbol+8-4", "8+symbol"; *symbols: how many were in it. */
bool	tnfctl_operand_expression(struct operand_text *, __s64 *ret, unsigned *symbols);
/* Makes the symbol's address what it is in the running program: relative to the instruction,
   unless the program is never moved. */
bool	tnfctl_operand_place(struct operand_text *, struct kp_operand *);

/* The machine's own: reads an operand as its assembler prints it.  *o has no registers and the
   scale 1 before. */
bool	tnfctl_arch_operand(struct operand_text *, struct kp_operand *o);

/*
 * The catalogue: what the arguments of known providers are called, and which of them are
 * strings, as a note tells neither.
 *
 * Each provider has a file of its name, of which the first that is found counts:
 * /etc/tnf/providers.d/NAME, then NAME among those that are installed with us.
 * TNF_PROVIDERS in the environment, a directory, comes before both, unless the
 * program is set-id.  The format is in tracing(7).
 */
#define USDT_ARGS_WRONG	"args: a name for each, with :string, :chars or :address where it is no number, " \
    "or a way to a member: o->next->id"
#define USDT_ARG_MAX	32u	/* of an argument's name, NUL included */

#define USDT_PATH_MAX	64u	/* of the way to a member, the same */

enum usdt_type { USDT_NUMBER, USDT_STRING, USDT_CHARS, USDT_ADDRESS };

struct usdt_args_named {
	unsigned n;
	char	 name[KP_OPERANDS_MAX][USDT_ARG_MAX];
	char	 path[KP_OPERANDS_MAX][USDT_PATH_MAX];	/* "o->next->id"; "": an argument itself */
	uint8_t	 argument[KP_OPERANDS_MAX];	/* which argument it is, or leads on from */
	enum usdt_type type[KP_OPERANDS_MAX];
};

/* "name name:type ...", with blanks or commas between them; false: it is not that. */
bool	tnfctl_usdt_args_read(const char *text, struct usdt_args_named *ret);
/* n is 0 where nothing is known. */
void	tnfctl_usdt_catalogue_find(const char *provider, const char *probe,
	    struct usdt_args_named *ret);

/*
 * A macro in an inlined function, or used twice, makes several sites of one
 * name.  They are one probe: its arguments are those of all sites, which may find
 * them in different places.
 */
#define USDT_NAME_MAX	128u	/* of a provider and of a name, NUL included */

struct usdt_site {
	uint64_t address;	/* without the bias */
	uint64_t offset;	/* of the nop in the file */
	uint64_t ref_ctr;	/* of its semaphore in the file; 0: none */
	unsigned n;
	struct kp_operand v[KP_OPERANDS_MAX];
};

struct usdt_probe {
	char	 provider[USDT_NAME_MAX], name[USDT_NAME_MAX];
	struct usdt_site *sites;
	size_t	 nsites;
	unsigned nargs;		/* the most that a site has */
	/* Bytes and sign of each argument; 0 bytes: it cannot be read at some site. */
	uint8_t	 size[KP_OPERANDS_MAX], sign[KP_OPERANDS_MAX];
	char	 why[96];	/* which cannot be read, and why; or "" */
	const char *refused;	/* why a site takes no breakpoint; static; NULL: all do */
};

struct usdt_object {
	struct usdt_probe *v;	/* in the order of the notes */
	size_t	 n;
	size_t	 skipped;	/* notes that no probe can be made of */
};

/* All probes of a file; false: no memory.  No notes: n is 0. */
bool	tnfctl_usdt_object_read(struct elffile *, struct usdt_object *ret);
void	tnfctl_usdt_object_free(struct usdt_object *);

/* The probes of an open file; they stay until the next call of this thread, which
   may be for another.  NULL: it is no ELF file of this machine. */
const struct usdt_object *tnfctl_usdt_probes_of(int fd);

/* How the arguments are recorded, if they are called so;
   ret->site is not touched. */
void	tnfctl_usdt_describe(const struct usdt_probe *, const struct usdt_args_named *,
	    struct kp_uprobe_found *ret);

/* kp_uprobe_find_f for USDT probes.  kernel: the kernel is to have it, so one that it cannot have is not found. */
int	tnfctl_usdt_find(const struct kp_uprobe_spec *, bool kernel, struct kp_uprobe_found *ret);

/* The type of the i-th of n arguments, which is 'number' unless its name says another; and which
   of KP_TEXT_* it is.  A counted text has its length behind it. */
const char *tnfctl_named_type(const struct usdt_args_named *, unsigned i, const char *number);
int	tnfctl_named_text(const struct usdt_args_named *, unsigned i, unsigned n);

/* For a kp_uprobe_find_f: returns -e, and why. */
int	tnfctl_find_refuse(struct kp_uprobe_found *ret, int e, const char *why);
/* True if the file has stayed as it was. */
struct stat;
bool	tnfctl_file_same(const struct stat *, const struct stat *);

/* "provider:name", as kp_uprobe_spec.symbol has it; false: too long. */
bool	tnfctl_usdt_symbol(const struct usdt_probe *, char *ret, size_t size);

#endif
