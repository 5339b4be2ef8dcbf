/*
 * symtab.c - the kernel's symbols: reads their list, finds addresses, keeps the table.
 *
 * The list has 100,000 and more lines; those of modules are not sorted.  So the table is
 * kept from call to call, as a file: a header, the rows and the names.  The file is never
 * changed: a new one takes its place by rename(2).  We use it if it belongs to us and
 * nobody else can write to it; what is in it is checked all the same.
 */
#include <sys/mman.h>

#include <stdlib.h>

#include "common/files.h"
#include "common/proc.h"
#include "libtnf/context-write.h"

#define MAGIC		"TNFsyms2"
#define LINE_SIZE_MIN	21u	/* of sixteen digits; a shorter line only costs a realloc */

struct symtab_row {
	uint64_t start;
	uint32_t name;		/* offset in names: "NAME\0MODULE\0" */
	uint32_t global;	/* preferred to others with the same start */
};

struct symtab {
	const struct symtab_row *rows;	/* by start, no two alike */
	size_t	    n;
	const char *names;
	size_t	    names_size;
	void	   *own_rows;		/* to free; NULL: mapped */
	void	   *own_names;
	void	   *map;		/* to unmap, or NULL */
	size_t	    map_size;
};

struct symtab_header {
	char	 magic[8];
	struct symtab_key key;
	uint64_t n;
	uint64_t names_size;
};

/* True if the symbol names a place.  Absolute and hidden ones and marks of the linker do not. */
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
	char *text;
	autoclose int fd = open(list, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno;
	int e = tnf_read_all(fd, &text, &size);
	if (e != 0)
		return e;
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

/* Hashes only a module's name, size and address: the other columns change while it is used. */
static uint64_t
symtab_hash_module(uint64_t hash, const char *line)
{
	char name[64], text[128];
	unsigned long long size, at;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size, &at) != 3)
		return hash;
	snprintf(text, sizeof text, "%s %llu %llx\n", name, size, at);
	for (const char *p = text; *p != '\0'; p++)		/* FNV-1a */
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3ull;
	return hash;
}

int
symtab_key_now(struct symtab_key *key)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	memset(key, 0, sizeof *key);
	if (!tnf_boot_id(key->boot))
		return ENODATA;
	key->modules = 0xcbf29ce484222325ull;
	f = fopen("/proc/modules", "re");
	if (f == NULL)		/* a kernel that loads none */
		return errno == ENOENT ? 0 : errno;
	while (getline(&line, &room, f) > 0)
		key->modules = symtab_hash_module(key->modules, line);
	free(line);
	fclose(f);
	return 0;
}

static bool
symtab_header_fits(const struct symtab_header *h, const struct symtab_key *key, size_t size)
{
	size_t rest = size - sizeof *h;

	return memcmp(h->magic, MAGIC, sizeof h->magic) == 0 &&
	    memcmp(&h->key, key, sizeof *key) == 0 &&
	    h->n > 0 && h->n <= rest / sizeof(struct symtab_row) &&
	    h->names_size > 0 &&
	    h->names_size == rest - h->n * sizeof(struct symtab_row);
}

/* The table that a mapped file holds, or NULL. */
static struct symtab *
symtab_of_map(void *map, size_t size, const struct symtab_key *key)
{
	const struct symtab_header *h = map;
	const char *end = (const char *)map + size;
	struct symtab *s;

	if (!symtab_header_fits(h, key, size) || end[-1] != '\0' ||
	    (s = calloc(1, sizeof *s)) == NULL)
		return NULL;
	s->n = h->n;
	s->rows = (const void *)(h + 1);
	s->names = end - h->names_size;
	s->names_size = h->names_size;
	s->map = map;
	s->map_size = size;
	return s;
}

struct symtab *
symtab_kept(const char *directory, const struct symtab_key *key)
{
	struct symtab *s = NULL;
	void *map = MAP_FAILED;
	char path[4096];
	struct stat st;

	snprintf(path, sizeof path, "%s/kallsyms", directory);
	autoclose int fd = tnf_open_regular(path, O_RDONLY | O_NOFOLLOW, &st);
	if (fd < 0)
		return NULL;
	size_t size = (size_t)st.st_size;
	if (st.st_uid == geteuid() && (st.st_mode & 077) == 0 &&
	    size > sizeof(struct symtab_header))
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	s = symtab_of_map(map, size, key);
	if (s == NULL)
		munmap(map, size);
	return s;
}

static int
symtab_put(int fd, const struct symtab *s, const struct symtab_key *key)
{
	struct symtab_header h = { .key = *key, .n = s->n, .names_size = s->names_size };
	size_t rows = s->n * sizeof *s->rows;

	memcpy(h.magic, MAGIC, sizeof h.magic);
	int e = pwrite_all(fd, &h, sizeof h, 0);
	if (e == 0)
		e = pwrite_all(fd, s->rows, rows, sizeof h);
	if (e == 0)
		e = pwrite_all(fd, s->names, s->names_size, sizeof h + rows);
	return e;
}

int
symtab_keep(const struct symtab *s, const char *directory, const struct symtab_key *key)
{
	struct stat st;
	struct whole w;
	autoclose int dir = -1;
	int e;

	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return errno;
	dir = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno;
	if (fstat(dir, &st) == 0 && (st.st_uid != geteuid() || (st.st_mode & 022) != 0))
		return EPERM;
	if ((e = tnf_whole_open(&w, dir, "kallsyms")) != 0)
		return e;
	if ((e = symtab_put(w.fd, s, key)) == 0)
		e = tnf_whole_commit(&w);
	tnf_whole_discard(&w);
	return e;
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
