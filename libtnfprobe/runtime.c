/*
 * runtime.c - probes that are made at run time: by the program (<tnf/runtime.h>), or for the fast sites
 * that a controller has described in an area of our memory (<tnf/target.h>).
 *
 * Their control blocks lie in pools, which a controller finds through
 * _tnf_process_control.  A block is handed out by counting, and complete with its
 * tnf_version; so whoever looks at any moment, or is the child of a fork(), finds
 * only whole ones.  The lock is for one thing alone: that two threads which define
 * the same probe at once get the same one.
 */
#include <link.h>

#include <tnf/runtime.h>

#include "libtnfprobe/event-hit.h"

#define POOL_SIZE	4096u
#define ATTRS_MAX	4000u
#define WAIT_MAX	64	/* times that tnf_wait() may let others get ahead */

static const struct tnf_tag_data text_type = { TNF_PROBE_ABI, TNF_TAG_TEXT,
    __alignof__(tnf_reference_t), sizeof(tnf_reference_t), 0, "tnf_text", NULL, NULL };
static const struct tnf_tag_data blob_type = { TNF_PROBE_ABI, TNF_TAG_BLOB,
    __alignof__(tnf_reference_t), sizeof(tnf_reference_t), 0, "tnf_blob", NULL, NULL };

static const struct tnf_tag_data *const kinds[] = {
	[TNF_ARG_INT8] = &tnf_int8_tag_data,
	[TNF_ARG_INT16] = &tnf_int16_tag_data,
	[TNF_ARG_INT32] = &tnf_int32_tag_data,
	[TNF_ARG_INT64] = &tnf_int64_tag_data,
	[TNF_ARG_UINT8] = &tnf_uint8_tag_data,
	[TNF_ARG_UINT16] = &tnf_uint16_tag_data,
	[TNF_ARG_UINT32] = &tnf_uint32_tag_data,
	[TNF_ARG_UINT64] = &tnf_uint64_tag_data,
	[TNF_ARG_FLOAT32] = &tnf_float32_tag_data,
	[TNF_ARG_FLOAT64] = &tnf_float64_tag_data,
	[TNF_ARG_OPAQUE] = &tnf_opaque_tag_data,
	[TNF_ARG_STRING] = &tnf_string_tag_data,
	[TNF_ARG_TEXT] = &text_type,
	[TNF_ARG_BLOB] = &blob_type,
};
#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* A control block points to this piece of memory, which is never freed. */
struct meaning {
	struct meaning	*next;		/* in its chain */
	struct tnf_probe_control *probe;
	uint32_t	hash, event_size;
	unsigned	n;		/* arguments */
	bool		words;		/* each of them is a word of 64 bits */
	unsigned char	kinds[TNF_ARGUMENTS_MAX];
	unsigned char	at[TNF_ARGUMENTS_MAX];	/* their places in the event */
	const struct tnf_tag_data *slots[TNF_ARGUMENTS_MAX + 1];
	char		attrs[];
};

/* Chains by hash: a program may have a hundred thousand.  A search for leaks finds them from here. */
#define CHAINS		4096u

static struct meaning *meanings[CHAINS];
static uint32_t lock;

static void
lock_take(void)
{
	/* Nothing breaks without the lock. */
	for (unsigned i = 0; i < WAIT_MAX && __atomic_exchange_n(&lock, 1,
	    __ATOMIC_ACQUIRE) != 0; i++)
		if (!tnf_wait(i))
			return;
}

void
tnf_runtime_unlock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* No control character, none of 'not'. */
static bool
is_sound(const char *s, const char *not)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p >= ' ' && *p != 0x7f && strchr(not, *p) == NULL)
		p++;
	return *p == '\0';
}

static bool
is_name(const char *s)
{
	return s != NULL && *s != '\0' && strlen(s) <= TNF_NAME_MAX && is_sound(s, " ;");
}

