/*
 * linkmap.c - the dynamic linker's own list of what it has loaded.
 *
 * The executable's dynamic section leads to struct r_debug.  This leads to a chain of
 * struct link_map, one for each object, in the order in which symbols are searched; a program
 * that uses dlmopen() has further chains.  All of them lie in the target's memory: they may be
 * wrong, and may change while we read them.
 */
#include <elf.h>
#include <link.h>

#include "libtnfctl/proc.h"

#define SEGMENTS_MAX	256u
#define DYNAMIC_MAX	4096u
#define CHAIN_MAX	8192u		/* objects, all name spaces */
#define SPACES_MAX	64u
#define AUXV_MAX	128u
#define PAGE		4096u

/* struct r_debug as of r_version 2, whatever <link.h> has. */
struct debug {
	int32_t	 version;
	uint64_t map;
	uint64_t brk;
	int32_t	 state;
	uint64_t ldbase;
	uint64_t next;
};

uintptr_t
tnfctl_auxv_get(pid_t pid, unsigned long type)
{
	ElfW(auxv_t) v[AUXV_MAX];
	uintptr_t value = 0;
	ssize_t got = tnf_proc_file((char *)v, sizeof(v), "/proc/%d/auxv", (int)pid);

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(v[0]); i++)
		if (v[i].a_type == type)
			value = v[i].a_un.a_val;
	return value;
}

/* Address of the executable's dynamic section. */
static uintptr_t
find_dynamic(const struct reader *r)
{
	uintptr_t at = tnfctl_auxv_get(r->pid, AT_PHDR), n, bias = 0, dynamic = 0, i;
	ElfW(Phdr) ph[SEGMENTS_MAX];

	n = tnfctl_auxv_get(r->pid, AT_PHNUM);
	if (at == 0 || n == 0 || n > SEGMENTS_MAX ||
	    !r->read(r->arg, at, ph, n * sizeof(ph[0])))
		return 0;
	for (i = 0; i < n; i++) {
		if (ph[i].p_type == PT_PHDR)
			bias = at - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = ph[i].p_vaddr;
	}
	return dynamic ? bias + dynamic : 0;
}

