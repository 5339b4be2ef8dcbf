/*
 * stream.c - events of one or more files, in order of time.
 */
#include <sys/types.h>

#include <fcntl.h>
#include <unistd.h>

#include "libtnf/survey.h"

TNF_API int
tnf_stream_new(tnf_stream_t **ret)
{
	tnf_stream_t *s;

	if ((s = calloc(1, sizeof *s)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	*ret = s;
	return 0;
}

static void
free_file(struct tnf_file *f)
{
	if (f == NULL)
		return;
	tnf_file_done(f);
	tnf_long_done(f);
	if (f->scan != NULL) {
		tnf_survey_free(f->scan->survey);
		free(f->scan->damage);
		free(f->scan->entries);
	}
	free(f->scan);
	tnf_image_close(f->map, f->map_size);
	free(f->name);
	free(f->seen);
	free(f->open);
	free(f);
}

/* Tells the damage of files that are read as they are asked for. */
static void
tell_damage(tnf_stream_t *s)
{
	for (unsigned i = 0; i < s->n_files; i++)
		tnf_scan_tell_damage(s, s->files[i]);
}

TNF_API void
tnf_stream_close(tnf_stream_t *s)
{
	if (s == NULL)
		return;
	tell_damage(s);
	tnf_merge_done(&s->merge);
	tnf_follow_done(&s->follow);
	tnf_siblings_done(&s->siblings);
	for (unsigned i = 0; i < s->n_files; i++)
		free_file(s->files[i]);
	free(s->files);
	free(s->probes);
	tnf_arena_free(&s->arena);
	free(s);
}

TNF_API void
tnf_stream_on_damage(tnf_stream_t *s, tnf_stream_damage_fn *fn, void *arg)
{
	s->damage = fn;
	s->damage_arg = arg;
}

TNF_API void
tnf_stream_accept_cut(tnf_stream_t *s, bool yes)
{
	s->accept_cut = yes;
}

TNF_API void
tnf_stream_lazily(tnf_stream_t *s, uint64_t size)
{
	s->lazy = size;
}

void
tnf_stream_damage(tnf_stream_t *s, struct tnf_file *f, uint32_t block,
    const char *text)
{
	if (s->damage != NULL)
		s->damage(s->damage_arg, f, block, text);
}

static int
new_file(tnf_stream_t *s, const void *base, size_t size, const char *name,
    struct tnf_file **ret)
{
	struct tnf_file *f;

	if (tnf_file_is_empty(base, size))
		return ENODATA;
	if ((f = calloc(1, sizeof *f)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	int err = tnf_file_init(f, base, size,
	    s->accept_cut ? FILE_CUT_IS_FINE : FILE_STRICT);
	if (err != 0) {
		free(f);
		return err;
	}
	f->stream = s;
	f->number = s->n_files;
	if ((f->name = strdup(name)) == NULL ||
	    (f->scan = calloc(1, sizeof *f->scan)) == NULL ||
	    (s->follow.on && !tnf_follow_file(f))) {
		free_file(f);
		return TNF_ERR_ALLOCFAIL;
	}
	*ret = f;
	return 0;
}

/* From here on the stream owns 'f', even if this fails. */
static int
append_file(tnf_stream_t *s, struct tnf_file *f)
{
	int err;

	struct tnf_file **list = realloc(s->files, (s->n_files + 1) * sizeof *list);
	if (list == NULL) {
		free_file(f);
		return TNF_ERR_ALLOCFAIL;
	}
	s->files = list;
	/* Files that are followed do not hold the same event twice. */
	if (!s->follow.on)
		tnf_siblings_join(&s->siblings, f, s->files, s->n_files);
	s->files[s->n_files++] = f;
	if (f->cut && (f->ext.compatible & TNF_EXT_CUT) != 0)
		tnf_stream_damage(s, f, (uint32_t)f->bytes.size,
		    "the compressed data ends early; what came before it is read");
	if ((err = tnf_scan_file(s, f, f->scan)) != 0)
		return err;
	err = tnf_merge_add(&s->merge, f, f->scan->entries, f->scan->n);
	return err != 0 || f->scan->survey == NULL ? err : tnf_survey_merge(&s->merge, f);
}

TNF_API int
tnf_stream_add_mem(tnf_stream_t *s, const void *base, size_t size,
    const char *name, struct tnf_file **ret)
{
	struct tnf_file *f;
	int err;

	if ((err = new_file(s, base, size, name, &f)) != 0 ||
	    (err = append_file(s, f)) != 0)
		return err;
	if (ret != NULL)
		*ret = f;
	return 0;
}

TNF_API int
tnf_stream_add(tnf_stream_t *s, const char *path, struct tnf_file **ret)
{
	struct tnf_file *f = NULL;
	const void *base;
	size_t size;
	int fd, err;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		return errno;
	err = tnf_image_open(fd, &base, &size);
	close(fd);
	if (err != 0)
		return err;
	if ((err = new_file(s, base, size, path, &f)) != 0) {
		tnf_image_close(base, size);
		return err;
	}
	f->map = (void *)(uintptr_t)base;
	f->map_size = size;
	if ((err = append_file(s, f)) == 0 && ret != NULL)
		*ret = f;
	return err;
}

/* Hands out the next event of all files; events that several files hold come repeatedly. */
static int
next_event(tnf_stream_t *s, struct tnf_event *ev)
{
	return s->follow.on ? tnf_follow_next(s, ev) : tnf_merge_next(&s->merge, s, ev);
}

TNF_API int
tnf_stream_next(tnf_stream_t *s, struct tnf_event *ev)
{
	int r;

	if (s->follow.on)
		long_forget(s->files, s->n_files);
	while ((r = next_event(s, ev)) == 1 && ev->file->sibling != 0) {
		r = tnf_siblings_seen(&s->siblings, ev);
		if (r <= 0)
			return r < 0 ? -TNF_ERR_ALLOCFAIL : 1;
	}
	if (r == 0)
		tell_damage(s);
	return r;
}

TNF_API int
tnf_stream_each(tnf_stream_t *s, tnf_stream_each_fn *fn, void *arg)
{
	const struct visit v = { fn, arg };
	struct tnf_event ev;
	int r;

	if (s->siblings.n == 0) {
		r = s->follow.on ? tnf_follow_each(s, &v) : tnf_merge_visit(&s->merge, &v);
		tell_damage(s);
		return r;
	}
	/* Events that several files hold are told apart by their order. */
	while ((r = tnf_stream_next(s, &ev)) == 1)
		fn(arg, &ev);
	return -r;
}

TNF_API int
tnf_stream_skip(tnf_stream_t *s, int64_t from)
{
	int err = 0;

	for (unsigned i = 0; i < s->n_files && err == 0; i++)
		if (s->files[i]->scan->survey != NULL)
			err = tnf_survey_skip(&s->merge, s->files[i], from);
	return err;
}

TNF_API unsigned
tnf_stream_probes(const tnf_stream_t *s)
{
	return s->n_probes;
}

TNF_API struct tnf_probe *
tnf_stream_probe(tnf_stream_t *s, unsigned id)
{
	return id < s->n_probes ? s->probes[id] : NULL;
}

TNF_API const char *
tnf_file_name(const struct tnf_file *f)
{
	return f->name;
}

TNF_API const struct tnf_ext *
tnf_file_ext(const struct tnf_file *f)
{
	return f->has_ext ? &f->ext : NULL;
}

TNF_API void
tnf_file_summary(const struct tnf_file *f, struct tnf_summary *sum)
{
	*sum = f->scan->sum;
}

TNF_API void
tnf_file_set_host(struct tnf_file *f, unsigned host, int64_t shift)
{
	f->host = host;
	f->shift = shift;
	f->stream->merge.started = false;
}

TNF_API unsigned
tnf_file_host(const struct tnf_file *f)
{
	return f != NULL ? f->host : 0;
}

TNF_API int64_t
tnf_file_shift(const struct tnf_file *f)
{
	return f->shift;
}

TNF_API int
tnf_file_span(struct tnf_file *f, int64_t *first, int64_t *last)
{
	const struct tnf_summary *sum = &f->scan->sum;
	int64_t from = sum->first, to = sum->last;

	if (f->scan->survey != NULL ? !tnf_survey_span(f->stream, f, &from, &to) :
	    sum->events == 0)
		return ENODATA;
	*first = file_shifted(f, from);
	*last = file_shifted(f, to);
	return 0;
}

TNF_API uint64_t
tnf_file_missed(const struct tnf_file *f)
{
	return f->seen == NULL ? f->lost : 0;
}
