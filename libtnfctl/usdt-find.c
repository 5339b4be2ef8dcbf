/*
 * usdt-find.c - a probe of a file, for kernel-probes to attach.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "libtnfctl/function-types.h"
#include "libtnfctl/objects.h"
#include "libtnfctl/usdt-catalogue.h"
#include "libtnfctl/usdt-find.h"

/* Many probes of one file are asked for one after the other. */
static _Thread_local struct {
	struct stat st;
	bool	valid;
	struct usdt_object o;
} latest;

static bool
is_latest(const struct stat *st)
{
	return latest.valid && st->st_dev == latest.st.st_dev &&
	    st->st_ino == latest.st.st_ino && st->st_size == latest.st.st_size &&
	    st->st_mtim.tv_sec == latest.st.st_mtim.tv_sec &&
	    st->st_mtim.tv_nsec == latest.st.st_mtim.tv_nsec;
}

const struct usdt_object *
tnfctl_usdt_probes_of(int fd)
{
	struct stat st;
	struct elffile *e;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (is_latest(&st))
		return &latest.o;
	tnfctl_usdt_object_free(&latest.o);
	latest.valid = false;
	if ((e = tnf_elffile_open(fd)) == NULL)
		return NULL;
	latest.valid = tnfctl_usdt_object_read(e, &latest.o);
	latest.st = st;
	tnf_elffile_close(e);
	return latest.valid ? &latest.o : NULL;
}

static const char *
arg_type(const struct usdt_probe *p, const struct usdt_args_named *named, unsigned i)
{
	bool pointer = p->size[i] == sizeof(uintptr_t);

	if (i < named->n && pointer && named->type[i] == USDT_ADDRESS)
		return "tnf_opaque";
	if (i < named->n && pointer && named->type[i] != USDT_NUMBER)
		return "tnf_string";
	return tnfctl_number_type(p->size[i], p->sign[i]);
}

void
tnfctl_usdt_describe(const struct usdt_probe *p, const struct usdt_args_named *named,
    struct kp_uprobe_found *ret)
{
	int n;

	ret->members = p->nargs;
	for (unsigned i = 0; i < p->nargs; i++) {
		ret->member[i].type = arg_type(p, named, i);
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

/* Which operands are text; that of a counted one has its length behind it. */
static void
mark_text(const struct usdt_probe *p, const struct usdt_args_named *named, struct kp_site *site)
{
	for (unsigned i = 0; i < site->n && i < named->n; i++) {
		if (p->size[i] != sizeof(uintptr_t))
			continue;
		if (named->type[i] == USDT_STRING)
			site->v[i].text = KP_TEXT_STRING;
		if (named->type[i] == USDT_CHARS)
			site->v[i].text = i + 1 < site->n ? KP_TEXT_COUNTED :
			    KP_TEXT_STRING;
	}
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

static int
found_none(struct kp_uprobe_found *ret, int e, const char *why)
{
	snprintf(ret->why, sizeof ret->why, "%s", why);
	return -e;
}

int
tnfctl_usdt_find(const struct kp_uprobe_spec *spec, struct kp_uprobe_found *ret)
{
	const char *args = strchr(spec->symbol, ' ');
	int fd = tnfctl_file_open(spec->path);
	const struct usdt_object *o;
	struct usdt_args_named named;
	const struct usdt_probe *p;

	if (fd < 0)
		return found_none(ret, errno, errno == ENOENT ?
		    "the file is not there any more" : strerror(errno));
	o = tnfctl_usdt_probes_of(fd);
	close(fd);
	if (o == NULL || (p = find_probe(o, spec->symbol)) == NULL)
		return found_none(ret, ENOENT, "the file has no such probe any more");
	if (p->refused != NULL)
		return found_none(ret, ENOTSUP, p->refused);
	if (args == NULL)
		tnfctl_usdt_catalogue_find(p->provider, p->name, &named);
	else if (!tnfctl_usdt_args_read(args, &named))
		return found_none(ret, EINVAL, USDT_ARGS_WRONG);
	tnfctl_usdt_describe(p, &named, ret);
	ret->site = calloc(p->nsites, sizeof *ret->site);
	if (ret->site == NULL)
		return found_none(ret, ENOMEM, "not enough memory");
	ret->sites = (unsigned)p->nsites;
	for (size_t i = 0; i < p->nsites; i++) {
		ret->site[i].offset = p->sites[i].offset;
		ret->site[i].ref_ctr = p->sites[i].ref_ctr;
		ret->site[i].n = p->sites[i].n;
		memcpy(ret->site[i].v, p->sites[i].v, sizeof ret->site[i].v);
		mark_text(p, &named, &ret->site[i]);
	}
	return 0;
}
