/*
 * tnfdump.c - prints trace files.
 *
 * Events flow:  files (input.c) -> stream (libtnf: in order of time)
 * -> filters -> one output (pipeline.c).  Raw mode (raw.c) goes around it.
 *
 * To add one of these, write a file of its own and one row:
 *   an option	 a row in options.c: name, letter, argument, help, set().
 *   a filter	 set() calls pipeline_add_filter() with keep(event) and, for
 *		 what needs the files, start().
 *   a format	 a row in outputs.c: begin(), event(), end(); it writes to
 *		 dump->out (out.h) and keeps its own in dump->state.
 * Text from a file is printed with print_chars(), since the output may be a terminal.
 * Elapsed time is ev->time - dump->first, delta ev->time - dump->previous.
 * Data for each probe can be indexed by ev->probe->id, which is 0, 1, 2, ...
 */
#include <signal.h>

#include "common/files.h"
#include "common/text.h"
#include "tnfdump/hosts.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/report/report.h"

static void __attribute__((format(printf, 2, 0)))
print_note(struct dump *d, const char *fmt, va_list ap)
{
	/* On a terminal, the output so far appears before the message. */
	if (d->out.escape && d->out.base != NULL)
		tnf_out_flush(&d->out);
	tnf_printable_printf(stderr, NAME ": ");
	tnf_printable_vprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
dump_note(struct dump *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_note(d, fmt, ap);
	va_end(ap);
}

void
dump_error(struct dump *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_note(d, fmt, ap);
	va_end(ap);
	d->status = STATUS_ERROR;
}

void
dump_fatal(struct dump *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_note(d, fmt, ap);
	va_end(ap);
	tnf_out_close(&d->out);
	exit(STATUS_ERROR);
}

/* SIGBUS: somebody has truncated a mapped file, or reading it failed. */
static void
on_sigbus(int sig)
{
	static const char text[] = NAME ": a file was cut off while it was "
	    "read, or cannot be read\n";

	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(STATUS_ERROR);
	_exit(STATUS_ERROR);
}

static void
catch_sigbus(void)
{
	struct sigaction sa = { .sa_handler = on_sigbus };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

/* Tells about options that contradict each other or would be ignored. */
static bool
tnfdump_contradicts(const struct dump *d, char **paths)
{
	const char *why = NULL;

	if (d->raw && d->filters != NULL)
		why = "-r shows every record, filtered or not: "
		    "first write the events that you want with --to tnf";
	else if (d->raw && (d->follow != NULL || d->diff || d->salvage ||
	    d->output != &outputs[0]))
		why = "-r shows the records of whole files as text: "
		    "not with another format, --follow, --diff or --salvage";
	else if (d->raw && (columns_asked(d) || d->pretty))
		why = "-r shows the records as they are: "
		    "not with --columns, --two-line or --pretty";
	else if (d->pretty && !d->output->pretty)
		why = "--pretty: makes no difference in this format: "
		    "not with --info, --states or --to ctf, folded, html, pprof, sqlite or tnf";
	else if (d->reverse != NULL && (d->raw || d->diff || d->follow != NULL ||
	    !d->output->any_order))
		why = "--reverse prints events, the latest first: "
		    "with text, jsonl or csv, and not with --follow";
	else if (d->hosts != NULL && (d->raw || d->diff || d->follow != NULL ||
	    d->reverse != NULL || d->output == output_find("tnf") ||
	    d->output == output_find("ctf")))
		why = "--hosts merges the events of several machines: not with -r, --diff, "
		    "--follow or --reverse, nor into a format that holds one machine (tnf, ctf)";
	else if (top_asked(d) && d->follow == NULL)
		why = "--top shows what happens now: with --follow FILE, PID or kernel";
	else if (d->why != NULL && d->follow != NULL)
		why = "--why and --why-slow explain what is over: not with --follow";
	else if (d->normalize && d->by == NULL)
		why = "--normalize: groups the texts of --stats=LIST and --top=LIST";
	else if (d->deviation && (d->diff || d->output != output_find("stats")))
		why = "--deviation: a column of --stats";
	else if (d->histogram && (d->diff || d->output != output_find("stats")))
		why = "--histogram: draws the durations of --stats";
	else if (columns_asked(d) && (d->diff || d->output != &outputs[0]))
		why = "--columns and --two-line lay out the text: "
		    "not with another format";
	else if (d->diff && (d->follow != NULL || (d->output != &outputs[0] &&
	    d->output != output_find("stats"))))
		why = "--diff compares the statistics of two files: "
		    "not with another format or --follow";
	else if (d->diff && (paths[0] == NULL || paths[1] == NULL ||
	    paths[2] != NULL))
		why = "--diff: compares two files: before after";
	else if (d->redact && d->output != output_find("tnf"))
		why = "--redact: belongs to --to tnf";
	else if (d->path == NULL)
		why = d->output->needs_path;
	if (why != NULL)
		tnf_printable_printf(stderr, NAME ": %s\n", why);
	return why != NULL;
}

/* True if the output file is one of the inputs: of those named, and of those found so far. */
static bool
is_input(const struct dump *d, char **paths)
{
	struct stat a, b;

	if (stat(d->path, &a) != 0)
		return false;
	for (; *paths != NULL; paths++)
		if (stat(*paths, &b) == 0 && stat_same(&a, &b))
			return true;
	return inputs_have_file(d, &a);
}

/* Ends the program rather than write over what is to be read. */
static void
output_refuse_input(struct dump *d, char **paths)
{
	if (d->path != NULL && is_input(d, paths))
		dump_fatal(d, "%s: is one of the files to be read", d->path);
}

/*
 * A trace tells what programs did, and so does a page or table made of it: a new file may
 * be readable only by those who may read all its inputs.
 */
static mode_t
output_mode(const struct dump *d, char **paths)
{
	mode_t mode = d->follow != NULL ? 0600 : 0666;
	struct stat st;

	for (; *paths != NULL; paths++)
		if ((strcmp(*paths, "-") == 0 ? fstat(STDIN_FILENO, &st) :
		    stat(*paths, &st)) == 0 && S_ISREG(st.st_mode))
			mode &= st.st_mode | S_IRUSR | S_IWUSR;
	return mode;
}

/* Opens --output, unless the format makes its own files.  output_empty() removes what the
   file holds: a process or a core is still to tell which trace it has, perhaps this file. */
static int
output_fd(struct dump *d, char **paths)
{
	output_refuse_input(d, paths);
	if (d->path == NULL || d->output->own_files)
		return STDOUT_FILENO;
	int fd = open(d->path, O_WRONLY | O_CREAT | O_CLOEXEC, output_mode(d, paths));
	if (fd < 0)
		dump_fatal(d, "%s: cannot write: %s", d->path, strerror(errno));
	return fd;
}

/* Called before the first write, when the inputs are known. */
static void
output_empty(struct dump *d, char **paths, int fd)
{
	struct stat st;

	output_refuse_input(d, paths);
	if (fd != STDOUT_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    ftruncate(fd, 0) != 0)
		dump_fatal(d, "%s: cannot write: %s", d->path, strerror(errno));
}

int
main(int argc, char **argv)
{
	struct dump d = { .output = &outputs[0] };
	char **paths = options_parse(&d, argc, argv);
	int err, fd;

	if (why_choose(&d) != 0 || tnfdump_contradicts(&d, paths)) {
		options_free(&d);
		hosts_free(&d);
		return STATUS_USAGE;
	}
	if (d.hosts != NULL)
		paths = hosts_paths(&d, paths);
	fd = output_fd(&d, paths);
	catch_sigbus();
	if ((err = tnf_out_init(&d.out, fd)) != 0)
		dump_fatal(&d, "%s", strerror(err));
	d.out.escape = isatty(fd);
	d.out.beside = !d.out.escape && d.follow == NULL;
	if (d.raw || d.diff)
		output_empty(&d, paths, fd);
	if (d.raw) {
		raw_run(&d, paths);
		loss_report_paths(&d, paths);
	} else if (d.diff)
		d.status = diff_run(&d, paths);
	else if (d.follow != NULL) {
		if (follow_open(&d)) {
			output_empty(&d, paths, fd);
			pipeline_run(&d);
		}
		loss_report(&d);
		origins_free(&d);
		follow_close(&d);
	} else {
		inputs_add(&d, paths);
		output_empty(&d, paths, fd);
		if (d.hosts != NULL)
			hosts_join(&d);
		else
			inputs_compare_boots(&d);
		pipeline_run(&d);
		loss_report(&d);
		origins_free(&d);
		inputs_close(&d);
	}
	hosts_free(&d);
	pairs_free(d.pairs);
	pipeline_free_filters(&d);
	options_free(&d);
	if (d.scratch.base != NULL)
		tnf_out_close(&d.scratch);
	err = tnf_out_close(&d.out);
	if (fd != STDOUT_FILENO && close(fd) != 0 && err == 0)
		err = errno;
	if (err != 0)
		dump_error(&d, "%s: %s",
		    fd == STDOUT_FILENO ? "standard output" : d.path, strerror(err));
	return d.status;
}
