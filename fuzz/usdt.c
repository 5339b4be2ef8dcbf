/*
 * usdt.c - fuzzes what libtnfctl reads of USDT probes: the notes of a program, and
 * the strings in them that say where arguments are.
 *
 * The input is an ELF file, or else the contents of a section of notes, and in
 * any case an argument string, too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "libtnfctl/usdt.h"

#define INPUT_MAX	(1u << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
find(void *arg, const char *name, uint64_t *ret)
{
	*ret = name[0];
	return name[0] < 'n';
}

/* BPF believes what is in the table. */
static void
judge(const struct kp_operand *v, unsigned n)
{
	if (n > KP_OPERANDS_MAX)
		abort();
	for (unsigned i = 0; i < n; i++)
		if (v[i].kind > KP_OPERAND_UNREADABLE || v[i].sign > 1 ||
		    (v[i].size != 1 && v[i].size != 2 && v[i].size != 4 && v[i].size != 8) ||
		    (v[i].scale != 1 && v[i].scale != 2 && v[i].scale != 4 &&
		    v[i].scale != 8) || (v[i].shift != 0 && v[i].shift != 8) ||
		    v[i].base > KP_R_NONE || v[i].index > KP_R_NONE)
			abort();
}

static void
fuzz_args(const char *text)
{
	struct usdt_place places[] = { { 0x1000, true, find, NULL },
	    { 0x1000, false, find, NULL }, { 0, false, NULL, NULL } };
	struct usdt_args args;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (tnfctl_usdt_args_parse(text, &places[i], &args) != (args.why[0] == '\0'))
			abort();
		judge(args.v, args.n);
	}
}

static bool
each_note(void *arg, const struct usdt_note *note)
{
	*(size_t *)arg += strlen(note->provider) + strlen(note->name);
	fuzz_args(note->args);
	return true;
}

static void
fuzz_object(int fd)
{
	struct elffile *e = tnf_elffile_open(fd);
	struct usdt_object o;

	if (e == NULL)
		return;
	if (tnfctl_usdt_object_read(e, &o)) {
		for (size_t i = 0; i < o.n; i++)
			for (size_t s = 0; s < o.v[i].nsites; s++)
				judge(o.v[i].sites[s].v, o.v[i].sites[s].n);
		tnfctl_usdt_object_free(&o);
	}
	tnf_elffile_close(e);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t sum = 0;
	char *text;
	int fd;

	if (size > INPUT_MAX)
		return 0;
	if ((text = malloc(size + 1)) == NULL || (size > 0 && data == NULL))
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_args(text);
	tnfctl_usdt_notes_read((const uint8_t *)text, size, each_note, &sum);
	free(text);
	fd = memfd_create("object", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	fuzz_object(fd);
	close(fd);
	return 0;
}
