/*
 * agent.c - tnfwatch agent: keeps the history that other machines ask for, and gives it to them.
 *
 * The agent is a process of its own, which tnfwatch starts if there is a section [fleet]:
 * the network must not disturb rings and triggers.  Threads of the NATS library call us:
 * two with questions, one at a time, and one with requests for the files that a question has kept;
 * the latter shares nothing but files with them.  A question is a file DIRECTORY/fleet/QUESTION with the
 * answer in it: so a question that comes again gets the same answer, even if we were killed.
 * Only if the machine itself goes down after an answer and before its disk has the file,
 * the question is new to the agent, and keeps the history that is there after the boot.  An
 * incident from before was written later than that file, and is hardly there either.
 */
#include <sys/prctl.h>

#include <zlib.h>
#include <zstd.h>

#include "tnffleet/fleet.h"
#include "tnfwatch/watch.h"

#define INBOX		"_INBOX."	/* of whoever asks, as NATS' libraries call them */
#define PENDING_MAX	256		/* messages that wait; more are dropped */
#define PENDING_BYTES	(4 << 20)
#define CONNECT_MAX	30		/* s, from one attempt to the next */
#define AGAIN		3		/* s, until a process that was turned out begins anew */

/* The share of the asker whose name ends the question's subject.  The server's permissions say who
   may publish there, a name in the question itself could be anybody's.  Without a name, or if
   too many names have come, it is the common share. */
static struct agent_share *
agent_share(struct agent *a, const char *subject)
{
	char head[FLEET_TEXT];
	const char *asker;
	unsigned i = 1;

	fleet_subject(a->c, "ask", "", head, sizeof head);
	if (strncmp(subject, head, strlen(head)) != 0)
		return &a->share[0];
	asker = subject + strlen(head);
	while (i <= a->n_shares && strcmp(a->share[i].asker, asker) != 0)
		i++;
	if (i == AGENT_SHARES || !fleet_name_is_good(asker))
		return &a->share[0];
	if (i > a->n_shares) {
		strcpy(a->share[i].asker, asker);
		a->n_shares = i;
	}
	return &a->share[i];
}

/* True if one more question with this subject may be answered now, by the limit. */
static bool
agent_limit(struct agent *a, const char *subject)
{
	struct agent_share *s = agent_share(a, subject);
	unsigned n = a->c->fleet.limit_n;
	int64_t now = now_mono(), *oldest;

	if (n == 0)
		return true;
	if (s->asked == NULL)
		s->asked = tnf_xcalloc(n, sizeof *s->asked);
	oldest = &s->asked[s->n_asked % n];
	if (s->n_asked >= n && now - *oldest < a->c->fleet.limit_ns)
		return false;
	*oldest = now;
	s->n_asked++;
	return true;
}

/* Has the daemon keep all present history, and notes the incident and how far back it reaches; the
   incident is "" if the daemon does not. */
static void
agent_pin(const struct agent *a, struct fleet_message *ask)
{
	char *text = NULL;
	size_t size, n;
	FILE *f;

	*ask->incident = '\0';
	ask->since = 0;
	if (a->c->fleet.recorded != NULL) {
		strcpy(ask->incident, AGENT_RECORDED);
		return;
	}
	if ((f = open_memstream(&text, &size)) == NULL)
		return;
	if (client_ask(a->c, f, (const char *const[]){ "pin", ask->question, NULL }) == 0 &&
	    fflush(f) == 0 && text != NULL) {
		n = strcspn(text, "\n");
		if (text[n] == '\n')
			ask->since = strtoll(text + n + 1, NULL, 10);
		text[n] = '\0';
		if (fleet_name_is_good(text))
			strcpy(ask->incident, text);
	}
	fclose(f);
	free(text);
}

/* The subject of the answer: our own part of the asker's inbox, since other subjects may mean
   something to other programs.  false: there is none. */
static bool
agent_reply(const struct agent *a, natsMsg *msg, char subject[FLEET_TEXT])
{
	const char *reply = natsMsg_GetReply(msg);

	if (reply == NULL || strncmp(reply, INBOX, strlen(INBOX)) != 0 ||
	    strlen(reply) > FLEET_TEXT / 2)
		return false;
	fleet_answer(reply, a->host, subject, FLEET_TEXT);
	return true;
}

