/*
 * control.c - the control blocks of a process: its probes and itself.
 *
 * Blocks are read a section at a time and written a word at a time.  The target may put any
 * values there: we check their bounds, and never use them as pointers into our own memory.
 */
#include "common/elf-file.h"
#include "libtnfctl/control.h"
#include "libtnfctl/imports.h"

#define PROBES_MAX	(1u << 18)	/* of one target */
#define FILE_MIN	131072u
#define FILE_MIN_MAX	(16u << 20)	/* what a target may ask for */
#define BLOCK_MAX	4096u		/* bytes a control block may grow to */
#define POOLS_MAX	16384u
#define POOLS_FEW	16u	/* read while the target stands still */
#define POOL_MAX	(1u << 20)	/* bytes of one */
#define PREPARED	1024u		/* probes at once */
#define AT(p, member)	((p)->address + offsetof(struct tnf_probe_control, member))

/* The words that a controller writes, as they lie in a block. */
struct words {
	uint32_t test;
	uint32_t traced;
	uint64_t ops;
	uint64_t chain;
	uint64_t controlled;
};
_Static_assert(offsetof(struct tnf_probe_control, controlled) -
    offsetof(struct tnf_probe_control, test) ==
    offsetof(struct words, controlled), "struct tnf_probe_control");

/* Finds the next block, from *at on, in the copy of a section. */
static bool
next_block(const char *copy, size_t size, size_t *at,
    struct tnf_probe_control *ret)
{
	for (; *at + sizeof(*ret) <= size; *at += sizeof(uint64_t)) {
		memcpy(ret, copy + *at, sizeof(*ret));
		/* Between blocks there may be padding. */
		if (ret->tnf_version == TNF_PROBE_ABI &&
		    ret->size >= sizeof(*ret) && ret->size <= BLOCK_MAX &&
		    ret->size % sizeof(uint64_t) == 0)
			return true;
	}
	return false;
}

static void
take_state(tnfctl_probe_t *p, const struct tnf_probe_control *block)
{
	p->enabled = block->test != 0;
	p->traced = block->traced != 0;
	p->chain = (uintptr_t)block->chain;
	p->prepared = block->controlled != 0;
}

/* The file of an object, opened when it is needed. */
struct source {
	struct object *object;
	struct text *text;
	struct elffile *elf;
	bool	 asked;		/* elf is what it is, NULL too */
};

static struct elffile *
source_elf(struct source *s)
{
	if (!s->asked)
		s->elf = tnf_elffile_take(tnfctl_object_open(s->object));
	s->asked = true;
	return s->elf;
}

/*
 * Reads the attribute string.  Right after dlopen() has mapped an object its
 * pointers are not relocated yet: then the object's file tells where the string will be.
 */
static bool
control_attributes(tnfctl_handle_t *h, struct source *s, uintptr_t address,
    const struct tnf_probe_control *block, char *ret)
{
	uint64_t where;

	if (tnfctl_text_read(h, s->text, (uintptr_t)block->attrs, ret) &&
	    strncmp(ret, "name ", 5) == 0)
		return true;
	return source_elf(s) != NULL &&
	    tnf_elffile_pointer(s->elf, address - s->object->bias +
	    offsetof(struct tnf_probe_control, attrs), &where) &&
	    tnf_elffile_string(s->elf, where, ret, TEXT_SIZE) &&
	    strncmp(ret, "name ", 5) == 0;
}

