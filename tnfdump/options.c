/*
 * options.c - the command line: one row for each option.
 */
#include <getopt.h>

#include "analysis/timespec.h"
#include "common/text.h"
#include "tnfdump/hosts.h"
#include "tnfdump/template/template.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/report/report.h"

#define OUTPUTS_MAX	32

/* Reports a word that is no format, and lists the formats. */
static void
tell_formats(const char *word)
{
	struct out text;

	tnf_out_memory(&text);
	for (const struct output *o = outputs; o->name != NULL; o++) {
		out_char(&text, ' ');
		out_str(&text, o->name);
	}
	out_char(&text, '\0');
	options_wrong("to", "%s: neither a format nor a time: formats are%s", word,
	    text.base);
	tnf_out_close(&text);
}

static int
set_to(struct dump *d, const char *arg)
{
	const struct output *o = output_find(arg);
	struct timespec_arg time;

	if (o == NULL && timespec_parse(arg, &time) == NULL)
		return until_set(d, arg);	/* --from ... --to ... */
	if (o == NULL) {
		tell_formats(arg);
		return -1;
	}
	return output_choose(d, "to", o);
}

static int
set_path(struct dump *d, const char *arg)
{
	d->path = strcmp(arg, "-") == 0 ? NULL : arg;
	return 0;
}

static int show_help(struct dump *, const char *);
static int show_version(struct dump *, const char *);

#define FLAG(member)	.flag = offsetof(struct dump, member)

const struct option_row option_rows[] = {
	{ "raw", 'r', NULL, "every record, in file order", FLAG(raw) },
	{ "hex", 'x', NULL, "unsigned integers in hexadecimal", FLAG(hex) },
	{ "to", 0, "FORMAT", "output format, see below", .set = set_to },
	{ "where", 0, "EXPR", "keep events for which EXPR holds", .set = where_set },
	{ "process", 'p', "PID|COMM", "keep events of these processes", .set = process_set },
	{ "probe", 0, "NAME[,...]", "keep events of these probes (patterns)", .set = probe_set },
	{ "key", 0, "KEY[,...]", "keep events of probes with these keys", .set = key_set },
	{ "cpu", 0, "LIST", "keep events of these CPUs: 0-3,8", .set = cpu_set },
	{ "tid", 0, "LIST", "keep events of these threads", .set = tid_set },
	{ "from", 0, "TIME", "keep events from then on: 1.5s, 03:12:18", .set = from_set },
	{ "until", 0, "TIME", "keep events up to then; --to TIME is the same", .set = until_set },
	{ "last", 0, "DURATION", "keep the end of the trace", .set = last_set },
	{ "reverse", 0, NULL, "the latest event first", .set = reverse_set },
	{ "columns", 0, "LIST", "columns of the text; +NAME adds, -NAME drops",
	  .set = columns_set },
	{ "words", 'O', "WORD=on[,...]", "columns by the words of AIX: exec pid tid cpuid svc 2line",
	  .set = words_set },
	{ "two-line", 0, NULL, "arguments on a line of their own", .set = two_line_set },
	{ "no-header", 0, NULL, "neither header nor probes", .set = no_header_set },
	{ "color", 0, "[=WHEN]", "auto (default), always or never", .set = color_set },
	{ "pretty", 0, NULL, "names, sizes and symbols for numbers", FLAG(pretty) },
	{ "info", 0, "[=json]", "the files in figures instead of events", .set = info_set },
	{ "output", 'o', "PATH", "write there instead of standard output", .set = set_path },
	{ "template", 't', "FILE", "by a report template, tnffmt(5)", .set = template_set },
	{ "stats", 0, "[=LIST]", "counts and durations, by expressions", .set = stats_set },
	{ "top", 0, "[=LIST]", "with --follow: --stats of each second, sorted", .set = top_set },
	{ "interval", 0, "SECONDS", "of --top, instead of 1", .set = interval_set },
	{ "histogram", 0, NULL, "with --stats: draw the durations", FLAG(histogram) },
	{ "deviation", 0, NULL, "with --stats: the standard deviation as well", FLAG(deviation) },
	{ "why", 0, "[=PAIR]", "why the slowest of a pair took so long", .set = why_set },
	{ "id", 0, "VALUE|slowest", "with --why: the one that has this value", .set = why_id_set },
	{ "why-slow", 0, "[=PAIR]", "causes of slow ones beside typical ones", .set = why_slow_set },
	{ "normalize", 0, NULL, "with --stats: texts without their literals", FLAG(normalize) },
	{ "states", 0, NULL, "time in each microstate, per thread", .output = "states" },
	{ "calls", 0, NULL, "system calls as lines: arguments, result, duration", .output = "calls" },
	{ "tree", 0, NULL, "indented by level and nesting", .output = "tree" },
	{ "link", 0, "[=EXPR]", "what belongs to one request to a disk, or has one value of EXPR",
	  .set = link_set },
	{ "pair", 0, "START,END[,MEMBER...]", "what begins and ends something", .set = pair_set },
	{ "follow", 0, "FILE|PID|kernel", "events as they are committed", .set = follow_set },
	{ "cursor", 0, "FILE", "with --follow: go on where the last run has ended", .set = cursor_set },
	{ "hosts", 0, NULL, "files and directories of several machines, merged", .set = hosts_set },
	{ "clock", 0, "HOST=OFFSET[,ERROR]", "with --hosts: what a clock is to be moved by",
	  .set = hosts_clock_set },
	{ "message", 0, "SEND,RECEIVE,MEMBER[,...]", "with --hosts: probes that send and get a message",
	  .set = hosts_message_set },
	{ "diff", 0, NULL, "compare the statistics of two files", FLAG(diff) },
	{ "fail-on", 0, "COND", "with --diff: exit 4 if \"p99(pair) > +10%\"",
	  .set = diff_fail_on },
	{ "fail-on-loss", 0, NULL, "exit 3 if events were lost", FLAG(fail_on_loss) },
	{ "strict", 0, NULL, "stop at the first damage", FLAG(strict) },
	{ "redact", 0, NULL, "with --to tnf: without texts, names and paths", FLAG(redact) },
	{ "salvage", 0, NULL, "read files that are shorter than they say", FLAG(salvage) },
	{ "help", 0, NULL, "this text", .set = show_help },
	{ "version", 0, NULL, "name and version", .set = show_version },
	{ 0 }
};

