/*
 * rules.c - the process filter: a mode, a set of processes, and the rules that put processes into it, by
 * the name of their program or by cgroup; the CPUs whose events are recorded are such a rule.
 *
 * While the BPF programs are attached, they put processes into the set and take them out.
 * When the filter or tracing is switched on, kp_rules_scan() looks through /proc for the
 * processes that came or went before.
 */
#include <sys/mman.h>

#include <fts.h>
#include <signal.h>

#include "kernel-probes/handle.h"

/* Finds the mount point of the unified hierarchy, also beside older hierarchies. */
static bool
find_mount(char *buf, size_t n)
{
	char line[1024], dir[256], type[64];
	FILE *f = fopen("/proc/self/mounts", "re");
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%*s %255s %63s", dir, type) == 2 &&
		    strcmp(type, "cgroup2") == 0) {
			snprintf(buf, n, "%s", dir);
			found = true;
		}
	if (f != NULL)
		fclose(f);
	return found;
}

typedef bool group_is(const char *name, const char *what);

static bool
is_unit(const char *name, const char *unit)
{
	return strcmp(name, unit) == 0;
}

/* True if it is the group of the pod with this uid, and not that of a container in the pod. */
static bool
is_pod(const char *name, const char *uid)
{
	struct container c;

	return tnf_container_of(name, &c) && *c.id == '\0' && strcmp(c.pod, uid) == 0;
}

static bool
is_container(const char *name, const char *id)
{
	struct container c;

	return tnf_container_of(name, &c) && strcmp(c.id, id) == 0;
}

/* Finds the path of a group by its name, the last part of the path. */
static bool
find_group(const char *mount, group_is *is, const char *what, char *buf, size_t n)
{
	char *const top[] = { (char *)mount, NULL };
	FTS *fts = fts_open(top, FTS_PHYSICAL | FTS_NOSTAT, NULL);
	bool found = false;
	FTSENT *e;

	while (fts != NULL && !found && (e = fts_read(fts)) != NULL)
		if (e->fts_info == FTS_D && is(e->fts_name, what)) {
			snprintf(buf, n, "%s", e->fts_path + strlen(mount));
			found = true;
		}
	if (fts != NULL)
		fts_close(fts);
	return found;
}

/* Finds the group of a pod, which has the groups of its containers in it, by the pod's uid or
   by the name that this node has for the pod. */
static bool
find_pod(const char *mount, const char *pod, char *buf, size_t n)
{
	char id[65];

	if (find_group(mount, is_pod, pod, buf, n))
		return true;
	if (!tnf_container_in_pod(CONTAINER_LOGS, pod, id) ||
	    !find_group(mount, is_container, id, buf, n))
		return false;
	*strrchr(buf, '/') = '\0';
	return *buf != '\0';
}

static int
group_key(struct kp *kp, const char *path, struct kp_rule_key *key)
{
	char mount[256], full[PATH_MAX];
	struct stat st;

	if (!find_mount(mount, sizeof mount))
		return kp_fail(kp, -ENOENT, "cgroup=%s: no cgroup2 file system is mounted: "
		    "mount -t cgroup2 none /sys/fs/cgroup", path);
	snprintf(full, sizeof full, "%s%s", mount, path);
	if (stat(full, &st) == -1 || !S_ISDIR(st.st_mode))
		return kp_fail(kp, -ENOENT, "cgroup=%s: no such group: see systemd-cgls(1), "
		    "or ls %s", path, mount);
	key->group = st.st_ino;
	return 0;
}

