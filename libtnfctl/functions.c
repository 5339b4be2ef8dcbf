/*
 * functions.c - functions of programs and libraries as probes.
 */
#include <regex.h>

#include "common/elf-file.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/proc.h"

#define NAME_MAX_HERE	100u	/* with what we append it is a probe's name */

struct choice {
	regex_t	regex;
	bool	is_regex;
	const char *name;
	bool	(*fn)(void *, const char *, uint64_t);
	void	*arg;
	long	n, max;
	struct map seen;	/* names: .symtab has the functions of .dynsym again */
};

/* Names become words of attribute strings; "name@@VERSION" is the name. */
static bool
name_is_fit(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.$");

	return n > 0 && n <= NAME_MAX_HERE && s[n] == '\0';
}

static bool
functions_choose_one(void *arg, const char *name, uint64_t address)
{
	struct choice *c = arg;
	bool fresh = true;

	if (!name_is_fit(name) || (c->is_regex ? regexec(&c->regex, name, 0, NULL, 0) != 0 :
	    strcmp(name, c->name) != 0))
		return true;
	if (tnf_map_put(&c->seen, name, strlen(name), &fresh) == NULL || !fresh)
		return true;
	return c->n++ >= c->max || c->fn(c->arg, name, address);
}

static bool
pattern_read(struct choice *c, const char *pattern)
{
	size_t n = strlen(pattern);
	char *text;
	int r;

	c->is_regex = n > 2 && pattern[0] == '/' && pattern[n - 1] == '/';
	c->name = pattern;
	if (!c->is_regex)
		return n > 0;
	if ((text = strndup(pattern + 1, n - 2)) == NULL)
		return false;
	r = regcomp(&c->regex, text, REG_NOSUB);
	free(text);
	return r == 0;
}

long
tnfctl_functions_choose(int fd, const char *pattern, long max,
    bool (*fn)(void *, const char *, uint64_t), void *arg)
{
	struct choice c = { .fn = fn, .arg = arg, .max = max };
	autoelf struct elffile *e = tnf_elffile_open(fd);
	long n = -1;

	if (e == NULL)
		return -1;
	tnf_map_init(&c.seen, 0);
	if (pattern_read(&c, pattern)) {
		tnf_elffile_functions(e, functions_choose_one, &c);
		n = c.n;
		if (c.is_regex)
			regfree(&c.regex);
	}
	tnf_map_free(&c.seen);
	return n;
}

static bool
set_true(void *arg, uint64_t address, uint64_t size)
{
	*(bool *)arg = true;
	return false;
}

/*
 * The kernel replaces the return address while a function runs.  Go moves stacks,
 * and finds its way by return addresses; so do exceptions of C++ and panics of Rust, which
 * may pass through any function of a file that has to do with them.
 */
uint32_t
tnfctl_functions_returns(int fd)
{
	autoelf struct elffile *e = tnf_elffile_open(fd);
	bool is_go = false, unwinds = false;
	char library[64];

	if (e == NULL)
		return 0;
	tnf_elffile_sections(e, ".gopclntab", set_true, &is_go);
	tnf_elffile_sections(e, ".gcc_except_table", set_true, &unwinds);
	unwinds = unwinds || tnf_elffile_imports(e, "__cxa_throw") ||
	    tnf_elffile_imports(e, "_Unwind_") ||
	    tnf_elffile_needed(e, "libstdc++.", library, sizeof library) ||
	    tnf_elffile_needed(e, "libc++", library, sizeof library);
	return is_go ? KP_UPROBE_NO_RETURN : unwinds ? KP_UPROBE_UNWOUND : 0;
}

const char *
tnfctl_functions_refused(int fd, const char *path, bool at_return)
{
	const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;

	if (strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld-", 3) == 0 ||
	    strncmp(base, "ld.so", 5) == 0)
		return "the dynamic linker is at work before a process can be probed";
	if (strncmp(base, "libtnfprobe.so", 14) == 0)
		return "libtnfprobe itself records events";
	if (at_return && tnfctl_functions_returns(fd) == KP_UPROBE_NO_RETURN)
		return "a Go program moves its stacks, with the addresses to return to";
	return NULL;
}

/* A function without debugging information has numbers in its registers. */
static void
describe_words(struct kp_uprobe_found *ret, bool at_return)
{
	ret->members = at_return ? 1 : ARCH_ARGUMENTS;
	ret->site[0].n = ret->members;
	for (unsigned i = 0; i < ret->members; i++) {
		ret->member[i].type = "tnf_uint64";
		if (at_return)
			strcpy(ret->member[i].name, "value");
		else
			snprintf(ret->member[i].name, sizeof ret->member[i].name,
			    "arg%u", i + 1);
		ret->site[0].v[i] = (struct kp_operand){ .kind = KP_OPERAND_VALUE,
		    .size = 8, .base = at_return ? ARCH_RESULT : arch_argument[i],
		    .index = KP_R_NONE, .scale = 1 };
	}
}

static void
describe_value(struct kp_uprobe_found *ret, unsigned i, const struct function_value *v,
    bool at_return)
{
	struct kp_operand *o = &ret->site[0].v[i];

	ret->member[i].type = v->type;
	_Static_assert(sizeof ret->member[i].name == sizeof v->name, "one name, one size");
	memcpy(ret->member[i].name, v->name, sizeof v->name);
	if (v->type == NULL) {
		*o = (struct kp_operand){ .kind = KP_OPERAND_UNREADABLE, .size = 8, .scale = 1,
		    .base = KP_R_NONE, .index = KP_R_NONE };
		return;
	}
	*o = (struct kp_operand){ .kind = KP_OPERAND_VALUE, .size = v->size,
	    .sign = v->sign, .index = KP_R_NONE, .scale = 1,
	    .text = v->is_text ? KP_TEXT_STRING : KP_TEXT_NONE };
	if (at_return)
		o->base = ARCH_RESULT;
	else if (v->number >= 0)
		o->base = arch_argument[v->number];
	else {
		o->kind = KP_OPERAND_MEMORY;
		o->base = KP_R_SP;
		o->offset = v->at;
	}
}

