/*
 * define.c - definitions of probes and of record types, at the first hit.
 *
 * A record type is known to the file by the 'index' of its tag data, a probe
 * by that of its control block: the offset of its directory word or, when the
 * directory is full, of its probe record.  Both are set when the definition
 * can be read.
 */
#include <string.h>

#include "libtnfprobe/internal.h"
#include "libtnfprobe/type.h"

#define RECORDS_MAX	32	/* record types that come with one definition */
#define SLOTS_MAX	16

/* Record types written in this transaction. */
static struct {
	const struct tnf_tag_data *data;
	uint32_t where;
} fresh[RECORDS_MAX];
static unsigned nfresh;
static struct tnf_probe_control *fresh_probe;
static uint32_t fresh_probe_ref;

unsigned
tnf_slot_count(const struct tnf_tag_data *const *slots)
{
	unsigned n = 0;

	while (slots != NULL && n < SLOTS_MAX && slots[n] != NULL)
		n++;
	return n;
}

static uint32_t put_record(const struct tnf_tag_data *);

static uint32_t
put_type(const struct tnf_tag_data *data)
{
	enum core i;

	if (data->kind == TNF_TAG_RECORD)
		return put_record(data);
	i = tnf_core_find(data->name);
	if (i == CORE_type_none)
		i = CORE_opaque;
	return tnf_core(i);
}

static uint32_t
put_string(enum core type, const char *text)
{
	return tnf_put_text(type, text, strlen(text), TNF_NAME_MAX);
}

/* A struct type with room for 'size' bytes; the caller adds the slots. */
static uint32_t *
put_struct(enum core meta, uint32_t size, const char *name, size_t len,
    uint32_t type_size)
{
	uint32_t *r = tnf_tag_alloc(size);

	r[0] = tnf_core_tag(meta);
	r[1] = tnf_put_text(CORE_name, name, len, TNF_NAME_MAX);
	r[2] = tnf_put_struct_properties();
	r[4] = type_size;
	return r;
}

static uint32_t
put_record(const struct tnf_tag_data *data)
{
	unsigned i, n = tnf_slot_count(data->slots);
	uint32_t *r, *cells;

	if (data->index != 0)
		return PERMANENT(data->index);
	for (i = 0; i < nfresh; i++)
		if (fresh[i].data == data)
			return fresh[i].where;
	if (nfresh == RECORDS_MAX) {
		tnf_tag_fail();
		return 0;
	}
	r = put_struct(CORE_struct_type, 24, data->name, strlen(data->name),
	    data->size);
	fresh[nfresh].data = data;
	fresh[nfresh++].where = PERMANENT(tnf_tag_offset(r));
	r[3] = tnf_put_array(CORE_slot_types, n + 1, &cells);
	cells[0] = tnf_core(CORE_tag);
	for (i = 0; i < n; i++)
		cells[i + 1] = put_type(data->slots[i]);
	r[5] = tnf_put_array(CORE_slot_names, n + 1, &cells);
	cells[0] = put_string(CORE_string, "tnf_tag");
	for (i = 0; i < n; i++)
		cells[i + 1] = put_string(CORE_string, data->slot_names[i]);
	return PERMANENT(tnf_tag_offset(r));
}

static bool
begin(void)
{
	if (!tnf_tag_begin()) {
		if (tnf_p.later == NULL)
			tnf_lost(TNF_LOST_BUSY);
		return false;
	}
	nfresh = 0;
	fresh_probe = NULL;
	return true;
}

