/*
 * proc.c - what /proc says of processes and threads, of what they have mapped, and of the
 * kernel's symbols.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"

#define FIELD_MAX	256	/* bytes of the longest line that callers ask for */
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

/* The program's name is in parentheses and may itself contain blanks and parentheses.  No later
   field contains ')', so the last ')' ends the name. */
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

/* Lines are "NUMBER:HIERARCHY:PATH". */
bool
tnf_proc_cgroup(pid_t pid, const char *hierarchy, char *ret, size_t size)
{
	size_t n = strlen(hierarchy), length;
	char *at;

	if (tnf_proc_file(ret, size, "/proc/%d/cgroup", (int)pid) <= 0)
		return false;
	for (char *line = ret; (at = strchr(line, ':')) != NULL; line = at + length) {
		length = strcspn(++at, "\n");
		if (strncmp(at, hierarchy, n) == 0 && at[n] == ':') {
			at[length] = '\0';
			memmove(ret, at + n + 1, length - n);
			return true;
		}
	}
	return false;
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

/* Takes a number, and the character behind it. */
static bool
maps_number(char **at, unsigned base, char behind, uint64_t *ret)
{
	char *p = *at;
	unsigned digit;

	for (*ret = 0; ; p++) {
		digit = *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10 :
		    *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') : base;
		if (digit >= base)
			break;
		*ret = *ret * base + digit;
	}
	if (p == *at || *p != behind)
		return false;
	*at = p + 1;
	return true;
}

/* sscanf(3) would take 5,000 instructions for a line; maps_parse() takes 1,000. */
static bool
maps_parse(char *line, struct mapping *m)
{
	uint64_t start, end, major, minor;
	const char *perms;

	if (!maps_number(&line, 16, '-', &start) || !maps_number(&line, 16, ' ', &end))
		return false;
	perms = line;
	if (strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	line += 5;
	if (!maps_number(&line, 16, ' ', &m->offset) || !maps_number(&line, 16, ':', &major) ||
	    !maps_number(&line, 16, ' ', &minor) || !maps_number(&line, 10, ' ', &m->inode))
		return false;
	m->start = start;
	m->end = end;
	m->device = makedev(major, minor);
	m->exec = perms[2] == 'x';
	m->write = perms[1] == 'w';
	m->shared = perms[3] == 's';
	m->path = line + strspn(line, " ");
	return true;
}

static int
maps_split(struct maps *maps)
{
	char *line, *rest = maps->text;
	struct mapping *grown;
	size_t room = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (maps->n == room) {
			room = room ? room * 2 : 256;
			grown = realloc(maps->m, room * sizeof(*grown));
			if (grown == NULL)
				return ENOMEM;
			maps->m = grown;
		}
		if (maps_parse(line, &maps->m[maps->n]))
			maps->n++;
	}
	return 0;
}

int
tnf_maps_read(pid_t pid, struct maps *ret)
{
	char name[64];
	int fd, error;

	*ret = (struct maps){ 0 };
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		return errno;
	error = tnf_read_all(fd, &ret->text, NULL);
	close(fd);
	if (error == 0)
		error = maps_split(ret);
	if (error != 0)
		tnf_maps_free(ret);
	return error;
}

void
tnf_maps_free(struct maps *maps)
{
	free(maps->m);
	free(maps->text);
	*maps = (struct maps){ 0 };
}

const char *
tnf_mapping_file(const struct mapping *m, pid_t pid, char name[MAPPING_FILE_MAX])
{
	snprintf(name, MAPPING_FILE_MAX, "/proc/%d/map_files/%" PRIxPTR "-%" PRIxPTR,
	    (int)pid, m->start, m->end);
	return name;
}

bool
tnf_mapping_is_written(const struct mapping *m)
{
	return m->write && m->shared && m->path[0] == '/';
}

bool
tnf_maps_write_file(pid_t pid, const struct stat *file)
{
	char path[MAPPING_FILE_MAX];
	bool found = false;
	struct maps maps;
	struct stat st;

	if (tnf_maps_read(pid, &maps) != 0)
		return false;
	for (size_t i = 0; i < maps.n && !found; i++)
		found = tnf_mapping_is_written(&maps.m[i]) &&
		    stat(tnf_mapping_file(&maps.m[i], pid, path), &st) == 0 &&
		    st.st_ino == file->st_ino && st.st_dev == file->st_dev;
	tnf_maps_free(&maps);
	return found;
}

const struct mapping *
tnf_maps_find(const struct maps *maps, uintptr_t address)
{
	size_t low = 0, high = maps->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (address < maps->m[mid].start)
			high = mid;
		else if (address >= maps->m[mid].end)
			low = mid + 1;
		else
			return &maps->m[mid];
	}
	return NULL;
}

const struct mapping *
tnf_maps_file_start(const struct maps *maps, const struct mapping *m)
{
	for (const struct mapping *at = m; at >= maps->m; at--)
		if (at->inode == m->inode && at->device == m->device && at->offset == 0 &&
		    strcmp(at->path, m->path) == 0)
			return at;
	return NULL;
}

