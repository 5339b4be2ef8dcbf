/*
 * usdt-object.c - the USDT probes of one file: sites of the same name together, and their
 * arguments.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/elf-file.h"
#include "common/map.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/usdt.h"

/*
 * A section of notes is a row of: size of the name, size of the contents, type;
 * then both, each up to a multiple of four.  Ours has the name "stapsdt", the
 * type 3, and in it three addresses and three strings.
 */
#define NOTE_NAME	"stapsdt"
#define NOTE_TYPE	3u
#define NOTES_MAX	262144u		/* of one section */
#define TEXT_MAX	4096u		/* characters of one string */

struct bytes_left {
	const uint8_t *p;
	size_t n;
};

/* The next n bytes, padding behind them included in what is passed over. */
static const uint8_t *
usdt_notes_take(struct bytes_left *b, uint64_t n)
{
	uint64_t padded = (n + 3) & ~(uint64_t)3;
	const uint8_t *p = b->p;

	if (n > b->n)
		return NULL;
	if (padded > b->n)
		padded = b->n;
	b->p += padded;
	b->n -= padded;
	return p;
}

static bool
take_address(struct bytes_left *b, uint64_t *ret)
{
	uintptr_t v;

	if (b->n < sizeof v)
		return false;
	memcpy(&v, b->p, sizeof v);
	b->p += sizeof v;
	b->n -= sizeof v;
	*ret = v;
	return true;
}

static const char *
take_string(struct bytes_left *b)
{
	const char *s = (const char *)b->p;
	size_t n = strnlen(s, b->n < TEXT_MAX ? b->n : TEXT_MAX);

	if (n == b->n || n == TEXT_MAX)
		return NULL;
	b->p += n + 1;
	b->n -= n + 1;
	return s;
}

/* false: it is not as it should be. */
static bool
note_read(struct bytes_left b, struct usdt_note *note)
{
	return take_address(&b, &note->address) && take_address(&b, &note->base) &&
	    take_address(&b, &note->semaphore) &&
	    (note->provider = take_string(&b)) != NULL &&
	    (note->name = take_string(&b)) != NULL &&
	    (note->args = take_string(&b)) != NULL;
}

void
tnfctl_usdt_notes_read(const uint8_t *bytes, size_t size, usdt_note_f *fn, void *arg)
{
	struct bytes_left left = { bytes, size };
	const uint8_t *head, *name, *desc;
	struct usdt_note note;
	Elf64_Nhdr h;	/* the same in both classes */

	for (unsigned n = 0; n < NOTES_MAX; n++) {
		if ((head = usdt_notes_take(&left, sizeof h)) == NULL)
			return;
		memcpy(&h, head, sizeof h);
		if ((name = usdt_notes_take(&left, h.n_namesz)) == NULL ||
		    (desc = usdt_notes_take(&left, h.n_descsz)) == NULL)
			return;
		if (h.n_type != NOTE_TYPE || h.n_namesz != sizeof NOTE_NAME ||
		    memcmp(name, NOTE_NAME, sizeof NOTE_NAME) != 0 ||
		    !note_read((struct bytes_left){ desc, h.n_descsz }, &note))
			continue;
		if (!fn(arg, &note))
			return;
	}
}

#define PROBES_MAX	16384u	/* of one file */
#define SITES_MAX	4096u	/* of one probe */

struct reading {
	struct elffile *elf;
	struct usdt_object *o;
	uint64_t base;		/* where .stapsdt.base is now; 0: there is none */
	bool	fixed, failed;
};

/* Names become words of attribute strings and of files. */
static bool
name_is_fit(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-.$");

	return n > 0 && n < USDT_NAME_MAX && s[n] == '\0';
}

static bool
find_symbol(void *arg, const char *name, uint64_t *ret)
{
	return tnf_elffile_symbol(arg, name, ret);
}

/* Notes of one name mostly follow each other. */
static struct usdt_probe *
probe_find(struct usdt_object *o, const struct usdt_note *note)
{
	for (size_t i = o->n; i-- > 0;)
		if (strcmp(o->v[i].name, note->name) == 0 &&
		    strcmp(o->v[i].provider, note->provider) == 0)
			return &o->v[i];
	return NULL;
}

static struct usdt_probe *
probe_of(struct reading *r, const struct usdt_note *note)
{
	struct usdt_probe *p = probe_find(r->o, note);
	struct usdt_probe *v;

	if (p != NULL || r->o->n == PROBES_MAX)
		return p;
	if ((v = tnf_grow(r->o->v, r->o->n, sizeof *v)) == NULL) {
		r->failed = true;
		return NULL;
	}
	r->o->v = v;
	p = &v[r->o->n++];
	*p = (struct usdt_probe){ .nsites = 0 };
	snprintf(p->provider, sizeof p->provider, "%s", note->provider);
	snprintf(p->name, sizeof p->name, "%s", note->name);
	return p;
}

