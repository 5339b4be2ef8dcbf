/*
 * ctl-indirect.c - a debugger's view: count the probes of a process that is
 * stopped (kill -STOP) through functions of one's own: ctl-indirect PID
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tnf/tnfctl.h>

struct target { pid_t pid; int mem; };

static int
get(void *t, uintptr_t at, void *buf, size_t n)
{
	return pread(((struct target *)t)->mem, buf, n, (off_t)at) != (ssize_t)n;
}

static int
put(void *t, uintptr_t at, void *buf, size_t n)
{
	return pwrite(((struct target *)t)->mem, buf, n, (off_t)at) != (ssize_t)n;
}

static pid_t
pid_of(void *t)
{
	return ((struct target *)t)->pid;
}

/* The start of each file that is mapped. */
static int
objects(void *t, tnfctl_ind_obj_f *f, void *data)
{
	char name[64], line[4200], path[4097];
	struct tnfctl_ind_obj_info o = { .objfd = -1, .objname = path };
	int r = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid_of(t));
	if ((maps = fopen(name, "r")) == NULL)
		return -1;
	while (r == 0 && fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%*x %*s 0%*[0] %*s %*s %4096[^\n]",
		    (unsigned long *)&o.text_base, path) == 2 && *path == '/')
			r = f(t, &o, data);
	fclose(maps);
	return r;
}

static tnfctl_errcode_t
count(tnfctl_handle_t *h, tnfctl_probe_t *p, void *n)
{
	++*(int *)n;
	return TNFCTL_ERR_NONE;
}

int
main(int argc, char **argv)
{
	tnfctl_ind_config_t config = { get, put, pid_of, objects };
	struct target t = { .pid = argc > 1 ? atoi(argv[1]) : 0 };
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;
	char name[64];
	int n = 0;

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)t.pid);
	t.mem = open(name, O_RDWR);
	if ((err = tnfctl_indirect_open(&t, &config, &h)) != TNFCTL_ERR_NONE) {
		fprintf(stderr, "%s: %s\n", tnfctl_strerror(err),
		    tnfctl_error_detail());
		return 1;
	}
	tnfctl_probe_apply(h, count, &n);
	printf("%d probes\n", n);
	return tnfctl_close(h, TNFCTL_TARG_DEFAULT) != TNFCTL_ERR_NONE;
}
