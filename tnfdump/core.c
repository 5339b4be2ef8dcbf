/*
 * core.c - the trace file that a process had mapped, by its core.
 *
 * The note NT_FILE of a core has the ranges of addresses into which files were mapped, and the names of
 * these files.  Most cores leave out what such a range holds, since the file has it (core(5):
 * coredump_filter).
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <elf.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "common/files.h"
#include "tnfdump/tnfdump.h"

#define PIECE	65536u

/* A file in NT_FILE. */
struct mapped {
	uint64_t start, end, offset;	/* offset in pages */
	const char *name;
};

/* NT_FILE: number of files, size of a page, three words a file; then the names. */
struct file_note {
	const char *at, *names, *end;
	uint64_t left;
};

bool
core_is(int fd)
{
	Elf64_Half word[EI_NIDENT / 2 + 1];	/* e_ident, e_type */

	return pread(fd, word, sizeof(word), 0) == sizeof(word) &&
	    memcmp(word, ELFMAG, SELFMAG) == 0 && word[EI_NIDENT / 2] == ET_CORE;
}

static uint64_t
core_word(const char **at)
{
	uint64_t v;

	memcpy(&v, *at, sizeof(v));
	*at += sizeof(v);
	return v;
}

static bool
file_note_begin(struct file_note *n, const char *desc, size_t size)
{
	n->at = desc;
	n->end = desc + size;
	if (size < 16 || (n->left = core_word(&n->at)) > (size - 16) / 24)
		return false;
	n->at += 8;
	n->names = n->at + n->left * 24;
	return true;
}

static bool
file_note_next(struct file_note *n, struct mapped *m)
{
	if (n->left == 0)
		return false;
	n->left--;
	m->start = core_word(&n->at);
	m->end = core_word(&n->at);
	m->offset = core_word(&n->at);
	m->name = n->names;
	size_t len = strnlen(n->names, (size_t)(n->end - n->names));
	if (len == (size_t)(n->end - n->names))
		return false;
	n->names += len + 1;
	return m->start < m->end;
}

/* True if the core has what was mapped there, and that is a trace. */
static bool
core_has(struct elffile *core, const struct mapped *m)
{
	uint32_t magic;
	char last;

	return tnf_elffile_read(core, m->start, &magic, sizeof(magic)) == sizeof(magic) &&
	    magic == TNF_MAGIC && tnf_elffile_read(core, m->end - 1, &last, 1) == 1;
}

/* A copy in memory of what was mapped; -1 and errno. */
static int
core_copy(struct elffile *core, const struct mapped *m)
{
	int error = 0, copy = memfd_create("tnfdump", MFD_CLOEXEC);
	char buf[PIECE];

	if (copy < 0)
		return -1;
	for (uint64_t at = m->start; error == 0 && at < m->end; ) {
		size_t n = m->end - at < PIECE ? (size_t)(m->end - at) : PIECE;
		n = tnf_elffile_read(core, at, buf, n);
		error = n == 0 ? ENODATA : pwrite_all(copy, buf, n, at - m->start);
		at += n;
	}
	if (error == 0)
		return copy;
	close(copy);
	errno = error;
	return -1;
}

/* The file that is mapped there, if it is a trace. */
static int
open_mapped(const struct mapped *m)
{
	int fd = open(m->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint32_t magic;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == TNF_MAGIC)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
core_find(struct dump *d, const char *path, struct elffile *core)
{
	size_t size;
	const uint8_t *desc = tnf_elffile_core_note(core, NT_FILE, &size);
	struct file_note note;
	struct mapped m;
	int found;

	if (desc == NULL || !file_note_begin(&note, (const char *)desc, size)) {
		dump_error(d, "%s: is a core that names no files: tnfxtract -d reads the core of "
		    "a machine", path);
		return -1;
	}
	while (file_note_next(&note, &m)) {
		if (m.offset == 0 && core_has(core, &m)) {
			if ((found = core_copy(core, &m)) < 0)
				dump_error(d, "%s: cannot be read: %s", path, strerror(errno));
			return found;
		}
		if (m.offset == 0 && (found = open_mapped(&m)) >= 0) {
			dump_note(d, "%s: the trace is that of %s, which the process had mapped",
			    path, m.name);
			return found;
		}
	}
	dump_error(d, "%s: is a core without a trace: the process had no trace file mapped, or the "
	    "file is gone and the core lacks it (core(5): coredump_filter)", path);
	return -1;
}

int
core_trace(struct dump *d, const char *path, int fd)
{
	struct elffile *core = tnf_elffile_open(fd);
	int found = -1;

	if (core == NULL)
		dump_error(d, "%s: is a core of another kind of machine, or a damaged one", path);
	else
		found = core_find(d, path, core);
	tnf_elffile_close(core);
	return found;
}