#define LONG_BASE	256	/* getopt_long's value for row 0 */

/* Prints each line of an expression's error indented. */
static void
put_lines(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		for (; *line == '\t'; line++)
			fputc('\t', stderr);
		tnf_printable_printf(stderr, "%s\n", line);
	}
}

int
options_wrong(const char *option, const char *fmt, ...)
{
	char *text;
	va_list ap;

	tnf_printable_printf(stderr, NAME ": --%s: ", option);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	put_lines(text);
	free(text);
	return -1;
}

/* Prints the usage of the original, for options that the original had. */
_Noreturn static void
old_usage(void)
{
	fprintf(stderr, "Usage: %s [-r] <tnf_file> [<tnf_file> ...]\n", NAME);
	exit(STATUS_ERROR);
}

static void
help_row(const struct option_row *r)
{
	char buf[64], letter[8] = "   ";
	bool optional = r->arg != NULL && r->arg[0] == '[';

	if (r->letter != 0)
		snprintf(letter, sizeof letter, "-%c,", r->letter);
	snprintf(buf, sizeof buf, "--%s%s%s", r->name,
	    r->arg == NULL || optional ? "" : " ", r->arg == NULL ? "" : r->arg);
	printf("  %s %-22s %s\n", letter, buf, r->help);
}

static int
show_help(struct dump *d, const char *arg)
{
	printf("Usage: %s [option ...] file ...\n"
	    "Prints the events of trace files in order of time.\n\n", NAME);
	for (const struct option_row *r = option_rows; r->name != NULL; r++)
		help_row(r);
	printf("\nFormats of --to:\n");
	for (const struct output *o = outputs; o->name != NULL; o++)
		printf("  %-10s %s\n", o->name, o->help);
	printf("\nColumns of --columns:\n");
	for (const struct column *c = column_rows; c->name != NULL; c++)
		printf("  %-12s %s\n", c->name, c->help);
	printf("\nExit status: 0 done, 1 error or damage, 2 wrong option,"
	    "\n3 events lost (--fail-on-loss), 4 --fail-on holds.\n");
	exit(fflush(stdout) == 0 ? STATUS_OK : STATUS_ERROR);
}

static int
show_version(struct dump *d, const char *arg)
{
	printf("%s %s\n", NAME, TNF_VERSION);
	exit(fflush(stdout) == 0 ? STATUS_OK : STATUS_ERROR);
}

static int
has_arg(const struct option_row *r)
{
	if (r->arg == NULL)
		return no_argument;
	return r->arg[0] == '[' ? optional_argument : required_argument;
}

static unsigned
count_rows(void)
{
	unsigned n = 0;

	while (option_rows[n].name != NULL)
		n++;
	return n;
}

