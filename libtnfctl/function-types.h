/*
 * function-types.h - names and types of a function's parameters, and of its result.
 */
#ifndef LIBTNFCTL_FUNCTION_TYPES_H
#define LIBTNFCTL_FUNCTION_TYPES_H

#include <stdbool.h>
#include <stdint.h>

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
 * Those of the function that begins at this address of an open file (as its symbol table
 * has it), at most 'max'; returns how many can be recorded.  -1: nothing is known.
 */
int	tnfctl_function_parameters(int fd, const char *path, uint64_t address,
	    struct function_value *ret, unsigned max);
/* 1; 0: it returns nothing; -1: nothing is known. */
int	tnfctl_function_result(int fd, const char *path, uint64_t address,
	    struct function_value *ret);

/* The type of a number of so many bytes; NULL: there is none. */
const char *tnfctl_number_type(unsigned size, bool sign);

/* Closes the file that was asked for last, which stays open for the next question. */
void	tnfctl_function_types_forget(void);

#endif
