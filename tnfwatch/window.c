/*
 * window.c - one stall, from its first trigger to the end of what follows.
 */
#include <sys/file.h>

#include "analysis/json.h"
#include "tnfwatch/daemon.h"

#define QUESTIONS_MAX	(FIRINGS_MAX / 2)
#define TRACE_DIGITS	32u

static char *
copy_or_null(const char *s)
{
	return s != NULL ? tnf_xstrdup(s) : NULL;
}

/* The start's values, which were kept: its record may be overwritten by now. */
static void
put_start_args(struct out *o, const struct trigger_span *span)
{
	struct json_values w = { .o = o };

	for (unsigned i = 0; i < span->n; i++) {
		const char *name = span->start->probe->members[i].name;

		out_str(o, i > 0 ? "," : "");
		json_name(o, name);
		out_char(o, ':');
		json_value(&w, span->start, &span->values[i], name);
	}
}

/* The event as --to jsonl writes it.  With a span the event is its start, whose values the trigger
   has kept; without (NULL) they are read from the record. */
static void
put_event(struct out *o, const struct tnf_event *ev, const struct trigger_span *span,
    int64_t mono_to_wall)
{
	struct json_values w = { .o = o };

	out_lit(o, "{\"time\":");
	tnf_out_i64(o, ev->time);
	out_lit(o, ",\"wall\":");
	json_wall(o, ev->time + mono_to_wall);
	json_who(o, ev);
	json_probe(o, ev->probe);
	out_lit(o, ",\"args\":{");
	if (span != NULL)
		put_start_args(o, span);
	else
		json_args(&w, ev);
	out_char(o, '}');
}

/* The event that fired, and the start of its span, as text: the ring may overwrite the event before
   the incident is written.  NULL: there is no event. */
static char *
event_text(const struct trigger_firing *f, int64_t mono_to_wall)
{
	const struct tnf_event *start = f->span != NULL ? f->span->start : NULL;
	struct out o;

	if (f->event == NULL)
		return NULL;
	tnf_out_memory(&o);
	put_event(&o, f->event, f->event == start ? f->span : NULL, mono_to_wall);
	if (start != NULL && f->event != start) {
		out_lit(&o, ",\"start\":");
		put_event(&o, start, f->span, mono_to_wall);
		out_char(&o, '}');
	}
	out_char(&o, '}');
	char *text = tnf_xstrndup(o.base, (size_t)(o.p - o.base));
	tnf_out_close(&o);
	return text;
}

/* The trace that the operation belongs to: the member "trace" of its start, or of the event. */
static char *
trace_of(const struct trigger_firing *f)
{
	const struct trigger_span *span = f->span;
	const struct tnf_event *ev = span != NULL ? span->start : f->event;
	int i = ev != NULL ? perprobe_member(ev->probe, "trace") : -1;
	struct tnf_value v;

	if (i < 0 || (span != NULL ? (unsigned)i >= span->n : !tnf_event_value(ev, (unsigned)i, &v)))
		return NULL;
	if (span != NULL)
		v = span->values[i];
	if (v.null || v.kind != TNF_K_STRING || v.u.s.len != TRACE_DIGITS)
		return NULL;
	char *text = tnf_xstrndup(v.u.s.chars, TRACE_DIGITS);
	if (strspn(text, "0123456789abcdef") == TRACE_DIGITS)
		return text;
	free(text);
	return NULL;
}

void
window_add(struct window *w, const char *trigger, const struct trigger_firing *fired,
    const char *source, const char *note)
{
	if (w->n == FIRINGS_MAX) {
		w->more++;
		return;
	}
	struct firing *f = &w->firing[w->n++];
	if (w->n == 1)
		w->mono_to_wall = now_wall() - now_mono();
	f->asked = false;
	f->trigger = tnf_xstrdup(trigger);
	f->time = fired->time;
	f->began = fired->span != NULL ? fired->span->start->time : fired->time;
	f->noticed = now_mono();
	f->source = copy_or_null(source);
	f->reason = copy_or_null(fired->reason);
	f->note = copy_or_null(note);
	f->event = event_text(fired, w->mono_to_wall);
	f->trace = trace_of(fired);
}

void
window_add_question(struct window *w, const char *name, const struct trigger_firing *fired,
    const char *question)
{
	size_t n = w->n;

	/* Questions are limited, so that they leave room for the firings of our triggers. */
	if (w->n_asked == QUESTIONS_MAX) {
		w->more++;
		return;
	}
	window_add(w, name, fired, NULL, question);
	if (w->n > n) {
		w->firing[n].asked = true;
		w->n_asked++;
	}
}

const struct firing *
window_trigger(const struct window *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->firing[i].asked)
			return &w->firing[i];
	return NULL;
}

