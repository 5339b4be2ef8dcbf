/*
 * profile.c - profiles, by the stacks of events: folded stacks for flame graphs, and pprof's format.
 *
 * A line of folded stacks is "frame;frame;frame count".  An event with a stack counts under its
 * frames, the outermost first, between the process and the probe.  Other events count as
 * process;probe.
 *
 * pprof reads profile.proto, compressed as by gzip.  Each probe that recorded stacks is a type of
 * value, whose unit is the event; if there are events of "sample", which tell where the CPUs were,
 * pprof shows these unless it is asked for others.  Events that agree in probe, thread and stack are
 * counted together.  A location is an address, with the functions that are inlined there.  All
 * tables are written at the end, in memory: a profile has few places, and many events.
 */
#include <zlib.h>

#include "tnfdump/to/formats.h"
#include "tnfdump/to/protobuf.h"

struct stack {
	struct stack	*next;		/* next in order of first sight */
	uint64_t	 count;
	size_t		 len;		/* of its text: the key */
};

struct folded {
	struct dump	*d;
	struct out	 line;		/* the stack of one event */
	struct map	 stacks;	/* by text: struct stack */
	struct stack	*first, **end;
};

int
folded_begin(struct dump *d)
{
	struct folded *f = tnf_xcalloc(1, sizeof(*f));

	tnf_out_memory(&f->line);
	tnf_map_init(&f->stacks, sizeof(struct stack));
	f->end = &f->first;
	f->d = d;
	d->state = f;
	return 0;
}

/* Writes a frame; ';', blanks and newlines become '_', since they are separators. */
static void
folded_frame(struct out *o, const char *s)
{
	for (; *s != '\0'; s++)
		out_char(o, *s == ';' || *s == ' ' || *s == '\n' ? '_' : *s);
}

static void
folded_frames(struct folded *f, const struct tnf_event *ev)
{
	const char *names[FRAME_NAMES_MAX];
	struct frame frames[FRAMES_MAX];
	unsigned count = frames_of(f->d, ev, frames);

	for (unsigned i = 0; i < count; i++) {
		unsigned n = frame_names(f->d, ev, &frames[i], names);

		if (frames[i].cut)
			out_lit(&f->line, ";[more]");
		if (n == 0) {
			out_char(&f->line, ';');
			tnf_out_0x(&f->line, frames[i].pc);
		}
		for (unsigned k = 0; k < n; k++) {
			out_char(&f->line, ';');
			folded_frame(&f->line, names[k]);
		}
	}
}

static void
folded_count(struct folded *f)
{
	size_t len = out_size(&f->line);
	bool fresh;
	struct stack *s = tnf_xmap_put(&f->stacks, f->line.base, len, &fresh);

	s->count++;
	if (!fresh)
		return;
	s->len = len;
	*f->end = s;
	f->end = &s->next;
}

int
folded_event(struct dump *d, const struct tnf_event *ev)
{
	struct folded *f = d->state;
	const char *comm = origin_process(f->d, ev);

	if (comm == NULL)
		comm = origin_comm(f->d, ev);
	f->line.p = f->line.base;
	if (d->hosts != NULL) {
		folded_frame(&f->line, host_name(d, ev));
		out_char(&f->line, ';');
	}
	if (comm != NULL)
		folded_frame(&f->line, comm);
	else {
		out_lit(&f->line, "pid_");
		tnf_out_i64(&f->line, ev->pid);
	}
	folded_frames(f, ev);
	out_char(&f->line, ';');
	folded_frame(&f->line, ev->probe->name);
	folded_count(f);
	return 0;
}

int
folded_end(struct dump *d)
{
	struct folded *f = d->state;
	struct out *o = &f->d->out;

	for (const struct stack *s = f->first; s != NULL; s = s->next) {
		print_chars(&f->d->out, tnf_map_key(&f->stacks, s), s->len);
		out_char(o, ' ');
		tnf_out_u64(o, s->count);
		out_char(o, '\n');
	}
	tnf_map_free(&f->stacks);
	tnf_out_close(&f->line);
	free(f);
	return 0;
}