/* A question that is refused for its form is not answered: it may be a flood. */
static void
agent_question(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct agent *a = arg;
	struct fleet_message *ask = tnf_xcalloc(1, sizeof *ask),
	    *old = tnf_xcalloc(1, sizeof *old);
	int64_t received = now_wall();
	char reply[FLEET_TEXT];
	bool known, noted = false;

	pthread_mutex_lock(&a->lock);
	if (!fleet_decode(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), ask, NULL) ||
	    strcmp(ask->kind, "ask") != 0 || *ask->question == '\0' || !agent_reply(a, msg, reply) ||
	    strstr(ask->question, ".slice") != NULL)
		goto out;
	if (!fleet_matches(ask, a->host, a->label, a->n_labels))
		goto out;
	/* The stretch of time is by the asker's clock; ours is ahead by this difference, less
	   the time that the message was under way. */
	if (ask->at != 0 && ask->sent != 0 && ask->at + (received - ask->sent) > 0)
		ask->at += received - ask->sent;
	/* We neither note nor send back these parts of the question. */
	ask->body_size = 0;
	ask->n_files = 0;
	*ask->why = '\0';
	known = agent_record_read(a, ask->question, old);
	if (known) {
		strcpy(ask->incident, old->incident);
		ask->since = old->since;
	} else if (!agent_limit(a, natsMsg_GetSubject(msg)))
		strcpy(ask->why, "asked too often: limit in [fleet]");
	else {
		agent_pin(a, ask);
		if (*ask->incident == '\0')
			strcpy(ask->why, "nothing can be kept: see its log");
		else if (!(noted = agent_record_write(a, ask)))
			strcpy(ask->why, "cannot note it: see its log");
	}
	strcpy(ask->kind, *ask->why != '\0' ? "refused" : "pinned");
	snprintf(ask->host, sizeof ask->host, "%s", a->host);
	ask->received = received;
	ask->sent = now_wall();
	*ask->where = '\0';
	fleet_publish(nc, reply, NULL, ask);
	/* The asker waits for all machines, but need not wait for their disks: half a note
	   counts as none after a crash, and the question is answered anew. */
	if (noted) {
		say("fleet: question %s keeps %s", ask->question, ask->incident);
		agent_record_sync(a, ask->question);
	}
out:
	pthread_mutex_unlock(&a->lock);
	free(ask);
	free(old);
	natsMsg_Destroy(msg);
}

/* The size of the largest piece: as much as goes in a second, since an asker does not wait long
   for a piece. */
static int64_t
agent_piece(const struct agent *a)
{
	uint64_t rate = a->c->fleet.rate;

	return rate > 0 && rate < FLEET_CHUNK ? (int64_t)rate : FLEET_CHUNK;
}

/* Answers with the list of files; a file that the list leaves out is not among the filtered
   ones, either. */
static void
agent_answer_list(struct agent *a, const struct fleet_message *r, const char *place)
{
	bool recorded = strcmp(r->incident, AGENT_RECORDED) == 0;
	char *from = recorded ? tnf_xstrdup(a->c->fleet.recorded) :
	    incident_path(a->c, r->incident);
	bool whole = recorded || access(from, F_OK) == 0;

	if (whole && agent_wants_slice(r) && access(place, F_OK) != 0 &&
	    !agent_slice(a, r, from, place))
		goto out;
	if (whole) {
		if (!agent_list(from, &a->out) ||
		    (agent_wants_slice(r) && !agent_list(place, &a->out)))
			goto out;
		a->out.complete = 1;
	}
	a->out.length = agent_piece(a);
	strcpy(a->out.kind, "kept");
out:
	free(from);
}

/* Waits so that no more than the configured bytes go in a second. */
static void
agent_pace(struct agent *a, size_t size)
{
	int64_t now = now_mono(), wait;

	if (a->c->fleet.rate == 0)
		return;
	if (a->free_at < now)
		a->free_at = now;
	wait = a->free_at - now;
	a->free_at += (int64_t)((double)size / (double)a->c->fleet.rate * 1e9);
	if (wait > 0)
		nanosleep(&(struct timespec){ wait / SECOND, wait % SECOND }, NULL);
}