/* Describes words with the names that the caller gives; a text is where a word points to. */
static int
describe_named(struct kp_uprobe_found *ret, int fd, const struct kp_uprobe_spec *spec,
    uint64_t address, const struct usdt_args_named *named, bool at_return)
{
	struct kp_site words;
	unsigned n = 0;

	describe_words(ret, at_return);
	words = ret->site[0];
	while (n < named->n && named->argument[n] < words.n)
		n++;
	ret->members = ret->site[0].n = n;
	for (unsigned i = 0; i < n; i++) {
		memcpy(ret->member[i].name, named->name[i], sizeof ret->member[i].name);
		ret->site[0].v[i] = words.v[named->argument[i]];
		ret->member[i].type = tnfctl_named_type(named, i, "tnf_uint64");
		ret->site[0].v[i].text = tnfctl_named_text(named, i, n);
		if (named->path[i][0] != '\0' &&
		    !tnfctl_member_place(fd, spec, address, named, i, ret->site, ret))
			return -EINVAL;
	}
	tnfctl_member_unread(named, ret);
	return 0;
}

static void
functions_describe(struct kp_uprobe_found *ret, int fd, const struct kp_uprobe_spec *spec,
    uint64_t address, bool at_return)
{
	struct function_value v[KP_OPERANDS_MAX];
	int n = -1, at = 0;

	/* The compiler's variants ("name.isra.0") have other parameters than the source says. */
	if (strchr(spec->symbol, '.') == NULL)
		n = at_return ? tnfctl_function_result(fd, spec->shown, address, v) :
		    tnfctl_function_parameters(fd, spec->shown, address, v, KP_OPERANDS_MAX);
	if (n < 0) {
		describe_words(ret, at_return);
		return;
	}
	ret->members = ret->site[0].n = (unsigned)n;
	for (int i = 0; i < n; i++) {
		describe_value(ret, (unsigned)i, &v[i], at_return);
		if (v[i].type == NULL && (size_t)at < sizeof ret->attrs - 1)
			at += snprintf(ret->attrs + at, sizeof ret->attrs - (size_t)at, "%s%s",
			    at == 0 ? "unread " : " ", v[i].name);
	}
	/* Too many names end the list, not the attribute. */
	if (at != 0)
		memcpy(ret->attrs + ((size_t)at < sizeof ret->attrs - 1 ? (size_t)at :
		    sizeof ret->attrs - 2), ";", 2);
}

/* The functions of the file that was asked for last, by name: callers mostly ask for many of one
   file. */
struct place {
	uint64_t address, offset;
};

static _Thread_local struct {
	struct stat st;
	struct map places;
} latest;

void
tnfctl_functions_forget(void)
{
	tnf_map_free(&latest.places);
	latest.st = (struct stat){ .st_ino = 0 };
	tnfctl_function_types_forget();
}

static bool
note_place(void *arg, const char *name, uint64_t address)
{
	struct place *p, place = { .address = address };
	bool fresh;

	if (tnf_elffile_offset(arg, address, &place.offset) &&
	    (p = tnf_map_put(&latest.places, name, strlen(name), &fresh)) != NULL && fresh)
		*p = place;
	return true;
}

static const struct place *
find_place(int fd, const char *name)
{
	struct elffile *e;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if (!tnfctl_file_same(&st, &latest.st)) {
		tnfctl_functions_forget();
		if ((e = tnf_elffile_open(fd)) == NULL)
			return NULL;
		tnf_map_init(&latest.places, sizeof(struct place));
		tnf_elffile_functions(e, note_place, e);
		tnf_elffile_close(e);
		latest.st = st;
	}
	return tnf_map_get(&latest.places, name, strlen(name));
}

int
tnfctl_functions_find(const struct kp_uprobe_spec *spec, struct kp_uprobe_found *ret)
{
	bool at_return = spec->flags & KP_UPROBE_RETURN;
	const char *args = strchr(spec->symbol, ' ');
	struct usdt_args_named named;
	struct kp_uprobe_spec plain = *spec;
	autoclose int fd = -1;
	const struct place *place;
	const char *why;
	int r = 0;

	plain.symbol[strcspn(plain.symbol, " ")] = '\0';
	if (args != NULL && !tnfctl_usdt_args_read(args, &named))
		return tnfctl_find_refuse(ret, EINVAL, USDT_ARGS_WRONG);
	if ((fd = tnfctl_file_open(spec->path)) < 0)
		return tnfctl_find_refuse(ret, errno, "the file is not there any more");
	if ((why = tnfctl_functions_refused(fd, spec->shown, at_return)) != NULL)
		return tnfctl_find_refuse(ret, ENOTSUP, why);
	if ((place = find_place(fd, plain.symbol)) == NULL ||
	    (ret->site = calloc(1, sizeof *ret->site)) == NULL)
		return tnfctl_find_refuse(ret, ENOENT, "the file has no such function any more");
	ret->site[0].offset = place->offset;
	ret->sites = 1;
	if (args != NULL)
		r = describe_named(ret, fd, spec, place->address, &named, at_return);
	else
		functions_describe(ret, fd, &plain, place->address, at_return);
	if (r != 0) {
		free(ret->site);
		ret->site = NULL;
	}
	return r;
}
