/*
 * window.c - one stall, from its first trigger to the end of what follows.
 */
#include <sys/file.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/json.h"
#include "tnfwatch/config.h"
#include "tnfwatch/incident.h"
#include "tnfwatch/util.h"
#include "tnfwatch/window.h"

#define QUESTIONS_MAX	(FIRINGS_MAX / 2)

static char *
copy_or_null(const char *s)
{
	return s != NULL ? tnf_xstrdup(s) : NULL;
}

/* The event as --to jsonl writes it.  Its text is made now, as its values go with the ring.
   NULL: there is no event. */
static char *
event_text(const struct tnf_event *ev)
{
	struct out o;
	struct json_values w = { .o = &o };

	if (ev == NULL)
		return NULL;
	tnf_out_memory(&o);
	out_lit(&o, "{\"time\":");
	tnf_out_i64(&o, ev->time);
	out_lit(&o, ",\"wall\":");
	json_wall(&o, ev->time + now_wall() - now_mono());
	json_who(&o, ev);
	json_probe(&o, ev->probe);
	out_lit(&o, ",\"args\":{");
	json_args(&w, ev);
	out_lit(&o, "}}");
	char *text = tnf_xstrndup(o.base, (size_t)(o.p - o.base));
	tnf_out_close(&o);
	return text;
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
	f->asked = false;
	f->trigger = tnf_xstrdup(trigger);
	f->time = fired->time;
	f->source = copy_or_null(source);
	f->reason = copy_or_null(fired->reason);
	f->note = copy_or_null(note);
	f->event = event_text(fired->event);
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
	}
	free(w->id);
	w->id = NULL;
	w->n_asked = 0;
	w->more = 0;
	w->open = w->resumed = false;
}

/*
 * Notes of open windows, for the tnfwatch that starts after this one: run/window-ID has the
 * boot, the trigger, the time and the reason, one in each line.  A note is not synced: it is
 * of no use after the machine went down.
 */
#define NOTE	"window-"
#define LINES	4

static void
put_line(FILE *f, const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		putc(*s == '\n' ? ' ' : *s, f);
	putc('\n', f);
}

void
window_note(const struct config *c, const struct window *w)
{
	const struct firing *first = window_trigger(w);
	int fd = path_open(O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, "%s/" NOTE "%s", c->run, w->id);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (f != NULL) {
		put_line(f, boot_id());
		put_line(f, first->trigger);
		fprintf(f, "%" PRId64 "\n", first->time);
		put_line(f, first->reason);
		fclose(f);
	}
}

void
window_note_done(const struct config *c, const char *id)
{
	path_unlink("%s/" NOTE "%s", c->run, id);
}

/* Is the incident made, or being made by a writer that has outlived its tnfwatch? */
static bool
is_made(const struct config *c, const char *id)
{
	int fd = path_open(O_RDONLY | O_DIRECTORY, "%s/incidents/" INCIDENT_TEMP "%s", c->directory, id);
	bool is = path_exists("%s/incidents/%s", c->directory, id) ||
	    (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0);

	if (fd >= 0)
		close(fd);
	return is;
}

static int
is_note(const struct dirent *d)
{
	return strncmp(d->d_name, NOTE, strlen(NOTE)) == 0;
}

void
window_notes_left(const struct config *c,
    void (*fn)(void *arg, const char *trigger, int64_t time, const char *reason), void *arg)
{
	struct dirent **found = NULL;
	int n = scandir(c->run, &found, is_note, alphasort);
	char *path, *text, *rest, *line[LINES];

	for (int i = 0; i < n; i++) {
		const char *id = found[i]->d_name + strlen(NOTE);

		path = tnf_xasprintf("%s/" NOTE "%s", c->run, id);
		rest = text = read_text(path, 4096);
		for (int l = 0; l < LINES; l++)
			line[l] = rest != NULL ? strsep(&rest, "\n") : NULL;
		/* The note goes first: a window that is begun again has a note of the same
		   name. */
		unlink(path);
		if (line[LINES - 1] != NULL && strcmp(line[0], boot_id()) == 0 && !is_made(c, id))
			fn(arg, line[1], strtoll(line[2], NULL, 10), line[3]);
		free(text);
		free(path);
		free(found[i]);
	}
	free(found);
}
