/*
 * call-args.c - arguments and results of system calls, by the kinds of common/call-kinds.h.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tnfdump/text/pretty.h"

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

bool
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
		tnf_out_i64(o, c->abi == PRETTY_ABI_NATIVE ? (int64_t)v : (int32_t)v);
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

void
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
		if (call->kind[i] == CALL_HIGH && c->abi == PRETTY_ABI_NATIVE)
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

void
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
