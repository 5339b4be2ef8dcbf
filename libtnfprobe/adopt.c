/*
 * adopt.c - finds a definition that another process has written.
 *
 * Parent and children share the file.  A server that forks for each client
 * would fill it with definitions of the same probes if each child wrote its
 * own.  So it first looks through the directory for what it needs.
 *
 * What stands in the file was written by others: nothing is used without a
 * look at its bounds, and all we take from it is the place of a record.
 */
#include <string.h>

#include "libtnfprobe/internal.h"

#define DEPTH	16	/* of records in records */

/* The record that a reference leads to, with at least 'size' bytes; or NULL. */
static const uint32_t *
adopt_follow(uint32_t ref, uint32_t size)
{
	uint32_t at = ref & ~(TNF_REF32_PERMANENT | TNF_REF32_T_MASK);

	if ((ref & TNF_REF32_PERMANENT) == 0 || at < TAG_START ||
	    at > tnf_file()->size - size)
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
	return r != NULL && memcmp(r + 2, text, len) == 0 &&
	    ((const char *)(r + 2))[len] == '\0';
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
    const uint32_t *cells, unsigned depth);

static void
adopt_record(const struct tnf_tag_data *data, uint32_t ref, unsigned depth)
{
	const uint32_t *r = adopt_follow(ref, 24), *cells;
	unsigned n;

	if (r == NULL || r[4] != data->size || !is_text(r[1], data->name,
	    strlen(data->name), TNF_NAME_MAX))
		return;
	__atomic_store_n((uint32_t *)(uintptr_t)&data->index,
	    ref & ~TNF_REF32_PERMANENT, __ATOMIC_RELEASE);
	n = tnf_slot_count(data->slots);
	cells = adopt_array(r[3], n + 1);
	if (cells != NULL && depth < DEPTH)
		adopt_types(data->slots, n, cells + 1, depth + 1);
}

static void
adopt_types(const struct tnf_tag_data *const *slots, unsigned n,
    const uint32_t *cells, unsigned depth)
{
	for (unsigned i = 0; i < n; i++)
		if (slots[i]->kind == TNF_TAG_RECORD && slots[i]->index == 0)
			adopt_record(slots[i], cells[i], depth);
}

/* Probes made at run time may differ in the types of their arguments alone. */
static bool
same_types(const struct tnf_tag_data *const *slots, unsigned n,
    const uint32_t *cells)
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

static bool
is_probe(const uint32_t *r, const struct tnf_probe_control *probe, unsigned n)
{
	size_t len = 0;
	const char *s = tnf_attribute(probe->attrs, "keys", &len);

	if (r[4] != probe->event_size || s == NULL)
		return false;
	s -= sizeof("keys ") - 1;
	if (!is_text(r[6], s, strlen(s), TNF_STRING_MAX))
		return false;
	s = tnf_attribute(probe->attrs, "name", &len);
	return s != NULL && is_text(r[1], s, len, TNF_NAME_MAX) &&
	    same_names(probe->attrs, r[5], n);
}

/* The directory word of the probe, if another process has one; 0. */
uint32_t
tnf_adopt_probe(const struct tnf_probe_control *probe)
{
	unsigned n = tnf_slot_count(probe->slots);
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
		adopt_types(probe->slots, n, cells + 2, 0);
		return at;
	}
	return 0;
}
