/*
 * mdoc.c - prints the catalogue as the manual page has it.
 */
#include <stdio.h>

#include "kernel-probes/catalogue.h"

/* Text that may begin a line of mdoc; words that are macros are no problem. */
static void
mdoc_text(const char *s)
{
	printf("%s%s\n", *s == '.' || *s == '\'' ? "\\&" : "", s);
}

static void
mdoc_members(const struct kp_row *row)
{
	if (row->member[0].name == NULL) {
		puts("No members.");
		return;
	}
	puts(".Bl -column \"tnf_kthread_id\" \"pages_reclaimed\" -compact");
	for (const struct kp_member *m = row->member; m->name != NULL; m++)
		printf(".It Vt %s Ta Va %s\n", m->type, m->name);
	puts(".El");
}

static void
mdoc_hooks(uint64_t programs)
{
	int n = 0;

	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (programs >> i & 1 && i != KP_PROGRAM_context_switch3)
			printf("%s%s", n++ == 0 ? "" : " , ", kp_programs[i].hook);
	puts(" .");
}

static void
mdoc_probe(const struct kp_row *row)
{
	printf(".It Nm %s\n", row->name);
	mdoc_text(row->when);
	if (row->differs != NULL)
		mdoc_text(row->differs);
	puts(".Pp");
	mdoc_members(row);
	puts(".Pp");
	printf("Keys: %s.\nFidelity: %s.\nHooks:\n.Li ", row->keys,
	    kp_fidelity_name(row->fidelity));
	mdoc_hooks(row->needs);
	if (row->example == NULL)
		return;
	printf(".Bd -literal -offset indent\n%s\n.Ed\n", row->example);
	if (row->says != NULL) {
		puts(".Pp");
		mdoc_text(row->says);
	}
}

int
main(void)
{
	puts(".Bl -tag -width Ds");
	for (unsigned id = 1; id < KP_PROBES; id++)
		mdoc_probe(&kp_catalogue[id]);
	puts(".El");
	return 0;
}
