/*
 * context-symbols.c - names for the kernel addresses that a trace mentions.
 *
 * The kernel's list has 100,000 and more lines and is not sorted; the
 * addresses are few.  So the addresses are sorted, each line is put beside the
 * first address that it does not lie behind and the last that it does, and two
 * sweeps over the addresses then find for each the nearest symbol below and
 * the next one above.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtnf/context-write.h"

/* What is farther off is no hit: a kernel that lists no data has a few marks of
   the linker there, far from what they seem to name. */
#define SYMBOL_SPAN_MAX	(1u << 16)
#define LIST_SIZE_MAX	(256u << 20)

struct nearest {
	uint64_t    addr;
	uint64_t    below;	/* start of the symbol that holds addr; 0 none */
	uint64_t    above;	/* start of the next; UINT64_MAX none */
	const char *line;	/* of 'below': name, and module in brackets */
	bool	    global;
};

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Reads all of a file whose size is not known beforehand. */
static char *
context_symbols_slurp(const char *path)
{
	size_t room = 8u << 20, n = 0;
	char *text = NULL, *grown;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return NULL;
	do {
		if (text == NULL || n + 1 == room) {
			room = text == NULL ? room : room * 2;
			grown = room <= LIST_SIZE_MAX ?
			    realloc(text, room) : NULL;
			if (grown == NULL) {
				errno = ENOMEM;
				goto fail;
			}
			text = grown;
		}
		got = read(fd, text + n, room - n - 1);
		if (got < 0)
			goto fail;
		n += (size_t)got;
	} while (got > 0);
	close(fd);
	text[n] = '\0';
	return text;
fail:
	free(text);
	close(fd);
	return NULL;
}

/* The first row at or above 'start'; n: none. */
static size_t
lower_bound(const struct nearest *a, size_t n, uint64_t start)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (a[mid].addr < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
context_symbols_note(struct nearest *a, size_t n, uint64_t start, char type, const char *name)
{
	bool global = type >= 'A' && type <= 'Z';
	size_t i;

	if (start == 0 || type == 'a' || type == 'A' || *name == '$')
		return;
	i = lower_bound(a, n, start);
	if (i < n && (start > a[i].below ||
	    (start == a[i].below && global && !a[i].global))) {
		a[i].below = start;
		a[i].line = name;
		a[i].global = global;
	}
	if (i > 0 && start < a[i - 1].above)
		a[i - 1].above = start;
}

/* "ADDRESS TYPE NAME[\tMODULE]" a line; others are skipped. */
static void
note_line(struct nearest *a, size_t n, const char *p, uint64_t shift)
{
	uint64_t v = 0;
	int digits;

	for (digits = 0; ; digits++, p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (digits == 0 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ')
		return;
	context_symbols_note(a, n, v == 0 ? 0 : v + shift, p[1], p + 3);
}

static void
context_symbols_sweep(struct nearest *a, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (a[i - 1].below > a[i].below) {
			a[i].below = a[i - 1].below;
			a[i].line = a[i - 1].line;
		}
	for (i = n; i-- > 1; )
		if (a[i].above < a[i - 1].above)
			a[i - 1].above = a[i].above;
}

static void
context_symbols_put(struct context_writer *w, const struct nearest *s)
{
	uint64_t end = s->above;
	size_t name, module;
	const char *m;

	if (end - s->below > SYMBOL_SPAN_MAX)
		end = s->below + SYMBOL_SPAN_MAX;
	if (s->addr >= end)
		return;
	name = strcspn(s->line, "\t \n");
	m = s->line + name + strspn(s->line + name, "\t ");
	module = *m == '[' ? strcspn(++m, "]\n") : 0;
	fprintf(w->f, "symbol %" PRIx64 " %" PRIx64 " %.*s %.*s\n", s->below,
	    end, module != 0 ? (int)module : 1, module != 0 ? m : "-",
	    (int)name, s->line);
}

int
context_symbols(struct context_writer *w, const char *list, uint64_t *addrs,
    size_t n, uint64_t shift)
{
	struct nearest *a;
	char *text, *p;
	size_t i;

	if (w->f == NULL || n == 0)
		return 0;
	text = context_symbols_slurp(list);
	if (text == NULL)
		return errno;
	a = calloc(n, sizeof *a);
	if (a == NULL) {
		free(text);
		return ENOMEM;
	}
	qsort(addrs, n, sizeof *addrs, compare_u64);
	for (i = 0; i < n; i++)
		a[i] = (struct nearest){ .addr = addrs[i], .above = UINT64_MAX };
	for (p = text; *p; p++) {
		note_line(a, n, p, shift);
		p = strchr(p, '\n');
		if (p == NULL)
			break;
	}
	context_symbols_sweep(a, n);
	for (i = 0; i < n; i++)
		if (a[i].line != NULL &&
		    (i == 0 || a[i].below != a[i - 1].below))
			context_symbols_put(w, &a[i]);
	free(a);
	free(text);
	return 0;
}
