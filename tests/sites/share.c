/*
 * share.c - how many functions and USDT sites of each file can be patched by a jump, and
 * why the others cannot; -v: which, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "common/map.h"
#include "libtnfctl/sites/sites.h"
#include "libtnfctl/usdt.h"

struct share {
	const struct sites *sites;
	struct map seen;	/* addresses of functions */
	struct map reasons;	/* numbers of those refused */
	size_t	 functions, accepted, probes, probes_accepted;
	bool	 verbose;
};

static void
count_refused(struct share *h, const char *why)
{
	size_t *n = tnf_map_put(&h->reasons, why, strlen(why) + 1, NULL);

	if (n == NULL)
		abort();
	++*n;
}

static bool
each_function(void *arg, const char *name, uint64_t address)
{
	struct share *h = arg;
	struct site site;
	bool fresh;

	if (tnf_map_put(&h->seen, &address, sizeof address, &fresh) == NULL)
		abort();
	if (!fresh)
		return true;
	tnfctl_sites_function(h->sites, address, &site);
	h->functions++;
	if (site.refused == NULL)
		h->accepted++;
	else
		count_refused(h, site.refused);
	if (h->verbose)
		printf("  %s %#jx %u %s\n", name, (uintmax_t)site.address, site.length,
		    site.refused != NULL ? site.refused : "yes");
	return true;
}

static void
each_probe(struct share *h, const struct usdt_probe *p)
{
	struct site site;

	for (size_t i = 0; i < p->nsites; i++) {
		tnfctl_sites_usdt(h->sites, p->sites[i].address, &site);
		h->probes++;
		h->probes_accepted += site.refused == NULL;
		if (site.refused != NULL)
			count_refused(h, site.refused);
		if (h->verbose)
			printf("  %s:%s %#jx %u %s\n", p->provider, p->name,
			    (uintmax_t)site.address, site.length,
			    site.refused != NULL ? site.refused : "yes");
	}
}

static double
percent(size_t n, size_t of)
{
	return of == 0 ? 100 : 100.0 * (double)n / (double)of;
}

static bool
share_file(const char *path, bool verbose)
{
	struct share h = { .verbose = verbose };
	struct timespec from, to;
	struct usdt_object usdt;
	struct sites *sites;
	struct elffile *e;
	const void *why;
	size_t *n, at = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	clock_gettime(CLOCK_MONOTONIC, &from);
	if ((e = tnf_elffile_open(fd)) == NULL || (sites = tnfctl_sites_open(fd)) == NULL) {
		perror(path);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	h.sites = sites;
	tnf_map_init(&h.reasons, sizeof(size_t));
	tnf_elffile_functions(e, each_function, &h);
	if (tnfctl_usdt_object_read(e, &usdt)) {
		for (size_t i = 0; i < usdt.n; i++)
			each_probe(&h, &usdt.v[i]);
		tnfctl_usdt_object_free(&usdt);
	}
	printf("%-40s functions %6zu %6.2f %%  USDT sites %4zu %6.2f %%  %ld ms\n", path,
	    h.functions, percent(h.accepted, h.functions), h.probes,
	    percent(h.probes_accepted, h.probes), (to.tv_sec - from.tv_sec) * 1000 +
	    (to.tv_nsec - from.tv_nsec) / 1000000);
	while ((n = tnf_map_next(&h.reasons, &at, &why, NULL)) != NULL)
		printf("%8zu %s\n", *n, (const char *)why);
	tnf_map_free(&h.seen);
	tnf_map_free(&h.reasons);
	tnfctl_sites_close(sites);
	tnf_elffile_close(e);
	close(fd);
	return true;
}

int
main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int status = 0;

	for (int i = verbose ? 2 : 1; i < argc; i++)
		if (!share_file(argv[i], verbose))
			status = 1;
	return status;
}
