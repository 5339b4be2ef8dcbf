/*
 * tnfxtract.c - writes the kernel's trace buffer to a file, or to one file after another.
 *
 * Copies that follow each other (--rotate-time, --rotate-size, --keep) overlap, since each has all
 * that the ring has; tnfdump reads what two of them have once.  So nothing is missing as long as a
 * copy is made before the ring comes around.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <getopt.h>
#include <glob.h>
#include <signal.h>

#include "common/proc.h"
#include "common/text.h"
#include "tnfxtract/snapshot.h"
#include "tnfxtract/source.h"

/* One copy of the buffer after the other, of which the latest are kept. */
struct rotation {
	unsigned seconds;	/* between two copies at most; 0: however long it takes */
	uint64_t bytes;		/* recorded between two at most; 0: however many */
	unsigned keep;		/* copies */
};

/* True: --rotate-time or --rotate-size was given. */
static inline bool
rotates(const struct rotation *r)
{
	return r->seconds != 0 || r->bytes != 0;
}

#define LOOK_MS	100

static volatile sig_atomic_t ended;

static void
rotate_on_signal(int sig)
{
	ended = 1;
}

/* Parses a number with k, m or g behind it; false: it is none, or 0. */
static bool
rotate_number(const char *text, uint64_t max, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *unit;
	uint64_t v;
	char *end;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno != 0 || v > max)
		return false;
	if (*end != '\0' && (unit = strchr(units, *end)) != NULL) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);
		if (v > max >> shift)
			return false;
		v <<= shift;
		end++;
	}
	*ret = v;
	return *end == '\0';
}

/* The number of the latest FILE.n that is there; 0: none. */
static unsigned long
latest(const char *file)
{
	char pattern[4096];
	unsigned long n, most = 0;
	glob_t found;
	char *end;

	if ((size_t)snprintf(pattern, sizeof pattern, "%s.[1-9]*", file) >= sizeof pattern ||
	    glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		n = strtoul(found.gl_pathv[i] + strlen(file) + 1, &end, 10);
		if (*end == '\0' && n > most)
			most = n;
	}
	globfree(&found);
	return most;
}

/* The number of blocks that the kernel has taken so far: the newest block has it. */
static uint32_t
blocks_taken(const struct source *s, uint32_t block_size)
{
	uint32_t most = 0, generation;

	for (size_t at = block_size; at + block_size <= s->size; at += block_size) {
		const struct tnf_block_header *h = (const void *)((const char *)s->base + at);
		generation = __atomic_load_n(&h->generation, __ATOMIC_RELAXED);
		if (generation <= TNF_GENERATION_AGES && generation > most)
			most = generation;
	}
	return most;
}

