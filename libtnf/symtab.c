/*
 * symtab.c - reads a kernel's list of symbols, and finds addresses in it.
 *
 * The list has 100,000 and more lines; those of modules are not sorted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/kallsyms.h"
#include "libtnf/symtab-file.h"

#define LIST_SIZE_MAX	(256u << 20)
#define LINE_SIZE_MIN	21u	/* of sixteen digits; a shorter line only costs a realloc */

/* Reads all of a file whose size is not known beforehand. */
static char *
symtab_slurp(const char *path, size_t *size)
{
	size_t room = 8u << 20, n = 0;
	char *text = NULL, *grown;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

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
	*size = n;
	return text;
fail:
	free(text);
	close(fd);
	return NULL;
}

/* What names a place: not what is absolute or hidden, nor marks of the linker. */
static bool
symtab_is_place(const struct kallsym *sym)
{
	return sym->address != 0 && sym->type != 'a' && sym->type != 'A' && sym->name[0] != '$';
}

/* The name and the module of a line, to 'to', which is not behind them. */
static char *
symtab_move_names(char *to, const struct kallsym *sym)
{
	size_t n = sym->length, module = sym->module_length;

	memmove(to, sym->name, n);
	to[n] = '\0';
	memmove(to + n + 1, sym->module, module);
	to[n + 1 + module] = '\0';
	return to + n + module + 2;
}

static int
symtab_compare(const void *a, const void *b)
{
	const struct symtab_row *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	if (p->global != q->global)
		return p->global ? -1 : 1;
	return (p->name > q->name) - (p->name < q->name);
}

static void
symtab_sort(struct symtab_row *rows, size_t *n)
{
	size_t i, kept = 0;

	qsort(rows, *n, sizeof *rows, symtab_compare);
	for (i = 0; i < *n; i++)
		if (kept == 0 || rows[i].start != rows[kept - 1].start)
			rows[kept++] = rows[i];
	*n = kept;
}

/* Makes rows of the lines; the text becomes the names, which need less room than
   the lines did. */
static struct symtab_row *
symtab_take_lines(char *text, size_t size, uint64_t shift, size_t *n, size_t *names_size)
{
	size_t room = size / LINE_SIZE_MIN + 16;
	struct symtab_row *rows = malloc(room * sizeof *rows), *grown;
	char *line, *next, *to = text;
	struct kallsym sym;

	*n = 0;
	for (line = text; rows != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		next = next != NULL ? next + 1 : text + size;
		if (*n == room) {
			grown = realloc(rows, (room *= 2) * sizeof *rows);
			if (grown == NULL)
				free(rows);
			rows = grown;
		}
		if (rows == NULL || !tnf_kallsyms_line(line, &sym) || !symtab_is_place(&sym))
			continue;
		rows[(*n)++] = (struct symtab_row){ .start = sym.address + shift,
		    .name = (uint32_t)(to - text),
		    .global = sym.type >= 'A' && sym.type <= 'Z' };
		to = symtab_move_names(to, &sym);
	}
	*names_size = (size_t)(to - text);
	return rows;
}

int
symtab_read(const char *list, uint64_t shift, struct symtab **ret)
{
	struct symtab *s = *ret = NULL;
	struct symtab_row *rows;
	size_t size;
	char *text = symtab_slurp(list, &size);

	if (text == NULL)
		return errno;
	s = calloc(1, sizeof *s);
	rows = s != NULL ? symtab_take_lines(text, size, shift, &s->n, &s->names_size) : NULL;
	if (rows == NULL) {
		free(s);
		free(text);
		return ENOMEM;
	}
	symtab_sort(rows, &s->n);
	s->rows = s->own_rows = rows;
	s->names = s->own_names = text;
	*ret = s;
	return 0;
}

/* A table with a change of modules in its midst is used, but not kept. */
int
symtab_kernel(const char *directory, struct symtab **ret)
{
	struct symtab_key key, after;
	bool known = symtab_key_now(&key) == 0;

	*ret = known ? symtab_kept(directory, &key) : NULL;
	if (*ret != NULL)
		return 0;
	int e = symtab_read(KALLSYMS, 0, ret);
	if (e == 0 && (*ret)->n > 0 && known && symtab_key_now(&after) == 0 &&
	    memcmp(&key, &after, sizeof key) == 0)
		symtab_keep(*ret, directory, &key);
	return e;
}

int
symtab_find(const struct symtab *s, uint64_t addr, struct symtab_symbol *ret)
{
	size_t lo = 0, hi = s->n, mid, length;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->rows[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return ENOENT;
	const struct symtab_row *row = &s->rows[lo - 1];
	if (row->name >= s->names_size)
		return ENOENT;
	ret->start = row->start;
	ret->end = lo < s->n ? s->rows[lo].start : UINT64_MAX;
	ret->name = s->names + row->name;
	length = strlen(ret->name) + 1;
	ret->module = length < s->names_size - row->name ? ret->name + length : "";
	return 0;
}

void
symtab_free(struct symtab *s)
{
	if (s == NULL)
		return;
	if (s->map != NULL)
		munmap(s->map, s->map_size);
	free(s->own_rows);
	free(s->own_names);
	free(s);
}
