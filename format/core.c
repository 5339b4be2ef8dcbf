/*
 * core.c - what core.h's table of types (TNF_CORE_TYPES) means, as C data.
 */
#include <string.h>

#include "format/core.h"

#define ROW_A(id)	{ "tnf_" #id, TNF_CORE_type, 0, 0 },
#define ROW_S(id, s)	{ "tnf_" #id, TNF_CORE_scalar_type, 0, s },
#define ROW_D(id, b)	{ "tnf_" #id, TNF_CORE_derived_type, TNF_CORE_##b, 0 },
#define ROW_R(id, e)	{ "tnf_" #id, TNF_CORE_array_type, TNF_CORE_##e, 0 },
#define ROW_T(id, s)	{ "tnf_" #id, TNF_CORE_struct_type, 0, s },

const struct tnf_core_type tnf_core_types[TNF_CORE_COUNT] = {
	TNF_CORE_TYPES(ROW_A, ROW_S, ROW_D, ROW_R, ROW_T)
};

#define ID(id)	TNF_CORE_##id
#define META3	ID(tag), ID(name), ID(properties)
#define U32	ID(uint32)

static const struct tnf_core_slots core_structs[] = {
	{ ID(type), 3, { META3 }, { NULL } },
	{ ID(scalar_type), 5, { META3, ID(type_size), ID(align) }, { NULL } },
	{ ID(derived_type), 4, { META3, ID(derived_base) }, { NULL } },
	{ ID(array_type), 6, { META3, ID(slot_types), ID(header_size),
	    ID(element_type) }, { NULL } },
	{ ID(struct_type), 6, { META3, ID(slot_types), ID(type_size),
	    ID(slot_names) }, { NULL } },
	{ ID(probe_type), 7, { META3, ID(slot_types), ID(type_size),
	    ID(slot_names), ID(string) }, { NULL } },
	{ ID(struct), 0, { 0 }, { NULL } },
	{ ID(file_header), 9, { ID(tag), U32, U32, U32, U32, U32, U32, U32, U32 },
	    { "tnf_tag", "file_version", "file_header_size", "file_logical_size",
	    "block_header_size", "block_size", "directory_size", "block_count",
	    "blocks_valid" } },
	{ ID(block_header), 6, { ID(tag), U32, ID(uint16), ID(uint8), ID(uint8),
	    ID(opaque) }, { "tnf_tag", "generation", "bytes_valid", "A_lock",
	    "B_lock", "next_block" } },
	{ ID(sched_rec), 5, { ID(tag), U32, ID(lwpid), ID(pid), ID(time_base) },
	    { "tnf_tag", "tid", "lwpid", "pid", "time_base" } },
	{ ID(kernel_schedule), 6, { ID(tag), ID(kthread_id), ID(lwpid), ID(pid),
	    ID(time_base), ID(cpuid) }, { "tnf_tag", "tid", "lwpid", "pid",
	    "time_base", "cpuid" } },
};

enum tnf_core
tnf_core_find(const char *name)
{
	for (unsigned i = TNF_CORE_type_none + 1; i < TNF_CORE_COUNT; i++)
		if (strcmp(tnf_core_types[i].name, name) == 0)
			return i;
	return TNF_CORE_type_none;
}

const struct tnf_core_slots *
tnf_core_slots(enum tnf_core i)
{
	const struct tnf_core_slots *s = core_structs;

	while (s->type != i)
		s++;
	return s;
}

uint32_t
tnf_core_slot_size(enum tnf_core i)
{
	while (tnf_core_types[i].meta == TNF_CORE_derived_type)
		i = tnf_core_types[i].base;
	return tnf_core_types[i].meta == TNF_CORE_scalar_type ?
	    tnf_core_types[i].size : 4;
}
