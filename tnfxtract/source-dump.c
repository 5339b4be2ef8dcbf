/*
 * source-dump.c - reads a buffer from the memory image of a crashed machine, and restores
 * definitions that the image lacks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core.h"
#include "kernel-probes/defs.h"
#include "tnfxtract/source.h"

#define KCORE	"/proc/kcore"		/* this machine's memory */

/* The list's address of the kernel's first symbol of text; 0: none. */
static uint64_t
stext_of_list(const char *name, bool *readable)
{
	char line[1024], symbol[1024], type;
	unsigned long long addr;
	uint64_t found = 0;
	FILE *f = fopen(name, "re");

	*readable = f != NULL;
	if (f == NULL)
		return 0;
	while (found == 0 && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%llx %c %1023s", &addr, &type, symbol) == 3 &&
		    strcmp(symbol, "_stext") == 0)
			found = addr;
	fclose(f);
	return found;
}

static bool
open_list(struct source *s, const char *list)
{
	bool readable;
	uint64_t stext = stext_of_list(list, &readable);

	if (!readable) {
		perror(list);
		return false;
	}
	if (stext == 0) {
		complain("Symbol lookup error in %s: no _stext: give a copy of "
		    "the machine's /proc/kallsyms or the System.map of its kernel's "
		    "debug package, or leave out -n", list);
		return false;
	}
	s->symbols = list;
	s->shift = s->image.stext != 0 ? s->image.stext - stext : 0;
	return true;
}

static bool
open_image(struct source *s, const char *dump)
{
	int e = image_open(&s->image, dump);

	if (e == ENOEXEC)
		complain("%s: compressed dump, which cannot be read here: have "
		    "kdump write ELF, with makedumpfile -E instead of -c, -l or -p "
		    "(MAKEDUMP_ARGS in /etc/default/kdump-tools)", dump);
	else if (e == ELIBACC)
		complain("%s: compressed dump: libkdumpfile.so.10 is needed to read "
		    "it: install the package libkdumpfile10", dump);
	else if (e == EINVAL)
		complain("kvm_read error in %s: neither a 64-bit ELF core, nor a "
		    "compressed dump, nor raw memory; or it is damaged", dump);
	else if (e != 0 && strcmp(dump, KCORE) == 0)
		complain("%s: %s: run as root, on a kernel that has CONFIG_PROC_KCORE and "
		    "is not locked down", dump, strerror(e));
	else if (e != 0)
		complain("%s: %s", dump, strerror(e));
	return e == 0;
}

/* Reads VMCOREINFO from a page of the kernel, if the note is not found: the kernel keeps
   the same lines there, and adds the time when it crashes. */
static void
read_info(struct source *s)
{
	char page[IMAGE_PAGE + 1];

	if (s->search.info == 0 || (s->image.stext != 0 && s->image.crashed != 0 &&
	    s->image.info != NULL) || image_read(&s->image, page, IMAGE_PAGE, s->search.info) != (ssize_t)IMAGE_PAGE)
		return;
	page[IMAGE_PAGE] = '\0';
	image_note(&s->image, page, IMAGE_PAGE);
}

bool
source_open_dump(struct source *s, const char *dump, const char *list)
{
	memset(s, 0, sizeof *s);
	s->image.fd = -1;
	s->dump = dump;
	if (!open_image(s, dump))
		return false;
	int e = image_search(&s->image, &s->search);
	if (e != 0) {
		complain("kvm_read error in %s: %s", dump, strerror(e));
		return false;
	}
	read_info(s);
	if (image_apart_damaged(&s->image) != 0)
		complain("%s: damaged: at %u places or more it cannot be read: what was there is "
		    "missing", dump, image_apart_damaged(&s->image));
	return list == NULL || open_list(s, list);
}

bool
source_open_previous(struct source *s)
{
	if (!source_open_dump(s, KCORE, NULL))
		return false;
	s->previous = true;
	if (!tnf_boot_id(s->boot_id)) {
		complain("/proc/sys/kernel/random/boot_id: cannot be read: what is of "
		    "this boot cannot be told from what is older");
		return false;
	}
	return true;
}

bool
source_find_buffer(struct source *s)
{
	int e = image_find_buffer(&s->image, &s->search, s->previous ? s->boot_id : NULL,
	    &s->found);

	if ((e == 0 || e == ENODATA) && source_restore_definitions(s))
		e = 0;
	if (e == ENOENT && s->previous)
		complain("no kernel buffer of an earlier boot is in memory: the firmware "
		    "has cleared it, or there was none");
	else if (e == ENOENT)
		fprintf(stderr, "No trace data available in the kernel.\n");
	else if (e == ENODATA)
		complain("%s: the buffer's definitions are not in the image",
		    s->dump);
	else if (e != 0)
		complain("kvm_read error in %s: %s", s->dump, strerror(e));
	if (e != 0)
		return false;
	if (s->found.missing != 0)
		complain("%s: %u of %zu blocks are not in the image: their "
		    "events are missing", s->dump, s->found.missing,
		    s->found.size / 4096);
	s->base = s->found.base;
	s->size = s->found.size;
	return true;
}

