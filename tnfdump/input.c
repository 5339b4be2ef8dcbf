/*
 * input.c - opens and maps the trace files of the command line.
 *
 * A core stands for the trace file that its process had mapped.  The note NT_FILE of a core has
 * the ranges of addresses into which files were mapped, and the names of these files.  Most cores
 * leave out what such a range holds, since the file has it (core(5): coredump_filter).
 */
#include <sys/mman.h>
#include <sys/vfs.h>

#include <elf.h>
#include <poll.h>

#include "common/elf-file.h"
#include "common/files.h"
#include "tnfdump/report/report.h"

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

/* True if the file is an ELF core. */
static bool
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

/* A descriptor of the trace: a copy of the mapping if the core has it, otherwise the file that the
   core names.  -1: there is neither, which was told.  The caller closes both. */
static int
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

#define PIPE_FS		0x50495045	/* statfs(2): a pipe without a name */
#define WRITER_MS	2000		/* for somebody to open a FIFO */
#define LENGTH_MAX	((uint64_t)UINT32_MAX + ((uint64_t)64 << 20))

/* Files from this size on are read while their events are printed; smaller ones take no time. */
#define LARGE	((uint64_t)16 << 20)

/* Waits for the first bytes or the end.  A FIFO can be without a writer for ever, hence a
   limit; a pipe has its writer. */
static int
wait_for_writer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct statfs fs;
	int r;

	if (fstatfs(fd, &fs) == 0 && fs.f_type == PIPE_FS)
		return 0;
	while ((r = poll(&p, 1, WRITER_MS)) < 0)
		if (errno != EINTR)
			return errno;
	return r == 0 ? ETIMEDOUT : 0;
}

/* As read(), but waits even if the descriptor is non-blocking. */
static ssize_t
read_some(int fd, void *buf, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while ((n = read(fd, buf, size)) < 0) {
		if (errno == EAGAIN)
			poll(&p, 1, -1);
		else if (errno != EINTR)
			break;
	}
	return n;
}

/*
 * Reads a pipe, a FIFO or a socket to its end into a file in memory.  Returns 0 and in *ret
 * the file's descriptor, which the caller closes; or an errno.  ETIMEDOUT: nobody writes into
 * the FIFO; EFBIG: larger than any trace.
 */
static int
input_pipe(int fd, int *ret)
{
	char buf[65536];
	uint64_t at = 0;
	ssize_t n = 0;
	int copy, error = wait_for_writer(fd);

	if (error != 0)
		return error;
	if ((copy = memfd_create("tnfdump", MFD_CLOEXEC)) < 0)
		return errno;
	while (error == 0 && (n = read_some(fd, buf, sizeof buf)) > 0) {
		error = at > LENGTH_MAX ? EFBIG :
		    pwrite_all(copy, buf, (size_t)n, at);
		at += (size_t)n;
	}
	if (n < 0)
		error = errno;
	if (error != 0)
		close(copy);
	else
		*ret = copy;
	return error;
}

/* Maps the copy of a pipe; closes 'fd'. */
static int
take_pipe(struct dump *d, const char *path, int fd)
{
	int copy = -1, error = input_pipe(fd, &copy);

	close(fd);
	if (error == ETIMEDOUT)
		dump_error(d, "%s: is a FIFO that nobody writes into", path);
	else if (error != 0)
		dump_error(d, "%s: cannot be read: %s", path, strerror(error));
	return error == 0 ? copy : -1;
}

static int
input_open_file(struct dump *d, const char *path, struct stat *st)
{
	bool standard = strcmp(path, INPUT_STANDARD) == 0;

	/* Does not wait: a FIFO may have no writer. */
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
	    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		dump_error(d, "cannot open %s", path);
		return -1;
	}
	if (fstat(fd, st) == 0 && (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))) {
		fd = take_pipe(d, path, fd);
		if (fd < 0)
			return -1;
	}
	if (core_is(fd)) {
		int trace = core_trace(d, path, fd);
		close(fd);
		if ((fd = trace) < 0)
			return -1;
	}
	if (fstat(fd, st) != 0)
		dump_error(d, "fstat error on %s", path);
	else if (st->st_size == 0)
		dump_error(d, "%s is empty", path);
	else
		return fd;
	close(fd);
	return -1;
}

