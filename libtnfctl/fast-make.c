/*
 * fast-make.c - fast probes are made: the process gets the descriptions of their sites, with
 * conditions, and pads; libtnfprobe defines the probes.
 */
#include <tnf/runtime.h>

#include "kernel-probes/import.h"
#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"
#include "libtnfctl/functions.h"

#define TRIES		6000	/* to find a thread that can make a call */
#define TEXT_MAX	6000u	/* of one probe: its words, and the names of its values */

/* The probes that are being made. */
struct making {
	tnfctl_handle_t *h;
	struct calls *c;
	tnfctl_probe_t **v;
	size_t	 n;
	size_t	 left;		/* of them */
	const char *why;
};

/* A piece of text at the end of the area; its address in the process. */
static uintptr_t
put_text(struct making *m, const char *s)
{
	struct fast_room *r = m->h->fast;
	size_t n = strlen(s) + 1, sites = (r->sites + 1) * sizeof(struct tnf_fast_site);

	if (sizeof(struct tnf_fast_area) + sites + r->text + n > r->size) {
		m->why = "its name or its arguments are too long";
		return 0;
	}
	r->text += n;
	memcpy(r->copy + r->size - r->text, s, n);
	return r->area->at + r->size - r->text;
}

static const struct { const char *name; uint8_t kind; } kinds[] = {
	{ "tnf_int8", TNF_ARG_INT8 }, { "tnf_uint8", TNF_ARG_UINT8 },
	{ "tnf_int16", TNF_ARG_INT16 }, { "tnf_uint16", TNF_ARG_UINT16 },
	{ "tnf_int32", TNF_ARG_INT32 }, { "tnf_uint32", TNF_ARG_UINT32 },
	{ "tnf_int64", TNF_ARG_INT64 }, { "tnf_uint64", TNF_ARG_UINT64 },
	{ "tnf_opaque", TNF_ARG_OPAQUE }, { "tnf_string", TNF_ARG_STRING },
};

/* The type of an enum tnf_argument_kind; NULL: none. */
static const char *
fast_type(uint8_t kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == kind)
			return kinds[i].name;
	return NULL;
}

static uint8_t
kind_of(const char *type)
{
	for (size_t i = 0; type != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, type) == 0)
			return kinds[i].kind;
	return 0;
}

/* The first registers have the order that the kernel has them in. */
static uint8_t
register_of(uint8_t r)
{
	_Static_assert((int)TNF_FAST_R15 == KP_R_R15 && (int)TNF_FAST_BX == KP_R_BX &&
	    (int)TNF_FAST_AX == KP_R_AX && (int)TNF_FAST_DI == KP_R_DI, "one order");
	return r <= KP_R_DI ? r : r == KP_R_SP ? TNF_FAST_SP : r == KP_R_IP ? TNF_FAST_IP :
	    TNF_FAST_NONE;
}

/* The values of a site; those that cannot be read are left out. */
static void
put_values(struct making *m, struct tnf_fast_site *s, const struct kp_uprobe_found *found,
    const struct kp_site *site, unsigned first)
{
	for (unsigned i = 0; i < found->members && s->n < TNF_FAST_VALUES; i++) {
		/* A site may have fewer arguments than others of its probe. */
		const struct kp_operand none = { .size = 8, .scale = 1, .base = KP_R_NONE,
		    .index = KP_R_NONE }, *o = i < site->n ? &site->v[i] : &none;
		struct tnf_fast_value *v = &s->v[s->n];
		bool counted = o->text == KP_TEXT_COUNTED && i + 1 < found->members &&
		    found->member[i + 1].type != NULL;

		if (found->member[i].type == NULL)
			continue;
		if (o->kind == KP_OPERAND_UNREADABLE)
			o = &none;
		*v = (struct tnf_fast_value){ .kind = kind_of(found->member[i].type),
		    .from = o->kind == KP_OPERAND_MEMORY ? TNF_FAST_MEMORY : TNF_FAST_VALUE,
		    .size = o->size, .sign = o->sign, .base = register_of(o->base),
		    .index = register_of(o->index), .scale = o->scale, .shift = o->shift,
		    .offset = o->offset - (o->base == KP_R_IP ? (int)first : 0), .counted = counted };
		v->name = (const char *)put_text(m, found->member[i].name);
		s->n++;
	}
}

