/*
 * hosts-message.c - messages between machines say which clock is ahead.
 *
 * A message is received after it was sent.  Each message bounds the difference of two
 * clocks in one direction; the recorded error of a clock bounds its correction in both.  This is
 * a system of difference constraints: the shortest paths between the machines are the
 * tightest bounds.  All upper bounds of the corrections together are one solution, all lower
 * bounds another.  The middle between two solutions is a solution, too, so each clock is set
 * to the middle of its bounds.
 */
#include "tnfdump/hosts.h"

/* Bounds lie between -FAR and FAR; FAR means: not bounded.  The sum of two bounds does not overflow. */
#define FAR		(INT64_C(1) << 61)
#define HOSTS_MAX	1000		/* shortest paths take n * n * n steps */
#define HOUR		INT64_C(3600000000000)

/* One message; its rule and the values of the rule's members identify it. */
struct message {
	bool	 sent;			/* its send event was seen */
	bool	 twice;			/* it was sent by two machines: not used */
	unsigned from;
	int64_t	 time;			/* of the first send */
	struct receive *received;
	struct message *next;		/* next in the list of all */
};

struct receive {
	struct receive *next;
	unsigned to;
	int64_t	 time;			/* of the first receipt there */
};

struct messages {
	struct hosts	*h;
	struct map	 by_key;	/* struct message */
	struct message	*all;
	struct perprobe	 roles;		/* struct message_role */
	struct out	 key;
	int64_t		*least;		/* [from * n + to]: the shortest time that a message
					   took, by the clocks before correction; FAR: none */
	uint64_t	 twice;
};

/* For a probe: the rule of --message that names it, and whether as sender or as receiver. */
struct message_role {
	bool	 known;
	unsigned rule;			/* + 1; 0: none */
	bool	 send;
	int	 member[MEMBERS_MAX];
};

static const struct message_role *
message_role(const struct hosts *h, struct perprobe *roles, const struct tnf_probe *p)
{
	struct message_role *r = perprobe(roles, p, sizeof(*r));

	if (r->known)
		return r;
	r->known = true;
	for (unsigned i = 0; i < h->n_rules && r->rule == 0; i++) {
		const struct message_rule *rule = &h->rules[i];
		bool send = strcmp(p->name, rule->send) == 0, all = true;

		if (!send && strcmp(p->name, rule->receive) != 0)
			continue;
		for (unsigned k = 0; k < rule->n_members; k++)
			all &= (r->member[k] = perprobe_member(p, rule->members[k])) >= 0;
		if (all) {
			r->rule = i + 1;
			r->send = send;
		}
	}
	return r;
}

/* Makes the key of a message: the bytes of strings, the values of numbers, so that an int16 of one
   probe equals an int64 of the other.  False: a member is null, or is a structure. */
static bool
message_key(const struct hosts *h, const struct message_role *r, const struct tnf_event *ev,
    struct out *key)
{
	struct tnf_value v;

	key->p = key->base;
	tnf_out_u64(key, r->rule);
	for (unsigned i = 0; i < h->rules[r->rule - 1].n_members; i++) {
		if (!tnf_event_value(ev, (unsigned)r->member[i], &v) || v.null ||
		    v.kind == TNF_K_STRUCT || v.kind == TNF_K_ARRAY)
			return false;
		out_char(key, v.kind == TNF_K_STRING ? 's' : 'n');
		if (v.kind == TNF_K_STRING) {
			tnf_out_u64(key, v.u.s.len);
			out_char(key, ':');
			tnf_out_bytes(key, v.u.s.chars, v.u.s.len);
		} else
			tnf_out_i64(key, v.u.i);
	}
	return true;
}

bool
hosts_message_key(const struct dump *d, struct perprobe *roles, const struct tnf_event *ev,
    struct out *key, bool *sent)
{
	const struct message_role *r;

	if (d->hosts == NULL || d->hosts->n_rules == 0)
		return false;
	r = message_role(d->hosts, roles, ev->probe);
	if (r->rule == 0 || !message_key(d->hosts, r, ev, key))
		return false;
	*sent = r->send;
	return true;
}

static void
messages_receive(struct message *msg, unsigned host, int64_t time)
{
	struct receive *r;

	for (r = msg->received; r != NULL; r = r->next)
		if (r->to == host)
			return;
	r = tnf_xcalloc(1, sizeof(*r));
	*r = (struct receive){ msg->received, host, time };
	msg->received = r;
}

static void
messages_event(struct messages *m, const struct tnf_event *ev)
{
	const struct message_role *r = message_role(m->h, &m->roles, ev->probe);
	unsigned host = tnf_file_host(ev->file);
	struct message *msg;
	bool fresh;

	if (r->rule == 0 || host == HOST_NONE || !message_key(m->h, r, ev, &m->key))
		return;
	msg = tnf_xmap_put(&m->by_key, m->key.base, out_size(&m->key), &fresh);
	if (fresh) {
		msg->next = m->all;
		m->all = msg;
	}
	if (!r->send) {
		messages_receive(msg, host, ev->time);
	} else if (!msg->sent) {
		msg->sent = true;
		msg->from = host;
		msg->time = ev->time;
	} else if (msg->from != host)
		msg->twice = true;
}

/* Reads all events once more, in a separate stream. */
static bool
messages_read(struct dump *d, struct messages *m)
{
	tnf_stream_t *s;
	struct tnf_file *f;
	struct tnf_event ev;

	if (tnf_stream_new(&s) != 0)
		return false;
	tnf_stream_accept_cut(s, d->salvage);
	for (unsigned i = 0; i < d->n_inputs; i++)
		if (tnf_stream_add_mem(s, d->inputs[i].base, d->inputs[i].size,
		    d->inputs[i].path, &f) == 0)
			tnf_file_set_host(f, tnf_file_host(d->inputs[i].file),
			    tnf_file_shift(d->inputs[i].file));
	while (tnf_stream_next(s, &ev) == 1)
		messages_event(m, &ev);
	tnf_stream_close(s);
	return true;
}

