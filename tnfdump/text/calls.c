/*
 * calls.c - system calls as strace(1) prints them, with arguments and result.
 *
 * common/call-kinds.h has the kinds of arguments.  --calls prints a line for each call, at the end
 * of the call; calls that have no end in the trace follow at the end of the output: exit(2) is one.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>

#include "tnfdump/to/formats.h"

struct call {
	uint64_t number;
	int64_t  abi;		/* PRETTY_ABI_* */
	bool	 known;		/* the arguments were recorded */
	uint64_t arg[CALL_ARGUMENTS];
	struct call_text {
		const char *chars;	/* what the argument refers to; NULL: not recorded */
		size_t	    len;
	} text[CALL_ARGUMENTS];
};

#define ARG_PREFIX	"arg"
#define TEXT_PREFIX	"text"

/* The index behind a member's prefix; -1: the member is another. */
static int
index_of(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] >= '0' + CALL_ARGUMENTS ||
	    name[n + 1] != '\0')
		return -1;
	return name[n] - '0';
}

static void
read_member(struct call *c, const char *name, const struct tnf_value *v)
{
	int i;

	if (v->null)
		return;
	if (strcmp(name, "sysnum") == 0)
		c->number = (uint64_t)v->u.i;
	else if (strcmp(name, "abi") == 0)
		c->abi = v->u.i;
	else if ((i = index_of(name, ARG_PREFIX)) >= 0) {
		c->arg[i] = v->u.u;
		c->known = true;
	} else if (v->kind == TNF_K_STRING && (i = index_of(name, TEXT_PREFIX)) >= 0)
		c->text[i] = (struct call_text){ v->u.s.chars, v->u.s.len };
}

/* Reads a syscall_start, syscall_start_other or syscall_args; the texts are the event's.  false:
   it is none of them. */
static bool
call_read(const struct tnf_event *ev, struct call *ret)
{
	const struct tnf_probe *p = ev->probe;
	struct tnf_value v;

	if (!ev->kernel || (strcmp(p->name, "syscall_args") != 0 &&
	    strcmp(p->name, "syscall_start") != 0 && strcmp(p->name, "syscall_start_other") != 0))
		return false;
	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++)
		read_member(ret, p->members[i].name, &v);
	return true;
}

/* The name in the set with the most of the bits that are left, the lowest of these; or NULL. */
static const struct call_name *
best_flag(const struct call_set *set, uint32_t left)
{
	const struct call_name *best = NULL;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t v = set->names[i].value & ~set->mask;

		if (v == 0 || (left & v) != v || (set->names[i].value & set->mask) != 0)
			continue;
		if (best == NULL || __builtin_popcount(v) > __builtin_popcount(best->value) ||
		    (__builtin_popcount(v) == __builtin_popcount(best->value) && v < best->value))
			best = &set->names[i];
	}
	return best;
}

static const char *
name_of(const struct call_set *set, uint32_t value)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->names[i].value == value)
			return set->names[i].name;
	return NULL;
}

static void
put_hex(struct out *o, uint64_t v)
{
	if (v == 0)
		out_char(o, '0');
	else
		tnf_out_0x(o, v);
}

/* The permissions of System V's objects are between their flags. */
static void
put_permissions(struct out *o, const struct call_set *set, uint32_t value)
{
	const struct call_name *flag;
	uint32_t left = value & ~set->mask;

	while ((flag = best_flag(set, left)) != NULL) {
		out_str(o, flag->name);
		out_char(o, '|');
		left &= ~flag->value;
	}
	tnf_out_format(o, "%#o", left | (value & set->mask));
}

/* A file's type and permissions. */
static void
put_mode(struct out *o, unsigned mode)
{
	static const char *const types[] = { [S_IFIFO >> 12] = "S_IFIFO", [S_IFCHR >> 12] = "S_IFCHR",
	    [S_IFDIR >> 12] = "S_IFDIR", [S_IFBLK >> 12] = "S_IFBLK", [S_IFREG >> 12] = "S_IFREG",
	    [S_IFSOCK >> 12] = "S_IFSOCK", [15] = NULL };
	const char *type = types[mode >> 12 & 15];

	if (type != NULL)
		tnf_out_format(o, "%s|%#o", type, mode & 07777);
	else
		tnf_out_format(o, "%#o", mode);
}

/* One value, then the flags with | between them, then in hexadecimal what has no name. */
static void
put_names(struct out *o, const struct call_set *set, uint32_t value)
{
	uint32_t left = value & ~set->mask;
	const char *name = name_of(set, value & set->mask), *bar = "";
	const struct call_name *flag;

	if (set->mask == ~0u && name == NULL) {
		tnf_out_i64(o, (int32_t)value);
		return;
	}
	if (name != NULL && (set->mask != 0 || value == 0)) {
		out_str(o, name);
		bar = "|";
	} else
		left = value;
	while ((flag = best_flag(set, left)) != NULL) {
		out_str(o, bar);
		out_str(o, flag->name);
		left &= ~flag->value;
		bar = "|";
	}
	if (left == 0 && *bar != '\0')
		return;
	out_str(o, bar);
	put_hex(o, left);
}

