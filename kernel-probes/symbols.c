/*
 * symbols.c - addresses of kernel functions that the programs compare with.
 */
#include <string.h>

#include "common/proc.h"
#include "kernel-probes/handle.h"

struct wanted {
	const char	*name;
	__u64		*at;
};

struct symbols {
	const struct wanted *wanted;
	unsigned missing;
	__u64	 schedule, after;	/* schedule() begins, and ends */
	__u64	 init;		/* what the start alone needs */
};

/* False: there is nothing left to find. */
static bool
symbols_note(void *arg, const struct kallsym *sym)
{
	struct symbols *s = arg;

	if (sym->address == 0)
		return true;
	if (s->after == 0 && s->schedule != 0 && sym->address > s->schedule)
		s->after = sym->address;
	for (const struct wanted *w = s->wanted; w->name != NULL; w++)
		if (strlen(w->name) == sym->length &&
		    memcmp(w->name, sym->name, sym->length) == 0 && *w->at == 0) {
			*w->at = sym->address;
			s->missing--;
			break;
		}
	return s->missing > 0 || s->after == 0;
}

/*
 * Addresses read as 0 if the kernel hides them: then the programs do without.
 * The kernel's own text comes first and in order: we leave the list when everything
 * is found.
 */
void
kp_symbols_find(struct kp_shared *shared)
{
	struct symbols s = { .after = 0 };
	const struct wanted wanted[] = {
		{ "kthread", &shared->kthread },
		{ "_stext", &shared->text_start },
		{ "_etext", &shared->text_end },
		{ "_end", &shared->image_end },
		{ "__init_begin", &s.init },	/* without KALLSYMS_ALL: x86's data end here */
		{ "__schedule", &shared->schedule_start },
		{ "schedule", &s.schedule },
		{ "wake_page_function", &shared->wake_page },
		{ "wake_bit_function", &shared->wake_bit },
		{ NULL, NULL },
	};

	s.wanted = wanted;
	s.missing = sizeof wanted / sizeof wanted[0] - 1;
	for (const struct wanted *w = wanted; w->name != NULL; w++)
		*w->at = 0;
	if (tnf_kallsyms_each(KALLSYMS, symbols_note, &s) == 0)
		shared->schedule_end = s.after;
	if (shared->image_end == 0)
		shared->image_end = s.init;
}
