/*
 * fast.c - which imported probes of a process are fast, and their switching.
 */
#include <elf.h>

#include "common/elf-file.h"
#include "libtnfctl/control.h"
#include "libtnfctl/fast.h"
#include "libtnfctl/usdt.h"

/* The latest object that was analysed; many probes of one file are asked for in turn. */
static _Thread_local struct {
	uint64_t device, inode;
	struct sites *sites;
} latest;

struct opening {
	int	 fd;
	struct sites *sites;
};

static void
open_sites(void *arg)
{
	struct opening *o = arg;

	o->sites = tnfctl_sites_open(o->fd);
}

static struct sites *
sites_of(tnfctl_handle_t *h, int fd, const struct mapping *m)
{
	struct opening o = { .fd = fd };

	if (latest.sites != NULL && latest.device == m->device && latest.inode == m->inode)
		return latest.sites;
	tnfctl_sites_close(latest.sites);
	latest.device = m->device;
	latest.inode = m->inode;
	/* An analysis may take seconds. */
	tnfctl_proc_work(direct_proc(h), open_sites, &o);
	return latest.sites = o.sites;
}

void
tnfctl_fast_free(struct fast *f)
{
	if (f == NULL)
		return;
	free(f->v);
	free(f);
}

void
tnfctl_room_free(struct fast_room *r)
{
	struct fast_area *next;

	if (r == NULL)
		return;
	tnf_map_free(&r->places);
	for (struct fast_area *a = r->areas; a != NULL; a = next) {
		next = a->next;
		free(a);
	}
	for (size_t i = 0; i < r->npads; i++)
		free(r->pads[i].copy);
	free(r->pads);
	free(r->copy);
	free(r);
}

static struct fast *
fast_new(size_t n)
{
	struct fast *f = calloc(1, sizeof(*f));

	if (f == NULL || (f->v = calloc(n, sizeof(*f->v))) == NULL) {
		free(f);
		return NULL;
	}
	f->n = n;
	return f;
}

/* Returns the address at which the process has the file's 'offset'; 0: this mapping lacks it. */
static uintptr_t
live(const struct mapping *m, uint64_t offset)
{
	return offset < m->offset || offset - m->offset >= m->end - m->start ? 0 :
	    m->start + (offset - m->offset);
}

/* The same in any mapping of m's file that is written, or else executed. */
static uintptr_t
find_live(const struct maps *maps, const struct mapping *m, uint64_t offset, bool written)
{
	uintptr_t at = 0;

	for (size_t i = 0; i < maps->n && at == 0; i++)
		if ((written ? maps->m[i].write : maps->m[i].exec) && mapping_same_file(&maps->m[i], m))
			at = live(&maps->m[i], offset);
	return at;
}

/* Completes a site that the analysis has looked at.  NULL, or why it cannot be fast. */
static const char *
place(const struct maps *maps, struct fast_site *s, struct elffile *e, const struct mapping *m)
{
	uint64_t offset;

	if (s->site.refused != NULL)
		return s->site.refused;
	s->length = s->site.length;
	/* An object may have code in several segments. */
	if (e == NULL || !tnf_elffile_offset(e, s->site.address, &offset) ||
	    ((s->address = live(m, offset)) == 0 &&
	    (s->address = find_live(maps, m, offset, false)) == 0))
		return "its code is not mapped";
	/* A write that crosses pages could be done by half when we are killed. */
	if (s->address / 4096 != (s->address + TNF_FAST_JUMP - 1) / 4096)
		return "its first instructions lie on two pages";
	return NULL;
}

struct fast *
tnfctl_fast_function(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    uint64_t address, const char **why)
{
	struct sites *sites = sites_of(h, fd, m);
	struct elffile *e = tnf_elffile_open(fd);
	struct fast *f = fast_new(1);

	*why = "not enough memory";
	if (f != NULL && sites != NULL) {
		tnfctl_sites_function(sites, address, &f->v[0].site);
		*why = place(maps, &f->v[0], e, m);
	}
	tnf_elffile_close(e);
	if (*why == NULL)
		return f;
	tnfctl_fast_free(f);
	return NULL;
}

