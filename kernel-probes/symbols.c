/*
 * symbols.c - addresses of kernel functions that the programs compare with.
 */
#include <stdio.h>
#include <string.h>

#include "handle.h"

struct wanted {
	const char	*name;
	__u64		*at;
};

static void
note(const struct wanted *w, const char *name, unsigned long long at)
{
	for (; w->name != NULL; w++)
		if (strcmp(w->name, name) == 0)
			*w->at = at;
}

/* Addresses read as 0 if the kernel hides them: then the programs do without. */
void
kp_symbols_find(struct kp_shared *s)
{
	__u64 schedule = 0, after = ~0ull;
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
	char line[512], name[256];
	unsigned long long at;
	FILE *f;

	for (int pass = 0; pass < 2; pass++) {
		f = fopen("/proc/kallsyms", "re");
		if (f == NULL)
			return;
		while (fgets(line, sizeof line, f) != NULL) {
			if (sscanf(line, "%llx %*c %255s", &at, name) != 2)
				continue;
			if (pass == 0)
				note(wanted, name, at);
			else if (at > schedule && at < after)
				after = at;	/* where schedule() ends */
		}
		fclose(f);
	}
	s->schedule_end = schedule == 0 ? 0 : after;
}
