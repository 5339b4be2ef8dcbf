/*
 * complete-filter.c - completes a rule of "pfilter": with processes, programs, cgroups
 * and units that exist.
 */
#include <sys/vfs.h>

#include <ctype.h>
#include <fts.h>
#include <linux/magic.h>

#include "common/files.h"
#include "common/proc.h"
#include "prex/term.h"
#include "prex/shell.h"

/* A rule is a key and a value: 'add' knows the values that there are. */
struct rule_kind {
	const char *key;
	void	(*add)(struct completion *, const char *key, const char *value);
};

static void
add_rule(struct completion *c, const char *key, const char *value)
{
	completion_add(c, tnf_xasprintf("%s%s", key, value));
}

/* Goes over the directories "/proc/PID". */
static void
each_process(struct completion *c, const char *key,
    void (*fn)(struct completion *, const char *key, const char *pid))
{
	autoclosedir DIR *d = opendir("/proc");
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			fn(c, key, e->d_name);
}

static void
add_pids(struct completion *c, const char *key, const char *value)
{
	each_process(c, key, add_rule);
}

/* Adds a name, unless it would need quotes. */
static void
add_name(struct completion *c, const char *key, const char *pid)
{
	char name[64];

	if (tnf_proc_file(name, sizeof name, "/proc/%s/comm", pid) < 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	if (*name != '\0' && strpbrk(name, " \t'\"#;\\") == NULL)
		add_rule(c, key, name);
}

static void
add_names(struct completion *c, const char *key, const char *value)
{
	each_process(c, key, add_name);
}

/* Finds the unified hierarchy, which is mounted alone, or beside older ones. */
static const char *
find_groups(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

/* Adds one level of the tree; a group that has others can be completed further. */
static void
add_groups(struct completion *c, const char *key, const char *value)
{
	const char *top = find_groups(), *slash = strrchr(value, '/');
	autofree char *above = tnf_xstrndup(value, slash == NULL ? 0 : (size_t)(slash - value));
	autofree char *dir = top == NULL ? NULL : tnf_xasprintf("%s%s", top, above);
	autoclosedir DIR *d = dir == NULL ? NULL : opendir(dir);
	struct dirent *e;
	struct stat st;

	while (d != NULL && (e = readdir(d)) != NULL) {

		if (e->d_name[0] == '.')
			continue;
		autofree char *full = tnf_xasprintf("%s/%s", dir, e->d_name);
		if (stat(full, &st) == 0 && S_ISDIR(st.st_mode)) {
			autofree char *path = tnf_xasprintf("%s/%s%s", above, e->d_name,
			    st.st_nlink > 2 ? "/" : "");
			add_rule(c, key, path);
		}
	}
}

static bool
is_unit(const char *name)
{
	static const char *const ends[] = { ".service", ".scope", ".slice", ".socket" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static void
add_units(struct completion *c, const char *key, const char *value)
{
	const char *top = find_groups();
	char *const tops[] = { (char *)top, NULL };
	FTS *fts = top == NULL ? NULL : fts_open(tops, FTS_PHYSICAL | FTS_NOSTAT, NULL);
	FTSENT *e;

	while (fts != NULL && (e = fts_read(fts)) != NULL)
		if (e->fts_info == FTS_D && is_unit(e->fts_name))
			add_rule(c, key, e->fts_name);
	if (fts != NULL)
		fts_close(fts);
}

/* Adds the names that this node has for its pods: POD_NAMESPACE_NAME-ID.log. */
static void
add_pods(struct completion *c, const char *key, const char *value)
{
	autoclosedir DIR *d = opendir(CONTAINER_LOGS);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		autofree char *name = tnf_xstrndup(e->d_name, strcspn(e->d_name, "_"));

		if (strchr(e->d_name, '_') != NULL)
			add_rule(c, key, name);
	}
}

static const struct rule_kind kinds[] = {
	{ "cgroup=", add_groups },
	{ "children=", add_pids },
	{ "name=", add_names },
	{ "pid=", add_pids },
	{ "pod=", add_pods },
	{ "unit=", add_units },
};

/* Adds a rule that exists, which the word may begin. */
static void
add_present(void *arg, const char *rule)
{
	add_rule(arg, "", rule);
}

void
complete_filter(struct shell *sh, const char *text, bool delete, struct completion *c)
{
	const char *blank = strrchr(text, ' ');

	free(c->word);
	c->word = tnf_xstrdup(blank == NULL ? text : blank + 1);
	if (delete)
		tnfctl_filter_rule_apply(sh->target, add_present, c);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i].key);

		if (strncmp(c->word, kinds[i].key, n) != 0)
			add_rule(c, kinds[i].key, "");
		else if (!delete)
			kinds[i].add(c, kinds[i].key, c->word + n);
	}
}