struct fast *
tnfctl_fast_usdt(tnfctl_handle_t *h, const struct maps *maps, int fd, const struct mapping *m,
    const struct usdt_probe *p, const char **why)
{
	struct sites *sites = sites_of(h, fd, m);
	struct elffile *e = tnf_elffile_open(fd);
	struct fast *f = fast_new(p->nsites);

	*why = f != NULL && sites != NULL ? NULL : "not enough memory";
	for (size_t i = 0; *why == NULL && i < p->nsites; i++) {
		struct fast_site *s = &f->v[i];

		tnfctl_sites_usdt(sites, p->sites[i].address, &s->site);
		*why = place(maps, s, e, m);
		if (*why == NULL && p->sites[i].ref_ctr != 0 &&
		    (s->semaphore = find_live(maps, m, p->sites[i].ref_ctr, true)) == 0)
			*why = "its semaphore is not mapped";
	}
	tnf_elffile_close(e);
	if (*why == NULL)
		return f;
	tnfctl_fast_free(f);
	return NULL;
}

static uint64_t *
place_bits(struct fast_room *r, uintptr_t address)
{
	return &r->bits[address / 64 % (sizeof(r->bits) / sizeof(r->bits[0]))];
}

bool
tnfctl_fast_beside(const tnfctl_handle_t *h, uintptr_t from, uintptr_t to, uintptr_t but)
{
	for (uintptr_t at = from - from % 64; at < to; at += 64) {
		uint64_t bits = *place_bits(h->fast, at);

		if (at < from)
			bits &= ~(uint64_t)0 << (from - at);
		if (to - at < 64)
			bits &= ((uint64_t)1 << (to - at)) - 1;
		/* Differences wrap: if 'but' is below, the difference is huge. */
		if (but - at < 64)
			bits &= ~((uint64_t)1 << (but - at));
		if (bits != 0)
			return true;
	}
	return false;
}

tnfctl_probe_t *
tnfctl_fast_at(const tnfctl_handle_t *h, uintptr_t address)
{
	tnfctl_probe_t **p = NULL;

	if (*place_bits(h->fast, address) >> address % 64 & 1)
		p = tnf_map_get(&h->fast->places, &address, sizeof(address));
	return p == NULL || (*p)->gone || (*p)->fast == NULL ? NULL : *p;
}

void
tnfctl_fast_placed(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	for (size_t i = 0; i < p->fast->n && !p->fast->at_return; i++) {
		uintptr_t address = p->fast->v[i].address;
		tnfctl_probe_t **at = tnf_map_put(&h->fast->places, &address, sizeof(address), NULL);

		*place_bits(h->fast, address) |= (uint64_t)1 << address % 64;
		if (at != NULL && (*at == NULL || (*at)->gone || (*at)->fast == NULL))
			*at = p;
		p->fast->v[i].placed = at != NULL && *at == p;
	}
}

static uintptr_t
word_of(tnfctl_handle_t *h, uintptr_t at)
{
	uintptr_t word;

	return h->ops->read(h, at, &word, sizeof(word)) ? word : 0;
}

/* Finds libtnfprobe's part; false: this one has none. */
static bool
find_room(tnfctl_handle_t *h)
{
	struct tnf_process_control head;

	if (h->fast != NULL)
		return true;
	if (h->control == 0 || !h->ops->read(h, h->control, &head,
	    offsetof(struct tnf_process_control, state)) || head.size < sizeof(head) ||
	    word_of(h, CONTROL(h, fast_define)) == 0 ||
	    (h->fast = calloc(1, sizeof(*h->fast))) == NULL)
		return false;
	tnf_map_init(&h->fast->places, sizeof(tnfctl_probe_t *));
	h->fast->define = word_of(h, CONTROL(h, fast_define));
	h->fast->entry = word_of(h, CONTROL(h, fast_entry));
	h->fast->inner = word_of(h, CONTROL(h, fast_inner));
	h->fast->back = word_of(h, CONTROL(h, fast_return));
	return true;
}

#define ENTRY_US	2000	/* between looks at whether a program has got to its start */
#define ENTRY_TRIES	10000

/*
 * A program that we have started is in its linker, where no function can be called.  It runs until
 * the linker has initialised all objects, and is stopped by a planted instruction in place of its
 * first one.  False: that cannot be planted, and the program has not run.
 */
static bool
go_to_start(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	uintptr_t entry = tnfctl_auxv_get(h->pid, AT_ENTRY);

	if (entry == 0 || !tnfctl_plant_set_start(p, entry))
		return false;
	for (int i = 0; i < ENTRY_TRIES && !p->plant.hit && !p->gone && p->event == PROC_NOTHING; i++)
		tnfctl_proc_run_for(p, ENTRY_US);
	tnfctl_plant_clear_start(p);
	tnfctl_direct_settle(p, DIRECT_SETTLE_MS);
	tnfctl_control_refresh(h);
	return true;
}