/* "name=nginx", "cgroup=/system.slice/x.service", "unit=x.service", "pod=shop-7d9f". */
static int
parse_rule(struct kp *kp, const char *text, struct kp_rule_key *key, struct kp_rule *rule)
{
	char mount[256], path[sizeof rule->text - 8];
	size_t n;

	memset(key, 0, sizeof *key);
	memset(rule, 0, sizeof *rule);
	if (strlen(text) >= sizeof rule->text)
		return kp_fail(kp, -EINVAL, "%.40s...: too long for a rule", text);
	snprintf(rule->text, sizeof rule->text, "%s", text);
	if (strncmp(text, "name=", 5) == 0 && text[5] != '\0') {
		rule->reason = KP_FILTER_NAME;
		snprintf(key->comm, sizeof key->comm, "%s", text + 5);
		return 0;
	}
	rule->reason = KP_FILTER_GROUP;
	if (strncmp(text, "unit=", 5) == 0 && text[5] != '\0') {
		if (!find_mount(mount, sizeof mount) ||
		    !find_group(mount, is_unit, text + 5, path, sizeof path))
			return kp_fail(kp, -ENOENT, "%s: no group of this name: is the unit "
			    "running?", text);
		snprintf(rule->text, sizeof rule->text, "cgroup=%s", path);
	} else if (strncmp(text, "pod=", 4) == 0 && text[4] != '\0') {
		if (!find_mount(mount, sizeof mount) ||
		    !find_pod(mount, text + 4, path, sizeof path))
			return kp_fail(kp, -ENOENT, "%s: no pod of this name or uid on this machine: "
			    "ls " CONTAINER_LOGS, text);
		snprintf(rule->text, sizeof rule->text, "cgroup=%s", path);
	} else if (strncmp(text, "cgroup=/", 8) != 0)
		return kp_fail(kp, -EINVAL, "%s: no rule: name=PROGRAM, cgroup=/PATH, "
		    "unit=NAME or pod=NAME", text);
	n = strlen(rule->text);
	while (n > 8 && rule->text[n - 1] == '/')
		rule->text[--n] = '\0';
	return group_key(kp, rule->text + 7, key);
}

/* A copy of the rules, for a look through /proc. */
struct rules {
	unsigned	   n;
	struct kp_rule_key key[KP_RULES_MAX];
	struct kp_rule	   rule[KP_RULES_MAX];
};

/* The caller frees the copy; NULL: no memory, the session's error says so. */
static struct rules *
rules_copy(struct kp *kp)
{
	struct kp_rule_key next, *last = NULL;
	struct rules *l = malloc(sizeof *l);

	if (l == NULL) {
		kp_fail(kp, -ENOMEM, "the filter's rules: not enough memory");
		return NULL;
	}
	l->n = 0;
	if (kp->rules_fd < 0 && kp->kept_rules != NULL)
		*l = *kp->kept_rules;
	while (kp->rules_fd >= 0 && l->n < KP_RULES_MAX &&
	    bpf_map_get_next_key(kp->rules_fd, last, &next) == 0) {
		l->key[l->n] = next;
		last = &l->key[l->n];
		if (bpf_map_lookup_elem(kp->rules_fd, last, &l->rule[l->n]) == 0)
			l->rule[l->n].text[sizeof l->rule->text - 1] = '\0';
		l->n++;
	}
	return l;
}

void
kp_rules_keep(struct kp *kp)
{
	struct rules *l = rules_copy(kp);

	free(kp->kept_rules);
	kp->kept_rules = l;
}

void
kp_rules_put_back(struct kp *kp)
{
	struct rules *l = kp->kept_rules;

	for (unsigned i = 0; l != NULL && i < l->n; i++)
		if (bpf_map_update_elem(kp->rules_fd, &l->key[i], &l->rule[i], BPF_ANY) == 0)
			kp->state->rules |= l->rule[i].reason;
	free(l);
	kp->kept_rules = NULL;
}

