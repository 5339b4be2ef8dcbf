/*
 * usdt-find.c - a probe of a file, for kernel-probes to attach.
 */
#include "common/elf-file.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/proc.h"

#define LINE_MAX_HERE	1024
#define LINES_MAX	4096	/* of one file */
#define ETC_DIR		"/etc/tnf/providers.d"

static const char *const type_names[] = {
	[USDT_NUMBER] = "", [USDT_STRING] = ":string", [USDT_CHARS] = ":chars",
	[USDT_ADDRESS] = ":address",
};

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Reads "o->next->id", whose name is o_next_id.  Words one after the other that begin with the same
   variable are about one argument. */
static bool
read_path(const char *s, size_t n, struct usdt_args_named *ret)
{
	char *name = ret->name[ret->n];
	size_t at = 0, k, head = strspn(s, NAME_CHARS);
	const char *before = ret->n > 0 ? ret->path[ret->n - 1] : "";

	if (n >= USDT_PATH_MAX || strncmp(s + head, "->", 2) != 0)
		return false;
	for (size_t i = 0; i < n; i += k) {
		k = strspn(s + i, NAME_CHARS);
		if (k == 0 || at + k + 1 >= USDT_ARG_MAX)
			return false;
		at += (size_t)sprintf(name + at, "%s%.*s", at > 0 ? "_" : "", (int)k, s + i);
		i += k;
		k = i == n ? 0 : strncmp(s + i, "->", 2) == 0 ? 2 : s[i] == '.' ? 1 : n;
		if (k == n || (k != 0 && i + k >= n))
			return false;
	}
	memcpy(ret->path[ret->n], s, n);
	ret->path[ret->n][n] = '\0';
	if (strncmp(before, s, head) == 0 && before[head] == '-')
		ret->argument[ret->n] = ret->argument[ret->n - 1];
	return true;
}

/* "name" or "name:type", or a way to a member in place of the name */
static bool
read_arg(const char *s, size_t n, struct usdt_args_named *ret)
{
	const char *colon = memchr(s, ':', n);
	size_t head = colon != NULL ? (size_t)(colon - s) : n;

	if (ret->n == KP_OPERANDS_MAX || head == 0)
		return false;
	ret->argument[ret->n] = ret->n > 0 ? (uint8_t)(ret->argument[ret->n - 1] + 1) : 0;
	if (strspn(s, NAME_CHARS) >= head && head < USDT_ARG_MAX) {
		memcpy(ret->name[ret->n], s, head);
		ret->name[ret->n][head] = '\0';
		ret->path[ret->n][0] = '\0';
	} else if (!read_path(s, head, ret))
		return false;
	for (size_t t = 0; t < sizeof type_names / sizeof *type_names; t++)
		if (strlen(type_names[t]) == n - head &&
		    memcmp(type_names[t], s + head, n - head) == 0) {
			ret->type[ret->n++] = (enum usdt_type)t;
			return true;
		}
	return false;
}

bool
tnfctl_usdt_args_read(const char *s, struct usdt_args_named *ret)
{
	size_t n = 0;

	memset(ret, 0, sizeof *ret);
	for (;;) {
		s += n;
		s += strspn(s, " ,\t\r\n");
		n = strcspn(s, " ,\t\r\n");
		if (n == 0)
			return true;
		if (!read_arg(s, n, ret))
			return false;
	}
}

/* Reads a line of such a file: 1 a probe, with its name, 0 nothing, -1 a mistake. */
static int
usdt_catalogue_line(const char *line, char *probe, size_t size,
    struct usdt_args_named *ret)
{
	const char *s = line + strspn(line, " \t\r\n");
	size_t n = strcspn(s, " \t\r\n");

	ret->n = 0;
	if (*s == '#' || *s == '\0')
		return 0;
	if (n >= size)
		return -1;
	memcpy(probe, s, n);
	probe[n] = '\0';
	return tnfctl_usdt_args_read(s + n, ret) ? 1 : -1;
}

static FILE *
open_provider(const char *provider)
{
	const char *const dirs[] = { secure_getenv("TNF_PROVIDERS"), ETC_DIR,
	    TNF_PROVIDER_DIR };
	char path[4096];
	FILE *f = NULL;

	for (size_t i = 0; f == NULL && i < sizeof dirs / sizeof *dirs; i++)
		if (dirs[i] != NULL && (size_t)snprintf(path, sizeof path, "%s/%s",
		    dirs[i], provider) < sizeof path)
			f = fopen(path, "re");
	return f;
}