/* Makes the arguments of getopt_long from the table. */
static struct option *
long_options(char *letters)
{
	unsigned i, n = count_rows();
	struct option *o = tnf_xcalloc(n + 1, sizeof *o);

	*letters++ = '+';	/* getopt_long stops at each file: options_parse() */
	*letters++ = ':';	/* getopt_long tells a missing argument */
	for (i = 0; i < n; i++) {
		o[i] = (struct option){ option_rows[i].name,
		    has_arg(&option_rows[i]), NULL, LONG_BASE + (int)i };
		if (option_rows[i].letter == 0)
			continue;
		*letters++ = option_rows[i].letter;
		if (option_rows[i].arg != NULL)
			*letters++ = ':';
	}
	*letters = '\0';
	return o;
}

static const struct option_row *
options_row_of(int c)
{
	const struct option_row *r;

	if (c >= LONG_BASE)
		return &option_rows[c - LONG_BASE];
	for (r = option_rows; r->name != NULL; r++)
		if (r->letter == c)
			break;
	return r;
}

/* The option that a word without "--" resembles, or NULL. */
static const char *
guess_option(const char *word)
{
	const char **names = tnf_xcalloc(count_rows() + 1, sizeof *names), *guess;

	for (unsigned i = 0; i < count_rows(); i++)
		names[i] = option_rows[i].name;
	guess = tnf_word_guess(names, word);
	free(names);
	return guess;
}

/* The format that a word resembles, or NULL: many tools have an option for each format. */
static const char *
guess_format(const char *word)
{
	const char *names[OUTPUTS_MAX + 1] = { NULL };
	size_t n = 0;

	if (output_find(word) != NULL)
		return word;
	for (const struct output *o = outputs; o->name != NULL && n < OUTPUTS_MAX; o++)
		names[n++] = o->name;
	return tnf_word_guess(names, word);
}

static void
tell_unknown(const char *word)
{
	char *name = tnf_xstrdup(word + 2);
	const char *format, *option;

	name[strcspn(name, "=")] = '\0';
	option = guess_option(name);
	format = guess_format(name);
	if (format != NULL && (option == NULL || strcmp(format, name) == 0))
		tnf_printable_printf(stderr, NAME ": %s: unknown or ambiguous option: "
		    "did you mean --to %s?\n", word, format);
	else if (option != NULL && strncmp(option, name, strlen(name)) != 0)
		tnf_printable_printf(stderr, NAME ": %s: unknown or ambiguous option: "
		    "did you mean --%s?\n", word, option);
	else
		tnf_printable_printf(stderr, NAME ": %s: unknown or ambiguous option: "
		    "see %s --help\n", word, NAME);
	free(name);
}

_Noreturn static void
wrong(int c, const char *word)
{
	if (c == ':')
		tnf_printable_printf(stderr, NAME ": %s: needs an argument: see %s --help\n",
		    word, NAME);
	else if (word[0] == '-' && word[1] == '-')
		tell_unknown(word);
	else {
		tnf_printable_printf(stderr, NAME ": invalid option -- '%c'\n", optopt);
		old_usage();
	}
	exit(STATUS_USAGE);
}

/* After a file, a word that looks like an option is a file if such a file exists. */
static bool
options_is_file(const char *word)
{
	return word[0] != '-' || getenv("POSIXLY_CORRECT") != NULL ||
	    access(word, F_OK) == 0;
}

int
option_apply(struct dump *d, const struct option_row *r, const char *arg)
{
	if (r->output != NULL)
		return output_choose(d, r->name, output_find(r->output));
	if (r->set != NULL)
		return r->set(d, arg);
	*(bool *)((char *)d + r->flag) = true;
	return 0;
}

/* The files are gathered at the front of argv, in order. */
char **
options_parse(struct dump *d, int argc, char **argv)
{
	char letters[2 * 128];
	struct option *longs = long_options(letters);
	int c, at, files = 0;

	opterr = 0;
	while (optind < argc) {
		if (files > 0 && options_is_file(argv[optind])) {
			argv[files++] = argv[optind++];
			continue;
		}
		at = optind;
		c = getopt_long(argc, argv, letters, longs, NULL);
		if (c == '?' || c == ':') {
			free(longs);
			wrong(c, argv[at]);
		}
		if (c != -1) {
			if (option_apply(d, options_row_of(c), optarg) != 0)
				exit(STATUS_USAGE);
			continue;
		}
		if (at < optind) {	/* "--": only files from here on */
			while (optind < argc)
				argv[files++] = argv[optind++];
		} else
			argv[files++] = argv[optind++];
	}
	argv[files] = NULL;
	free(longs);
	if (d->follow != NULL && files > 0) {
		options_wrong("follow", "%s: give each file its own --follow FILE", argv[0]);
		exit(STATUS_USAGE);
	}
	if (files == 0 && d->follow == NULL)
		old_usage();
	return argv;
}

void
options_free(struct dump *d)
{
	reverse_free(d);
	columns_free(d);
	template_run_free(d);
	free(d->conditions);
	free(d->follow);
	free(d->why);
	free(d->source);
}
