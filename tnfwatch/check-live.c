/*
 * check-live.c - the probes of processes that run, for "tnfwatch check".
 *
 * A process is only read: it is neither stopped nor changed.
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "tnfwatch/check.h"
#include "tnfwatch/taker.h"

#define PROCESSES_MAX	16u	/* of a section that are read; the others run the same programs */

static void
add_probe(void *arg, const char *attrs, bool meant)
{
	check_probes_add(arg, attrs, meant);
}

static void
look(const struct config_process *p, pid_t pid, struct check_probes *probes, bool *used)
{
	tnfctl_handle_t *h;

	if (tnfctl_pid_look(pid, &h) != TNFCTL_ERR_NONE)
		return;
	enable_find(p->enable, h, true, NULL, used, add_probe, probes);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
}

unsigned
check_live(const struct config_process *p, struct check_probes *probes, bool *used)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	unsigned n = 0;
	pid_t pid;

	while (dir != NULL && (d = readdir(dir)) != NULL)
		if ((pid = (pid_t)atoi(d->d_name)) > 0 && pid != getpid() && taker_means(p, pid) &&
		    n++ < PROCESSES_MAX)
			look(p, pid, probes, used);
	if (dir != NULL)
		closedir(dir);
	return n;
}
