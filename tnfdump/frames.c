/*
 * frames.c - the stack of an event.
 */
#include "analysis/pretty-names.h"
#include "analysis/usersym.h"
#include "tnfdump/origin.h"

/* True if kernel stacks begin at the function. */
static bool
is_root(const char *name)
{
	static const char *const roots[] = { "entry_", "asm_", "ret_from_fork",
	    "common_startup", "secondary_startup", "start_", "x86_64_start" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (strncmp(name, roots[i], strlen(roots[i])) == 0)
			return true;
	return false;
}

/* True if a kernel stack was cut at the maximum depth. */
static bool
is_cut(struct dump *d, const struct tnf_event *ev, uint64_t outmost)
{
	uint64_t offset;
	const char *name;

	return ev->kernel && outmost >> 63 != 0 &&
	    (name = origin_place(d, ev, outmost, &offset)) != NULL && !is_root(name);
}

/* Reads the frames of one array, the outermost first.  A stack ends at its first zero. */
static unsigned
read_stack(struct dump *d, const struct tnf_event *ev, const struct tnf_value *v,
    struct frame *ret, unsigned max)
{
	struct tnf_value item;
	uint32_t n = 0;

	while (n < v->u.r.count && n < max && tnf_value_item(ev->file, v, n, &item) &&
	    pretty_kind(item.type, NULL) == PRETTY_SYMBOL && item.u.u != 0)
		n++;
	for (uint32_t i = 0; i < n; i++) {
		tnf_value_item(ev->file, v, n - 1 - i, &item);
		ret[i] = (struct frame){ .pc = item.u.u, .at = item.u.u - (i + 1 < n) };
	}
	if (n > 0)
		ret[0].cut = is_cut(d, ev, ret[0].at);
	return n;
}

#define WORDS_MAX	512u

/* Reads an array of numbers; returns how many it has. */
static unsigned
read_words(const struct tnf_event *ev, const char *member, uint64_t *ret, unsigned max)
{
	struct tnf_value v, item;
	unsigned n = 0;

	if (!member_value(ev, member, &v) || v.kind != TNF_K_ARRAY)
		return 0;
	for (; n < v.u.r.count && n < max && tnf_value_item(ev->file, &v, n, &item) &&
	    item.kind == TNF_K_UINT64; n++)
		ret[n] = item.u.u;
	return n;
}

unsigned
frames_unwound(struct dump *d, const struct tnf_event *ev, struct frame ret[FRAMES_MAX])
{
	uint64_t words[WORDS_MAX], pc[FRAMES_MAX], user;
	struct unwind_stack s = { .words = words };
	unsigned n;

	if (!ev->kernel || strcmp(ev->probe->name, "sample") != 0 ||
	    (s.n_words = read_words(ev, "words", words, WORDS_MAX)) == 0 ||
	    read_words(ev, "user", &user, 1) == 0)
		return 0;
	s.n_registers = read_words(ev, "registers", s.registers, UNWIND_REGISTERS);
	n = origin_unwind(d, ev, &s, user, pc, FRAMES_MAX);
	if (n < 2)
		return 0;
	for (unsigned i = 0; i < n; i++)
		ret[i] = (struct frame){ .pc = pc[n - 1 - i], .at = pc[n - 1 - i] - (i + 1 < n) };
	return n;
}

/* False for most members, which then need not be read. */
static bool
may_be_stack(const struct tnf_type *t)
{
	return t->kind != TNF_K_STRING && (t->kind < TNF_K_SCALAR || t->kind > TNF_K_FLOAT64);
}

unsigned
frames_of(struct dump *d, const struct tnf_event *ev, struct frame ret[FRAMES_MAX])
{
	struct tnf_value v;
	unsigned n = ev->kernel ? frames_unwound(d, ev, ret) : 0;
	int instead = n > 0 ? perprobe_member(ev->probe, "user") : -1;

	for (unsigned i = ev->probe->n_members; i-- > 0; )
		if ((int)i != instead && may_be_stack(ev->probe->members[i].type) &&
		    tnf_event_value(ev, i, &v) && !v.null && v.kind == TNF_K_ARRAY)
			n += read_stack(d, ev, &v, ret + n, FRAMES_MAX - n);
	return n;
}

unsigned
frame_names(struct dump *d, const struct tnf_event *ev, const struct frame *f,
    const char *ret[FRAME_NAMES_MAX])
{
	const char *inner[FRAME_NAMES_MAX - 1];
	uint64_t offset;
	unsigned n;

	if ((ret[0] = origin_place(d, ev, f->at, &offset)) == NULL)
		return 0;
	n = origin_inlined(d, ev, f->at, inner, FRAME_NAMES_MAX - 1);
	for (unsigned i = 0; i < n; i++)
		ret[1 + i] = inner[n - 1 - i];
	return 1 + n;
}
