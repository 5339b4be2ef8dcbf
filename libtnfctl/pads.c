/*
 * pads.c - memory of the process for fast probes: areas that describe sites, and pads.
 *
 * Pads lie within a jump's reach of their sites.  They are mapped from the file of libtnfprobe,
 * readable and executable, and written through /proc/PID/mem, which makes copies of the pages: so
 * no memory is ever writable and executable.  None is given back, as a thread may be in a pad at
 * any time.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtnfctl/call.h"
#include "libtnfctl/direct.h"
#include "libtnfctl/fast.h"

#define PAGE		4096u
#define AREA_SIZE	(512u << 10)
#define GUARD		(1u << 20)	/* to what is mapped beside */

static uintptr_t
call_mmap(struct calls *c, uintptr_t at, size_t size, int prot, int flags, int fd)
{
	struct call call = { .function = c->mmap, .alone = true,
	    .args = { at, size, (uintptr_t)prot, (uintptr_t)flags, (uintptr_t)fd, 0 } };

	return tnfctl_call_make(c, &call) != NULL || call.error != 0 || call.result <= 0 ? 0 :
	    (uintptr_t)call.result;
}

const char *
tnfctl_pads_area(struct calls *c, struct fast_room *r, size_t sites, size_t text)
{
	size_t need = sites * sizeof(struct tnf_fast_site) + text;
	struct tnf_fast_area head = { .size = AREA_SIZE };
	uintptr_t at, word = CONTROL(c->h, fast);

	if (r->area != 0 && need <= r->size - sizeof(head) -
	    r->sites * sizeof(struct tnf_fast_site) - r->text)
		return NULL;
	while (head.size < need + sizeof(head))
		head.size += AREA_SIZE;
	if (!c->h->ops->read(c->h, word, &head.next, sizeof(head.next)) ||
	    (at = call_mmap(c, 0, head.size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1)) == 0 ||
	    !c->h->ops->write(c->h, at, &head, sizeof(head)) ||
	    !c->h->ops->write(c->h, word, &at, sizeof(at)))
		return "the process has no memory left";
	r->area = at;
	r->size = head.size;
	r->sites = r->text = 0;
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

const char *
tnfctl_pads_near(struct calls *c, struct fast_room *r, uintptr_t site, struct fast_pads **ret)
{
	struct fast_pads pads = { .size = 16 * PAGE }, *grown;
	struct maps maps;

	for (size_t i = r->npads; i-- > 0; )
		if (r->pads[i].size - r->pads[i].used >= PAD_MAX &&
		    is_near(r->pads[i].start, r->pads[i].size, site)) {
			*ret = &r->pads[i];
			return NULL;
		}
	if (tnf_maps_read(c->h->pid, &maps) != 0)
		return "its memory map cannot be read";
	pads.start = find_gap(&maps, site, pads.size);
	tnf_maps_free(&maps);
	if (pads.start == 0)
		return "no free memory is within reach of its code";
	if ((grown = reallocarray(r->pads, r->npads + 1, sizeof(*grown))) == NULL)
		return "not enough memory";
	r->pads = grown;
	if (map_pads(c, pads.start, &pads.size) == 0)
		return "the process may not map memory for pads";
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
tnfctl_pads_write(tnfctl_handle_t *h, struct fast_pads *pads, struct fast_site *s)
{
	static const uint8_t down[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 };	/* lea -128(%rsp), %rsp */
	static const uint8_t up[] = { 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	uintptr_t at = pads->start + pads->used;
	uint8_t bytes[PAD_MAX], *code = bytes + 16, *end = code;
	size_t moved;
	int32_t away;
	const char *why;

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
	if (!h->ops->write(h, at, bytes, moved))
		return "its memory cannot be written";
	pads->used += (moved + 15) & ~(size_t)15;
	away = (int32_t)(at + 16 - (s->address + TNF_FAST_JUMP));
	s->jump[0] = 0xe9;
	memcpy(s->jump + 1, &away, sizeof(away));
	memcpy(s->before, s->site.bytes, sizeof(s->before));
	return NULL;
}