static bool
is_in_group(const char *path, const char *group)
{
	size_t n = strlen(group);

	return strcmp(group, "/") == 0 || (strncmp(path, group, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/'));
}

static uint32_t
reasons_of(const struct rules *l, pid_t pid)
{
	char comm[64], group[8192];
	uint32_t reasons = 0;

	if (tnf_proc_file(comm, sizeof comm, "/proc/%d/comm", (int)pid) <= 0)
		return 0;
	comm[strcspn(comm, "\n")] = '\0';
	if (!tnf_proc_cgroup(pid, "", group, sizeof group))
		*group = '\0';
	for (unsigned i = 0; i < l->n; i++)
		if (l->rule[i].reason == KP_FILTER_NAME ?
		    strcmp(comm, l->key[i].comm) == 0 :
		    is_in_group(group, l->rule[i].text + 7))
			reasons |= l->rule[i].reason;
	return reasons;
}

static void
put_reasons(struct kp *kp, pid_t pid, uint32_t reasons)
{
	uint8_t *has = kp_filter_reasons(kp, pid);

	if (has != NULL)
		*has = (uint8_t)((*has & ~(KP_FILTER_NAME | KP_FILTER_GROUP)) | reasons);
}

static int
rules_scan(struct kp *kp, const struct rules *l)
{
	autoclosedir DIR *proc = opendir("/proc");
	int error = proc == NULL ? errno : ENOENT;	/* until a process is found: we are one */
	struct dirent *e;

	while (proc != NULL && (e = readdir(proc)) != NULL)
		if (isdigit((unsigned char)e->d_name[0])) {
			put_reasons(kp, atoi(e->d_name), reasons_of(l, atoi(e->d_name)));
			error = 0;
		}
	kp_filter_changed(kp);
	return error == 0 ? 0 : kp_fail(kp, -error, "/proc: %s: the filter's rules find processes "
	    "there: mount -t proc proc /proc", strerror(error));
}

int
kp_rules_scan(struct kp *kp)
{
	struct rules *l;
	int r;

	if (kp->rules_fd < 0 || kp->state->rules == 0)
		return 0;
	if ((l = rules_copy(kp)) == NULL)
		return -ENOMEM;
	r = rules_scan(kp, l);
	free(l);
	return r;
}

/* After a change of the rules: notes their kinds for the programs, and puts the processes to
   which rules apply into the set, and takes the others out.  The kinds that there were before
   stay noted until then: if the last rule has gone, the others must be taken out, too. */
static int
rules_changed(struct kp *kp)
{
	struct rules *l = rules_copy(kp);
	uint32_t kinds = 0;
	int r;

	if (l == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < l->n; i++)
		kinds |= l->rule[i].reason;
	kp->state->rules |= kinds;
	r = kp_attach_sync(kp);
	if (r == 0 && kp->rules_fd >= 0 && kp->state->rules != 0)
		r = rules_scan(kp, l);
	free(l);
	kp->state->rules = kinds;
	return r;
}

KP_EXPORT int
kp_rule_add(struct kp *kp, const char *text)
{
	struct kp_rule_key key;
	struct kp_rule rule;
	int r;

	if (strncmp(text, "cpus=", 5) == 0)
		return (r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0 ? r :
		    kp_cpus_set(kp, text + 5);
	if ((r = kp_state_usable(kp)) < 0 || (r = parse_rule(kp, text, &key, &rule)) < 0 ||
	    (r = kp_state_make(kp)) < 0)
		return r;
	r = bpf_map_update_elem(kp->rules_fd, &key, &rule, BPF_ANY);
	if (r == -E2BIG || r == -ENOSPC)
		return kp_fail(kp, r, "%s: there are %u rules already", text, KP_RULES_MAX);
	return r < 0 ? kp_refused(kp, r, KP_PIN_RULES) : rules_changed(kp);
}

/* Finds the rule by its text, too, since its group may be gone by now. */
KP_EXPORT int
kp_rule_delete(struct kp *kp, const char *text)
{
	struct rules *l;
	struct kp_rule_key key;
	struct kp_rule rule;
	bool known, found = false;
	int r;

	if (strncmp(text, "cpus=", 5) == 0)
		return (r = kp_state_usable(kp)) < 0 ? r : kp_cpus_set(kp, NULL);
	if (kp->kept_rules != NULL && (r = kp_state_make(kp)) < 0)
		return r;
	known = parse_rule(kp, text, &key, &rule) == 0;
	if ((l = rules_copy(kp)) == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->rule[i].text, text) == 0 ||
		    (known && memcmp(&l->key[i], &key, sizeof key) == 0))
			found |= bpf_map_delete_elem(kp->rules_fd, &l->key[i]) == 0;
	free(l);
	if (!found)
		return kp_fail(kp, -ESRCH, "%s: there is no such rule", text);
	return rules_changed(kp);
}

KP_EXPORT void
kp_rules_get(struct kp *kp, void (*fn)(void *arg, const char *text), void *arg)
{
	struct rules *l = rules_copy(kp);
	char cpus[1024];

	if (l == NULL)
		return;
	if (kp_cpus_get(kp, cpus, sizeof cpus))
		fn(arg, cpus);
	for (unsigned i = 0; i < l->n; i++)
		fn(arg, l->rule[i].text);
	free(l);
}

/* The CPUs whose events are recorded: a part of the filter, as a list such as "0-3,8". */

#define CPUS	(64 * KP_CPUS_WORDS)

static bool
cpus_number(const char **text, unsigned long *ret)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret = strtoul(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* Parses the list into the words of a mask; false: the text is no list, or has the number of a
   CPU that is n or larger. */
static bool
cpus_parse(const char *text, unsigned long n, __u64 words[KP_CPUS_WORDS])
{
	unsigned long first, last;

	do {
		if (!cpus_number(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !cpus_number(&text, &last)))
			return false;
		if (first > last || last >= n)
			return false;
		for (; first <= last; first++)
			words[first / 64] |= 1ull << first % 64;
	} while (*text == ',' && *text++ != '\0');
	return *text == '\0';
}

int
kp_cpus_set(struct kp *kp, const char *text)
{
	int possible = libbpf_num_possible_cpus();
	unsigned long n = possible > 0 && possible < CPUS ? (unsigned long)possible : CPUS;
	__u64 words[KP_CPUS_WORDS] = { 0 };
	bool some = text != NULL && strcmp(text, "all") != 0;

	if (some && !cpus_parse(text, n, words))
		return kp_fail(kp, -EINVAL, "cpus=%s: this is no list of CPUs from 0 to %lu: write "
		    "numbers and ranges, such as 0-3,8, or all", text, n - 1);
	/* The programs read the mask only while KP_FILTER_CPUS is set: not while it changes. */
	kp->state->filter &= ~KP_FILTER_CPUS;
	memcpy(kp->state->cpus, words, sizeof words);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (some)
		kp->state->filter |= KP_FILTER_CPUS;
	return 0;
}

bool
kp_cpus_get(struct kp *kp, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "cpus=");
	const __u64 *w = kp->state->cpus;
	int last;

	if (!(kp->state->filter & KP_FILTER_CPUS))
		return false;
	for (int cpu = 0; cpu < CPUS && at < size; cpu = last + 1) {
		last = cpu;
		if (!(w[cpu / 64] >> cpu % 64 & 1))
			continue;
		while (last + 1 < CPUS && w[(last + 1) / 64] >> (last + 1) % 64 & 1)
			last++;
		at += (size_t)snprintf(text + at, size - at, last > cpu ? "%s%d-%d" : "%s%d",
		    text[at - 1] == '=' ? "" : ",", cpu, last);
	}
	return true;
}

static bool
is_alive(pid_t pid)
{
	return pid == 0 || kill(pid, 0) == 0 || errno == EPERM;
}

KP_EXPORT int
kp_filter_set(struct kp *kp, bool on)
{
	int r;

	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	kp->state->filter = (kp->state->filter & KP_FILTER_CPUS) | (!on ? KP_FILTER_OFF :
	    kp->state->filter_except ? KP_FILTER_EXCEPT : KP_FILTER_ONLY);
	kp_filter_changed(kp);
	r = kp_attach_sync(kp);
	return r < 0 ? r : kp_rules_scan(kp);
}

int
kp_filter_make(struct kp *kp)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	kp->filter_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tnf_filter", sizeof(uint32_t),
	    KP_FILTER_MAX, 1, &opts);
	return kp->filter_fd < 0 ? kp_refused(kp, kp->filter_fd, "BPF map") : 0;
}

