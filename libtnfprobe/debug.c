/*
 * debug.c - functions for connected functions to call, and the predefined connected function.
 */
#include <stdarg.h>

#include "format/attributes.h"
#include "libtnfprobe/internal.h"

#define TEXT_MAX	1024
#define NAME_SHOWN	31
#define TEXT_SHOWN	127
#define AT_MOST(n, max)	((int)((n) < (max) ? (n) : (max)))

/* The value of an attribute, which may be empty. */
const char *
tnf_attribute(const char *attrs, const char *name, size_t *len)
{
	struct attribute a;

	if (!attribute_find(attrs, name, &a))
		return NULL;
	*len = a.value_len;
	return a.value;
}

TNF_API const char *
tnf_probe_get_attribute(const struct tnf_probe_control *probe, const char *name, size_t *len)
{
	return tnf_attribute(probe->attrs, name, len);
}

/* The characters of the string that a member refers to. */
static const char *
string_at(const tnf_reference_t *cell)
{
	const struct file *f = tnf_t.file;
	int64_t d = (int32_t)(*cell << 1) >> 1;
	uint64_t at;

	if (*cell == 0 || f == NULL)
		return NULL;
	if (*cell & TNF_REF32_PERMANENT)
		at = *cell & ~(TNF_REF32_PERMANENT | TNF_REF32_T_MASK);
	else
		at = (uint64_t)((int64_t)offset_of(f, cell) + d) & (((uint64_t)1 << f->shift) - 1);
	if (at + 8 > f->size)
		return NULL;
	return f->base + at + 8;
}

/* The first piece of a text. */
static const char *
text_at(const tnf_reference_t *cell)
{
	const char *cells = string_at(cell);

	if (cells == NULL || ((const uint32_t *)(const void *)cells)[-1] < 12)
		return NULL;
	return string_at((const tnf_reference_t *)(const void *)cells);
}

/* The size of a record type is that of the record; members refer to it. */
static uint32_t
member_size(const struct tnf_tag_data *type)
{
	return type->kind == TNF_TAG_RECORD ? sizeof(tnf_reference_t) :
	    type->size;
}

int TNF_API
tnf_probe_get_argument(const struct tnf_probe_setup *setup, unsigned n,
    struct tnf_probe_argument *ret)
{
	const struct tnf_tag_data *const *type = setup->probe->slots;
	uint32_t offset = 8;
	size_t len = 0;
	unsigned i;
	const char *name = tnf_attribute(setup->probe->attrs, "slots", &len);

	for (i = 0; type[i] != NULL && name != NULL; i++) {
		len = strcspn(name, " ;");
		offset = (offset + type[i]->align - 1) / type[i]->align * type[i]->align;
		if (i == n)
			break;
		offset += member_size(type[i]);
		name += len + (name[len] == ' ');
	}
	if (type[i] == NULL || name == NULL)
		return -1;
	ret->name = name;
	ret->name_len = len;
	ret->type = type[i];
	ret->value = (const char *)setup->buffer + offset;
	ret->string = type[i]->kind == TNF_TAG_STRING ?
	    string_at((const tnf_reference_t *)ret->value) :
	    type[i]->kind == TNF_TAG_TEXT ? text_at((const tnf_reference_t *)ret->value) : NULL;
	return 0;
}

/* A line that is cut when it is full. */
struct line {
	size_t	len;
	char	text[TEXT_MAX];
};

static void __attribute__((format(printf, 2, 3)))
debug_add(struct line *l, const char *format, ...)
{
	size_t room = sizeof(l->text) - 1 - l->len;	/* the newline's */
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(l->text + l->len, room, format, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
}

static uint64_t
get_unsigned(const void *p, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)p;
	case 2: return *(const uint16_t *)p;
	case 4: return *(const uint32_t *)p;
	case 8: return *(const uint64_t *)p;
	}
	return 0;
}

static bool
debug_starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void
add_value(struct line *l, const struct tnf_probe_argument *a)
{
	const char *type = a->type->name;
	size_t size = member_size(a->type);
	uint64_t v = get_unsigned(a->value, size);
	unsigned unused = size > 0 && size < 8 ? 64 - 8 * (unsigned)size : 0;	/* bits */
	bool text = a->type->kind == TNF_TAG_STRING || a->type->kind == TNF_TAG_TEXT;

	if (text && a->string == NULL)
		debug_add(l, "<NULL>");
	else if (text)
		debug_add(l, "\"%.*s\"", TEXT_SHOWN, a->string);
	else if (a->type->kind == TNF_TAG_RECORD ||
	    a->type->kind == TNF_TAG_BLOB || debug_starts(type, "tnf_opaque"))
		debug_add(l, "0x%lx", (unsigned long)v);
	else if (debug_starts(type, "tnf_char"))
		debug_add(l, "<unknown>");
	else if (debug_starts(type, "tnf_float32"))
		debug_add(l, "%f", *(const float *)a->value);
	else if (debug_starts(type, "tnf_float64"))
		debug_add(l, "%f", *(const double *)a->value);
	else if (debug_starts(type, "tnf_uint") || debug_starts(type, "tnf_size") ||
	    debug_starts(type, "tnf_lwpid"))
		debug_add(l, "%llu", (unsigned long long)v);
	else
		debug_add(l, "%lld", (long long)((int64_t)(v << unused) >> unused));
}

void TNF_API
tnf_probe_debug(struct tnf_probe_setup *setup)
{
	struct tnf_probe_argument a;
	const char *s;
	struct line l;
	size_t len;
	int saved = errno;

	l.len = 0;
	s = tnf_attribute(setup->probe->attrs, "name", &len);
	if (s != NULL)
		debug_add(&l, "probe %.*s; ", AT_MOST(len, NAME_SHOWN), s);
	s = tnf_attribute(setup->probe->attrs, "sunw%debug", &len);
	if (s != NULL)
		debug_add(&l, "sunw%%debug \"%.*s\"; ", AT_MOST(len, TEXT_SHOWN), s);
	for (unsigned i = 0; tnf_probe_get_argument(setup, i, &a) == 0; i++) {
		debug_add(&l, "%.*s=", AT_MOST(a.name_len, NAME_SHOWN), a.name);
		add_value(&l, &a);
		debug_add(&l, "; ");
	}
	l.text[l.len++] = '\n';
	if (write(STDERR_FILENO, l.text, l.len) == -1)
		errno = saved;
	errno = saved;
}
