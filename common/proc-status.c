/*
 * proc-status.c - what the kernel says of a process or a thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc-status.h"

#define FIELD_MAX	256	/* of those that are asked for */

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
	char path[64], line[1024], *p = NULL;
	uint64_t start = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) != NULL)
		p = strrchr(line, ')');
	for (int i = 0; p != NULL && i < 20; i++)
		p = strchr(p + 1, ' ');
	if (p != NULL)
		start = strtoull(p, NULL, 10);
	fclose(f);
	return start;
}
