/*
 * objects.c - what is loaded in a process.
 */
#include "common/elf-file.h"
#include "libtnfctl/proc.h"

#define SECTION_MAX	(64u << 20)	/* bytes of control blocks an object */
#define GAP_MAX		64u		/* between sections: no block fits in */
#define OBJECTS_MAX	8192u
#define DEEP_MAX	512u		/* objects whose .symtab is read */
#define LIBC		"libc.so.6"

static const char *const known_names[KNOWN_COUNT] = {
	[KNOWN_CONTROL] = TNF_PROCESS_SYMBOL,
	[KNOWN_INTERNAL_FLAG] = "_tnfctl_internal_tracing_flag",
	[KNOWN_EXTERNAL_PID] = "_tnfctl_externally_traced_pid",
};

static void
object_free(struct object *o)
{
	if (o == NULL)
		return;
	if (o->fd >= 0)
		close(o->fd);
	free(o->name);
	free(o->file);
	free(o->sections);
	free(o);
}

/* A function that somebody asked for, as "LIB/NAME" or "@ADDRESS": files are not searched for
   each probe. */
struct function_name {
	uintptr_t address;
	char	 text[256];	/* "": it has none */
};

static struct map *
names_of(tnfctl_handle_t *h)
{
	if (h->function_names.value_size == 0)
		tnf_map_init(&h->function_names, sizeof(struct function_name));
	return &h->function_names;
}

void
tnfctl_objects_free(tnfctl_handle_t *h)
{
	struct object *o;

	while ((o = h->objects) != NULL) {
		h->objects = o->next;
		object_free(o);
	}
	h->nobjects = 0;
	tnf_map_free(&h->function_names);
}

int
tnfctl_file_open(const char *path)
{
	struct stat st;

	return tnf_open_regular(path, O_RDONLY, &st);
}

int
tnfctl_object_open(const struct object *o)
{
	return o->fd >= 0 ? fcntl(o->fd, F_DUPFD_CLOEXEC, 0) : tnfctl_file_open(o->file);
}

bool
tnfctl_object_known(tnfctl_handle_t *h, const uintptr_t key[2])
{
	for (struct object *o = h->objects; o != NULL; o = o->next)
		if (o->key[0] == key[0] && o->key[1] == key[1]) {
			o->seen = true;
			return true;
		}
	return false;
}

static bool
add_section(void *arg, uint64_t address, uint64_t size)
{
	struct object *o = arg;
	struct section *s;

	if (size == 0 || size > SECTION_MAX)
		return true;
	/* In C++ each probe may have a section, one behind the other. */
	s = o->nsections > 0 ? &o->sections[o->nsections - 1] : NULL;
	address += o->bias;
	if (s != NULL && address >= s->address + s->size &&
	    address - (s->address + s->size) < GAP_MAX &&
	    address + size - s->address <= SECTION_MAX) {
		s->size = address + size - s->address;
		return true;
	}
	s = realloc(o->sections, (o->nsections + 1) * sizeof(*s));
	if (s == NULL)
		return false;
	o->sections = s;
	s[o->nsections].address = address;
	s[o->nsections++].size = size;
	return true;
}

/* An object whose file cannot be read or makes no sense has no probes. */
static void
look_inside(tnfctl_handle_t *h, struct object *o,
    const struct object_info *info)
{
	uint64_t values[KNOWN_COUNT] = { 0 };
	autoelf struct elffile *e = tnf_elffile_take(tnfctl_object_open(o));

	if (e == NULL)
		return;
	if (o->bias == NO_BIAS)
		o->bias = info->base - tnf_elffile_lowest(e);
	tnf_elffile_sections(e, TNF_PROBE_SECTION, add_section, o);
	/* The library may be linked in; then nothing exports it. */
	tnf_elffile_symbols(e, known_names, values, KNOWN_COUNT,
	    (o->main || o->nsections > 0) && h->deep++ < DEEP_MAX);
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (values[i] != 0)
			o->known[i] = o->bias + values[i];
}

