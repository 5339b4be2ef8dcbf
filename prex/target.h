/*
 * target.h - the life of the target.
 */
#ifndef PREX_TARGET_H
#define PREX_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct shell;

struct target_options {
	char	**argv;		/* to be started; NULL: none */
	pid_t	pid;		/* to attach to; 0: none */
	bool	kernel;
	const char *preload;
	const char *file;	/* for the trace */
	bool	follow_fork;
	bool	children;	/* those that are there when we attach */
	bool	fill;		/* the trace file stops when it is full */
	bool	follow_exec;	/* argv is given */
	struct {
		char	*name;
		unsigned value;
	} *settings;		/* of the kernel */
	size_t	n_settings;
};

/* Each prints why it returns false. */
bool	target_open(struct shell *, const struct target_options *);
bool	target_set_up(struct shell *, const struct target_options *);
bool	target_close(struct shell *);

bool	target_has_probes(struct shell *);
void	target_catch_interrupt(struct shell *);
/* Warns if no probe is both enabled and traced.  may_come: there are none yet, and some may come. */
void	target_check_probes(struct shell *, bool may_come);
/* Has Ctrl-C been pressed since last asked? */
bool	target_interrupted(void);

/* Lets it run.  TARGET_GONE: there is nothing left to control. */
enum target_run { TARGET_STOPPED, TARGET_GONE, TARGET_FAILED };
enum target_run target_run(struct shell *);
void	target_check(struct shell *);
pid_t	target_pid(struct shell *);

#endif