/* The file that was asked for last is kept: one after the other is the rule. */
struct catalogue_row {
	char	probe[USDT_NAME_MAX];
	struct usdt_args_named args;
};

static struct {
	pthread_mutex_t lock;
	char	provider[USDT_NAME_MAX];
	struct catalogue_row *v;
	size_t	n;
} catalogue = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
read_provider(FILE *f)
{
	char line[LINE_MAX_HERE];
	struct catalogue_row k, *v;

	while (catalogue.n < LINES_MAX && fgets(line, sizeof line, f) != NULL) {
		if (usdt_catalogue_line(line, k.probe, sizeof k.probe, &k.args) != 1)
			continue;
		if ((v = tnf_grow(catalogue.v, catalogue.n, sizeof *v)) == NULL)
			return;
		catalogue.v = v;
		v[catalogue.n++] = k;
	}
}

static void
load_provider(const char *provider)
{
	FILE *f;

	if (strcmp(catalogue.provider, provider) == 0)
		return;
	catalogue.n = 0;
	free(catalogue.v);
	catalogue.v = NULL;
	snprintf(catalogue.provider, sizeof catalogue.provider, "%s", provider);
	/* The name comes from a file that anybody may have made. */
	if (strchr(provider, '/') != NULL || provider[0] == '.' ||
	    (f = open_provider(provider)) == NULL)
		return;
	read_provider(f);
	fclose(f);
}

void
tnfctl_usdt_catalogue_find(const char *provider, const char *probe,
    struct usdt_args_named *ret)
{
	memset(ret, 0, sizeof *ret);
	if (strlen(provider) >= USDT_NAME_MAX)
		return;
	pthread_mutex_lock(&catalogue.lock);
	load_provider(provider);
	for (size_t i = 0; i < catalogue.n; i++)
		if (strcmp(catalogue.v[i].probe, probe) == 0)
			*ret = catalogue.v[i].args;
	pthread_mutex_unlock(&catalogue.lock);
}

/* Many probes of one file are asked for one after the other. */
static _Thread_local struct {
	struct stat st;
	bool	valid;
	struct usdt_object o;
} latest;

bool
tnfctl_file_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

const struct usdt_object *
tnfctl_usdt_probes_of(int fd)
{
	autoelf struct elffile *e = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (latest.valid && tnfctl_file_same(&st, &latest.st))
		return &latest.o;
	tnfctl_usdt_object_free(&latest.o);
	latest.valid = false;
	if ((e = tnf_elffile_open(fd)) == NULL)
		return NULL;
	latest.valid = tnfctl_usdt_object_read(e, &latest.o);
	latest.st = st;
	return latest.valid ? &latest.o : NULL;
}

const char *
tnfctl_named_type(const struct usdt_args_named *named, unsigned i, const char *number)
{
	return i >= named->n || named->type[i] == USDT_NUMBER ? number :
	    named->type[i] == USDT_ADDRESS ? "tnf_opaque" : "tnf_string";
}

void
tnfctl_usdt_describe(const struct usdt_probe *p, const struct usdt_args_named *named,
    struct kp_uprobe_found *ret)
{
	int n;

	ret->members = p->nargs;
	for (unsigned i = 0; i < p->nargs; i++) {
		ret->member[i].type = tnfctl_number_type(p->size[i], p->sign[i]);
		if (p->size[i] == sizeof(uintptr_t))
			ret->member[i].type = tnfctl_named_type(named, i, ret->member[i].type);
		if (i < named->n)
			snprintf(ret->member[i].name, sizeof ret->member[i].name, "%s",
			    named->name[i]);
		else
			snprintf(ret->member[i].name, sizeof ret->member[i].name,
			    "arg%u", i + 1);
	}
	n = snprintf(ret->attrs, sizeof ret->attrs, "sites %zu;%s", p->nsites,
	    p->nsites > 0 && p->sites[0].ref_ctr != 0 ? "semaphore yes;" : "");
	if (p->why[0] != '\0')
		snprintf(ret->attrs + n, sizeof ret->attrs - n, "unread %s;", p->why);
}

int
tnfctl_named_text(const struct usdt_args_named *named, unsigned i, unsigned n)
{
	if (i >= named->n || (named->type[i] != USDT_STRING && named->type[i] != USDT_CHARS))
		return KP_TEXT_NONE;
	return named->type[i] == USDT_CHARS && i + 1 < n ? KP_TEXT_COUNTED : KP_TEXT_STRING;
}

bool
tnfctl_usdt_symbol(const struct usdt_probe *p, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s:%s", p->provider, p->name);

	return n > 0 && (size_t)n < size;
}

