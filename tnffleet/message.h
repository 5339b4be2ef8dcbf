/*
 * message.h - the messages that agents and askers send each other.
 *
 * A message is lines of a word and its value, an empty line, and bytes of any kind
 * behind it.  We trust nothing in a message: names are names of files without a path, text
 * has no control characters, numbers are decimal, and each has its limit.  Words that
 * are not known are passed over, so that a newer version may say more.
 */
#ifndef TNFFLEET_MESSAGE_H
#define TNFFLEET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLEET_NAME		128	/* with the NUL: of hosts, questions, files */
#define FLEET_TEXT		512
#define FLEET_EXPR		4096
#define FLEET_LABELS		8
#define FLEET_FILES		512
#define FLEET_HEAD_MAX		(160u << 10)	/* bytes of all lines */
#define FLEET_CHUNK		(256u << 10)	/* bytes of a file in one message */

struct fleet_file {
	char	 name[FLEET_NAME];
	int64_t	 size;
};

struct fleet_message {
	char	kind[FLEET_NAME];	/* "ask", "pinned", "refused", "list", "kept", "get",
					   "chunk", "lease" */
	char	question[FLEET_NAME];
	char	host[FLEET_NAME];
	char	incident[FLEET_NAME];
	char	file[FLEET_NAME];
	char	hosts[FLEET_TEXT];	/* a pattern */
	char	label[FLEET_LABELS][FLEET_NAME];	/* NAME=VALUE */
	unsigned n_labels;
	char	where[FLEET_EXPR];
	char	why[FLEET_TEXT];
	int64_t	last, at;		/* ns; ns since 1970; 0: not said */
	int64_t	since;			/* "pinned": the host has all events from then on, by its
					   clock; 0: not said */
	int64_t	received, sent;		/* ns since 1970, the agent's clock; "ask": sent, the
					   asker's */
	int64_t	complete;		/* "kept": all files are in the list */
	int64_t	offset, length, size, crc, packed;
	int64_t	until;			/* "lease": ns since 1970 */
	struct fleet_file files[FLEET_FILES];
	unsigned n_files;
	const unsigned char *body;	/* in the bytes that were read */
	size_t	body_size;
};

/* Reads a message; false: it is none; *why (may be NULL) is constant text. */
bool fleet_decode(const void *bytes, size_t size, struct fleet_message *, const char **why);
/* The lines and the body, which the caller frees; NULL: no memory. */
void *fleet_encode(const struct fleet_message *, size_t *size);

/* A name of a file in a directory and nothing else; also of hosts and questions. */
bool fleet_name_is_good(const char *);
/* True if the question concerns a host of that name and these labels. */
bool fleet_matches(const struct fleet_message *ask, const char *host,
    char label[][FLEET_NAME], unsigned n_labels);
/* Compares the clocks of two machines by one exchange: 'sent' and 'got' are the times of question
   and answer 'm' by our clock.  *offset is to be added to the host's clock.  *error is at most
   half of the time that the messages were under way.  false: the answer cannot be true. */
bool fleet_clock_offset(const struct fleet_message *m, int64_t sent, int64_t got, int64_t *offset,
    int64_t *error);

#endif /* TNFFLEET_MESSAGE_H */
