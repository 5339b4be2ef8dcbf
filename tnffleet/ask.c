/*
 * ask.c - tnfwatch ask: the history of many machines around one moment.
 *
 * First all machines keep the history that we ask for; then we fetch it, as slowly as need be.
 * The whole state lies in the directory: DIRECTORY/.question is the question, and
 * DIRECTORY/HOST/ has the files from a host.  A file that is not whole has a hidden name, and
 * its length tells how much is there.  After a kill the same command goes on.
 */
#include <zlib.h>
#include <zstd.h>

#include "common/text.h"
#include "tnffleet/fleet.h"
#include "tnfwatch/watch.h"

#define HOSTS_MAX	10000
#define WORKERS		32		/* hosts that are fetched from at once */
#define STATUS_MISSING	3
#define REQUEST_MS	5000		/* for one answer */
#define PIECE_LEAST	(INT64_C(16) << 10)	/* bytes that are asked for at once, over a slow link */
#define LINE_PIN	(64 << 20)	/* bytes of answers that wait: of all machines */
#define LINE_FETCH	(4 * FLEET_CHUNK)	/* of the one that a worker asks */
#define POLL_NS		(50 * MS)
#define DEADLINE	(INT64_C(3600) * SECOND)	/* for one host */
#define BYTES_MAX	(INT64_C(4) << 30)		/* of one host */

static struct ask_host *
ask_host_of(struct ask *a, const char *name)
{
	for (unsigned i = 0; i < a->n_hosts; i++)
		if (strcmp(a->host[i].name, name) == 0)
			return &a->host[i];
	if (a->n_hosts == HOSTS_MAX)
		return NULL;
	a->host = tnf_xreallocarray(a->host, a->n_hosts + 1, sizeof *a->host);
	a->host[a->n_hosts] = (struct ask_host){ .error = -1 };
	snprintf(a->host[a->n_hosts].name, FLEET_NAME, "%s", name);
	return &a->host[a->n_hosts++];
}

/* Keeps the clock's offset from the exchange that took the shortest time, which is the most exact;
   fleet_clock_offset() computes it. */
static void
ask_clock(struct ask_host *h, int64_t sent, int64_t got, const struct fleet_message *m)
{
	int64_t offset, error;

	if (!fleet_clock_offset(m, sent, got, &offset, &error) || (h->error >= 0 && h->error <= error))
		return;
	h->error = error;
	h->offset = offset;
}

static void
ask_expect(struct ask *a, kvEntry *e, struct fleet_message *m)
{
	struct ask_host *h;

	if (kvEntry_Operation(e) != kvOp_Put || kvEntry_ValueLen(e) <= 0 ||
	    !fleet_decode(kvEntry_Value(e), (size_t)kvEntry_ValueLen(e), m, NULL) ||
	    strcmp(m->kind, "lease") != 0 || strcmp(m->host, kvEntry_Key(e)) != 0 ||
	    !fleet_matches(a->question, m->host, m->label, m->n_labels) ||
	    (h = ask_host_of(a, m->host)) == NULL)
		return;
	h->until = m->until;
}

/* Reads from the registry which hosts are expected. */
static bool
ask_registry(struct ask *a)
{
	autofree struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	jsCtx *js = NULL;
	const char *why = "";
	char refused[FLEET_TEXT];
	kvStore *kv = fleet_registry(a->c, a->nc, &js, &why);
	kvWatchOptions options;
	kvWatcher *w = NULL;
	kvEntry *e;
	bool good = false;

	kvWatchOptions_Init(&options);
	if (fleet_refused(a->nc, refused))
		say("the registry of hosts: %s: who may ask is said by the permissions of "
		    "nats-server", refused);
	else if (kv == NULL)
		say("the registry of hosts: %s: is JetStream on in nats-server, and may we "
		    "read it?", why);
	else if (kvStore_WatchAll(&w, kv, &options) != NATS_OK)
		say("the registry of hosts cannot be read");
	else {
		/* A NULL entry comes behind the entries that were there at first. */
		while ((good = kvWatcher_Next(&e, w, REQUEST_MS) == NATS_OK) && e != NULL) {
			ask_expect(a, e, m);
			kvEntry_Destroy(e);
		}
		if (!good)
			say("the registry of hosts: no answer");
	}
	kvWatcher_Destroy(w);
	kvStore_Destroy(kv);
	jsCtx_Destroy(js);
	return good;
}