/* The words of tnf_probe_define(), from the attributes: name, keys, and what is behind them. */
static bool
put_words(struct making *m, struct tnf_fast_site *s, const struct import *i, const char *attrs)
{
	const char *detail = strstr(attrs, ";origin ");

	if (detail == NULL)
		return false;
	s->name = (const char *)put_text(m, i->name);
	s->keys = (const char *)put_text(m, i->keys);
	s->detail = (const char *)put_text(m, detail + 1);
	return true;
}

/* Describes a site in the area, where libtnfprobe reads it. */
static void
put_site(struct making *m, struct fast_site *s, struct tnf_fast_site *there, bool at_return)
{
	struct fast_room *r = m->h->fast;
	struct fast_pads *pads;

	s->area = r->area;
	s->note = r->area->at + sizeof(struct tnf_fast_area) + r->sites * sizeof(*there);
	m->why = at_return ? NULL : tnfctl_pads_near(m->c, r, s->address, m->left, &pads);
	if (m->why == NULL && !at_return)
		m->why = tnfctl_pads_put(m->h, pads, s);
	if (m->why != NULL)
		return;
	there->resume = s->address + 1;
	there->landing = s->moved;
	there->semaphore = s->semaphore;
	there->length = s->length;
	there->pushed = s->site.pushed;
	memcpy(there->before, s->before, sizeof(s->before));
	memcpy(there->jump, s->jump, sizeof(s->jump));
	memcpy(r->copy + (s->note - r->area->at), there, sizeof(*there));
	r->sites++;
}

static void
put_sites(struct making *m, tnfctl_probe_t *p, const struct kp_uprobe_found *found)
{
	char *attrs = tnfctl_import_attrs(p->import, found);
	struct tnf_fast_site there;

	for (size_t k = 0; m->why == NULL && k < p->fast->n; k++) {
		memset(&there, 0, sizeof(there));
		put_values(m, &there, found, &found->site[k], p->fast->v[k].site.first);
		if (attrs == NULL || !put_words(m, &there, p->import, attrs))
			m->why = "not enough memory";
		else if (m->why == NULL)
			put_site(m, &p->fast->v[k], &there, p->fast->at_return);
	}
	if (m->why != NULL) {
		free(attrs);
		return;
	}
	free(p->import->undescribed);
	p->import->undescribed = p->attrs;
	p->import->described = true;
	p->attrs = attrs;
}

/* The arguments whose registers have other values already where the jump is. */
static void
drop_lost(struct kp_uprobe_found *found, uint32_t lost)
{
	for (unsigned i = 0; i < found->members && lost != 0; i++) {
		const struct kp_operand *o = &found->site[0].v[i];
		size_t n = strcspn(found->attrs, ";");

		if (found->member[i].type == NULL || (lost & 1u << o->base) == 0)
			continue;
		found->member[i].type = NULL;
		if (n + sizeof("unread ;") + strlen(found->member[i].name) < sizeof(found->attrs))
			snprintf(found->attrs + n, sizeof(found->attrs) - n, "%s%s;",
			    n == 0 ? "unread " : " ", found->member[i].name);
	}
}

/* True if there is room for the probe in the area, or in another one. */
static bool
has_room(struct making *m, const tnfctl_probe_t *p)
{
	struct fast_room *r = m->h->fast;

	m->why = tnfctl_pads_area(m->c, r, p->fast->n, p->fast->n * TEXT_MAX, m->left);
	if (m->why == NULL && r->copy == NULL && (r->copy = calloc(1, r->size)) == NULL)
		m->why = "not enough memory";
	return m->why == NULL;
}

