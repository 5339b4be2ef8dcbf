/*
 * tracefs.c - reads the kernel's descriptions of its tracepoints, which are text.
 */
#include <sys/mount.h>

#include "kernel-probes/handle.h"

static const char *const places[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing"
};
static const char *place = "/sys/kernel/tracing";

const char *
kp_tracefs_dir(void)
{
	return place;
}

int
kp_tracefs_find(struct kp *kp)
{
	char path[64];

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/available_events", places[i]);
		if (access(path, F_OK) == 0) {
			place = places[i];
			return 0;
		}
		if (errno == EACCES)
			return kp_fail(kp, -EACCES, "%s: no permission: needs "
			    "CAP_DAC_READ_SEARCH (or root)", places[i]);
	}
	if (mount("tracefs", places[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    "mode=0700") == -1)
		return kp_fail(kp, -ENOENT, "%s: no tracefs: mount -t tracefs tracefs %s "
		    "as root", places[0], places[0]);
	place = places[0];
	return 0;
}

int
kp_tracefs_read(struct kp *kp, const char *path, char **ret)
{
	char full[256];
	autoclose int fd = -1;
	int e;

	snprintf(full, sizeof full, "%s/%s", place, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return kp_fail(kp, -errno, "%s: %s", full, strerror(errno));
	e = tnf_read_all(fd, ret, NULL);
	return e == 0 ? 0 : kp_fail(kp, -e, "%s: %s", full,
	    e == ENOMEM ? "not enough memory" : strerror(e));
}

const char *
kp_number_type(bool array, uint32_t size, bool is_signed)
{
	static const char *const types[][4][2] = {
		{ { "tnf_uint8", "tnf_int8" }, { "tnf_uint16", "tnf_int16" },
		  { "tnf_uint32", "tnf_int32" }, { "tnf_uint64", "tnf_int64" } },
		{ { "tnf_uint8_array", "tnf_int8_array" },
		  { "tnf_uint16_array", "tnf_int16_array" },
		  { "tnf_uint32_array", "tnf_int32_array" },
		  { "tnf_uint64_array", "tnf_int64_array" } },
	};

	return types[array][size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0][is_signed];
}

static bool
has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	const char *p = text;

	for (; (p = strstr(p, word)) != NULL; p += n)
		if ((p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
		    !(isalnum((unsigned char)p[n]) || p[n] == '_'))
			return true;
	return false;
}

/* The bytes of one element of an array, from its declared type: the format file gives no
   size of an element where the array's length varies.  An unknown type counts as 1. */
static uint32_t
element_size(const char *decl)
{
	static const struct {
		const char *word;
		uint32_t    size;
	} sizes[] = {
		{ "char", 1 }, { "u8", 1 }, { "__u8", 1 }, { "s8", 1 }, { "uint8_t", 1 },
		{ "short", 2 }, { "u16", 2 }, { "__u16", 2 }, { "s16", 2 }, { "__le16", 2 },
		{ "u32", 4 }, { "__u32", 4 }, { "s32", 4 }, { "uint32_t", 4 }, { "__le32", 4 },
		{ "long", 8 }, { "u64", 8 }, { "__u64", 8 }, { "s64", 8 }, { "uint64_t", 8 },
		{ "cpumask_t", 8 }, { "size_t", 8 }, { "int", 4 }, { "unsigned", 4 },
	};

	if (strchr(decl, '*') != NULL)
		return 8;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (has_word(decl, sizes[i].word))
			return sizes[i].size;
	return 1;
}

static bool
is_text(const char *decl)
{
	return has_word(decl, "char") && !has_word(decl, "unsigned") &&
	    strchr(decl, '*') == NULL;
}

/* Decides which member a field becomes.  'decl' is its declaration without the name, 'count'
   its number of elements (0: no array, -1: as the record says). */
static void
tracefs_decide(struct tracefs_field *f, const char *decl, int count, bool is_signed)
{
	bool loc = strstr(decl, "__data_loc") != NULL;
	bool rel = strstr(decl, "__rel_loc") != NULL;
	bool array = loc || rel || count != 0 ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8);
	uint32_t element = count > 0 && !loc && !rel ? f->size / (uint32_t)count :
	    element_size(decl);

	if (!array) {
		f->how = KP_OP_COPY;
		f->type = f->size == 8 && strchr(decl, '*') != NULL ? "tnf_opaque" :
		    kp_number_type(false, f->size, is_signed);
		return;
	}
	if (element != 1 && element != 2 && element != 4 && element != 8)
		element = 1;
	if (is_text(decl)) {
		f->how = rel ? KP_OP_REL_STRING : loc ? KP_OP_LOC_STRING : KP_OP_STRING;
		f->type = "tnf_string";
	} else {
		f->how = rel ? KP_OP_REL_ARRAY : loc ? KP_OP_LOC_ARRAY : KP_OP_ARRAY;
		f->type = kp_number_type(true, element, is_signed);
	}
	if (f->size > KP_TEXT_MAX && !is_text(decl))
		f->size = KP_TEXT_MAX;
}

/* "char comm[16]", "__data_loc char[] name": separates type, name and count. */
static int
split_declaration(char *decl, struct tracefs_field *f)
{
	size_t n = strlen(decl);
	char *bracket, *name;
	int count = 0;

	if (n > 0 && decl[n - 1] == ']' && (bracket = strrchr(decl, '[')) != NULL) {
		count = atoi(bracket + 1);
		if (count == 0)
			count = -1;
		*bracket = '\0';
		n = strlen(decl);
	}
	while (n > 0 && decl[n - 1] == ' ')
		decl[--n] = '\0';
	name = decl + n;
	while (name > decl && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	snprintf(f->name, sizeof f->name, "%s", name);
	*name = '\0';
	return count;
}

const char *
kp_tracefs_next_field(const char *format, struct tracefs_field *ret)
{
	const char *at = strstr(format, "\tfield:"), *end;
	unsigned offset, size, is_signed;
	char decl[256];
	int n;

	if (at == NULL)
		return NULL;
	at += strlen("\tfield:");
	end = strchr(at, ';');
	if (end == NULL || sscanf(end, "; offset:%u; size:%u; signed:%u%n", &offset, &size,
	    &is_signed, &n) != 3)
		return NULL;
	snprintf(decl, sizeof decl, "%.*s", (int)(end - at), at);
	ret->offset = offset;
	ret->size = size;
	tracefs_decide(ret, decl, split_declaration(decl, ret), is_signed != 0);
	return end + n;
}