/* Opens a subscription for answers: reply subjects are INBOX.N or INBOX, and answers come to
   these with the name of a host behind.  At most 'bytes' of answers wait until they are read,
   whoever sends them. */
static bool
ask_line_open(struct ask *a, struct ask_line *l, int bytes)
{
	natsInbox *inbox = NULL;
	char subject[FLEET_TEXT];
	natsStatus s = natsInbox_Create(&inbox);

	*l = (struct ask_line){ .sub = NULL };
	if (s == NATS_OK) {
		snprintf(l->inbox, sizeof l->inbox, "%s.0", inbox);
		snprintf(subject, sizeof subject, "%s.>", inbox);
		s = natsConnection_SubscribeSync(&l->sub, a->nc, subject);
	}
	if (s == NATS_OK)
		s = natsSubscription_SetPendingLimits(l->sub, 2 * HOSTS_MAX, bytes);
	natsInbox_Destroy(inbox);
	return s == NATS_OK;
}

static void
ask_line_close(struct ask_line *l)
{
	natsSubscription_Destroy(l->sub);
}

/* Sets a new subject for answers, which no answer to an earlier request can have. */
static void
ask_line_fresh(struct ask_line *l)
{
	char *dot = strrchr(l->inbox, '.');

	snprintf(dot, sizeof l->inbox - (size_t)(dot - l->inbox), ".%u", ++l->n);
}

/* Takes the next message, by which the server may say that nobody listens; false: none came in
   time. */
static bool
ask_line_next(struct ask_line *l, int64_t wait, natsMsg **msg)
{
	*msg = NULL;
	return natsSubscription_NextMsg(msg, l->sub, wait / MS + 1) == NATS_OK;
}

static unsigned
ask_count(const struct ask *a, enum host_state s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n_hosts; i++)
		n += a->host[i].state == s;
	return n;
}

/* Notes how far back the host reaches.  It sends back the time that was asked for, by its clock. */
static void
ask_reach(struct ask_host *h, const struct fleet_message *m)
{
	h->state = H_PINNED;
	h->since = m->since;
	h->lacks = 0;
	if (m->since == 0 || m->at == 0 || m->since <= m->at - m->last)
		return;
	h->lacks = m->since - (m->at - m->last);
	if (h->lacks >= m->last)
		h->state = H_SHORT;
}

static void
ask_pinned(struct ask *a, const struct fleet_message *m, const char *subject,
    const char *inbox, int64_t sent)
{
	char expected[FLEET_TEXT];
	struct ask_host *h;

	/* The subject says who has answered, as far as the server's permissions do. */
	fleet_answer(inbox, m->host, expected, sizeof expected);
	if (strcmp(m->question, a->question->question) != 0 || *m->host == '\0' ||
	    strcmp(subject, expected) != 0 || (h = ask_host_of(a, m->host)) == NULL)
		return;
	if (strcmp(m->kind, "pinned") == 0) {
		ask_clock(h, sent, now_wall(), m);
		ask_reach(h, m);
	} else if (strcmp(m->kind, "refused") == 0 && h->state == H_EXPECTED) {
		h->state = H_REFUSED;
		memcpy(h->why, m->why, sizeof h->why);
	}
}

/* Publishes the question; false: it has been said why not. */
static bool
ask_publish(struct ask *a, const char *reply)
{
	char subject[FLEET_TEXT], why[FLEET_TEXT];

	fleet_subject(a->c, "ask", a->c->fleet.asker, subject, sizeof subject);
	a->question->sent = now_wall();
	if (!fleet_publish(a->nc, subject, reply, a->question)) {
		say("%s: cannot ask: no connection to the server", subject);
		return false;
	}
	natsConnection_FlushTimeout(a->nc, REQUEST_MS);
	if (fleet_refused(a->nc, why)) {
		say("%s: cannot ask: %s: who may is said by the permissions of nats-server",
		    subject, why);
		return false;
	}
	return true;
}

