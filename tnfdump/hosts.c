/*
 * hosts.c - --hosts: tells of which machine each file is, shifts the file's times, and tells
 * whether the order of events of different machines is certain.
 */
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"

static struct hosts *
hosts_of(struct dump *d)
{
	if (d->hosts == NULL) {
		d->hosts = tnf_xcalloc(1, sizeof(*d->hosts));
		tnf_map_init(&d->hosts->pids, sizeof(int32_t));
	}
	return d->hosts;
}

/* --hosts must precede expressions: without hosts, "host" in an expression is a member's
   name. */
int
hosts_set(struct dump *d, const char *arg)
{
	if (d->hosts == NULL && d->source != NULL)
		return options_wrong("hosts", "comes before options with expressions: "
		    "\"host\" means something in them");
	hosts_of(d);
	return 0;
}

/* Reads a duration with an optional sign; false: it is none, or is too large. */
static bool
hosts_offset_parse(const char *s, int64_t *ns)
{
	bool minus = *s == '-';

	if (*s == '-' || *s == '+')
		s++;
	if (!duration_parse(s, ns) || *ns > HOSTS_CLOCK_MAX)
		return false;
	*ns = minus ? -*ns : *ns;
	return true;
}

int
hosts_clock_set(struct dump *d, const char *arg)
{
	const char *equals = strrchr(arg, '=');
	struct clock_option c = { 0 };
	char *offset, *comma;

	if (d->hosts == NULL)
		return options_wrong("clock", "belongs to --hosts, which comes before it");
	if (equals == NULL || equals == arg)
		return options_wrong("clock", "%s: is HOST=OFFSET or HOST=OFFSET,ERROR: "
		    "web1=-1.5ms,20us", arg);
	offset = tnf_xstrdup(equals + 1);
	if ((comma = strchr(offset, ',')) != NULL)
		*comma++ = '\0';
	bool good = hosts_offset_parse(offset, &c.offset) &&
	    (comma == NULL || (*comma != '-' && hosts_offset_parse(comma, &c.error)));
	free(offset);
	if (!good)
		return options_wrong("clock", "%s: is no duration: -1.5ms, 20us, 2s",
		    equals + 1);
	c.name = tnf_xstrndup(arg, (size_t)(equals - arg));
	d->hosts->clocks = tnf_xreallocarray(d->hosts->clocks, d->hosts->n_clocks + 1, sizeof(c));
	d->hosts->clocks[d->hosts->n_clocks++] = c;
	return 0;
}

int
hosts_message_set(struct dump *d, const char *arg)
{
	struct message_rule r = { 0 };
	char *rest, *word, **to[] = { &r.send, &r.receive };
	unsigned n = 0;

	if (d->hosts == NULL)
		return options_wrong("message", "belongs to --hosts, which comes before it");
	rest = r.text = tnf_xstrdup(arg);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (*word == '\0' || n == 2 + MEMBERS_MAX)
			break;
		if (n < 2)
			*to[n] = word;
		else
			r.members[r.n_members++] = word;
		n++;
	}
	if (word != NULL || r.n_members == 0) {
		free(r.text);
		return options_wrong("message", "%s: is SEND,RECEIVE,MEMBER[,MEMBER...]: two "
		    "probes and the members that both have, at most %d", arg, MEMBERS_MAX);
	}
	d->hosts->rules = tnf_xreallocarray(d->hosts->rules, d->hosts->n_rules + 1, sizeof(r));
	d->hosts->rules[d->hosts->n_rules++] = r;
	return 0;
}

static const char *
hosts_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static struct host_place *
hosts_place_of(const struct hosts *h, const struct input *in)
{
	for (size_t i = 0; h->paths[i] != NULL; i++)
		if (h->paths[i] == in->path)
			return &h->places[h->place_of[i]];
	return NULL;
}

/* Returns the name that another file of the same boot gives its machine, or NULL.  The file of a
   process that still runs, or was killed, does not have the name itself. */
static const char *
hosts_name_by_boot(struct dump *d, const struct tnf_file *f)
{
	static const uint8_t none[sizeof(((struct tnf_ext *)0)->boot_id)];
	const struct tnf_ext *x = tnf_file_ext(f), *y;
	const char *fact = NULL;

	if (x == NULL || memcmp(x->boot_id, none, sizeof(none)) == 0)
		return NULL;
	for (unsigned i = 0; i < d->n_inputs && fact == NULL; i++)
		if ((y = tnf_file_ext(d->inputs[i].file)) != NULL &&
		    memcmp(x->boot_id, y->boot_id, sizeof(none)) == 0)
			fact = origin_fact(d, d->inputs[i].file, "host");
	return fact;
}

