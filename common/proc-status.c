/*
 * proc-status.c - what the kernel says of a process or a thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc-status.h"

#define FIELD_MAX	256	/* of those that are asked for */
#define READ_SIZE	((size_t)64 << 10)	/* more than the kernel hands out at once */
#define TEXT_MAX	((size_t)128 << 20)

static bool
proc_status_read(const char *path, const char *field, char *ret, size_t size)
{
	size_t len = strlen(field);
	char line[FIELD_MAX];
	bool found = false;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strncmp(line, field, len) == 0 && line[len] == ':';
	fclose(f);
	if (!found)
		return false;
	line[strcspn(line, "\n")] = '\0';
	snprintf(ret, size, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
	return true;
}

bool
tnf_proc_status_text(pid_t pid, const char *field, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return proc_status_read(path, field, ret, size);
}

bool
tnf_thread_status_text(pid_t pid, pid_t tid, const char *field, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return proc_status_read(path, field, ret, size);
}

long
tnf_thread_status(pid_t pid, pid_t tid, const char *field)
{
	char text[FIELD_MAX];

	return tnf_thread_status_text(pid, tid, field, text, sizeof(text)) ?
	    strtol(text, NULL, 10) : -1;
}

long
tnf_proc_status(pid_t pid, const char *field)
{
	return tnf_proc_status_nth(pid, field, 0);
}

long
tnf_proc_status_nth(pid_t pid, const char *field, unsigned n)
{
	char text[FIELD_MAX], *at = text, *end;
	long v;

	if (!tnf_proc_status_text(pid, field, text, sizeof(text)))
		return -1;
	for (;; at = end) {
		v = strtol(at, &end, 10);
		if (end == at)
			return -1;
		if (n-- == 0)
			return v;
	}
}

long
tnf_thread_status_last(pid_t pid, pid_t tid, const char *field)
{
	char text[FIELD_MAX], *last;

	if (!tnf_thread_status_text(pid, tid, field, text, sizeof(text)))
		return -1;
	last = strrchr(text, '\t');
	return strtol(last != NULL ? last : text, NULL, 10);
}

/* The name, in parentheses, may hold anything; no later field has one. */
uint64_t
tnf_proc_started(pid_t pid)
{
	char line[1024], *p;

	if (tnf_proc_file(line, sizeof(line), "/proc/%d/stat", (int)pid) < 0)
		return 0;
	p = strrchr(line, ')');
	for (int i = 0; p != NULL && i < 20; i++)
		p = strchr(p + 1, ' ');
	return p != NULL ? strtoull(p, NULL, 10) : 0;
}

ssize_t
tnf_proc_file(char *ret, size_t size, const char *path, ...)
{
	char name[PATH_MAX];
	va_list ap;
	ssize_t n;
	int fd;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return -1;
	n = read(fd, ret, size - 1);
	close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n;
}

int
tnf_read_all(int fd, char **ret, size_t *ret_size)
{
	size_t n = 0, room = 0;
	char *text = NULL, *grown;
	ssize_t got;

	do {
		if (room - n <= READ_SIZE) {
			room = 2 * room + 2 * READ_SIZE;
			grown = room <= TEXT_MAX ? realloc(text, room) : NULL;
			if (grown == NULL) {
				free(text);
				return ENOMEM;
			}
			text = grown;
		}
		got = read(fd, text + n, room - n - 1);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
	if (got < 0) {
		free(text);
		return errno;
	}
	text[n] = '\0';
	*ret = text;
	if (ret_size != NULL)
		*ret_size = n;
	return 0;
}
