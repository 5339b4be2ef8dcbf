/*
 * watch.h - the program: its commands.
 */
#ifndef TNFWATCH_WATCH_H
#define TNFWATCH_WATCH_H

/* What is given before and with a command. */
struct watch_options {
	const char *config;	/* the file */
};

struct watch_command {
	const char *name;
	const char *usage;	/* its arguments */
	const char *help;	/* one line */
	int	 min, max;	/* how many arguments */
	/* Its exit status. */
	int	(*run)(const struct watch_options *, int argc, char **argv);
};

extern const struct watch_command command_agent, command_ask, command_check, command_fire, command_list, command_mark,
    command_pin, command_rm, command_show, command_status;

/* In the foreground until a signal ends it. */
int watch_run(const struct watch_options *);

#endif /* TNFWATCH_WATCH_H */
