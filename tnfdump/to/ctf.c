/*
 * ctf.c - Common Trace Format 1.8: a directory with metadata and one stream.
 *
 * The stream is a sequence of packets; each event has its id, time, thread and CPU, and the
 * arguments.  Probes are described after all events have been seen.  Records and arrays
 * become JSON text.  An empty packet at the end declares the count of all lost events.
 */
#include <fcntl.h>

#include "common/text.h"
#include "tnfdump/to/formats.h"

#define CTF_MAGIC		0xc1fc1fc1u
#define PACKET_BODY	(256u << 10)	/* approximate: the last event may exceed it */

/* The metadata's packet.header and packet.context. */
struct ctf_packet {
	uint32_t magic, stream;
	int64_t	 first, last;		/* times */
	uint64_t content_size, packet_size;	/* bits */
	uint64_t lost;			/* events, up to here */
};

/* The metadata's event.header and event.context, up to the name. */
struct ctf_head {
	uint32_t id;
	int64_t	 time;
	int32_t	 pid;
	uint32_t lwpid;
	uint64_t tid;
	int32_t	 cpu;
} __attribute__((packed));

/* The layout of an argument. */
enum ctf_field { CTF_SIGNED, CTF_UNSIGNED, CTF_HEX, CTF_REAL, CTF_TEXT };

struct ctf {
	struct dump	*d;
	struct out	 stream;
	struct out	 body;		/* the packet being filled */
	struct out	 text;		/* JSON of one value */
	int		 dir;
	int64_t		 first, last;	/* of the packet */

	/* For the metadata, which is written when the stream is complete. */
	struct perprobe	 probes;	/* const struct tnf_probe *; NULL: no event */
	const struct tnf_file *file;	/* of the first event */
	int64_t		 offset;	/* wall clock at time 0, ns; or 0 */
	bool		 has_wall;
};

static enum ctf_field
ctf_field(const struct tnf_member *m)
{
	switch (m->type->kind) {
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		return CTF_SIGNED;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		return m->type->opaque ? CTF_HEX : CTF_UNSIGNED;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		return CTF_REAL;
	default:
		return CTF_TEXT;
	}
}

static void
ctf_note(struct ctf *c, const struct tnf_event *ev)
{
	const struct tnf_probe **p = perprobe(&c->probes, ev->probe, sizeof(*p));

	if (c->file == NULL) {
		c->file = ev->file;
		c->has_wall = origin_clock(c->d, ev->file, &c->offset);
	}
	*p = ev->probe;
}

static void
ctf_metadata_quoted(struct out *o, const char *s)
{
	out_char(o, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			out_char(o, '\\');
		out_char(o, (unsigned char)*s < ' ' ? '?' : *s);
	}
	out_char(o, '"');
}

static void
env_fact(struct out *o, const struct ctf *c, const char *name, const char *fact)
{
	const char *s = c->file != NULL ? origin_fact(c->d, c->file, fact) : NULL;

	if (s == NULL)
		return;
	tnf_out_format(o, "\t%s = ", name);
	ctf_metadata_quoted(o, s);
	out_lit(o, ";\n");
}

