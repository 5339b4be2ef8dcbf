/*
 * functions.h - functions of programs and libraries as probes: NAME_entry, which has the
 * function's arguments, and NAME_return, which has its result.  Debugging information tells
 * names and types; without it, entries have the first six words, and returns one.
 */
#ifndef LIBTNFCTL_FUNCTIONS_H
#define LIBTNFCTL_FUNCTIONS_H

#include "libtnfctl/usdt.h"

#define FUNCTIONS_MAX	512	/* that one pattern may choose of a file, for the kernel */
#define FUNCTIONS_FAST_MAX 131072	/* the same, for fast probes */

/*
 * Calls fn for each function of an open file whose name the pattern fits: a regular
 * expression between slashes, or a name.  Returns how many fit, of which fn gets
 * 'max' at most; -1: the pattern is wrong, or the file is no ELF file.
 */
long	tnfctl_functions_choose(int fd, const char *pattern, long max,
	    bool (*fn)(void *arg, const char *name, uint64_t address), void *arg);

/* KP_UPROBE_UNWOUND, KP_UPROBE_NO_RETURN or 0, for all functions of an open file: may a
   return be traced? */
uint32_t tnfctl_functions_returns(int fd);

/* Why probes cannot be put into the functions of a file, or NULL. */
const char *tnfctl_functions_refused(int fd, const char *path, bool at_return);

/* kp_uprobe_find_f for functions. */
int	tnfctl_functions_find(const struct kp_uprobe_spec *, struct kp_uprobe_found *ret);

struct function_value {
	char	 name[32];
	const char *type;	/* as the file has it; static.  NULL: it is not recorded */
	uint8_t	 size;		/* 1, 2, 4, 8 */
	bool	 sign;
	bool	 is_text;	/* the address of text */
	int	 number;	/* of the register, from 0; -1: in memory */
	unsigned at;		/* there: above the stack pointer */
	unsigned registers;	/* that it takes */
	unsigned in_memory;	/* bytes that it takes there otherwise */
};

/*
 * The parameters of the function that begins at this address of an open file (as its symbol table
 * has it), at most 'max'; returns how many can be recorded.  -1: nothing is known.
 */
int	tnfctl_function_parameters(int fd, const char *path, uint64_t address,
	    struct function_value *ret, unsigned max);
/* 1; 0: it returns nothing; -1: nothing is known. */
int	tnfctl_function_result(int fd, const char *path, uint64_t address,
	    struct function_value *ret);

/* The type of a number of so many bytes; NULL: there is none. */
const char *tnfctl_number_type(unsigned size, bool sign);

/* Frees what this thread knows of the file that was asked for last; it stays for the next question. */
void	tnfctl_functions_forget(void);
void	tnfctl_function_types_forget(void);	/* for that */

/* Finds the way from a pointer to a member, such as "o->next->id", for a name of arguments, whose
   operand is place i of a site. */
bool	tnfctl_member_place(int fd, const struct kp_uprobe_spec *, uint64_t address,
	    const struct usdt_args_named *, unsigned i, struct kp_site *, struct kp_uprobe_found *);
/* Adds the member that tells which ways led nowhere, if there are any. */
void	tnfctl_member_unread(const struct usdt_args_named *, struct kp_uprobe_found *);

#endif
