/*
 * connection.c - the connection that agents and askers share.
 */
#include <sys/utsname.h>

#include "tnffleet/fleet.h"
#include "tnfwatch/watch.h"

#define SERVERS_MAX	16
#define ENDED		"the server ends the connection: does it want a cert in [fleet], or trust another?"

const char *
fleet_host(const struct config *c)
{
	static struct utsname u;

	if (c->fleet.name != NULL)
		return c->fleet.name;
	if (uname(&u) == 0 && fleet_name_is_good(u.nodename))
		return u.nodename;
	say("[fleet]: the machine's name cannot be used: give name = NAME");
	return NULL;
}

unsigned
fleet_labels(const struct config *c, char label[FLEET_LABELS][FLEET_NAME])
{
	char *copy, *rest, *word;
	unsigned n = 0;

	if (c->fleet.labels == NULL)
		return 0;
	rest = copy = tnf_xstrdup(c->fleet.labels);
	while ((word = strsep(&rest, " \t,")) != NULL && n < FLEET_LABELS)
		if (*word != '\0' && strlen(word) < FLEET_NAME)
			strcpy(label[n++], word);
	free(copy);
	return n;
}

/* Joins a subject and a host; a dot in the host's name would begin another part of the subject. */
static void
fleet_join(const char *head, const char *host, char *buf, size_t size)
{
	size_t n = strlen(head);

	snprintf(buf, size, "%s%s", head, host);
	for (char *p = buf + (n < size ? n : size - 1); *p != '\0'; p++)
		if (*p == '.')
			*p = '_';
}

static natsStatus
fleet_servers(natsOptions *o, const char *text)
{
	const char *list[SERVERS_MAX];
	char *copy = tnf_xstrdup(text), *rest = copy, *word;
	int n = 0;

	while ((word = strsep(&rest, " \t,")) != NULL && n < SERVERS_MAX)
		if (*word != '\0')
			list[n++] = word;
	natsStatus s = natsOptions_SetServers(o, list, n);
	free(copy);
	return s;
}

/* Says why a connection went.  The agent goes on without it: each reason is said once. */
static void
fleet_told(natsConnection *nc, const char *what)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char last[FLEET_TEXT];
	static const char *last_what;
	static time_t at;
	time_t clock = time(NULL);
	char now[FLEET_TEXT];
	const char *text = NULL;

	natsConnection_GetLastError(nc, &text);
	snprintf(now, sizeof now, "%s%s%s", what, text != NULL && *text != '\0' ? ": " : "",
	    text != NULL ? text : "");
	pthread_mutex_lock(&lock);
	/* An asker can make the server say something new each time. */
	if (strcmp(now, last) != 0 && (what != last_what || clock < at || clock - at >= 60)) {
		say("[fleet]: %s", now);
		strcpy(last, now);
		last_what = what;
		at = clock;
	}
	pthread_mutex_unlock(&lock);
}

static void
fleet_lost(natsConnection *nc, void *arg)
{
	fleet_told(nc, "the connection is lost, tried again");
}

static void
fleet_again(natsConnection *nc, void *arg)
{
	say("[fleet]: connected again");
}

/* Notes an error of the server, which refuses an action some time after the agent's try. */
static void
fleet_wrong(natsConnection *nc, natsSubscription *sub, natsStatus s, void *arg)
{
	if (s == NATS_NOT_PERMITTED)
		fleet_told(nc, "the server's permissions are too narrow");
}

/* An asker looks for errors by itself. */
static void
fleet_wrong_asker(natsConnection *nc, natsSubscription *sub, natsStatus s, void *arg)
{
}

/* Sets TLS and the credentials; *thing is the key at which that failed. */
static natsStatus
fleet_options_tls(const struct config_fleet *f, natsOptions *o, const char **thing)
{
	natsStatus s = NATS_OK;

	*thing = "credentials";
	if (f->credentials != NULL)
		s = natsOptions_SetUserCredentialsFromFiles(o, f->credentials, NULL);
	if (s == NATS_OK && (f->ca != NULL || f->cert != NULL)) {
		*thing = "ca";
		s = natsOptions_SetSecure(o, true);
		if (s == NATS_OK && f->ca != NULL)
			s = natsOptions_LoadCATrustedCertificates(o, f->ca);
	}
	if (s == NATS_OK && f->cert != NULL) {
		*thing = "cert, key";
		s = natsOptions_LoadCertificatesChain(o, f->cert, f->key);
	}
	return s;
}