/* Puts one probe into the area: where its values are, and its sites. */
static void
put_probe(struct making *m, tnfctl_probe_t *p)
{
	struct kp_uprobe_found found = { .members = 0 };
	struct kp_uprobe_spec spec = p->import->spec;
	size_t n = strlen(spec.symbol);

	if (p->import->args != NULL && n + strlen(p->import->args) + 2 <= sizeof(spec.symbol)) {
		spec.symbol[n] = ' ';
		strcpy(spec.symbol + n + 1, p->import->args);
	}
	if ((spec.flags & KP_UPROBE_FUNCTION ? tnfctl_functions_find(&spec, &found) :
	    tnfctl_usdt_find(&spec, false, &found)) != 0 || found.sites != p->fast->n)
		m->why = "its file has changed";
	else if (has_room(m, p)) {
		if (!p->fast->at_return)
			drop_lost(&found, p->fast->v[0].site.lost);
		put_sites(m, p, &found);
	}
	free(found.site);
}

/* Connects what libtnfprobe has defined, at 'control', with the probes of the handle. */
static bool
take_control(tnfctl_handle_t *h, tnfctl_probe_t *p, uintptr_t control)
{
	tnfctl_probe_t **known;

	if (control == 0)
		return false;
	if (h->pooled.value_size == 0)
		tnf_map_init(&h->pooled, sizeof(tnfctl_probe_t *));
	if ((known = tnf_map_put(&h->pooled, &control, sizeof(control), NULL)) == NULL)
		return false;
	*known = p;
	p->address = control;
	p->object = h->control_object;
	p->prepared = false;
	return p->fast->made = true;
}

/* Has libtnfprobe define what is in the area. */
static const char *
define(struct making *m)
{
	struct fast_room *r = m->h->fast;
	struct call call = { .function = r->define, .args = { r->area->at } };
	uint64_t sites = r->sites;
	const char *why = tnfctl_pads_flush(m->h);

	if (why == NULL && !m->h->ops->write(m->h, r->area->at + offsetof(struct tnf_fast_area, n), &sites,
	    sizeof(sites)))
		why = "its memory cannot be written";
	if (why != NULL)
		return why;
	tnfctl_proc_work_end(m->c->p);
	/* Much may have been put there since the last call, and the time is for calls. */
	tnfctl_proc_hurry(m->c->p, TNFCTL_ATTACH_MS, m->c->p->mask);
	why = tnfctl_call_make(m->c, &call);
	tnfctl_proc_work_begin(m->c->p);
	return why;
}

/* Defines what was put into the area, and connects the probes of it from 'first' to 'end'. */
static void
finish(struct making *m, size_t first, size_t end)
{
	struct fast_room *r = m->h->fast;
	size_t from = r->sites_there, size = sizeof(struct tnf_fast_site);
	uintptr_t start = r->area->at + sizeof(struct tnf_fast_area) + from * size, control;
	const char *why = r->sites > from ? define(m) : NULL;
	uint8_t *v = malloc((r->sites - from) * size + 1);
	bool read = v != NULL && m->h->ops->read(m->h, start, v, (r->sites - from) * size);

	for (; first < end; first++) {
		tnfctl_probe_t *p = m->v[first];

		if (p->import->slow != NULL)
			continue;
		control = 0;
		if (read && p->fast->n > 0 && p->fast->v[0].note >= start)
			memcpy(&control, v + (p->fast->v[0].note - start), sizeof(control));
		if (!take_control(m->h, p, control))
			p->import->slow = why != NULL ? why : "its name or its arguments are too long";
	}
	free(v);
}

/* Makes all that can be made; the others get a reason.  Nothing leads to what is written, so the process
   runs, save for calls. */