/* Returns the name of a file's machine.  All files of a directory are of one machine, by the name
   that the asker has noted, the context of this file, or the directory; a file in no directory has
   the name in its context, or in that of another file of the same boot. */
static const char *
hosts_name_of(struct dump *d, const struct input *in, const struct host_place *p)
{
	const char *fact = origin_fact(d, in->file, "host");

	if (p != NULL && p->note.name != NULL)
		return p->note.name;
	if (p != NULL && p->path != NULL)
		return fact != NULL ? fact : hosts_base_name(p->path);
	if (fact == NULL)
		fact = hosts_name_by_boot(d, in->file);
	return fact != NULL ? fact : hosts_base_name(in->path);
}

/* Facts about the n-th host, while files are grouped by host. */
struct hosts_group {
	const struct host_place *place;	/* a directory, or NULL */
	bool	measured;		/* an asker has measured its clock */
	int64_t	asked_offset, asked_error;
	int64_t	own_offset, own_error;	/* by its own kernel */
};

/* Sets how far the machine's kernel believed its clock to be off, and by what error, when the trace
   was made: "sync STATE OFFSET BOUND ESTIMATE", tnf(5). */
static void
hosts_own_clock(struct dump *d, const struct tnf_file *f, int64_t *offset, int64_t *error)
{
	const char *fact = origin_fact(d, f, "sync");
	int64_t o, e;
	char state[16];

	*offset = 0;
	*error = HOSTS_ERROR_UNKNOWN;
	if (fact == NULL || sscanf(fact, "%15s %" SCNd64 " %" SCNd64, state, &o, &e) != 3 ||
	    strcmp(state, "synchronised") != 0 || e < 0 || e > HOSTS_ERROR_UNKNOWN ||
	    o < -HOSTS_ERROR_UNKNOWN || o > HOSTS_ERROR_UNKNOWN)
		return;
	*offset = o;
	*error = e;
}

static struct host *
hosts_add(struct hosts *h, struct hosts_group **groups, const char *name,
    const struct host_place *place)
{
	h->list = tnf_xreallocarray(h->list, h->n + 1, sizeof(*h->list));
	*groups = tnf_xreallocarray(*groups, h->n + 1, sizeof(**groups));
	(*groups)[h->n] = (struct hosts_group){ .place = place,
	    .own_error = HOSTS_ERROR_UNKNOWN };
	struct host *host = &h->list[h->n++];
	*host = (struct host){ .name = tnf_xstrdup(name) };
	return host;
}

/* Returns the index of a host; adds it if there is none of this name yet.  Two directories are two
   machines, even if both have the same host name. */
static unsigned
hosts_find(struct hosts *h, struct hosts_group **groups, const char *name,
    const struct host_place *place)
{
	const struct host_place *directory = place != NULL && place->path != NULL ? place : NULL;
	bool taken = false;

	for (unsigned i = 0; i < h->n; i++) {
		if (directory != NULL ? (*groups)[i].place == directory :
		    (*groups)[i].place == NULL && strcmp(h->list[i].name, name) == 0)
			return i;
		taken |= strcmp(h->list[i].name, name) == 0;
	}
	if (taken) {
		char *other = tnf_xasprintf("%s (%s)", name, directory != NULL ?
		    hosts_base_name(directory->path) : "files");
		hosts_add(h, groups, other, directory);
		free(other);
	} else
		hosts_add(h, groups, name, directory);
	return h->n - 1;
}

static void
hosts_group_file(struct dump *d, struct input *in, struct hosts_group **groups)
{
	struct hosts *h = d->hosts;
	const struct host_place *place = hosts_place_of(h, in);
	unsigned i = hosts_find(h, groups, hosts_name_of(d, in, place), place);
	struct hosts_group *g = &(*groups)[i];
	int64_t offset, error;

	tnf_file_set_host(in->file, i, 0);
	h->list[i].files++;
	if (place != NULL && place->note.measured) {
		g->measured = true;
		g->asked_offset = place->note.offset;
		g->asked_error = place->note.error;
	}
	hosts_own_clock(d, in->file, &offset, &error);
	if (error < g->own_error) {
		g->own_offset = offset;
		g->own_error = error;
	}
}

static void
hosts_by_option(struct dump *d, struct host *host)
{
	struct hosts *h = d->hosts;

	for (unsigned i = 0; i < h->n_clocks; i++)
		if (strcmp(h->clocks[i].name, host->name) == 0) {
			host->offset = h->clocks[i].offset;
			host->error = h->clocks[i].error;
			host->source = "option";
			h->clocks[i].used = true;
		}
}

