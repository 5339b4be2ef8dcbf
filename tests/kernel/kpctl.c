/*
 * kpctl.c - drives the kernel's probes for tests: one command an argument list.
 *
 *	kpctl alloc BYTES | dealloc | on | off | status | list
 *	kpctl enable|disable PROBE...		a name, or name#n: the n-th of it;
 *						one with a dot is a tracepoint
 *	kpctl where PROBE CONDITIONS
 *	kpctl stacks PROBE KERNEL USER		frames of its events
 *	kpctl tracepoints			all of them, listed
 *	kpctl set NAME VALUE
 *	kpctl filter on|off|list|add PID...|follow PID|delete PID
 *	kpctl tasks				who lives: TID PID PPID FLAGS GROUPS NAME
 *	kpctl copy FILE				the buffer as it is
 *	kpctl verified				programs: INSTRUCTIONS NAME, as the
 *						verifier counted them
 *	kpctl hold				a session until end of input
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "kernel-probes/handle.h"

static int
failed(struct kp *kp, const char *what, int r)
{
	fprintf(stderr, "kpctl: %s: %s: %s\n", what, strerror(-r), kp_detail(kp));
	return 1;
}

static const char *
name_of(const char *attrs, char *buf, size_t n)
{
	snprintf(buf, n, "%.*s", (int)strcspn(attrs + 5, ";"), attrs + 5);
	return buf;
}

/* "thread_state" is each of that name, "thread_state#2" the second. */
static int
set_probe(struct kp *kp, const char *which, bool on)
{
	char name[128], want[128];
	const char *number = strchr(which, '#');
	bool import = strchr(which, '.') != NULL;
	int nth = number == NULL ? 0 : atoi(number + 1), seen = 0, found = 0, r;
	struct kp_probe p;

	if (import && (r = kp_import_tracepoints(kp)) < 0)
		return failed(kp, which, r);
	snprintf(want, sizeof want, "%.*s", (int)strcspn(which, "#"), which);
	for (int id = 1; id <= kp_probe_count(kp); id++) {
		if (kp_probe_get(kp, id, &p) != 0 ||
		    strcmp(name_of(p.attrs, name, sizeof name), want) != 0)
			continue;
		if (nth != 0 && ++seen != nth)
			continue;
		if ((r = kp_probe_set(kp, id, on, on)) < 0)
			return failed(kp, which, r);
		found++;
	}
	return found == 0 ? failed(kp, which, -ENOENT) : 0;
}

/* The first probe of a name, or 0. */
static unsigned
probe_of(struct kp *kp, const char *which)
{
	char name[128];
	struct kp_probe p;

	if (strchr(which, '.') != NULL && kp_import_tracepoints(kp) < 0)
		return 0;
	for (int id = 1; id <= kp_probe_count(kp); id++)
		if (kp_probe_get(kp, id, &p) == 0 &&
		    strcmp(name_of(p.attrs, name, sizeof name), which) == 0)
			return (unsigned)id;
	return 0;
}

static int
where(struct kp *kp, const char *which, const char *text)
{
	unsigned id = probe_of(kp, which);
	int r = id == 0 ? -ENOENT : kp_probe_where(kp, id, text);

	return r < 0 ? failed(kp, which, r) : 0;
}

static int
list(struct kp *kp)
{
	struct kp_probe p;

	for (int id = 1; id <= kp_probe_count(kp); id++)
		if (kp_probe_get(kp, id, &p) == 0)
			printf("%d %s%s%s%s\n", id, p.attrs, p.enabled ? " enabled" : "",
			    p.traced ? " traced" : "", p.available ? "" : " unavailable");
	return 0;
}

static int
status(struct kp *kp)
{
	struct kp_status s;
	int r = kp_status(kp, &s);

	if (r < 0)
		return failed(kp, "status", r);
	printf("state %d size %zu tracing %d filtering %d lost", s.state, s.size,
	    s.tracing, s.filtering);
	for (int i = 0; i < 8; i++)
		printf(" %llu", (unsigned long long)s.lost[i]);
	printf(" most %llu\n", (unsigned long long)s.lost_cpu_max);
	return 0;
}

static int
filter(struct kp *kp, char **arg)
{
	pid_t *pids;
	int n, r = 0;

	if (strcmp(arg[0], "list") == 0) {
		if ((r = kp_filter_list(kp, &pids, &n)) < 0)
			return failed(kp, "filter", r);
		for (int i = 0; i < n; i++)
			printf("%d\n", (int)pids[i]);
		free(pids);
		return 0;
	}
	if (strcmp(arg[0], "add") == 0)
		for (char **p = arg + 1; *p != NULL && r >= 0; p++)
			r = kp_filter_add(kp, atoi(*p));
	else if (strcmp(arg[0], "follow") == 0)
		r = kp_filter_follow(kp, atoi(arg[1]));
	else if (strcmp(arg[0], "delete") == 0)
		r = kp_filter_delete(kp, atoi(arg[1]));
	else
		r = kp_filter_set(kp, strcmp(arg[0], "on") == 0);
	return r < 0 ? failed(kp, "filter", r) : 0;
}