static const struct usdt_probe *
find_probe(const struct usdt_object *o, const char *symbol)
{
	size_t n = strcspn(symbol, " ");
	char name[KP_SYMBOL_MAX];

	for (size_t i = 0; i < o->n; i++)
		if (tnfctl_usdt_symbol(&o->v[i], name, sizeof name) && strlen(name) == n &&
		    memcmp(name, symbol, n) == 0)
			return &o->v[i];
	return NULL;
}

int
tnfctl_find_refuse(struct kp_uprobe_found *ret, int e, const char *why)
{
	snprintf(ret->why, sizeof ret->why, "%s", why);
	return -e;
}

static bool
has_paths(const struct usdt_args_named *named)
{
	for (unsigned i = 0; i < named->n; i++)
		if (named->path[i][0] != '\0')
			return true;
	return false;
}

/* Describes arguments of which some lead on to members: one operand for each name. */
static int
describe_paths(int fd, const struct kp_uprobe_spec *spec, const struct usdt_probe *p,
    const struct usdt_args_named *named, struct kp_uprobe_found *ret)
{
	ret->members = 0;
	while (ret->members < named->n && named->argument[ret->members] < p->nargs)
		ret->members++;
	for (unsigned i = 0; i < ret->members; i++) {
		unsigned a = named->argument[i];

		ret->member[i].type = tnfctl_number_type(p->size[a], p->sign[a]);
		if (p->size[a] == sizeof(uintptr_t))
			ret->member[i].type = tnfctl_named_type(named, i, ret->member[i].type);
		if (named->path[i][0] != '\0')
			ret->member[i].type = NULL;
		memcpy(ret->member[i].name, named->name[i], sizeof ret->member[i].name);
		for (unsigned k = 0; k < ret->sites; k++) {
			struct kp_site *site = &ret->site[k];

			site->n = ret->members;
			site->v[i] = p->sites[k].v[a];
			if (p->size[a] == sizeof(uintptr_t))
				site->v[i].text = tnfctl_named_text(named, i, ret->members);
			if (named->path[i][0] != '\0' && !tnfctl_member_place(fd, spec,
			    p->sites[k].address, named, i, site, ret))
				return -EINVAL;
		}
	}
	tnfctl_member_unread(named, ret);
	return 0;
}

static int
find_in(int fd, const struct kp_uprobe_spec *spec, bool kernel, struct kp_uprobe_found *ret)
{
	const char *args = strchr(spec->symbol, ' ');
	const struct usdt_object *o = tnfctl_usdt_probes_of(fd);
	struct usdt_args_named named;
	const struct usdt_probe *p;
	int r;

	if (o == NULL || (p = find_probe(o, spec->symbol)) == NULL)
		return tnfctl_find_refuse(ret, ENOENT, "the file has no such probe any more");
	if (kernel && p->refused != NULL)
		return tnfctl_find_refuse(ret, ENOTSUP, p->refused);
	if (args == NULL)
		tnfctl_usdt_catalogue_find(p->provider, p->name, &named);
	else if (!tnfctl_usdt_args_read(args, &named))
		return tnfctl_find_refuse(ret, EINVAL, USDT_ARGS_WRONG);
	tnfctl_usdt_describe(p, &named, ret);
	ret->site = calloc(p->nsites, sizeof *ret->site);
	if (ret->site == NULL)
		return tnfctl_find_refuse(ret, ENOMEM, "not enough memory");
	ret->sites = (unsigned)p->nsites;
	for (size_t i = 0; i < p->nsites; i++) {
		ret->site[i].offset = p->sites[i].offset;
		ret->site[i].ref_ctr = p->sites[i].ref_ctr;
		ret->site[i].n = p->sites[i].n;
		memcpy(ret->site[i].v, p->sites[i].v, sizeof ret->site[i].v);
		for (unsigned v = 0; v < ret->site[i].n; v++)
			if (p->size[v] == sizeof(uintptr_t))
				ret->site[i].v[v].text = tnfctl_named_text(&named, v,
				    ret->site[i].n);
	}
	if (!has_paths(&named))
		return 0;
	r = describe_paths(fd, spec, p, &named, ret);
	if (r != 0) {
		free(ret->site);
		ret->site = NULL;
	}
	return r;
}

int
tnfctl_usdt_find(const struct kp_uprobe_spec *spec, bool kernel, struct kp_uprobe_found *ret)
{
	autoclose int fd = tnfctl_file_open(spec->path);

	if (fd < 0)
		return tnfctl_find_refuse(ret, errno, errno == ENOENT ?
		    "the file is not there any more" : strerror(errno));
	return find_in(fd, spec, kernel, ret);
}
