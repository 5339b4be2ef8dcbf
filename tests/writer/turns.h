/*
 * turns.h - threads that take turns: one byte in a pipe is one turn.
 */
#ifndef TESTS_WRITER_TURNS_H
#define TESTS_WRITER_TURNS_H

#include <unistd.h>

static inline void
turn_await(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(3);
}

static inline void
turn_give(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(3);
}

#endif
