/*
 * fleet-ask.c - tnfwatch ask: the history of many machines around one moment.
 *
 * First everybody keeps what is asked for, then it is fetched, as slowly as need be.
 * All that is known lies in the directory: DIRECTORY/.question is the question,
 * DIRECTORY/HOST/ what came from a host, a file that is not whole under a hidden name,
 * whose length says how much of it is there.  Who is killed asks again and goes on.
 */
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "analysis/expr/expr.h"
#include "analysis/timespec.h"
#include "analysis/units.h"
#include "common/printable.h"
#include "tnfwatch/fleet.h"
#include "tnfwatch/util.h"
#include "tnfwatch/watch.h"

#define HOSTS_MAX	10000
#define WORKERS		8
#define STATUS_MISSING	3
#define REQUEST_MS	5000		/* for one answer */
#define POLL_NS		(50 * MS)
#define DEADLINE	(INT64_C(3600) * SECOND)	/* for one host */
#define BYTES_MAX	(INT64_C(4) << 30)		/* of one host */

enum host_state { H_EXPECTED, H_PINNED, H_REFUSED, H_FETCHED, H_PART, H_FAILED };

struct ask_host {
	char	 name[FLEET_NAME];
	bool	 registered;
	int64_t	 until;			/* its lease, asker's clock */
	enum host_state state;
	int64_t	 offset, error;		/* add to its clock; error < 0: not measured */
	char	 why[FLEET_TEXT];
	unsigned files;
	int64_t	 piece;			/* what it gives at once */
	int64_t	 deadline;		/* of its fetch */
	int64_t	 bytes, wire, again;	/* got now; over the wire; were there */
	uint64_t chunks;
};

struct ask {
	const struct config *c;
	const char *directory;
	int	 dir;
	int64_t	 wait, patience;
	int64_t	 deadline, bytes;	/* of one host, which may lie */
	struct fleet_message *question;
	natsConnection *nc;
	struct ask_host *host;
	unsigned n_hosts;
	unsigned next;			/* of the workers */
	pthread_mutex_t lock;
};

/* --- hosts --- */

static struct ask_host *
ask_host_of(struct ask *a, const char *name)
{
	for (unsigned i = 0; i < a->n_hosts; i++)
		if (strcmp(a->host[i].name, name) == 0)
			return &a->host[i];
	if (a->n_hosts == HOSTS_MAX)
		return NULL;
	a->host = xreallocarray(a->host, a->n_hosts + 1, sizeof *a->host);
	a->host[a->n_hosts] = (struct ask_host){ .error = -1 };
	snprintf(a->host[a->n_hosts].name, FLEET_NAME, "%s", name);
	return &a->host[a->n_hosts++];
}

/* Clocks of two machines by one exchange: it cannot be wrong by more than half of the
   time that was under way. */
static void
ask_clock(struct ask_host *h, int64_t sent, int64_t got, const struct fleet_message *m)
{
	int64_t way = (got - sent) - (m->sent - m->received), error = (way + 1) / 2;
	int64_t ahead = ((m->received - sent) + (m->sent - got)) / 2;

	if (m->received == 0 || m->sent < m->received || way < 0 ||
	    (h->error >= 0 && h->error <= error))
		return;
	h->error = error;
	h->offset = -ahead;
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
	h->registered = true;
	h->until = m->until;
}

/* Who is expected. */
static bool
ask_registry(struct ask *a)
{
	struct fleet_message *m = xcalloc(1, sizeof *m);
	jsCtx *js = NULL;
	const char *why = "";
	kvStore *kv = fleet_registry(a->c, a->nc, &js, &why);
	kvWatchOptions options;
	kvWatcher *w = NULL;
	kvEntry *e;
	bool good = false;

	kvWatchOptions_Init(&options);
	if (kv == NULL)
		say("the registry of hosts: %s: is JetStream on in nats-server, and may we "
		    "read it?", why);
	else if (kvStore_WatchAll(&w, kv, &options) != NATS_OK)
		say("the registry of hosts cannot be read");
	else {
		/* An entry that is none ends what was there when we came. */
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
	free(m);
	return good;
}

/* --- phase 1: pin --- */

static unsigned
ask_count(const struct ask *a, enum host_state s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n_hosts; i++)
		n += a->host[i].state == s;
	return n;
}

