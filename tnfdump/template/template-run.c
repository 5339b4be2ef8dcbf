/*
 * template-run.c - the report language of -t FILE: executes statements.
 *
 * The line of an event is built in memory, so that "skip" can drop it and fields can be
 * padded.  Text from the trace is added printable; the template's own text may hold
 * newlines.
 */
#include <ctype.h>

#include "analysis/json.h"
#include "analysis/match.h"
#include "analysis/timespec.h"
#include "common/map.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/template/template.h"
#include "tnfdump/text/pretty.h"

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

static void
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

#define TIMERS_MAX	(1u << 20)
#define STEP		4u		/* columns an indentation level */

struct variable {
	struct variable	*next;
	char		*name;
	struct val	 value;
	char		*chars;		/* own copy of a string */
};

/* The stanza or text that prints a probe's events. */
struct choice {
	bool		 known;
	const struct stanza *stanza;
	struct statement *own;		/* of the tnf%fmt attribute */
	int		 level;
};

struct template_run {
	struct dump	*d;
	struct template	*t;
	struct expr_source source;	/* for its expressions, with variables */
	struct out	 line;
	struct perprobe	 choices;
	struct variable	*variables;
	struct map	 timers;	/* by the text of their value: int64_t since */
	unsigned	 depth;
	bool		 own;		/* the text is from the trace, too */
	bool		 skip, stop;
	bool		 done;		/* with this event */
	const struct tnf_event *ev;	/* the present one */
	const char	*path;		/* of its stanza's file */
};

static void template_run_execute(struct template_run *r, const struct statement *, const struct tnf_event *);

static struct variable *
find_variable(struct template_run *r, const char *name)
{
	struct variable *v;

	for (v = r->variables; v != NULL; v = v->next)
		if (strcmp(v->name, name) == 0)
			return v;
	v = tnf_xcalloc(1, sizeof(*v));
	v->name = tnf_xstrdup(name);
	v->next = r->variables;
	return r->variables = v;
}

static struct val
template_run_variable(void *arg, const char *name)
{
	struct template_run *r = arg;
	struct val v;

	return template_word(r->d, r->ev, name, &v) ? v : find_variable(arg, name)->value;
}

static void
template_run_assign(struct template_run *r, const char *name, struct val value)
{
	struct variable *v = find_variable(r, name);
	char *copy = NULL;

	if (value.kind == VAL_STRING || value.kind == VAL_WORDS) {
		copy = tnf_xstrndup(value.u.s.chars, value.u.s.len);
		value.u.s.chars = copy;
		value.name = NULL;
	}
	free(v->chars);
	v->chars = copy;
	v->value = value;
}

static void
start_timer(struct template_run *r, const struct val *key, int64_t now)
{
	char buf[VAL_TEXT_SIZE];
	const char *text;
	size_t len = val_text(key, buf, &text);
	int64_t *since = r->timers.n < TIMERS_MAX ? tnf_xmap_put(&r->timers, text, len, NULL) :
	    tnf_map_get(&r->timers, text, len);

	if (since != NULL)
		*since = now;
}

static void
end_timer(struct template_run *r, const struct val *key, int64_t now)
{
	char buf[VAL_TEXT_SIZE];
	const char *text;
	size_t len = val_text(key, buf, &text);
	const int64_t *since = tnf_map_get(&r->timers, text, len);

	if (since == NULL)
		return;
	out_lit(&r->line, " [");
	tnf_out_us(&r->line, now - *since);
	out_lit(&r->line, " usec]");
	tnf_map_remove(&r->timers, text, len);
}

static void
template_run_choose(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	struct val v = expr_eval(s->expr, ev), w;
	const struct statement *c;

	for (c = s->body; c != NULL; c = c->next) {
		if (c->expr == NULL)
			break;
		w = expr_eval(c->expr, ev);
		if (val_compare(&v, &w) == 0)
			break;
	}
	while (c != NULL && c->body == NULL)	/* "0, 1 { ... }" */
		c = c->next;
	if (c != NULL)
		template_run_execute(r, c->body, ev);
}

static void
show_bits(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	struct val v = expr_eval(s->expr, ev);
	bool first = true;
	int64_t n;

	if (!val_to_int(&v, &n))
		return;
	for (const struct statement *b = s->body; b != NULL; b = b->next) {
		uint64_t bits = (uint64_t)n & b->mask;
		const char *text = (b->compare ? bits == b->value : bits != 0) ? b->text : b->absent;
		if (text == NULL || *text == '\0')
			continue;
		if (!first)
			out_char(&r->line, ' ');
		out_str(&r->line, text);
		first = false;
	}
}

