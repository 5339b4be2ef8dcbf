/*
 * image-printk.c - the last lines that a kernel printed, from its ring of messages.
 *
 * VMCOREINFO has the places of the needed members of the kernel's structures (since 5.10).
 * The ring has a descriptor and an info for each record, indexed by the record's number,
 * and the texts in a ring of bytes, each after its record's number.  Records that are being
 * written or have been overwritten are left out.  Nothing is trusted: the number of reads
 * is limited whatever the image says.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tnfxtract/image.h"

#define LINES_MAX	100u
#define TEXT_MAX	2048u		/* the kernel's own limit is half of that */
#define PLACE_MAX	(1u << 16)	/* limit of an offset in a structure, or its size */

/* A record's number has 62 bits; the two bits above are the descriptor's state. */
#define NUMBER_MASK	(UINT64_MAX >> 2)
#define STATE(word)	((unsigned)((word) >> 62))
#define COMMITTED	1u
#define FINALIZED	2u

#define PLACES(X)							\
	X(ring_records,	"OFFSET(printk_ringbuffer.desc_ring)")		\
	X(ring_texts,	"OFFSET(printk_ringbuffer.text_data_ring)")	\
	X(count_bits,	"OFFSET(prb_desc_ring.count_bits)")		\
	X(descs,	"OFFSET(prb_desc_ring.descs)")			\
	X(infos,	"OFFSET(prb_desc_ring.infos)")			\
	X(head,		"OFFSET(prb_desc_ring.head_id)")		\
	X(tail,		"OFFSET(prb_desc_ring.tail_id)")		\
	X(counter,	"OFFSET(atomic_long_t.counter)")		\
	X(desc_size,	"SIZE(prb_desc)")				\
	X(state,	"OFFSET(prb_desc.state_var)")			\
	X(text_at,	"OFFSET(prb_desc.text_blk_lpos)")		\
	X(begin,	"OFFSET(prb_data_blk_lpos.begin)")		\
	X(next,		"OFFSET(prb_data_blk_lpos.next)")		\
	X(info_size,	"SIZE(printk_info)")				\
	X(time,		"OFFSET(printk_info.ts_nsec)")			\
	X(length,	"OFFSET(printk_info.text_len)")			\
	X(text_bits,	"OFFSET(prb_data_ring.size_bits)")		\
	X(text_bytes,	"OFFSET(prb_data_ring.data)")

struct places {
#define X(name, key) uint64_t name;
	PLACES(X)
#undef X
};

struct ring {
	struct image_map map;
	struct places at;
	uint64_t descs, infos, texts;	/* addresses */
	uint64_t first, last;		/* numbers of records */
	uint32_t count_bits, text_bits;
};

static bool
find_places(const struct image *im, struct places *p)
{
#define X(name, key)							\
	if (!image_number(im, key, &p->name) || p->name >= PLACE_MAX)	\
		return false;
	PLACES(X)
#undef X
	return true;
}

/* Finds the ring: two structures within one describe it, and the symbol points to the outer
   one. */
static bool
find_ring(struct ring *r)
{
	struct places *p = &r->at;
	uint64_t symbol, ring, records, texts;

	if (!find_places(r->map.im, p) || !image_number(r->map.im, "SYMBOL(prb)", &symbol) ||
	    !image_memory(&r->map, symbol, &ring, sizeof ring))
		return false;
	records = ring + p->ring_records;
	texts = ring + p->ring_texts;
	return image_memory(&r->map, records + p->count_bits, &r->count_bits, 4) &&
	    image_memory(&r->map, records + p->descs, &r->descs, 8) &&
	    image_memory(&r->map, records + p->infos, &r->infos, 8) &&
	    image_memory(&r->map, records + p->head + p->counter, &r->last, 8) &&
	    image_memory(&r->map, records + p->tail + p->counter, &r->first, 8) &&
	    image_memory(&r->map, texts + p->text_bits, &r->text_bits, 4) &&
	    image_memory(&r->map, texts + p->text_bytes, &r->texts, 8) &&
	    r->count_bits > 0 && r->count_bits < 32 && r->text_bits > 3 && r->text_bits < 32;
}

/* Finds a record's text in the ring of bytes, and its maximum length.  A text that would
   reach beyond the ring's end is at the ring's beginning instead. */
static bool
place_text(const struct ring *r, uint64_t begin, uint64_t next, uint64_t *at, uint64_t *size)
{
	uint64_t ring = 1ull << r->text_bits;

	if (begin >> r->text_bits == (next - 1) >> r->text_bits) {
		*at = begin & (ring - 1);
		*size = next - begin;
	} else if ((begin + ring) >> r->text_bits == (next - 1) >> r->text_bits) {
		*at = 0;
		*size = next & (ring - 1);
	} else {
		return false;
	}
	return *size > sizeof(uint64_t) && *size <= ring - *at;
}

/* Reads the text of a record that has a descriptor; "" if there is none or it is overwritten. */
static void
read_text(const struct ring *r, uint64_t number, uint64_t desc, uint16_t length, char *text)
{
	uint64_t begin, next, at, size, bears;

	text[0] = '\0';
	if (!image_memory(&r->map, desc + r->at.text_at + r->at.begin, &begin, 8) ||
	    !image_memory(&r->map, desc + r->at.text_at + r->at.next, &next, 8) ||
	    !place_text(r, begin, next, &at, &size) ||
	    !image_memory(&r->map, r->texts + at, &bears, sizeof bears) || bears != number)
		return;
	size -= sizeof bears;
	if (size > length)
		size = length;
	if (size > TEXT_MAX)
		size = TEXT_MAX;
	if (!image_memory(&r->map, r->texts + at + sizeof bears, text, size))
		size = 0;
	text[size] = '\0';
}

/* Writes a record, which may have several lines. */
static void
put_lines(FILE *f, uint64_t time, const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		fprintf(f, "[%5" PRIu64 ".%06u] %.*s\n", time / 1000000000,
		    (unsigned)(time % 1000000000 / 1000), (int)n, text);
	}
}

static void
put_record(FILE *f, const struct ring *r, uint64_t number)
{
	uint64_t i = number & ((1ull << r->count_bits) - 1), state, time;
	uint64_t desc = r->descs + i * r->at.desc_size, info = r->infos + i * r->at.info_size;
	char text[TEXT_MAX + 1];
	uint16_t length;

	if (!image_memory(&r->map, desc + r->at.state + r->at.counter, &state, 8) ||
	    (state & NUMBER_MASK) != number ||
	    (STATE(state) != COMMITTED && STATE(state) != FINALIZED) ||
	    !image_memory(&r->map, info + r->at.time, &time, 8) ||
	    !image_memory(&r->map, info + r->at.length, &length, 2))
		return;
	read_text(r, number, desc, length, text);
	put_lines(f, time, text);
}

/* Returns the text of the ring; NULL: there is none, or no memory. */
static char *
print_ring(const struct ring *r)
{
	uint64_t n = (r->last - r->first) & NUMBER_MASK;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return NULL;
	if (n >= LINES_MAX)
		n = LINES_MAX - 1;
	for (n++; n-- > 0;)
		put_record(f, r, (r->last - n) & NUMBER_MASK);
	if (fclose(f) != 0 || text == NULL || text[0] == '\0') {
		free(text);
		return NULL;
	}
	text[strlen(text) - 1] = '\0';
	return text;
}

char *
image_printk(const struct image *im)
{
	struct ring r;

	if (im->info == NULL || !image_map_open(&r.map, im))
		return NULL;
	char *text = find_ring(&r) ? print_ring(&r) : NULL;
	image_map_close(&r.map);
	return text;
}
