/*
 * pads.c - memory of the process for fast probes: areas that describe sites, and pads.
 *
 * Pads lie within a jump's reach of their sites.  They are mapped from the file of libtnfprobe,
 * readable and executable, and written through /proc/PID/mem, which makes copies of the pages: so
 * no memory is ever writable and executable.  None is given back, as a thread may be in a pad at
 * any time.
 */
#include <sys/mman.h>

#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"

#define PAGE		4096u
#define AREA_SIZE	(512u << 10)
#define AREA_MAX	(2u << 20)	/* a thread of the process defines an area at once */
#define TEXT_USUAL	300u		/* of a site */
#define PADS_SIZE	(16 * PAGE)
#define PAD_USUAL	96u
#define GUARD		(1u << 20)	/* to what is mapped beside */

static uintptr_t
call_mmap(struct calls *c, uintptr_t at, size_t size, int prot, int flags, int fd)
{
	struct call call = { .function = c->mmap, .alone = true,
	    .args = { at, size, (uintptr_t)prot, (uintptr_t)flags, (uintptr_t)fd, 0 } };

	return tnfctl_call_make(c, &call) != NULL || call.error != 0 || call.result <= 0 ? 0 :
	    (uintptr_t)call.result;
}

/* Makes an area that has room for so many bytes; 0: there is no memory. */
static uintptr_t
make_area(struct calls *c, struct tnf_fast_area *head, size_t need)
{
	uintptr_t at, word = CONTROL(c->h, fast);

	head->size = (sizeof(*head) + need + AREA_SIZE - 1) / AREA_SIZE * AREA_SIZE;
	at = call_mmap(c, 0, head->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	return at != 0 && c->h->ops->write(c->h, at, head, sizeof(*head)) &&
	    c->h->ops->write(c->h, word, &at, sizeof(at)) ? at : 0;
}

struct fast_area *
tnfctl_pads_area_add(struct fast_room *r, uintptr_t at)
{
	struct fast_area *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->at = at;
	a->next = r->areas;
	return r->areas = a;
}

bool
tnfctl_pads_is_full(const struct fast_room *r, size_t sites, size_t text)
{
	return (r->sites + sites) * sizeof(struct tnf_fast_site) + r->text + text >
	    r->size - sizeof(struct tnf_fast_area);
}

const char *
tnfctl_pads_area(struct calls *c, struct fast_room *r, size_t sites, size_t text, size_t more)
{
	size_t need = sites * sizeof(struct tnf_fast_site) + text;
	size_t all = need + more * (sizeof(struct tnf_fast_site) + TEXT_USUAL);
	struct tnf_fast_area head = { .size = 0 };
	uintptr_t at;

	if (r->area != NULL && !tnfctl_pads_is_full(r, sites, text))
		return NULL;
	tnfctl_proc_work_end(c->p);
	if (!c->h->ops->read(c->h, CONTROL(c->h, fast), &head.next, sizeof(head.next)) ||
	    ((at = make_area(c, &head, all < AREA_MAX ? all : need > AREA_MAX ? need : AREA_MAX)) == 0 &&
	    (at = make_area(c, &head, need)) == 0))
		return "the process has no memory left";
	tnfctl_proc_work_begin(c->p);
	if ((r->area = tnfctl_pads_area_add(r, at)) == NULL)
		return "not enough memory";
	r->size = head.size;
	r->sites = r->text = r->sites_there = r->text_there = 0;
	free(r->copy);
	r->copy = NULL;
	return NULL;
}

static bool
is_near(uintptr_t start, size_t size, uintptr_t site)
{
	int64_t low = (int64_t)(start - site), high = (int64_t)(start + size - site);

	return low > -SITE_REACH && low < SITE_REACH && high > -SITE_REACH && high < SITE_REACH;
}

/* Free memory of this size within reach of the site, below it if possible, as a heap grows upwards;
   0: none. */
static uintptr_t
find_gap(const struct maps *maps, uintptr_t site, size_t size)
{
	uintptr_t end, start, best = 0;

	for (size_t i = 0; i <= maps->n; i++) {
		start = i > 0 ? maps->m[i - 1].end : 16 * PAGE;
		end = i < maps->n ? maps->m[i].start : UINTPTR_MAX / 2;
		if (end <= start || end - start < size + 2 * PAGE)
			continue;
		if (end <= site && is_near(end - size - PAGE, size, site))
			best = end - start < size + 2 * GUARD ? end - size - PAGE :
			    end - size - GUARD;
		else if (end > site && best == 0) {
			start += end - start > ((uintptr_t)512 << 20) ? (uintptr_t)256 << 20 : PAGE;
			if (is_near(start, size, site))
				best = start;
		}
	}
	return best;
}

/* Maps memory for pads, from the file that the process has libtnfprobe from. */
static uintptr_t
map_pads(struct calls *c, uintptr_t at, size_t *size)
{
	int fd = tnfctl_object_open(c->h->control_object), theirs = -1;
	int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
	uintptr_t got = 0;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && (theirs = tnfctl_direct_give_descriptor(c, fd)) >= 0) {
		if ((uint64_t)st.st_size < *size)
			*size = (size_t)st.st_size & ~(size_t)(PAGE - 1);
		got = call_mmap(c, at, *size, PROT_READ | PROT_EXEC, flags, theirs);
		tnfctl_direct_close_descriptor(c, theirs);
	} else
		got = call_mmap(c, at, *size, PROT_READ | PROT_EXEC, flags | MAP_ANONYMOUS, -1);
	if (fd >= 0)
		close(fd);
	/* Kernels before 4.17 take the address as a hint. */
	return got == at ? got : 0;
}