enum {				/* Profile */
	PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10,
	PROFILE_DEFAULT_TYPE = 14,
};
enum {				/* ValueType, Sample, Label */
	TYPE_TYPE = 1, TYPE_UNIT = 2, SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3,
};
enum {				/* Mapping, Location, Line, Function */
	MAPPING_ID = 1, MAPPING_START = 2, MAPPING_LIMIT = 3, MAPPING_OFFSET = 4,
	MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3,
};

#define KERNEL_START	(UINT64_C(1) << 63)

/* The common part of events that are counted together; the numbers of their locations follow,
   the innermost first, as the format wants them. */
struct alike {
	uint64_t type, host, process, thread, pid, lwpid;
};

struct place {
	const void *space;		/* a mapped object, else the file */
	int64_t	pid;			/* 0: the kernel */
	uint64_t addr;
};

struct count {
	struct count *next;		/* in order of first sight */
	size_t	 size;			/* of the key */
	uint64_t n;
};

struct pprof {
	struct dump	*d;
	struct map	 strings, mappings, locations, functions;	/* numbers, from 1 */
	struct map	 counts;	/* struct count, by struct alike with its locations */
	struct count	*counted, **end;
	uint64_t	*types;		/* names of probes, as strings */
	uint64_t	 n_types;
	struct out	 key;
	struct out	 profile, inner, line;	/* being written */
	int64_t		 first, last, wall;
};

/* The number of a key, from 1. */
static uint64_t
number_of(struct map *m, const void *key, size_t size, bool *fresh)
{
	uint64_t *n = tnf_xmap_put(m, key, size, fresh);

	if (*fresh)
		*n = m->n;
	return *n;
}

/* The index in the table of strings, whose first is empty. */
static uint64_t
string_of(struct pprof *p, const char *s)
{
	bool fresh;

	if (s == NULL || *s == '\0')
		return 0;
	uint64_t n = number_of(&p->strings, s, strlen(s), &fresh);
	if (fresh)
		proto_str(&p->profile, PROFILE_STRING, s);
	return n;
}

int
pprof_begin(struct dump *d)
{
	struct pprof *p = tnf_xcalloc(1, sizeof(*p));

	tnf_map_init(&p->strings, sizeof(uint64_t));
	tnf_map_init(&p->mappings, sizeof(uint64_t));
	tnf_map_init(&p->locations, sizeof(uint64_t));
	tnf_map_init(&p->functions, sizeof(uint64_t));
	tnf_map_init(&p->counts, sizeof(struct count));
	tnf_out_memory(&p->key);
	tnf_out_memory(&p->profile);
	tnf_out_memory(&p->inner);
	tnf_out_memory(&p->line);
	proto_str(&p->profile, PROFILE_STRING, "");
	p->end = &p->counted;
	p->d = d;
	d->state = p;
	return 0;
}

static void
pprof_free(struct pprof *p)
{
	tnf_map_free(&p->strings);
	tnf_map_free(&p->mappings);
	tnf_map_free(&p->locations);
	tnf_map_free(&p->functions);
	tnf_map_free(&p->counts);
	tnf_out_close(&p->key);
	tnf_out_close(&p->profile);
	tnf_out_close(&p->inner);
	tnf_out_close(&p->line);
	free(p->types);
	free(p);
}

static uint64_t
pprof_function(struct pprof *p, const char *name)
{
	uint64_t text = string_of(p, name);
	bool fresh;
	uint64_t id = number_of(&p->functions, &text, sizeof(text), &fresh);

	if (!fresh)
		return id;
	proto_u64(&p->line, FUNCTION_ID, id);
	proto_u64(&p->line, FUNCTION_NAME, text);
	proto_u64(&p->line, FUNCTION_SYSTEM_NAME, text);
	proto_message(&p->profile, PROFILE_FUNCTION, &p->line);
	return id;
}

