/*
 * tracepoint-args.c - from names to the arguments of a tracepoint, and from these to members of the
 * kernel's structures, by the kernel's own types (BTF).
 */
#include <bpf/btf.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "kernel-probes/handle.h"

#define NESTED_MAX	8	/* structures without a name in structures */
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum asked { ASKED_PLAIN, ASKED_STRING, ASKED_ADDRESS };

struct way {			/* one member */
	const struct btf *btf;
	const char *path;	/* as it was written, for messages; ... */
	int	 len;		/* ... so many bytes of it */
	enum asked asked;
	struct kp_operand *o;
	struct kp_hops *h;
	const char *type;	/* the result */
	struct kp_raw *ret;
};

static bool __attribute__((format(printf, 2, 3)))
refuse(const struct way *w, const char *fmt, ...)
{
	size_t size = sizeof w->ret->why;
	int n = snprintf(w->ret->why, size, "args: %.*s: ", w->len, w->path);
	va_list ap;

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < size)
		vsnprintf(w->ret->why + n, size - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

static const char *
name_at(const struct btf *btf, __u32 offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name != NULL ? name : "";
}

/* The type itself: without const and typedef, and with members where only its name is told. */
static const struct btf_type *
type_itself(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int whole;

	while (t != NULL && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	if (t == NULL || !btf_is_fwd(t))
		return t;
	whole = btf__find_by_name_kind(btf, name_at(btf, t->name_off),
	    btf_kflag(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT);
	return whole < 0 ? t : btf__type_by_id(btf, (__u32)whole);
}

/* Finds a member of a structure or union, also in one without a name inside; *bits grows. */
static const struct btf_member *
find_member(const struct btf *btf, const struct btf_type *of, const char *name, size_t len,
    unsigned depth, __u32 *bits)
{
	const struct btf_member *m, *found;
	const char *called;

	if (depth == NESTED_MAX || of == NULL || !btf_is_composite(of))
		return NULL;
	for (__u32 i = 0; i < btf_vlen(of); i++) {
		m = &btf_members(of)[i];
		called = name_at(btf, m->name_off);
		found = NULL;
		if (strlen(called) == len && memcmp(called, name, len) == 0)
			found = btf_member_bitfield_size(of, i) == 0 ? m : NULL;
		else if (*called == '\0')
			found = find_member(btf, type_itself(btf, m->type), name, len, depth + 1, bits);
		if (found != NULL) {
			*bits += btf_member_bit_offset(of, i);
			return found;
		}
	}
	return NULL;
}

static bool
is_char(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = type_itself(btf, id);

	return t != NULL && btf_is_int(t) && t->size == 1 && !(btf_int_encoding(t) & BTF_INT_BOOL);
}

/* True if it is text, a pointer to text, or, if somebody asked for that, any pointer. */
static bool
is_text(const struct way *w, const struct btf_type *t)
{
	if (w->asked == ASKED_ADDRESS)
		return false;
	if (btf_is_array(t))
		return is_char(w->btf, btf_array(t)->type) && btf_array(t)->nelems != 0;
	return btf_is_ptr(t) && (w->asked == ASKED_STRING || is_char(w->btf, t->type));
}

static bool
end_at_text(struct way *w, const struct btf_type *t)
{
	bool array = btf_is_array(t);

	if (array && w->h->n == 0)
		return refuse(w, "it is no integer, pointer or text");
	w->o->text = KP_TEXT_STRING;
	w->o->limit = array && btf_array(t)->nelems < KP_TEXT_MAX ? btf_array(t)->nelems + 1 : 0;
	w->h->size = array || w->h->n == 0 ? 0 : 8;
	w->type = "tnf_string";
	return true;
}

/* Describes the last value, and how it is recorded. */
static bool
end_at(struct way *w, const struct btf_type *t)
{
	bool sign = false;
	__u32 size;

	if (t == NULL)
		return refuse(w, "no type is known of it");
	if (is_text(w, t))
		return end_at_text(w, t);
	if (w->asked == ASKED_STRING)
		return refuse(w, "it is no pointer to text and no array of characters");
	if (btf_is_ptr(t)) {
		size = sizeof(__u64);
		w->type = "tnf_opaque";
	} else if (btf_is_int(t) || btf_is_any_enum(t)) {
		size = t->size;
		sign = btf_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED : btf_kflag(t);
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return refuse(w, "it has %u bytes", size);
		w->type = w->asked == ASKED_ADDRESS && size == 8 ? "tnf_opaque" :
		    kp_number_type(false, size, sign);
	} else
		return refuse(w, "it is no integer, pointer or text");
	if (w->h->n == 0) {
		w->o->size = (__u8)size;
		w->o->sign = sign;
	} else {
		w->h->size = (__u8)size;
		w->h->sign = sign;
	}
	return true;
}

/* Follows the names behind the argument, whose type is 'id'. */
static bool
follow(struct way *w, __u32 id, const char *s, const char *end)
{
	const struct btf_type *t = type_itself(w->btf, id);
	const struct btf_member *m;
	__u32 bits = 0;
	size_t len;

	while (s < end) {
		bool arrow = strncmp(s, "->", 2) == 0;

		if ((!arrow && (*s != '.' || w->h->n == 0)) || (arrow && (t == NULL || !btf_is_ptr(t))))
			return refuse(w, "there is no %s before %.*s", arrow ? "pointer" : "structure",
			    (int)(end - s), s);
		s += arrow ? 2 : 1;
		len = strspn(s, NAME_CHARS);
		if (arrow) {
			if (w->h->n == KP_HOPS_MAX)
				return refuse(w, "more than four levels");
			w->h->n++;
			t = type_itself(w->btf, t->type);
			bits = 0;
		}
		if (t == NULL || !btf_is_composite(t))
			return refuse(w, "there is no structure before %.*s", (int)(end - s), s);
		m = find_member(w->btf, t, s, len, 0, &bits);
		if (m == NULL)
			return refuse(w, "%s %s has no such member, or it is a bit field: %.*s",
			    btf_is_union(t) ? "union" : "struct", name_at(w->btf, t->name_off), (int)len, s);
		if (bits / 8 > UINT16_MAX)
			return refuse(w, "it is too far from the beginning: %.*s", (int)len, s);
		w->h->off[w->h->n - 1] = (__u16)(bits / 8);
		t = type_itself(w->btf, m->type);
		s += len;
	}
	return end_at(w, t);
}

/* Returns the number of the argument with this name.  Without a name in the kernel's types it is called arg0, arg1, ...
   0: none; the first of the prototype is no argument of the tracepoint. */
static unsigned
find_argument(const struct btf *btf, const struct btf_type *proto, const char *name, size_t len)
{
	char number[16];
	const char *called;

	for (unsigned i = 1; i < btf_vlen(proto); i++) {
		called = name_at(btf, btf_params(proto)[i].name_off);
		snprintf(number, sizeof number, "arg%u", i - 1);
		if ((strlen(called) == len && memcmp(called, name, len) == 0) ||
		    (strlen(number) == len && memcmp(number, name, len) == 0))
			return i;
	}
	return 0;
}

static bool
no_argument(const struct way *w, const struct btf_type *proto)
{
	char names[128] = "", number[16];
	const char *called;
	size_t at = 0;

	for (unsigned i = 1; i < btf_vlen(proto) && at < sizeof names; i++) {
		called = name_at(w->btf, btf_params(proto)[i].name_off);
		snprintf(number, sizeof number, "arg%u", i - 1);
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 1 ? ", " : "",
		    *called != '\0' ? called : number);
	}
	return refuse(w, "the tracepoint has no such argument: it has %s", *names != '\0' ? names : "none");
}

/* Reads "prev->mm->owner->pid", or "*now", the number that an argument points to. */
static bool
read_path(struct way *w, const struct btf_type *proto, const char *s, const char *end)
{
	bool star = s < end && *s == '*';
	size_t head = strspn(s += star, NAME_CHARS);
	unsigned i = find_argument(w->btf, proto, s, head);
	const struct btf_type *t;
	__u32 id;

	if (i == 0)
		return no_argument(w, proto);
	id = btf_params(proto)[i].type;
	*w->o = (struct kp_operand){ .kind = KP_OPERAND_VALUE, .size = 8, .scale = 1,
	    .base = (__u8)(i - 1), .index = KP_R_NONE };
	if (!star)
		return follow(w, id, s + head, end);
	t = type_itself(w->btf, id);
	if (s + head != end || t == NULL || !btf_is_ptr(t))
		return refuse(w, "it is no pointer to a number");
	w->h->n = 1;
	return end_at(w, type_itself(w->btf, t->type));
}

/* "prev->comm" has the name prev_comm. */
static bool
name_member(struct way *w, const char *s, const char *end)
{
	char *name = w->ret->member[w->ret->site.n].name;
	size_t size = sizeof w->ret->member[0].name, n = 0;

	for (s += *s == '*'; s < end && n + 1 < size; s++)
		if (*s != '>')
			name[n++] = *s == '-' || *s == '.' ? '_' : *s;
	name[n] = '\0';
	if (s < end)
		return refuse(w, "its name is too long");
	for (unsigned i = 0; i < w->ret->site.n; i++)
		if (strcmp(w->ret->member[i].name, name) == 0)
			return refuse(w, "twice");
	return true;
}

/* [NAME=]PATH[:TYPE] */
static bool
read_word(struct way *w, const struct btf_type *proto, const char *s, bool of_record)
{
	const char *end = s + w->len, *path = s, *colon = memchr(s, ':', (size_t)w->len), *equal;
	unsigned n = w->ret->site.n;

	if (n == KP_OPERANDS_MAX)
		return refuse(w, "more than %u of them", KP_OPERANDS_MAX);
	w->o = &w->ret->site.v[n];
	w->h = &w->ret->site.hop[n];
	if (colon != NULL) {
		if (end - colon == 7 && memcmp(colon, ":string", 7) == 0)
			w->asked = ASKED_STRING;
		else if (end - colon == 8 && memcmp(colon, ":address", 8) == 0)
			w->asked = ASKED_ADDRESS;
		else
			return refuse(w, "its type is none of string, address");
		end = colon;
	}
	equal = of_record ? memchr(s, '=', (size_t)(end - s)) : NULL;
	if (equal != NULL)
		path = equal + 1;
	if (!name_member(w, s, equal != NULL ? equal : end) || !read_path(w, proto, path, end))
		return false;
	if (of_record && w->o->text == KP_TEXT_STRING)
		w->o->text = KP_TEXT_OR_NULL;
	w->ret->member[n].type = w->type;
	w->ret->follows |= w->h->n != 0 || w->o->text != KP_TEXT_NONE;
	w->ret->site.n++;
	return true;
}

/* The prototype of a raw tracepoint's programs; where the kernel's types have it, that of the
   function which calls them, whose arguments have names. */
static const struct btf_type *
find_prototype(const struct btf *btf, const char *event)
{
	const struct btf_type *proto = kp_types_tracepoint(btf, event), *named;
	char name[128];
	int id;

	snprintf(name, sizeof name, "__traceiter_%s", event);
	if (proto == NULL || (id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC)) < 0)
		return proto;
	named = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	return named != NULL && btf_is_func_proto(named) && btf_vlen(named) == btf_vlen(proto) ?
	    named : proto;
}

/* Raw tracepoints were tried on Linux 6.12 and 6.18.  On 6.1 a virtual machine stood still when all of
   those in records[] (tracepoint-raw.c) were on, so older kernels keep the programs of perf events. */
static bool
is_tried_kernel(void)
{
	struct utsname u;
	unsigned major, minor;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > 6 || (major == 6 && minor >= 12));
}

