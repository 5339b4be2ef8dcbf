/*
 * pretty.c - prints values as people read them, by names that we know or that the trace has.
 */
#include <arpa/inet.h>

#include "analysis/json.h"
#include "common/map.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"

/* Only tracepoints have named values, and only their names have a dot. */
static bool
labels_possible(const struct tnf_probe *p)
{
	return strchr(p->name, '.') != NULL;
}

/*
 * Prints the names of a member's value, from the file's context (tnf(5), "Context": values)
 * or from the kernel that is being followed; false: there are none, and nothing is printed.
 * If the output is NULL, the call only tells whether there are names.
 */
static bool
labels_put(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *member)
{
	return member != NULL && labels_possible(ev->probe) &&
	    v->kind >= TNF_K_CHAR && v->kind <= TNF_K_UINT64 &&
	    value_names_put(o, origin_value_names(d, ev, member), v->u.u, print_chars);
}

/* The key of a kernel thread: the address of its structure, which may be another thread's
   after the thread has ended.  Every machine has its own addresses. */
struct thread_key {
	const struct tnf_file *file;	/* with --hosts; else NULL: one machine */
	uint64_t address;
};

struct thread {
	uint32_t lwpid;
	int32_t	 pid;
};

static struct thread_key
thread_key(const struct dump *d, const struct tnf_event *ev, uint64_t address)
{
	return (struct thread_key){ d->hosts != NULL ? ev->file : NULL, address };
}

void
labels_see_thread(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key = thread_key(d, ev, ev->tid);
	struct thread *t;
	struct tnf_value v;

	if (d->threads == NULL) {
		d->threads = tnf_xcalloc(1, sizeof *d->threads);
		tnf_map_init(d->threads, sizeof *t);
	}
	if (strcmp(ev->probe->name, "thread_exit") == 0) {
		tnf_map_remove(d->threads, &key, sizeof key);
		return;
	}
	if ((t = tnf_map_put(d->threads, &key, sizeof key, NULL)) != NULL)
		*t = (struct thread){ ev->lwpid, ev->pid };
	/* The first member is the address of the new thread, which has written nothing yet. */
	if (strcmp(ev->probe->name, "thread_create") == 0 && ev->probe->n_members > 0 &&
	    tnf_event_value(ev, 0, &v)) {
		key.address = v.u.u;
		tnf_map_remove(d->threads, &key, sizeof key);
	}
}

/* The thread at this address; NULL: it has written no event yet.  *of is an event as if it had
   written this one. */
static const struct thread *
thread_at(struct dump *d, const struct tnf_event *ev, uint64_t address, struct tnf_event *of)
{
	struct thread_key key = thread_key(d, ev, address);
	const struct thread *t = d->threads != NULL ?
	    tnf_map_get(d->threads, &key, sizeof key) : NULL;

	*of = *ev;
	if (t == NULL)
		return NULL;
	of->lwpid = t->lwpid;
	of->pid = t->pid;
	of->tid = address;
	return t;
}

/* Prints the number and the name of the thread at this address; false: that thread has
   written no event yet, and nothing is printed. */
static bool
labels_put_thread(struct dump *d, struct out *o, const struct tnf_event *ev, uint64_t address)
{
	struct tnf_event of;
	const char *name;

	if (thread_at(d, ev, address, &of) == NULL)
		return false;
	tnf_out_u64(o, of.lwpid);
	if ((name = origin_comm(d, &of)) != NULL) {
		out_char(o, '(');
		print_name(o, name);
		out_char(o, ')');
	}
	return true;
}

const char *
labels_thread_name(struct dump *d, const struct tnf_event *ev, uint64_t address)
{
	struct tnf_event of;

	return thread_at(d, ev, address, &of) == NULL ? NULL : origin_comm(d, &of);
}

void
labels_free(struct dump *d)
{
	if (d->threads != NULL)
		tnf_map_free(d->threads);
	free(d->threads);
	d->threads = NULL;
}

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define ELEMENTS_MAX	64	/* of an array */

/* Flags of an I/O request, buf(9S). */
static const struct { uint32_t bit; const char *name; } bioflags[] = {
	{ 0x1, "BUSY" }, { 0x2, "DONE" }, { 0x4, "ERROR" }, { 0x10, "PAGEIO" },
	{ 0x20, "PHYS" }, { 0x40, "READ" }, { 0x80, "WANTED" },
	{ 0x100, "WRITE" }, { 0x400, "ASYNC" },
};

static void
put_bioflags(struct out *o, uint32_t flags)
{
	bool first = true;

	for (unsigned i = 0; i < COUNT(bioflags); i++) {
		if ((flags & bioflags[i].bit) == 0)
			continue;
		if (!first)
			out_char(o, '|');
		out_str(o, bioflags[i].name);
		flags &= ~bioflags[i].bit;
		first = false;
	}
	if (!first && flags == 0)
		return;
	if (!first)
		out_char(o, '|');
	tnf_out_0x(o, flags);
}