/* Has the registry answer an agent at a subject of its own, below _AGENT: all other answers
   go below _INBOX, and an agent need not be permitted to hear those. */
static natsStatus
fleet_options_agent(natsOptions *o, const char *agent)
{
	char inbox[FLEET_TEXT];

	fleet_join("_AGENT.", agent, inbox, sizeof inbox);
	natsStatus s = natsOptions_SetCustomInboxPrefix(o, inbox);
	if (s == NATS_OK)
		s = natsOptions_SetDisconnectedCB(o, fleet_lost, NULL);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectedCB(o, fleet_again, NULL);
	return s;
}

static natsStatus
fleet_options(const struct config *c, natsOptions *o, const char *agent, const char **thing)
{
	natsStatus s = fleet_options_tls(&c->fleet, o, thing);

	if (s != NATS_OK)
		return s;
	*thing = "servers";
	if ((s = fleet_servers(o, c->fleet.servers)) != NATS_OK ||
	    (s = natsOptions_SetName(o, agent != NULL ? agent : "tnfwatch ask")) != NATS_OK ||
	    (s = natsOptions_SetMaxReconnect(o, -1)) != NATS_OK ||
	    /* A thousand agents shall not come back to a server within the same second. */
	    (s = natsOptions_SetReconnectWait(o, agent != NULL ? 1000 : 500)) != NATS_OK ||
	    (s = natsOptions_SetReconnectJitter(o, agent != NULL ? 4000 : 500,
	    agent != NULL ? 4000 : 1000)) != NATS_OK ||
	    (s = natsOptions_SetTimeout(o, agent != NULL ? 10000 : 5000)) != NATS_OK ||
	    /* A message goes when it is published; else another thread would wait for more. */
	    (s = natsOptions_SetSendAsap(o, true)) != NATS_OK ||
	    (s = natsOptions_SetPingInterval(o, 5000)) != NATS_OK ||
	    (s = natsOptions_SetErrorHandler(o, agent != NULL ? fleet_wrong : fleet_wrong_asker,
	    NULL)) != NATS_OK)
		return s;
	return agent != NULL ? fleet_options_agent(o, agent) : NATS_OK;
}

static const struct {
	natsStatus status;
	const char *remedy;
} remedies[] = {
	{ NATS_NO_SERVER, "does nats-server run there?" },
	{ NATS_SSL_ERROR, "ca, cert and key in [fleet] say who is trusted, and who we are" },
	{ NATS_SECURE_CONNECTION_WANTED, "the server has no TLS, and [fleet] wants it" },
	{ NATS_SECURE_CONNECTION_REQUIRED, "the server has TLS: give ca in [fleet]" },
	/* We see one of these errors, whichever comes first. */
	{ NATS_PROTOCOL_ERROR, ENDED },
	{ NATS_IO_ERROR, ENDED },
	{ NATS_CONNECTION_CLOSED, ENDED },
	{ NATS_CONNECTION_AUTH_FAILED, "the server does not let us in: credentials, or cert and "
	    "key, in [fleet]" },
};

static const char *
fleet_remedy(natsStatus s)
{
	for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
		if (remedies[i].status == s)
			return remedies[i].remedy;
	return "all addresses were tried";
}

/* Writes the addresses without the passwords that may be in them. */
static void
fleet_write_servers(FILE *f, const char *servers)
{
	while (*servers != '\0') {
		const char *end = servers + strcspn(servers, " \t,");
		const char *at = memrchr(servers, '@', (size_t)(end - servers));
		if (at != NULL && strstr(servers, "://") != NULL && strstr(servers, "://") < at)
			fprintf(f, "%.*s", (int)(strstr(servers, "://") + 3 - servers), servers);
		servers = at != NULL ? at + 1 : servers;
		fprintf(f, "%.*s", (int)(end - servers), servers);
		servers = end + strspn(end, " \t,");
		if (*servers != '\0')
			putc(' ', f);
	}
}

/* The library's text without its beginning, which is the line of its source. */
static const char *
fleet_detail(const char *text)
{
	const char *end = text != NULL && *text == '(' ? strstr(text, "): ") : NULL;

	return end != NULL ? end + 3 : text;
}