/* Maps memory of this size near the site. */
static const char *
map_near(struct calls *c, uintptr_t site, struct fast_pads *ret, size_t size)
{
	struct maps maps;

	*ret = (struct fast_pads){ .size = size };
	tnfctl_proc_work_end(c->p);
	if (tnf_maps_read(c->h->pid, &maps) != 0)
		return "its memory map cannot be read";
	ret->start = find_gap(&maps, site, size);
	tnf_maps_free(&maps);
	if (ret->start == 0)
		return "no free memory is within reach of its code";
	return map_pads(c, ret->start, &ret->size) != 0 ? NULL : "the process may not map memory for pads";
}

const char *
tnfctl_pads_near(struct calls *c, struct fast_room *r, uintptr_t site, size_t more,
    struct fast_pads **ret)
{
	size_t usual = (more * PAD_USUAL + PADS_SIZE - 1) / PADS_SIZE * PADS_SIZE;
	struct fast_pads pads, *grown;
	const char *why;

	for (size_t i = r->npads; i-- > 0; )
		if (r->pads[i].size - r->pads[i].used >= PAD_MAX &&
		    is_near(r->pads[i].start, r->pads[i].size, site)) {
			*ret = &r->pads[i];
			return NULL;
		}
	if ((why = map_near(c, site, &pads, usual > PADS_SIZE ? usual : PADS_SIZE)) != NULL &&
	    (usual <= PADS_SIZE || (why = map_near(c, site, &pads, PADS_SIZE)) != NULL))
		return why;
	tnfctl_proc_work_begin(c->p);
	if ((grown = reallocarray(r->pads, r->npads + 1, sizeof(*grown))) == NULL)
		return "not enough memory";
	r->pads = grown;
	grown[r->npads] = pads;
	*ret = &grown[r->npads++];
	return NULL;
}

static uint8_t *
put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* A call by way of the word that lies 8 bytes before the pad, in code that begins with 'start'. */
static uint8_t *
put_call(uint8_t *at, const uint8_t *start)
{
	int32_t away = (int32_t)(start - 8 - (at + 6));

	*at++ = 0xff;
	*at++ = 0x15;
	return put(at, &away, sizeof(away));
}

const char *
tnfctl_pads_put(tnfctl_handle_t *h, struct fast_pads *pads, struct fast_site *s)
{
	static const uint8_t down[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 };	/* lea -128(%rsp), %rsp */
	static const uint8_t up[] = { 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	uintptr_t at = pads->start + pads->used;
	uint8_t *bytes, *code, *end;
	size_t moved;
	int32_t away;
	const char *why;

	if (pads->copy == NULL && (pads->copy = malloc(pads->size)) == NULL)
		return "not enough memory";
	bytes = pads->copy + pads->used;
	end = code = bytes + 16;
	memcpy(bytes, &s->note, 8);
	memcpy(bytes + 8, s->site.usdt ? &h->fast->inner : &h->fast->entry, 8);
	if (s->site.usdt)
		end = put(end, down, sizeof(down));
	end = put_call(end, code);
	if (s->site.usdt)
		end = put(end, up, sizeof(up));
	s->moved = at + (uintptr_t)(end - bytes);
	if ((why = tnfctl_site_relocate(&s->site, s->address, s->moved, end, &moved)) != NULL)
		return why;
	moved += (size_t)(end - bytes);
	memset(bytes + moved, 0xcc, -moved & 15);
	pads->used += (moved + 15) & ~(size_t)15;
	away = (int32_t)(at + 16 - (s->address + TNF_FAST_JUMP));
	s->jump[0] = 0xe9;
	memcpy(s->jump + 1, &away, sizeof(away));
	memcpy(s->before, s->site.bytes, sizeof(s->before));
	return NULL;
}

/* Writes the bytes 'from' to 'to' of a copy of memory that is at 'start' of the process. */
static bool
write_part(tnfctl_handle_t *h, uintptr_t start, const uint8_t *copy, size_t from, size_t to)
{
	return from >= to || h->ops->write(h, start + from, copy + from, to - from);
}

const char *
tnfctl_pads_flush(tnfctl_handle_t *h)
{
	struct fast_room *r = h->fast;
	size_t size = sizeof(struct tnf_fast_site), head = sizeof(struct tnf_fast_area);
	bool fine = true;

	for (size_t i = 0; i < r->npads; i++) {
		struct fast_pads *pads = &r->pads[i];

		if (pads->copy == NULL)
			continue;
		fine = write_part(h, pads->start, pads->copy, pads->there, pads->used) && fine;
		pads->there = pads->used;
		free(pads->copy);
		pads->copy = NULL;
	}
	if (r->copy != NULL) {
		fine = write_part(h, r->area->at, r->copy, head + r->sites_there * size, head + r->sites * size) &&
		    write_part(h, r->area->at, r->copy, r->size - r->text, r->size - r->text_there) && fine;
		r->sites_there = r->sites;
		r->text_there = r->text;
		free(r->copy);
		r->copy = NULL;
	}
	return fine ? NULL : "its memory cannot be written";
}