/* Linux packs 12:20 bits; Solaris packs 14:18 in 32-bit and 32:32 in 64-bit numbers. */
void
device_split(const struct tnf_event *ev, const struct tnf_type *type,
    uint64_t u, uint32_t *major, uint32_t *minor)
{
	unsigned shift = 18;

	if (tnf_file_ext(ev->file) != NULL)
		shift = 20;
	else if (type != NULL && type->size == 8)
		shift = 32;
	*major = (uint32_t)(u >> shift);
	*minor = (uint32_t)(u & ((UINT64_C(1) << shift) - 1));
}

static void
put_device(struct dump *d, struct out *o, const struct tnf_event *ev,
    const struct tnf_value *v)
{
	const tnf_context_t *c = origin_context(d, ev->file);
	const char *name = NULL;
	uint32_t major, minor;

	device_split(ev, v->type, v->u.u, &major, &minor);
	if (c != NULL)
		name = tnf_context_device(c, major, minor);
	tnf_out_u64(o, major);
	out_char(o, ':');
	tnf_out_u64(o, minor);
	if (name == NULL)
		return;
	out_char(o, '(');
	print_name(o, name);
	out_char(o, ')');
}

static void
put_offset(struct out *o, uint64_t offset)
{
	if (offset == 0)
		return;
	out_lit(o, "+0x");
	tnf_out_hex(o, offset);
}

#define INLINED_MAX	8

/* Prints " (inlined: inner in middle)" if the code at the address is inlined in the function. */
static void
put_inlined(struct dump *d, struct out *o, const struct tnf_event *ev, uint64_t addr)
{
	const char *name[INLINED_MAX];
	unsigned n = origin_inlined(d, ev, addr, name, INLINED_MAX);

	for (unsigned i = 0; i < n; i++) {
		out_str(o, i == 0 ? " (inlined: " : " in ");
		print_name(o, name[i]);
	}
	if (n > 0)
		out_char(o, ')');
}

/* Prints the kernel function, else the function or object of the process, else the number. */
static void
put_symbol(struct dump *d, struct out *o, const struct tnf_event *ev, uint64_t addr)
{
	uint64_t offset;
	const char *name = origin_place(d, ev, addr, &offset);

	if (name == NULL) {
		tnf_out_0x(o, addr);
		return;
	}
	print_name(o, name);
	put_offset(o, offset);
	put_inlined(d, o, ev, addr);
}

static void
pretty_put_scalar(struct dump *d, struct out *o, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	enum pretty_kind kind = pretty_kind(v->type, name);
	const char *text = pretty_event_name(ev, v->type, name, v->u.i);

	if (text != NULL) {
		out_str(o, text);
		return;
	}
	if (kind == PRETTY_NONE && labels_put(d, o, ev, v, name))
		return;
	if (kind == PRETTY_SYMBOL && name != NULL && call_put_member(o, ev, name))
		return;
	switch (kind) {
	case PRETTY_BIOFLAGS:
		put_bioflags(o, (uint32_t)v->u.u);
		break;
	case PRETTY_DEVICE:
		put_device(d, o, ev, v);
		break;
	case PRETTY_SIZE:
		size_put(o, v->u.u);
		break;
	case PRETTY_SYMBOL:
		put_symbol(d, o, ev, v->u.u);
		break;
	case PRETTY_THREAD:
		if (!labels_put_thread(d, o, ev, v->u.u))
			print_scalar(d, o, v);
		break;
	default:
		print_scalar(d, o, v);
		break;
	}
}

static print_item_fn put_at;

/* Prints the program's frames as they were unwound, if they were. */
static bool
put_unwound(struct dump *d, struct out *o, const struct tnf_event *ev, const char *name)
{
	struct frame frames[FRAMES_MAX];
	unsigned n = name != NULL && strcmp(name, "user") == 0 ? frames_unwound(d, ev, frames) : 0;

	for (unsigned i = n; i-- > 0; ) {
		out_char(o, i + 1 == n ? '[' : ' ');
		put_symbol(d, o, ev, frames[i].pc);
	}
	if (n > 0)
		out_char(o, ']');
	return n > 0;
}

/* Prints an array's elements; a stack ends at its first zero. */
static void
put_array(struct dump *d, struct out *o, const struct tnf_event *ev,
    const struct tnf_value *r, struct nest *in)
{
	struct tnf_value v;

	out_char(o, '[');
	for (unsigned i = 0; nest_item(in, ev->file, r, i, &v); i++) {
		if (pretty_kind(v.type, NULL) == PRETTY_SYMBOL && v.u.u == 0)
			break;
		if (i > 0)
			out_char(o, ' ');
		if (i == ELEMENTS_MAX) {
			out_lit(o, "...");
			break;
		}
		put_at(d, o, ev, &v, NULL, in);
	}
	out_char(o, ']');
}

/* The kernel's struct sockaddr_in6, which tracepoints also use for IPv4. */
#define SOCKADDR_SIZE	28u
#define FAMILY_IPV4	2
#define FAMILY_IPV6	10

static void
pretty_put_address(struct dump *d, struct out *o, bool v6, const unsigned char *bytes)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, text, sizeof(text)) != NULL)
		out_str(o, text);
}