/* Prints how far back the host reaches that reaches least. */
static void
ask_print_reach(const struct ask *a)
{
	const struct ask_host *least = NULL, *h;
	int64_t since = 0;

	for (unsigned i = 0; i < a->n_hosts; i++) {
		h = &a->host[i];
		if (h->since != 0 && (least == NULL || h->since + h->offset > since)) {
			least = h;
			since = h->since + h->offset;
		}
	}
	if (least != NULL)
		printf("reach: %.1f s at least, of %s\n", (double)(a->question->sent - since) / 1e9,
		    least->name);
}

static bool
ask_pin(struct ask *a)
{
	autofree struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	struct ask_line line = { .sub = NULL };
	natsMsg *msg;
	int64_t begun = now_mono(), sent = now_wall(), left;
	bool good = ask_line_open(a, &line, LINE_PIN);

	if (!good)
		say("cannot ask: no connection to the server");
	else
		good = ask_publish(a, line.inbox);
	while (good && (left = a->wait - (now_mono() - begun)) > 0 &&
	    (a->n_hosts == 0 || ask_count(a, H_EXPECTED) > 0)) {
		if (!ask_line_next(&line, left, &msg))
			break;
		if (fleet_decode(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), m, NULL))
			ask_pinned(a, m, natsMsg_GetSubject(msg), line.inbox, sent);
		natsMsg_Destroy(msg);
	}
	if (good) {
		printf("pin: %u of %u hosts keep it, after %.3f s\n", ask_count(a, H_PINNED), a->n_hosts,
		    (double)(now_mono() - begun) / 1e9);
		ask_print_reach(a);
	}
	fflush(stdout);
	ask_line_close(&line);
	return good;
}

/* Handles a request that was not answered in time.  The link may be slow: the answers to all
   workers share it; we would ask again for late answers, and they would come late again. */
static void
ask_late(struct ask_host *h)
{
	strcpy(h->why, "it does not answer");
	if (h->piece / 2 >= PIECE_LEAST)
		h->piece /= 2;
}

/* Takes an answer to the last request; false: there is none, h->why says so. */
static bool
ask_answer(struct ask_host *h, natsMsg **msg)
{
	int64_t until = now_mono() + REQUEST_MS * MS, left;
	char expected[FLEET_TEXT];

	fleet_answer(h->line->inbox, h->name, expected, sizeof expected);
	while ((left = until - now_mono()) > 0) {
		*msg = NULL;
		switch (natsSubscription_NextMsg(msg, h->line->sub, left / MS + 1)) {
		case NATS_OK:
			break;
		case NATS_NO_RESPONDERS:
			strcpy(h->why, "it is away");
			return false;
		default:
			ask_late(h);
			return false;
		}
		if (strcmp(natsMsg_GetSubject(*msg), expected) == 0)
			return true;
		/* The message answers a request that was given up, or comes from another host or
		   from the server. */
		if (strcmp(natsMsg_GetSubject(*msg), h->line->inbox) == 0 &&
		    natsMsg_IsNoResponders(*msg))
			until = 0;
		natsMsg_Destroy(*msg);
	}
	*msg = NULL;
	if (until == 0)
		strcpy(h->why, "it is away");
	else
		ask_late(h);
	return false;
}

/* Sends one request and waits for its answer, of that host and question; false: not now. */
static bool
ask_request(struct ask *a, struct ask_host *h, struct fleet_message *m, natsMsg **msg)
{
	char subject[FLEET_TEXT];
	int64_t sent = now_wall();

	strcpy(m->question, a->question->question);
	strcpy(m->host, h->name);
	fleet_subject(a->c, "host", h->name, subject, sizeof subject);
	ask_line_fresh(h->line);
	*msg = NULL;
	if (!fleet_publish(a->nc, subject, h->line->inbox, m) || !ask_answer(h, msg))
		return false;
	if (fleet_decode(natsMsg_GetData(*msg), (size_t)natsMsg_GetDataLength(*msg), m, NULL) &&
	    strcmp(m->host, h->name) == 0 && strcmp(m->question, a->question->question) == 0) {
		ask_clock(h, sent, now_wall(), m);
		snprintf(h->why, sizeof h->why, "%s", m->why);
		return true;
	}
	snprintf(h->why, sizeof h->why, "its answer is none");
	natsMsg_Destroy(*msg);
	*msg = NULL;
	return false;
}

