/*
 * symbols.c - addresses of kernel functions that the programs compare with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel-probes/handle.h"

struct wanted {
	const char	*name;
	__u64		*at;
};

/* How many of the wanted are found with this one. */
static unsigned
note(const struct wanted *w, const char *name, unsigned long long at)
{
	for (; w->name != NULL; w++)
		if (strcmp(w->name, name) == 0 && *w->at == 0) {
			*w->at = at;
			return 1;
		}
	return 0;
}

/*
 * Addresses read as 0 if the kernel hides them: then the programs do without.
 * The list is long and slow to read (some 80 ms), and the kernel's own text
 * comes first and in order: we leave when everything is found.
 */
void
kp_symbols_find(struct kp_shared *s)
{
	__u64 schedule = 0, after = 0;
	const struct wanted wanted[] = {
		{ "kthread", &s->kthread },
		{ "_stext", &s->text_start },
		{ "_etext", &s->text_end },
		{ "__schedule", &s->schedule_start },
		{ "schedule", &schedule },
		{ "wake_page_function", &s->wake_page },
		{ "wake_bit_function", &s->wake_bit },
		{ NULL, NULL },
	};
	unsigned missing = sizeof wanted / sizeof wanted[0] - 1;
	char line[512], *name;
	unsigned long long at;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (f == NULL)
		return;
	for (const struct wanted *w = wanted; w->name != NULL; w++)
		*w->at = 0;
	while ((missing > 0 || after == 0) && fgets(line, sizeof line, f) != NULL) {
		at = strtoull(line, &name, 16);
		if (at == 0 || strlen(name) < 4)
			continue;
		name += 3;		/* blank, kind, blank */
		name[strcspn(name, "\t\n")] = '\0';
		if (after == 0 && schedule != 0 && at > schedule)
			after = at;	/* where schedule() ends */
		missing -= note(wanted, name, at);
	}
	fclose(f);
	s->schedule_end = after;
}
