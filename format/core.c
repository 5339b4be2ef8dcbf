/*
 * core.c - what core.h's table of types (TNF_CORE_TYPES) means, as C data; and the header
 * of a file.
 */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	{ ID(sched_rec), 6, { ID(tag), U32, ID(lwpid), ID(pid), ID(time_base), ID(cpuid) },
	    { "tnf_tag", "tid", "lwpid", "pid", "time_base", "cpuid" } },
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

/* The header of a file is also written at the first hit of a probe: nothing from here on
   allocates. */
void
tnf_header_set(struct tnf_file_header *h, uint32_t block_size,
    uint32_t directory_end, uint64_t size)
{
	h->tag = TNF_HEADER_TAG(block_size);
	h->file_version = TNF_FILE_VERSION;
	h->file_header_size = TNF_FILE_HEADER_SIZE;
	h->block_header_size = sizeof(struct tnf_block_header);
	h->block_size = block_size;
	h->directory_size = directory_end;
	h->block_count = (uint32_t)(size / block_size);
	for (h->file_logical_size = 0; 1ull << h->file_logical_size < size;)
		h->file_logical_size++;
}

static int64_t
header_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int
header_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
tnf_boot_id(uint8_t ret[TNF_BOOT_ID_SIZE])
{
	char text[64];
	ssize_t len, i;
	int n = 0, fd;

	memset(ret, 0, TNF_BOOT_ID_SIZE);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	len = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < len && n < 2 * TNF_BOOT_ID_SIZE; i++)
		if (header_hex(text[i]) >= 0) {
			ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | header_hex(text[i]));
			n++;
		}
	return n == 2 * TNF_BOOT_ID_SIZE;
}

void
tnf_boot_id_text(const uint8_t id[TNF_BOOT_ID_SIZE], char ret[TNF_BOOT_ID_TEXT])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned i = 0; i < TNF_BOOT_ID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*ret++ = '-';
		*ret++ = hex[id[i] >> 4];
		*ret++ = hex[id[i] & 15];
	}
	*ret = '\0';
}

void
tnf_ext_begin(struct tnf_ext *x, enum tnf_ext_kind kind)
{
	x->size = sizeof(*x);
	x->kind = kind;
	x->start_mono = header_clock(CLOCK_MONOTONIC);
	x->start_wall = header_clock(CLOCK_REALTIME);
	tnf_boot_id(x->boot_id);
}