/* On ARM the pairs of bits that are 14, 15 and 16, 17 elsewhere have changed places. */
static uint32_t
open_flags(uint64_t flags)
{
#if defined(__aarch64__)
	bool other = !pretty_machine_is_arm();
#else
	bool other = pretty_machine_is_arm();
#endif
	uint32_t v = (uint32_t)flags;

	return other ? (v & ~0x3c000u) | (v >> 2 & 0xc000u) | (v << 2 & 0x30000u) : v;
}

static void
put_pointer(struct out *o, uint64_t v)
{
	if (v == 0)
		out_lit(o, "NULL");
	else
		tnf_out_0x(o, v);
}

#define IPV6_TEXT	39	/* 8 times 4 digits, as the kernel prints an address */

/* Prints a text of the kernel's; addresses of IPv6 in their short form. */
static void
put_text(struct out *o, const struct call_text *t)
{
	unsigned char bytes[16];
	char text[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < t->len; i++) {
		if (t->chars[i] == '[' && i + IPV6_TEXT + 1 < t->len && t->chars[i + IPV6_TEXT + 1] == ']') {
			snprintf(text, sizeof(text), "%.*s", IPV6_TEXT, t->chars + i + 1);
			if (inet_pton(AF_INET6, text, bytes) == 1 &&
			    inet_ntop(AF_INET6, bytes, text, sizeof(text)) != NULL) {
				tnf_out_format(o, "[%s", text);
				i += IPV6_TEXT;
				continue;
			}
		}
		print_escaped(o, t->chars + i, 1);
	}
}

static void
put_file(struct out *o, const struct call *c, unsigned i)
{
	tnf_out_i64(o, (int32_t)c->arg[i]);
	if (c->text[i].chars == NULL)
		return;
	out_char(o, '<');
	put_text(o, &c->text[i]);
	out_char(o, '>');
}

static void
put_option(struct out *o, uint64_t level, uint64_t option)
{
	enum call_kind kind = level == SOL_SOCKET ? CALL_SO_SOCKET :
	    level == IPPROTO_TCP ? CALL_SO_TCP : CALL_END;

	put_names(o, kind != CALL_END ? pretty_call_set(kind) :
	    &(struct call_set){ .mask = ~0u }, (uint32_t)option);
}

static void
put_fcntl(struct out *o, uint64_t cmd, uint64_t arg)
{
	if (cmd == F_SETFL)
		put_names(o, pretty_call_set(CALL_OPEN), open_flags(arg));
	else if (cmd == F_SETFD && arg == FD_CLOEXEC)
		out_lit(o, "FD_CLOEXEC");
	else if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC || cmd == F_SETPIPE_SZ || cmd == F_SETFD ||
	    cmd == F_SETOWN)
		tnf_out_i64(o, (int32_t)arg);
	else
		put_hex(o, arg);
}

/* A number that may have 64 bits: a program of 32 gives it in two arguments, the lower half first. */
static int64_t
number_of(const struct call *c, const struct pretty_call *call, unsigned i)
{
	if (c->abi != PRETTY_ABI_32)
		return (int64_t)c->arg[i];
	if (i + 1 < CALL_ARGUMENTS && call->kind[i + 1] == CALL_HIGH)
		return (int64_t)((uint32_t)c->arg[i] | c->arg[i + 1] << 32);
	return (int32_t)c->arg[i];
}

static void
call_put_argument(struct out *o, const struct call *c, const struct pretty_call *call, unsigned i)
{
	enum call_kind kind = call->kind[i];
	const struct call_text *text = &c->text[i];
	uint64_t v = c->arg[i];

	if (kind == CALL_DFD && (int32_t)v == AT_FDCWD)
		out_lit(o, "AT_FDCWD");
	else if (kind == CALL_FD || kind == CALL_DFD)
		put_file(o, c, i);
	else if (kind <= CALL_TEXT && text->chars != NULL)
		print_quoted(o, text->chars, text->len);
	else if (kind <= CALL_RECORDED && text->chars != NULL)
		put_text(o, text);
	else if (kind <= CALL_RECORDED || kind == CALL_PTR)
		put_pointer(o, v);
	else if (kind == CALL_INT || (kind == CALL_PROTOCOL && c->arg[0] != AF_INET && c->arg[0] != AF_INET6))
		tnf_out_i64(o, (int32_t)v);
	else if (kind == CALL_UNSIGNED)
		tnf_out_u64(o, (uint32_t)v);
	else if (kind == CALL_LONG)
		tnf_out_i64(o, number_of(c, call, i));
	else if (kind == CALL_HEX || kind == CALL_HIGH)
		put_hex(o, v);
	else if (kind == CALL_MODE)
		put_mode(o, (unsigned)v);
	else if (kind == CALL_IPC_FLAGS)
		put_permissions(o, pretty_call_set(kind), (uint32_t)v);
	else if (kind == CALL_SOCKOPT)
		put_option(o, c->arg[i - 1], v);
	else if (kind == CALL_FCNTL_ARG)
		put_fcntl(o, c->arg[i - 1], v);
	else
		put_names(o, pretty_call_set(kind), kind == CALL_OPEN ? open_flags(v) : (uint32_t)v);
}

