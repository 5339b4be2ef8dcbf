/*
 * tnf.c - writes the kept events as a new trace: blocks, context, directory, header.
 *
 * Headers stand at the front and are known last.  So the output is written in place; only if it
 * is standard output and cannot be sought in, a temporary file is written and then copied there.
 *
 * The context is that of all files, merged: text, one line for each fact (tnf(5), "Context").  The
 * context of the kernel's file comes first, as it has most facts; then come the tasks, symbols and
 * objects of the other files.  If a fact occurs twice, the first counts.
 *
 * With --redact tokens stand for texts: they tell only which texts are equal.
 */
#include "common/files.h"
#include "format/attributes.h"
#include "libtnf/context-write.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/tnf-write.h"

#define TOKEN	24	/* "text-" and a number */

const char *
redact_text(struct map *texts, const char *chars, size_t len)
{
	bool fresh;
	char *token;

	if (len == 0)
		return "";
	if (texts->value_size == 0)
		tnf_map_init(texts, TOKEN);
	token = tnf_xmap_put(texts, chars, len, &fresh);
	if (fresh)
		snprintf(token, TOKEN, "text-%zu", texts->n);
	return token;
}

/* Probes keep the keys by which they are chosen; other attributes name source files and objects. */
struct tnf_text
redact_attrs(const char *attrs)
{
	struct attribute a;

	if (!attribute_find(attrs, "keys", &a))
		return (struct tnf_text){ "", 0 };
	return (struct tnf_text){ a.name, (size_t)(a.value + a.value_len - a.name) };
}

/* The lines of a context that stay, with their fields up to a name, which becomes a token. */
static const struct line {
	const char *word;
	unsigned fields;	/* in front of the name */
	bool	 whole;		/* there is no name */
} lines[] = {
	{ "TNFCTX", 0, true }, { "clock", 0, true }, { "sync", 0, true }, { "cpus", 0, true },
	{ "inner", 0, true },
	{ "task", 3, false }, { "ended", 3, false }, { "thread", 3, false },
	{ "named", 2, false }, { "renamed", 2, false }, { "frozen", 1, false },
};

/* Writes what stays of a context's line, which has its newline. */
static void
redact_line(FILE *f, struct map *texts, const char *line, size_t size)
{
	const char *end = line + size - 1, *p = memchr(line, ' ', size);
	size_t n = p != NULL ? (size_t)(p - line) : 0, i;

	for (i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strlen(lines[i].word) == n && memcmp(lines[i].word, line, n) == 0)
			break;
	if (i == sizeof lines / sizeof *lines)
		return;
	if (lines[i].whole) {
		fwrite(line, 1, size, f);
		return;
	}
	for (n = lines[i].fields; n > 0 && p != NULL; n--)
		p = memchr(p + 1, ' ', (size_t)(end - p - 1));
	if (p == NULL)
		return;
	fwrite(line, 1, (size_t)(p + 1 - line), f);
	fprintf(f, "%s\n", redact_text(texts, p + 1, (size_t)(end - p - 1)));
}

struct text {
	const char *at;
	size_t	    size;
};

static struct text
text_of(const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	struct text t = { NULL, 0 };

	if (x == NULL || x->extra_offset == 0 || x->extra_offset > in->size ||
	    x->extra_size > in->size - x->extra_offset)
		return t;
	t.at = (const char *)in->base + x->extra_offset;
	t.size = (size_t)x->extra_size;
	return t;
}

static bool
slice_context_starts(const struct text *line, const char *word)
{
	size_t n = strlen(word);

	return line->size > n && memcmp(line->at, word, n) == 0 &&
	    line->at[n] == ' ';
}

/* Takes the next line with its newline; a last line without a newline is ignored. */
static bool
next_line(struct text *rest, struct text *line)
{
	const char *end = rest->size == 0 ? NULL :
	    memchr(rest->at, '\n', rest->size);

	if (end == NULL)
		return false;
	line->at = rest->at;
	line->size = (size_t)(end + 1 - rest->at);
	rest->at += line->size;
	rest->size -= line->size;
	return true;
}

/* True if the line is copied.  "inner" lines are left out if there are several files: the
   numbers of containers are then translated. */
static bool
slice_context_belongs(const struct text *line, bool first, bool alone)
{
	if (slice_context_starts(line, "end") || (slice_context_starts(line, "inner") && !alone))
		return false;
	return first || slice_context_starts(line, "task") || slice_context_starts(line, "ended") ||
	    slice_context_starts(line, "symbol") || slice_context_starts(line, "object");
}

static void
slice_context_copy(FILE *f, const struct input *in, struct map *redacted, bool first, bool alone)
{
	struct text rest = text_of(in), line;

	while (next_line(&rest, &line)) {
		if (!slice_context_belongs(&line, first, alone))
			continue;
		if (redacted != NULL)
			redact_line(f, redacted, line.at, line.size);
		else
			fwrite(line.at, 1, line.size, f);
	}
}

