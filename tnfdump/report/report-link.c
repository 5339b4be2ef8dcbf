/*
 * report-link.c - --link: what belongs to one request, over layers and threads.
 *
 * With an expression, the events with equal values are a chain.  Without one, chains are requests
 * to disks: from strategy to the biodone of the same buffer, with the kernel's tracepoints (block.*)
 * in between whose sectors lie in the request.  If the kernel splits a request, its chain has the
 * block.* events of each piece.  If the kernel merges requests, the event is in the chain of each.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/formats.h"

#define CHAINS_MAX	65536u	/* of values */
#define OPEN_MAX	1024u	/* requests to disks at once; the oldest gives way */
#define SECTOR		512u

struct place {
	uint64_t device, from, to;	/* sectors; to is not in it */
};

struct chain {
	struct chain	*next;
	struct out	 lines;
	int64_t		 first, last;
	uint64_t	 events, pieces, shared;
	unsigned	 host;
	uint64_t	 buf;
	struct place	 at;
	char		*value;		/* of the expression */
};

struct links {
	struct expr	*by;		/* NULL: disks */
	const char	*text;		/* of the expression */
	struct map	 chains;	/* by value: struct chain * */
	struct chain	*oldest, **newest;
	unsigned	 n;
	bool		 any;
	uint64_t	 left_out;
};

int
link_set(struct dump *d, const char *text)
{
	struct expr_error error;
	char message[512];
	struct expr *e;

	if (text != NULL && (e = expr_new(text, dump_expr_source(d), &error)) == NULL) {
		expr_error_format(&error, text, message, sizeof(message));
		return options_wrong("link", "%s", message);
	}
	if (text != NULL)
		expr_free(e);
	d->by = text;
	return output_choose(d, "link", output_find("link"));
}

int
link_begin(struct dump *d)
{
	struct links *l = tnf_xcalloc(1, sizeof(*l));
	struct expr_error error;

	l->text = d->by;
	l->by = d->by != NULL ? expr_new(d->by, dump_expr_source(d), &error) : NULL;
	tnf_map_init(&l->chains, sizeof(struct chain *));
	l->newest = &l->oldest;
	d->state = l;
	return 0;
}

static struct chain *
chain_new(struct links *l, const struct tnf_event *ev)
{
	struct chain *c = tnf_xcalloc(1, sizeof(*c));

	tnf_out_memory(&c->lines);
	c->first = ev->time;
	c->host = tnf_file_host(ev->file);
	*l->newest = c;
	l->newest = &c->next;
	l->n++;
	l->any = true;
	return c;
}

static void
chain_add(struct dump *d, struct chain *c, const struct tnf_event *ev, unsigned others)
{
	struct out *o = &c->lines;

	print_when_and_who(d, o, ev);
	tnf_out_ms(o, ev->time - c->first, 13);
	out_lit(o, "  ");
	print_name(o, ev->probe->name);
	if (ev->probe->n_members > 0) {
		out_lit(o, " {");
		print_json(d, o, ev, NULL, NULL);
		out_char(o, '}');
	}
	if (others > 0)
		tnf_out_format(o, " with %u other%s", others, others == 1 ? "" : "s");
	out_char(o, '\n');
	c->last = ev->time;
	c->events++;
}

/* Prints the chain and forgets it. */
static void
chain_end(struct dump *d, struct links *l, struct chain *c)
{
	struct chain **at = &l->oldest;
	struct out *o = &d->out;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (l->newest == &c->next)
		l->newest = at;
	l->n--;
	if (c->value != NULL) {
		print_escaped(o, l->text, strlen(l->text));
		out_char(o, ' ');
		print_escaped(o, c->value, strlen(c->value));
	} else
		tnf_out_format(o, "block %" PRIu64 ", %" PRIu64 " bytes", c->at.from,
		    (c->at.to - c->at.from) * SECTOR);
	tnf_out_format(o, ": %" PRIu64 " event%s, ", c->events, c->events == 1 ? "" : "s");
	tnf_out_ms(o, c->last - c->first, 1);
	out_lit(o, " ms");
	if (c->pieces > 1)
		tnf_out_format(o, ", split into %" PRIu64, c->pieces);
	if (c->shared > 0)
		tnf_out_format(o, ", merged with %" PRIu64, c->shared);
	out_char(o, '\n');
	tnf_out_bytes(o, c->lines.base, out_size(&c->lines));
	tnf_out_close(&c->lines);
	free(c->value);
	free(c);
}

static bool
link_number(const struct tnf_event *ev, const char *member, uint64_t *ret)
{
	struct tnf_value v;

	if (!member_value(ev, member, &v) || v.kind == TNF_K_STRING)
		return false;
	*ret = v.u.u;
	return true;
}

