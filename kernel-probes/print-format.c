/*
 * print-format.c - the names for values in a tracepoint's print format, and where we keep them.
 *
 * A print format is C: "...", __print_flags(REC->flags & 0xff, "|", { 1, "READ" }, ...).
 * We understand one member, a mask on it, and constants; that is nearly all there is.
 */
#include "kernel-probes/handle.h"

struct cursor {
	const char *p;
	bool	    bad;
};

static void
skip_blanks(struct cursor *c)
{
	while (isspace((unsigned char)*c->p))
		c->p++;
}

static bool
print_format_take(struct cursor *c, const char *s)
{
	size_t n = strlen(s);

	skip_blanks(c);
	if (strncmp(c->p, s, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* "(unsigned long)": a word or two in parentheses, followed by an operand. */
static bool
take_cast(struct cursor *c)
{
	const char *p = c->p;

	if (*p != '(' || !(isalpha((unsigned char)p[1]) || p[1] == '_' || p[1] == ' '))
		return false;
	for (p++; isalnum((unsigned char)*p) || *p == '_' || *p == ' '; p++)
		;
	if (*p != ')')
		return false;
	c->p = p + 1;
	return true;
}

#define DEPTH_MAX	64

static uint64_t print_format_sum(struct cursor *, unsigned depth);

static uint64_t
print_format_operand(struct cursor *c, unsigned depth)
{
	uint64_t v;
	char *end;

	skip_blanks(c);
	if (depth > DEPTH_MAX) {
		c->bad = true;
		return 0;
	}
	if (take_cast(c))
		return print_format_operand(c, depth + 1);
	if (print_format_take(c, "("))  {
		v = print_format_sum(c, depth + 1);
		c->bad |= !print_format_take(c, ")");
		return v;
	}
	if (print_format_take(c, "~"))
		return ~print_format_operand(c, depth + 1);
	if (print_format_take(c, "-"))
		return -print_format_operand(c, depth + 1);
	if (!isdigit((unsigned char)*c->p)) {
		c->bad = true;
		return 0;
	}
	v = strtoull(c->p, &end, 0);
	while (*end != '\0' && strchr("uUlL", *end) != NULL)
		end++;
	c->p = end;
	return v;
}

static uint64_t
print_format_added(struct cursor *c, unsigned depth)
{
	uint64_t v = print_format_operand(c, depth), w;

	while (!c->bad) {
		if (print_format_take(c, "+"))
			v += print_format_operand(c, depth);
		else if (print_format_take(c, "-"))
			v -= print_format_operand(c, depth);
		else if (print_format_take(c, "<<")) {
			w = print_format_operand(c, depth);
			v = w < 64 ? v << w : 0;
		} else
			break;
	}
	return v;
}

/* Sums bind closer than shifts in C; a format that mixes them has parentheses. */
static uint64_t
print_format_sum(struct cursor *c, unsigned depth)
{
	uint64_t v = print_format_added(c, depth);

	while (!c->bad) {
		if (print_format_take(c, "|"))
			v |= print_format_added(c, depth);
		else if (print_format_take(c, "&"))
			v &= print_format_added(c, depth);
		else
			break;
	}
	return v;
}

/* "REC->flags", "(REC->flags & 0xff)": a member, and a mask of its bits. */
static bool
take_member(struct cursor *c, char *name, size_t n, uint64_t *mask)
{
	size_t len;
	int open = 0;

	*mask = ~0ull;
	for (;; open++) {
		skip_blanks(c);
		while (take_cast(c))
			skip_blanks(c);
		if (!print_format_take(c, "("))
			break;
	}
	if (!print_format_take(c, "REC->"))
		return false;
	for (len = 0; isalnum((unsigned char)c->p[len]) || c->p[len] == '_'; len++)
		;
	if (len == 0 || len >= n)
		return false;
	memcpy(name, c->p, len);
	name[len] = '\0';
	c->p += len;
	for (;;) {
		if (open > 0 && print_format_take(c, ")"))
			open--;
		else if (print_format_take(c, "&"))
			*mask &= print_format_operand(c, 0);
		else
			break;
	}
	skip_blanks(c);
	return open == 0 && !c->bad && *c->p == ',';
}

/* The inside of a string literal. */
static bool
take_string(struct cursor *c, char *buf, size_t n)
{
	size_t len = 0;

	if (!print_format_take(c, "\""))
		return false;
	for (; *c->p != '"' && *c->p != '\0'; c->p++) {
		if (*c->p == '\\' && c->p[1] != '\0')
			c->p++;
		if (len + 1 < n)
			buf[len++] = *c->p;
	}
	buf[len] = '\0';
	return print_format_take(c, "\"");
}

/* A pair that is no constant, or whose name would break the text, is passed over. */
static size_t
take_pairs(struct cursor *c, char *buf, size_t n)
{
	size_t at = 0;
	uint64_t v;
	char name[64];
	int len;

	while (print_format_take(c, ",") && print_format_take(c, "{")) {
		c->bad = false;
		v = print_format_sum(c, 0);
		if (c->bad) {
			c->p += strcspn(c->p, "}");
			if (*c->p != '\0')
				c->p++;
			continue;
		}
		if (!print_format_take(c, ",") || !take_string(c, name, sizeof name) || !print_format_take(c, "}"))
			break;
		if (name[0] == '\0' || strpbrk(name, ",=") != NULL)
			continue;
		len = snprintf(buf + at, n - at, "%s%#llx=%s", at > 0 ? "," : "",
		    (unsigned long long)v, name);
		if (len < 0 || (size_t)len >= n - at) {
			buf[at] = '\0';
			break;
		}
		at += (size_t)len;
	}
	return at;
}

static const char *
one_call(const char *p, bool flags, void (*fn)(void *arg, const char *member,
    const char *names), void *arg)
{
	struct cursor c = { .p = p };
	char member[128], pairs[4096], names[4352], delimiter[8] = "";
	uint64_t mask;

	if (!take_member(&c, member, sizeof member, &mask))
		return p;
	if (flags && (!print_format_take(&c, ",") || !take_string(&c, delimiter, sizeof delimiter) ||
	    delimiter[0] == '\0' || strchr(delimiter, ' ') != NULL))
		return p;
	if (take_pairs(&c, pairs, sizeof pairs) == 0)
		return p;
	snprintf(names, sizeof names, "%s %#llx %s%s%s", flags ? "flags" : "symbolic",
	    (unsigned long long)mask, delimiter, flags ? " " : "", pairs);
	fn(arg, member, names);
	return c.p;
}

/*
 * Calls fn for each member whose values have names, with these as a text (tnf(5),
 * "Context"): "symbolic MASK VALUE=NAME,..." or "flags MASK DELIMITER VALUE=NAME,...".
 * Parts that cannot be understood are left out.
 */
static void
print_format_names(const char *format, void (*fn)(void *arg, const char *member,
    const char *names), void *arg)
{
	static const char symbolic[] = "__print_symbolic(", flags[] = "__print_flags(";
	const char *p = strstr(format, "print fmt:"), *s, *f;

	while (p != NULL) {
		s = strstr(p, symbolic);
		f = strstr(p, flags);
		if (s == NULL && f == NULL)
			break;
		if (s != NULL && (f == NULL || s < f))
			p = one_call(s + sizeof symbolic - 1, false, fn, arg);
		else
			p = one_call(f + sizeof flags - 1, true, fn, arg);
	}
}

struct names_call {
	void	(*fn)(void *arg, const char *probe, const char *member, const char *names);
	void	*arg;
	const char *probe;
};

static void
names_each(void *arg, const char *member, const char *names)
{
	const struct names_call *c = arg;

	c->fn(c->arg, c->probe, member, names);
}

static void
names_of(struct kp *kp, const char *probe, struct names_call *c)
{
	const char *dot = strchr(probe, '.');
	char path[256], *text;

	if (dot == NULL || strchr(probe, '/') != NULL)
		return;
	snprintf(path, sizeof path, "events/%.*s/%s/format", (int)(dot - probe), probe,
	    dot + 1);
	if (kp_tracefs_read(kp, path, &text) < 0)
		return;
	c->probe = probe;
	print_format_names(text, names_each, c);
	free(text);
}

KP_EXPORT void
kp_value_names_of(struct kp *kp, const char *probe, void (*fn)(void *arg, const char *probe,
    const char *member, const char *names), void *arg)
{
	struct names_call c = { fn, arg, NULL };

	if (kp_tracefs_find(kp) == 0)
		names_of(kp, probe, &c);
	kp->detail[0] = '\0';
}

KP_EXPORT void
kp_value_names(struct kp *kp, void (*fn)(void *arg, const char *probe, const char *member,
    const char *names), void *arg)
{
	struct names_call c = { fn, arg, NULL };
	struct kp_asked *a = malloc(sizeof *a);
	uint32_t slot, next;
	int fd = kp_map_open(KP_PIN_ASKED, sizeof slot, sizeof *a), r;

	r = fd < 0 || a == NULL || kp_tracefs_find(kp) < 0 ? -1 :
	    bpf_map_get_next_key(fd, NULL, &next);
	while (r == 0) {
		slot = next;
		if (bpf_map_lookup_elem(fd, &slot, a) == 0 && a->defined &&
		    a->kind == KP_IMPORT_TRACEPOINT && a->spec_size == 0) {
			a->name[sizeof a->name - 1] = '\0';
			names_of(kp, a->name, &c);
		}
		r = bpf_map_get_next_key(fd, &slot, &next);
	}
	kp->detail[0] = '\0';
	free(a);
	if (fd >= 0)
		close(fd);
}
