/*
 * define.c - definitions of probes and of record types, at the first hit.
 *
 * tnf_tag_data.index is the offset of a record type's definition in the file.
 * tnf_probe_control.index is the offset of the probe's word in the directory or, when the
 * directory is full, of the probe's definition.  Each is 0 until readers can read the
 * definition.
 *
 * Parent and children share the file.  A server that forks for each client
 * would fill it with definitions of the same probes if each child wrote its
 * own.  So a child first looks through the directory, and adopts a definition that is there: uses
 * it although another process has written it.  The contents of the file were written by others:
 * nothing is used without a look at its bounds, and all we take from it is the place of a
 * record.
 */
#include "libtnfprobe/internal.h"

#define RECORDS_MAX	32	/* record types that come with one definition */
#define SLOTS_MAX	16

static unsigned
slot_count(const struct tnf_tag_data *const *slots)
{
	unsigned n = 0;

	while (slots != NULL && n < SLOTS_MAX && slots[n] != NULL)
		n++;
	return n;
}

/* The record that a reference leads to, with at least 'size' bytes; or NULL. */
static const uint32_t *
adopt_follow(uint32_t ref, uint32_t size)
{
	uint32_t at = ref & ~(TNF_REF32_PERMANENT | TNF_REF32_T_MASK);

	if ((ref & TNF_REF32_PERMANENT) == 0 || at < TAG_START || at > tnf_file()->size - size)
		return NULL;
	return (const uint32_t *)(const void *)(tnf_file()->base + at);
}

static bool
is_text(uint32_t ref, const char *text, size_t len, size_t max)
{
	const uint32_t *r;

	if (len > max)
		len = max;
	r = adopt_follow(ref, (uint32_t)(8 + len + 1));
	return r != NULL && memcmp(r + 2, text, len) == 0 && ((const char *)(r + 2))[len] == '\0';
}

/* An array of exactly n references. */
static const uint32_t *
adopt_array(uint32_t ref, unsigned n)
{
	const uint32_t *r = adopt_follow(ref, 8 + 4 * n);

	return r != NULL && r[1] == 8 + 4 * n ? r + 2 : NULL;
}

static bool
same_names(const char *attrs, uint32_t ref, unsigned n)
{
	const uint32_t *names = adopt_array(ref, n + 2);
	size_t len = 0;
	const char *s = tnf_attribute(attrs, "slots", &len);

	if (names == NULL || s == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		len = strcspn(s, " ;");
		if (!is_text(names[i + 2], s, len, TNF_NAME_MAX))
			return false;
		s += len + (s[len] == ' ');
	}
	return true;
}

static void adopt_types(const struct tnf_tag_data *const *slots, unsigned n,
    const uint32_t *cells);

static void
adopt_record(const struct tnf_tag_data *data, uint32_t ref)
{
	const uint32_t *r = adopt_follow(ref, 24), *cells;
	unsigned n;

	if (r == NULL || r[4] != data->size || !is_text(r[1], data->name,
	    strlen(data->name), TNF_NAME_MAX))
		return;
	__atomic_store_n((uint32_t *)(uintptr_t)&data->index,
	    ref & ~TNF_REF32_PERMANENT, __ATOMIC_RELEASE);
	n = slot_count(data->slots);
	cells = adopt_array(r[3], n + 1);
	if (cells != NULL)
		adopt_types(data->slots, n, cells + 1);
}

/* adopt_record() sets a type's index before it goes on to the members, and types with an index are
   passed over.  So a file in which a record contains itself leads to no endless recursion. */
static void
adopt_types(const struct tnf_tag_data *const *slots, unsigned n, const uint32_t *cells)
{
	for (unsigned i = 0; i < n; i++)
		if (slots[i]->kind == TNF_TAG_RECORD && slots[i]->index == 0)
			adopt_record(slots[i], cells[i]);
}

/* Probes made at run time may have the same names and sizes, and differ only in the types of
   their arguments. */
