/*
 * ctf.c - Common Trace Format 1.8: a directory with metadata and one stream.
 *
 * The stream is a row of packets; each event is its id, time, who and where,
 * and the arguments.  Probes are described when all events have been seen, in
 * ctf-metadata.c.  Records and arrays go as JSON text.  Lost events are
 * declared by an empty packet at the end that counts them all.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analysis/json.h"
#include "analysis/losses.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "tnfdump/input.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/text/print.h"
#include "tnfdump/to/ctf.h"
#include "tnfdump/to/formats.h"

#define PACKET_BODY	(256u << 10)	/* about; one event may pass it */

struct ctf {
	struct dump	*d;
	struct out	 stream;
	struct out	 body;		/* the packet being filled */
	struct out	 text;		/* JSON of one value */
	int		 dir;
	int64_t		 first, last;	/* of the packet */
	struct ctf_trace trace;
};

static int
ctf_fail(const char *path, const char *what)
{
	tnf_printable_printf(stderr, NAME ": %s: %s: %s\n", path, what, strerror(errno));
	return -1;
}

static void
ctf_u8(struct out *o, unsigned v)
{
	out_char(o, (char)v);
}

static void
ctf_u32(struct out *o, uint32_t v)
{
	tnf_out_bytes(o, (const char *)&v, sizeof(v));
}

static void
ctf_u64(struct out *o, uint64_t v)
{
	tnf_out_bytes(o, (const char *)&v, sizeof(v));
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
	ctf_trace_free(&c->trace);
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

/* The order and sizes of ctf-metadata.c: trace.packet.header, packet.context. */
static void
ctf_packet(struct ctf *c, uint64_t lost)
{
	uint64_t body = (uint64_t)(c->body.p - c->body.base);
	uint64_t bits = (CTF_PACKET_HEADER + body) * 8;

	ctf_u32(&c->stream, CTF_MAGIC);
	ctf_u32(&c->stream, 0);			/* stream_id */
	ctf_u64(&c->stream, (uint64_t)c->first);
	ctf_u64(&c->stream, (uint64_t)c->last);
	ctf_u64(&c->stream, bits);			/* content_size */
	ctf_u64(&c->stream, bits);			/* packet_size */
	ctf_u64(&c->stream, lost);
	tnf_out_bytes(&c->stream, c->body.base, body);
	c->body.p = c->body.base;
}

static void
ctf_string(struct ctf *c, const char *s, size_t n)
{
	const char *nul = memchr(s, '\0', n);

	tnf_out_bytes(&c->body, s, nul != NULL ? (size_t)(nul - s) : n);
	ctf_u8(&c->body, 0);
}

static void
as_text(struct ctf *c, const struct tnf_event *ev, const struct tnf_value *v)
{
	c->text.p = c->text.base;
	print_json_value(c->d, &c->text, ev, v, NULL);
	ctf_string(c, c->text.base, (size_t)(c->text.p - c->text.base));
}

/* Numbers are widened to 64 bits: a null then is 0 without a second layout. */
static void
ctf_value(struct ctf *c, const struct tnf_event *ev, unsigned i)
{
	struct tnf_value v;
	uint64_t bits = 0;
	size_t len;

	if (!tnf_event_value(ev, i, &v))
		v = (struct tnf_value){ .null = true };
	switch (ctf_field(&ev->probe->members[i])) {
	case CTF_SIGNED:
	case CTF_UNSIGNED:
	case CTF_HEX:
		ctf_u64(&c->body, v.null ? 0 : v.u.u);
		break;
	case CTF_REAL:
		if (!v.null)
			memcpy(&bits, &v.u.d, sizeof(bits));
		ctf_u64(&c->body, bits);
		break;
	case CTF_TEXT:
		if (v.null)
			ctf_string(c, "", 0);
		else if (v.kind == TNF_K_STRING && !v.type->blob) {
			const char *s = print_marked(c->d, &v, &len);
			ctf_string(c, s, len);
		}
		else if (v.kind == TNF_K_CHAR) {
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

	ctf_note(&c->trace, c->d, ev);
	if (c->body.p == c->body.base)
		c->first = ev->time;
	c->last = ev->time;
	ctf_u32(&c->body, ev->probe->id);
	ctf_u64(&c->body, (uint64_t)ev->time);
	ctf_u32(&c->body, (uint32_t)ev->pid);
	ctf_u32(&c->body, ev->lwpid);
	ctf_u64(&c->body, ev->tid);
	ctf_u32(&c->body, (uint32_t)ev->cpu);
	ctf_string(c, comm != NULL ? comm : "", comm != NULL ? strlen(comm) : 0);
	for (unsigned i = 0; i < ev->probe->n_members; i++)
		ctf_value(c, ev, i);
	if ((size_t)(c->body.p - c->body.base) >= PACKET_BODY)
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
	ctf_metadata(&meta, c->d, &c->trace);
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
	/* The counter counts from one packet to the next: there must be two. */
	if (c->body.p > c->body.base || (lost > 0 && c->trace.file == NULL))
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
