/*
 * image.c - opens memory images and finds the parts of a file that are memory.
 */
#include <elf.h>
#include <endian.h>
#include <stdio.h>

#include "tnfxtract/image.h"

#define NOTES_MAX	(1u << 20)
#define INFO_MAX	(1u << 16)	/* the kernel's own limit is a page */
#define NO_ADDRESS	UINT64_MAX	/* /proc/kcore: virtual mappings only */

static int
read_at(int fd, void *buf, size_t n, uint64_t offset)
{
	ssize_t got = pread(fd, buf, n, (off_t)offset);

	if (got < 0)
		return errno;
	return (size_t)got == n ? 0 : EINVAL;
}

/* The kernel leaves "KEY=value" lines in a note called VMCOREINFO. */
static const char *
note_value(const char *notes, size_t n, const char *key)
{
	const char *p = memmem(notes, n, key, strlen(key));

	return p == NULL ? NULL : p + strlen(key);
}

void
image_text(char *to, size_t size, const char *from, size_t n)
{
	if (n > size - 1)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)from[i] < ' ' ? '?' : from[i];
	to[n] = '\0';
}

/* Keeps the lines of VMCOREINFO, which begin with the release and end at a NUL. */
static void
keep_info(struct image *im, const char *notes, size_t n)
{
	const char *from = memmem(notes, n, "OSRELEASE=", 10);
	size_t left = from == NULL ? 0 : n - (size_t)(from - notes);
	char *kept = left == 0 ? NULL : strndup(from, left < INFO_MAX ? left : INFO_MAX);

	if (kept == NULL)
		return;
	free(im->info);
	im->info = kept;
}

void
image_note(struct image *im, const char *notes, size_t n)
{
	keep_info(im, notes, n);

	const char *v = note_value(notes, n, "OSRELEASE=");
	if (v != NULL)
		image_text(im->release, sizeof im->release, v, strcspn(v, "\n"));
	v = note_value(notes, n, "SYMBOL(_stext)=");
	if (v != NULL)
		im->stext = strtoull(v, NULL, 16);
	v = note_value(notes, n, "CRASHTIME=");
	if (v != NULL)
		im->crashed = strtoll(v, NULL, 10);
	if (image_arch_by_info(im) != NULL)
		im->arch = image_arch_by_info(im);
}

static void
read_notes(struct image *im, const Elf64_Phdr *ph)
{
	size_t n = ph->p_filesz;

	if (n > NOTES_MAX)
		n = NOTES_MAX;
	char *notes = malloc(n + 1);
	if (notes == NULL || read_at(im->fd, notes, n, ph->p_offset) != 0) {
		free(notes);
		return;
	}
	notes[n] = '\0';
	image_note(im, notes, n);
	free(notes);
}

/* Adds a segment; pages are aligned to its address, not to its place in the file. */
static void
add_segment(struct image *im, const Elf64_Phdr *ph)
{
	uint64_t skip = -ph->p_vaddr & 4095;

	if (ph->p_type == PT_NOTE) {
		read_notes(im, ph);
		return;
	}
	if (ph->p_type != PT_LOAD || ph->p_paddr == NO_ADDRESS ||
	    ph->p_filesz <= skip || ph->p_filesz > INT64_MAX ||
	    ph->p_offset > INT64_MAX - ph->p_filesz)
		return;
	im->part[im->n_parts++] = (struct image_part){ ph->p_offset + skip,
		ph->p_filesz - skip, ph->p_paddr + skip };
}

/* More than 65,534 segments are counted in the first section header. */
static uint64_t
segment_count(const struct image *im, const Elf64_Ehdr *eh)
{
	Elf64_Shdr sh;

	if (eh->e_phnum != PN_XNUM)
		return eh->e_phnum;
	return read_at(im->fd, &sh, sizeof sh, eh->e_shoff) == 0 ?
	    sh.sh_info : 0;
}

static int
open_elf(struct image *im, const Elf64_Ehdr *eh)
{
	uint64_t i, n = segment_count(im, eh);
	Elf64_Phdr ph;

	if (eh->e_phentsize != sizeof ph || n == 0 || n > 1u << 20)
		return EINVAL;
	im->arch = image_arch_by_elf(eh->e_machine);
	im->part = calloc(n, sizeof *im->part);
	if (im->part == NULL)
		return ENOMEM;
	for (i = 0; i < n; i++) {
		int e = read_at(im->fd, &ph, sizeof ph,
		    eh->e_phoff + i * sizeof ph);
		if (e != 0)
			return e;
		add_segment(im, &ph);
	}
	return 0;
}

static int
open_raw(struct image *im)
{
	struct stat st;

	if (fstat(im->fd, &st) != 0)
		return errno;
	im->part = calloc(1, sizeof *im->part);
	if (im->part == NULL)
		return ENOMEM;
	im->part[0].size = (uint64_t)st.st_size;
	im->n_parts = 1;
	return 0;
}