int
kp_raw_read(struct kp *kp, const char *event, const char *text, bool of_record, struct kp_raw *ret)
{
	struct btf *btf = kp_types(kp);
	const struct btf_type *proto = btf != NULL ? find_prototype(btf, event) : NULL;

	memset(ret, 0, sizeof *ret);
	if (!is_tried_kernel()) {
		snprintf(ret->why, sizeof ret->why, "args: members of tracepoints need Linux 6.12 or later");
		return -EINVAL;
	}
	if (proto == NULL || btf_vlen(proto) == 0 || btf_vlen(proto) > KP_OPERANDS_MAX + 1) {
		snprintf(ret->why, sizeof ret->why, "args: the kernel's types tell of no arguments of %s: "
		    "it is of a module, or one of a group with one hook (raw_syscalls.sys_enter has "
		    "them all)", event);
		return -EINVAL;
	}
	ret->args = btf_vlen(proto) - 1;
	for (const char *s = text;;) {
		struct way w = { .btf = btf, .ret = ret };

		s += strspn(s, " ,\t\r\n");
		w.path = s;
		w.len = (int)strcspn(s, " ,\t\r\n");
		if (w.len == 0)
			break;
		if (!read_word(&w, proto, s, of_record))
			return -EINVAL;
		s += w.len;
	}
	if (ret->site.n == 0) {
		snprintf(ret->why, sizeof ret->why, "args: no argument is named");
		return -EINVAL;
	}
	return 0;
}