static void
agent_answer_chunk(struct agent *a, const char *place)
{
	autoclose int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = dir >= 0 && agent_is_trace(a->in.file) ?
	    openat(dir, a->in.file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
	int64_t most = agent_piece(a), length = a->in.length < most ? a->in.length : most;
	struct stat st;
	ssize_t n = -1;
	size_t packed;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, a->raw, (size_t)length, a->in.offset);
	if (n < 0)
		strcpy(a->out.why, "no such file of this question");
	else {
		strcpy(a->out.kind, "chunk");
		a->out.offset = a->in.offset;
		a->out.length = n;
		a->out.size = st.st_size;
		a->out.crc = (int64_t)crc32(0, a->raw, (uInt)n);
		packed = ZSTD_compress(a->packed, ZSTD_compressBound(FLEET_CHUNK), a->raw, (size_t)n, 1);
		a->out.packed = !ZSTD_isError(packed) && packed < (size_t)n;
		a->out.body = a->out.packed ? a->packed : a->raw;
		a->out.body_size = a->out.packed ? packed : (size_t)n;
		agent_pace(a, a->out.body_size);
	}
}

static void
agent_request(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct agent *a = arg;
	struct fleet_message *r = tnf_xcalloc(1, sizeof *r);
	char reply[FLEET_TEXT];
	int64_t received = now_wall();

	if (!agent_reply(a, msg, reply) || !fleet_decode(natsMsg_GetData(msg),
	    (size_t)natsMsg_GetDataLength(msg), &a->in, NULL) || strcmp(a->in.host, a->host) != 0 ||
	    *a->in.question == '\0')
		goto out;
	memset(&a->out, 0, sizeof a->out);
	strcpy(a->out.kind, "refused");
	strcpy(a->out.question, a->in.question);
	strcpy(a->out.file, a->in.file);
	snprintf(a->out.host, sizeof a->out.host, "%s", a->host);
	if (!agent_record_read(a, a->in.question, r))
		strcpy(a->out.why, "no such question has been asked here");
	else if (!agent_gives(a, r))
		strcpy(a->out.why, "there is no recorded = in [fleet] any more");
	else {
		autofree char *place = agent_place(a, r);
		if (strcmp(a->in.kind, "list") == 0 && agent_prepare(a, r, place))
			agent_answer_list(a, r, place);
		else if (strcmp(a->in.kind, "list") == 0)
			strcpy(a->out.why, "filtering has cost all that one question may: ask "
			    "without --where and --last");
		else if (strcmp(a->in.kind, "get") == 0)
			agent_answer_chunk(a, place);
		else
			strcpy(a->out.why, "no such request: the programs are of different versions");
	}
	a->out.received = received;
	a->out.sent = now_wall();
	fleet_publish(nc, reply, NULL, &a->out);
out:
	free(r);
	natsMsg_Destroy(msg);
}

/* Renews the lease, by which an asker knows which hosts to expect.  Looks up the registry once,
   and again when it may have gone. */
static void
agent_lease(const struct agent *a, jsCtx **js, kvStore **kv)
{
	autofree struct fleet_message *m = tnf_xcalloc(1, sizeof *m);
	const char *why;
	natsStatus s = NATS_OK;
	size_t size;
	void *text;

	strcpy(m->kind, "lease");
	snprintf(m->host, sizeof m->host, "%s", a->host);
	memcpy(m->label, a->label, sizeof m->label);
	m->n_labels = a->n_labels;
	m->until = now_wall() + FLEET_LEASE;
	if (*kv == NULL)
		*kv = fleet_registry(a->c, a->nc, js, &why);
	if (*kv != NULL && (text = fleet_encode(m, &size)) != NULL) {
		s = kvStore_Put(NULL, *kv, a->host, text, (int)size);
		free(text);
	}
	if (s != NATS_OK) {
		kvStore_Destroy(*kv);
		*kv = NULL;
	}
}

