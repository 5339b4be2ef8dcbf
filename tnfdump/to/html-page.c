/*
 * html-page.c - the file of an HTML report: the page from html/ is built into the program; the
 * data are in it as base64 of a zlib stream (html/data.js).
 */
#include <inttypes.h>
#include <zlib.h>

#include "analysis/attrs.h"
#include "analysis/json.h"
#include "tnfdump/hosts.h"
#include "tnfdump/html-page.h"
#include "tnfdump/origin.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/to/html.h"

static void
html_file(struct dump *d, struct out *o, const struct input *in)
{
	out_lit(o, "{\"path\":");
	json_name(o, in->path);
	json_member(o, "host", origin_fact(d, in->file, "host"));
	json_member(o, "release", origin_fact(d, in->file, "release"));
	json_member(o, "machine", origin_fact(d, in->file, "machine"));
	out_char(o, '}');
}

/* Writes the machines of --hosts; without --hosts the list is empty. */
static void
html_hosts(const struct dump *d, struct out *o)
{
	unsigned n = 0;

	const struct host *list = hosts_list(d, &n);
	out_lit(o, ",\"hosts\":[");
	for (unsigned i = 0; list != NULL && i < n; i++) {
		out_str(o, i > 0 ? ",{\"host\":" : "{\"host\":");
		json_name(o, list[i].name);
		tnf_out_format(o, ",\"offset\":%" PRId64 ",\"error\":%" PRId64 "}", list[i].offset,
		    list[i].error);
	}
	out_char(o, ']');
}

/* Writes the losses of one file; *between is the separator before the next entry. */
static void
html_losses_of(struct out *o, const struct input *in, struct losses *losses, const char **between)
{
	struct loss l = losses_count(losses, tnf_file_ext(in->file));

	for (unsigned k = 0; k < TNF_LOST_REASONS; k++) {
		if (l.lost[k] == 0)
			continue;
		const char *name = loss_name(k);
		tnf_out_format(o, "%s{\"file\":", *between);
		json_name(o, in->path);
		json_member(o, "reason", name != NULL ? name : "other");
		tnf_out_format(o, ",\"events\":%" PRIu64 "}", l.lost[k]);
		*between = ",";
	}
	if (l.shortened > 0) {
		tnf_out_format(o, "%s{\"file\":", *between);
		json_name(o, in->path);
		tnf_out_format(o, ",\"values\":%" PRIu64 "}", l.shortened);
		*between = ",";
	}
}

static void
html_losses(struct dump *d, struct out *o)
{
	struct losses losses = { NULL, 0 };
	const char *between = "";

	out_lit(o, ",\"losses\":[");
	for (unsigned i = 0; i < d->n_inputs; i++)
		html_losses_of(o, &d->inputs[i], &losses, &between);
	losses_free(&losses);
	out_char(o, ']');
}

void
html_page_files(struct dump *d, struct out *o)
{
	out_lit(o, "\"files\":[");
	for (unsigned i = 0; i < d->n_inputs; i++) {
		if (i > 0)
			out_char(o, ',');
		html_file(d, o, &d->inputs[i]);
	}
	out_char(o, ']');
	html_hosts(d, o);
	html_losses(d, o);
}

static void
html_base64(struct out *o, const unsigned char *p, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n > 0; p += 3, n -= n < 3 ? n : 3) {
		uint32_t bits = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) |
		    (n > 2 ? p[2] : 0);

		out_char(o, digit[bits >> 18]);
		out_char(o, digit[bits >> 12 & 63]);
		out_char(o, n > 1 ? digit[bits >> 6 & 63] : '=');
		out_char(o, n > 2 ? digit[bits & 63] : '=');
	}
}

static void
html_compress(z_stream *z, struct out *packed, const void *bytes, size_t n, bool end)
{
	unsigned char buf[65536];

	do {
		size_t part = n < (1u << 30) ? n : 1u << 30;
		z->next_in = (Bytef *)(uintptr_t)bytes;
		z->avail_in = (uInt)part;
		bytes = (const char *)bytes + part;
		n -= part;
		do {
			z->next_out = buf;
			z->avail_out = sizeof(buf);
			deflate(z, end && n == 0 ? Z_FINISH : Z_NO_FLUSH);
			tnf_out_bytes(packed, (const char *)buf, sizeof(buf) - z->avail_out);
		} while (z->avail_out == 0);
	} while (n > 0);
}

int
html_page_write(struct dump *d, const struct out *json, const struct out *sections)
{
	static const char zeros[8];
	unsigned char head[8] = { 0 };
	size_t n = out_size(json);
	struct out packed;
	z_stream z = { 0 };

	if (deflateInit(&z, Z_BEST_SPEED) != Z_OK) {
		dump_error(d, "--to html: out of memory");
		return -1;
	}
	tnf_out_memory(&packed);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (unsigned char)(n >> 8 * i);
	html_compress(&z, &packed, head, sizeof(head), false);
	html_compress(&z, &packed, json->base, n, false);
	html_compress(&z, &packed, zeros, -n & 7, false);
	html_compress(&z, &packed, sections->base, out_size(sections), true);
	deflateEnd(&z);
	out_str(&d->out, html_page_before);
	html_base64(&d->out, (const unsigned char *)packed.base, out_size(&packed));
	out_str(&d->out, html_page_after);
	tnf_out_close(&packed);
	return 0;
}
