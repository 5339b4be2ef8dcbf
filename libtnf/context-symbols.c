/*
 * context-symbols.c - names for the kernel addresses that a trace mentions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libtnf/context-write.h"
#include "libtnf/symtab.h"

/* What is farther off is no hit: a kernel that lists no data has a few marks of
   the linker there, far from what they seem to name. */
#define SYMBOL_SPAN_MAX	(1u << 16)

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each symbol once. */
static void
context_symbols_put(struct context_writer *w, const struct symtab *table,
    const uint64_t *addrs, size_t n)
{
	struct symtab_symbol s;
	uint64_t put = 0;

	for (size_t i = 0; i < n; i++) {
		if (symtab_find(table, addrs[i], &s) != 0 || s.start == put)
			continue;
		if (s.end - s.start > SYMBOL_SPAN_MAX)
			s.end = s.start + SYMBOL_SPAN_MAX;
		if (addrs[i] >= s.end)
			continue;
		put = s.start;
		fprintf(w->f, "symbol %" PRIx64 " %" PRIx64 " %s %s\n", s.start,
		    s.end, *s.module != '\0' ? s.module : "-", s.name);
	}
}

static int
context_symbols_look_up(struct context_writer *w, struct symtab *table,
    uint64_t *addrs, size_t n)
{
	qsort(addrs, n, sizeof *addrs, compare_u64);
	context_symbols_put(w, table, addrs, n);
	symtab_free(table);
	return 0;
}

int
context_symbols(struct context_writer *w, const char *list, uint64_t *addrs,
    size_t n, uint64_t shift)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_read(list, shift, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}

int
context_kernel_symbols(struct context_writer *w, uint64_t *addrs, size_t n)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_kernel(SYMTAB_DIRECTORY, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}