/* The mapping that has an address; 0: none is known.  'object' is NULL for the kernel. */
static uint64_t
pprof_mapping(struct pprof *p, const struct tnf_context_object *object)
{
	const struct tnf_context_object kernel = { .start = KERNEL_START, .end = UINT64_MAX,
	    .path = "[kernel]", .build_id = "" };
	const struct tnf_context_object *o = object != NULL ? object : &kernel;
	bool fresh;
	uint64_t id = number_of(&p->mappings, &object, sizeof(object), &fresh);

	if (!fresh)
		return id;
	uint64_t path = string_of(p, o->path);
	uint64_t build = strcmp(o->build_id, "-") != 0 ? string_of(p, o->build_id) : 0;
	proto_u64(&p->line, MAPPING_ID, id);
	proto_u64(&p->line, MAPPING_START, o->start);
	proto_u64(&p->line, MAPPING_LIMIT, o->end);
	proto_u64(&p->line, MAPPING_OFFSET, o->offset);
	proto_u64(&p->line, MAPPING_FILE, path);
	proto_u64(&p->line, MAPPING_BUILD_ID, build);
	proto_u64(&p->line, MAPPING_HAS_FUNCTIONS, 1);
	proto_message(&p->profile, PROFILE_MAPPING, &p->line);
	return id;
}

static void
write_location(struct pprof *p, const struct tnf_event *ev, const struct frame *f, uint64_t id,
    uint64_t mapping)
{
	const char *names[FRAME_NAMES_MAX];
	uint64_t function[FRAME_NAMES_MAX];
	unsigned n = frame_names(p->d, ev, f, names);

	for (unsigned i = 0; i < n; i++)
		function[i] = pprof_function(p, names[i]);
	proto_u64(&p->inner, LOCATION_ID, id);
	if (mapping != 0)
		proto_u64(&p->inner, LOCATION_MAPPING, mapping);
	proto_u64(&p->inner, LOCATION_ADDRESS, f->at);
	while (n-- > 0) {
		proto_u64(&p->line, LINE_FUNCTION, function[n]);
		proto_message(&p->inner, LOCATION_LINE, &p->line);
	}
	proto_message(&p->profile, PROFILE_LOCATION, &p->inner);
}

static uint64_t
pprof_location(struct pprof *p, const struct tnf_event *ev, const struct frame *f)
{
	bool kernel = f->at >= KERNEL_START, fresh;
	const struct tnf_context_object *o = kernel ? NULL : origin_object(p->d, ev, f->at);
	struct place at = { o != NULL ? (const void *)o : ev->file, kernel ? 0 : ev->pid, f->at };
	uint64_t id = number_of(&p->locations, &at, sizeof(at), &fresh);

	if (fresh)
		write_location(p, ev, f, id, kernel || o != NULL ? pprof_mapping(p, o) : 0);
	return id;
}

/* The index of a probe among the types. */
static uint64_t
type_of(struct pprof *p, const char *name)
{
	uint64_t text = string_of(p, name), i = 0;

	while (i < p->n_types && p->types[i] != text)
		i++;
	if (i == p->n_types) {
		p->types = tnf_xreallocarray(p->types, i + 1, sizeof(*p->types));
		p->types[p->n_types++] = text;
	}
	return i;
}

static void
pprof_count(struct pprof *p)
{
	bool fresh;
	struct count *c = tnf_xmap_put(&p->counts, p->key.base, out_size(&p->key), &fresh);

	c->n++;
	if (!fresh)
		return;
	c->size = out_size(&p->key);
	*p->end = c;
	p->end = &c->next;
}

int
pprof_event(struct dump *d, const struct tnf_event *ev)
{
	struct frame frames[FRAMES_MAX];
	struct pprof *p = d->state;
	unsigned n = frames_of(d, ev, frames);
	struct alike a;

	if (n == 0)
		return 0;
	if (p->counted == NULL) {
		p->first = ev->time;
		origin_clock(d, ev->file, &p->wall);
	}
	p->last = ev->time;
	a = (struct alike){ .type = type_of(p, ev->probe->name),
	    .host = d->hosts != NULL ? string_of(p, host_name(d, ev)) : 0,
	    .process = string_of(p, origin_process(d, ev)),
	    .thread = string_of(p, origin_comm(d, ev)),
	    .pid = (uint64_t)(int64_t)ev->pid, .lwpid = ev->lwpid };
	p->key.p = p->key.base;
	tnf_out_bytes(&p->key, (const char *)&a, sizeof(a));
	while (n-- > 0) {
		uint64_t id = pprof_location(p, ev, &frames[n]);
		tnf_out_bytes(&p->key, (const char *)&id, sizeof(id));
	}
	pprof_count(p);
	return 0;
}