static uintptr_t
find_debug(const struct reader *r)
{
	uintptr_t at = find_dynamic(r);
	ElfW(Dyn) d;

	for (size_t i = 0; at != 0 && i < DYNAMIC_MAX; i++, at += sizeof(d)) {
		if (!r->read(r->arg, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

typedef bool link_f(void *, uintptr_t at, const struct link_map *);

/* Calls fn for each link map; false: the list cannot be read. */
static bool
linkmap_walk(const struct reader *r, const struct debug *first, link_f *fn, void *arg)
{
	size_t spaces = 0, n = 0, size = offsetof(struct debug, next);
	struct debug d = *first;
	struct link_map map;
	uintptr_t at;

	for (;;) {
		for (at = d.map; at != 0 && n < CHAIN_MAX; n++) {
			if (!r->read(r->arg, at, &map, sizeof(map)))
				return false;
			if (!fn(arg, at, &map))
				return true;
			at = (uintptr_t)map.l_next;
		}
		if (d.version < 2 || d.next == 0 || ++spaces == SPACES_MAX)
			return true;
		at = d.next;
		memset(&d, 0, sizeof(d));
		if (!r->read(r->arg, at, &d, size) || (d.version >= 2 &&
		    !r->read(r->arg, at, &d, sizeof(d))))
			return false;
	}
}

static bool
read_debug(const struct reader *r, struct linker *l, struct debug *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (l->debug == 0)
		l->debug = find_debug(r);
	if (l->debug == 0 ||
	    !r->read(r->arg, l->debug, ret, offsetof(struct debug, next)))
		return false;
	if (ret->version >= 2)
		return r->read(r->arg, l->debug, ret, sizeof(*ret));
	return true;
}

static bool
add_to_print(void *arg, uintptr_t at, const struct link_map *map)
{
	const uint64_t words[] = { at, map->l_addr, (uintptr_t)map->l_ld };
	uint64_t *print = arg;

	for (size_t i = 0; i < 3; i++)
		*print = (*print ^ words[i]) * 0x9e3779b97f4a7c15u;
	return true;
}

/* True if the program is linked statically: the kernel has loaded no interpreter for it, so
   there is no list, and all its code is mapped from the start. */
static bool
linkmap_is_static(const struct linker *l, pid_t pid)
{
	return l->debug == 0 && tnfctl_auxv_get(pid, AT_PHDR) != 0 &&
	    tnfctl_auxv_get(pid, AT_BASE) == 0;
}

bool
tnfctl_linkmap_look(const struct reader *r, struct linker *l)
{
	struct debug d;
	uint64_t print = 1;

	if (linkmap_is_static(l, r->pid)) {
		*l = (struct linker){ .consistent = true, .alone = true };
		return true;
	}
	if (!read_debug(r, l, &d) || d.map == 0) {
		l->consistent = false;
		return false;
	}
	l->brk = d.brk;
	l->consistent = d.state == RT_CONSISTENT;
	if (linkmap_walk(r, &d, add_to_print, &print))
		l->print = print;
	return true;
}

struct listing {
	tnfctl_handle_t *h;
	const struct reader *r;
	struct maps maps;
	struct text *text;
	bool	 first;
	tnfctl_errcode_t err;
};

/* True if the file's first page is the one that is mapped there; false: the file has been
   replaced, or the file or the memory cannot be read. */
static bool
linkmap_same_file(const struct reader *r, const char *file, const struct mapping *start)
{
	char ours[PAGE], theirs[PAGE];
	autoclose int fd = tnfctl_file_open(file);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, ours, sizeof(ours), 0);
	return n > 0 && r->read(r->arg, start->start, theirs, (size_t)n) &&
	    memcmp(ours, theirs, (size_t)n) == 0;
}

/* A name under which we can open what is mapped there. */
static bool
find_file(const struct reader *r, const struct mapping *start, char *ret, size_t size)
{
	int n = snprintf(ret, size, "/proc/%d/root%s", (int)r->pid, start->path);

	if (n > 0 && (size_t)n < size && linkmap_same_file(r, ret, start))
		return true;
	/* Deleted or replaced; this way needs privileges. */
	n = snprintf(ret, size, "/proc/%d/map_files/%lx-%lx", (int)r->pid,
	    (unsigned long)start->start, (unsigned long)start->end);
	if (n > 0 && (size_t)n < size && linkmap_same_file(r, ret, start))
		return true;
	n = snprintf(ret, size, "/proc/%d/exe", (int)r->pid);
	return n > 0 && linkmap_same_file(r, ret, start);
}

static bool
can_be_shown(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p > ' ' && *p != 0x7f)
		p++;
	return *s == '/' && *p == '\0';
}

/* Prefers the linker's name.  If that cannot be printed, or is below /proc/self, where it ends
   with the process' descriptor, takes the path of the mapping. */
static void
find_name(struct listing *l, const struct link_map *map,
    const struct mapping *start, char ret[TEXT_SIZE])
{
	char *deleted;
	size_t len;

	if (tnfctl_text_read(l->h, l->text, (uintptr_t)map->l_name, ret) &&
	    can_be_shown(ret) && strncmp(ret, "/proc/self/", 11) != 0)
		return;
	snprintf(ret, TEXT_SIZE, "%s", start->path);
	len = strlen(ret);
	deleted = len > 10 ? ret + len - 10 : ret;
	if (strcmp(deleted, " (deleted)") == 0)
		*deleted = '\0';
}

static bool
linkmap_list_one(void *arg, uintptr_t at, const struct link_map *map)
{
	char name[TEXT_SIZE], file[PATH_MAX + 32];
	const struct mapping *m, *start;
	struct listing *l = arg;
	struct object_info info = {
		.name = name, .file = file, .fd = -1, .bias = map->l_addr,
		.key = { map->l_addr, (uintptr_t)map->l_ld },
		.main = l->first,
	};
	int error;

	l->first = false;
	if (tnfctl_object_known(l->h, info.key))
		return true;
	if (l->maps.m == NULL && (error = tnf_maps_read(l->h->pid, &l->maps)) != 0) {
		l->err = tnfctl_error_set_errno(error, "/proc/%d/maps", (int)l->h->pid);
		return false;
	}
	m = tnf_maps_find(&l->maps, (uintptr_t)map->l_ld);
	if (m == NULL || m->path[0] != '/' ||
	    (start = tnf_maps_file_start(&l->maps, m)) == NULL)
		return true;		/* the vDSO, or other memory without a file */
	find_name(l, map, start, name);
	if (!find_file(l->r, start, file, sizeof(file)))
		file[0] = '\0';
	l->err = tnfctl_object_seen(l->h, &info);
	return l->err == TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
linkmap_list_static(tnfctl_handle_t *h, const struct reader *r)
{
	char name[TEXT_SIZE], file[PATH_MAX + 32];
	struct object_info info = { .name = name, .file = file, .fd = -1,
	    .bias = NO_BIAS, .main = true };
	const struct mapping *start;
	struct maps maps;
	int error;

	if ((error = tnf_maps_read(h->pid, &maps)) != 0)
		return tnfctl_error_set_errno(error, "/proc/%d/maps", (int)h->pid);
	start = tnf_maps_find(&maps, tnfctl_auxv_get(h->pid, AT_PHDR));
	if (start == NULL || !find_file(r, start, file, sizeof(file))) {
		tnf_maps_free(&maps);
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: its program's "
		    "file cannot be found", (int)h->pid);
	}
	snprintf(name, sizeof(name), "%s", start->path);
	info.base = info.key[0] = start->start;
	tnf_maps_free(&maps);
	return tnfctl_object_seen(h, &info);
}

tnfctl_errcode_t
tnfctl_linkmap_objects(tnfctl_handle_t *h, const struct reader *r, struct linker *linker)
{
	struct listing l = { .h = h, .r = r, .first = true, .text = tnfctl_text_new() };
	struct debug d;

	if (l.text == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (linkmap_is_static(linker, h->pid)) {
		free(l.text);
		return linkmap_list_static(h, r);
	}
	if (!read_debug(r, linker, &d) || !linkmap_walk(r, &d, linkmap_list_one, &l))
		l.err = tnfctl_error_set(TNFCTL_ERR_INTERNAL,
		    "process %d: its list of loaded objects cannot be read",
		    (int)h->pid);
	tnf_maps_free(&l.maps);
	free(l.text);
	return l.err;
}
