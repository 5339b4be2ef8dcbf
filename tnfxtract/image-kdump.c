/*
 * image-kdump.c - compressed dumps, as makedumpfile and QEMU write them.
 *
 * libkdumpfile reads them.  It is loaded only when such a dump is opened, in a separate
 * process (image-apart.c).  kdump_free() of 0.5.1 reads memory that was never set, so
 * nothing is freed until the process ends.
 */
#include <errno.h>

#include "tnfxtract/image.h"

#ifdef HAVE_KDUMPFILE

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#include "common/map.h"


#define LIBRARY		"libkdumpfile.so.10"
#define PARTS_MAX	(1u << 22)
#define BLOCK_AT	428		/* struct disk_dump_header: block_size */

#define FUNCTIONS(X)							\
	X(kdump_new) X(kdump_set_attr) X(kdump_get_typed_attr) \
	X(kdump_read) X(kdump_bmp_find_set) X(kdump_bmp_find_clear)	\
	X(kdump_vmcoreinfo_raw)

struct image_kdump {
	void	*library;
	kdump_ctx_t *ctx;
	uint64_t page;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
};

static int
load_library(struct image_kdump *k)
{
	k->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (k->library == NULL)
		return ELIBACC;
#define X(name) \
	if ((k->name = (__typeof__(k->name))dlsym(k->library, #name)) == NULL) \
		return ELIBACC;
	FUNCTIONS(X)
#undef X
	return 0;
}

static int
kdump_error(kdump_status status)
{
	switch (status) {
	case KDUMP_OK:
		return 0;
	case KDUMP_ERR_SYSTEM:
		return errno != 0 ? errno : EIO;
	case KDUMP_ERR_NOTIMPL:
		return ENOEXEC;
	default:
		return EINVAL;
	}
}

static kdump_status
get_number(struct image_kdump *k, const char *name, uint64_t *ret)
{
	kdump_attr_t a = { .type = KDUMP_NUMBER };
	kdump_status s = k->kdump_get_typed_attr(k->ctx, name, &a);

	if (s == KDUMP_OK)
		*ret = a.val.number;
	return s;
}

/* Adds the parts; adjacent pages are one part. */
static int
add_parts(struct image *im, kdump_bmp_t *map)
{
	struct image_kdump *k = im->kdump;
	kdump_addr_t first = 0, end;
	struct image_part *grown;

	while (k->kdump_bmp_find_set(map, &first) == KDUMP_OK) {
		end = first;
		if (k->kdump_bmp_find_clear(map, &end) != KDUMP_OK || end <= first ||
		    end > INT64_MAX / k->page || im->n_parts == PARTS_MAX)
			return EINVAL;
		if ((grown = tnf_grow(im->part, im->n_parts, sizeof *grown)) == NULL)
			return ENOMEM;
		im->part = grown;
		im->part[im->n_parts++] = (struct image_part){ first * k->page,
			(end - first) * k->page, first * k->page };
		first = end;
	}
	return 0;
}

static int
find_parts(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t a = { .type = KDUMP_BITMAP };
	kdump_status s = k->kdump_get_typed_attr(k->ctx, KDUMP_ATTR_FILE_PAGEMAP, &a);

	/* The bitmap stays the library's. */
	return s != KDUMP_OK ? kdump_error(s) : add_parts(im, a.val.bitmap);
}

static void
find_facts(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t a = { .type = KDUMP_STRING };
	kdump_attr_t os = { .type = KDUMP_STRING, .val.string = "linux" };
	char *text;

	/* The notes need the type of the system; its other results are not needed. */
	k->kdump_set_attr(k->ctx, KDUMP_ATTR_OSTYPE, &os);
	if (k->kdump_vmcoreinfo_raw(k->ctx, &text) == KDUMP_OK) {
		image_note(im, text, strlen(text));
		free(text);
	}
	if (im->release[0] == '\0' &&
	    k->kdump_get_typed_attr(k->ctx, "linux.uts.release", &a) == KDUMP_OK)
		image_text(im->release, sizeof im->release, a.val.string,
		    strlen(a.val.string));
	if (k->kdump_get_typed_attr(k->ctx, "linux.uts.machine", &a) == KDUMP_OK &&
	    im->arch == NULL)
		im->arch = image_arch_by_name(a.val.string);
	if (k->kdump_get_typed_attr(k->ctx, "linux.uts.nodename", &a) == KDUMP_OK)
		image_text(im->host, sizeof im->host, a.val.string,
		    strlen(a.val.string));
}

/* Sets the page size from the dump's header: the library would take the kernel's from the
   notes.  QEMU's dump of arm64 has pages of 64 KiB, whatever the kernel's are, and the
   library would then write beyond its memory. */
static kdump_status
keep_page(struct image *im)
{
	struct image_kdump *k = im->kdump;
	kdump_attr_t page = { .type = KDUMP_NUMBER };
	char head[8] = "";
	uint32_t block = 0;

	if (pread(im->fd, head, sizeof head, 0) != sizeof head ||
	    memcmp(head, "KDUMP   ", sizeof head) != 0 ||
	    pread(im->fd, &block, sizeof block, BLOCK_AT) != sizeof block ||
	    block < 4096 || block > 1 << 20)
		return KDUMP_OK;
	k->page = page.val.number = block;
	return k->kdump_set_attr(k->ctx, KDUMP_ATTR_PAGE_SIZE, &page);
}

int
image_kdump_open(struct image *im)
{
	kdump_attr_t fd = { .type = KDUMP_NUMBER, .val.number = (kdump_num_t)im->fd };
	kdump_attr_t no_mmap = { .type = KDUMP_NUMBER, .val.number = KDUMP_MMAP_NEVER };
	struct image_kdump *k = im->kdump = calloc(1, sizeof *im->kdump);
	int e;

	if (k == NULL)
		return ENOMEM;
	if ((e = load_library(k)) != 0)
		return e;
	if ((k->ctx = k->kdump_new()) == NULL)
		return ENOMEM;
	/* Without mmap: a mapped dump that is cut short would cause a SIGBUS. */
	k->kdump_set_attr(k->ctx, KDUMP_ATTR_FILE_MMAP_POLICY, &no_mmap);
	errno = 0;
	kdump_status s = k->kdump_set_attr(k->ctx, KDUMP_ATTR_FILE_FD, &fd);
	if (s == KDUMP_OK)
		s = get_number(k, KDUMP_ATTR_PAGE_SIZE, &k->page);
	if (s != KDUMP_OK)
		return kdump_error(s);
	find_facts(im);
	if ((s = keep_page(im)) != KDUMP_OK)
		return kdump_error(s);
	if (k->page < 4096 || (k->page & (k->page - 1)) != 0)
		return EINVAL;
	return find_parts(im);
}

ssize_t
image_kdump_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	struct image_kdump *k = im->kdump;
	size_t got = n;

	/* 'got' is the part read before a page that is missing. */
	kdump_status s = k->kdump_read(k->ctx, KDUMP_MACHPHYSADDR, offset, buf, &got);
	if (s != KDUMP_OK && got == 0) {
		errno = s == KDUMP_ERR_NODATA ? EIO : EBADMSG;
		return -1;
	}
	return (ssize_t)got;
}

uint64_t
image_kdump_page(const struct image *im)
{
	return im->kdump->page;
}

#else

int
image_kdump_open(struct image *im)
{
	return ENOEXEC;
}

ssize_t
image_kdump_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	errno = ENOSYS;
	return -1;
}

uint64_t
image_kdump_page(const struct image *im)
{
	return 1;
}

#endif
