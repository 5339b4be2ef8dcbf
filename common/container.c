/*
 * container.c - the container and the pod that a control group tells.
 */
#include <dirent.h>
#include <string.h>

#include "common/container.h"

#define HEX	"0123456789abcdef"
#define ID_LEN	(sizeof(((struct container *)0)->id) - 1)
#define UID_LEN	(sizeof(((struct container *)0)->pod) - 1)

/* Is the text a pod's uid: groups of 8, 4, 4, 4 and 12 digits?  systemd's names have "_"
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