static void
ctf_metadata_preamble(struct out *o, const struct ctf *c)
{
	out_lit(o, "/* CTF 1.8 */\n\n"
	    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n");
	out_lit(o, "typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
	    "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
	    "typealias integer { size = 64; align = 8; base = 16; } := x64;\n");
	out_lit(o, "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;\n\n"
	    "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = ");
	out_str(o, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be");
	out_lit(o, ";\n\tpacket.header := struct { u32 magic; u32 stream_id; };\n};\n\n");
	out_lit(o, "env {\n\ttracer_name = \"tnf\";\n\tdomain = \"tnf\";\n");
	env_fact(o, c, "hostname", "host");
	env_fact(o, c, "kernel_release", "release");
	out_lit(o, "};\n\n");
}

static void
clock_and_stream(struct out *o, const struct ctf *c)
{
	out_lit(o, "clock {\n\tname = monotonic;\n\tfreq = 1000000000;\n");
	if (c->has_wall && c->offset >= 0)
		tnf_out_format(o, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n",
		    c->offset / 1000000000, c->offset % 1000000000);
	out_lit(o, "};\n\ntypealias integer { size = 64; align = 8; signed = false; "
	    "map = clock.monotonic.value; } := stamp;\n\n");
	out_lit(o, "stream {\n\tid = 0;\n\tpacket.context := struct {\n"
	    "\t\tstamp timestamp_begin;\n\t\tstamp timestamp_end;\n"
	    "\t\tu64 content_size;\n\t\tu64 packet_size;\n"
	    "\t\tu64 events_discarded;\n\t};\n");
	out_lit(o, "\tevent.header := struct { u32 id; stamp timestamp; };\n"
	    "\tevent.context := struct { s32 pid; u32 lwpid; x64 tid; s32 cpu; "
	    "string comm; };\n};\n");
}

static void
event_class(struct out *o, const struct tnf_probe *p)
{
	static const char *const type[] = {
		[CTF_SIGNED] = "s64", [CTF_UNSIGNED] = "u64", [CTF_HEX] = "x64",
		[CTF_REAL] = "real", [CTF_TEXT] = "string",
	};

	out_lit(o, "\nevent {\n\tname = ");
	ctf_metadata_quoted(o, p->name);
	tnf_out_format(o, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", p->id);
	for (unsigned i = 0; i < p->n_members; i++) {
		/* The underscore prevents clashes with TSDL's keywords. */
		tnf_out_format(o, "\t\t%s _", type[ctf_field(&p->members[i])]);
		for (const char *s = p->members[i].name; *s != '\0'; s++)
			out_char(o, (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= '0' && *s <= '9') ? *s : '_');
		out_lit(o, ";\n");
	}
	out_lit(o, "\t};\n};\n");
}

static void
ctf_metadata(struct out *o, const struct ctf *c)
{
	const struct tnf_probe *const *p = (const struct tnf_probe *const *)(const void *)c->probes.base;

	ctf_metadata_preamble(o, c);
	clock_and_stream(o, c);
	for (size_t i = 0; i < c->probes.n; i++)
		if (p[i] != NULL)
			event_class(o, p[i]);
}

static int
ctf_fail(const char *path, const char *what)
{
	tnf_printable_printf(stderr, NAME ": %s: %s: %s\n", path, what, strerror(errno));
	return -1;
}

static int
open_stream(struct ctf *c, const char *path)
{
	int fd, error;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return ctf_fail(path, "cannot make the directory");
	if ((c->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return ctf_fail(path, "cannot open the directory");
	fd = openat(c->dir, "stream", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (fd < 0)
		return ctf_fail(path, "cannot create stream");
	if ((error = tnf_out_init(&c->stream, fd)) != 0) {
		close(fd);
		errno = error;
		return ctf_fail(path, "cannot start");
	}
	return 0;
}

static void
ctf_release(struct ctf *c)
{
	if (c->dir >= 0)
		close(c->dir);
	tnf_out_close(&c->body);
	tnf_out_close(&c->text);
	free(c->probes.base);
	free(c);
}

int
ctf_begin(struct dump *d)
{
	struct ctf *c = tnf_xcalloc(1, sizeof(*c));
	tnf_out_memory(&c->body);
	tnf_out_memory(&c->text);
	c->d = d;
	c->dir = -1;
	if (open_stream(c, d->path) != 0) {
		ctf_release(c);
		return -1;
	}
	d->state = c;
	return 0;
}

static void
ctf_packet(struct ctf *c, uint64_t lost)
{
	size_t body = out_size(&c->body);
	struct ctf_packet h = { .magic = CTF_MAGIC, .first = c->first, .last = c->last,
		.content_size = (sizeof(h) + body) * 8, .packet_size = (sizeof(h) + body) * 8,
		.lost = lost };

	tnf_out_bytes(&c->stream, (const char *)&h, sizeof(h));
	tnf_out_bytes(&c->stream, c->body.base, body);
	c->body.p = c->body.base;
}

static void
ctf_string(struct ctf *c, const char *s, size_t n)
{
	const char *nul = memchr(s, '\0', n);

	tnf_out_bytes(&c->body, s, nul != NULL ? (size_t)(nul - s) : n);
	out_char(&c->body, 0);
}

static void
as_text(struct ctf *c, const struct tnf_event *ev, const struct tnf_value *v)
{
	c->text.p = c->text.base;
	print_json(c->d, &c->text, ev, v, NULL);
	ctf_string(c, c->text.base, out_size(&c->text));
}

/* Writes an argument; numbers are widened to 64 bits, and a null is 0, so one layout is
   enough. */
static void
ctf_value(struct ctf *c, const struct tnf_event *ev, unsigned i)
{
	struct tnf_value v;
	uint64_t bits;
	size_t len;

	if (!tnf_event_value(ev, i, &v))
		v = (struct tnf_value){ .null = true };
	switch (ctf_field(&ev->probe->members[i])) {
	case CTF_SIGNED:
	case CTF_UNSIGNED:
	case CTF_HEX:
	case CTF_REAL:		/* a union: the same bits */
		bits = v.null ? 0 : v.u.u;
		tnf_out_bytes(&c->body, (const char *)&bits, sizeof(bits));
		break;
	case CTF_TEXT:
		if (v.null)
			ctf_string(c, "", 0);
		else if (v.kind == TNF_K_STRING && !v.type->blob) {
			const char *s = print_marked(c->d, &v, &len);
			ctf_string(c, s, len);
		} else if (v.kind == TNF_K_CHAR) {
			char ch = (char)v.u.i;

			ctf_string(c, &ch, 1);
		} else
			as_text(c, ev, &v);
	}
}

int
ctf_event(struct dump *d, const struct tnf_event *ev)
{
	struct ctf *c = d->state;
	const char *comm = origin_comm(c->d, ev);
	const struct ctf_head head = { ev->probe->id, ev->time, ev->pid, ev->lwpid, ev->tid, ev->cpu };

	ctf_note(c, ev);
	if (c->body.p == c->body.base)
		c->first = ev->time;
	c->last = ev->time;
	tnf_out_bytes(&c->body, (const char *)&head, sizeof(head));
	ctf_string(c, comm != NULL ? comm : "", comm != NULL ? strlen(comm) : 0);
	for (unsigned i = 0; i < ev->probe->n_members; i++)
		ctf_value(c, ev, i);
	if (out_size(&c->body) >= PACKET_BODY)
		ctf_packet(c, 0);
	return c->stream.error != 0 || c->body.error != 0 ? -1 : 0;
}

static int
write_metadata(struct ctf *c)
{
	struct out meta;
	int fd = openat(c->dir, "metadata", O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || tnf_out_init(&meta, fd) != 0)
		return ctf_fail(c->d->path, "cannot create metadata");
	ctf_metadata(&meta, c);
	errno = tnf_out_close(&meta);
	close(fd);
	return errno != 0 ? ctf_fail(c->d->path, "cannot write metadata") : 0;
}

int
ctf_end(struct dump *d)
{
	struct ctf *c = d->state;
	int rc, fd = c->stream.fd;
	struct losses losses = { NULL, 0 };
	uint64_t lost = 0;

	for (unsigned i = 0; i < d->n_inputs; i++)
		lost += losses_count(&losses, tnf_file_ext(d->inputs[i].file)).events;
	losses_free(&losses);
	/* Readers take the difference of the counter between packets, so there must be two
	   packets. */
	if (c->body.p > c->body.base || (lost > 0 && c->file == NULL))
		ctf_packet(c, 0);
	if (lost > 0) {
		c->first = c->last;
		ctf_packet(c, lost);
	}
	rc = write_metadata(c);
	errno = tnf_out_close(&c->stream);
	if (errno != 0)
		rc = ctf_fail(c->d->path, "cannot write stream");
	close(fd);
	ctf_release(c);
	return rc;
}