static void
template_run_loop(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	struct val v = expr_eval(s->expr, ev);
	struct tnf_value array = val_to_member(&v), item;

	if (v.kind != VAL_RECORD)
		return;
	for (unsigned i = 0; i < v.u.r.count && i < TEMPLATE_LOOP_MAX; i++) {
		if (r->skip || r->stop || r->done ||
		    !tnf_value_item(ev->file, &array, i, &item))
			break;
		template_run_assign(r, s->text, val_of_member(&item, NULL));
		template_run_execute(r, s->body, ev);
	}
}

static void
template_run_times(struct template_run *r, const struct statement *s, const struct val *times,
    const struct tnf_event *ev)
{
	int64_t n = 0;

	val_to_int(times, &n);
	for (int64_t i = 0; i < n && i < TEMPLATE_LOOP_MAX && !r->skip && !r->stop && !r->done; i++)
		template_run_execute(r, s->body, ev);
}

/* The text of the statement goes to standard error, with the place of the event. */
static void
template_run_error(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	size_t from = out_size(&r->line);

	template_run_execute(r, s->body, ev);
	dump_error(r->d, "%s:%u: %.*s: %s of %s at 0x%x", r->path, s->line,
	    (int)(out_size(&r->line) - from), r->line.base + from, ev->probe->name,
	    tnf_file_name(ev->file), ev->pos);
	r->line.p = r->line.base + from;
	r->done = true;
}

static void
template_run_one(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	struct val v;

	if (s->expr != NULL && s->kind != ST_SWITCH && s->kind != ST_BITS &&
	    s->kind != ST_FOR)
		v = expr_eval(s->expr, ev);
	switch (s->kind) {
	case ST_TEXT:
		if (r->own)
			print_chars(&r->line, s->text, s->len);
		else if (s->text != NULL)
			tnf_out_bytes(&r->line, s->text, s->len);
		break;
	case ST_VALUE:
		template_value(r->d, ev, &r->line, &v, s->format, s->width);
		break;
	case ST_LET:
		template_run_assign(r, s->text, v);
		break;
	case ST_IF:
		template_run_execute(r, val_truth(&v) == 1 ? s->body : s->other, ev);
		break;
	case ST_SWITCH:
		template_run_choose(r, s, ev);
		break;
	case ST_BITS:
		show_bits(r, s, ev);
		break;
	case ST_FOR:
		template_run_loop(r, s, ev);
		break;
	case ST_START_TIMER:
		start_timer(r, &v, ev->time);
		break;
	case ST_END_TIMER:
		end_timer(r, &v, ev->time);
		break;
	case ST_USE:
		template_run_execute(r, s->use->body, ev);
		break;
	case ST_SKIP:
		r->skip = true;
		break;
	case ST_STOP:
		r->stop = true;
		break;
	case ST_LOOP:
		template_run_times(r, s, &v, ev);
		break;
	case ST_BREAK:
		r->done = true;
		break;
	case ST_ERROR:
		template_run_error(r, s, ev);
		break;
	case ST_CASE:
		break;
	}
}

static void
template_run_execute(struct template_run *r, const struct statement *s, const struct tnf_event *ev)
{
	/* A sub-template may use itself: the depth is limited. */
	if (r->depth == 4 * TEMPLATE_DEPTH_MAX)
		return;
	r->depth++;
	for (; s != NULL && !r->skip && !r->stop && !r->done; s = s->next)
		template_run_one(r, s, ev);
	r->depth--;
}

static const struct stanza *
stanza_for(struct template_run *r, const char *probe)
{
	const struct stanza *s, *fallback = NULL;

	for (s = r->t->stanzas; s != NULL; s = s->next) {
		if (strcmp(s->pattern, "default") == 0)
			fallback = fallback != NULL ? fallback : s;
		else if (s->pattern[0] != '@' && match_glob(s->pattern, probe))
			return s;
	}
	return fallback;
}

/* A format of printf(3) as a template: its n-th value is the member p<n> (<tnf/ktr.h>). */
static char *
ktr_template(const char *s, size_t n)
{
	const char *end = s + n;
	unsigned value = 0;
	struct out o;

	tnf_out_memory(&o);
	for (; s < end; s++) {
		if (*s != '%') {
			out_char(&o, *s);
			continue;
		}
		s++;
		s += strspn(s, "-+ #0123456789.hlqjzt");
		if (s >= end)
			break;
		if (*s == '%') {
			out_char(&o, '%');
			continue;
		}
		out_lit(&o, "{p");
		tnf_out_u64(&o, ++value);
		if (strchr("xXp", *s) != NULL)
			out_lit(&o, ":X");
		out_char(&o, '}');
	}
	out_char(&o, '\0');
	return o.base;
}