void
window_clear(struct window *w)
{
	while (w->n > 0) {
		struct firing *f = &w->firing[--w->n];
		free(f->trigger);
		free(f->source);
		free(f->reason);
		free(f->note);
		free(f->event);
		free(f->trace);
	}
	free(w->id);
	w->id = NULL;
	w->n_asked = 0;
	w->more = 0;
	w->open = w->resumed = false;
}

void
window_add_again(struct window *w, const struct firing *f, const char *reason)
{
	const struct trigger_firing fired = { .time = f->time, .reason = reason };
	size_t n = w->n;

	window_add(w, f->trigger, &fired, f->source, f->note);
	if (w->n > n) {
		w->firing[n].event = copy_or_null(f->event);
		w->firing[n].trace = copy_or_null(f->trace);
	}
}

/*
 * Notes of open windows, for the tnfwatch that starts after this one: run/window-ID has the
 * boot and the directory in the first two lines, and then of each firing the trigger, the time, the reason, the source
 * and the event, one in each line.  A note is not synced: it is of no use after the machine
 * went down.
 */
#define NOTE	"window-"
#define NOTE_MAX	(1u << 20)

static void
put_line(FILE *f, const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		putc(*s == '\n' ? ' ' : *s, f);
	putc('\n', f);
}

/* Adds the last firing of the window to its note; the first one begins the note. */
void
window_note(const struct config *c, const struct window *w)
{
	const struct firing *last = w->n > 0 ? &w->firing[w->n - 1] : NULL;
	bool first = last != NULL && last == window_trigger(w);
	int fd;
	FILE *f;

	if (last == NULL || last->asked)
		return;
	fd = path_open(O_WRONLY | O_CREAT | O_NOFOLLOW | (first ? O_TRUNC : O_APPEND),
	    "%s/" NOTE "%s", c->run, w->id);
	if ((f = fd >= 0 ? fdopen(fd, "a") : NULL) == NULL)
		return;
	if (first) {
		put_line(f, boot_id());
		put_line(f, c->directory);
	}
	put_line(f, last->trigger);
	fprintf(f, "%" PRId64 "\n", last->time);
	put_line(f, last->reason);
	put_line(f, last->source);
	put_line(f, last->event);
	fclose(f);
}

void
window_note_done(const struct config *c, const char *id)
{
	path_unlink("%s/" NOTE "%s", c->run, id);
}

/* True if the incident is made, or is being made by a writer that has outlived its tnfwatch. */
static bool
is_made(const struct config *c, const char *id)
{
	autoclose int fd = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents/" INCIDENT_TEMP "%s",
	    c->directory, id);

	return path_exists("%s/incidents/%s", c->directory, id) ||
	    (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0);
}

static int
is_note(const struct dirent *d)
{
	return strncmp(d->d_name, NOTE, strlen(NOTE)) == 0;
}

/* The next line; NULL: there is no whole one. */
static char *
next_line(char **rest)
{
	return *rest != NULL && strchr(*rest, '\n') != NULL ? strsep(rest, "\n") : NULL;
}

static char *
null_if_empty(char *s)
{
	return s != NULL && *s != '\0' ? s : NULL;
}

/* Tells each firing of a note.  A killed tnfwatch has perhaps not written all of the last one. */
static void
note_read(char *text, void (*fn)(void *arg, const struct firing *), void *arg)
{
	char *time;

	for (;;) {
		struct firing f = { .trigger = next_line(&text) };

		time = next_line(&text);
		f.reason = next_line(&text);
		if (f.reason == NULL)
			return;
		f.time = strtoll(time, NULL, 10);
		f.source = null_if_empty(next_line(&text));
		f.event = null_if_empty(next_line(&text));
		fn(arg, &f);
	}
}

void
window_notes_left(const struct config *c,
    void (*fn)(void *arg, const struct firing *), void *arg)
{
	struct dirent **found = NULL;
	int n = scandir(c->run, &found, is_note, alphasort);
	char *rest, *boot, *directory;

	for (int i = 0; i < n; i++) {
		const char *id = found[i]->d_name + strlen(NOTE);
		autofree char *text = path_text(NOTE_MAX, "%s/" NOTE "%s", c->run, id);

		rest = text;
		boot = next_line(&rest);
		directory = next_line(&rest);
		/* We remove the note before fn() is called, which may begin the window again and
		   write a note of the same name. */
		window_note_done(c, id);
		if (directory != NULL && strcmp(boot, boot_id()) == 0 &&
		    strcmp(directory, c->directory) == 0 && !is_made(c, id))
			note_read(rest, fn, arg);
		free(found[i]);
	}
	free(found);
}