tnfctl_errcode_t
tnfctl_object_seen(tnfctl_handle_t *h, const struct object_info *info)
{
	struct object *o, **end;

	if (tnfctl_object_known(h, info->key) || h->nobjects == OBJECTS_MAX)
		return TNFCTL_ERR_NONE;
	if ((o = calloc(1, sizeof(*o))) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	o->fd = -1;
	o->name = strdup(info->name);
	if (info->file != NULL)
		o->file = strdup(info->file);
	if (o->name == NULL || (info->file != NULL && o->file == NULL) ||
	    (info->fd >= 0 &&
	    (o->fd = fcntl(info->fd, F_DUPFD_CLOEXEC, 0)) < 0)) {
		object_free(o);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	o->bias = info->bias;
	o->key[0] = info->key[0];
	o->key[1] = info->key[1];
	o->main = info->main;
	o->seen = o->fresh = true;
	look_inside(h, o, info);
	for (end = &h->objects; *end != NULL; end = &(*end)->next)
		;
	*end = o;
	h->nobjects++;
	return TNFCTL_ERR_NONE;
}

static void
object_gone(tnfctl_handle_t *h, struct object *o)
{
	for (size_t i = 0; i < h->nprobes; i++)
		if (h->probes[i]->object == o) {
			h->probes[i]->object = NULL;
			h->probes[i]->gone = true;
		}
	object_free(o);
	h->nobjects--;
}

tnfctl_errcode_t
tnfctl_objects_refresh(tnfctl_handle_t *h, struct objects_change *ret)
{
	struct object *o, **link;
	tnfctl_errcode_t err;

	for (o = h->objects; o != NULL; o = o->next)
		o->seen = false;
	if ((err = h->ops->objects(h)) != TNFCTL_ERR_NONE)
		return err;
	*ret = (struct objects_change){ 0 };
	for (link = &h->objects; (o = *link) != NULL; ) {
		ret->came |= o->fresh;
		if (o->seen) {
			link = &o->next;
			continue;
		}
		ret->went = true;
		*link = o->next;
		object_gone(h, o);
	}
	if (ret->came || ret->went)
		tnf_map_free(&h->function_names);
	return TNFCTL_ERR_NONE;
}

static bool
is_called(const struct object *o, const char *lib)
{
	const char *slash = strrchr(o->name, '/');

	return lib == NULL || strcmp(slash ? slash + 1 : o->name, lib) == 0;
}

static void
remember_function(tnfctl_handle_t *h, const char *lib, const char *name, uintptr_t address)
{
	struct function_name *f;
	char *key;
	int n = asprintf(&key, "%s/%s", lib ? lib : "", name);

	if (n < 0)
		return;
	if ((f = tnf_map_put(names_of(h), key, (size_t)n, NULL)) != NULL)
		f->address = address;
	free(key);
}

/* Calls need some functions of the C library: one look at its file finds all of them. */
static void
remember_libc(tnfctl_handle_t *h, struct elffile *e, uintptr_t bias)
{
	static const char *const names[] = { "dlopen", "mmap", "munmap", "syscall" };
	enum { COUNT = sizeof(names) / sizeof(names[0]) };
	uint64_t values[COUNT] = { 0 };

	tnf_elffile_functions_called(e, names, values, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		if (values[i] != 0)
			remember_function(h, LIBC, names[i], bias + values[i]);
}

static bool
search_function(tnfctl_handle_t *h, const char *lib, const char *name,
    uintptr_t *ret)
{
	uint64_t value;

	for (struct object *o = h->objects; o != NULL; o = o->next) {
		autoelf struct elffile *e = is_called(o, lib) ?
		    tnf_elffile_take(tnfctl_object_open(o)) : NULL;

		if (e == NULL || !tnf_elffile_function(e, name, &value))
			continue;
		*ret = o->bias + value;
		remember_function(h, lib, name, *ret);
		if (lib != NULL && strcmp(lib, LIBC) == 0)
			remember_libc(h, e, o->bias);
		return true;
	}
	return false;
}

bool
tnfctl_objects_function(tnfctl_handle_t *h, const char *lib, const char *name,
    uintptr_t *ret)
{
	struct function_name *f;
	bool found = true;
	char *key;
	int n;

	if ((n = asprintf(&key, "%s/%s", lib ? lib : "", name)) < 0)
		return search_function(h, lib, name, ret);
	if ((f = tnf_map_get(names_of(h), key, (size_t)n)) != NULL)
		*ret = f->address;
	else
		found = search_function(h, lib, name, ret);
	free(key);
	return found;
}

static bool
search_name(tnfctl_handle_t *h, uintptr_t address, char *ret, size_t size)
{
	for (struct object *o = h->objects; o != NULL; o = o->next) {
		autoelf struct elffile *e = address < o->bias ? NULL :
		    tnf_elffile_take(tnfctl_object_open(o));

		if (e != NULL && tnf_elffile_function_at(e, address - o->bias, ret, size))
			return true;
	}
	return false;
}

bool
tnfctl_objects_function_at(tnfctl_handle_t *h, uintptr_t address, char *ret,
    size_t size)
{
	struct function_name *f;
	char key[32];
	bool fresh;

	snprintf(key, sizeof(key), "@%lx", (unsigned long)address);
	if ((f = tnf_map_put(names_of(h), key, strlen(key), &fresh)) == NULL)
		return search_name(h, address, ret, size);
	if (fresh && !search_name(h, address, f->text, sizeof(f->text)))
		f->text[0] = '\0';
	snprintf(ret, size, "%s", f->text);
	return f->text[0] != '\0';
}

uintptr_t
tnfctl_objects_known(tnfctl_handle_t *h, enum known what, struct object **ret)
{
	for (struct object *o = h->objects; o != NULL; o = o->next)
		if (o->known[what] != 0) {
			if (ret != NULL)
				*ret = o;
			return o->known[what];
		}
	return 0;
}

#define PAGE		4096u
#define WINDOW_MAX	(16u * PAGE)

struct text {
	uintptr_t start;	/* page aligned */
	size_t	 size;
	char	 window[WINDOW_MAX];
};

struct text *
tnfctl_text_new(void)
{
	struct text *s = malloc(sizeof(*s));

	if (s != NULL)
		s->size = 0;
	return s;
}

/* Reads as much from 'start' on as there is, at least a page. */
static bool
move_window(tnfctl_handle_t *h, struct text *s, uintptr_t start)
{
	for (s->size = WINDOW_MAX; s->size >= PAGE; s->size /= 4) {
		s->start = start;
		if (start <= UINTPTR_MAX - s->size &&
		    h->ops->read(h, start, s->window, s->size))
			return true;
	}
	s->size = 0;
	return false;
}

bool
tnfctl_text_read(tnfctl_handle_t *h, struct text *s, uintptr_t address,
    char ret[TEXT_SIZE])
{
	size_t n = 0, part, left;
	const char *at, *end;

	while (n < TEXT_SIZE) {
		if ((address < s->start || address - s->start >= s->size) &&
		    !move_window(h, s, address & ~(uintptr_t)(PAGE - 1)))
			return false;
		at = s->window + (address - s->start);
		left = s->size - (address - s->start);
		part = left < TEXT_SIZE - n ? left : TEXT_SIZE - n;
		end = memchr(at, '\0', part);
		if (end != NULL)
			part = (size_t)(end - at) + 1;
		memcpy(ret + n, at, part);
		if (end != NULL)
			return true;
		n += part;
		address += part;
	}
	return false;
}
