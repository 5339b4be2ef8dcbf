/*
 * input-pipe.h - what comes through a pipe, a FIFO or a socket, as a file.
 */
#ifndef TNFDUMP_INPUT_PIPE_H
#define TNFDUMP_INPUT_PIPE_H

/*
 * Reads 'fd' to its end into a file in memory.  0 and its descriptor in *ret,
 * which the caller closes; or an errno.  ETIMEDOUT: a FIFO that nobody writes
 * into; EFBIG: larger than any trace.
 */
int input_pipe(int fd, int *ret);

#endif