/* True if the process is in its linker. */
static bool
is_starting(tnfctl_handle_t *h)
{
	struct proc *p = direct_proc(h);
	const struct mapping *m, *linker;
	struct maps maps;
	uintptr_t ip, sp;
	bool is = false;
	long call;

	if (!p->ours || p->n != 1 || !tnfctl_arch_where(p, &p->threads[0], &ip, &sp, &call) ||
	    tnf_maps_read(h->pid, &maps) != 0)
		return false;
	m = tnf_maps_find(&maps, ip);
	linker = tnf_maps_find(&maps, tnfctl_auxv_get(h->pid, AT_BASE));
	is = m != NULL && linker != NULL && mapping_same_file(m, linker);
	tnf_maps_free(&maps);
	return is;
}

const char *
tnfctl_fast_none(tnfctl_handle_t *h, bool run)
{
	if (h->ops->cont != tnfctl_direct_continue)
		return "prex does not hold the process";
	if (h->fast == NULL && is_starting(h)) {
		if (!run)
			return "the program has not begun";
		if (!go_to_start(h))
			return "somebody else has a breakpoint where the program begins";
	}
	return find_room(h) ? NULL : "the process has an older libtnfprobe, or none";
}

/* True if the mapped file has a program that makes code once it runs. */
static bool
makes_code(pid_t pid, const struct mapping *m)
{
	char path[PATH_MAX];
	autoelf struct elffile *e = tnf_elffile_take(tnfctl_proc_open_mapped(pid, m, path, sizeof path));

	return e != NULL && tnfctl_object_makes_code(e);
}

/* Why no return of the process can be fast.  A program that has just begun has made no code yet:
   then its files tell. */
static const char *
returns_none(pid_t pid)
{
	const char *why = NULL;
	char features[128];
	struct maps maps;

	if (tnf_proc_status_text(pid, "x86_Thread_features", features, sizeof features) &&
	    strstr(features, "shstk") != NULL)
		return "its threads have a shadow stack";
	if (tnf_maps_read(pid, &maps) != 0)
		return "its memory map cannot be read";
	for (size_t i = 0; i < maps.n && why == NULL; i++)
		if (maps.m[i].exec && (maps.m[i].inode != 0 ? makes_code(pid, &maps.m[i]) :
		    maps.m[i].path[0] != '['))
			why = "the program makes code at run time, which may look at addresses to return to";
		else if (strstr(maps.m[i].path, "/_greenlet") != NULL)
			why = "greenlet moves stacks, with the addresses to return to";
	tnf_maps_free(&maps);
	return why;
}

const char *
tnfctl_fast_return_none(tnfctl_handle_t *h, const char *function)
{
	if (!h->fast_returns)
		return "returns are traced by the kernel, unless fast_returns is on";
	if (!h->fast->returns_known) {
		h->fast->returns_known = true;
		h->fast->returns_none = returns_none(h->pid);
	}
	return h->fast->returns_none != NULL ? h->fast->returns_none : tnfctl_refused_return(function);
}

bool
tnfctl_fast_any(const tnfctl_handle_t *h)
{
	return h->fast != NULL && h->fast->places.n > 0;
}

void
tnfctl_fast_give_up(tnfctl_probe_t *p, const char *why)
{
	char *text;

	if (p->fast->alone)
		p->import->refused = why;
	tnfctl_fast_free(p->fast);
	p->fast = NULL;
	p->import->fast = false;
	p->import->slow = why;
	if ((text = tnfctl_import_attrs(p->import, NULL)) != NULL) {
		free(p->import->undescribed);
		p->import->undescribed = p->attrs;
		p->import->described = false;
		p->attrs = text;
	}
}

/* No error, if the target lives: the other probes go on. */
static tnfctl_errcode_t
not_patched(const tnfctl_probe_t *p, tnfctl_errcode_t err, bool on)
{
	char why[256];

	if (err != TNFCTL_ERR_BUSY && err != TNFCTL_ERR_ACCES)
		return err;
	snprintf(why, sizeof(why), "%s", tnfctl_error_detail());
	return tnfctl_error_set(TNFCTL_ERR_NONE, "%.*s: not %s: %s",
	    (int)strcspn(p->attrs + strlen("name "), ";"), p->attrs + strlen("name "),
	    on ? "on" : "quite off", why);
}

bool
tnfctl_fast_other_is_on(const tnfctl_probe_t *p)
{
	const tnfctl_probe_t *other = p->fast->other;

	return other != NULL && other->fast != NULL && !other->gone && other->enabled;
}