static bool
may_be_defined(const char *name, const char *keys, const char *detail,
    unsigned n, const struct tnf_probe_argument_type *args)
{
	size_t len = 64;

	if (!is_name(name) || !is_sound(keys, ";") || !is_sound(detail, "") ||
	    n > TNF_ARGUMENTS_MAX)
		return false;
	len += strlen(name) + strlen(keys) + strlen(detail);
	for (unsigned i = 0; i < n; i++) {
		if (!is_name(args[i].name) || args[i].kind >= NKINDS || kinds[args[i].kind] == NULL)
			return false;
		len += strlen(args[i].name) + 1;
	}
	return len <= ATTRS_MAX;
}

static uint32_t
hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s != '\0')
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

/* Puts it all in one place; to be freed. */
static struct meaning *
new_meaning(const char *name, const char *keys, const char *detail,
    unsigned n, const struct tnf_probe_argument_type *args)
{
	struct meaning *m = calloc(1, sizeof(*m) + ATTRS_MAX);
	struct meaning *fit;
	uint32_t at = 8, align = 4;
	char *to;

	if (m == NULL)
		return NULL;
	m->n = n;
	m->words = true;
	to = stpcpy(stpcpy(stpcpy(m->attrs, "name "), name), ";slots ");
	for (unsigned i = 0; i < n; i++) {
		m->kinds[i] = (unsigned char)args[i].kind;
		m->slots[i] = kinds[args[i].kind];
		m->words &= m->slots[i]->size == sizeof(uint64_t);
		m->at[i] = (unsigned char)(at = member_place(m->slots[i], at));
		at += m->slots[i]->size;
		align = m->slots[i]->align > align ? m->slots[i]->align : align;
		to = stpcpy(stpcpy(to, args[i].name), " ");
	}
	to = stpcpy(stpcpy(stpcpy(stpcpy(to, ";keys "), keys), ";"), detail);
	m->event_size = (at + align - 1) & ~(align - 1);
	m->hash = hash_of(m->attrs);
	fit = realloc(m, sizeof(*m) + (size_t)(to - m->attrs) + 1);
	return fit == NULL ? m : fit;
}

static struct meaning *
meaning_of(const struct tnf_probe_control *p)
{
	return (struct meaning *)(uintptr_t)(p->attrs - offsetof(struct meaning, attrs));
}

static struct tnf_probe_control *
blocks_of(struct tnf_probe_pool *pool)
{
	return (struct tnf_probe_control *)(void *)(pool + 1);
}

#define POOL_BLOCKS \
	((POOL_SIZE - sizeof(struct tnf_probe_pool)) / \
	    sizeof(struct tnf_probe_control))

static struct tnf_probe_control *
runtime_find(const struct meaning *m)
{
	const struct meaning *o = __atomic_load_n(&meanings[m->hash % CHAINS], __ATOMIC_ACQUIRE);

	while (o != NULL && (o->hash != m->hash || memcmp(o->kinds, m->kinds, sizeof(m->kinds)) != 0 ||
	    strcmp(o->attrs, m->attrs) != 0))
		o = o->next;
	return o == NULL ? NULL : o->probe;
}