static bool
same_types(const struct tnf_tag_data *const *slots, unsigned n, const uint32_t *cells)
{
	const uint32_t *type;

	for (unsigned i = 0; i < n; i++) {
		type = adopt_follow(cells[i], 12);
		if (type == NULL || !is_text(type[1], slots[i]->name,
		    strlen(slots[i]->name), TNF_NAME_MAX))
			return false;
	}
	return true;
}

/* The keys and whatever follows them; NULL: there are none. */
static const char *
keys_of(const char *attrs)
{
	size_t len;
	const char *keys = tnf_attribute(attrs, "keys", &len);

	return keys == NULL ? NULL : keys - (sizeof("keys ") - 1);
}

static bool
is_probe(const uint32_t *r, const struct tnf_probe_control *probe, unsigned n)
{
	size_t len = 0;
	const char *s = keys_of(probe->attrs);

	if (r[4] != probe->event_size || s == NULL || !is_text(r[6], s, strlen(s), TNF_STRING_MAX))
		return false;
	s = tnf_attribute(probe->attrs, "name", &len);
	return s != NULL && is_text(r[1], s, len, TNF_NAME_MAX) &&
	    same_names(probe->attrs, r[5], n);
}

/* The offset of the directory word that another process has written for this probe; 0: there is
   none. */
static uint32_t
adopt_probe(const struct tnf_probe_control *probe)
{
	unsigned n = slot_count(probe->slots);
	const uint32_t *r, *cells;
	uint32_t at, end;

	end = __atomic_load_n(&tnf_ext(tnf_file())->dir_cursor, __ATOMIC_ACQUIRE);
	if (end > DIRECTORY_SIZE)
		end = DIRECTORY_SIZE;
	for (at = BLOCK_SIZE + TNF_DIR_FIRST_PROBE; at + 4 <= end; at += 4) {
		r = adopt_follow(__atomic_load_n((const uint32_t *)(const void *)
		    (tnf_file()->base + at), __ATOMIC_ACQUIRE), 28);
		if (r == NULL || !is_probe(r, probe, n))
			continue;
		cells = adopt_array(r[3], n + 2);
		if (cells == NULL || !same_types(probe->slots, n, cells + 2))
			continue;
		adopt_types(probe->slots, n, cells + 2);
		return at;
	}
	return 0;
}

/* The record types that the open transaction writes, and the probe that it defines; without a
   probe (NULL) it defines a record type alone. */
static struct {
	const struct tnf_tag_data *data;
	uint32_t where;
} fresh[RECORDS_MAX];
static unsigned nfresh;
static struct tnf_probe_control *fresh_probe;
static uint32_t fresh_probe_ref;
static uint32_t fresh_index;	/* of the probe, if adopted; 0: it needs a word of its own */

static uint32_t put_record(const struct tnf_tag_data *);

static uint32_t
put_type(const struct tnf_tag_data *data)
{
	enum tnf_core i;

	if (data->kind == TNF_TAG_RECORD)
		return put_record(data);
	if (data->kind == TNF_TAG_BLOB) {
		tnf_define_core(&tnf_definer, TNF_CORE_bytes);
		tnf_define_core(&tnf_definer, TNF_CORE_padded_bytes);
	}
	if (data->kind == TNF_TAG_TEXT)
		tnf_define_core(&tnf_definer, TNF_CORE_string);
	i = tnf_core_find(data->name);
	if (i == TNF_CORE_type_none)
		i = TNF_CORE_opaque;
	return tnf_define_core(&tnf_definer, i);
}

/* The text, cut after max bytes if it is longer. */
static struct tnf_text
text_of(const char *chars, size_t len, size_t max)
{
	return (struct tnf_text){ chars, len < max ? len : max };
}

static uint32_t
put_slot_name(const char *chars, size_t len)
{
	return tnf_define_text(&tnf_definer, TNF_CORE_string, text_of(chars, len, TNF_NAME_MAX));
}