static int
open_any(struct image *im, bool in_order)
{
	union {
		Elf64_Ehdr elf;
		unsigned char bytes[sizeof(Elf64_Ehdr)];
	} head;
	int e, fd;

	memset(&head, 0, sizeof head);
	e = read_at(im->fd, &head, sizeof head, 0);
	if (e != 0)
		return e;
	if (memcmp(head.bytes, "KDUMP   ", 8) == 0 || memcmp(head.bytes, "DISKDUMP", 8) == 0)
		return image_apart_open(im);
	if (memcmp(head.bytes, ELFMAG, SELFMAG) == 0)
		return head.bytes[EI_CLASS] == ELFCLASS64 &&
		    head.elf.e_type == ET_CORE ? open_elf(im, &head.elf) : EINVAL;
	if (memcmp(head.bytes, "makedumpfile", 12) != 0)
		return open_raw(im);
	if (in_order)
		return EINVAL;
	if ((e = image_flat_order(im->fd, &fd)) != 0)
		return e;
	close(im->fd);
	im->fd = fd;
	return open_any(im, true);
}

int
image_open(struct image *im, const char *name)
{
	memset(im, 0, sizeof *im);
	im->fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (im->fd < 0)
		return errno;
	int e = open_any(im, false);
	if (e != 0)
		image_close(im);
	return e;
}

ssize_t
image_read(const struct image *im, void *buf, size_t n, uint64_t offset)
{
	return im->apart != NULL ? image_apart_read(im, buf, n, offset) :
	    pread(im->fd, buf, n, (off_t)offset);
}

void
image_close(struct image *im)
{
	image_apart_close(im);
	if (im->fd >= 0)
		close(im->fd);
	im->fd = -1;
	free(im->info);
	im->info = NULL;
	free(im->part);
	im->part = NULL;
	im->n_parts = 0;
}

/*
 * Flattened dumps, of makedumpfile -F and QEMU's dump-guest-memory, are made for a pipe:
 * they are pieces of the dump with their offsets, in any order.  The pieces are put in
 * order in a file without a name.
 */
#define FLAT_HEAD	4096u
#define COPY_SIZE	(1u << 20)
#define SIZE_MORE	8		/* the dump may be so many times the file's size, */
#define SIZE_ROOM	(INT64_C(1) << 30)	/* and so much more */

struct flat_piece {		/* both numbers big-endian; -1 and -1: the end */
	int64_t at;
	int64_t size;
};

static int
read_all(int fd, void *buf, size_t n, uint64_t *at)
{
	ssize_t got;

	for (char *to = buf; n > 0; to += got, n -= (size_t)got) {
		got = pread(fd, to, n, (off_t)*at);
		if (got <= 0)
			return got < 0 ? errno : EBADMSG;
		*at += (uint64_t)got;
	}
	return 0;
}

static int
copy_piece(int from, uint64_t *at, int to, const struct flat_piece *p, char *buf)
{
	uint64_t left = (uint64_t)p->size, place = (uint64_t)p->at;
	int e = 0;

	while (left > 0 && e == 0) {
		size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;
		e = read_all(from, buf, n, at);
		if (e == 0)
			e = pwrite_all(to, buf, n, place);
		left -= n;
		place += n;
	}
	return e;
}

static int
copy_pieces(int from, int to, int64_t place_max, char *buf)
{
	struct flat_piece p;
	uint64_t at = FLAT_HEAD;
	int e;

	for (;;) {
		if ((e = read_all(from, &p, sizeof p, &at)) != 0)
			return e;
		p.at = (int64_t)be64toh((uint64_t)p.at);
		p.size = (int64_t)be64toh((uint64_t)p.size);
		if (p.at == -1 && p.size == -1)
			return 0;
		if (p.at < 0 || p.size <= 0 || p.at > place_max || p.size > place_max)
			return EBADMSG;
		if ((e = copy_piece(from, &at, to, &p, buf)) != 0)
			return e;
	}
}

/* The largest offset to accept.  A dump in order is larger than the file only by its holes;
   an offset far beyond is damaged, and everything before it would have to be read. */
static int64_t
largest_place(int from)
{
	struct stat st;

	if (fstat(from, &st) != 0 || st.st_size > (INT64_MAX - SIZE_ROOM) / SIZE_MORE)
		return INT64_MAX / 2;
	return st.st_size * SIZE_MORE + SIZE_ROOM;
}

int
image_flat_order(int from, int *ret)
{
	char *buf = malloc(COPY_SIZE);

	if (buf == NULL)
		return ENOMEM;
	int to = tnf_unnamed_open("/var/tmp");
	int e = to < 0 ? errno : copy_pieces(from, to, largest_place(from), buf);
	free(buf);
	/* Part of a dump that ends too early is better than nothing. */
	if (e == EBADMSG && lseek(to, 0, SEEK_END) > 0)
		e = 0;
	if (e == 0)
		*ret = to;
	else if (to >= 0)
		close(to);
	return e;
}