/* Finds the site in the file; false: it is in no part that is loaded. */
static bool
usdt_object_place(struct reading *r, const struct usdt_note *note, struct usdt_site *s)
{
	s->address = note->address;
	if (!tnf_elffile_offset(r->elf, note->address, &s->offset))
		return false;
	return note->semaphore == 0 ||
	    tnf_elffile_offset(r->elf, note->semaphore, &s->ref_ctr);
}

static const char *
usdt_object_refused(struct reading *r, uint64_t address)
{
	uint8_t code[ARCH_CODE_MAX];
	size_t n = tnf_elffile_read(r->elf, address, code, sizeof code);
	char name[256];
	const char *why = tnfctl_arch_uprobe_refused(code, n, false);

	/* Symbols are looked at only if it matters. */
	return why == NULL || !tnf_elffile_function_at(r->elf, address, name, sizeof name) ?
	    why : tnfctl_arch_uprobe_refused(code, n, true);
}

static bool
add_note(void *arg, const struct usdt_note *found)
{
	struct usdt_note moved = *found, *note = &moved;
	struct reading *r = arg;
	struct usdt_site site = { .n = 0 }, *v;
	struct usdt_place where = { .fixed = r->fixed, .symbol = find_symbol, .arg = r->elf };
	struct usdt_args args;
	struct usdt_probe *p;

	/* The object may have been moved since it was linked (prelink). */
	if (r->base != 0 && note->base != 0) {
		note->address += r->base - found->base;
		if (note->semaphore != 0)
			note->semaphore += r->base - found->base;
	}
	where.address = note->address;
	if (!name_is_fit(note->provider) || !name_is_fit(note->name) ||
	    !usdt_object_place(r, note, &site) || (p = probe_of(r, note)) == NULL ||
	    p->nsites == SITES_MAX) {
		r->o->skipped++;
		return !r->failed;
	}
	if (!tnfctl_usdt_args_parse(note->args, &where, &args) && p->why[0] == '\0')
		memcpy(p->why, args.why, sizeof p->why);
	if (p->refused == NULL)
		p->refused = usdt_object_refused(r, note->address);
	site.n = args.n;
	memcpy(site.v, args.v, sizeof site.v);
	if ((v = tnf_grow(p->sites, p->nsites, sizeof *v)) == NULL) {
		r->failed = true;
		return false;
	}
	p->sites = v;
	p->sites[p->nsites++] = site;
	return true;
}

/* The widest of all sites, signed if one is. */
static void
find_types(struct usdt_probe *p)
{
	bool unreadable[KP_OPERANDS_MAX] = { false };

	for (size_t i = 0; i < p->nsites; i++) {
		const struct usdt_site *s = &p->sites[i];

		if (s->n > p->nargs)
			p->nargs = s->n;
		for (unsigned a = 0; a < s->n; a++) {
			unreadable[a] |= s->v[a].kind == KP_OPERAND_UNREADABLE;
			if (s->v[a].size > p->size[a])
				p->size[a] = s->v[a].size;
			p->sign[a] |= s->v[a].sign;
		}
	}
	for (unsigned a = 0; a < p->nargs; a++)
		if (unreadable[a])
			p->size[a] = 0;
}

static bool
read_section(void *arg, const uint8_t *bytes, size_t size)
{
	tnfctl_usdt_notes_read(bytes, size, add_note, arg);
	return true;
}

static bool
note_base(void *arg, uint64_t address, uint64_t size)
{
	((struct reading *)arg)->base = address;
	return false;
}

bool
tnfctl_usdt_object_read(struct elffile *e, struct usdt_object *ret)
{
	struct reading r = { .elf = e, .o = ret, .fixed = tnf_elffile_is_fixed(e) };

	memset(ret, 0, sizeof *ret);
	tnf_elffile_sections(e, ".stapsdt.base", note_base, &r);
	tnf_elffile_notes(e, ".note.stapsdt", read_section, &r);
	if (r.failed) {
		tnfctl_usdt_object_free(ret);
		return false;
	}
	for (size_t i = 0; i < ret->n; i++)
		find_types(&ret->v[i]);
	return true;
}

void
tnfctl_usdt_object_free(struct usdt_object *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->v[i].sites);
	free(o->v);
	memset(o, 0, sizeof *o);
}

/*
 * From the argument string of a note to a table for BPF.
 *
 * Each machine's operands are read in arch/.
 */

#define SYMBOL_MAX	256u

bool
tnfctl_operand_refuse(struct operand_text *t, const char *fmt, ...)
{
	char why[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	if (t->args->why[0] == '\0')
		snprintf(t->args->why, sizeof t->args->why, "argument %u: %s",
		    t->args->n + 1, why);
	return false;
}

static bool
is_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '@';
}

