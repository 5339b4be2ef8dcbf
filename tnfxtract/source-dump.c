/*
 * source-dump.c - reads a buffer from the memory image of a crashed machine, restores
 * definitions that the image lacks, and writes trace files of processes from the image to a
 * directory.
 */
#include "common/proc.h"
#include "kernel-probes/catalogue.h"
#include "tnfxtract/source.h"

#define KCORE	"/proc/kcore"		/* this machine's memory */

/* Takes the address of the kernel's first symbol of text. */
static bool
take_stext(void *arg, const struct kallsym *sym)
{
	uint64_t *stext = arg;

	if (sym->length == 6 && memcmp(sym->name, "_stext", 6) == 0)
		*stext = sym->address;
	return *stext == 0;
}

static bool
open_list(struct source *s, const char *list)
{
	uint64_t stext = 0;

	if ((errno = tnf_kallsyms_each(list, take_stext, &stext)) != 0) {
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

/* Reads VMCOREINFO from a page of the kernel, if the note is not found or lacks something: the
   kernel keeps the same lines there, and at a crash adds one with the time. */
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
 * the kernel's own probes.  We restore them if those blocks that the image has equal ours or,
 * if it has none of them, if their sum in the image equals ours: then this release wrote the
 * buffer.  Definitions of imported probes cannot be restored.
 */
#define FIRST	(KP_DIRECTORY / KP_BLOCK_SIZE)
#define END	(KP_DATA / KP_BLOCK_SIZE)
#define TAGS	(KP_TAGS / KP_BLOCK_SIZE)

/* Returns up to which offset the block is the same in every buffer; 0: nothing of it is. */
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

/* True if blocks are missing, no block in the image differs from this release's, and at least
   one block, or the sum of all, equals. */
static bool
lacks_ours(const struct image_buffer *b, const char *own, const struct kp_defs *defs)
{
	const char *base = b->base;
	unsigned there = 0, lacking = 0;

	for (unsigned i = FIRST; i < END; i++) {
		/* Later additions count in a block's header, which is left out. */
		size_t n = fixed(own, i), from = i < TAGS ? 0 : KP_BLOCK_HEADER;

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

/* Copies this release's blocks to where blocks are missing; their cookie is 0.  Returns in how
   many of the blocks something is lost; these still count as missing. */
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
		    "from this release, as those that are in the image are the same here", s->dump);
		if (lost > 0)
			complain("%s: definitions of imported probes, if there were any, are "
			    "lost: their events cannot be read, nor those behind them in a "
			    "block", s->dump);
		ok = true;
	}
	free(own);
	return ok;
}

/* Trace files of processes. */

#define SAME_MAX	1000	/* limit of files for one pid */

struct files {
	const char *directory;
	unsigned    written;
};

/* Opens process-PID.tnf, or process-PID.2.tnf and so on; returns 0 or an errno. */
static int
open_file(const struct files *f, int32_t pid, char *name, size_t size, struct output *out)
{
	struct stat st;

	for (int n = 1; n < SAME_MAX; n++) {
		if (n == 1)
			snprintf(name, size, "%s/process-%d.tnf", f->directory, pid);
		else
			snprintf(name, size, "%s/process-%d.%d.tnf", f->directory, pid, n);
		if (lstat(name, &st) != 0 && errno == ENOENT)
			return output_open(out, name);
	}
	return EEXIST;
}

/* Writes the file; pages that are all zero stay holes. */
static int
put_file(struct output *out, const struct image_file *f)
{
	static const unsigned char zero[4096];
	int e = ftruncate(out->file.fd, (off_t)f->size) != 0 ? errno : 0;

	for (uint64_t at = 0; at < f->size && e == 0; at += sizeof zero) {
		size_t n = f->size - at < sizeof zero ? (size_t)(f->size - at) : sizeof zero;

		if (memcmp(f->base + at, zero, n) != 0)
			e = output_put(out, at, f->base + at, n);
	}
	return e;
}

/* Writes the number of missing blocks into the file's context.  Returns 0 or an errno (of a full
   disk); a file that is cut off gets no context, and 0 is returned. */
static int
put_missing(const struct output *out, const struct image_file *f)
{
	struct context_writer w;
	int e;

	if (f->missing == 0)
		return 0;
	context_begin(&w);
	source_context_missing(&w, f->missing, f->used);
	e = context_append(&w, out->file.fd, 0);
	context_free(&w);
	return e == EINVAL ? 0 : e;	/* EINVAL: the file is cut off */
}

static void
source_files_tell(const struct image_file *f, const char *name)
{
	if (f->undefined != 0)
		complain("%s: %u definitions or blocks of them are not in the image: events "
		    "that need them are missing", name, f->undefined);
	if (f->missing != 0)
		complain("%s: %u of %u blocks are not in the image: their events are "
		    "missing", name, f->missing, f->used);
}

static int
source_files_take(void *arg, const struct image_file *file)
{
	struct files *f = arg;
	struct output out;
	char name[4096];

	memset(&out, 0, sizeof out);
	out.file.fd = out.dir = -1;
	int e = open_file(f, file->pid, name, sizeof name, &out);
	if (e == 0)
		e = put_file(&out, file);
	if (e == 0)
		e = put_missing(&out, file);
	if (e == 0)
		e = output_commit(&out, false);
	output_discard(&out);
	if (e != 0) {
		complain("%s: %s", name, strerror(e));
		return e;
	}
	f->written++;
	source_files_tell(file, name);
	return 0;
}

bool
source_write_files(struct source *s, const char *directory)
{
	struct files f = { .directory = directory };
	int e;

	if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
		complain("%s: %s", directory, strerror(errno));
		return false;
	}
	e = image_find_files(&s->image, &s->search, s->previous ? s->boot_id : NULL, source_files_take, &f);
	if (s->search.left_out != 0)
		complain("%llu pages of trace files were left out: the image has more of them than "
		    "tnfxtract keeps", (unsigned long long)s->search.left_out);
	if (e == 0 && f.written == 0 && s->previous)
		complain("no trace file of an earlier boot's processes is in memory");
	else if (e == 0 && f.written == 0)
		complain("%s: no trace file of a process is in the image: makedumpfile leaves out the "
		    "page cache where its dump level (-d) contains 2 or 4, as 31 does", s->dump);
	return e == 0 && f.written > 0;
}