/* The entry's site leads to the return's, or no more. */
static bool
lead(tnfctl_handle_t *h, const tnfctl_probe_t *p, bool on)
{
	uintptr_t to = on ? p->fast->v[0].note : 0;

	return h->ops->write(h, p->fast->other->fast->v[0].note + offsetof(struct tnf_fast_site, returns),
	    &to, sizeof(to));
}

/* The jump by which the probe's hits come; NULL: its function's entry is no fast probe. */
static struct fast *
jump_of(const tnfctl_probe_t *p)
{
	if (!p->fast->at_return)
		return p->fast;
	return p->fast->other != NULL && !p->fast->other->gone && p->fast->other->fast != NULL &&
	    p->fast->other->fast->made ? p->fast->other->fast : NULL;
}

tnfctl_errcode_t
tnfctl_fast_ready(tnfctl_handle_t *h, tnfctl_probe_t *p, bool others)
{
	tnfctl_errcode_t err;

	if (p->fast != NULL && p->gone)
		return tnfctl_import_gone(p);
	if (p->fast != NULL && !p->fast->made && p->import->slow == NULL &&
	    (err = tnfctl_fast_make(h, p, others)) != TNFCTL_ERR_NONE)
		return err;
	if (p->fast != NULL && (!p->fast->made || (p->import != NULL && jump_of(p) == NULL)))
		tnfctl_fast_give_up(p, !p->fast->made ? p->import->slow : "its entry is no fast probe");
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_fast_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	tnfctl_errcode_t err;

	if ((err = tnfctl_fast_ready(h, p, true)) != TNFCTL_ERR_NONE)
		return err;
	if (p->fast == NULL)
		return tnfctl_import_set(h, p, enabling, on);
	if (!enabling || (on && p->enabled))
		return h->ops->probe_set(h, p, enabling, on);
	if ((err = tnfctl_control_usable(h, p)) != TNFCTL_ERR_NONE)
		return err;
	/* Off, the word goes first: whoever is killed between leaves jumps that do nothing, which
	   the next controller finds. */
	if (!on && p->enabled && (err = h->ops->probe_set(h, p, true, false)) != TNFCTL_ERR_NONE)
		return err;
	if (p->fast->at_return && (jump_of(p) == NULL || !lead(h, p, on)))
		return on ? tnfctl_error_lost(h, "its memory cannot be written") : TNFCTL_ERR_NONE;
	if (!on && tnfctl_fast_other_is_on(p))
		return TNFCTL_ERR_NONE;
	if ((err = tnfctl_patch_set(h, jump_of(p), on)) != TNFCTL_ERR_NONE)
		return not_patched(p, err, on);
	return on ? h->ops->probe_set(h, p, true, true) : TNFCTL_ERR_NONE;
}

/* Code of the process, of which much is looked at in turn. */
struct glance {
	uintptr_t at;
	size_t	 size;
	uint8_t	 bytes[64u << 10];
};

static bool
glance_at(tnfctl_handle_t *h, struct glance *g, uintptr_t at, uint8_t ret[TNF_FAST_JUMP])
{
	if (at < g->at || at - g->at + TNF_FAST_JUMP > g->size) {
		g->at = at - at % 4096;
		g->size = tnfctl_proc_read_some(direct_proc(h), g->at, g->bytes, sizeof(g->bytes));
	}
	if (at - g->at + TNF_FAST_JUMP > g->size)
		return false;
	memcpy(ret, g->bytes + (at - g->at), TNF_FAST_JUMP);
	return true;
}

/* Finds out whether the site has its jump: an object that was unloaded, and loaded again, has none.  True, too, if
   neither the jump is there nor what it stands for: it may come to light when somebody's breakpoint goes. */
static bool
may_have_jump(tnfctl_handle_t *h, struct fast_site *s, struct glance *g)
{
	uint8_t now[TNF_FAST_JUMP];

	if (!glance_at(h, g, s->address, now))
		return false;
	s->patched = memcmp(now, s->jump, sizeof(now)) == 0;
	return memcmp(now, s->before, sizeof(now)) != 0;
}