/* A struct type with room for the slots, which the caller adds. */
static uint32_t *
put_struct(enum tnf_core meta, struct tnf_text name, uint32_t type_size, uint32_t *where)
{
	uint32_t *r = tnf_define_type(&tnf_definer, meta, name, TNF_PROPERTIES_STRUCT, where);

	r[TNF_WORD_STRUCT_SIZE] = type_size;
	return r;
}

static uint32_t
put_record(const struct tnf_tag_data *data)
{
	unsigned i, n = slot_count(data->slots), self = nfresh;
	uint32_t *r, *cells;

	if (data->index != 0)
		return PERMANENT(data->index);
	for (i = 0; i < nfresh; i++)
		if (fresh[i].data == data)
			return PERMANENT(fresh[i].where);
	if (nfresh == RECORDS_MAX) {
		tnf_definer.failed = true;
		return 0;
	}
	fresh[nfresh++].data = data;
	r = put_struct(TNF_CORE_struct_type, text_of(data->name,
	    strlen(data->name), TNF_NAME_MAX), data->size, &fresh[self].where);
	r[TNF_WORD_SLOT_TYPES] = tnf_define_array(&tnf_definer, TNF_CORE_slot_types, n + 1, &cells);
	cells[0] = tnf_define_core(&tnf_definer, TNF_CORE_tag);
	for (i = 0; i < n; i++)
		cells[i + 1] = put_type(data->slots[i]);
	r[TNF_WORD_SLOT_NAMES] = tnf_define_array(&tnf_definer, TNF_CORE_slot_names, n + 1, &cells);
	cells[0] = put_slot_name("tnf_tag", 7);
	for (i = 0; i < n; i++)
		cells[i + 1] = put_slot_name(data->slot_names[i], strlen(data->slot_names[i]));
	return PERMANENT(fresh[self].where);
}

static bool
define_begin(void)
{
	if (!tnf_tag_begin()) {
		/* A hit that comes later anyway is counted there. */
		if (tnf_p.later == NULL)
			tnf_lost(TNF_LOST_BUSY);
		return false;
	}
	nfresh = 0;
	fresh_probe = NULL;
	return true;
}

/* Takes the next word of the directory, writes the reference to the probe's definition there and
   returns its offset; 0: the directory is full. */