uint8_t *
kp_filter_reasons(struct kp *kp, pid_t pid)
{
	void *p;

	if (kp->filter == NULL && kp->filter_fd >= 0) {
		p = mmap(NULL, KP_FILTER_MAX, kp->control ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_SHARED, kp->filter_fd, 0);
		kp->filter = p == MAP_FAILED ? NULL : p;
	}
	return kp->filter == NULL || (uint32_t)pid >= KP_FILTER_MAX ? NULL : kp->filter + pid;
}

void
kp_filter_changed(struct kp *kp)
{
	__atomic_fetch_add(&kp->state->turn, 1, __ATOMIC_SEQ_CST);
}

void
kp_filter_notes(struct kp *kp, bool on)
{
	__atomic_store_n(&kp->state->notes, on, __ATOMIC_RELEASE);
	if (!on)
		kp_filter_changed(kp);
}

static int
filter_add(struct kp *kp, pid_t pid, uint8_t value)
{
	uint8_t *reasons;
	int r;

	if (pid < 0 || !is_alive(pid))
		return kp_fail(kp, -ESRCH, "process %d: no such process", (int)pid);
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	if ((reasons = kp_filter_reasons(kp, pid)) == NULL)
		return kp_refused(kp, -ENOMEM, KP_PIN_FILTER);
	*reasons = (uint8_t)((*reasons & (KP_FILTER_NAME | KP_FILTER_GROUP)) | value);
	kp_filter_changed(kp);
	return 0;
}

