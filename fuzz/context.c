/*
 * context.c - fuzzes the reader of a trace's context.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/context.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern size_t n_touched;

/* Touches every byte that the context hands out. */
static size_t
walk(const tnf_context_t *c)
{
	const struct tnf_context_symbol *s;
	const struct tnf_context_object *o;
	const struct tnf_context_task *t;
	size_t i, n, sum = 0;
	int64_t wall;

	t = tnf_context_tasks(c, &n);
	for (i = 0; i < n; i++)
		if (tnf_context_task(c, t[i].tid) != NULL)
			sum += strlen(t[i].comm);
	s = tnf_context_symbols(c, &n);
	for (i = 0; i < n; i++)
		if (tnf_context_symbol(c, s[i].start) != NULL)
			sum += strlen(s[i].name) + strlen(s[i].module);
	o = tnf_context_objects(c, &n);
	for (i = 0; i < n; i++)
		if (tnf_context_object(c, o[i].pid, o[i].start) != NULL)
			sum += strlen(o[i].path) + strlen(o[i].build_id);
	if (tnf_context_fact(c, "host") != NULL)
		sum += strlen(tnf_context_fact(c, "host"));
	if (tnf_context_device(c, 7, 0) != NULL)
		sum++;
	return sum + tnf_context_wall(c, 12345, &wall);
}

size_t n_touched;	/* external, so that walk() is not optimised away */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tnf_context_t *c;

	if (tnf_context_parse(data, size, &c) == 0) {
		n_touched += walk(c);
		tnf_context_close(c);
	}
	if (tnf_context_open_mem(data, size, &c) == 0) {
		n_touched += walk(c);
		tnf_context_close(c);
	}
	return 0;
}