static void
slice_context_past(struct context_writer *w, const char *what, const struct tnf_context_former *old, size_t n)
{
	char word[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "%s %d %lld", what, old[i].tid, (long long)old[i].time);
		context_fact(w, word, old[i].comm);
	}
}

/* A process writes its names into blocks, which are not copied: the names go into the context. */
static void
slice_context_names(struct context_writer *w, struct dump *d, const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	const tnf_context_t *c = origin_context(d, in->file);
	char word[64];
	size_t n;

	if (x == NULL || x->names == 0 || c == NULL)
		return;
	const struct tnf_context_task *t = tnf_context_tasks(c, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "thread %d %d %d", t[i].tid, t[i].pid, t[i].ppid);
		context_fact(w, word, t[i].comm);
	}
	const struct tnf_context_former *past = tnf_context_formers(c, &n);
	slice_context_past(w, "renamed", past, n);
	past = tnf_context_ran(c, &n);
	slice_context_past(w, "runs", past, n);
}

/* The index of the file whose context comes first; n_inputs: no file has a context. */
static unsigned
slice_context_leader(const struct dump *d)
{
	unsigned i, found = d->n_inputs;

	for (i = 0; i < d->n_inputs; i++) {
		if (text_of(&d->inputs[i]).at == NULL)
			continue;
		if (tnf_file_ext(d->inputs[i].file)->kind == TNF_EXT_KERNEL)
			return i;
		if (found == d->n_inputs)
			found = i;
	}
	return found;
}

/* Merges the contexts of the files into a text to be freed; NULL: no file has one. */
static char *
slice_context(struct dump *d, struct map *redacted, size_t *size)
{
	unsigned i, first = slice_context_leader(d);
	struct context_writer w = { .text = NULL };
	bool named = false;
	const struct tnf_ext *x;

	for (i = 0; i < d->n_inputs; i++)
		named |= (x = tnf_file_ext(d->inputs[i].file)) != NULL && x->names != 0;
	if ((first == d->n_inputs && !named) || (w.f = open_memstream(&w.text, size)) == NULL)
		return NULL;
	if (first < d->n_inputs)
		slice_context_copy(w.f, &d->inputs[first], redacted, true, d->n_inputs == 1);
	else
		fputs("TNFCTX 1\n", w.f);
	for (i = 0; i < d->n_inputs; i++)
		if (i != first)
			slice_context_copy(w.f, &d->inputs[i], redacted, false, false);
	for (i = 0; i < d->n_inputs && redacted == NULL; i++)
		slice_context_names(&w, d, &d->inputs[i]);
	fputs("end 1\n", w.f);
	return fclose(w.f) == 0 ? w.text : NULL;
}

struct slice {
	struct tnf_writer w;
	int	 fd;		/* of the file that is written */
	bool	 copy;		/* to standard output when it is done */
	uint64_t left_out;	/* events too large for a block */
	bool	 kernel;	/* any event of a kernel */
	struct map redacted;	/* the texts, with --redact */
};

static void
put_bytes(struct tnf_writer *w, const void *bytes, size_t size, uint64_t at)
{
	if (w->error == 0)
		w->error = pwrite_all(w->fd, bytes, size, at);
}

bool
tnfw_begin_block(struct tnf_writer *w, struct tnfw_block *b, uint64_t limit)
{
	if (w->next > limit) {
		if (w->error == 0)
			w->error = EFBIG;
		return false;
	}
	memset(b->bytes, 0, sizeof(b->bytes));
	b->offset = (uint32_t)w->next;
	b->used = sizeof(struct tnf_block_header);
	w->next += TNFW_BLOCK;
	return true;
}

static void
write_block(struct tnf_writer *w, struct tnfw_block *b, uint32_t generation)
{
	struct tnf_block_header h = {
		.tag = TNF_BLOCK_HEADER_TAG(TNFW_BLOCK),
		.generation = generation,
		.bytes_valid = (uint16_t)b->used,
	};

	memcpy(b->bytes, &h, sizeof(h));
	put_bytes(w, b->bytes, b->used, b->offset);
}

char *
tnfw_room(struct tnfw_block *b, uint32_t size)
{
	size = tnfw_round(size, 8);
	if (b->offset == 0 || size > TNFW_BLOCK - b->used)
		return NULL;
	char *p = b->bytes + b->used;
	b->used += size;
	return p;
}

char *
tnfw_tag_room(struct tnf_writer *w, uint32_t size, uint32_t *offset)
{
	struct tnfw_block *b = w->n_tags == 0 ? NULL : w->tags[w->n_tags - 1];
	char *p;

	if (size > TNFW_ROOM) {
		w->too_large = true;
		return NULL;
	}
	if (b == NULL || (p = tnfw_room(b, size)) == NULL) {
		b = tnf_xcalloc(1, sizeof(*b));
		w->tags = tnf_xreallocarray(w->tags, w->n_tags + 1, sizeof(*w->tags));
		w->tags[w->n_tags++] = b;
		if (!tnfw_begin_block(w, b, TNFW_TAG_LIMIT))
			return NULL;
		p = tnfw_room(b, size);
	}
	*offset = b->offset + (uint32_t)(p - b->bytes);
	return p;
}