/*
 * Sets the hosts' clocks.  An asker compared each clock with the asker's own one, a kernel compared
 * its clock with the world's: these values do not mix.  If the asker measured all hosts, and the
 * sum of its errors is not larger than that of the kernels, all hosts use the asker's values;
 * otherwise all use their kernels'.
 */
static void
hosts_clocks(struct dump *d, const struct hosts_group *groups)
{
	struct hosts *h = d->hosts;
	double asked = 0, own = 0;
	bool all = true;

	for (unsigned i = 0; i < h->n; i++) {
		all &= groups[i].measured;
		asked += (double)groups[i].asked_error;
		own += (double)groups[i].own_error;
	}
	for (unsigned i = 0; i < h->n; i++) {
		const struct hosts_group *g = &groups[i];
		struct host *host = &h->list[i];

		if (all && asked <= own) {
			host->offset = g->asked_offset;
			host->error = g->asked_error;
			host->source = "asker";
		} else {
			host->offset = g->own_offset;
			host->error = g->own_error;
			host->source = g->own_error < HOSTS_ERROR_UNKNOWN ? "kernel" : "unknown";
		}
		hosts_by_option(d, host);
	}
	for (unsigned i = 0; i < h->n_clocks; i++)
		if (!h->clocks[i].used)
			dump_note(d, "--clock: %s: no file is of this host", h->clocks[i].name);
}

/* Sets *clock to the wall clock at time 0 of the file's monotonic clock; false: not told.  The files of
   one machine and boot have the same monotonic clock, so all use the value of the first one: the
   wall clock may have been set between two files. */
static bool
hosts_file_clock(struct dump *d, unsigned nth, int64_t *clock)
{
	const struct tnf_file *f = d->inputs[nth].file, *other;

	for (unsigned i = 0; i < nth; i++) {
		other = d->inputs[i].file;
		if (tnf_file_host(other) == tnf_file_host(f) && origin_same_boot(other, f) &&
		    origin_own_clock(d, other, clock))
			return true;
	}
	return origin_own_clock(d, f, clock);
}

/* Shifts the files' times by the offsets of their hosts' clocks. */
static void
hosts_shift(struct dump *d)
{
	struct hosts *h = d->hosts;
	int64_t clock, shift;

	for (unsigned i = 0; i < d->n_inputs; i++) {
		struct tnf_file *f = d->inputs[i].file;

		unsigned host = tnf_file_host(f);
		if (host == HOST_NONE)
			continue;
		const char *why = NULL;
		if (!hosts_file_clock(d, i, &clock))
			why = "does not tell its wall clock";
		else if (__builtin_add_overflow(clock, h->list[host].offset, &clock) ||
		    (h->has_wall && __builtin_sub_overflow(clock, h->wall, &shift)))
			why = "its wall clock cannot be";
		if (why != NULL) {
			dump_error(d, "%s: %s: left out of --hosts", d->inputs[i].path, why);
			tnf_file_set_host(f, HOST_NONE, 0);
			continue;
		}
		if (!h->has_wall) {
			h->has_wall = true;
			h->wall = clock;
			shift = 0;
		}
		tnf_file_set_host(f, host, shift);
	}
}

/* Returns by how much the times of two events of these hosts must differ for their order to be
   certain. */
static int64_t
hosts_slack(const struct hosts *h, unsigned earlier, unsigned later)
{
	if (h->slack != NULL)
		return h->slack[(size_t)earlier * h->n + later];
	return h->list[earlier].error + h->list[later].error;
}

static void
hosts_order_begin(struct hosts *h)
{
	int64_t s;

	h->last = tnf_xcalloc(h->n, sizeof(*h->last));
	h->recent = tnf_xcalloc(h->n, sizeof(*h->recent));
	for (unsigned i = 0; i < h->n; i++)
		for (unsigned k = 0; h->slack != NULL && k < h->n; k++)
			if (i != k && (s = hosts_slack(h, i, k)) > h->slack_max)
				h->slack_max = s;
	for (unsigned i = 0; i < h->n && h->slack == NULL; i++)
		if (2 * h->list[i].error > h->slack_max)
			h->slack_max = 2 * h->list[i].error;
}

void
hosts_join(struct dump *d)
{
	struct hosts *h = d->hosts;
	struct hosts_group *groups = NULL;

	for (unsigned i = 0; i < d->n_inputs; i++)
		hosts_group_file(d, &d->inputs[i], &groups);
	hosts_clocks(d, groups);
	free(groups);
	hosts_shift(d);
	if (h->n_rules > 0 && h->n > 0 && hosts_clocks_by_messages(d)) {
		h->has_wall = false;
		hosts_shift(d);
	}
	hosts_order_begin(h);
}

