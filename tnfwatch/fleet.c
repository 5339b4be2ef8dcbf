/*
 * fleet.c - the connection that agents and askers share.
 */
#include <sys/utsname.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tnfwatch/fleet.h"
#include "tnfwatch/util.h"

#define SERVERS_MAX	16

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
	rest = copy = xstrdup(c->fleet.labels);
	while ((word = strsep(&rest, " \t,")) != NULL && n < FLEET_LABELS)
		if (*word != '\0' && strlen(word) < FLEET_NAME)
			strcpy(label[n++], word);
	free(copy);
	return n;
}

static natsStatus
fleet_servers(natsOptions *o, const char *text)
{
	const char *list[SERVERS_MAX];
	char *copy = xstrdup(text), *rest = copy, *word;
	int n = 0;
	natsStatus s;

	while ((word = strsep(&rest, " \t,")) != NULL && n < SERVERS_MAX)
		if (*word != '\0')
			list[n++] = word;
	s = natsOptions_SetServers(o, list, n);
	free(copy);
	return s;
}

/* That there is one lets natsConnection_Connect() return before a server is there. */
static void
fleet_connected(natsConnection *nc, void *arg)
{
}

static natsStatus
fleet_options(const struct config *c, natsOptions *o, bool wait)
{
	natsStatus s = fleet_servers(o, c->fleet.servers);

	if (s == NATS_OK)
		s = natsOptions_SetName(o, "tnfwatch");
	if (s == NATS_OK && c->fleet.credentials != NULL)
		s = natsOptions_SetUserCredentialsFromFiles(o, c->fleet.credentials, NULL);
	if (s == NATS_OK && (c->fleet.ca != NULL || c->fleet.cert != NULL))
		s = natsOptions_SetSecure(o, true);
	if (s == NATS_OK && c->fleet.ca != NULL)
		s = natsOptions_LoadCATrustedCertificates(o, c->fleet.ca);
	if (s == NATS_OK && c->fleet.cert != NULL)
		s = natsOptions_LoadCertificatesChain(o, c->fleet.cert, c->fleet.key);
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(o, -1);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectWait(o, 500);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectJitter(o, 500, 1000);
	if (s == NATS_OK)
		s = natsOptions_SetPingInterval(o, 5000);
	if (s == NATS_OK && wait)
		s = natsOptions_SetRetryOnFailedConnect(o, true, fleet_connected, NULL);
	return s;
}

natsConnection *
fleet_connect(const struct config *c, bool wait)
{
	natsConnection *nc = NULL;
	natsOptions *o = NULL;
	natsStatus s = natsOptions_Create(&o);

	if (s == NATS_OK)
		s = fleet_options(c, o, wait);
	if (s == NATS_OK)
		s = natsConnection_Connect(&nc, o);
	natsOptions_Destroy(o);
	if (s == NATS_OK || (wait && s == NATS_NOT_YET_CONNECTED))
		return nc;
	say("[fleet] servers = %s: %s", c->fleet.servers, natsStatus_GetText(s));
	natsConnection_Destroy(nc);
	return NULL;
}

kvStore *
fleet_registry(const struct config *c, natsConnection *nc, jsCtx **js, const char **why)
{
	kvConfig cfg;
	kvStore *kv = NULL;
	char bucket[FLEET_NAME];
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
	int n;

	if (host == NULL) {
		snprintf(buf, size, "%s.%s", c->fleet.prefix, what);
		return;
	}
	/* A dot would begin another part of the subject. */
	n = snprintf(buf, size, "%s.%s.", c->fleet.prefix, what);
	snprintf(buf + n, size - (size_t)n, "%s", host);
	for (char *p = buf + n; *p != '\0'; p++)
		if (*p == '.')
			*p = '_';
}

bool
fleet_publish(natsConnection *nc, const char *subject, const char *reply,
    const struct fleet_message *m)
{
	size_t size;
	void *bytes = fleet_encode(m, &size);
	natsStatus s;

	if (bytes == NULL)
		return false;
	s = reply != NULL ? natsConnection_PublishRequest(nc, subject, reply, bytes, (int)size) :
	    natsConnection_Publish(nc, subject, bytes, (int)size);
	free(bytes);
	return s == NATS_OK;
}
