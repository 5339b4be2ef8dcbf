/*
 * ctf-metadata.c - the TSDL text that describes a CTF stream of ours.
 */
#include <inttypes.h>

#include "tnfdump/to/ctf.h"

enum ctf_field
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

static const struct tnf_probe *
ctf_probe(const struct ctf_trace *t, size_t id)
{
	return ((const struct tnf_probe **)(void *)t->probes.base)[id];
}

void
ctf_note(struct ctf_trace *t, struct dump *d, const struct tnf_event *ev)
{
	const struct tnf_probe **p = perprobe(&t->probes, ev->probe, sizeof(*p));

	if (*p != NULL)
		return;
	if (t->file == NULL) {
		t->file = ev->file;
		t->has_wall = origin_clock(d, ev->file, &t->offset);
	}
	*p = ev->probe;
}

void
ctf_trace_free(struct ctf_trace *t)
{
	free(t->probes.base);
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
env_fact(struct out *o, struct dump *d,
    const struct tnf_file *f, const char *name, const char *fact)
{
	const char *s = f != NULL ? origin_fact(d, f, fact) : NULL;

	if (s == NULL)
		return;
	tnf_out_format(o, "\t%s = ", name);
	ctf_metadata_quoted(o, s);
	out_lit(o, ";\n");
}

static void
ctf_metadata_preamble(struct out *o, struct dump *d, const struct ctf_trace *t)
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
	env_fact(o, d, t->file, "hostname", "host");
	env_fact(o, d, t->file, "kernel_release", "release");
	out_lit(o, "};\n\n");
}

static void
clock_and_stream(struct out *o, const struct ctf_trace *t)
{
	out_lit(o, "clock {\n\tname = monotonic;\n\tfreq = 1000000000;\n");
	if (t->has_wall && t->offset >= 0)
		tnf_out_format(o, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n",
		    t->offset / 1000000000, t->offset % 1000000000);
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
		/* The underscore keeps members apart from TSDL's own words. */
		tnf_out_format(o, "\t\t%s _", type[ctf_field(&p->members[i])]);
		for (const char *s = p->members[i].name; *s != '\0'; s++)
			out_char(o, (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= '0' && *s <= '9') ? *s : '_');
		out_lit(o, ";\n");
	}
	out_lit(o, "\t};\n};\n");
}

void
ctf_metadata(struct out *o, struct dump *d, const struct ctf_trace *t)
{
	ctf_metadata_preamble(o, d, t);
	clock_and_stream(o, t);
	for (size_t i = 0; i < t->probes.n; i++)
		if (ctf_probe(t, i) != NULL)
			event_class(o, ctf_probe(t, i));
}
