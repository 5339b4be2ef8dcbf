/*
 * webhook-json.c - the alerts in a request's body.
 */
#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

#include "tnfwatch/webhook.h"

#define NOTE_MAX	1024
#define DEPTH_MAX	32
#define ALERTS_MAX	100

/* A member that is a text; NULL: there is none. */
static const char *
text_of(struct json_object *o, const char *name)
{
	struct json_object *v;

	if (o == NULL || !json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, name, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

static struct json_object *
object_of(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	if (o != NULL && json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, name, &v);
	return v;
}

static void
note_add(char note[NOTE_MAX], const char *before, const char *text)
{
	size_t n = strlen(note);

	if (text != NULL && *text != '\0')
		snprintf(note + n, NOTE_MAX - n, "%s%s", n > 0 ? before : "", text);
}

/* "HighLatency: 99 % above 2 s; instance=a; since 2026-11-21T03:12:20Z" */
static void
make_note(struct json_object *alert, char note[NOTE_MAX])
{
	struct json_object *labels = object_of(alert, "labels");
	struct json_object *annotations = object_of(alert, "annotations");
	const char *summary = text_of(annotations, "summary");

	note[0] = '\0';
	note_add(note, "", text_of(labels, "alertname"));
	note_add(note, ": ", summary != NULL ? summary : text_of(annotations, "description"));
	note_add(note, "; instance=", text_of(labels, "instance"));
	note_add(note, "; job=", text_of(labels, "job"));
	note_add(note, "; since ", text_of(alert, "startsAt"));
}

/* A list of alerts, in which each is an object with labels. */
static int
each_alert(struct json_object *list, const char *name, webhook_fn *fn, void *arg,
    unsigned *fired, unsigned *unknown)
{
	size_t n = json_object_array_length(list);
	char note[NOTE_MAX];
	int firing = 0;

	for (size_t i = 0; i < n && i < ALERTS_MAX; i++) {
		struct json_object *alert = json_object_array_get_idx(list, i);
		struct json_object *labels = object_of(alert, "labels");
		const char *status = text_of(alert, "status"), *trigger = name;

		if (labels == NULL || !json_object_is_type(labels, json_type_object))
			return -1;
		if (status != NULL && strcmp(status, "firing") != 0)
			continue;
		if (trigger == NULL && (trigger = text_of(labels, "trigger")) == NULL)
			trigger = text_of(labels, "alertname");
		make_note(alert, note);
		firing++;
		if (trigger != NULL && fn(arg, trigger, note))
			++*fired;
		else
			++*unknown;
	}
	return firing;
}

int
webhook_alerts(const char *text, size_t size, const char *name, webhook_fn *fn, void *arg,
    unsigned *fired, unsigned *unknown)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	int n = -1;

	*fired = *unknown = 0;
	if (tok == NULL || size > INT32_MAX)
		return -1;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	struct json_object *root = json_tokener_parse_ex(tok, text, (int)size);
	if (root != NULL && json_tokener_get_parse_end(tok) != size &&
	    strspn(text + json_tokener_get_parse_end(tok), " \t\r\n") <
	    size - json_tokener_get_parse_end(tok)) {
		json_object_put(root);
		root = NULL;
	}
	struct json_object *list = object_of(root, "alerts");
	if (list != NULL && json_object_is_type(list, json_type_array))
		n = each_alert(list, name, fn, arg, fired, unknown);
	json_object_put(root);
	json_tokener_free(tok);
	return n;
}