/* Prints address and port; the family has this machine's byte order, as other members have. */
static bool
pretty_put_socket(struct dump *d, struct out *o, const unsigned char *bytes)
{
	uint16_t family;
	bool v6;

	memcpy(&family, bytes, sizeof(family));
	v6 = family == FAMILY_IPV6;
	if (!v6 && family != FAMILY_IPV4)
		return false;
	if (v6)
		out_char(o, '[');
	pretty_put_address(d, o, v6, bytes + (v6 ? 8 : 4));
	out_str(o, v6 ? "]:" : ":");
	tnf_out_u64(o, (uint64_t)bytes[2] << 8 | bytes[3]);
	return true;
}

/* Prints the address of a socket if the member is one of a tracepoint's: saddr, daddr,
   saddr_v6, daddr_v6. */
static bool
pretty_put_peer(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	unsigned char bytes[SOCKADDR_SIZE];
	uint32_t n = v->u.r.count;
	struct tnf_value item;
	bool v6;

	if (name == NULL || (strncmp(name, "saddr", 5) != 0 && strncmp(name, "daddr", 5) != 0) ||
	    n > SOCKADDR_SIZE)
		return false;
	v6 = strcmp(name + 5, "_v6") == 0;
	if (v6 ? n != 16 : name[5] != '\0' || (n != 4 && n != SOCKADDR_SIZE))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!tnf_value_item(ev->file, v, i, &item) || item.kind != TNF_K_UINT8)
			return false;
		bytes[i] = (unsigned char)item.u.u;
	}
	if (n == SOCKADDR_SIZE)
		return pretty_put_socket(d, o, bytes);
	pretty_put_address(d, o, v6, bytes);
	return true;
}

static void
put_at(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name, struct nest *in)
{
	if (v->null || v->kind == TNF_K_STRING || v->kind == TNF_K_TYPE)
		print_value(d, o, ev, v);
	else if (v->kind == TNF_K_STRUCT)
		print_record(d, o, ev, v, in, put_at);
	else if (v->kind == TNF_K_ARRAY && (pretty_put_peer(d, o, ev, v, name) ||
	    put_unwound(d, o, ev, name)))
		return;
	else if (v->kind == TNF_K_ARRAY && nest_enter(in, v)) {
		put_array(d, o, ev, v, in);
		nest_leave(in);
	} else if (v->kind == TNF_K_ARRAY)
		out_lit(o, "[]");
	else
		pretty_put_scalar(d, o, ev, v, name);
}

void
pretty_value(struct dump *d, struct out *o, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	struct nest in = print_nest(d);

	put_at(d, o, ev, v, name, &in);
	if (in.partial)
		tell_partial(d, ev->file);
}

/* Sizes and threads are the number in other words. */
static bool
kind_differs(enum pretty_kind kind)
{
	return kind != PRETTY_SIZE && kind != PRETTY_THREAD;
}

bool
pretty_differs(struct dump *d, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	enum pretty_kind kind = v->null ? PRETTY_NONE :
	    pretty_kind(v->type, name);

	if (kind != PRETTY_NONE)
		return kind_differs(kind);
	return !v->null && (pretty_event_name(ev, v->type, name, v->u.i) != NULL ||
	    labels_put(d, NULL, ev, v, name));
}

bool
pretty_can_differ(const struct tnf_probe *p, const struct tnf_member *m)
{
	enum pretty_kind kind = pretty_kind(m->type, m->name);

	if (kind != PRETTY_NONE)
		return kind_differs(kind);
	return strcmp(m->name, "sysnum") == 0 || labels_possible(p);
}

const char *
pretty_slice_name(const struct pair_slice *s)
{
	const struct tnf_probe *p = s->start->probe;
	const char *call = NULL;
	struct tnf_value v;

	for (unsigned i = 0; i < p->n_members && call == NULL; i++) {
		if (strcmp(p->members[i].name, "sysnum") != 0 &&
		    pretty_kind(p->members[i].type, NULL) != PRETTY_SYSCALL)
			continue;
		if (tnf_event_value(s->start, i, &v) && !v.null)
			call = pretty_event_name(s->start, v.type, p->members[i].name, v.u.i);
	}
	return call != NULL ? call : s->name;
}

struct json_pretty {
	struct dump *d;
	struct out  *to;
};

/* A json_values' other() for --pretty. */
static bool
json_pretty(void *arg, const struct tnf_event *ev, const struct tnf_value *v, const char *name)
{
	const struct json_pretty *j = arg;
	struct out *text = &j->d->scratch;

	if (!pretty_differs(j->d, ev, v, name))
		return false;
	tnf_out_again(text);
	pretty_value(j->d, text, ev, v, name);
	json_string(j->to, text->base, out_size(text));
	return true;
}

void
print_json(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	struct json_pretty pretty = { d, o };
	struct json_values w = { .o = o, .in = print_nest(d),
	    .other = d->pretty ? json_pretty : NULL, .arg = &pretty, .names = &d->names };

	if (v != NULL)
		json_value(&w, ev, v, name);
	else
		json_args(&w, ev);
	if (w.in.partial)
		tell_partial(d, ev->file);
}
