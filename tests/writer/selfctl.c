/*
 * selfctl.c - does what a controller does, from inside.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/writer/selfctl.h"

extern struct tnf_probe_control __start_tnf_probes[], __stop_tnf_probes[];
extern struct tnf_process_control _tnf_process_control;
extern const struct tnf_probe_ops _tnf_probe_ops;

static void
create(const char *path, unsigned kbytes)
{
	int fd;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1 || posix_fallocate(fd, 0, kbytes * 1024l) != 0)
		err(1, "%s", path);
	close(fd);
}

int
selfctl_open(const char *path, unsigned kbytes)
{
	create(path, kbytes);
	_tnf_process_control.open_result = -1;
	_tnf_process_control.open(path, kbytes * 1024ul, -1);
	return _tnf_process_control.open_result;
}

void
selfctl_file(const char *path, unsigned kbytes)
{
	char *full;

	create(path, kbytes);
	full = path[0] == '/' ? strdup(path) : realpath(path, NULL);
	if (full == NULL)
		err(1, "%s", path);
	strcpy(_tnf_process_control.file_name, full);
	free(full);
	_tnf_process_control.file_size = kbytes * 1024ul;
	_tnf_process_control.state = TNF_PROC_READY;
}

static int
is(const struct tnf_probe_control *p, const char *name)
{
	size_t n = name == NULL ? 0 : strlen(name);

	return name == NULL ||
	    (strncmp(p->attrs + 5, name, n) == 0 && p->attrs[5 + n] == ';');
}

#define EACH(p, name)	\
	for (p = __start_tnf_probes; p < __stop_tnf_probes; p++)	\
		if (is(p, name) && ++n)

int
selfctl_enable(const char *name)
{
	struct tnf_probe_control *p;
	int n = 0;

	EACH(p, name) {
		p->ops = &_tnf_probe_ops;
		if (!p->controlled)
			p->traced = 1;
		p->controlled = 1;
		__atomic_store_n(&p->test, 1, __ATOMIC_RELEASE);
	}
	return n;
}

void
selfctl_on(struct tnf_probe_control *p)
{
	p->ops = &_tnf_probe_ops;
	p->traced = 1;
	p->controlled = 1;
	__atomic_store_n(&p->test, 1, __ATOMIC_RELEASE);
}

int
selfctl_trace(const char *name, int traced)
{
	struct tnf_probe_control *p;
	int n = 0;

	EACH(p, name)
		p->traced = traced;
	return n;
}

int
selfctl_connect(const char *name, const tnf_probe_func_t *chain)
{
	struct tnf_probe_control *p;
	int n = 0;

	EACH(p, name)
		p->chain = chain;
	return n;
}