/* The text of tnf%fmt, or ktr%fmt, in the probe's attributes, quotes taken off. */
static struct statement *
own_text(struct template_run *r, const struct tnf_probe *p)
{
	size_t n;
	const char *s = attrs_find(p->attrs, "tnf%fmt", &n);
	bool ktr = s == NULL && (s = attrs_find(p->attrs, "ktr%fmt", &n)) != NULL;
	struct statement *own;
	char *text;

	if (s == NULL)
		return NULL;
	if (*s == '\'')		/* quoted text may have a semicolon */
		n = strcspn(++s, "'");
	if (!ktr)
		return template_parse_string(r->t, s, n);
	text = ktr_template(s, n);
	own = template_parse_string(r->t, text, strlen(text));
	free(text);
	return own;
}

static const struct choice *
choice_for(struct template_run *r, const struct tnf_event *ev)
{
	struct choice *c = perprobe(&r->choices, ev->probe, sizeof(*c));

	if (c->known)
		return c;
	c->known = true;
	c->stanza = stanza_for(r, ev->probe->name);
	if (c->stanza == NULL || strcmp(c->stanza->pattern, "default") == 0)
		c->own = own_text(r, ev->probe);
	if (c->own != NULL)
		c->stanza = NULL;
	c->level = c->stanza != NULL && c->stanza->level >= 0 ?
	    c->stanza->level : (int)attrs_level(ev);
	return c;
}

static void
template_run_head(struct template_run *r, const struct choice *c, const struct tnf_event *ev)
{
	struct out *o = &r->line;
	const char *label = c->stanza != NULL ? c->stanza->label : NULL;

	print_when_and_who(r->d, o, ev);
	tnf_out_pad(o, 1 + STEP * (unsigned)c->level);
	if (label != NULL)
		out_str(o, label);
	else
		print_name(o, ev->probe->name);
	if (label == NULL || *label != '\0')
		out_char(o, ' ');
}

static int
template_run_event(struct dump *d, const struct tnf_event *ev)
{
	struct template_run *r = d->template;
	const struct choice *c = choice_for(r, ev);

	r->skip = r->done = false;
	r->ev = ev;
	r->path = c->stanza != NULL ? c->stanza->path : "tnf%fmt";
	r->own = c->own != NULL;
	r->line.p = r->line.base;
	template_run_head(r, c, ev);
	if (c->own != NULL)
		template_run_execute(r, c->own, ev);
	else if (c->stanza != NULL)
		template_run_execute(r, c->stanza->body, ev);
	else if (ev->probe->n_members > 0)
		print_json(d, &r->line, ev, NULL, NULL);
	if (!r->skip) {
		tnf_out_bytes(&d->out, r->line.base, out_size(&r->line));
		out_char(&d->out, '\n');
	}
	return r->stop || d->out.error != 0 ? -1 : 0;
}

static int
template_run_begin(struct dump *d)
{
	struct template_run *r = d->template;

	r->source.first = d->first;
	tnf_map_init(&r->timers, sizeof(int64_t));
	tnf_out_memory(&r->line);
	r->line.escape = d->out.escape;
	return 0;
}

void
template_run_free(struct dump *d)
{
	struct template_run *r = d->template;
	struct variable *v, *after;

	if (r == NULL)
		return;
	tnf_map_free(&r->timers);
	for (v = r->variables; v != NULL; v = after) {
		after = v->next;
		free(v->chars);
		free(v->name);
		free(v);
	}
	for (size_t i = 0; i < r->choices.n; i++)
		statements_free(((struct choice *)(void *)r->choices.base)[i].own);
	free(r->choices.base);
	template_free(r->t);
	if (r->line.base != NULL)
		tnf_out_close(&r->line);
	free(r);
	d->template = NULL;
}

static const struct output template_output = {
	"template", "by a template file (-t)", template_run_begin, template_run_event, NULL, .pretty = true
};

int
template_set(struct dump *d, const char *name)
{
	struct template_run *r;

	template_run_free(d);	/* the option was given before */
	d->template = r = tnf_xcalloc(1, sizeof(*r));
	r->d = d;
	r->source = *dump_expr_source(d);
	r->source.variable = template_run_variable;
	r->source.variable_arg = r;
	r->t = template_open(name, &r->source);
	if (r->t == NULL)
		return -1;
	around_want(d);		/* $SVC */
	return output_choose(d, "template", &template_output);
}