static void
ask_pause(int64_t ns)
{
	nanosleep(&(struct timespec){ ns / SECOND, ns % SECOND }, NULL);
}

/* The bytes of a chunk, checked; NULL: the chunk is not the one that was asked for. */
static const unsigned char *
ask_unpack(const struct fleet_message *m, unsigned char *room)
{
	const unsigned char *p = m->body;
	size_t n = m->body_size;

	if (m->length < 0 || m->length > FLEET_CHUNK)
		return NULL;
	if (m->packed) {
		n = ZSTD_decompress(room, FLEET_CHUNK, m->body, m->body_size);
		p = room;
		if (ZSTD_isError(n))
			return NULL;
	}
	return n == (size_t)m->length && (int64_t)crc32(0, p, (uInt)n) == m->crc ? p : NULL;
}

/* Fetches and writes the next chunk of a file, of the length that was asked for; false: not
   now. */
static bool
ask_chunk(struct ask *a, struct ask_host *h, const struct fleet_file *f, int fd, int64_t at,
    int64_t *got)
{
	int64_t length = f->size - at < h->piece ? f->size - at : h->piece;
	autofree struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	autofree unsigned char *room = tnf_xcalloc(1, FLEET_CHUNK);
	natsMsg *msg = NULL;
	bool good = false;

	strcpy(m->kind, "get");
	strcpy(m->file, f->name);
	m->offset = at;
	m->length = length;
	if (ask_request(a, h, m, &msg) && strcmp(m->kind, "chunk") == 0) {
		const unsigned char *p = strcmp(m->file, f->name) == 0 && m->offset == at &&
		    m->length == length ? ask_unpack(m, room) : NULL;
		if (p == NULL)
			snprintf(h->why, sizeof h->why, "%s: a chunk that is not what was asked "
			    "for", f->name);
		else if (pwrite(fd, p, (size_t)m->length, at) != m->length)
			snprintf(h->why, sizeof h->why, "%s: %s", f->name, strerror(errno));
		else {
			*got = m->length;
			h->wire += natsMsg_GetDataLength(msg);
			h->chunks++;
			good = true;
		}
	}
	natsMsg_Destroy(msg);
	return good;
}

/* True if nothing has come since 'last' for so long that it is time to give up. */
static bool
ask_gives_up(const struct ask *a, struct ask_host *h, int64_t last)
{
	int64_t now = now_mono();

	if (now > h->deadline)
		snprintf(h->why, sizeof h->why, "takes longer than --deadline");
	return now > h->deadline || now - last > a->patience;
}

