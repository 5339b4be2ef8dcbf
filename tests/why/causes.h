/*
 * causes.h - what the parts of the program "causes" share.
 */
#ifndef TESTS_WHY_CAUSES_H
#define TESTS_WHY_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A cause: setup() is called once, with a path for files of its own; request() for each
 * request, of which some are to be slow.  async: the causes's own code writes the probes
 * (probe.c's request_begins() and request_ends()).
 */
struct cause {
	const char *name;
	void	(*setup)(const char *path);
	void	(*request)(int id, bool slow);
	bool	async;
};

extern const struct cause causes_cpu[], causes_lock[], causes_sync[], causes_wait[],
    causes_ipc[], causes_stop[], causes_io[], causes_behind[];

/* help.c: these end the program if something fails. */
_Noreturn void die(const char *what);
void name_me(const char *);
void pin(int cpu);
void spin_ms(double ms);		/* of CPU time of the calling thread */
void sleep_ms(double ms);
void thread(const char *name, void *(*fn)(void *), void *arg);
/* A child of this name, which ends with the program. */
int child(const char *name, void (*fn)(void *), void *arg);
void make_pipe(int fd[2]);
void put1(int fd);			/* writes a byte, reads one */
void get1(int fd);
int make_file(const char *path, size_t size, int flags);

/* probe.c */
void request_begins(int id);
void request_taken(int id);
void request_ends(int id);

#endif
