/*
 * input-pipe.h - copies a pipe, a FIFO or a socket into a file in memory.
 */
#ifndef TNFDUMP_INPUT_PIPE_H
#define TNFDUMP_INPUT_PIPE_H

/*
 * Reads 'fd' to its end into a file in memory.  Returns 0 and in *ret the file's
 * descriptor, which the caller closes; or an errno.  ETIMEDOUT: nobody writes into the
 * FIFO; EFBIG: larger than any trace.
 */
int input_pipe(int fd, int *ret);

#endif
