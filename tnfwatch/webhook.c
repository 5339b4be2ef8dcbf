/*
 * webhook.c - triggers that are fired by an HTTP request.
 */
#include <sys/socket.h>

#include <json-c/json.h>
#include <microhttpd.h>
#include <strings.h>
#include <unistd.h>

#include "common/proc.h"
#include "common/xalloc.h"
#include "tnfwatch/webhook.h"

#define BODY_MAX	(1u << 20)
#define CLIENTS_MAX	16
#define PATIENCE_S	5	/* for a whole request, however often something comes ... */
#define CROWDED_NS	INT64_C(500000000)	/* ... and while all places are taken */
#define RUN_NS		INT64_C(5000000)	/* at a time: others wait for us */

/* A place for a connection. */
struct client {
	struct MHD_Connection *c;	/* NULL: it is free */
	int64_t	 since;		/* monotonic: its beginning, or the end of its last request */
};

struct webhook {
	struct MHD_Daemon *http;
	char	*path;		/* of a Unix socket, or NULL */
	webhook_fn *fn;
	webhook_metrics_fn *metrics;	/* or NULL */
	void	*arg;
	int	 fd;		/* becomes readable */
	int	 listen;
	struct client client[CLIENTS_MAX];
};

/* A request that is being read. */
struct request {
	char	*body;
	size_t	 size;
	unsigned refuse;	/* with this status, or 0 */
	bool	metrics;	/* GET /metrics */
};

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

/* Calls fn for each alert in a request's body that is firing; 'name' (NULL: the alert's own)
   is the trigger.  Returns how many there were, or -1: the text is no such JSON. */
static int
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

static enum MHD_Result
webhook_answer(struct MHD_Connection *c, unsigned status, const char *text)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text),
	    (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	if (r == NULL)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "POST");
	enum MHD_Result done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

/* True if the body is JSON.  A page of another site can send a form or text, but no JSON
   unasked. */
