/*
 * config-impl.h - a configuration while it is read.
 *
 * config.c takes lines from files, puts values together and gives them to their section;
 * config-keys.c knows what a value may be.
 */
#ifndef TNFWATCH_CONFIG_IMPL_H
#define TNFWATCH_CONFIG_IMPL_H

#include <stdio.h>

#include "tnfwatch/config.h"

#define NAME_BYTES	48	/* of a section: it becomes part of file names */

enum section { S_NONE, S_WATCH, S_FLEET, S_KERNEL, S_PROCESS, S_FILE, S_TRIGGER };

struct config_reader {
	struct config *c;
	FILE	*mistakes;
	unsigned n_mistakes;
	const char *path;	/* of the file that is read */
	FILE	*f;
	unsigned line;		/* that was read last */
	bool	 goes_on;	/* ... is indented */

	enum section section;	/* the one that values are for, ... */
	char	*section_text;
	size_t	 index;		/* ... and which of its kind */

	/* A value is complete when the next one begins. */
	char	*key, *value;
	unsigned value_line;
};

/* The value of a key goes to 'at'; false: the mistake has been told. */
typedef bool config_set(struct config_reader *, const char *key, const char *value, void *at);

/* The place of a key's value, from the start of its section's struct. */
struct config_key {
	const char *name;
	config_set *set;
	size_t	 offset;
	enum { KEY_VALUE, KEY_TEXT, KEY_ENABLE } kind;	/* KEY_TEXT: a char *, freed at the end */
};

struct config_section {
	const char *name;
	enum section section;
	bool	 named;		/* "[process NAME]" */
	const struct config_key *keys;
};

/* config-keys.c: in the order of enum section, from S_WATCH on. */
#define CONFIG_SECTIONS	6
extern const struct config_section config_sections[CONFIG_SECTIONS];

/* config.c */
/* Prints "FILE:LINE: what: remedy" and counts it. */
void config_mistake(struct config_reader *, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The text, and a caret below what is wrong in it. */
void config_mistake_caret(struct config_reader *, const char *text, size_t offset);

#endif /* TNFWATCH_CONFIG_IMPL_H */
