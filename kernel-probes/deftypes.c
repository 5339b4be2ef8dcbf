/*
 * deftypes.c - the types that kernel events are made of.
 */
#include <stddef.h>
#include <string.h>

#include "kernel-probes/deftypes.h"
#include "kernel-probes/record.h"

#define T3	"tnf_tag tnf_name tnf_properties"

#define ABSTRACT(n)		{ n, META_TYPE, NULL, NULL, 0, 0, NULL }
#define SCALAR(n, s)		{ n, META_SCALAR, "tnf_inline tnf_scalar", NULL, s, s, NULL }
#define DERIVED(n, b)		{ n, META_DERIVED, "tnf_derived", b, 0, 0, NULL }
#define ARRAY(n, e)		{ n, META_ARRAY, "tnf_array tnf_tagged", e, 0, 0, \
				    "tnf_tag tnf_self_size" }
#define STRUCT(n, s, slots)	{ n, META_STRUCT, "tnf_tagged tnf_struct", NULL, s, 0, slots }
#define METATYPE(n, s, slots)	{ n, META_STRUCT, "tnf_tagged tnf_struct tnf_type", NULL, s, 0, slots }

static const struct kp_type types[] = {
	/* types of types */
	METATYPE("tnf_type", 12, T3),
	METATYPE("tnf_scalar_type", 20, T3 " tnf_type_size tnf_align"),
	METATYPE("tnf_derived_type", 16, T3 " tnf_derived_base"),
	METATYPE("tnf_array_type", 24, T3
	    " tnf_slot_types tnf_header_size tnf_element_type"),
	METATYPE("tnf_struct_type", 24, T3
	    " tnf_slot_types tnf_type_size tnf_slot_names"),
	METATYPE("tnf_probe_type", 28, T3
	    " tnf_slot_types tnf_type_size tnf_slot_names tnf_string"),
	/* properties */
	ABSTRACT("tnf_inline"),
	ABSTRACT("tnf_tagged"),
	{ "tnf_scalar", META_SCALAR, "tnf_inline tnf_scalar", NULL, 0, 0, NULL },
	{ "tnf_derived", META_DERIVED, "tnf_derived", NULL, 0, 0, NULL },
	{ "tnf_array", META_ARRAY, "tnf_array", NULL, 0, 0, "" },
	{ "tnf_struct", META_STRUCT, "", NULL, 0, 0, "" },
	{ "tnf_tag_arg", META_DERIVED, "tnf_derived", "tnf_tagged", 0, 0, NULL },
	/* scalars */
	SCALAR("tnf_char", 1),
	SCALAR("tnf_int8", 1),
	SCALAR("tnf_uint8", 1),
	SCALAR("tnf_int16", 2),
	SCALAR("tnf_uint16", 2),
	SCALAR("tnf_int32", 4),
	SCALAR("tnf_uint32", 4),
	SCALAR("tnf_int64", 8),
	SCALAR("tnf_uint64", 8),
	/* arrays */
	ARRAY("tnf_string", "tnf_char"),
	ARRAY("tnf_type_array", "tnf_type"),
	ARRAY("tnf_name_array", "tnf_name"),
	ARRAY("tnf_symbols", "tnf_symbol"),
	ARRAY("tnf_int8_array", "tnf_int8"),
	ARRAY("tnf_uint8_array", "tnf_uint8"),
	ARRAY("tnf_int16_array", "tnf_int16"),
	ARRAY("tnf_uint16_array", "tnf_uint16"),
	ARRAY("tnf_int32_array", "tnf_int32"),
	ARRAY("tnf_uint32_array", "tnf_uint32"),
	ARRAY("tnf_int64_array", "tnf_int64"),
	ARRAY("tnf_uint64_array", "tnf_uint64"),
	/* members of type records */
	DERIVED("tnf_tag", "tnf_type"),
	DERIVED("tnf_name", "tnf_string"),
	DERIVED("tnf_properties", "tnf_type_array"),
	DERIVED("tnf_slot_types", "tnf_type_array"),
	DERIVED("tnf_slot_names", "tnf_name_array"),
	DERIVED("tnf_type_size", "tnf_uint32"),
	DERIVED("tnf_align", "tnf_uint32"),
	DERIVED("tnf_header_size", "tnf_uint32"),
	DERIVED("tnf_self_size", "tnf_uint32"),
	DERIVED("tnf_derived_base", "tnf_type"),
	DERIVED("tnf_element_type", "tnf_type"),
	/* members of events */
	{ "tnf_probe_event", META_DERIVED, "tnf_derived tnf_tag_arg", "tnf_tag", 0, 0, NULL },
	DERIVED("tnf_time_base", "tnf_int64"),
	DERIVED("tnf_time_delta", "tnf_uint32"),
	DERIVED("tnf_opaque", "tnf_uint64"),
	DERIVED("tnf_kthread_id", "tnf_opaque"),
	DERIVED("tnf_symbol", "tnf_opaque"),
	DERIVED("tnf_pid", "tnf_int32"),
	DERIVED("tnf_lwpid", "tnf_uint32"),
	DERIVED("tnf_cpuid", "tnf_int32"),
	DERIVED("tnf_sysnum", "tnf_int16"),
	DERIVED("tnf_microstate", "tnf_int32"),
	DERIVED("tnf_fault_type", "tnf_int32"),
	DERIVED("tnf_seg_access", "tnf_int32"),
	DERIVED("tnf_bioflags", "tnf_int32"),
	DERIVED("tnf_offset", "tnf_int64"),
	DERIVED("tnf_diskaddr", "tnf_int64"),
	DERIVED("tnf_size", "tnf_uint64"),
	DERIVED("tnf_device", "tnf_uint64"),
	/* records of the file itself */
	STRUCT("tnf_file_header", 36, "tnf_tag tnf_uint32:file_version"
	    " tnf_uint32:file_header_size tnf_uint32:file_logical_size"
	    " tnf_uint32:block_header_size tnf_uint32:block_size"
	    " tnf_uint32:directory_size tnf_uint32:block_count"
	    " tnf_uint32:blocks_valid"),
	STRUCT("tnf_block_header", 24, "tnf_tag tnf_uint32:generation"
	    " tnf_uint16:bytes_valid tnf_uint8:A_lock tnf_uint8:B_lock"
	    " tnf_opaque:next_block"),
	STRUCT("tnf_kernel_schedule", 40, "tnf_tag tnf_kthread_id:tid"
	    " tnf_lwpid:lwpid tnf_pid:pid tnf_time_base:time_base"
	    " tnf_cpuid:cpuid"),
};

#define NTYPES	(sizeof types / sizeof *types)
_Static_assert(NTYPES <= KP_TYPES_MAX, "kp_defs_write()");
_Static_assert(KP_TYPES_MAX == sizeof ((struct kp_shared *)0)->type / sizeof(uint32_t),
    "record.h");

/* C's long: the catalogue's name, and the type in a file of this machine. */
static const char *
file_name(const char *name)
{
	if (strcmp(name, "tnf_long") == 0)
		return "tnf_int64";
	if (strcmp(name, "tnf_ulong") == 0)
		return "tnf_uint64";
	return name;
}

const struct kp_type *
kp_type_find(const char *name, unsigned *index)
{
	name = file_name(name);
	for (unsigned i = 0; i < NTYPES; i++)
		if (strcmp(types[i].name, name) == 0) {
			*index = i;
			return &types[i];
		}
	return NULL;
}
