/*
 * slice-context.c - the context of a trace that is made from others.
 *
 * A context is text, a line a fact (tnf(5), "Context").  That of the kernel
 * comes first, as it knows most, then what the others know about tasks and
 * objects; of the same fact the first counts.
 */
#include <stdio.h>

#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "tnfdump/to/slice-context.h"

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

/* The next line, its newline included; what has none does not count. */
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

/* Numbers inside of containers are translated when files are put together. */
static bool
slice_context_belongs(const struct text *line, bool first, bool alone)
{
	if (slice_context_starts(line, "end") || (slice_context_starts(line, "inner") && !alone))
		return false;
	return first || slice_context_starts(line, "task") || slice_context_starts(line, "ended") ||
	    slice_context_starts(line, "symbol") || slice_context_starts(line, "object");
}

static void
slice_context_copy(FILE *f, const struct input *in, bool first, bool alone)
{
	struct text rest = text_of(in), line;

	while (next_line(&rest, &line))
		if (slice_context_belongs(&line, first, alone))
			fwrite(line.at, 1, line.size, f);
}

static void
put_escaped(FILE *f, const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == '\\' || *s == 0x7f)
			fprintf(f, "\\%03o", (unsigned)(unsigned char)*s);
		else
			putc(*s, f);
	putc('\n', f);
}

/* What a process has said of its names lies in blocks that are not copied. */
static void
slice_context_names(FILE *f, struct dump *d, const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	const tnf_context_t *c = origin_context(d, in->file);
	const char *program;
	size_t n;

	if (x == NULL || x->names == 0 || c == NULL)
		return;
	const struct tnf_context_task *t = tnf_context_tasks(c, &n);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "thread %d %d %d ", t[i].tid, t[i].pid, t[i].ppid);
		put_escaped(f, t[i].comm);
		program = t[i].tid == t[i].pid ? tnf_context_program(c, t[i].pid) : NULL;
		if (program != NULL) {
			fprintf(f, "program %d ", t[i].pid);
			put_escaped(f, program);
		}
	}
	const struct tnf_context_former *old = tnf_context_formers(c, &n);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "renamed %d %lld ", old[i].tid, (long long)old[i].time);
		put_escaped(f, old[i].comm);
	}
}

static bool
slice_context_has_names(const struct dump *d)
{
	const struct tnf_ext *x;

	for (unsigned i = 0; i < d->n_inputs; i++)
		if ((x = tnf_file_ext(d->inputs[i].file)) != NULL && x->names != 0)
			return true;
	return false;
}

/* Index of the file whose context leads; n_inputs: none has any. */
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

char *
slice_context(struct dump *d, size_t *size)
{
	unsigned i, first = slice_context_leader(d);
	char *text = NULL;
	FILE *f;

	if ((first == d->n_inputs && !slice_context_has_names(d)) ||
	    (f = open_memstream(&text, size)) == NULL)
		return NULL;
	if (first < d->n_inputs)
		slice_context_copy(f, &d->inputs[first], true, d->n_inputs == 1);
	else
		fputs("TNFCTX 1\n", f);
	for (i = 0; i < d->n_inputs; i++)
		if (i != first)
			slice_context_copy(f, &d->inputs[i], false, false);
	for (i = 0; i < d->n_inputs; i++)
		slice_context_names(f, d, &d->inputs[i]);
	fputs("end 1\n", f);
	if (fclose(f) != 0)
		return NULL;
	return text;
}