size_t
tnfctl_operand_name(const char *s)
{
	size_t n = 0;

	while (is_in_name(s[n]))
		n++;
	return n;
}

bool
tnfctl_operand_number(const char **p, int64_t *ret)
{
	const char *digits = *p + (**p == '-' || **p == '+');
	char *end;
	uint64_t v;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	v = strtoull(digits, &end, 0);
	if (errno != 0)
		return false;
	*ret = **p == '-' ? (int64_t)(0 - v) : (int64_t)v;
	*p = end;
	return true;
}

/* Reads a symbol of an expression, and adds its address to *sum. */
static bool
read_symbol(struct operand_text *t, uint64_t *sum)
{
	size_t n = tnfctl_operand_name(t->p), plain = strcspn(t->p, "@");
	char name[SYMBOL_MAX];
	uint64_t address;

	if (plain > n)
		plain = n;
	if (plain == 0 || plain >= sizeof name)
		return tnfctl_operand_refuse(t, "operand is not understood");
	if (plain < n)	/* symbol@GOTPCREL: the linker has done it */
		return tnfctl_operand_refuse(t, "symbol of a table of the linker's");
	memcpy(name, t->p, plain);
	name[plain] = '\0';
	if (t->place->symbol == NULL ||
	    !t->place->symbol(t->place->arg, name, &address))
		return tnfctl_operand_refuse(t, "symbol \"%.24s\" is not in the file", name);
	*sum += address;
	t->p += n;
	return true;
}

bool
tnfctl_operand_expression(struct operand_text *t, __s64 *ret, unsigned *symbols)
{
	uint64_t sum = 0;
	int64_t v;

	*symbols = 0;
	for (bool first = true;; first = false) {
		if (tnfctl_operand_number(&t->p, &v))
			sum += (uint64_t)v;
		else {
			if (*t->p == '+' && !first)
				t->p++;
			if (*t->p == '-' || ++*symbols > 1)
				return tnfctl_operand_refuse(t, "operand is not understood");
			if (!read_symbol(t, &sum))
				return false;
		}
		if (*t->p != '+' && *t->p != '-')
			break;
	}
	*ret = (int64_t)sum;
	return true;
}

bool
tnfctl_operand_place(struct operand_text *t, struct kp_operand *o)
{
	if (t->place->fixed)
		return true;
	if (o->base != KP_R_NONE)
		return tnfctl_operand_refuse(t, "symbol and register in one address");
	o->base = KP_R_IP;
	o->offset -= (int64_t)t->place->address;
	return true;
}

/* "-4@", or "8f@", which is refused; without it: a word. */
static bool
read_size(struct operand_text *t, struct kp_operand *o)
{
	const char *p = t->p;
	int64_t n;

	o->size = sizeof(uintptr_t);
	if (!tnfctl_operand_number(&p, &n) || (*p != '@' && *p != 'f'))
		return true;
	if (*p == 'f')
		return tnfctl_operand_refuse(t, "floating-point number");
	o->sign = n < 0;
	n = n < 0 ? -n : n;
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return tnfctl_operand_refuse(t, "size of %lld bytes", (long long)n);
	o->size = (uint8_t)n;
	t->p = p + 1;
	return true;
}

static const char *
next_argument(const char *s)
{
	return s + strspn(s, " \t");
}

/* Finds the end of an argument: the next blank that is not between brackets. */
static const char *
argument_end(const char *s)
{
	bool inside = false;

	for (; *s != '\0' && (inside || (*s != ' ' && *s != '\t')); s++)
		inside = *s == '[' || (inside && *s != ']');
	return s;
}

static void
read_argument(struct operand_text *t)
{
	struct kp_operand *o = &t->args->v[t->args->n];
	const char *end = argument_end(t->p);

	o->base = o->index = KP_R_NONE;
	o->scale = 1;
	bool good = read_size(t, o) && tnfctl_arch_operand(t, o);
	if (good && t->p != end)
		good = tnfctl_operand_refuse(t, "operand is not understood");
	if (!good) {
		*o = (struct kp_operand){ .kind = KP_OPERAND_UNREADABLE, .size = 8,
		    .scale = 1, .base = KP_R_NONE, .index = KP_R_NONE };
		t->args->unreadable++;
	}
	t->p = end;
	t->args->n++;
}

bool
tnfctl_usdt_args_parse(const char *text, const struct usdt_place *place,
    struct usdt_args *ret)
{
	struct operand_text t = { .place = place, .args = ret };

	memset(ret, 0, sizeof *ret);
	for (t.p = next_argument(text); *t.p != '\0'; t.p = next_argument(t.p)) {
		if (ret->n == KP_OPERANDS_MAX) {
			ret->unreadable++;
			return tnfctl_operand_refuse(&t, "more than %u of them", KP_OPERANDS_MAX);
		}
		read_argument(&t);
	}
	return ret->unreadable == 0;
}