static tnfctl_errcode_t
add_probe(tnfctl_handle_t *h, struct source *source, uintptr_t address,
    const struct tnf_probe_control *block)
{
	char attrs[TEXT_SIZE];
	tnfctl_probe_t *p;

	if (!control_attributes(h, source, address, block, attrs))
		return TNFCTL_ERR_NONE;
	if ((p = tnfctl_probe_add(h, attrs)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	p->object = source->object;
	p->address = address;
	take_state(p, block);
	return TNFCTL_ERR_NONE;
}

/* Adds a probe, but leaves it out if its attributes make no sense: h->nprobes tells. */
static tnfctl_errcode_t
add_pooled(tnfctl_handle_t *h, struct text *text, uintptr_t address,
    const struct tnf_probe_control *block)
{
	/* A probe made at run time is in no file: its pointers are read from the
	   target's memory. */
	struct source source = { .object = h->control_object, .text = text,
	    .asked = true };

	return h->nprobes == PROBES_MAX ? TNFCTL_ERR_NONE :
	    add_probe(h, &source, address, block);
}

static tnfctl_errcode_t
add_probes(tnfctl_handle_t *h, struct source *source, const struct section *s,
    const char *copy)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct tnf_probe_control block;
	size_t at = 0;

	for (; err == TNFCTL_ERR_NONE && h->nprobes < PROBES_MAX &&
	    next_block(copy, s->size, &at, &block); at += block.size)
		err = add_probe(h, source, s->address + at, &block);
	return err;
}

/* Reads the probes' states again: others may have changed them, as the target itself or the
   parent of a fork. */
static void
update_probes(tnfctl_handle_t *h, const struct section *s, const char *copy)
{
	struct tnf_probe_control block;
	tnfctl_probe_t *p;
	size_t i, at;

	for (i = 0; i < h->nprobes; i++) {
		p = h->probes[i];
		if (p->gone || p->address < s->address ||
		    p->address - s->address >= s->size)
			continue;
		at = p->address - s->address;
		if (next_block(copy, s->size, &at, &block) &&
		    at == p->address - s->address) {
			take_state(p, &block);
		} else {
			p->gone = true;
			p->object = NULL;
		}
	}
}

static tnfctl_errcode_t
read_sections(tnfctl_handle_t *h, struct object *o, struct text *text)
{
	struct source source = { .object = o, .text = text };
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	const struct section *s;
	char *copy;

	for (size_t i = 0; i < o->nsections && err == TNFCTL_ERR_NONE; i++) {
		s = &o->sections[i];
		if ((copy = malloc(s->size)) == NULL)
			err = tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
		else if (!h->ops->read(h, s->address, copy, s->size))
			memset(copy, 0, s->size);
		if (copy == NULL)
			break;
		if (o->fresh)
			err = add_probes(h, &source, s, copy);
		else
			update_probes(h, s, copy);
		free(copy);
	}
	tnf_elffile_close(source.elf);
	o->fresh = false;
	return err;
}

/* Writes the words of n probes, and notes what they are now. */
static void
prepare_some(tnfctl_handle_t *h, tnfctl_probe_t *const *v, size_t n)
{
	struct words words = { .traced = 1, .ops = h->probe_ops,
	    .controlled = 1 };
	uintptr_t at[PREPARED];
	bool all;

	for (size_t i = 0; i < n; i++)
		at[i] = AT(v[i], test);
	all = n > 1 && h->ops->write_each != NULL && h->ops->write_each(h, at, n, &words, sizeof(words));
	for (size_t i = 0; i < n; i++) {
		if (!all && !h->ops->write(h, at[i], &words, sizeof(words)))
			continue;
		v[i]->prepared = v[i]->traced = true;
		v[i]->enabled = false;
		v[i]->chain = 0;
	}
}

/* Sets up probes that no controller has seen before: off, traced, no functions. */
static void
control_prepare(tnfctl_handle_t *h)
{
	tnfctl_probe_t *v[PREPARED];
	size_t n = 0;

	if (h->control == 0 || h->probe_ops == 0)
		return;
	for (size_t i = 0; i < h->nprobes; i++) {
		tnfctl_probe_t *p = h->probes[i];

		if (p->gone || p->prepared || p->address == 0)
			continue;
		v[n++] = p;
		if (n == PREPARED) {
			prepare_some(h, v, n);
			n = 0;
		}
	}
	prepare_some(h, v, n);
}

/* The word at this address; 0 if it cannot be read. */
static uintptr_t
read_address(tnfctl_handle_t *h, uintptr_t at)
{
	uintptr_t word;

	return h->ops->read(h, at, &word, sizeof(word)) ? word : 0;
}

static void
read_process(tnfctl_handle_t *h)
{
	union {
		struct tnf_process_control control;
		char bytes[offsetof(struct tnf_process_control, chain_used)];
	} head;
	const struct tnf_process_control *c = &head.control;
	char name[TNF_PATH_SIZE];

	h->control = tnfctl_objects_known(h, KNOWN_CONTROL, &h->control_object);
	if (h->control == 0)
		return;
	if (!h->ops->read(h, h->control, head.bytes, sizeof(head.bytes)) ||
	    c->version != TNF_PROBE_ABI ||
	    c->size < offsetof(struct tnf_process_control, open)) {
		h->control = 0;
		return;
	}
	h->control_open = c->size < offsetof(struct tnf_process_control, quiet) ? 0 :
	    read_address(h, CONTROL(h, open));
	h->control_calls = c->size < offsetof(struct tnf_process_control, calls) +
	    sizeof(c->calls) ? 0 : CONTROL(h, calls);
	h->pools_told = c->size >= offsetof(struct tnf_process_control, defined) +
	    sizeof(c->defined);
	h->pools = h->pools_told ? read_address(h, CONTROL(h, pools)) : 0;
	h->proc_state = c->state;
	h->proc_stopped = c->stopped;
	h->broken_errno = c->broken_errno;
	h->probe_ops = (uintptr_t)c->ops;
	h->trace_min = c->file_min;
	if (h->trace_min < FILE_MIN || h->trace_min > FILE_MIN_MAX)
		h->trace_min = FILE_MIN;
	if (c->state == TNF_PROC_NO_BUFFER)
		return;
	h->trace_size = c->file_size;
	free(h->trace_file);
	h->trace_file = NULL;
	if (h->ops->read(h, CONTROL(h, file_name), name, sizeof(name)) &&
	    memchr(name, '\0', sizeof(name)) != NULL)
		h->trace_file = strdup(name);
}

static tnfctl_errcode_t
read_objects(tnfctl_handle_t *h, bool changed)
{
	struct text *text = tnfctl_text_new();
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;

	if (text == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	for (size_t i = 0; i < h->nprobes && changed; i++)
		h->probes[i]->new_probe = false;
	for (struct object *o = h->objects; o != NULL && err == TNFCTL_ERR_NONE; o = o->next)
		err = read_sections(h, o, text);
	free(text);
	return err;
}

/*
 * The probes that a target has made at run time.  Their control blocks lie in a chain of pools
 * (target.h), the newest first.  Blocks are completed in any order and never go.
 */
struct pool {
	uintptr_t address;		/* of its first block */
	size_t	 size;
};

/* Reads a block: its probe is new, or is known and may have been switched by others. */
static tnfctl_errcode_t
read_block(tnfctl_handle_t *h, struct text *text, uintptr_t address,
    const struct tnf_probe_control *block)
{
	tnfctl_probe_t **known = tnf_map_get(&h->pooled, &address, sizeof(address));
	size_t before = h->nprobes;
	tnfctl_errcode_t err;

	if (known != NULL) {
		take_state(*known, block);
		return TNFCTL_ERR_NONE;
	}
	err = add_pooled(h, text, address, block);
	if (err != TNFCTL_ERR_NONE || h->nprobes == before)
		return err;
	known = tnf_map_put(&h->pooled, &address, sizeof(address), NULL);
	if (known == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	*known = h->probes[before];
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
read_pool(tnfctl_handle_t *h, struct text *text, const struct pool *pool)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	struct tnf_probe_control block;
	char *copy = malloc(pool->size + 1);
	size_t at = 0;

	if (copy == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (!h->ops->read(h, pool->address, copy, pool->size)) {
		free(copy);
		return TNFCTL_ERR_NONE;
	}
	for (; err == TNFCTL_ERR_NONE && next_block(copy, pool->size,
	    &at, &block); at += block.size)
		err = read_block(h, text, pool->address + at, &block);
	free(copy);
	return err;
}

/* Finds the pools, and returns how many there are. */
static size_t
find_pools(tnfctl_handle_t *h, struct pool **ret)
{
	struct tnf_probe_pool head;
	struct pool *grown;
	size_t n = 0;

	*ret = NULL;
	for (uintptr_t at = h->pools; at != 0 && n < POOLS_MAX; at = (uintptr_t)head.next) {
		if (!h->ops->read(h, at, &head, sizeof(head)) ||
		    head.size > POOL_MAX)
			break;
		if ((grown = realloc(*ret, (n + 1) * sizeof(*grown))) == NULL)
			break;
		*ret = grown;
		grown[n].address = at + sizeof(head);
		grown[n++].size = head.size;
	}
	return n;
}

/* Brings the pools' probes in h->probes up to date, and adds new ones; then *came is set. */
static tnfctl_errcode_t
read_pools(tnfctl_handle_t *h, bool *came)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	size_t n, before = h->nprobes;
	struct text *text;
	struct pool *pool;

	if (h->control == 0 || h->pools == 0)
		return TNFCTL_ERR_NONE;
	if ((text = tnfctl_text_new()) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	if (h->pooled.value_size == 0)
		tnf_map_init(&h->pooled, sizeof(tnfctl_probe_t *));
	/* Read before the blocks, so that the next look finds probes that come while we read. */
	if (!h->ops->read(h, CONTROL(h, defined), &h->defined,
	    sizeof(h->defined)))
		h->defined = 0;
	/* The oldest pool comes first, so that probes have the order in which they were made. */
	n = find_pools(h, &pool);
	/* Blocks are whole from their first moment on. */
	if (n > POOLS_FEW)
		tnfctl_work(h, WORK_BEGIN);
	while (n > 0 && err == TNFCTL_ERR_NONE) {
		err = read_pool(h, text, &pool[--n]);
		tnfctl_work(h, WORK_LOOK);
	}
	tnfctl_work(h, WORK_END);
	free(pool);
	free(text);
	*came |= h->nprobes > before;
	return err;
}

bool
tnfctl_pools_grown(tnfctl_handle_t *h)
{
	uint64_t now;

	return h->control != 0 && h->pools_told && h->ops->read(h,
	    CONTROL(h, defined), &now, sizeof(now)) && now != h->defined;
}

/* pools: reads them even if no probes were made at run time since. */
static tnfctl_errcode_t
look(tnfctl_handle_t *h, struct objects_change *ret, bool pools)
{
	size_t first = h->nprobes;
	tnfctl_errcode_t err;

	if (h->gone) {
		*ret = (struct objects_change){ 0 };
		return TNFCTL_ERR_NONE;
	}
	if ((err = tnfctl_objects_refresh(h, ret)) != TNFCTL_ERR_NONE)
		return err;
	read_process(h);
	if ((err = read_objects(h, ret->came || ret->went || tnfctl_pools_grown(h)))
	    != TNFCTL_ERR_NONE ||
	    ((pools || tnfctl_pools_grown(h)) && (err = read_pools(h, &ret->came)) != TNFCTL_ERR_NONE))
		return err;
	control_prepare(h);
	tnfctl_probes_created(h, first);
	return tnfctl_imports_refresh(h);
}

tnfctl_errcode_t
tnfctl_control_look(tnfctl_handle_t *h, struct objects_change *ret)
{
	return look(h, ret, true);
}

tnfctl_errcode_t
tnfctl_control_look_soon(tnfctl_handle_t *h)
{
	struct objects_change change;

	return look(h, &change, false);
}

tnfctl_errcode_t
tnfctl_control_refresh(tnfctl_handle_t *h)
{
	struct objects_change change;

	return tnfctl_control_look(h, &change);
}

tnfctl_errcode_t
tnfctl_control_check_memory(tnfctl_handle_t *h)
{
	uintptr_t control = tnfctl_objects_known(h, KNOWN_CONTROL, NULL);
	char c;

	if (control == 0 || h->ops->read(h, control, &c, sizeof(c)))
		return TNFCTL_ERR_NONE;
	return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: the kernel does not give its "
	    "page at 0x%lx, with the state of " TNFCTL_LIBTNFPROBE ": the page is still to come "
	    "(userfaultfd), or its file was cut: try again", (int)h->pid, (unsigned long)control);
}

tnfctl_errcode_t
tnfctl_control_check(tnfctl_handle_t *h)
{
	uintptr_t flag = tnfctl_objects_known(h, KNOWN_INTERNAL_FLAG, NULL);
	int32_t internal;

	if (flag != 0 && h->ops->read(h, flag, &internal, sizeof(internal)) &&
	    internal != 0)
		return tnfctl_error_set(TNFCTL_ERR_BUSY,
		    "process %d: it controls its own probes", (int)h->pid);
	if (h->control == 0)
		return tnfctl_error_set(TNFCTL_ERR_NOLIBTNFPROBE, "process %d: "
		    "no " TNFCTL_LIBTNFPROBE " of this version is loaded",
		    (int)h->pid);
	return TNFCTL_ERR_NONE;
}

void
tnfctl_control_claim(tnfctl_handle_t *h, pid_t controller)
{
	int32_t pid = controller > 0 ? h->pid : 0, us = controller;
	uintptr_t address;

	if (h->gone)
		return;
	if (h->control != 0)
		h->ops->write(h, CONTROL(h, controller), &us, sizeof(us));
	address = tnfctl_objects_known(h, KNOWN_EXTERNAL_PID, NULL);
	if (address != 0)
		h->ops->write(h, address, &pid, sizeof(pid));
}

bool
tnfctl_control_suspended(tnfctl_handle_t *h)
{
	int32_t before;

	return h->control != 0 && h->ops->read(h, CONTROL(h, controller),
	    &before, sizeof(before)) && before == TNF_SUSPENDED;
}

void
tnfctl_control_forget(tnfctl_handle_t *h)
{
	for (size_t i = 0; i < h->nprobes; i++) {
		h->probes[i]->object = NULL;
		h->probes[i]->gone = true;
	}
	tnfctl_objects_free(h);
	h->control = 0;
	h->control_object = NULL;
	h->gone = true;
}

tnfctl_errcode_t
tnfctl_control_attrs(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	*ret = (tnfctl_trace_attrs_t){
		.targ_pid = h->pid,
		.trace_min_size = h->trace_min,
		.trace_buf_state = TNFCTL_BUF_NONE,
		.trace_state = h->proc_stopped ? B_FALSE : B_TRUE,
	};
	if (h->proc_state == TNF_PROC_NO_BUFFER)
		return TNFCTL_ERR_NONE;
	ret->trace_file_name = h->trace_file;
	ret->trace_buf_size = h->trace_size;
	ret->trace_buf_state = TNFCTL_BUF_OK;
	if (h->proc_state != TNF_PROC_RUNNING && h->proc_state != TNF_PROC_READY)
		ret->trace_buf_state = TNFCTL_BUF_BROKEN;
	/* A broken buffer is no error of this call; the detail says why it is broken. */
	if (ret->trace_buf_state == TNFCTL_BUF_BROKEN)
		tnfctl_error_broken(h);
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_control_usable(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	if (h->proc_state == TNF_PROC_NO_BUFFER)
		return tnfctl_error_set(TNFCTL_ERR_NOBUF, "process %d: no trace file yet: "
		    "tnfctl_buffer_alloc() makes one", (int)h->pid);
	if (h->proc_state != TNF_PROC_RUNNING && h->proc_state != TNF_PROC_READY)
		return tnfctl_error_broken(h);
	if (p->gone)
		return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
		    "probe %lu: its object is not loaded any more", p->id);
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
put_word(tnfctl_handle_t *h, uintptr_t address, uint32_t word)
{
	if (!h->ops->write(h, address, &word, sizeof(word)))
		return tnfctl_error_lost(h, "its memory cannot be written");
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_control_probe_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	tnfctl_errcode_t err;

	if ((err = tnfctl_control_usable(h, p)) != TNFCTL_ERR_NONE)
		return err;
	if (!p->prepared)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL,
		    "probe %lu: its control block is read-only", p->id);
	err = put_word(h, enabling ? AT(p, test) : AT(p, traced), on);
	if (err != TNFCTL_ERR_NONE)
		return err;
	if (enabling)
		p->enabled = on;
	else
		p->traced = on;
	return TNFCTL_ERR_NONE;
}
