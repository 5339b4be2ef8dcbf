/*
 * late.c - a program that was linked without libtnfprobe gets it later.
 *
 *	writer-late libtnfprobe.so
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/probe.h>

extern struct tnf_probe_control __start_tnf_probes[], __stop_tnf_probes[];

struct point { int x, y; };
TNF_DECLARE_RECORD(struct point, t_point);
TNF_DEFINE_RECORD_2(struct point, t_point, tnf_int, x, tnf_int, y)

static int evaluated;

static void
hit(void)
{
	struct point p = { 1, 2 };

	TNF_PROBE_3(late, "", "", tnf_int, n, ++evaluated, tnf_string, s,
	    "text", t_point, p, &p);
}

int
main(int argc, char **argv)
{
	struct tnf_process_control *c;
	struct tnf_probe_control *p;
	struct tnf_ext x;
	char path[64];
	void *lib;
	FILE *f;
	int fd;

	hit();
	lib = dlopen(argc > 1 ? argv[1] : "libtnfprobe.so.1", RTLD_NOW);
	if (lib == NULL)
		errx(1, "%s", dlerror());
	c = dlsym(lib, TNF_PROCESS_SYMBOL);
	if (c == NULL || dlsym(lib, TNF_PROBE_OPS_SYMBOL) != c->ops)
		errx(1, "no control block");
	hit();
	snprintf(path, sizeof(path), "/tmp/writer-late.%d", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd == -1 || ftruncate(fd, 131072) == -1)
		err(1, "%s", path);
	strcpy(c->file_name, path);
	c->file_size = 131072;
	c->state = TNF_PROC_READY;
	for (p = __start_tnf_probes; p < __stop_tnf_probes; p++) {
		p->ops = c->ops;
		p->traced = 1;
		p->test = 1;
	}
	hit();
	hit();
	dlclose(lib);		/* stays: it is entered from our code */
	hit();
	f = fopen(path, "r");
	if (f == NULL || fseek(f, TNF_EXT_OFFSET, SEEK_SET) == -1 ||
	    fread(&x, sizeof(x), 1, f) != 1)
		err(1, "%s", path);
	unlink(path);
	if (c->state != TNF_PROC_RUNNING || evaluated != 3 ||
	    x.data_cursor != 1)
		errx(1, "state %u, %d hits, %lu blocks", c->state, evaluated,
		    (unsigned long)x.data_cursor);
	return 0;
}