static uint32_t
directory_word(uint32_t ref)
{
	const struct file *f = tnf_file();
	uint32_t at = __atomic_fetch_add(&tnf_ext(f)->dir_cursor, 4, __ATOMIC_RELAXED);

	if (at >= DIRECTORY_SIZE || at < BLOCK_SIZE + TNF_DIR_FIRST_PROBE || at % 4 != 0) {
		__atomic_fetch_sub(&tnf_ext(f)->dir_cursor, 4, __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_store_n((uint32_t *)(void *)(f->base + at), ref, __ATOMIC_RELEASE);
	return at;
}

/* Stores the tag of a built-in type for later hits; 0: the file does not define the type yet.  This
   comes before the index of a probe that uses the type is set: a hit that sees the index finds
   the tag. */
static void
remember_tag(uint32_t *tag, enum tnf_core type)
{
	uint32_t at = tnf_definer.core[type], known = at == 0 ? 0 : TAG_OF(at);

	if (__atomic_load_n(tag, __ATOMIC_RELAXED) != known)
		__atomic_store_n(tag, known, __ATOMIC_RELAXED);
}

/* Called at the end of a transaction, under its lock. */
static void
define_remember(void)
{
	struct tnf_tag_data *data;
	uint32_t index;

	for (unsigned i = 0; i < nfresh; i++) {
		data = (struct tnf_tag_data *)(uintptr_t)fresh[i].data;
		__atomic_store_n(&data->index, fresh[i].where, __ATOMIC_RELEASE);
	}
	remember_tag(&tnf_p.text_tag, TNF_CORE_text);
	remember_tag(&tnf_p.blob_tag, TNF_CORE_blob);
	remember_tag(&tnf_p.bytes_tag, TNF_CORE_bytes);
	remember_tag(&tnf_p.padded_tag, TNF_CORE_padded_bytes);
	if (fresh_probe != NULL) {
		index = fresh_index;
		if (index == 0)
			index = directory_word(fresh_probe_ref);
		if (index == 0)
			index = fresh_probe_ref & ~TNF_REF32_PERMANENT;
		__atomic_store_n(&fresh_probe->index, index, __ATOMIC_RELEASE);
	}
}

/* The offset of the type's definition; 0: it could not be written. */
uint32_t
tnf_define_record(const struct tnf_tag_data *data)
{
	if (data->version != TNF_PROBE_ABI || !define_begin())
		return 0;
	put_record(data);
	return tnf_tag_end(define_remember) ? __atomic_load_n(&data->index, __ATOMIC_ACQUIRE) : 0;
}

static uint32_t
put_slot_names(const char *attrs, unsigned n)
{
	size_t len = 0;
	const char *s = tnf_attribute(attrs, "slots", &len);
	uint32_t *cells, ref = tnf_define_array(&tnf_definer, TNF_CORE_slot_names, n + 2, &cells);

	cells[0] = put_slot_name("tnf_tag", 7);
	cells[1] = put_slot_name("time_delta", 10);
	for (unsigned i = 0; i < n; i++) {
		len = s == NULL ? 0 : strcspn(s, " ;");
		cells[i + 2] = put_slot_name(s, len);
		if (s != NULL && s[len] == ' ')
			s += len + 1;
	}
	return ref;
}

static uint32_t
put_probe(const struct tnf_probe_control *probe)
{
	unsigned i, n = slot_count(probe->slots);
	size_t len = 0;
	uint32_t *r, *cells, where;
	const char *name, *keys = keys_of(probe->attrs);

	name = tnf_attribute(probe->attrs, "name", &len);
	r = put_struct(TNF_CORE_probe_type, text_of(name, len, TNF_NAME_MAX),
	    probe->event_size, &where);
	r[TNF_WORD_SLOT_TYPES] = tnf_define_array(&tnf_definer, TNF_CORE_slot_types, n + 2, &cells);
	cells[0] = tnf_define_core(&tnf_definer, TNF_CORE_probe_event);
	cells[1] = tnf_define_core(&tnf_definer, TNF_CORE_time_delta);
	for (i = 0; i < n; i++)
		cells[i + 2] = put_type(probe->slots[i]);
	r[TNF_WORD_SLOT_NAMES] = put_slot_names(probe->attrs, n);
	if (keys != NULL)
		r[TNF_WORD_PROBE_ATTRS] = tnf_define_text(&tnf_definer, TNF_CORE_string,
		    text_of(keys, strlen(keys), TNF_STRING_MAX));
	return PERMANENT(where);
}

/* Even if the probe's definition is adopted from another process, this process needs the tags of the
   types of the probe's long values. */
static void
put_long_types(const struct tnf_probe_control *probe)
{
	for (unsigned i = 0; i < slot_count(probe->slots); i++)
		if (probe->slots[i]->kind == TNF_TAG_TEXT || probe->slots[i]->kind == TNF_TAG_BLOB)
			put_type(probe->slots[i]);
}

/* Sets the probe's index.  false: the definition could not be written. */
bool
tnf_define_probe(struct tnf_probe_control *probe)
{
	if (!define_begin())
		return false;
	if (probe->index != 0)		/* another thread was faster */
		return tnf_tag_end(NULL);
	fresh_index = 0;
	if (__atomic_load_n(&tnf_ext(tnf_file())->attached, __ATOMIC_RELAXED) > 1)
		fresh_index = adopt_probe(probe);
	put_long_types(probe);
	if (fresh_index == 0)
		fresh_probe_ref = put_probe(probe);
	fresh_probe = probe;
	return tnf_tag_end(define_remember);
}