static void
make_all(struct making *m)
{
	struct fast_room *r = m->h->fast;
	size_t i, first = 0;

	for (i = 0; i < m->n; i++) {
		m->left = m->n - i;
		tnfctl_proc_work_begin(m->c->p);
		tnfctl_proc_work_look(m->c->p);
		if (r->area != NULL && tnfctl_pads_is_full(r, m->v[i]->fast->n, m->v[i]->fast->n * TEXT_MAX)) {
			finish(m, first, i);
			first = i;
		}
		put_probe(m, m->v[i]);
		m->v[i]->import->slow = m->why;
		m->why = NULL;
	}
	if (r->area != NULL)
		finish(m, first, m->n);
	tnfctl_proc_work_end(m->c->p);
}

/* Functions that were imported as this one was, and are not made yet.  USDT probes wait: their
   arguments may be given names before. */
static bool
is_of_batch(const tnfctl_probe_t *p, const tnfctl_probe_t *other)
{
	return p->import->spec.flags & KP_UPROBE_FUNCTION && !other->gone && other->fast != NULL && !other->fast->made && other->import != NULL &&
	    other->import->slow == NULL && other->import->args == NULL && strcmp(other->import->keys, p->import->keys) == 0;
}

/* By addresses, an entry before its return: so neighbours are neighbours in all that is made of them, and
   thousands are switched in the order in which their memory lies. */
static int
by_place(const void *a, const void *b)
{
	const struct fast *x = (*(tnfctl_probe_t *const *)a)->fast, *y = (*(tnfctl_probe_t *const *)b)->fast;

	return x->v[0].address != y->v[0].address ? (x->v[0].address < y->v[0].address ? -1 : 1) :
	    (int)x->at_return - (int)y->at_return;
}

#define FAILED_NS	INT64_C(1000000000)

const char *
tnfctl_fast_failed(struct fast_failure *f)
{
	int64_t now;

	if (f->why == NULL)
		return NULL;
	now = clock_ns(CLOCK_MONOTONIC);
	if (now > f->at + FAILED_NS)
		f->why = NULL;
	f->at = now;
	return f->why;
}