bool
input_open(struct dump *d, const char *path, struct input *in)
{
	int fd, err, status = d->status;

	if (strcmp(path, "-") == 0)
		path = INPUT_STANDARD;
	if ((fd = input_open_file(d, path, &in->st)) < 0)
		return false;
	in->path = path;
	err = tnf_image_open(fd, &in->base, &in->size);
	close(fd);
	if (err != 0) {
		if (err >= TNF_ERR_NOTTNF)
			input_refused(d, path, err);
		else
			dump_error(d, err == ENODATA ? "%s is empty" :
			    err == EFBIG ? "%s: becomes too large when it is unpacked" :
			    "mmap error on %s", path);
		return false;
	}
	if (!tnf_image_is_empty(in->base, in->size))
		return true;
	/* An empty file is normal: its process has not reached a probe yet. */
	dump_error(d, "%s is an empty TNF file", path);
	d->status = status;
	tnf_image_close(in->base, in->size);
	return false;
}

void
input_refused(struct dump *d, const char *path, int err)
{
	dump_error(d, "error in %s: %s", path, tnf_error_message(err));
}

void
input_damage(struct dump *d, const char *path, uint64_t block,
    const char *reason)
{
	if (d->strict)
		dump_fatal(d, "%s: block at 0x%llx: %s", path,
		    (unsigned long long)block, reason);
	dump_error(d, "%s: block at 0x%llx: %s", path,
	    (unsigned long long)block, reason);
}

static void
on_damage(void *arg, struct tnf_file *f, uint64_t offset, const char *text)
{
	input_damage(arg, tnf_file_name(f), offset, text);
}

static bool
is_compressed(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcmp(path + n - 4, ".zst") == 0;
}

void
inputs_add(struct dump *d, char **paths)
{
	unsigned n;
	int err;

	for (n = 0; paths[n] != NULL; n++)
		;
	d->inputs = tnf_xcalloc(n, sizeof *d->inputs);
	if ((err = tnf_stream_new(&d->stream)) != 0)
		dump_fatal(d, "%s", tnf_error_message(err));
	tnf_stream_on_damage(d->stream, on_damage, d);
	tnf_stream_accept_cut(d->stream, d->salvage);
	/* --strict prints nothing of a file in which anything is wrong. */
	if (!d->strict)
		tnf_stream_lazily(d->stream, LARGE);
	for (; *paths != NULL; paths++) {
		struct input *in = &d->inputs[d->n_inputs];
		if (!input_open(d, *paths, in))
			continue;
		if (is_compressed(*paths) && filter_time_leaves_out(d, in->base, in->size)) {
			tnf_image_close(in->base, in->size);
			continue;
		}
		err = tnf_stream_add_mem(d->stream, in->base, in->size, in->path,
		    &in->file);
		if (err == 0) {
			d->n_inputs++;
			d->nest_budget += in->size;
		} else {
			input_refused(d, in->path, err);
			tnf_image_close(in->base, in->size);
		}
	}
}

bool
inputs_have_file(const struct dump *d, const struct stat *st)
{
	for (unsigned i = 0; i < d->n_inputs; i++)
		if (stat_same(&d->inputs[i].st, st))
			return true;
	return false;
}

/* Each boot starts its clock anew. */
void
inputs_compare_boots(struct dump *d)
{
	unsigned i;

	for (i = 1; i < d->n_inputs; i++)
		if (!origin_same_boot(d->inputs[0].file, d->inputs[i].file))
			break;
	if (i < d->n_inputs && !info_chosen(d))
		dump_note(d, "%s: of another boot than %s: their times do not "
		    "compare: print each alone", d->inputs[i].path,
		    d->inputs[0].path);
}

void
inputs_close(struct dump *d)
{
	/* The stream borrows the inputs' memory, so it is closed first. */
	tnf_stream_close(d->stream);
	for (unsigned i = 0; i < d->n_inputs; i++)
		tnf_image_close(d->inputs[i].base, d->inputs[i].size);
	free(d->inputs);
	d->stream = NULL;
	d->inputs = NULL;
	d->n_inputs = 0;
}