static void
messages_match(struct messages *m)
{
	unsigned n = m->h->n;

	for (struct message *msg = m->all; msg != NULL; msg = msg->next) {
		m->twice += msg->twice;
		for (struct receive *r = msg->received; r != NULL && msg->sent && !msg->twice;
		    r = r->next) {
			int64_t *least = &m->least[(size_t)msg->from * n + r->to], took;

			if (r->to != msg->from &&
			    !__builtin_sub_overflow(r->time, msg->time, &took) &&
			    took > -HOSTS_CLOCK_MAX && took < *least)
				*least = took;
		}
	}
}

static void
messages_free(struct messages *m)
{
	struct message *msg, *next;
	struct receive *r;

	for (msg = m->all; msg != NULL; msg = next) {
		next = msg->next;
		while ((r = msg->received) != NULL) {
			msg->received = r->next;
			free(r);
		}
	}
	tnf_map_free(&m->by_key);
	free(m->roles.base);
	tnf_out_close(&m->key);
	free(m->least);
}

/* A message takes at least 1 ns.  Rounding may move the two middles apart by another half ns.  2 covers
   both. */
#define LEAST_NS	2

/*
 * Fills bound[][] from the clocks' errors and the messages, and makes the bounds as tight as
 * possible (Floyd-Warshall).  bound[i][k] is the most by which the correction of clock k may exceed
 * that of clock i; the last index stands for the true time, whose correction is 0.  A positive
 * 'wide' replaces the recorded errors.  False: the bounds contradict each other.
 */
static bool
bounds_tighten(const struct hosts *h, const int64_t *least, int64_t wide, int64_t *bound)
{
	size_t n = h->n + 1, i, k, via;

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			bound[i * n + k] = i == k ? 0 : FAR;
	for (i = 0; i < h->n; i++) {
		bound[i * n + h->n] = bound[h->n * n + i] = wide > 0 ? wide : h->list[i].error;
		/* i sent, k received: after correction, k's time is not before i's. */
		for (k = 0; k < h->n; k++)
			if (least[i * h->n + k] < FAR)
				bound[k * n + i] = least[i * h->n + k] - LEAST_NS;
	}
	for (via = 0; via < n; via++)
		for (i = 0; i < n; i++) {
			int64_t first = bound[i * n + via];

			for (k = 0; first < FAR && k < n; k++)
				if (bound[via * n + k] < FAR &&
				    first + bound[via * n + k] < bound[i * n + k]) {
					/* Contradictory bounds get lower with each step. */
					bound[i * n + k] = first + bound[via * n + k];
					if (bound[i * n + k] < -FAR)
						bound[i * n + k] = -FAR;
				}
		}
	for (i = 0; i < n; i++)
		if (bound[i * n + i] < 0)
			return false;
	return true;
}

/* Sets each clock to the middle of its bounds.  Fills slack[i][k]: an event of machine i is surely
   before an event of machine k if its time is smaller by at least so much. */
static void
messages_apply(struct hosts *h, const int64_t *bound)
{
	size_t n = h->n + 1;

	for (unsigned i = 0; i < h->n; i++) {
		int64_t high = bound[h->n * n + i], low = -bound[i * n + h->n];

		h->list[i].moved = low + (high - low) / 2;
		h->list[i].error = (high - low + 1) / 2;
		h->list[i].offset += h->list[i].moved;
	}
	h->slack = tnf_xcalloc((size_t)h->n * h->n, sizeof(*h->slack));
	for (unsigned i = 0; i < h->n; i++)
		for (unsigned k = 0; k < h->n; k++)
			h->slack[(size_t)i * h->n + k] = bound[k * n + i] +
			    h->list[k].moved - h->list[i].moved;
}

static bool
messages_solve(struct dump *d, const struct messages *m)
{
	struct hosts *h = d->hosts;
	int64_t *bound = tnf_xcalloc((h->n + 1) * ((size_t)h->n + 1), sizeof(*bound));
	bool good = bounds_tighten(h, m->least, 0, bound);

	if (!good && (good = bounds_tighten(h, m->least, HOUR, bound)))
		dump_note(d, "--message: messages were received before they were sent, by more "
		    "than the clocks' recorded errors: the messages count");
	if (good)
		messages_apply(h, bound);
	else
		dump_note(d, "--message: the messages contradict each other: the members do not "
		    "tell them apart: not used");
	free(bound);
	return good;
}

bool
hosts_clocks_by_messages(struct dump *d)
{
	struct hosts *h = d->hosts;
	struct messages m = { .h = h };
	size_t i, n = (size_t)h->n * h->n, pairs = 0;
	bool moved = false;

	if (h->n > HOSTS_MAX) {
		dump_note(d, "--message: %u hosts are more than %d: not used", h->n, HOSTS_MAX);
		return false;
	}
	tnf_map_init(&m.by_key, sizeof(struct message));
	tnf_out_memory(&m.key);
	m.least = tnf_xcalloc(n, sizeof(*m.least));
	for (i = 0; i < n; i++)
		m.least[i] = FAR;
	if (messages_read(d, &m)) {
		messages_match(&m);
		for (i = 0; i < n; i++)
			pairs += m.least[i] < FAR;
		if (m.twice > 0)
			dump_note(d, "--message: %llu were sent by more than one host under the "
			    "same members: not used", (unsigned long long)m.twice);
		if (pairs == 0)
			dump_note(d, "--message: none went from one host to another");
		else
			moved = messages_solve(d, &m);
	}
	messages_free(&m);
	return moved;
}
