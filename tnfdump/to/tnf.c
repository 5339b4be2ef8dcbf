/*
 * tnf.c - a trace of its own from the events that are kept.
 *
 * It is written in place if that can be done, else made in a temporary file
 * and then copied: headers are known last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tnfdump/to/formats.h"
#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "tnfdump/to/slice-context.h"
#include "tnfdump/to/tnf-write.h"
#include "common/xalloc.h"

struct slice {
	struct tnf_writer w;
	int	 fd;		/* of the file that is written */
	bool	 copy;		/* to standard output when it is done */
	uint64_t left_out;	/* events too large for a block */
	bool	 kernel;	/* any such event */
};

static int
tnf_fail(struct dump *d, const char *what, int error)
{
	dump_error(d, "%s: %s: %s",
	    d->path != NULL ? d->path : "standard output", what,
	    strerror(error));
	return -1;
}

static bool
can_seek(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	    (flags & O_APPEND) == 0 && lseek(fd, 0, SEEK_CUR) == 0;
}

static int
open_temporary(void)
{
	const char *dir = getenv("TMPDIR");
	char *path;

	if (dir == NULL || *dir == '\0')
		dir = "/tmp";
	if (asprintf(&path, "%s/tnfdump.XXXXXX", dir) < 0)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static int
open_output(struct dump *d, struct slice *s)
{
	if (d->path != NULL) {
		s->fd = open(d->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
		return s->fd < 0 ? tnf_fail(d, "cannot create", errno) : 0;
	}
	if (isatty(STDOUT_FILENO)) {
		dump_error(d, "--to tnf: standard output is a terminal: "
		    "give --output FILE");
		return -1;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return tnf_fail(d, "cannot write", errno);
	s->copy = !can_seek(STDOUT_FILENO);
	s->fd = s->copy ? open_temporary() : STDOUT_FILENO;
	return s->fd < 0 ? tnf_fail(d, "cannot create a temporary file", errno) : 0;
}

/* Who recorded it, and what was lost: from the first file that tells, and
   the sum. */
static void
tnf_describe(struct dump *d, struct slice *s)
{
	struct tnf_ext *to = &s->w.ext;
	bool first = true;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		const struct tnf_ext *from = tnf_file_ext(d->inputs[i].file);
		if (from == NULL)
			continue;
		for (unsigned k = 0; k < TNF_LOST_REASONS; k++)
			to->lost[k] += from->lost[k];
		to->shortened += from->shortened;
		s->w.has_ext = true;
		if (!first)
			continue;
		to->pid = from->pid;
		to->start_mono = from->start_mono;
		to->start_wall = from->start_wall;
		memcpy(to->boot_id, from->boot_id, sizeof(to->boot_id));
		first = false;
	}
}

int
slice_begin(struct dump *d)
{
	struct slice *s = tnf_xcalloc(1, sizeof(*s));

	s->fd = -1;
	d->state = s;
	if (open_output(d, s) != 0)
		return -1;
	int error = tnfw_open(&s->w, s->fd);
	if (error != 0)
		return tnf_fail(d, "cannot write", error);
	tnf_describe(d, s);
	return 0;
}

int
slice_event(struct dump *d, const struct tnf_event *ev)
{
	struct slice *s = d->state;
	struct tnf_event host = *ev;

	/* One context for all: the machine's numbers. */
	if (d->n_inputs > 1)
		origin_host(d, ev, &host.pid, &host.lwpid);
	int error = tnfw_event(&s->w, &host);

	s->kernel |= ev->kernel;
	if (error == E2BIG) {
		s->left_out++;
		return 0;
	}
	if (error == EFBIG) {
		dump_error(d, "--to tnf: more than 4 GiB: "
		    "narrow it down, with --from and --until");
		return -1;
	}
	if (error == ENOSPC && s->w.error == 0) {
		dump_error(d, "--to tnf: more than %u probes",
		    TNFW_PROBES_MAX);
		return -1;
	}
	return error == 0 ? 0 : tnf_fail(d, "cannot write", error);
}

static int
copy_out(struct dump *d, int fd)
{
	char buf[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		tnf_out_bytes(&d->out, buf, (size_t)n);
		at += n;
	}
	return n < 0 ? tnf_fail(d, "cannot read the temporary file", errno) : 0;
}

int
slice_end(struct dump *d)
{
	struct slice *s = d->state;
	uint64_t unreachable = s->w.unreachable;
	size_t size;
	int error, rc = 0;

	if (s->fd >= 0 && s->w.data != NULL) {
		char *context = slice_context(d, &size);
		s->w.ext.kind = s->kernel ? TNF_EXT_KERNEL : TNF_EXT_PROCESS;
		error = tnfw_finish(&s->w, context, size);
		if (error != 0)
			rc = tnf_fail(d, "cannot write", error);
		else if (s->copy)
			rc = copy_out(d, s->fd);
		tnfw_free(&s->w);
		free(context);
	}
	if (s->left_out > 0) {
		dump_error(d, "--to tnf: %llu events left out: "
		    "too large for a block", (unsigned long long)s->left_out);
		rc = -1;
	}
	if (unreachable > 0) {
		dump_error(d, "--to tnf: %llu references are null: the records lie "
		    "behind the first GiB: narrow it down, with --from and --until",
		    (unsigned long long)unreachable);
		rc = -1;
	}
	if (s->fd >= 0 && s->fd != STDOUT_FILENO && close(s->fd) != 0)
		rc = tnf_fail(d, "cannot write", errno);
	free(s);
	d->state = NULL;
	return rc;
}