static struct tnf_probe_pool *
new_pool(struct tnf_probe_pool *older)
{
	struct tnf_probe_pool *pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);

	if (pool == MAP_FAILED)
		return NULL;
	pool->next = older;
	pool->size = POOL_BLOCKS * sizeof(struct tnf_probe_control);
	if (__atomic_compare_exchange_n(&_tnf_process_control.pools, &older, pool,
	    false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return pool;
	munmap(pool, POOL_SIZE);
	return older;
}

/* A block that nobody else gets. */
static struct tnf_probe_control *
new_block(void)
{
	struct tnf_probe_pool *pool;
	uint64_t n;

	pool = __atomic_load_n(&_tnf_process_control.pools, __ATOMIC_ACQUIRE);
	do
		if (pool != NULL &&
		    (n = __atomic_fetch_add(&pool->used, 1, __ATOMIC_RELAXED)) < POOL_BLOCKS)
			return blocks_of(pool) + n;
	while ((pool = new_pool(pool)) != NULL);
	return NULL;
}

/* A controller that has a breakpoint there stops us, and switches on what is to be
   on, before the first hit. */
static void
tell_controller(void)
{
	extern struct r_debug _r_debug __attribute__((weak));

	__atomic_fetch_add(&_tnf_process_control.defined, 1, __ATOMIC_RELEASE);
	if (&_r_debug == NULL || _r_debug.r_brk == 0 || _r_debug.r_state != RT_CONSISTENT)
		return;
	((void (*)(void))(uintptr_t)_r_debug.r_brk)();
}

static struct tnf_probe_control *
runtime_make(struct meaning *m)
{
	struct tnf_probe_control *p = new_block();
	struct meaning **chain = &meanings[m->hash % CHAINS];

	if (p == NULL)
		return NULL;
	p->size = sizeof(*p);
	p->event_size = m->event_size;
	p->attrs = m->attrs;
	p->slots = m->slots;
	__atomic_store_n(&p->tnf_version, TNF_PROBE_ABI, __ATOMIC_RELEASE);
	m->probe = p;
	m->next = __atomic_load_n(chain, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(chain, &m->next, m, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return p;
}

/* tnf_probe_define().  'tell': tells the controller of the new probe, which it perhaps does not know. */
static struct tnf_probe_control *
tnf_runtime_define(const char *name, const char *keys, const char *detail,
    unsigned n, const struct tnf_probe_argument_type *args, bool tell)
{
	struct tnf_probe_control *p, *old;
	struct meaning *m;

	if (keys == NULL)
		keys = "";
	if (detail == NULL)
		detail = "";
	if (!may_be_defined(name, keys, detail, n, args)) {
		errno = EINVAL;
		return NULL;
	}
	if ((m = new_meaning(name, keys, detail, n, args)) == NULL)
		return NULL;
	if (tell)
		tnf_span_look_locked();
	lock_take();
	old = p = runtime_find(m);
	if (p == NULL && (p = runtime_make(m)) != NULL)
		tnf_auto_defined(p);
	tnf_runtime_unlock();
	if (p == NULL || old != NULL)
		free(m);
	else if (tell)
		tell_controller();
	if (p == NULL)
		errno = ENOMEM;
	return p;
}

TNF_API struct tnf_probe_control *
tnf_probe_define(const char *name, const char *keys, const char *detail,
    unsigned n, const struct tnf_probe_argument_type *args)
{
	return tnf_runtime_define(name, keys, detail, n, args, true);
}

static tnf_reference_t
put_string(struct tnf_probe_setup *setup, const struct tnf_probe_value *v, tnf_reference_t *cell)
{
	char copy[TNF_STRING_MAX + 2];	/* one too many: it will be marked as cut */
	size_t n;

	if (v->size == TNF_SIZE_NUL)
		return tnf_probe_string(setup, v->u.text, cell);
	n = v->size < TNF_STRING_MAX + 1 ? v->size : TNF_STRING_MAX + 1;
	memcpy(copy, v->u.text, n);
	copy[n] = '\0';
	return tnf_probe_string(setup, copy, cell);
}

static tnf_reference_t
put_reference(struct tnf_probe_setup *setup, const struct tnf_tag_data *type,
    const struct tnf_probe_value *v, tnf_reference_t *cell)
{
	if (v->u.data == NULL)
		return 0;
	switch (type->kind) {
	case TNF_TAG_TEXT:
		/* Characters up to the end, or one more than can be recorded. */
		return tnf_long_put(&tnf_t, type, v->u.text, strnlen(v->u.text,
		    v->size < TNF_LONG_MAX + 1 ? v->size : TNF_LONG_MAX + 1), cell);
	case TNF_TAG_BLOB:
		return tnf_long_put(&tnf_t, type, v->u.data, v->size, cell);
	default:
		return put_string(setup, v, cell);
	}
}

static void
put_value(struct tnf_probe_setup *setup, const struct tnf_tag_data *type,
    unsigned kind, const struct tnf_probe_value *v, char *at)
{
	tnf_reference_t *cell = (tnf_reference_t *)(void *)at;

	switch (kind) {
	case TNF_ARG_FLOAT32:
		*(float *)(void *)at = (float)v->u.d;
		break;
	case TNF_ARG_INT8:
	case TNF_ARG_UINT8:
		*at = (char)v->u.u;
		break;
	case TNF_ARG_INT16:
	case TNF_ARG_UINT16:
		*(uint16_t *)(void *)at = (uint16_t)v->u.u;
		break;
	case TNF_ARG_INT32:
	case TNF_ARG_UINT32:
		*(uint32_t *)(void *)at = (uint32_t)v->u.u;
		break;
	case TNF_ARG_STRING:
	case TNF_ARG_TEXT:
	case TNF_ARG_BLOB:
		*cell = put_reference(setup, type, v, cell);
		break;
	default:
		*(uint64_t *)(void *)at = v->u.u;
		break;
	}
}

static void __attribute__((noinline))
put_values(struct tnf_probe_setup *setup, const struct meaning *m,
    const struct tnf_probe_value *values, char *event)
{
	for (unsigned i = 0; i < m->n; i++)
		put_value(setup, m->slots[i], m->kinds[i], &values[i], event + m->at[i]);
}

/* Words are copied here; for other values the function would have to save more registers. */
TNF_API void
tnf_probe_hit(struct tnf_probe_control *p, const struct tnf_probe_value *values)
{
	const struct meaning *m;
	struct tnf_probe_setup setup;
	uint64_t *event;

	if (p->test == 0 ||
	    (event = event_alloc(p, &setup, (uintptr_t)__builtin_dwarf_cfa(), false)) == NULL)
		return;
	m = meaning_of(p);
	if (m->words)
		for (unsigned i = 0; i < m->n; i++)
			event[1 + i] = values[i].u.u;
	else
		put_values(&setup, m, values, (char *)event);
	event_commit(&setup);
}

#if defined(__x86_64__)

static bool
fits(const struct tnf_fast_value *v)
{
	return v->base < TNF_FAST_REGISTERS && v->index < TNF_FAST_REGISTERS && v->shift < 64 &&
	    (v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8);
}

/* 4 or 8, if these bytes of a register are the value, as it is recorded; else 0. */
static uint8_t
plain_bytes(const struct tnf_fast_value *v)
{
	bool is_word = v->kind == TNF_ARG_INT32 || v->kind == TNF_ARG_UINT32;
	bool is_long = v->kind == TNF_ARG_INT64 || v->kind == TNF_ARG_UINT64 ||
	    v->kind == TNF_ARG_OPAQUE;

	if (v->from != TNF_FAST_VALUE || v->index != TNF_FAST_NONE || v->offset != 0 || v->shift != 0)
		return 0;
	return is_word && v->size == 4 ? 4 : is_long && v->size == 8 ? 8 : 0;
}

static void
define_site(struct tnf_fast_site *s)
{
	struct tnf_probe_argument_type args[TNF_FAST_VALUES];
	struct tnf_probe_control *p;
	bool plain = true;
	uint32_t at = 8;

	if (s->n > TNF_FAST_VALUES)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		if (!fits(&s->v[i]) || (s->v[i].counted && i + 1 == s->n))
			return;
		args[i].name = s->v[i].name;
		args[i].kind = s->v[i].kind;
	}
	if (s->landing == 0)
		tnf_fast_calls_make();
	p = tnf_runtime_define(s->name, s->keys, s->detail, s->n, args, false);
	if (p == NULL)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		s->v[i].plain = plain_bytes(&s->v[i]);
		plain &= s->v[i].plain != 0;
		s->v[i].at = at = member_place(p->slots[i], at);
		at += p->slots[i]->size;
	}
	s->v[0].all_plain = plain;
	__atomic_store_n(&s->probe, p, __ATOMIC_RELEASE);
}

void
tnf_fast_define(struct tnf_fast_area *area)
{
	struct tnf_fast_site *s = (struct tnf_fast_site *)(void *)(area + 1);

	tnf_vectors_look();
	for (uint64_t i = 0; i < area->n; i++)
		define_site(&s[i]);
}

#endif
