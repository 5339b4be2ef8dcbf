/*
 * causes.c - requests of which every eighth is slow, for a cause that is known.
 *
 * Usage: causes NAME FILE | causes
 *
 * FILE is for data of its own, on a disk.  Without arguments the names are printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/why/causes.h"

#define REQUESTS	40

static const struct cause *const all[] = { causes_cpu, causes_lock, causes_sync, causes_wait,
    causes_ipc, causes_stop, causes_io, causes_behind };

static const struct cause *
cause_find(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct cause *c = all[i]; c->name != NULL; c++)
			if (name == NULL)
				puts(c->name);
			else if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct cause *c = cause_find(argc == 3 ? argv[1] : NULL);

	if (c == NULL)
		return argc == 1 ? 0 : 2;
	name_me("server");
	if (c->setup != NULL)
		c->setup(argv[2]);
	sleep_ms(20);
	for (int id = 1; id <= REQUESTS; id++) {
		bool slow = id % 8 == 0;

		if (!c->async)
			request_begins(id);
		c->request(id, slow);
		if (!c->async)
			request_ends(id);
		sleep_ms(slow ? 50 : 2);
	}
	unlink(argv[2]);
	exit(0);
}