/* A word of the directory that forwards to the probe; 0: there is none left. */
static uint32_t
directory_word(uint32_t ref)
{
	const struct file *f = tnf_file();
	uint32_t at;

	at = __atomic_fetch_add(&tnf_ext(f)->dir_cursor, 4, __ATOMIC_RELAXED);
	if (at >= DIRECTORY_SIZE || at < BLOCK_SIZE + TNF_DIR_FIRST_PROBE ||
	    at % 4 != 0) {
		__atomic_fetch_sub(&tnf_ext(f)->dir_cursor, 4,
		    __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_store_n((uint32_t *)(void *)(f->base + at), ref,
	    __ATOMIC_RELEASE);
	return at;
}

/* Called at the end of a transaction, under its lock. */
static void
remember(void)
{
	struct tnf_tag_data *data;
	uint32_t index;
	unsigned i;

	for (i = 0; i < nfresh; i++) {
		data = (struct tnf_tag_data *)(uintptr_t)fresh[i].data;
		__atomic_store_n(&data->index,
		    fresh[i].where & ~TNF_REF32_PERMANENT, __ATOMIC_RELEASE);
	}
	if (fresh_probe != NULL) {
		index = directory_word(fresh_probe_ref);
		if (index == 0)
			index = fresh_probe_ref & ~TNF_REF32_PERMANENT;
		__atomic_store_n(&fresh_probe->index, index, __ATOMIC_RELEASE);
	}
}

/* The offset of the type's record; 0: it could not be written. */
uint32_t
tnf_define_record(const struct tnf_tag_data *data)
{
	if (data->version != TNF_PROBE_ABI || !begin())
		return 0;
	put_record(data);
	if (!tnf_tag_end(remember))
		return 0;
	return __atomic_load_n(&data->index, __ATOMIC_ACQUIRE);
}

static void
put_slot_names(uint32_t *r, const char *attrs, unsigned n)
{
	size_t len = 0;
	const char *s;
	uint32_t *cells;
	unsigned i;

	r[5] = tnf_put_array(CORE_slot_names, n + 2, &cells);
	cells[0] = put_string(CORE_string, "tnf_tag");
	cells[1] = put_string(CORE_string, "time_delta");
	s = tnf_attribute(attrs, "slots", &len);
	for (i = 0; i < n; i++) {
		len = s == NULL ? 0 : strcspn(s, " ;");
		cells[i + 2] = tnf_put_text(CORE_string, s, len, TNF_NAME_MAX);
		if (s != NULL && s[len] == ' ')
			s += len + 1;
	}
}

static uint32_t
put_probe(const struct tnf_probe_control *probe)
{
	unsigned i, n = tnf_slot_count(probe->slots);
	const char *name, *keys;
	size_t len = 0;
	uint32_t *r, *cells;

	name = tnf_attribute(probe->attrs, "name", &len);
	r = put_struct(CORE_probe_type, 28, name, len, probe->event_size);
	r[3] = tnf_put_array(CORE_slot_types, n + 2, &cells);
	cells[0] = tnf_core(CORE_probe_event);
	cells[1] = tnf_core(CORE_time_delta);
	for (i = 0; i < n; i++)
		cells[i + 2] = put_type(probe->slots[i]);
	put_slot_names(r, probe->attrs, n);
	keys = tnf_attribute(probe->attrs, "keys", &len);
	if (keys != NULL) {
		keys -= sizeof("keys ") - 1;
		r[6] = tnf_put_text(CORE_string, keys, strlen(keys),
		    TNF_STRING_MAX);
	}
	return PERMANENT(tnf_tag_offset(r));
}

/* Sets the probe's index.  false: it could not be written. */
bool
tnf_define_probe(struct tnf_probe_control *probe)
{
	uint32_t index = 0;

	if (!begin())
		return false;
	if (probe->index != 0)		/* another thread was faster */
		return tnf_tag_end(NULL);
	if (__atomic_load_n(&tnf_ext(tnf_file())->attached, __ATOMIC_RELAXED) > 1)
		index = tnf_adopt_probe(probe);
	if (index != 0) {
		__atomic_store_n(&probe->index, index, __ATOMIC_RELEASE);
	} else {
		fresh_probe_ref = put_probe(probe);
		fresh_probe = probe;
	}
	return tnf_tag_end(remember);
}