static double
now(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

/* Waits until the next copy is due, or a signal has come. */
static void
wait_for_due(const struct rotation *r, const struct source *s)
{
	uint32_t block_size = ((const struct tnf_file_header *)s->base)->block_size, from = 0;
	double end = now() + r->seconds;

	if (block_size < sizeof(struct tnf_block_header))
		return;
	if (r->bytes != 0)
		from = blocks_taken(s, block_size);
	while (!ended && (r->seconds == 0 || now() < end)) {
		usleep(LOOK_MS * 1000);
		if (r->bytes != 0 && (uint64_t)(blocks_taken(s, block_size) - from) * block_size >= r->bytes)
			return;
	}
}

static int
rotate_once(const char *file, unsigned long n, int (*copy)(void *arg, const char *file), void *arg)
{
	char name[4096];
	int status;
	pid_t pid;

	if ((size_t)snprintf(name, sizeof name, "%s.%lu", file, n) >= sizeof name) {
		complain("%s: the name is too long", file);
		return 1;
	}
	fflush(NULL);
	if ((pid = fork()) < 0) {
		complain("no process for a copy: %s", strerror(errno));
		return 1;
	}
	if (pid == 0) {
		setpgid(0, 0);	/* an interrupt from the terminal is for us, not for a copy */
		exit(copy(arg, name));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/*
 * Makes copies named FILE.1, FILE.2 and so on, the last one after SIGINT or SIGTERM, and removes
 * those before the latest.  Each is made by copy() in a process of its own, which ends with what
 * copy() returns.  Returns when a copy has failed or the last is made: the exit status.
 */
static int
rotate(const struct rotation *r, const char *file, int (*copy)(void *arg, const char *file), void *arg)
{
	struct sigaction sa = { .sa_handler = rotate_on_signal };
	unsigned long n = latest(file);
	char old[4096];
	struct source s;
	int status = 0;

	if (!source_open_kernel(&s)) {
		source_close(&s);
		return 1;
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (status == 0) {
		wait_for_due(r, &s);
		status = rotate_once(file, ++n, copy, arg);
		if (status == 0 && n > r->keep &&
		    (size_t)snprintf(old, sizeof old, "%s.%lu", file, n - r->keep) < sizeof old)
			unlink(old);
		if (ended)
			break;
	}
	source_close(&s);
	return status;
}

struct options {
	const char *dump;
	const char *list;
	const char *file;	/* NULL: only the files of processes */
	const char *files;	/* their directory */
	bool	    previous;
	bool	    sync;
	bool	    context;
	struct rotation rotation;
};

/* A copy that is being made: its destination and error. */
struct job {
	struct source *source;
	struct output out;
	struct addrs  addrs;
	struct names  names;
	int	      error;	/* errno of the failed write */
};

static const char *program = "tnfxtract";
static struct output *volatile unfinished;

void
complain(const char *format, ...)
{
	va_list ap;

	tnf_printable_printf(stderr, "%s: ", program);
	va_start(ap, format);
	tnf_printable_vprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
}

static void
usage(FILE *f)
{
	fprintf(f, "usage: %s [-d <dumpfile> -n <symbolfile> ] "
	    "<output-filename>\n", program);
}

static void
tnfxtract_help(void)
{
	usage(stdout);
	printf("Writes the kernel's trace buffer, which prex -k has made, to a "
	    "file for tnfdump.\n"
	    "  -d <dumpfile>     from the memory image of a crashed machine\n"
	    "  -n <symbolfile>   its System.map or copy of /proc/kallsyms, for names\n"
	    "  --files <dir>     from the image also the traces of processes\n"
	    "  --previous-boot   what this machine's memory still has of an earlier boot\n"
	    "  --no-context      leave out names of tasks, hosts and symbols\n"
	    "  --sync            wait until the file is on the disk\n"
	    "  --rotate-time <seconds>  a copy every so often, named FILE.1, FILE.2 ...\n"
	    "  --rotate-size <bytes>    ... after so much has been recorded (k, m, g)\n"
	    "  --keep <n>        of these the latest n, 10 by default\n"
	    "  --help, --version\n"
	    "The file - is standard output.\n");
}

static _Noreturn void
tnfxtract_misuse(const char *reason)
{
	complain("%s", reason);
	usage(stderr);
	exit(1);
}

static unsigned
number_of(const char *text, const char *option)
{
	char reason[64];
	uint64_t v;

	if (rotate_number(text, UINT32_MAX, &v))
		return (unsigned)v;
	snprintf(reason, sizeof reason, "%s needs a number from 1 on", option);
	tnfxtract_misuse(reason);
}

static void
parse_options(int argc, char **argv, struct options *o)
{
	enum { SYNC = 256, NO_CONTEXT, FILES, PREVIOUS, TIME, SIZE, KEEP, HELP, VERSION };
	static const struct option names[] = {
		{ "sync", no_argument, NULL, SYNC },
		{ "no-context", no_argument, NULL, NO_CONTEXT },
		{ "files", required_argument, NULL, FILES },
		{ "previous-boot", no_argument, NULL, PREVIOUS },
		{ "rotate-time", required_argument, NULL, TIME },
		{ "rotate-size", required_argument, NULL, SIZE },
		{ "keep", required_argument, NULL, KEEP },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	*o = (struct options){ .context = true, .rotation.keep = 10 };
	while ((c = getopt_long(argc, argv, "+d:n:", names, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->dump = optarg;
			break;
		case 'n':
			o->list = optarg;
			break;
		case SYNC:
			o->sync = true;
			break;
		case NO_CONTEXT:
			o->context = false;
			break;
		case FILES:
			o->files = optarg;
			break;
		case PREVIOUS:
			o->previous = true;
			break;
		case TIME:
			o->rotation.seconds = number_of(optarg, "--rotate-time");
			break;
		case SIZE:
			if (!rotate_number(optarg, UINT64_MAX, &o->rotation.bytes))
				tnfxtract_misuse("--rotate-size needs a number of bytes, such as 16m");
			break;
		case KEEP:
			o->rotation.keep = number_of(optarg, "--keep");
			break;
		case HELP:
			tnfxtract_help();
			exit(fflush(stdout) == 0 ? 0 : 1);
		case VERSION:
			printf("tnfxtract %s\n", TNF_VERSION);
			exit(fflush(stdout) == 0 ? 0 : 1);
		default:
			tnfxtract_misuse("unrecognized argument");
		}
	}
	if (argc - optind != 1 && !(o->files != NULL && argc == optind))
		tnfxtract_misuse("too many or too few arguments");
	if (o->previous && (o->dump != NULL || o->list != NULL))
		tnfxtract_misuse("--previous-boot reads this machine's memory: it goes with neither -d nor -n");
	if (o->files != NULL && o->dump == NULL && !o->previous)
		tnfxtract_misuse("--files takes traces out of an image: -d, or --previous-boot");
	if (o->dump == NULL && o->list != NULL)
		tnfxtract_misuse("must specify both or neither of the -d and -n options");
	o->file = argv[optind];
	if (rotates(&o->rotation) && (o->dump != NULL || o->previous || strcmp(o->file, "-") == 0))
		tnfxtract_misuse("--rotate-time and --rotate-size copy the running kernel's buffer into files");
}

/* Deletes the unfinished file, if it has a name. */
static void
on_signal(int sig)
{
	struct output *o = unfinished;

	if (o != NULL)
		output_discard(o);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
catch_signals(struct output *o)
{
	static const int sigs[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = on_signal }, old;

	unfinished = o;
	signal(SIGXFSZ, SIG_IGN);	/* write() then fails with EFBIG */
	for (size_t i = 0; i < sizeof sigs / sizeof sigs[0]; i++)
		if (sigaction(sigs[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaction(sigs[i], &sa, NULL);
}

static void
complain_output(const char *name, int error)
{
	tnf_printable_printf(stderr, "%s: %s\n", strcmp(name, "-") == 0 ?
	    "standard output" : name, strerror(error));
}

static bool
open_output(struct output *out, const char *name)
{
	if (strcmp(name, "-") == 0 && isatty(STDOUT_FILENO)) {
		complain("standard output is a terminal: redirect it, or name "
		    "a file");
		return false;
	}
	int e = output_open(out, name);
	if (e == ELOOP)
		tnf_printable_printf(stderr, "%s: is a symbolic link: name the file itself\n",
		    name);
	else if (e == ENOTSUP)
		tnf_printable_printf(stderr, "%s: is not an ordinary file: write to it "
		    "through standard output, -\n", name);
	else if (e != 0)
		complain_output(name, e);
	return e == 0;
}

static bool
tnfxtract_put(void *arg, uint64_t offset, const void *bytes, size_t n)
{
	struct job *j = arg;

	j->error = output_put(&j->out, offset, bytes, n);
	return j->error == 0;
}

static bool
tnfxtract_put_pieces(void *arg, uint64_t offset, const struct iovec *piece, int n)
{
	struct job *j = arg;

	j->error = output_put_pieces(&j->out, offset, piece, n);
	return j->error == 0;
}

static void
tnfxtract_look(void *arg, const unsigned char *block, size_t valid)
{
	struct job *j = arg;

	addrs_scan(&j->addrs, block, valid);
}

static void
tnfxtract_moment(void *arg)
{
	struct job *j = arg;

	names_begin(&j->names, j->source);
}

static bool
complain_snapshot(const struct snapshot *s, enum snapshot_result r, int error)
{
	switch (r) {
	case SNAPSHOT_OK:
		return true;
	case SNAPSHOT_NOT_TNF:
		tnf_printable_printf(stderr, "Buffer is not in TNF format.\n");
		break;
	case SNAPSHOT_VERSION:
		tnf_printable_printf(stderr, "Version mismatch (tnfxtract: %u; buffer: %u)\n",
		    TNF_FILE_VERSION, s->version);
		break;
	case SNAPSHOT_DAMAGED:
		complain("the buffer's header is damaged: prex -k: buffer "
		    "dealloc");
		break;
	case SNAPSHOT_NO_MEMORY:
		tnf_printable_printf(stderr, "tnfxtract memory allocation failure\n");
		break;
	case SNAPSHOT_SINK:
		tnf_printable_printf(stderr, "write: %s\n", strerror(error));
		break;
	}
	return false;
}

/* Writes the printed counts of lost events into the copy's extension, so that tnfdump
   prints the same.  A buffer without an extension has no place for them. */
static bool
put_lost(const struct source *src, struct job *j)
{
	struct tnf_ext ext;

	memcpy(&ext, (const char *)src->base + TNF_EXT_OFFSET, sizeof ext);
	return ext.magic != TNF_EXT_MAGIC || tnfxtract_put(j, TNF_EXT_OFFSET +
	    offsetof(struct tnf_ext, lost), src->lost, sizeof src->lost);
}

static bool
copy_buffer(struct source *src, struct job *j, bool want_context)
{
	struct snapshot_sink sink = { .put = tnfxtract_put, .put_pieces = tnfxtract_put_pieces, .arg = j };
	struct snapshot s;

	j->source = src;
	j->addrs.start = source_code(src);
	enum snapshot_result r = snapshot_open(&s, src->base, src->size);
	if (want_context) {
		sink.look = tnfxtract_look;
		sink.moment = tnfxtract_moment;
	}
	if (r == SNAPSHOT_OK && ftruncate(j->out.file.fd, (off_t)s.size) != 0) {
		j->error = errno;
		r = SNAPSHOT_SINK;
	}
	if (r == SNAPSHOT_OK)
		r = snapshot_copy(&s, &sink);
	if (r == SNAPSHOT_OK && want_context)
		names_end(&j->names);
	else if (r == SNAPSHOT_OK)
		source_count_lost(src);
	if (r == SNAPSHOT_OK && !put_lost(src, j))
		r = SNAPSHOT_SINK;
	return complain_snapshot(&s, r, j->error);
}

/* Adds the context.  Missing symbols are only reported, as the context is optional; a
   failed write, for example on a full disk, is an error. */
static bool
add_context(struct source *src, struct job *j)
{
	struct context_writer *w = &j->names.context;
	int e;

	addrs_pack(&j->addrs);
	if (src->kernel != NULL)
		e = context_kernel_symbols(w, j->addrs.slot, j->addrs.n);
	else
		e = src->symbols == NULL ? 0 : context_symbols(w, src->symbols,
		    j->addrs.slot, j->addrs.n, src->shift);
	if (e != 0)
		complain("%s: %s: kernel addresses stay without names",
		    src->symbols, strerror(e));
	e = context_append(w, j->out.file.fd, 0);
	if (e != 0 && e != EINVAL)
		tnf_printable_printf(stderr, "write: %s\n", strerror(e));
	return e == 0 || e == EINVAL;
}

static bool
tnfxtract_extract(struct source *src, struct job *j, const struct options *o)
{
	if (!copy_buffer(src, j, o->context) ||
	    (o->context && !add_context(src, j)))
		return false;
	int e = output_commit(&j->out, o->sync);
	if (e != 0)
		complain_output(o->file, e);
	return e == 0;
}

static bool
open_source(struct source *src, const struct options *o)
{
	if (o->previous)
		return source_open_previous(src);
	return o->dump != NULL ? source_open_dump(src, o->dump, o->list) :
	    source_open_kernel(src);
}

/* Copies the kernel's buffer if a file for it was given. */
static bool
extract_buffer(struct source *src, struct job *j, const struct options *o)
{
	if (o->file == NULL)
		return true;
	if ((src->kernel == NULL && !source_find_buffer(src)) || !tnfxtract_extract(src, j, o))
		return false;
	source_report_lost(src);
	return true;
}

static int
copy_once(void *arg, const char *file)
{
	struct job j = { .error = 0, .out = { .file.fd = -1, .dir = -1 } };
	struct options o = *(const struct options *)arg;
	struct source src;
	bool ok, files = true;

	o.file = file;
	/* If permitted: the faster the copy is made, the less is overwritten. */
	setpriority(PRIO_PROCESS, 0, -20);
	if (o.file != NULL && !open_output(&j.out, o.file))
		return 1;
	catch_signals(&j.out);
	ok = open_source(&src, &o);
	if (ok && o.files != NULL)
		files = source_write_files(&src, o.files);
	if (ok)
		ok = extract_buffer(&src, &j, &o);
	names_free(&j.names);
	source_close(&src);
	output_discard(&j.out);
	addrs_free(&j.addrs);
	return ok && files ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct options o;

	if (argc > 0 && argv[0] != NULL && argv[0][0] != '\0')
		program = argv[0];
	parse_options(argc, argv, &o);
	return rotates(&o.rotation) ? rotate(&o.rotation, o.file, copy_once, &o) : copy_once(&o, o.file);
}