static void
write_types(struct pprof *p)
{
	uint64_t unit = string_of(p, "count"), sample = string_of(p, "sample"), chosen = p->types[0];

	for (uint64_t i = 0; i < p->n_types; i++) {
		proto_u64(&p->inner, TYPE_TYPE, p->types[i]);
		proto_u64(&p->inner, TYPE_UNIT, unit);
		proto_message(&p->profile, PROFILE_TYPE, &p->inner);
		if (p->types[i] == sample)
			chosen = sample;
	}
	proto_u64(&p->profile, PROFILE_DEFAULT_TYPE, chosen);
}

static void
write_label(struct pprof *p, const char *key, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	proto_u64(&p->line, LABEL_KEY, string_of(p, key));
	proto_u64(&p->line, field, value);
	proto_message(&p->inner, SAMPLE_LABEL, &p->line);
}

static void
write_sample(struct pprof *p, const struct count *c)
{
	const char *key = tnf_map_key(&p->counts, c), *end = key + c->size;
	struct alike a;
	uint64_t id;

	memcpy(&a, key, sizeof(a));
	for (key += sizeof(a); key < end; key += sizeof(id)) {
		memcpy(&id, key, sizeof(id));
		proto_varint(&p->line, id);
	}
	proto_message(&p->inner, SAMPLE_LOCATION, &p->line);
	for (uint64_t i = 0; i < p->n_types; i++)
		proto_varint(&p->line, i == a.type ? c->n : 0);
	proto_message(&p->inner, SAMPLE_VALUE, &p->line);
	write_label(p, "host", LABEL_STRING, a.host);
	write_label(p, "process", LABEL_STRING, a.process);
	write_label(p, "thread", LABEL_STRING, a.thread);
	write_label(p, "pid", LABEL_NUMBER, a.pid);
	write_label(p, "tid", LABEL_NUMBER, a.lwpid);
	proto_message(&p->profile, PROFILE_SAMPLE, &p->inner);
}

static void
write_profile(struct pprof *p)
{
	write_types(p);
	for (const struct count *c = p->counted; c != NULL; c = c->next)
		write_sample(p, c);
	if (p->wall != 0)
		proto_u64(&p->profile, PROFILE_TIME, (uint64_t)(p->wall + p->first));
	proto_u64(&p->profile, PROFILE_DURATION, (uint64_t)(p->last - p->first));
}

/* Writes the profile as a file of gzip; returns 0, or -1 after a message. */
static int
pack(struct dump *d, const struct out *from)
{
	z_stream z = { .next_in = (void *)from->base, .avail_in = (uInt)out_size(from) };
	char piece[4096];
	int r = Z_OK;

	if (out_size(from) > UINT32_MAX ||
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		dump_error(d, "--to pprof: %zu bytes cannot be compressed: choose fewer events, "
		    "as with --last", out_size(from));
		return -1;
	}
	while (r == Z_OK) {
		z.next_out = (void *)piece;
		z.avail_out = sizeof(piece);
		r = deflate(&z, Z_FINISH);
		tnf_out_bytes(&d->out, piece, sizeof(piece) - z.avail_out);
	}
	deflateEnd(&z);
	return 0;
}

int
pprof_end(struct dump *d)
{
	struct pprof *p = d->state;
	int status = -1;

	if (p->counted == NULL)
		dump_error(d, "--to pprof: no event has a stack: record some with "
		    "prex -k -c 'trace profile; enable profile'");
	else {
		write_profile(p);
		status = pack(d, &p->profile);
	}
	pprof_free(p);
	return status;
}
