/*
 * current.c - the span of OpenTelemetry in which each thread is.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/attrs.h"
#include "common/map.h"
#include "tnfdump/current.h"
#include "tnfdump/origin.h"

struct current {
	struct map threads;	/* struct current_span by struct thread_key */
	char	trace[33], span[33];
};

struct thread_key {
	uint32_t host, lwpid;	/* of the machine */
	int64_t	 pid;
};

bool
current_is_told(const struct tnf_event *ev)
{
	return ev->probe->n_members == 3 && !ev->kernel && strcmp(ev->probe->name, "otel_context") == 0;
}

static struct current *
current_room(struct dump *d)
{
	if (d->current == NULL) {
		d->current = tnf_xcalloc(1, sizeof(*d->current));
		tnf_map_init(&d->current->threads, sizeof(struct current_span));
	}
	return d->current;
}

static struct thread_key
key_of(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key = { tnf_file_host(ev->file), 0, 0 };
	int32_t pid;

	origin_host(d, ev, &pid, &key.lwpid);
	key.pid = pid;
	return key;
}

void
current_feed(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key;
	struct current_span *now;
	struct tnf_value v[3];

	if (!current_is_told(ev))
		return;
	for (unsigned i = 0; i < 3; i++)
		if (!tnf_event_value(ev, i, &v[i]) || v[i].kind != TNF_K_UINT64)
			return;
	key = key_of(d, ev);
	now = tnf_xmap_put(&current_room(d)->threads, &key, sizeof(key), NULL);
	*now = (struct current_span){ { v[0].u.u, v[1].u.u }, v[2].u.u };
}

const struct current_span *
current_of(struct dump *d, const struct tnf_event *ev)
{
	const struct current_span *now;
	struct thread_key key;

	/* With --reverse, events are put out after all have been shown. */
	if (d->current == NULL || d->reverse != NULL)
		return NULL;
	key = key_of(d, ev);
	now = tnf_map_get(&d->current->threads, &key, sizeof(key));
	return now != NULL && now->span != 0 ? now : NULL;
}

/* Copies the text of the event's own member; false: it has none. */
static bool
own_text(const struct tnf_event *ev, const char *member, char text[33])
{
	int m = perprobe_member(ev->probe, member);
	struct tnf_value v;

	if (m < 0 || !tnf_event_value(ev, (unsigned)m, &v) || v.null || v.kind != TNF_K_STRING ||
	    v.u.s.len > 32)
		return false;
	snprintf(text, 33, "%.*s", (int)v.u.s.len, v.u.s.chars);
	return true;
}

const char *
current_trace(struct dump *d, const struct tnf_event *ev)
{
	char *text = current_room(d)->trace;
	const struct current_span *now;

	if (own_text(ev, "trace", text))
		return text;
	if ((now = current_of(d, ev)) == NULL)
		return NULL;
	snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, now->trace[0], now->trace[1]);
	return text;
}

const char *
current_id(struct dump *d, const struct tnf_event *ev)
{
	char *text = current_room(d)->span;
	const struct current_span *now;

	if (own_text(ev, "span", text))
		return text;
	if ((now = current_of(d, ev)) == NULL)
		return NULL;
	snprintf(text, 33, "%016" PRIx64, now->span);
	return text;
}

void
current_free(struct dump *d)
{
	if (d->current != NULL)
		tnf_map_free(&d->current->threads);
	free(d->current);
	d->current = NULL;
}