/* The site that another controller has described at 'at'. */
static void
adopt_site(tnfctl_handle_t *h, struct fast_area *area, const struct tnf_fast_site *there, uintptr_t at, struct glance *g)
{
	uintptr_t probe = (uintptr_t)there->probe;
	tnfctl_probe_t **known = tnf_map_get(&h->pooled, &probe, sizeof(probe));
	struct fast_site *grown, *s;
	struct fast *f;

	/* One of which we know no more keeps what the area tells. */
	area->patched += area->told;
	if (known == NULL)
		return;
	if ((*known)->fast == NULL && ((*known)->fast = fast_new(1)) != NULL)
		(*known)->fast->n = 0;
	if ((f = (*known)->fast) == NULL ||
	    (grown = reallocarray(f->v, f->n + 1, sizeof(*grown))) == NULL)
		return;
	f->v = grown;
	s = &f->v[f->n++];
	*s = (struct fast_site){ .address = there->resume - 1, .note = at, .area = area,
	    .semaphore = there->semaphore, .raised = there->raised != 0, .length = there->length };
	memcpy(s->before, there->before, sizeof(s->before));
	memcpy(s->jump, there->jump, sizeof(s->jump));
	f->made = true;
	f->at_return = there->landing == 0;
	if (area->told && (f->at_return || !may_have_jump(h, s, g)))
		area->patched--;
	tnfctl_fast_placed(h, *known);
	/* The entry is described before its return. */
	if (f->at_return && (f->other = tnfctl_fast_at(h, s->address)) != NULL)
		f->other->fast->other = *known;
}

/* True if all jumps of the probe are there. */
static bool
is_patched(const struct fast *f)
{
	size_t i = 0;

	while (f != NULL && i < f->n && f->v[i].patched)
		i++;
	return f != NULL && i == f->n;
}

#define PROBES_FEW	1024u	/* whose sites are read while the process stands still */
#define AREAS_MAX	4096u
#define AREA_MAX	(64u << 20)
#define SITES_READ	512u	/* at once */

static void
adopt_area(tnfctl_handle_t *h, uintptr_t at, const struct tnf_fast_area *there)
{
	struct tnf_fast_site *v = calloc(SITES_READ, sizeof(*v));
	struct glance *g = calloc(1, sizeof(*g));
	struct fast_area *area = tnfctl_pads_area_add(h->fast, at);
	uint64_t sites = there->n;
	size_t n;

	if (area != NULL)
		area->told = there->patched != 0;
	at += sizeof(*there);
	for (; v != NULL && g != NULL && area != NULL && sites > 0; sites -= n, at += n * sizeof(*v)) {
		n = sites < SITES_READ ? sites : SITES_READ;
		if (!h->ops->read(h, at, v, n * sizeof(*v)))
			break;
		for (size_t i = 0; i < n; i++)
			if (v[i].probe != NULL)
				adopt_site(h, area, &v[i], at + i * sizeof(*v), g);
		tnfctl_work(h, WORK_LOOK);
	}
	/* Some of its sites were not read. */
	if (area != NULL && sites > 0)
		area->patched += area->told;
	free(g);
	free(v);
}

/* True if nothing of the probe is in the process, so that it need not stop for it.  A return may have left its word with
   its entry. */
static bool
is_off(const tnfctl_probe_t *p)
{
	size_t i = 0;

	while (i < p->fast->n && !p->fast->v[i].patched && !p->fast->v[i].raised)
		i++;
	return i == p->fast->n && !p->enabled && !p->fast->at_return;
}

/* Takes out jumps of probes that are off. */
static void
settle_probes(tnfctl_handle_t *h)
{
	tnfctl_probe_t **v = calloc(h->nprobes + 1, sizeof(tnfctl_probe_t *));
	size_t n = 0;

	for (size_t i = 0; i < h->nprobes && v != NULL; i++) {
		struct fast *f = h->probes[i]->fast;

		if (f != NULL && f->made && !is_off(h->probes[i]) &&
		    !(h->probes[i]->enabled && is_patched(jump_of(h->probes[i]))))
			v[n++] = h->probes[i];
	}
	tnfctl_fast_set_many(h, v, n, false);
	for (size_t i = 0; i < n; i++)
		if (v[i] != NULL)
			tnfctl_fast_set(h, v[i], true, false);
	free(v);
}

void
tnfctl_fast_settle(tnfctl_handle_t *h)
{
	struct tnf_fast_area a;
	uintptr_t at;

	if (h->pooled.value_size == 0 || !find_room(h))
		return;
	at = word_of(h, CONTROL(h, fast));
	if (h->nprobes > PROBES_FEW)
		tnfctl_work(h, WORK_BEGIN);
	for (unsigned n = 0; at != 0 && n < AREAS_MAX; n++, at = (uintptr_t)a.next) {
		if (!h->ops->read(h, at, &a, sizeof(a)) || a.size > AREA_MAX ||
		    a.n > a.size / sizeof(struct tnf_fast_site))
			break;
		adopt_area(h, at, &a);
	}
	tnfctl_work(h, WORK_END);
	settle_probes(h);
	for (struct fast_area *area = h->fast->areas; area != NULL; area = area->next)
		tnfctl_patch_tell(h, area);
}