void
tnf_who_is(uid_t uid, pid_t pid, char *ret, size_t size)
{
	const struct passwd *pw = getpwuid(uid);
	char number[24], program[32];

	snprintf(number, sizeof(number), "%ld", (long)uid);
	if (!tnf_proc_status_text(pid, "Name", program, sizeof(program)))
		program[0] = '\0';
	snprintf(ret, size, "%s by %s[%ld]", pw != NULL ? pw->pw_name : number, program,
	    (long)pid);
}

bool
tnf_kallsyms_line(const char *p, struct kallsym *ret)
{
	uint64_t v = 0;
	int digits;

	for (digits = 0; ; digits++, p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (digits == 0 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ')
		return false;
	*ret = (struct kallsym){ .address = v, .type = p[1], .name = p + 3 };
	ret->length = strcspn(ret->name, "\t \n");
	p = ret->name + ret->length;
	ret->module = p + strspn(p, "\t ");
	if (*ret->module == '[')
		ret->module_length = strcspn(++ret->module, "]\n");
	return true;
}

int
tnf_kallsyms_each(const char *path, bool (*fn)(void *arg, const struct kallsym *), void *arg)
{
	FILE *f = fopen(path, "re");
	struct kallsym sym;
	char line[1024];

	if (f == NULL)
		return errno;
	while (fgets(line, sizeof line, f) != NULL)
		if (tnf_kallsyms_line(line, &sym) && !fn(arg, &sym))
			break;
	fclose(f);
	return 0;
}

/*
 * The container and the pod that a control group tells.
 */

#define HEX	"0123456789abcdef"
#define ID_LEN	(sizeof(((struct container *)0)->id) - 1)
#define UID_LEN	(sizeof(((struct container *)0)->pod) - 1)

/* True if the text is a pod's uid: groups of 8, 4, 4, 4 and 12 digits.  systemd's names have "_"
   between the groups, because "-" has a meaning in them. */
static bool
is_uid(const char *s)
{
	static const unsigned char group[] = { 8, 4, 4, 4, 12 };

	for (size_t i = 0; i < sizeof(group); i++, s++) {
		if (strspn(s, HEX) != group[i])
			return false;
		s += group[i];
		if (i < sizeof(group) - 1 && *s != '-' && *s != '_')
			return false;
	}
	return true;
}

static void
take_uid(char to[UID_LEN + 1], const char *s)
{
	for (size_t i = 0; i < UID_LEN; i++)
		to[i] = s[i] == '_' ? '-' : s[i];
	to[UID_LEN] = '\0';
}

bool
tnf_container_of(const char *cgroup, struct container *c)
{
	size_t n;

	*c = (struct container){ .id = "" };
	for (const char *s = strstr(cgroup, "pod"); s != NULL; s = strstr(s + 1, "pod"))
		if (is_uid(s + 3))
			take_uid(c->pod, s + 3);
	for (const char *s = cgroup; *s != '\0'; s += n + (s[n] != '\0')) {
		n = strspn(s, HEX);
		if (n == ID_LEN) {
			memcpy(c->id, s, n);
			c->id[n] = '\0';
		}
	}
	return *c->id != '\0' || *c->pod != '\0';
}

/* Copies the text up to 'end'; false: there is no room. */
static bool
take(char *to, size_t size, const char *s, const char *end)
{
	if (end == NULL || (size_t)(end - s) >= size)
		return false;
	memcpy(to, s, (size_t)(end - s));
	to[end - s] = '\0';
	return true;
}

/* POD_NAMESPACE_NAME-ID.log; neither names of pods nor those of namespaces have "_". */
static bool
names_parse(const char *file, const char *id, struct container_names *names)
{
	const char *ns = strchr(file, '_'), *name = ns != NULL ? strchr(ns + 1, '_') : NULL;
	const char *end = name != NULL ? strrchr(name, '-') : NULL;
	size_t n = strlen(id);

	return end != NULL && strncmp(end + 1, id, n) == 0 && strcmp(end + 1 + n, ".log") == 0 &&
	    take(names->pod, sizeof(names->pod), file, ns) &&
	    take(names->pod_namespace, sizeof(names->pod_namespace), ns + 1, name) &&
	    take(names->name, sizeof(names->name), name + 1, end);
}

bool
tnf_container_in_pod(const char *directory, const char *pod, char id[ID_LEN + 1])
{
	DIR *d = opendir(directory);
	struct container_names names;
	struct dirent *e;
	bool found = false;

	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		const char *dash = strrchr(e->d_name, '-');

		found = dash != NULL && strspn(dash + 1, HEX) == ID_LEN &&
		    take(id, ID_LEN + 1, dash + 1, dash + 1 + ID_LEN) &&
		    names_parse(e->d_name, id, &names) && strcmp(names.pod, pod) == 0;
	}
	if (d != NULL)
		closedir(d);
	return found;
}

bool
tnf_container_names(const char *directory, const char *id, struct container_names *names)
{
	DIR *d = *id != '\0' ? opendir(directory) : NULL;
	struct dirent *e;
	bool found = false;

	while (d != NULL && !found && (e = readdir(d)) != NULL)
		found = names_parse(e->d_name, id, names);
	if (d != NULL)
		closedir(d);
	if (!found)
		*names = (struct container_names){ .pod = "" };
	return found;
}
