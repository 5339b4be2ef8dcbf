/*
 * usdt-notes.c - the probes that <sys/sdt.h> puts into programs: their notes.
 *
 * A section of notes is a row of: size of the name, size of the contents, type;
 * then both, each up to a multiple of four.  Ours has the name "stapsdt", the
 * type 3, and in it three addresses and three strings.
 */
#include <elf.h>
#include <string.h>

#include "common/elf-file.h"
#include "libtnfctl/usdt-notes.h"

#define NOTE_NAME	"stapsdt"
#define NOTE_TYPE	3u
#define NOTES_MAX	262144u		/* of one section */
#define TEXT_MAX	4096u		/* characters of one string */

struct bytes_left {
	const uint8_t *p;
	size_t n;
};

/* The next n bytes, padding behind them included in what is passed over. */
static const uint8_t *
usdt_notes_take(struct bytes_left *b, uint64_t n)
{
	uint64_t padded = (n + 3) & ~(uint64_t)3;
	const uint8_t *p = b->p;

	if (n > b->n)
		return NULL;
	if (padded > b->n)
		padded = b->n;
	b->p += padded;
	b->n -= padded;
	return p;
}

static bool
take_address(struct bytes_left *b, uint64_t *ret)
{
	uintptr_t v;

	if (b->n < sizeof v)
		return false;
	memcpy(&v, b->p, sizeof v);
	b->p += sizeof v;
	b->n -= sizeof v;
	*ret = v;
	return true;
}

static const char *
take_string(struct bytes_left *b)
{
	const char *s = (const char *)b->p;
	size_t n = strnlen(s, b->n < TEXT_MAX ? b->n : TEXT_MAX);

	if (n == b->n || n == TEXT_MAX)
		return NULL;
	b->p += n + 1;
	b->n -= n + 1;
	return s;
}

/* false: it is not as it should be. */
static bool
note_read(struct bytes_left b, struct usdt_note *note)
{
	return take_address(&b, &note->address) && take_address(&b, &note->base) &&
	    take_address(&b, &note->semaphore) &&
	    (note->provider = take_string(&b)) != NULL &&
	    (note->name = take_string(&b)) != NULL &&
	    (note->args = take_string(&b)) != NULL;
}

void
tnfctl_usdt_notes_read(const uint8_t *bytes, size_t size, usdt_note_f *fn, void *arg)
{
	struct bytes_left left = { bytes, size };
	const uint8_t *head, *name, *desc;
	struct usdt_note note;
	Elf64_Nhdr h;	/* the same in both classes */

	for (unsigned n = 0; n < NOTES_MAX; n++) {
		if ((head = usdt_notes_take(&left, sizeof h)) == NULL)
			return;
		memcpy(&h, head, sizeof h);
		if ((name = usdt_notes_take(&left, h.n_namesz)) == NULL ||
		    (desc = usdt_notes_take(&left, h.n_descsz)) == NULL)
			return;
		if (h.n_type != NOTE_TYPE || h.n_namesz != sizeof NOTE_NAME ||
		    memcmp(name, NOTE_NAME, sizeof NOTE_NAME) != 0 ||
		    !note_read((struct bytes_left){ desc, h.n_descsz }, &note))
			continue;
		if (!fn(arg, &note))
			return;
	}
}

struct of_object {
	usdt_note_f *fn;
	void	*arg;
	uint64_t base;		/* where .stapsdt.base is now; 0: there is none */
	bool	 any;
};

static bool
note_moved(void *arg, const struct usdt_note *found)
{
	struct of_object *o = arg;
	struct usdt_note note = *found;

	o->any = true;
	if (o->base != 0 && note.base != 0) {
		note.address += o->base - found->base;
		if (note.semaphore != 0)
			note.semaphore += o->base - found->base;
	}
	return o->fn(o->arg, &note);
}

static bool
read_section(void *arg, const uint8_t *bytes, size_t size)
{
	tnfctl_usdt_notes_read(bytes, size, note_moved, arg);
	return true;
}

static bool
note_base(void *arg, uint64_t address, uint64_t size)
{
	((struct of_object *)arg)->base = address;
	return false;
}

bool
tnfctl_usdt_notes_of(struct elffile *e, usdt_note_f *fn, void *arg)
{
	struct of_object o = { .fn = fn, .arg = arg };

	tnf_elffile_sections(e, ".stapsdt.base", note_base, &o);
	tnf_elffile_notes(e, ".note.stapsdt", read_section, &o);
	return o.any;
}