/* Moves the event's host to the front of the list of recent hosts. */
static void
hosts_note_event(struct hosts *h, unsigned host, int64_t time)
{
	unsigned i = 0;

	while (i < h->n_recent && h->recent[i] != host)
		i++;
	if (i == h->n_recent)
		h->n_recent++;
	memmove(h->recent + 1, h->recent, i * sizeof(*h->recent));
	h->recent[0] = host;
	h->last[host] = time;
}

void
hosts_see(struct dump *d, const struct tnf_event *ev)
{
	struct hosts *h = d->hosts;
	int64_t before;

	if (h == NULL || !hosts_placed(d, ev))
		return;
	unsigned host = tnf_file_host(ev->file);
	d->unordered = false;
	for (unsigned i = 0; i < h->n_recent && !d->unordered; i++) {
		unsigned other = h->recent[i];
		if (__builtin_sub_overflow(ev->time, h->last[other], &before) ||
		    before > h->slack_max)
			break;
		d->unordered = other != host && before < hosts_slack(h, other, host);
	}
	hosts_note_event(h, host, ev->time);
}

const struct host *
hosts_list(const struct dump *d, unsigned *n)
{
	if (d->hosts == NULL)
		return NULL;
	*n = d->hosts->n;
	return d->hosts->list;
}

bool
hosts_placed(const struct dump *d, const struct tnf_event *ev)
{
	return d->hosts == NULL || tnf_file_host(ev->file) != HOST_NONE;
}

const char *
host_name(const struct dump *d, const struct tnf_event *ev)
{
	if (d->hosts == NULL || !hosts_placed(d, ev))
		return NULL;
	return d->hosts->list[tnf_file_host(ev->file)].name;
}

bool
hosts_wall(const struct dump *d, int64_t *ret)
{
	*ret = d->hosts->wall;
	return d->hosts->has_wall;
}

/* Linux has no pid above 1 << 22: the first machine's processes keep their pids, and those of the
   other machines get numbers above. */
int32_t
hosts_pid(struct dump *d, unsigned host, int32_t pid)
{
	const int32_t key[2] = { (int32_t)host, pid };
	bool fresh;

	if (d->hosts == NULL || host == 0 || host == HOST_NONE)
		return pid;
	int32_t *number = tnf_xmap_put(&d->hosts->pids, key, sizeof(key), &fresh);
	if (fresh)
		*number = (1 << 22) + (int32_t)d->hosts->pids.n;
	return *number;
}

/* "host web1: clock +0.000000 ms, error 0.120000 ms (asker), 3 files" */
void
hosts_print(struct dump *d)
{
	const struct hosts *h = d->hosts;
	struct out *o = &d->out;

	for (unsigned i = 0; i < h->n; i++) {
		const struct host *host = &h->list[i];

		out_lit(o, "host ");
		print_name(&d->out, host->name);
		out_lit(o, ": clock ");
		if (host->offset >= 0)
			out_char(o, '+');
		tnf_out_ms(o, host->offset, 0);
		out_lit(o, " ms, error ");
		tnf_out_ms(o, host->error, 0);
		out_lit(o, " ms (");
		out_str(o, host->source);
		out_str(o, host->moved != 0 ? ", messages), " : "), ");
		tnf_out_u64(o, host->files);
		out_str(o, host->files == 1 ? " file\n" : " files\n");
	}
}

void
hosts_free(struct dump *d)
{
	struct hosts *h = d->hosts;

	if (h == NULL)
		return;
	for (unsigned i = 0; i < h->n; i++)
		free(h->list[i].name);
	for (unsigned i = 0; i < h->n_places; i++) {
		free(h->places[i].path);
		free(h->places[i].note.name);
	}
	for (size_t i = 0; h->paths != NULL && h->paths[i] != NULL; i++)
		free(h->paths[i]);
	for (unsigned i = 0; i < h->n_clocks; i++)
		free(h->clocks[i].name);
	for (unsigned i = 0; i < h->n_rules; i++)
		free(h->rules[i].text);
	tnf_map_free(&h->pids);
	free(h->list);
	free(h->places);
	free(h->place_of);
	free(h->paths);
	free(h->clocks);
	free(h->rules);
	free(h->last);
	free(h->recent);
	free(h->slack);
	free(h);
	d->hosts = NULL;
}
