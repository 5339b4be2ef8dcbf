/*
 * span.c - where the current span of a thread is.
 *
 * The dynamic linker has no function that tells the address of a thread's variable and
 * neither takes a lock nor allocates.  So we read what it wrote.  A relocation of the object
 * tells the distance from the thread pointer, if the linker put the variable there; else the
 * thread's table of blocks (DTV) tells where the object's variables are, which have no place
 * before the thread uses one of them.
 */
#include <dlfcn.h>
#include <link.h>

#include "libtnfprobe/internal.h"

#define SYMBOL		"otel_thread_ctx_v1"
#define STATIC_MAX	(1 << 20)	/* bytes around the thread pointer: more is an address */

static const struct tnf_tag_data *const slots[] = {
	&tnf_opaque_tag_data, &tnf_opaque_tag_data, &tnf_opaque_tag_data, NULL };

struct tnf_probe_control tnf_span_probe = {
	.tnf_version = TNF_PROBE_ABI,
	.size = sizeof(struct tnf_probe_control),
	.event_size = sizeof(struct span_event),
	.attrs = "name otel_context;slots trace_high trace_low span ;keys otel;",
	.slots = slots,
};

/* The place of the variable.  'module' is written last, and once. */
static struct {
	uint32_t module;	/* the object's number; 0: not found, FROM_THREAD */
	intptr_t offset;	/* in the object's variables, or from the thread pointer */
} found;
#define FROM_THREAD	UINT32_MAX

/* An object, as its dynamic section describes it. */
struct object {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *hash;
	const ElfW(Rela) *rela, *plt;
	size_t	 rela_size, plt_size;
};

/* glibc adds the base to addresses in the dynamic section, other loaders do not. */
static const void *
address(const struct object *o, ElfW(Addr) at)
{
	return (const void *)(at < o->base ? o->base + at : at);
}

static void
object_read(struct object *o, const struct link_map *l)
{
	*o = (struct object){ .base = l->l_addr };
	for (const ElfW(Dyn) *d = l->l_ld; d != NULL && d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = address(o, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->names = address(o, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			o->hash = address(o, d->d_un.d_ptr);
			break;
		case DT_RELA:
			o->rela = address(o, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			o->rela_size = d->d_un.d_val / sizeof(*o->rela);
			break;
		case DT_JMPREL:
			o->plt = address(o, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			o->plt_size = d->d_un.d_val / sizeof(*o->plt);
			break;
		default:
			break;
		}
}

static uint32_t
gnu_hash(const char *s)
{
	uint32_t h = 5381;

	for (; *s != '\0'; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

/* The number of the symbol that the object defines; 0: it defines none. */
static uint32_t
object_symbol(const struct object *o)
{
	const uint32_t *t = o->hash, h = gnu_hash(SYMBOL), *buckets, *chain;
	const ElfW(Sym) *s;

	if (t == NULL || o->symbols == NULL || o->names == NULL || t[0] == 0)
		return 0;
	buckets = t + 4 + t[2] * (sizeof(ElfW(Addr)) / 4);
	chain = buckets + t[0];
	for (uint32_t i = buckets[h % t[0]]; i >= t[1]; i++) {
		s = &o->symbols[i];
		if ((chain[i - t[1]] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(s->st_info) == STT_TLS && strcmp(o->names + s->st_name, SYMBOL) == 0)
			return i;
		if (chain[i - t[1]] & 1)
			break;
	}
	return 0;
}

/* Finds the distance from the thread pointer in what the linker wrote for a relocation of the
   symbol; *ret is left alone if there is none, or if the linker says that there is no such
   distance. */
static bool
relocated(const struct object *o, const ElfW(Rela) *r, size_t n, uint32_t symbol, intptr_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		const intptr_t *word = (const void *)(o->base + r[i].r_offset);
		uint32_t type = (uint32_t)ELF64_R_TYPE(r[i].r_info), of = (uint32_t)ELF64_R_SYM(r[i].r_info);

		if ((type != RELOCATION_TPOFF && type != RELOCATION_TLSDESC) || (of != symbol &&
		    (of != 0 || (ElfW(Addr))r[i].r_addend != o->symbols[symbol].st_value)))
			continue;
		if (type == RELOCATION_TLSDESC)
			word++;		/* behind the function: its argument */
		if (*word > -STATIC_MAX && *word < STATIC_MAX && *word != 0) {
			*ret = *word;
			return true;
		}
	}
	return false;
}

static bool
object_look(struct link_map *l)
{
	size_t module = 0;
	struct object o;
	uint32_t symbol;
	intptr_t offset;

	object_read(&o, l);
	if ((symbol = object_symbol(&o)) == 0)
		return false;
	offset = (intptr_t)o.symbols[symbol].st_value;
	if (relocated(&o, o.rela, o.rela_size, symbol, &offset) ||
	    relocated(&o, o.plt, o.plt_size, symbol, &offset))
		module = FROM_THREAD;
	else if (dlinfo(l, RTLD_DI_TLS_MODID, &module) != 0 || module == 0)
		return false;
	found.offset = offset;
	__atomic_store_n(&found.module, (uint32_t)module, __ATOMIC_RELEASE);
	return true;
}

void
tnf_span_look(void)
{
	extern struct r_debug _r_debug __attribute__((weak));
	struct link_map *l;

	if (__atomic_load_n(&found.module, __ATOMIC_RELAXED) != 0 || &_r_debug == NULL ||
	    _r_debug.r_state != RT_CONSISTENT)
		return;
	for (l = _r_debug.r_map; l != NULL; l = l->l_next)
		if (object_look(l))
			return;
}

/* A thread that the parent's fork() has not copied may have had the linker's lock: nobody gives
   the lock back in the child. */
static bool forked;

/* Called for the first object, with the linker's lock held. */
static int
look(struct dl_phdr_info *info, size_t size, void *arg)
{
	static unsigned long long adds;	/* atomic, as ThreadSanitizer does not see the linker's lock */

	if (__atomic_load_n(&adds, __ATOMIC_RELAXED) != info->dlpi_adds)
		tnf_span_look();
	__atomic_store_n(&adds, info->dlpi_adds, __ATOMIC_RELAXED);
	return 1;
}

void
tnf_span_look_locked(void)
{
	if (__atomic_load_n(&found.module, __ATOMIC_RELAXED) == 0 &&
	    !__atomic_load_n(&forked, __ATOMIC_RELAXED))
		dl_iterate_phdr(look, NULL);
}

void
tnf_span_forked(void)
{
	__atomic_store_n(&forked, true, __ATOMIC_RELAXED);
}

const struct span_record *const *
tnf_span_variable(void)
{
	uint32_t module = __atomic_load_n(&found.module, __ATOMIC_ACQUIRE);
	const char *thread = __builtin_thread_pointer();

	if (module == 0)
		return NULL;
	if (module != FROM_THREAD && (thread = thread_variables(module)) == NULL)
		return NULL;
	return (const void *)(thread + found.offset);
}