/* Fetches a file, and goes on with one that was begun; false: given up. */
static bool
ask_file(struct ask *a, struct ask_host *h, int dir, const struct fleet_file *f)
{
	autofree char *part = tnf_xasprintf(".part-%s", f->name);
	struct stat st;
	int64_t at, got, last = now_mono();

	if (fstatat(dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == f->size) {
		h->again += st.st_size;
		return true;
	}
	autoclose int fd = openat(dir, part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		snprintf(h->why, sizeof h->why, "%s: %s", f->name, strerror(errno));
		return false;
	}
	at = st.st_size <= f->size ? st.st_size : 0;
	if (at == 0 && st.st_size > 0 && ftruncate(fd, 0) != 0)
		at = -1;
	h->again += at;
	while (at >= 0 && at < f->size && !ask_gives_up(a, h, last)) {
		if (ask_chunk(a, h, f, fd, at, &got)) {
			at += got;
			h->bytes += got;
			last = now_mono();
		} else
			ask_pause(4 * POLL_NS);
	}
	return at == f->size && fsync(fd) == 0 && renameat(dir, part, dir, f->name) == 0;
}

/* Asks for the list of the host's files until the host has all of them; false: given up. */
static bool
ask_list(struct ask *a, struct ask_host *h, struct fleet_message *m)
{
	int64_t begun = now_mono(), pause = POLL_NS;
	natsMsg *msg;

	for (;;) {
		memset(m, 0, sizeof *m);
		strcpy(m->kind, "list");
		msg = NULL;
		if (ask_request(a, h, m, &msg)) {
			natsMsg_Destroy(msg);
			if (strcmp(m->kind, "kept") == 0 && m->complete)
				return true;
			if (strcmp(m->kind, "refused") == 0)
				return false;
		}
		if (ask_gives_up(a, h, begun))
			return false;
		ask_pause(pause);
		if (pause < SECOND)
			pause *= 2;
	}
}

static void
ask_write_clock(int dir, const struct ask_host *h)
{
	int fd = openat(dir, "clock", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	dprintf(fd, "host %s\n", h->name);
	if (h->error >= 0)
		dprintf(fd, "offset %" PRId64 "\nerror %" PRId64 "\n", h->offset, h->error);
	close(fd);
}

/* True if the files fit into what one host may send. */
static bool
ask_fits(const struct ask *a, struct ask_host *h, const struct fleet_message *m)
{
	int64_t left = a->bytes;

	for (unsigned i = 0; i < m->n_files; i++) {
		if (m->files[i].size > left) {
			snprintf(h->why, sizeof h->why, "has more than --bytes %" PRId64, a->bytes);
			return false;
		}
		left -= m->files[i].size;
	}
	return true;
}

static void
ask_fetch_host(struct ask *a, struct ask_host *h)
{
	struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	int dir = -1;
	bool good = false;

	h->deadline = now_mono() + a->deadline;
	if ((mkdirat(a->dir, h->name, 0700) == 0 || errno == EEXIST) &&
	    (dir = openat(a->dir, h->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0 &&
	    ask_list(a, h, m)) {
		good = ask_fits(a, h, m);
		h->piece = m->length > 0 && m->length < FLEET_CHUNK ? m->length : FLEET_CHUNK;
		for (unsigned i = 0; good && i < m->n_files; i++)
			good = strcmp(m->files[i].name, "clock") != 0 &&
			    ask_file(a, h, dir, &m->files[i]);
		h->files = m->n_files;
		ask_write_clock(dir, h);
	} else if (dir < 0)
		snprintf(h->why, sizeof h->why, "%s", strerror(errno));
	h->state = !good ? H_FAILED : *m->why != '\0' ? H_PART : H_FETCHED;
	if (h->state == H_PART)
		memcpy(h->why, m->why, sizeof h->why);
	if (dir >= 0)
		close(dir);
	free(m);
}

static void *
ask_worker(void *arg)
{
	struct ask *a = arg;
	struct ask_line line;

	if (!ask_line_open(a, &line, LINE_FETCH))
		return NULL;
	for (;;) {
		pthread_mutex_lock(&a->lock);
		unsigned i = a->next++;
		pthread_mutex_unlock(&a->lock);
		if (i >= a->n_hosts)
			break;
		if (a->host[i].state != H_PINNED)
			continue;
		a->host[i].line = &line;
		ask_fetch_host(a, &a->host[i]);
		a->host[i].line = NULL;
	}
	ask_line_close(&line);
	return NULL;
}

static void
ask_fetch(struct ask *a)
{
	pthread_t thread[WORKERS];
	int64_t begun = now_mono(), bytes = 0, wire = 0, again = 0;
	uint64_t chunks = 0;
	unsigned n = 0;

	while (n < WORKERS && n < a->n_hosts &&
	    pthread_create(&thread[n], NULL, ask_worker, a) == 0)
		n++;
	if (n == 0)
		ask_worker(a);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	for (unsigned i = 0; i < a->n_hosts; i++) {
		bytes += a->host[i].bytes;
		wire += a->host[i].wire;
		again += a->host[i].again;
		chunks += a->host[i].chunks;
	}
	printf("fetch: %u of %u hosts, %" PRIu64 " chunks, %" PRId64 " bytes (%" PRId64
	    " on the wire), %" PRId64 " were there, %.3f s\n", ask_count(a, H_FETCHED) + ask_count(a, H_PART),
	    a->n_hosts, chunks, bytes, wire, again, (double)(now_mono() - begun) / 1e9);
}

/* Prints that the host reaches back less far than was asked. */
static void
ask_report_short(const struct ask_host *h)
{
	int64_t since = h->since + h->offset;
	time_t t = (time_t)(since / SECOND);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&t, &tm) != NULL)
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	printf("missing: %s: reaches back to %s.%03dZ only: ", h->name, text,
	    (int)(since % SECOND / MS));
	if (h->state == H_SHORT)
		puts("it has nothing of what was asked");
	else
		printf("%.3f s of what was asked are not there\n", (double)h->lacks / 1e9);
}

static int
ask_report(const struct ask *a)
{
	static const char *const what[] = { [H_PINNED] = "has kept it, not fetched: ",
		[H_REFUSED] = "refused: ", [H_FAILED] = "has kept it, not fetched: ",
		[H_PART] = "fetched " };
	int64_t now = now_wall();
	unsigned missing = 0, fetched = ask_count(a, H_FETCHED), n_short = 0;

	for (unsigned i = 0; i < a->n_hosts; i++) {
		const struct ask_host *h = &a->host[i];

		if (h->lacks > 0) {
			ask_report_short(h);
			n_short++;
		}
		if (h->state == H_FETCHED || h->state == H_SHORT)
			continue;
		missing++;
		if (h->state == H_EXPECTED && h->until < now)
			printf("missing: %s: away for %.0f s\n", h->name,
			    (double)(now - h->until + FLEET_LEASE) / 1e9);
		else if (h->state == H_EXPECTED)
			printf("missing: %s: no answer\n", h->name);
		else
			tnf_printable_printf(stdout, "missing: %s: %s%s\n", h->name,
			    what[h->state], h->why);
	}
	if (a->n_hosts == 0)
		printf("no host is registered that is meant\n");
	if (missing > 0)
		printf("again: tnfwatch ask -o %s\n", a->directory);
	if (fetched + ask_count(a, H_PART) > 0)
		printf("merge: tnfdump --hosts %s/*\n", a->directory);
	return missing > 0 || n_short > 0 || a->n_hosts == 0 ? STATUS_MISSING : 0;
}

static int
ask_connected(struct ask *a)
{
	int status = 1;
	char why[FLEET_TEXT] = "";

	if ((a->nc = fleet_connect(a->c, NULL, why)) == NULL) {
		say("%s", why);
		return 1;
	}
	if (ask_registry(a) && ask_pin(a)) {
		ask_fetch(a);
		status = ask_report(a);
	}
	natsConnection_Close(a->nc);
	natsConnection_Destroy(a->nc);
	return fflush(stdout) == 0 ? status : 1;
}

int
ask_run(const char *file, int argc, char **argv)
{
	struct ask a = { .dir = -1, .wait = 10 * SECOND, .patience = 60 * SECOND,
	    .deadline = DEADLINE, .bytes = BYTES_MAX,
	    .lock = PTHREAD_MUTEX_INITIALIZER };
	struct config *c = config_read_places(file);
	bool asks_more = false;
	int status = 2;

	a.c = c;
	if (c == NULL)
		return 1;
	a.question = tnf_xcalloc(1, sizeof *a.question);
	strcpy(a.question->kind, "ask");
	if (c->fleet.servers == NULL)
		say("%s: no [fleet] with servers = ...: nobody to ask", c->file);
	else if (ask_options(&a, argc, argv, &asks_more)) {
		if (a.question->last != 0 && a.question->at == 0)
			a.question->at = now_wall();
		signal(SIGPIPE, SIG_IGN);
		status = ask_directory(&a, asks_more) ? ask_connected(&a) : 1;
	}
	nats_CloseAndWait(2000);
	if (a.dir >= 0)
		close(a.dir);
	free(a.host);
	free(a.question);
	config_free(c);
	return status;
}