static bool
is_json(struct MHD_Connection *c)
{
	const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_CONTENT_TYPE);
	size_t n = strlen("application/json");

	return type != NULL && strncasecmp(type, "application/json", n) == 0 &&
	    (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

static const char *
webhook_refusal(unsigned status)
{
	switch (status) {
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "POST alerts here\n";
	case MHD_HTTP_UNSUPPORTED_MEDIA_TYPE:
		return "the content type is to be application/json\n";
	case MHD_HTTP_FORBIDDEN:
		return "not for web pages: another host, or an origin\n";
	default:
		return "more than 1 MiB\n";
	}
}

static const char *
header_of(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* True if a page of another site sends the request.  A page whose name leads to this machine's own
   address sends another host than ours, and all requests of pages have an origin.  On a Unix socket
   any host will do. */
static bool
is_foreign(const struct webhook *w, struct MHD_Connection *c)
{
	static const char *const ours[] = { "127.0.0.1", "localhost", "[::1]" };
	const char *host = header_of(c, MHD_HTTP_HEADER_HOST);
	size_t n;

	if (header_of(c, MHD_HTTP_HEADER_ORIGIN) != NULL)
		return true;
	if (w->path != NULL)
		return false;
	for (size_t i = 0; host != NULL && i < sizeof(ours) / sizeof(ours[0]); i++) {
		n = strlen(ours[i]);
		if (strncasecmp(host, ours[i], n) == 0 && (host[n] == '\0' || host[n] == ':'))
			return false;
	}
	return true;
}

static bool
says_too_much(struct MHD_Connection *c)
{
	const char *length = header_of(c, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length != NULL && strtoull(length, NULL, 10) > BODY_MAX;
}

static bool
wants_metrics(const struct webhook *w, const char *method, const char *url)
{
	return w->metrics != NULL && strcmp(url, "/metrics") == 0 &&
	    (strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0);
}

/* Begins a request; if it announces too large a body, it is answered before the body comes. */
static enum MHD_Result
request_begins(const struct webhook *w, struct MHD_Connection *c, const char *url,
    const char *method, void **state)
{
	struct request *r = tnf_xcalloc(1, sizeof(*r));

	*state = r;
	if (says_too_much(c))
		return webhook_answer(c, MHD_HTTP_CONTENT_TOO_LARGE,
		    webhook_refusal(MHD_HTTP_CONTENT_TOO_LARGE));
	if (is_foreign(w, c))
		r->refuse = MHD_HTTP_FORBIDDEN;
	else if (wants_metrics(w, method, url))
		r->metrics = true;
	else if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
		r->refuse = MHD_HTTP_METHOD_NOT_ALLOWED;
	else if (!is_json(c))
		r->refuse = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
	return MHD_YES;
}

static void
request_takes(struct request *r, const char *data, size_t n)
{
	if (n > BODY_MAX - r->size)
		r->refuse = MHD_HTTP_CONTENT_TOO_LARGE;
	if (r->refuse != 0)
		return;
	r->body = tnf_xreallocarray(r->body, r->size + n + 1, 1);
	memcpy(r->body + r->size, data, n);
	r->size += n;
	r->body[r->size] = '\0';
}

static enum MHD_Result
answer_metrics(const struct webhook *w, struct MHD_Connection *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct MHD_Response *r = NULL;
	bool wanted = f != NULL && w->metrics(w->arg, f), whole = f != NULL && fclose(f) == 0;

	if (wanted && whole)
		r = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
	if (r == NULL) {
		free(text);
		return wanted ? MHD_NO : webhook_answer(c, MHD_HTTP_METHOD_NOT_ALLOWED,
		    webhook_refusal(MHD_HTTP_METHOD_NOT_ALLOWED));
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4");
	enum MHD_Result done = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result
request_ends(struct webhook *w, struct MHD_Connection *c, const char *url,
    const struct request *r)
{
	unsigned fired, unknown;
	char text[80];

	if (r->refuse != 0)
		return webhook_answer(c, r->refuse, webhook_refusal(r->refuse));
	if (r->metrics)
		return answer_metrics(w, c);
	url += *url == '/';
	int n = r->body == NULL ? -1 : webhook_alerts(r->body, r->size, *url != '\0' ? url : NULL,
	    w->fn, w->arg, &fired, &unknown);
	if (n < 0)
		return webhook_answer(c, MHD_HTTP_BAD_REQUEST, "no JSON of Alertmanager\n");
	if (n > 0 && fired == 0)
		return webhook_answer(c, MHD_HTTP_NOT_FOUND, "there is no trigger of that name\n");
	snprintf(text, sizeof(text), "fired: %u, unknown: %u\n", fired, unknown);
	return webhook_answer(c, MHD_HTTP_OK, text);
}

/* Called when the header is there, for each part of the body, and at its end. */
static enum MHD_Result
on_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
    const char *version, const char *data, size_t *size, void **state)
{
	if (*state == NULL)
		return request_begins(arg, c, url, method, state);
	if (*size == 0)
		return request_ends(arg, c, url, *state);
	request_takes(*state, data, *size);
	*size = 0;
	return MHD_YES;
}

static void
on_end(void *arg, struct MHD_Connection *c, void **state,
    enum MHD_RequestTerminationCode how)
{
	struct request *r = *state;
	struct webhook *w = arg;

	if (r != NULL)
		free(r->body);
	free(r);
	*state = NULL;
	for (struct client *i = w->client; i < w->client + CLIENTS_MAX; i++)
		if (i->c == c)
			i->since = clock_ns(CLOCK_MONOTONIC);
}

static void
on_client(void *arg, struct MHD_Connection *c, void **state,
    enum MHD_ConnectionNotificationCode what)
{
	struct webhook *w = arg;
	const struct MHD_Connection *was = what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c;

	for (struct client *i = w->client; i < w->client + CLIENTS_MAX; i++)
		if (i->c == was) {
			i->c = was == NULL ? c : NULL;
			i->since = clock_ns(CLOCK_MONOTONIC);
			return;
		}
}

/* Drops slow clients: one that sends a byte now and then would keep its place for ever. */
static void
clients_let_down(struct webhook *w)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC), patience = CROWDED_NS;
	const union MHD_ConnectionInfo *info;

	for (int i = 0; i < CLIENTS_MAX; i++)
		if (w->client[i].c == NULL)
			patience = PATIENCE_S * INT64_C(1000000000);
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (w->client[i].c != NULL && now - w->client[i].since > patience &&
		    (info = MHD_get_connection_info(w->client[i].c,
		    MHD_CONNECTION_INFO_CONNECTION_FD)) != NULL)
			shutdown(info->connect_fd, SHUT_RDWR);
}

static void
say_nothing(void *arg, const char *format, va_list ap)
{
}

struct webhook *
webhook_open(const char *address, webhook_fn *fn, webhook_metrics_fn *metrics, void *arg,
    char why[WEBHOOK_WHY])
{
	struct webhook *w = tnf_xcalloc(1, sizeof(*w));
	const union MHD_DaemonInfo *info;
	int fd = webhook_listen(address, why);

	w->fn = fn;
	w->metrics = metrics;
	w->arg = arg;
	w->listen = fd;
	w->path = fd >= 0 && *address == '/' ? tnf_xstrdup(address) : NULL;
	if (fd >= 0)
		w->http = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		    on_request, w, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		    MHD_OPTION_LISTEN_SOCKET, fd,
		    MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS_MAX,
		    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE_S,
		    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
		    MHD_OPTION_NOTIFY_CONNECTION, on_client, w,
		    MHD_OPTION_NOTIFY_COMPLETED, on_end, w, MHD_OPTION_END);
	info = w->http == NULL ? NULL : MHD_get_daemon_info(w->http, MHD_DAEMON_INFO_EPOLL_FD);
	if (info != NULL) {
		w->fd = info->epoll_fd;
		return w;
	}
	if (fd >= 0) {
		snprintf(why, WEBHOOK_WHY, "cannot be served: %s", strerror(errno));
		if (w->http == NULL)
			close(fd);
	}
	webhook_close(w);
	return NULL;
}

void
webhook_close(struct webhook *w)
{
	if (w == NULL)
		return;
	if (w->http != NULL)
		MHD_stop_daemon(w->http);
	if (w->path != NULL)
		unlink(w->path);
	free(w->path);
	free(w);
}

void
webhook_forked(struct webhook *w)
{
	close(w->listen);
}

int
webhook_fd(const struct webhook *w)
{
	return w->fd;
}

void
webhook_run(struct webhook *w)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + RUN_NS;
	MHD_UNSIGNED_LONG_LONG wait;

	clients_let_down(w);
	/* MHD_run() reads once from each connection. */
	do
		MHD_run(w->http);
	while (MHD_get_timeout(w->http, &wait) == MHD_YES && wait == 0 &&
	    clock_ns(CLOCK_MONOTONIC) < until);
}