bool
call_put_member(struct out *o, const struct tnf_event *ev, const char *member)
{
	const struct pretty_call *call;
	int i = index_of(member, ARG_PREFIX);
	struct call c;

	if (i < 0 || !call_read(ev, &c) || (call = pretty_call(c.number, c.abi)) == NULL ||
	    call->kind[i] == CALL_END)
		return false;
	call_put_argument(o, &c, call, (unsigned)i);
	return true;
}

/* How many arguments the call has: some depend on others. */
static unsigned
count(const struct call *c, const struct pretty_call *call)
{
	unsigned n = 0;

	while (n < CALL_ARGUMENTS && call->kind[n] != CALL_END) {
		enum call_kind before = n > 0 ? (enum call_kind)call->kind[n - 1] : CALL_END;
		uint64_t v = n > 0 ? c->arg[n - 1] : 0;

		if (before == CALL_OPEN && call->kind[n] == CALL_MODE &&
		    (v & O_CREAT) == 0 && (open_flags(v) & O_TMPFILE) != O_TMPFILE)
			break;
		if (before == CALL_MODE && call->kind[n] == CALL_HEX && !S_ISCHR(v) && !S_ISBLK(v))
			break;
		if (before == CALL_MREMAP && (v & MREMAP_FIXED) == 0)
			break;
		if (before == CALL_FCNTL && (v == F_GETFD || v == F_GETFL || v == F_GETOWN ||
		    v == F_GETPIPE_SZ || v == F_GETSIG || v == F_GETLEASE || v == F_GET_SEALS))
			break;
		n++;
	}
	if (n == CALL_ARGUMENTS && call->kind[1] == CALL_FUTEX) {
		unsigned op = (unsigned)c->arg[1] & FUTEX_CMD_MASK;

		return op == FUTEX_WAKE ? 3 : op == FUTEX_WAIT ? 4 : n;
	}
	return n;
}

/* Prints the call's name and its arguments in parentheses. */
static void
call_put(struct out *o, const struct call *c)
{
	const struct pretty_call *call = pretty_call(c->number, c->abi);
	unsigned n = call != NULL && c->known ? count(c, call) : 0;

	if (call != NULL)
		out_str(o, call->name);
	else
		tnf_out_format(o, "syscall_%llu", (unsigned long long)c->number);
	out_char(o, '(');
	for (unsigned i = 0; i < n; i++) {
		if (call->kind[i] == CALL_HIGH)
			continue;
		if (i > 0)
			out_lit(o, ", ");
		call_put_argument(o, c, call, i);
	}
	/* The table does not know the arguments of some old calls. */
	if (!c->known || call == NULL)
		out_lit(o, "...");
	out_char(o, ')');
}