/*
 * Every buffer of one release begins with the same directory and the same definitions of
 * the kernel's own probes.  These can be restored if a part of them, or their sum, is in
 * the image and shows that it is of the same release.  Definitions of imported probes
 * cannot.
 */
#define FIRST	(KP_DIRECTORY / KP_BLOCK_SIZE)
#define END	(KP_DATA / KP_BLOCK_SIZE)
#define TAGS	(KP_TAGS / KP_BLOCK_SIZE)

/* The number of bytes of the block that are the same in every buffer; 0: none. */
static size_t
fixed(const char *own, unsigned block)
{
	struct tnf_block_header h;

	if (block < TAGS)
		return block == FIRST ? KP_IMPORT_AT(0) - KP_DIRECTORY : 0;
	memcpy(&h, own + block * KP_BLOCK_SIZE, sizeof h);
	return h.generation == TNF_GENERATION_TAG && h.bytes_valid <= KP_BLOCK_SIZE ?
	    h.bytes_valid : 0;
}

/* Where these bytes begin: they exclude the block's header, which counts later additions. */
static size_t
fixed_from(unsigned block)
{
	return block < TAGS ? 0 : KP_BLOCK_HEADER;
}

/* True if the block has data of imported probes, which cannot be restored: words of the
   directory up to its cursor, or definitions after the kernel's own. */
static bool
has_imported(const struct image_buffer *b, const struct kp_defs *defs, unsigned block)
{
	struct tnf_ext ext;

	memcpy(&ext, (const char *)b->base + TNF_EXT_OFFSET, sizeof ext);
	return ext.dir_cursor > KP_IMPORT_AT(0) && (block < TAGS ?
	    ext.dir_cursor > block * KP_BLOCK_SIZE : (block + 1) * KP_BLOCK_SIZE > defs->next);
}

/* True if blocks are missing, and those that are there, or the sum of all, equal those of
   this release. */
static bool
lacks_ours(const struct image_buffer *b, const char *own, const struct kp_defs *defs)
{
	const char *base = b->base;
	unsigned there = 0, lacking = 0;

	for (unsigned i = FIRST; i < END; i++) {
		size_t n = fixed(own, i), from = fixed_from(i);

		if ((b->first & 1u << i) == 0)
			lacking += n > from || (i < TAGS && has_imported(b, defs, i));
		else if (n <= from)
			continue;
		else if (memcmp(base + i * KP_BLOCK_SIZE + from, own + i * KP_BLOCK_SIZE + from,
		    n - from) == 0)
			there++;
		else
			return false;
	}
	return (there > 0 || b->definitions == defs->sum) && lacking > 0;
}

/* Puts in this release's blocks, which have no cookie.  Returns in how many of the blocks
   something is lost; these still count as missing. */
static unsigned
put_own(struct image_buffer *b, const char *own, const struct kp_defs *defs)
{
	char *base = b->base;
	unsigned lost = 0;

	for (unsigned i = FIRST; i < END; i++) {
		if ((b->first & 1u << i) != 0)
			continue;
		memcpy(base + i * KP_BLOCK_SIZE, own + i * KP_BLOCK_SIZE, KP_BLOCK_SIZE);
		b->first |= 1u << i;
		if (has_imported(b, defs, i))
			lost++;
		else
			b->missing--;
	}
	return lost;
}

/* Makes the first KP_DATA bytes of a buffer of the size that the image claims, without
   memory for the rest.  NULL: this failed; the caller frees the result. */
static char *
own_definitions(size_t size, struct kp_defs *defs)
{
	char *own = calloc(1, KP_DATA);

	if (own == NULL || kp_defs_write(own, KP_DATA, 0, defs) != 0) {
		free(own);
		return NULL;
	}
	tnf_header_set((void *)own, KP_BLOCK_SIZE, KP_TAGS, size);
	return own;
}

static bool
all_there(const struct image_buffer *b)
{
	uint32_t all = (1u << END) - (1u << FIRST);

	return (b->first & all) == all;
}

bool
source_restore_definitions(struct source *s)
{
	struct image_buffer *b = &s->found;
	struct kp_defs defs;
	bool ok = false;

	if (b->base == NULL || b->size < KP_DATA || all_there(b))
		return false;
	char *own = own_definitions(b->size, &defs);
	if (own != NULL &&
	    memcmp(b->base, own, offsetof(struct tnf_file_header, blocks_valid)) == 0 &&
	    lacks_ours(b, own, &defs)) {
		unsigned lost = put_own(b, own, &defs);
		complain("%s: definitions of probes are not in the image: they were taken "
		    "from this release, whose others are the same", s->dump);
		if (lost > 0)
			complain("%s: definitions of imported probes, if there were any, are "
			    "lost: their events cannot be read, nor those behind them in a "
			    "block", s->dump);
		ok = true;
	}
	free(own);
	return ok;
}