tnfctl_errcode_t
tnfctl_fast_make(tnfctl_handle_t *h, tnfctl_probe_t *p, bool others)
{
	struct making m = { .h = h, .v = calloc(h->nprobes, sizeof(*m.v)) };
	struct proc *proc = direct_proc(h);
	sigset_t all, mask;
	struct calls c;

	if (m.v == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if ((p->import->slow = tnfctl_fast_failed(&h->fast->no_call)) != NULL) {
		free(m.v);
		return TNFCTL_ERR_NONE;
	}
	if (p->fast->at_return && p->fast->other->fast != NULL && !p->fast->other->fast->made)
		m.v[m.n++] = p->fast->other;
	m.v[m.n++] = p;
	for (size_t i = 0; others && i < h->nprobes; i++)
		if (h->probes[i] != p && h->probes[i] != m.v[0] && is_of_batch(p, h->probes[i]))
			m.v[m.n++] = h->probes[i];
	qsort(m.v, m.n, sizeof(m.v[0]), by_place);
	m.c = &c;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	tnfctl_proc_hurry(proc, TNFCTL_ATTACH_MS, &mask);
	m.why = tnfctl_call_begin(&c, h, TRIES);
	h->fast->no_call = (struct fast_failure){ m.why, clock_ns(CLOCK_MONOTONIC) };
	if (m.why == NULL)
		make_all(&m);
	tnfctl_call_end(&c);
	tnfctl_proc_unhurry(proc);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	free(m.v);
	if (proc->gone || proc->event != PROC_NOTHING)
		return tnfctl_error_lost(h, "it has ended");
	if (!p->fast->made && p->import->slow == NULL)
		p->import->slow = m.why != NULL ? m.why : "it cannot be defined";
	return tnfctl_control_look_soon(h);
}

_Static_assert(KP_WHERE_MAX <= TNF_FAST_CONDITIONS && KP_WHERE_TEXT == 4 * sizeof(tnf_uint64_t) &&
    (int)KP_W_EQUAL == TNF_FAST_EQUAL && (int)KP_W_BELOW == TNF_FAST_BELOW &&
    (int)KP_W_ABOVE == TNF_FAST_ABOVE && (int)KP_W_BITS == TNF_FAST_BITS, "one table");

#define NAME_MAX_SIZE	128

/* The values of a site, as members whose places are their numbers. */
struct values {
	struct kp_import_member member[TNF_FAST_VALUES];
	char	 name[TNF_FAST_VALUES][NAME_MAX_SIZE];
	unsigned n;
};

static bool
read_name(tnfctl_handle_t *h, uintptr_t at, char *ret)
{
	size_t n = 0;

	while (n < NAME_MAX_SIZE - 1 && h->ops->read(h, at + n, ret + n, 1) && ret[n] != '\0')
		n++;
	ret[n] = '\0';
	return n > 0;
}

static bool
read_values(tnfctl_handle_t *h, const struct fast_site *s, struct values *ret)
{
	struct tnf_fast_site there;

	if (!h->ops->read(h, s->note, &there, offsetof(struct tnf_fast_site, c)) || there.n > TNF_FAST_VALUES)
		return false;
	for (ret->n = 0; ret->n < there.n; ret->n++) {
		const struct tnf_fast_value *v = &there.v[ret->n];

		ret->member[ret->n] = (struct kp_import_member){ .type = fast_type(v->kind),
		    .name = ret->name[ret->n], .at = ret->n };
		if (ret->member[ret->n].type == NULL || !read_name(h, (uintptr_t)v->name, ret->name[ret->n]))
			return false;
	}
	return true;
}

/* Writes the conditions, and then their number; the process is held. */
static bool
write_conditions(tnfctl_handle_t *h, const struct fast_site *s, const struct kp_where *w)
{
	struct tnf_fast_condition c[TNF_FAST_CONDITIONS] = { { .value = 0 } };
	tnf_uint64_t n = w->n;

	for (unsigned i = 0; i < w->n; i++) {
		c[i] = (struct tnf_fast_condition){ .value = (uint8_t)w->c[i].at, .size = w->c[i].size,
		    .sign = w->c[i].is_signed, .op = w->c[i].op, .first = w->c[i].first };
		memcpy(c[i].with, w->c[i].value, sizeof(c[i].with));
		memcpy(c[i].mask, w->c[i].mask, sizeof(c[i].mask));
	}
	return (n == 0 || h->ops->write(h, s->note + offsetof(struct tnf_fast_site, c), c, n * sizeof(c[0]))) &&
	    h->ops->write(h, s->note + offsetof(struct tnf_fast_site, conditions), &n, sizeof(n));
}

static tnfctl_errcode_t
set_site(tnfctl_handle_t *h, const tnfctl_probe_t *p, const struct fast_site *s, const char *text)
{
	const char *attrs = p->attrs + strlen("name ");
	char name[NAME_MAX_SIZE], why[256] = "its memory cannot be read";
	struct kp_where w = { .n = 0 };
	struct values values;
	struct kp_where_of of = { name, values.member, 0, why, sizeof(why) };
	tnf_uint64_t n;

	if (text == NULL)
		return !h->ops->read(h, s->note + offsetof(struct tnf_fast_site, conditions), &n, sizeof(n)) ||
		    (n != 0 && !write_conditions(h, s, &w)) ?
		    tnfctl_error_lost(h, "its memory cannot be written") : TNFCTL_ERR_NONE;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(attrs, ";"), attrs);
	if (!read_values(h, s, &values) || (of.members = values.n, kp_where_compile(&of, text, &w) < 0))
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s", why);
	return write_conditions(h, s, &w) ? TNFCTL_ERR_NONE :
	    tnfctl_error_lost(h, "its memory cannot be written");
}

tnfctl_errcode_t
tnfctl_fast_where(tnfctl_handle_t *h, const tnfctl_probe_t *p, const char *conditions)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (conditions != NULL && *conditions == '\0')
		conditions = NULL;
	for (size_t i = 0; i < p->fast->n && err == TNFCTL_ERR_NONE; i++)
		err = set_site(h, p, &p->fast->v[i], conditions);
	return err;
}
