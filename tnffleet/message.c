/*
 * message.c - the messages of agents and askers, as bytes.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tnffleet/message.h"

enum word_type { W_NAME, W_TEXT, W_NUMBER, W_LABEL, W_FILE };

static const struct word {
	const char *name;
	enum word_type type;
	size_t	 offset, size;
} words[] = {
#define MEMBER(m)	offsetof(struct fleet_message, m), sizeof(((struct fleet_message *)0)->m)
	{ "kind", W_NAME, MEMBER(kind) },
	{ "question", W_NAME, MEMBER(question) },
	{ "host", W_NAME, MEMBER(host) },
	{ "incident", W_NAME, MEMBER(incident) },
	{ "file", W_NAME, MEMBER(file) },
	{ "hosts", W_TEXT, MEMBER(hosts) },
	{ "label", W_LABEL, 0, 0 },
	{ "where", W_TEXT, MEMBER(where) },
	{ "why", W_TEXT, MEMBER(why) },
	{ "last", W_NUMBER, MEMBER(last) },
	{ "at", W_NUMBER, MEMBER(at) },
	{ "since", W_NUMBER, MEMBER(since) },
	{ "received", W_NUMBER, MEMBER(received) },
	{ "sent", W_NUMBER, MEMBER(sent) },
	{ "complete", W_NUMBER, MEMBER(complete) },
	{ "offset", W_NUMBER, MEMBER(offset) },
	{ "length", W_NUMBER, MEMBER(length) },
	{ "size", W_NUMBER, MEMBER(size) },
	{ "crc", W_NUMBER, MEMBER(crc) },
	{ "packed", W_NUMBER, MEMBER(packed) },
	{ "until", W_NUMBER, MEMBER(until) },
	{ "has", W_FILE, 0, 0 },
#undef MEMBER
};

#define HEAD	"tnf-fleet 1\n"

bool
fleet_name_is_good(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n < FLEET_NAME && *s != '.' && *s != '-' &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == n;
}

/* Text is one line without controls that a terminal would obey. */
static bool
text_is_good(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

/* Reads a size or a time since 1970, which are never negative. */
static bool
number_read(const char *s, int64_t *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoll(s, &end, 10);
	return errno == 0 && *end == '\0' && *ret <= INT64_MAX / 2;
}

static bool
label_read(const char *s, struct fleet_message *m)
{
	const char *equals = strchr(s, '=');

	if (equals == NULL || equals == s || strlen(s) >= FLEET_NAME ||
	    m->n_labels == FLEET_LABELS || !text_is_good(s))
		return false;
	strcpy(m->label[m->n_labels++], s);
	return true;
}

/* "SIZE NAME" */
static bool
file_read(char *s, struct fleet_message *m)
{
	char *name = strchr(s, ' ');
	struct fleet_file *f = &m->files[m->n_files];

	if (name == NULL || m->n_files == FLEET_FILES)
		return false;
	*name++ = '\0';
	if (!fleet_name_is_good(name) || !number_read(s, &f->size))
		return false;
	strcpy(f->name, name);
	m->n_files++;
	return true;
}

static bool
word_read(struct fleet_message *m, const struct word *w, char *value)
{
	char *at = (char *)m + w->offset;

	switch (w->type) {
	case W_NUMBER:
		return number_read(value, (int64_t *)(void *)at);
	case W_LABEL:
		return label_read(value, m);
	case W_FILE:
		return file_read(value, m);
	case W_NAME:
		if (!fleet_name_is_good(value))
			return false;
		break;
	case W_TEXT:
		if (!text_is_good(value))
			return false;
		break;
	}
	if (strlen(value) >= w->size)
		return false;
	strcpy(at, value);
	return true;
}

static bool
line_read(struct fleet_message *m, char *line, const char **why)
{
	char *value = strchr(line, ' ');

	*why = "a line without a value";
	if (value == NULL)
		return false;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i].name, line) == 0) {
			*why = words[i].name;
			return word_read(m, &words[i], value);
		}
	return true;
}

bool
fleet_decode(const void *bytes, size_t size, struct fleet_message *m, const char **why)
{
	const char *p = bytes, *end, *text, *none;
	size_t head, max = size < FLEET_HEAD_MAX ? size : FLEET_HEAD_MAX;
	char *copy, *line, *rest;
	bool good = true;

	if (why == NULL)
		why = &none;
	memset(m, 0, sizeof *m);
	*why = "no message of this version";
	if (size < strlen(HEAD) || memcmp(p, HEAD, strlen(HEAD)) != 0)
		return false;
	*why = "its lines have no end";
	if ((end = memmem(p, max, "\n\n", 2)) == NULL)
		return false;
	text = p + strlen(HEAD) - 1;
	head = (size_t)(end - text);
	*why = "no memory";
	if ((copy = malloc(head + 1)) == NULL)
		return false;
	memcpy(copy, text, head);
	copy[head] = '\0';
	*why = "a NUL in a line";
	good = strlen(copy) == head;
	rest = head > 0 ? copy + 1 : copy;
	while (good && *rest != '\0' && (line = strsep(&rest, "\n")) != NULL) {
		good = line_read(m, line, why);
		if (rest == NULL)
			break;
	}
	free(copy);
	m->body = (const unsigned char *)end + 2;
	m->body_size = size - (size_t)(end + 2 - p);
	return good;
}

static void
word_write(FILE *f, const struct fleet_message *m, const struct word *w)
{
	const char *at = (const char *)m + w->offset;
	int64_t n;

	switch (w->type) {
	case W_NUMBER:
		memcpy(&n, at, sizeof n);
		if (n != 0)
			fprintf(f, "%s %" PRId64 "\n", w->name, n);
		break;
	case W_LABEL:
		for (unsigned i = 0; i < m->n_labels; i++)
			fprintf(f, "label %s\n", m->label[i]);
		break;
	case W_FILE:
		for (unsigned i = 0; i < m->n_files; i++)
			fprintf(f, "has %" PRId64 " %s\n", m->files[i].size, m->files[i].name);
		break;
	default:
		if (*at != '\0')
			fprintf(f, "%s %s\n", w->name, at);
	}
}

void *
fleet_encode(const struct fleet_message *m, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	if (f == NULL)
		return NULL;
	fputs(HEAD, f);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		word_write(f, m, &words[i]);
	putc('\n', f);
	if (m->body_size > 0)
		fwrite(m->body, 1, m->body_size, f);
	bool good = !ferror(f);
	if (fclose(f) == 0 && good)
		return text;
	free(text);
	return NULL;
}

bool
fleet_matches(const struct fleet_message *ask, const char *host, char label[][FLEET_NAME],
    unsigned n_labels)
{
	unsigned i, k;

	if (*ask->hosts != '\0' && fnmatch(ask->hosts, host, 0) != 0)
		return false;
	for (i = 0; i < ask->n_labels; i++) {
		for (k = 0; k < n_labels; k++)
			if (strcmp(ask->label[i], label[k]) == 0)
				break;
		if (k == n_labels)
			return false;
	}
	return true;
}

bool
fleet_clock_offset(const struct fleet_message *m, int64_t sent, int64_t got, int64_t *offset, int64_t *error)
{
	int64_t way, ahead;

	if (m->received <= 0 || m->sent < m->received || sent <= 0 || got < sent)
		return false;
	way = (got - sent) - (m->sent - m->received);
	/* The clocks of two hosts may differ by centuries. */
	if (way < 0 || __builtin_add_overflow(m->received - sent, m->sent - got, &ahead))
		return false;
	*offset = -(ahead / 2);
	*error = (way + 1) / 2;
	return true;
}