static int
tasks(struct kp *kp)
{
	struct kp_task *t;
	size_t n;
	int r = kp_tasks(kp, &t, &n);

	if (r < 0)
		return failed(kp, "tasks", r);
	for (size_t i = 0; i < n; i++)
		printf("%d %d %d %#x %#llx %s\n", (int)t[i].tid, (int)t[i].pid, (int)t[i].ppid,
		    (unsigned)t[i].flags, (unsigned long long)t[i].groups, t[i].comm);
	free(t);
	return 0;
}

static int
copy(struct kp *kp, const char *path)
{
	const void *map;
	size_t size;
	FILE *f;
	int r = kp_map(kp, &map, &size);

	if (r < 0)
		return failed(kp, "map", r);
	f = fopen(path, "w");
	if (f == NULL || fwrite(map, 1, size, f) != size || fclose(f) != 0)
		return failed(kp, path, -errno);
	return 0;
}

static int
verified(void)
{
	DIR *d = directory_open(AT_FDCWD, KP_DIR_PROG);
	struct bpf_prog_info info;
	char path[PATH_MAX];
	struct dirent *e;
	uint32_t size;
	int fd;

	if (d == NULL)
		return -errno;
	while ((e = directory_next(d)) != NULL) {
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", e->d_name);
		memset(&info, 0, size = sizeof info);
		if ((fd = bpf_obj_get(path)) >= 0 &&
		    bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
			printf("%u %s\n", info.verified_insns, e->d_name);
		kp_close_fd(&fd);
	}
	closedir(d);
	return 0;
}

static int
command(struct kp *kp, char **arg)
{
	size_t got;
	int r = 0;

	if (strcmp(arg[0], "alloc") == 0) {
		r = kp_buffer_alloc(kp, strtoul(arg[1], NULL, 0), &got);
		if (r == 0)
			printf("%zu\n", got);
	} else if (strcmp(arg[0], "dealloc") == 0)
		r = kp_buffer_dealloc(kp);
	else if (strcmp(arg[0], "on") == 0 || strcmp(arg[0], "off") == 0)
		r = kp_trace_set(kp, strcmp(arg[0], "on") == 0);
	else if (strcmp(arg[0], "where") == 0)
		return where(kp, arg[1], arg[2]);
	else if (strcmp(arg[0], "stacks") == 0)
		r = kp_probe_stacks(kp, probe_of(kp, arg[1]), (unsigned)atoi(arg[2]),
		    (unsigned)atoi(arg[3]));
	else if (strcmp(arg[0], "set") == 0)
		r = kp_setting_set(kp, arg[1], atoi(arg[2]));
	else if (strcmp(arg[0], "list") == 0)
		return list(kp);
	else if (strcmp(arg[0], "tracepoints") == 0) {
		if ((r = kp_import_tracepoints(kp)) == 0)
			return list(kp);
	} else if (strcmp(arg[0], "status") == 0)
		return status(kp);
	else if (strcmp(arg[0], "tasks") == 0)
		return tasks(kp);
	else if (strcmp(arg[0], "verified") == 0)
		r = verified();
	else if (strcmp(arg[0], "copy") == 0)
		return copy(kp, arg[1]);
	else if (strcmp(arg[0], "filter") == 0)
		return filter(kp, arg + 1);
	else if (strcmp(arg[0], "enable") == 0 || strcmp(arg[0], "disable") == 0) {
		for (char **p = arg + 1; *p != NULL; p++)
			if (set_probe(kp, *p, arg[0][0] == 'e') != 0)
				return 1;
	} else if (strcmp(arg[0], "hold") == 0) {
		puts("held");
		fflush(stdout);
		while (getchar() != EOF)
			;
	} else
		r = -EINVAL;
	return r < 0 ? failed(kp, arg[0], r) : 0;
}

int
main(int argc, char **argv)
{
	struct kp *kp;
	bool reads = argc > 1 && strcmp(argv[1], "copy") == 0;
	int r;

	if (argc < 2)
		return 2;
	r = kp_open(!reads, &kp);
	if (r < 0)
		r = failed(kp, "open", r);
	else {
		if (*kp_detail(kp) != '\0')
			fprintf(stderr, "kpctl: %s\n", kp_detail(kp));
		r = command(kp, argv + 1);
	}
	kp_close(kp);
	return r;
}