void
tnfw_write_data(struct tnf_writer *w, struct tnfw_block *b)
{
	write_block(w, b, 1);
	w->ext.data_cursor++;
}

int
tnfw_new_data_block(struct tnf_writer *w)
{
	if (w->data->offset != 0)
		tnfw_write_data(w, w->data);
	if (w->error == 0)
		tnfw_begin_block(w, w->data, TNFW_FILE_LIMIT);
	return w->error;
}

static int
tnfw_open(struct tnf_writer *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->next = TNFW_DIRECTORY;
	w->data = tnf_xcalloc(1, sizeof(*w->data));
	w->nowhere = tnf_xcalloc(1, TNFW_BLOCK);
	tnf_map_init(&w->types, sizeof(int));
	return tnfw_define_core(w);
}

static void
write_header(struct tnf_writer *w)
{
	struct tnf_file_header h = { .magic = TNF_MAGIC,
		.blocks_valid = (uint32_t)(w->next / TNFW_BLOCK) - 1 };

	tnf_header_set(&h, TNFW_BLOCK, TNFW_DIRECTORY, w->next);
	w->ext.magic = TNF_EXT_MAGIC;
	w->ext.version = TNF_EXT_VERSION;
	w->ext.size = sizeof(w->ext);
	w->ext.tag_cursor = w->n_tags;
	w->ext.dir_cursor = TNFW_BLOCK + 4 * w->n_directory;
	w->ext.data_start = TNFW_DIRECTORY;
	put_bytes(w, w->directory, sizeof(w->directory), TNFW_BLOCK);
	if (w->has_ext)
		put_bytes(w, &w->ext, sizeof(w->ext), TNF_EXT_OFFSET);
	put_bytes(w, &h, sizeof(h), 0);
}

/* Writes the blocks that are left, the context behind the trace (or NULL), then directory and
   header. */
static int
tnfw_finish(struct tnf_writer *w, const char *context, size_t size)
{
	for (unsigned i = 0; i < w->n_tags; i++)
		write_block(w, w->tags[i], TNF_GENERATION_TAG);
	if (w->data->offset != 0)
		tnfw_write_data(w, w->data);
	if (ftruncate(w->fd, (off_t)w->next) != 0 && w->error == 0)
		w->error = errno;
	if (context != NULL) {
		w->ext.extra_offset = w->next;
		w->ext.extra_size = size;
		put_bytes(w, context, size, w->next);
	}
	write_header(w);
	return w->error;
}

static void
tnfw_free(struct tnf_writer *w)
{
	for (unsigned i = 0; i < w->n_tags; i++)
		free(w->tags[i]);
	tnfw_free_probes(w);
	tnf_map_free(&w->types);
	for (unsigned i = 0; i < w->n_defs; i++) {
		free(w->defs[i].slots);
		free(w->defs[i].slot_names);
	}
	free(w->nowhere);
	free(w->tags);
	free(w->defs);
	free(w->data);
}

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
open_output(struct dump *d, struct slice *s)
{
	if (d->path != NULL) {
		s->fd = open(d->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
		if (s->fd < 0)
			return tnf_fail(d, "cannot create", errno);
		if (can_seek(s->fd))
			return 0;
		dump_error(d, "--to tnf: %s is no regular file, in which the end is written "
		    "before the beginning: write to standard output (> %s)", d->path, d->path);
		return -1;
	}
	if (isatty(STDOUT_FILENO)) {
		dump_error(d, "--to tnf: standard output is a terminal: "
		    "give --output FILE");
		return -1;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return tnf_fail(d, "cannot write", errno);
	s->copy = !can_seek(STDOUT_FILENO);
	s->fd = s->copy ? tnf_unnamed_open("/tmp") : STDOUT_FILENO;
	return s->fd < 0 ? tnf_fail(d, "cannot create a temporary file", errno) : 0;
}

/* Fills the header: the process that recorded the trace, from the first file that tells it,
   and the events lost in all files. */
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
	if (d->redact)
		s->w.redacted = &s->redacted;
	tnf_describe(d, s);
	return 0;
}

int
slice_event(struct dump *d, const struct tnf_event *ev)
{
	struct slice *s = d->state;
	struct tnf_event host = *ev;

	/* Several files share one context, in which processes have the machine's numbers, and not
	   those of their pid namespaces: so the events get these, too. */
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
	/* ENOSPC without a failed write: the directory is full. */
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
		char *context = slice_context(d, s->w.redacted, &size);
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
	tnf_map_free(&s->redacted);
	free(s);
	d->state = NULL;
	return rc;
}
