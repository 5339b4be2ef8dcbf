/*
 * symtab-file.c - keeps the table of the kernel's symbols from call to call.
 *
 * The file is a header, the rows and the names.  It is never changed: a new one
 * takes its place by rename(2).  We use it if it belongs to us and nobody else can
 * write to it; what is in it is checked all the same.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/open-regular.h"
#include "common/pwrite.h"
#include "common/whole.h"
#include "libtnf/symtab-file.h"

#define MAGIC	"TNFsyms1"

struct symtab_header {
	char	 magic[8];
	struct symtab_key key;
	uint64_t n;
	uint64_t names_size;
};

/* Only what a loaded module is and where: the other columns change while it is used. */
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
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char *line = NULL;
	size_t room = 0;

	memset(key, 0, sizeof *key);
	if (f == NULL)
		return errno;
	bool ok = fscanf(f, "%39s", key->boot) == 1;
	fclose(f);
	if (!ok)
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
	int fd = tnf_open_regular(path, O_RDONLY | O_NOFOLLOW, &st);
	if (fd < 0)
		return NULL;
	size_t size = (size_t)st.st_size;
	if (st.st_uid == geteuid() && (st.st_mode & 077) == 0 &&
	    size > sizeof(struct symtab_header))
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
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
	int dir, e;

	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return errno;
	dir = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno;
	if (fstat(dir, &st) == 0 && (st.st_uid != geteuid() || (st.st_mode & 022) != 0))
		e = EPERM;
	else if ((e = tnf_whole_open(&w, dir, "kallsyms")) == 0) {
		e = symtab_put(w.fd, s, key);
		if (e == 0)
			e = tnf_whole_commit(&w);
		tnf_whole_discard(&w);
	}
	close(dir);
	return e;
}
