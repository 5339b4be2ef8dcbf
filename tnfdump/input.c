/*
 * input.c - the trace files of the command line: open, map, messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tnfdump/report/reports.h"
#include "tnfdump/input-pipe.h"
#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "common/xalloc.h"

/* Files from this size on are read while their events are printed; smaller ones take no time. */
#define LARGE	((uint64_t)16 << 20)

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
input_open_file(struct dump *d, const char *path)
{
	bool standard = strcmp(path, INPUT_STANDARD) == 0;
	struct stat st;

	/* Does not wait: a FIFO may have no writer. */
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
	    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		dump_error(d, "cannot open %s", path);
		return -1;
	}
	if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		fd = take_pipe(d, path, fd);
		if (fd < 0)
			return -1;
	}
	if (fstat(fd, &st) != 0)
		dump_error(d, "fstat error on %s", path);
	else if (st.st_size == 0)
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
	if ((fd = input_open_file(d, path)) < 0)
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