static bool
agent_subscribe(struct agent *a, natsSubscription *subs[3])
{
	char subject[FLEET_TEXT];

	fleet_subject(a->c, "ask", NULL, subject, sizeof subject);
	if (natsConnection_Subscribe(&subs[0], a->nc, subject, agent_question, a) != NATS_OK)
		return false;
	/* Questions of askers with a name; a server that does not permit them says so, and the rest works. */
	fleet_subject(a->c, "ask", "*", subject, sizeof subject);
	if (natsConnection_Subscribe(&subs[2], a->nc, subject, agent_question, a) != NATS_OK)
		return false;
	fleet_subject(a->c, "host", a->host, subject, sizeof subject);
	if (natsConnection_Subscribe(&subs[1], a->nc, subject, agent_request, a) != NATS_OK)
		return false;
	for (int i = 0; i < 3; i++)
		natsSubscription_SetPendingLimits(subs[i], PENDING_MAX, PENDING_BYTES);
	return true;
}

/* Connects; the server may come later, or let us in later: each reason is said once. */
static natsConnection *
agent_connect(const struct agent *a)
{
	char why[FLEET_TEXT] = "", last[FLEET_TEXT] = "";
	natsConnection *nc;
	unsigned wait = 1;

	while ((nc = fleet_connect(a->c, a->host, why)) == NULL) {
		if (strcmp(why, last) != 0)
			say("%s", why);
		strcpy(last, why);
		sleep(wait);
		wait = wait * 2 < CONNECT_MAX ? wait * 2 : CONNECT_MAX;
	}
	if (*last != '\0')
		say("[fleet]: connected");
	return nc;
}

/* Renews the lease until a signal ends us, or the server has closed the connection for good. */
static void
agent_loop(struct agent *a)
{
	jsCtx *js = NULL;
	kvStore *kv = NULL;
	natsConnStatus status;

	while ((status = natsConnection_Status(a->nc)) != NATS_CONN_STATUS_CLOSED) {
		if (status == NATS_CONN_STATUS_CONNECTED)
			agent_lease(a, &js, &kv);
		/* Without a connection we try again soon. */
		sleep(status == NATS_CONN_STATUS_CONNECTED ? FLEET_LEASE / SECOND / 3 : 1);
	}
}

/* Executes the agent anew in this process, which the daemon has started.  We must not free memory
   while threads of the library run, and so cannot simply connect a second time. */
static void
agent_again(const char *file)
{
	char *const argv[] = { program_invocation_name, (char *)(uintptr_t)"-c",
		(char *)(uintptr_t)file, (char *)(uintptr_t)"agent", NULL };

	say("[fleet]: the server has ended the connection: begun anew");
	sleep(AGAIN);
	execv("/proc/self/exe", argv);
}

/*
 * Ends at once, whatever our threads do: files that they write have their names only when they
 * are whole, and we must not free memory while the threads run.
 */
static void
agent_end(int sig)
{
	_exit(0);
}

int
agent_run(const char *file)
{
	struct config *c = config_read(file, stderr);
	struct agent a = { .c = c, .lock = PTHREAD_MUTEX_INITIALIZER };
	natsSubscription *subs[3] = { NULL, NULL, NULL };
	const struct sigaction end = { .sa_handler = agent_end };

	if (c == NULL)
		return 1;
	if (c->fleet.servers == NULL) {
		say("%s: no [fleet] with servers = ...: nobody to answer", c->file);
		config_free(c);
		return 1;
	}
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "tnfwatch-agent");
	a.directory = tnf_xasprintf("%s/fleet", c->directory);
	a.n_labels = fleet_labels(c, a.label);
	a.raw = tnf_xcalloc(1, FLEET_CHUNK);
	a.packed = tnf_xcalloc(1, ZSTD_compressBound(FLEET_CHUNK));
	if ((a.host = fleet_host(c)) != NULL && make_directory(a.directory) == 0) {
		agent_clean(&a);
		a.nc = agent_connect(&a);
	}
	if (a.nc != NULL && agent_subscribe(&a, subs)) {
		agent_loop(&a);
		agent_again(file);
	}
	/* Threads of the library may still use our memory: we free nothing. */
	fflush(NULL);
	_exit(1);
}
