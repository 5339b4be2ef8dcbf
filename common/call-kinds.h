/*
 * call-kinds.h - kinds of arguments of system calls, and which call has which of them.
 *
 * common/syscall-table.h has the kinds of each call; tools/call-table writes them.  The kernel's
 * programs record what the first of these kinds refer to, as text; analysis/calls.c prints them all.
 */
#ifndef COMMON_CALL_KINDS_H
#define COMMON_CALL_KINDS_H

enum call_kind {
	CALL_END,
	/* The kernel's programs record what such an argument refers to. */
	CALL_FD,		/* a descriptor: the file's path, or a socket's addresses */
	CALL_DFD,		/* the same, or AT_FDCWD */
	CALL_PATH, CALL_TEXT,	/* a path; any other text */
	CALL_ADDRESS,		/* a socket address; the next argument is its size */
	CALL_IOVEC,		/* an array of buffers; the next argument is their number */
	CALL_MESSAGE,		/* of sendmsg(2): an address and an array of buffers */
	CALL_TIME,		/* struct timespec */
	CALL_RECORDED = CALL_TIME,
	/* Only the argument itself counts. */
	CALL_INT, CALL_UNSIGNED, CALL_LONG, CALL_HEX, CALL_PTR, CALL_MODE,
	CALL_SOCKOPT,		/* the argument before it is the level */
	CALL_FCNTL_ARG,		/* the argument before it is the command */
	CALL_HIGH,		/* upper half of a 32-bit program's argument before it */
	/* Names from the C library's and the kernel's headers (analysis/gen-names.sh). */
	CALL_NAMES,
#define SET(name, ...) CALL_ ## name,
#include "common/call-sets.h"
#undef SET
	CALL_KINDS_COUNT
};

#define CALL_ARGUMENTS	6

/* Applies f to the six kinds of a row of the table. */
#define CALL_EACH(f, ...)						\
	CALL_EACH_(f, 0, ##__VA_ARGS__, END, END, END, END, END, END, END)
#define CALL_EACH_(f, none, a, b, c, d, e, g, ...)			\
	f(CALL_ ## a, CALL_ ## b, CALL_ ## c, CALL_ ## d, CALL_ ## e, CALL_ ## g)

#endif /* COMMON_CALL_KINDS_H */