static void
ask_pinned(struct ask *a, const struct fleet_message *m, int64_t sent)
{
	struct ask_host *h;

	if (strcmp(m->question, a->question->question) != 0 || *m->host == '\0' ||
	    (h = ask_host_of(a, m->host)) == NULL)
		return;
	if (strcmp(m->kind, "pinned") == 0) {
		ask_clock(h, sent, now_wall(), m);
		h->state = H_PINNED;
	} else if (strcmp(m->kind, "refused") == 0 && h->state == H_EXPECTED) {
		h->state = H_REFUSED;
		memcpy(h->why, m->why, sizeof h->why);
	}
}

static bool
ask_pin(struct ask *a)
{
	struct fleet_message *m = xcalloc(1, sizeof *m);
	char subject[FLEET_TEXT];
	natsInbox *inbox = NULL;
	natsSubscription *sub = NULL;
	natsMsg *msg;
	int64_t begun = now_mono(), sent = now_wall(), left;
	natsStatus s = natsInbox_Create(&inbox);

	if (s == NATS_OK)
		s = natsConnection_SubscribeSync(&sub, a->nc, inbox);
	if (s == NATS_OK)
		s = natsSubscription_SetPendingLimits(sub, 2 * HOSTS_MAX, 64 << 20);
	fleet_subject(a->c, "ask", NULL, subject, sizeof subject);
	if (s != NATS_OK || !fleet_publish(a->nc, subject, inbox, a->question)) {
		say("%s: cannot ask: %s", subject, natsStatus_GetText(s));
		goto out;
	}
	natsConnection_FlushTimeout(a->nc, REQUEST_MS);
	while ((left = a->wait - (now_mono() - begun)) > 0 &&
	    (a->n_hosts == 0 || ask_count(a, H_EXPECTED) > 0)) {
		if ((s = natsSubscription_NextMsg(&msg, sub, left / MS + 1)) == NATS_TIMEOUT)
			break;
		if (s != NATS_OK)
			continue;
		if (fleet_decode(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), m, NULL))
			ask_pinned(a, m, sent);
		natsMsg_Destroy(msg);
	}
	s = NATS_OK;
	printf("pin: %u of %u hosts keep it, after %.3f s\n", ask_count(a, H_PINNED), a->n_hosts,
	    (double)(now_mono() - begun) / 1e9);
	fflush(stdout);
out:
	natsSubscription_Destroy(sub);
	natsInbox_Destroy(inbox);
	free(m);
	return s == NATS_OK;
}

/* --- phase 2: fetch --- */