KP_EXPORT int
kp_filter_add(struct kp *kp, pid_t pid)
{
	return filter_add(kp, pid, KP_FILTER_ALONE);
}

KP_EXPORT int
kp_filter_follow(struct kp *kp, pid_t pid)
{
	return filter_add(kp, pid, KP_FILTER_FOLLOW);
}

KP_EXPORT int
kp_filter_delete(struct kp *kp, pid_t pid)
{
	uint8_t *reasons;

	if (kp->looking)
		return kp_state_usable(kp);
	reasons = kp_filter_reasons(kp, pid);
	if (reasons == NULL || *reasons == 0)
		return kp_fail(kp, -ESRCH, "process %d: not in the set", (int)pid);
	*reasons = 0;
	kp_filter_changed(kp);
	return 0;
}

/* The next process of the set from 'pid' on, or -1. */
static pid_t
filter_next(struct kp *kp, pid_t pid)
{
	const uint8_t *set = kp_filter_reasons(kp, 0);

	for (; set != NULL && (uint32_t)pid < KP_FILTER_MAX; pid++)
		if (set[pid] != 0)
			return pid;
	return -1;
}

/* Takes processes out that ended while nothing was attached. */
KP_EXPORT int
kp_filter_list(struct kp *kp, pid_t **ret, int *ret_n)
{
	pid_t *list = NULL, *more, pid;
	bool changed = false;
	int n = 0;

	for (pid = 0; (pid = filter_next(kp, pid)) != -1; pid++) {
		if (!is_alive(pid)) {
			if (kp->control)
				*kp_filter_reasons(kp, pid) = 0;
			changed = kp->control;
			continue;
		}
		if ((more = tnf_grow(list, (size_t)n, sizeof *list)) == NULL) {
			free(list);
			return -ENOMEM;
		}
		list = more;
		list[n++] = pid;
	}
	if (changed)
		kp_filter_changed(kp);
	*ret = list;
	*ret_n = n;
	return 0;
}
