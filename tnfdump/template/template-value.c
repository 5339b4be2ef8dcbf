/*
 * template-value.c - prints a value by its format letter.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tnfdump/origin.h"
#include "analysis/pretty-names.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/template/template.h"
#include "analysis/timespec.h"

static void
template_value_binary(struct out *o, uint64_t v)
{
	int bit = 63;

	while (bit > 0 && (v >> bit & 1) == 0)
		bit--;
	for (; bit >= 0; bit--)
		out_char(o, (char)('0' + (v >> bit & 1)));
}

static void
template_value_named(struct out *o, enum pretty_kind kind, int64_t v)
{
	const char *name = pretty_kind_name(kind, v);

	if (name != NULL)
		out_str(o, name);
	else
		tnf_out_i64(o, v);
}

static void
template_value_symbol(struct dump *d, const struct tnf_event *ev, struct out *o, uint64_t addr)
{
	uint64_t offset = 0;
	const char *s = origin_place(d, ev, addr, &offset);

	if (s == NULL) {
		tnf_out_0x(o, addr);
		return;
	}
	print_name(o, s);
	out_lit(o, "+0x");
	tnf_out_hex(o, offset);
}

static void
template_value_device(const struct tnf_event *ev, struct out *o, const struct tnf_type *type,
    uint64_t n)
{
	uint32_t major, minor;

	device_split(ev, type, n, &major, &minor);
	tnf_out_u64(o, major);
	out_char(o, ':');
	tnf_out_u64(o, minor);
}

static void
template_value_program(struct dump *d, const struct tnf_event *ev, struct out *o, int64_t pid)
{
	const char *path = pid > 0 && pid <= INT32_MAX ? origin_program_of(d, ev, (int32_t)pid) : NULL;

	if (path != NULL)
		print_name(o, path);
	else
		tnf_out_i64(o, pid);
}

static void
template_value_wall(struct dump *d, const struct tnf_event *ev, struct out *o, int64_t time)
{
	int64_t clock;

	if (origin_clock(d, ev->file, &clock))
		wall_utc(o, time + clock);
	else
		tnf_out_i64(o, time);
}

bool
template_format_known(char letter)
{
	return strchr("DUXOBSFENTYMZP", letter) != NULL;
}

static uint64_t
bits_of(const struct val *v)
{
	int64_t n = 0;

	if (v->kind == VAL_UINT)
		return v->u.u;
	val_to_int(v, &n);
	return (uint64_t)n;
}

static void
template_value_number(struct dump *d, const struct tnf_event *ev, struct out *o,
    const struct val *v, char letter)
{
	uint64_t n = bits_of(v);
	double real;

	switch (letter) {
	case 'D': tnf_out_i64(o, (int64_t)n); break;
	case 'U': tnf_out_u64(o, n); break;
	case 'X': tnf_out_0x(o, n); break;
	case 'O': tnf_out_format(o, "%llo", (unsigned long long)n); break;
	case 'B': template_value_binary(o, n); break;
	case 'E': template_value_named(o, PRETTY_ERRNO, (int64_t)n); break;
	case 'N': template_value_named(o, pretty_kind(v->type, v->name), (int64_t)n); break;
	case 'T': template_value_wall(d, ev, o, (int64_t)n); break;
	case 'Y': template_value_symbol(d, ev, o, n); break;
	case 'Z': size_put(o, n); break;
	case 'P': template_value_program(d, ev, o, (int64_t)n); break;
	case 'M': template_value_device(ev, o, v->type, n); break;
	case 'F':
		val_to_double(v, &real);
		tnf_out_format(o, "%f", real);
		break;
	}
}

static void
as_it_is(const struct dump *d, struct out *o, const struct val *v)
{
	char buf[VAL_TEXT_SIZE];
	const char *text;
	size_t len = val_text(v, buf, &text);

	print_chars(o, text, len);
}

void
template_value(struct dump *d, const struct tnf_event *ev, struct out *o,
    const struct val *v, char letter, int width)
{
	size_t from = out_size(o), len;

	if (v->kind == VAL_NULL)
		out_char(o, '-');
	else if (letter == 0 || letter == 'S' || !val_is_number(v) ||
	    (letter == 'N' && v->type == NULL))
		as_it_is(d, o, v);
	else
		template_value_number(d, ev, o, v, letter);
	len = out_size(o) - from;
	if (len >= (size_t)(width < 0 ? -width : width))
		return;
	unsigned pad = (unsigned)((size_t)(width < 0 ? -width : width) - len);
	tnf_out_pad(o, pad);
	if (width > 0) {		/* the blanks go in front */
		memmove(o->base + from + pad, o->base + from, len);
		memset(o->base + from, ' ', pad);
	}
}

/* The words of AIX's templates that name a fact of the event. */
static const struct {
	const char *name;
	enum { W_CPUID, W_EXECPATH, W_LOGFILE, W_LOGIDX, W_PID, W_RELLINENO, W_SVC, W_TID, W_TOTALCPUS, W_TRACEID } is;
} template_words[] = {
	{ "CPUID", W_CPUID }, { "EXECPATH", W_EXECPATH }, { "LOGFILE", W_LOGFILE },
	{ "LOGIDX", W_LOGIDX }, { "PID", W_PID }, { "RELLINENO", W_RELLINENO }, { "SVC", W_SVC },
	{ "TID", W_TID }, { "TOTALCPUS", W_TOTALCPUS }, { "TRACEID", W_TRACEID },
};

static struct val
template_word_value(struct dump *d, const struct tnf_event *ev, unsigned is)
{
	switch (is) {
	case W_CPUID:	return ev->cpu < 0 ? val_cstring(NULL) : val_int(ev->cpu);
	case W_EXECPATH: return val_cstring(origin_program(d, ev));
	case W_LOGFILE:	return val_cstring(tnf_file_name(ev->file));
	case W_LOGIDX:	return val_uint(ev->pos);
	case W_PID:	return val_int(ev->pid);
	case W_RELLINENO: return val_uint(d->events + 1);
	case W_SVC:	return val_cstring(around_now(d)->syscall);
	case W_TID:	return val_int(ev->lwpid);
	case W_TOTALCPUS: return val_cstring(origin_fact(d, ev->file, "cpus"));
	default:	return val_cstring(ev->probe->name);
	}
}

bool
template_word(struct dump *d, const struct tnf_event *ev, const char *name, struct val *ret)
{
	struct tnf_value v;

	if (isdigit((unsigned char)*name)) {
		unsigned long i = strtoul(name, NULL, 10);
		*ret = ev != NULL && i > 0 && i <= ev->probe->n_members &&
		    tnf_event_value(ev, (unsigned)i - 1, &v) ?
		    val_of_member(&v, ev->probe->members[i - 1].name) : val_cstring(NULL);
		return true;
	}
	for (size_t i = 0; i < sizeof(template_words) / sizeof(*template_words); i++)
		if (strcmp(name, template_words[i].name) == 0) {
			if (ev != NULL)
				*ret = template_word_value(d, ev, template_words[i].is);
			return true;
		}
	return false;
}