/* "[fleet] ca = /etc/x.pem: what the library says: remedy" */
static void
fleet_explain(const struct config_fleet *f, natsStatus s, const char *thing, char *why, size_t size)
{
	FILE *out = fmemopen(why, size, "w");
	natsStatus last = NATS_OK;
	const char *text = fleet_detail(nats_GetLastError(&last));

	if (out == NULL)
		return;
	fprintf(out, "[fleet] %s = ", thing);
	if (strcmp(thing, "servers") == 0)
		fleet_write_servers(out, f->servers);
	else if (strcmp(thing, "cert, key") == 0)
		fprintf(out, "%s, %s", f->cert, f->key);
	else
		fputs(strcmp(thing, "ca") != 0 ? f->credentials : f->ca != NULL ? f->ca : f->cert, out);
	fprintf(out, ": %s", natsStatus_GetText(s));
	if (last == s && text != NULL && *text != '\0' && strcmp(text, natsStatus_GetText(s)) != 0)
		fprintf(out, ": %s", text);
	if (strcmp(thing, "servers") == 0)
		fprintf(out, ": %s", fleet_remedy(s));
	fclose(out);
}

natsConnection *
fleet_connect(const struct config *c, const char *agent, char why[FLEET_TEXT])
{
	natsConnection *nc = NULL;
	natsOptions *o = NULL;
	const char *thing = "servers", *file = c->fleet.credentials;
	natsStatus s;

	/* The library reads credentials only when the server wants them. */
	if (file != NULL && access(file, R_OK) != 0) {
		snprintf(why, FLEET_TEXT, "[fleet] credentials = %s: %s", file, strerror(errno));
		return NULL;
	}
	if ((s = natsOptions_Create(&o)) == NATS_OK)
		s = fleet_options(c, o, agent, &thing);
	if (s == NATS_OK)
		s = natsConnection_Connect(&nc, o);
	if (s != NATS_OK)
		fleet_explain(&c->fleet, s, thing, why, FLEET_TEXT);
	natsOptions_Destroy(o);
	return nc;
}

bool
fleet_refused(natsConnection *nc, char why[FLEET_TEXT])
{
	const char *text = NULL;

	if (natsConnection_GetLastError(nc, &text) != NATS_NOT_PERMITTED)
		return false;
	snprintf(why, FLEET_TEXT, "%s", text != NULL ? text : "not permitted");
	return true;
}

kvStore *
fleet_registry(const struct config *c, natsConnection *nc, jsCtx **js, const char **why)
{
	kvConfig cfg;
	kvStore *kv = NULL;
	char bucket[FLEET_NAME], refused[FLEET_TEXT];
	natsStatus s;

	snprintf(bucket, sizeof bucket, "%s-hosts", c->fleet.prefix);
	for (char *p = bucket; *p != '\0'; p++)
		if (*p == '.')
			*p = '_';
	if (*js == NULL && (s = natsConnection_JetStream(js, nc, NULL)) != NATS_OK) {
		*why = natsStatus_GetText(s);
		return NULL;
	}
	if ((s = js_KeyValue(&kv, *js, bucket)) == NATS_OK)
		return kv;
	/* A user who has no right to look at the registry has none to make it either. */
	if (fleet_refused(nc, refused)) {
		*why = "not permitted";
		return NULL;
	}
	kvConfig_Init(&cfg);
	cfg.Bucket = bucket;
	cfg.Description = "hosts of tnfwatch";
	cfg.History = 1;
	cfg.TTL = FLEET_FORGET;
	cfg.MaxValueSize = 8192;
	if ((s = js_CreateKeyValue(&kv, *js, &cfg)) == NATS_OK)
		return kv;
	*why = natsStatus_GetText(s);
	return NULL;
}

void
fleet_subject(const struct config *c, const char *what, const char *host, char *buf, size_t size)
{
	char head[FLEET_TEXT];

	snprintf(head, sizeof head, "%s.%s%s", c->fleet.prefix, what, host != NULL ? "." : "");
	fleet_join(head, host != NULL ? host : "", buf, size);
}

void
fleet_answer(const char *reply, const char *host, char *buf, size_t size)
{
	char head[FLEET_TEXT];

	snprintf(head, sizeof head, "%s.", reply);
	fleet_join(head, host, buf, size);
}

bool
fleet_publish(natsConnection *nc, const char *subject, const char *reply,
    const struct fleet_message *m)
{
	size_t size;
	autofree void *bytes = fleet_encode(m, &size);
	natsStatus s;

	if (bytes == NULL)
		return false;
	s = reply != NULL ? natsConnection_PublishRequest(nc, subject, reply, bytes, (int)size) :
	    natsConnection_Publish(nc, subject, bytes, (int)size);
	return s == NATS_OK;
}