/* One request and its answer, of that host and question; false: not now. */
static bool
ask_request(struct ask *a, struct ask_host *h, struct fleet_message *m, natsMsg **msg)
{
	char subject[FLEET_TEXT];
	int64_t sent = now_wall();
	size_t size;
	void *bytes;
	natsStatus s;

	strcpy(m->question, a->question->question);
	strcpy(m->host, h->name);
	fleet_subject(a->c, "host", h->name, subject, sizeof subject);
	if ((bytes = fleet_encode(m, &size)) == NULL)
		return false;
	*msg = NULL;
	s = natsConnection_Request(msg, a->nc, subject, bytes, (int)size, REQUEST_MS);
	free(bytes);
	if (s != NATS_OK) {
		snprintf(h->why, sizeof h->why, "%s", s == NATS_NO_RESPONDERS ? "it is away" :
		    natsStatus_GetText(s));
		return false;
	}
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

/* The bytes of a chunk, checked; NULL: it is not what was asked for. */
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

/* The next chunk of a file is written, of the length that was asked for; false: not now. */
static bool
ask_chunk(struct ask *a, struct ask_host *h, const struct fleet_file *f, int fd, int64_t at,
    int64_t *got)
{
	int64_t length = f->size - at < h->piece ? f->size - at : h->piece;
	struct fleet_message *m = xcalloc(1, sizeof *m);
	unsigned char *room = xcalloc(1, FLEET_CHUNK);
	const unsigned char *p;
	natsMsg *msg = NULL;
	bool good = false;

	strcpy(m->kind, "get");
	strcpy(m->file, f->name);
	m->offset = at;
	m->length = length;
	if (ask_request(a, h, m, &msg) && strcmp(m->kind, "chunk") == 0) {
		p = strcmp(m->file, f->name) == 0 && m->offset == at &&
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
	free(room);
	free(m);
	return good;
}

/* Nothing has come since 'last': is that enough of it, or of this host? */
static bool
ask_gives_up(const struct ask *a, struct ask_host *h, int64_t last)
{
	int64_t now = now_mono();

	if (now > h->deadline)
		snprintf(h->why, sizeof h->why, "takes longer than --deadline");
	return now > h->deadline || now - last > a->patience;
}

/* A file that was begun is gone on with; false: given up. */
static bool
ask_file(struct ask *a, struct ask_host *h, int dir, const struct fleet_file *f)
{
	char *part = xasprintf(".part-%s", f->name);
	struct stat st;
	int64_t at, got, last = now_mono();
	int fd = -1;
	bool good = false;

	if (fstatat(dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == f->size) {
		h->again += st.st_size;
		free(part);
		return true;
	}
	fd = openat(dir, part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
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
		good = at == f->size && fsync(fd) == 0 && renameat(dir, part, dir, f->name) == 0;
	} else
		snprintf(h->why, sizeof h->why, "%s: %s", f->name, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(part);
	return good;
}

/* What the host has, once it has all of it; false: given up. */
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

/* Is it as much as one host may send us? */
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
	struct fleet_message *m = xcalloc(1, sizeof *m);
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
	unsigned i;

	for (;;) {
		pthread_mutex_lock(&a->lock);
		i = a->next++;
		pthread_mutex_unlock(&a->lock);
		if (i >= a->n_hosts)
			return NULL;
		if (a->host[i].state == H_PINNED)
			ask_fetch_host(a, &a->host[i]);
	}
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

/* --- what is missing --- */

static int
ask_report(const struct ask *a)
{
	static const char *const what[] = { [H_PINNED] = "has kept it, not fetched: ",
		[H_REFUSED] = "refused: ", [H_FAILED] = "has kept it, not fetched: ",
		[H_PART] = "fetched " };
	int64_t now = now_wall();
	unsigned missing = 0;

	for (unsigned i = 0; i < a->n_hosts; i++) {
		const struct ask_host *h = &a->host[i];

		if (h->state == H_FETCHED)
			continue;
		missing++;
		if (h->state == H_EXPECTED && h->until < now)
			printf("missing: %s: away for %.0f s\n", h->name,
			    (double)(now - h->until + FLEET_LEASE) / 1e9);
		else if (h->state == H_EXPECTED)
			printf("missing: %s: no answer\n", h->name);
		else
			printable_printf(stdout, "missing: %s: %s%s\n", h->name, what[h->state], h->why);
	}
	if (a->n_hosts == 0)
		printf("no host is registered that is meant\n");
	if (missing > 0)
		printf("again: tnfwatch ask -o %s\n", a->directory);
	if (ask_count(a, H_FETCHED) + ask_count(a, H_PART) > 0)
		printf("merge: tnfdump --hosts %s/*\n", a->directory);
	return missing > 0 || a->n_hosts == 0 ? STATUS_MISSING : 0;
}

/* --- the question --- */

static void
ask_new_id(char id[FLEET_NAME])
{
	time_t t = time(NULL);
	unsigned char r[8] = { 0 };
	struct tm tm;
	size_t n;

	if (getrandom(r, sizeof r, 0) != sizeof r)
		memcpy(r, &(int64_t){ now_mono() }, sizeof r);
	gmtime_r(&t, &tm);
	n = strftime(id, FLEET_NAME, "%Y%m%dT%H%M%SZ-", &tm);
	for (size_t i = 0; i < sizeof r; i++)
		n += (size_t)snprintf(id + n, FLEET_NAME - n, "%02x", r[i]);
}

/* Two at once would write the same files. */
static bool
ask_lock(struct ask *a)
{
	a->dir = open(a->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir < 0)
		say("%s: %s", a->directory, strerror(errno));
	else if (flock(a->dir, LOCK_EX | LOCK_NB) != 0)
		say("%s: another tnfwatch ask fetches into it", a->directory);
	else
		return true;
	return false;
}

/* The question of a directory: the one that is there, or this one from now on. */
static bool
ask_directory(struct ask *a, bool asks_more)
{
	char *path = xasprintf("%s/.question", a->directory), *text;
	size_t size;
	void *bytes;
	FILE *f;
	bool good = false;

	if ((text = read_text(path, FLEET_HEAD_MAX)) != NULL) {
		if (asks_more)
			say("%s: holds the answer to a question: give another directory, or only "
			    "-o to go on", a->directory);
		else if (!fleet_decode(text, strlen(text), a->question, NULL) ||
		    strcmp(a->question->kind, "ask") != 0)
			say("%s: is no question", path);
		else
			good = true;
	} else if (mkdir(a->directory, 0700) != 0 && errno != EEXIST)
		say("%s: %s", a->directory, strerror(errno));
	else {
		ask_new_id(a->question->question);
		bytes = fleet_encode(a->question, &size);
		f = bytes != NULL ? fopen(path, "wxe") : NULL;
		good = f != NULL && fwrite(bytes, 1, size, f) == size;
		if (f != NULL && fclose(f) != 0)
			good = false;
		if (!good)
			say("%s: %s", path, strerror(errno));
		free(bytes);
	}
	good = good && ask_lock(a);
	free(text);
	free(path);
	return good;
}

static bool
ask_time(const char *text, int64_t *wall)
{
	struct timespec_clock clock = { .first = now_mono(), .wall = true,
	    .mono_to_wall = now_wall() - now_mono() };
	struct timespec_arg arg;
	const char *wrong = timespec_parse(text, &arg);
	int64_t mono = 0;

	if (wrong == NULL && arg.kind == TIMESPEC_ELAPSED)
		wrong = "a duration says no time: write 03:12:20";
	if (wrong == NULL)
		wrong = timespec_resolve(&arg, &clock, &mono);
	*wall = mono + clock.mono_to_wall;
	if (wrong == NULL)
		return true;
	say("--at %s: %s", text, wrong);
	return false;
}

static bool
ask_text(const char *option, const char *value, char *to, size_t size)
{
	for (const char *p = value; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			size = 0;
	if (strlen(value) < size) {
		strcpy(to, value);
		return true;
	}
	say("%s: too long, or not one line", option);
	return false;
}

/* Here, and not on each of the machines: what is no expression is not asked. */
static bool
ask_where(const char *text)
{
	const struct expr_source source = { .member = tnf_event_value, .item = tnf_value_item };
	struct expr_error wrong;
	struct expr *e = expr_new(text, &source, &wrong);
	char message[FLEET_TEXT];

	if (e != NULL) {
		expr_free(e);
		return true;
	}
	expr_error_format(&wrong, text, message, sizeof message);
	say("--where: %s", message);
	return false;
}

/* "512k", "16m", "1g" */
static bool
ask_size(const char *text, int64_t *size)
{
	static const char units[] = "kmgt";
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	const char *u = *end != '\0' ? strchr(units, *end | 0x20) : NULL;
	unsigned shift = u != NULL ? 10 * (unsigned)(u - units + 1) : 0;

	if (isdigit((unsigned char)*text) && (*end == '\0' || (u != NULL && end[1] == '\0')) &&
	    n > 0 && n <= (uint64_t)INT64_MAX >> shift) {
		*size = (int64_t)(n << shift);
		return true;
	}
	say("--bytes %s: not a size: write 512k, 16m, 1g", text);
	return false;
}

static bool
ask_option(struct ask *a, const char *option, const char *value, bool *asks_more)
{
	struct fleet_message *q = a->question;

	*asks_more |= strcmp(option, "-o") != 0 && strcmp(option, "--wait") != 0 &&
	    strcmp(option, "--patience") != 0 && strcmp(option, "--deadline") != 0 &&
	    strcmp(option, "--bytes") != 0;
	if (strcmp(option, "-o") == 0) {
		a->directory = value;
		return true;
	}
	if (strcmp(option, "--hosts") == 0)
		return ask_text(option, value, q->hosts, sizeof q->hosts);
	if (strcmp(option, "--where") == 0)
		return ask_text(option, value, q->where, sizeof q->where) && ask_where(value);
	if (strcmp(option, "--bytes") == 0)
		return ask_size(value, &a->bytes);
	if (strcmp(option, "--at") == 0)
		return ask_time(value, &q->at);
	if (strcmp(option, "--label") == 0 && q->n_labels < FLEET_LABELS &&
	    strchr(value, '=') != NULL && *value != '=')
		return ask_text(option, value, q->label[q->n_labels++], FLEET_NAME);
	if (strcmp(option, "--label") == 0) {
		say("--label %s: is NAME=VALUE, at most %d", value, FLEET_LABELS);
		return false;
	}
	if (duration_parse(value, strcmp(option, "--last") == 0 ? &q->last :
	    strcmp(option, "--wait") == 0 ? &a->wait :
	    strcmp(option, "--deadline") == 0 ? &a->deadline : &a->patience) &&
	    a->deadline < INT64_MAX / 2)
		return true;
	say("%s %s: not a duration: write 200ms, 5s, 2m", option, value);
	return false;
}

static bool
ask_options(struct ask *a, int argc, char **argv, bool *asks_more)
{
	static const char *const names[] = { "-o", "--hosts", "--where", "--at", "--label",
		"--last", "--wait", "--patience", "--deadline", "--bytes" };

	for (int i = 0; i < argc; i += 2) {
		size_t k = 0;

		while (k < sizeof names / sizeof names[0] && strcmp(names[k], argv[i]) != 0)
			k++;
		if (k == sizeof names / sizeof names[0] || i + 1 == argc) {
			fputs("usage: tnfwatch ask [--last TIME] [--at TIME] [--hosts PATTERN] "
			    "[--label NAME=VALUE] [--where EXPR] [--wait TIME] [--patience TIME] "
			    "[--deadline TIME] [--bytes SIZE] -o DIRECTORY\n", stderr);
			return false;
		}
		if (!ask_option(a, argv[i], argv[i + 1], asks_more))
			return false;
	}
	if (a->directory == NULL)
		say("-o DIRECTORY: where is it to go?");
	return a->directory != NULL;
}

static int
ask_run(struct ask *a)
{
	int status = 1;

	if ((a->nc = fleet_connect(a->c, false)) == NULL)
		return 1;
	if (ask_registry(a) && ask_pin(a)) {
		ask_fetch(a);
		status = ask_report(a);
	}
	natsConnection_Close(a->nc);
	natsConnection_Destroy(a->nc);
	return fflush(stdout) == 0 ? status : 1;
}

static int
ask_command(const struct watch_options *o, int argc, char **argv)
{
	struct ask a = { .dir = -1, .wait = 10 * SECOND, .patience = 60 * SECOND,
	    .deadline = DEADLINE, .bytes = BYTES_MAX,
	    .lock = PTHREAD_MUTEX_INITIALIZER };
	struct config *c = config_read_places(o->config);
	bool asks_more = false;
	int status = 2;

	a.c = c;
	if (c == NULL)
		return 1;
	a.question = xcalloc(1, sizeof *a.question);
	strcpy(a.question->kind, "ask");
	if (c->fleet.servers == NULL)
		say("%s: no [fleet] with servers = ...: nobody to ask", c->file);
	else if (ask_options(&a, argc, argv, &asks_more)) {
		if (a.question->last != 0 && a.question->at == 0)
			a.question->at = now_wall();
		signal(SIGPIPE, SIG_IGN);
		status = ask_directory(&a, asks_more) ? ask_run(&a) : 1;
	}
	nats_CloseAndWait(2000);
	if (a.dir >= 0)
		close(a.dir);
	free(a.host);
	free(a.question);
	config_free(c);
	return status;
}

const struct watch_command command_ask = {
	.name = "ask", .usage = "[OPTION ...] -o DIRECTORY", .min = 0, .max = 64,
	.run = ask_command, .help = "the history of many machines, tnfwatch(1)"
};