static bool
returns_pointer(const char *name)
{
	static const char *const names[] = { "mmap", "mmap2", "brk", "mremap", "shmat" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Prints an errno's result, or a value as this call returns it. */
static void
call_put_result(struct out *o, const struct call *c, int64_t value, int64_t error)
{
	const struct pretty_call *call = pretty_call(c->number, c->abi);
	const char *name = pretty_kind_name(PRETTY_ERRNO, error);

	if (error != 0 && name != NULL && strncmp(name, "ERESTART", 8) == 0)
		tnf_out_format(o, "? %s", name);
	else if (error != 0 && name != NULL)
		tnf_out_format(o, "-1 %s (%s)", name, strerror((int)error));
	else if (error != 0)
		tnf_out_format(o, "-1 errno %lld", (long long)error);
	else if (call != NULL && returns_pointer(call->name))
		put_pointer(o, (uint64_t)value);
	else if (call != NULL && strcmp(call->name, "umask") == 0)
		tnf_out_format(o, "%#o", (unsigned)value);
	else
		tnf_out_i64(o, value);
}

/* The key of a thread; it has the file, as containers use the same numbers again. */
struct who {
	const struct tnf_file *file;
	uint64_t tid;
};

struct open_call {
	struct call call;		/* its texts are its own */
	struct tnf_event start;		/* of its probe only what tells the thread */
	bool	 open;
	bool	 kept;			/* by the filters */
	char	*comm;			/* or NULL */
};

struct calls {
	struct map open;		/* by struct who: struct open_call */
};

int
calls_begin(struct dump *d)
{
	struct calls *s = tnf_xcalloc(1, sizeof(*s));

	tnf_map_init(&s->open, sizeof(struct open_call));
	d->state = s;
	out_lit(&d->out, "    Elapsed (ms)   PID  LWPID Program         System call\n");
	return 0;
}

static struct open_call *
open_call_of(struct calls *s, const struct tnf_event *ev)
{
	struct who who;

	memset(&who, 0, sizeof(who));
	who.file = ev->file;
	who.tid = ev->tid;
	return tnf_xmap_put(&s->open, &who, sizeof(who), NULL);
}

static void
forget(struct open_call *c)
{
	for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
		free((char *)c->call.text[i].chars);
	free(c->comm);
	memset(c, 0, sizeof(*c));
}

/* Prints a call; took < 0: it has no end. */
static void
put_call(struct dump *d, const struct open_call *c, int64_t value, int64_t error, int64_t took)
{
	struct out *o = &d->out;
	const char *comm = c->comm != NULL ? c->comm : "-";
	size_t n = strlen(comm);

	tnf_out_ms(o, c->start.time - d->first, 16);
	tnf_out_format(o, " %5d %6u ", c->start.pid, c->start.lwpid);
	print_name(o, comm);
	tnf_out_pad(o, n < 15 ? 16 - (unsigned)n : 1);
	call_put(o, &c->call);
	out_lit(o, " = ");
	if (took < 0) {
		out_lit(o, "?\n");
		return;
	}
	call_put_result(o, &c->call, value, error);
	tnf_out_format(o, " <%lld.%09lld>\n", (long long)(took / 1000000000),
	    (long long)(took % 1000000000));
}

/* The call that the thread was in has no end in the trace. */
static void
leave(struct dump *d, struct open_call *c)
{
	if (c->open && c->kept)
		put_call(d, c, 0, 0, -1);
	forget(c);
}

static void
begin_call(struct dump *d, const struct tnf_event *ev, const struct call *read)
{
	struct open_call *c = open_call_of(d->state, ev);
	const char *comm;
	bool kept = d->keep == KEEP_ALL;

	/* syscall_start and syscall_args of one call come one after the other. */
	if (c->open && (c->call.number != read->number || c->call.known == read->known))
		leave(d, c);
	kept |= c->open && c->kept;
	if (!c->open || read->known) {
		struct tnf_event start = c->open ? c->start : *ev;

		forget(c);
		c->call = *read;
		c->start = start;
		for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
			if (read->text[i].chars != NULL)
				c->call.text[i].chars = tnf_xstrndup(read->text[i].chars,
				    read->text[i].len);
		comm = origin_comm(d, ev);
		c->comm = comm != NULL ? tnf_xstrdup(comm) : NULL;
	}
	c->open = true;
	c->kept = kept;
}

static void
end_call(struct dump *d, const struct tnf_event *ev)
{
	struct open_call *c = open_call_of(d->state, ev);
	int64_t value = 0, error = 0;
	struct tnf_value v;

	if (!c->open)
		return;
	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++) {
		if (strcmp(ev->probe->members[i].name, "rval1") == 0)
			value = v.u.i;
		else if (strcmp(ev->probe->members[i].name, "errno") == 0)
			error = v.u.i;
	}
	if (c->kept)
		put_call(d, c, value, error, ev->time - c->start.time);
	forget(c);
}

int
calls_event(struct dump *d, const struct tnf_event *ev)
{
	struct call call;

	if (call_read(ev, &call))
		begin_call(d, ev, &call);
	else if (ev->kernel && strcmp(ev->probe->name, "syscall_end") == 0)
		end_call(d, ev);
	return 0;
}

static int
compare_starts(const void *a, const void *b)
{
	const struct open_call *const *x = a, *const *y = b;

	return (*x)->start.time < (*y)->start.time ? -1 : (*x)->start.time > (*y)->start.time;
}

int
calls_end(struct dump *d)
{
	struct calls *s = d->state;
	struct open_call **list = tnf_xcalloc(s->open.n + 1, sizeof(struct open_call *)), *c;
	size_t at = 0, n = 0;

	while ((c = tnf_map_next(&s->open, &at, NULL, NULL)) != NULL)
		list[n++] = c;
	qsort(list, n, sizeof(struct open_call *), compare_starts);
	for (size_t i = 0; i < n; i++)
		leave(d, list[i]);
	free(list);
	tnf_map_free(&s->open);
	free(s);
	return 0;
}
