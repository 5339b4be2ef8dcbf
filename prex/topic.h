/*
 * topic.h - what "help" tells about besides commands.
 */
#ifndef PREX_TOPIC_H
#define PREX_TOPIC_H

struct topic {
	const char *name;
	const char *help;
};

extern const struct topic topics[];		/* a NULL name ends */
extern const char *const *const topic_names;	/* the same; NULL ends */

#endif