/* The place of a request on its device; of a request that is remapped, the place before. */
static bool
place_of(const struct tnf_event *ev, struct place *at)
{
	uint64_t n = 0, end = 0;

	if (strncmp(ev->probe->name, "block.", 6) != 0 ||
	    !link_number(ev, "dev", &at->device) || !link_number(ev, "sector", &at->from))
		return false;
	if (link_number(ev, "new_sector", &end))	/* block_split: the rest begins there */
		n = end > at->from ? end - at->from : 0;
	else
		link_number(ev, "nr_sector", &n);
	at->to = at->from + n;
	if (link_number(ev, "old_dev", &at->device) && link_number(ev, "old_sector", &at->from))
		at->to = at->from + n;
	return n > 0;
}

static bool
overlap(const struct chain *c, const struct tnf_event *ev, const struct place *at)
{
	return c->host == tnf_file_host(ev->file) && c->at.device == at->device &&
	    c->at.from < at->to && at->from < c->at.to;
}

/* After a remap event the chain goes on with the place on the lower device. */
static void
chain_move(struct chain *c, const struct tnf_event *ev, const struct place *before)
{
	uint64_t device, sector;

	if (!link_number(ev, "old_dev", &device) || !link_number(ev, "dev", &device) ||
	    !link_number(ev, "sector", &sector))
		return;
	c->at.device = device;
	c->at.from += sector - before->from;
	c->at.to += sector - before->from;
}

static void
link_piece(struct dump *d, struct links *l, const struct tnf_event *ev)
{
	bool issued = strcmp(ev->probe->name, "block.block_rq_issue") == 0;
	struct place at;
	unsigned n = 0;

	if (!place_of(ev, &at))
		return;
	for (const struct chain *c = l->oldest; c != NULL; c = c->next)
		n += overlap(c, ev, &at);
	for (struct chain *c = l->oldest; c != NULL; c = c->next) {
		if (!overlap(c, ev, &at))
			continue;
		chain_add(d, c, ev, n - 1);
		c->pieces += issued;
		if (issued && n - 1 > c->shared)
			c->shared = n - 1;
		chain_move(c, ev, &at);
	}
}

static void
link_disk(struct dump *d, struct links *l, const struct tnf_event *ev)
{
	uint64_t buf = 0, size = 0;
	struct chain *c;

	if (strcmp(ev->probe->name, "strategy") == 0 && link_number(ev, "buf", &buf)) {
		if (l->n == OPEN_MAX)
			chain_end(d, l, l->oldest);
		c = chain_new(l, ev);
		c->buf = buf;
		link_number(ev, "device", &c->at.device);
		link_number(ev, "block", &c->at.from);
		link_number(ev, "size", &size);
		c->at.to = c->at.from + size / SECTOR;
		chain_add(d, c, ev, 0);
	} else if (strcmp(ev->probe->name, "biodone") == 0 && link_number(ev, "buf", &buf)) {
		for (c = l->oldest; c != NULL; c = c->next)
			if (c->buf == buf && c->host == tnf_file_host(ev->file)) {
				chain_add(d, c, ev, 0);
				chain_end(d, l, c);
				break;
			}
	} else
		link_piece(d, l, ev);
}

static void
link_value(struct dump *d, struct links *l, const struct tnf_event *ev)
{
	struct val v = expr_eval(l->by, ev);
	char buf[VAL_TEXT_SIZE];
	const char *text;
	struct chain **c;
	bool fresh;

	if (v.kind == VAL_NULL)
		return;
	size_t len = val_text(&v, buf, &text);
	if (l->chains.n >= CHAINS_MAX && tnf_map_get(&l->chains, text, len) == NULL) {
		l->left_out++;
		return;
	}
	c = tnf_xmap_put(&l->chains, text, len, &fresh);
	if (fresh) {
		*c = chain_new(l, ev);
		(*c)->value = tnf_xstrndup(text, len);
	}
	chain_add(d, *c, ev, 0);
}

int
link_event(struct dump *d, const struct tnf_event *ev)
{
	struct links *l = d->state;

	if (l->by != NULL)
		link_value(d, l, ev);
	else
		link_disk(d, l, ev);
	return d->out.error != 0 ? -1 : 0;
}

int
link_end(struct dump *d)
{
	struct links *l = d->state;

	if (!l->any && d->events > 0 && l->by == NULL)
		dump_note(d, "--link: no request to a disk: record strategy and biodone");
	while (l->oldest != NULL)
		chain_end(d, l, l->oldest);
	if (l->by != NULL)
		hint_members(d, "link", l->by);
	if (l->left_out > 0)
		dump_note(d, "--link: more than %u values: %" PRIu64 " events are in no chain",
		    CHAINS_MAX, l->left_out);
	expr_free(l->by);
	tnf_map_free(&l->chains);
	free(l);
	return 0;
}
