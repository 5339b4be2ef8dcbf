/*
 * catalogue.c - prints each kernel probe with its members, keys and hooks, for catalogue.sh.
 */
#include <stdio.h>

#include "kernel-probes/catalogue.h"

static void
print_hooks(uint64_t programs)
{
	const char *between = "";

	printf("hooks ");
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (programs >> i & 1 && i != KP_PROGRAM_context_switch3) {
			printf("%s%s", between, kp_programs[i].hook);
			between = " , ";
		}
	putchar('\n');
}

int
main(void)
{
	for (unsigned id = 1; id < KP_PROBES; id++) {
		const struct kp_row *row = &kp_catalogue[id];

		printf("probe %s\n", row->name);
		for (const struct kp_member *m = row->member; m->name != NULL; m++)
			printf("member %s %s\n", m->type, m->name);
		printf("keys %s\n", row->keys);
		print_hooks(row->needs);
	}
	return 0;
}
