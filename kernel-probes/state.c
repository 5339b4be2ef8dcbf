/*
 * state.c - the settings that users asked for, in a pinned map, so that they outlive us.
 */
#include <sys/mman.h>

#include "kernel-probes/handle.h"

#define STACK_DEPTH	8	/* as many as the original */
#define SAMPLE_RATE	99	/* a second; out of step with what programs do each 10 ms */
#define IMPORT_RATE	250000	/* events a second, of an imported probe on a CPU */

static void
state_init(struct kp_shared *s)
{
	memset(s, 0, sizeof *s);
	s->magic = KP_MAGIC;
	s->layout = KP_LAYOUT;
	s->size = sizeof *s;
	s->stack_depth = STACK_DEPTH;
	s->recover = 1;
	s->import_rate = IMPORT_RATE;
	s->sample_rate = SAMPLE_RATE;
}

static int
map_state(struct kp *kp)
{
	int prot = kp->control ? PROT_READ | PROT_WRITE : PROT_READ;
	void *p = mmap(NULL, sizeof *kp->state, prot, MAP_SHARED, kp->state_fd, 0);

	if (p == MAP_FAILED)
		return kp_fail(kp, -errno, KP_PIN_STATE ": cannot map: %s",
		    strerror(errno));
	kp->state = p;
	return 0;
}

/* We believe a pin only if it is one that we would have made ourselves. */
static bool
looks_right(int fd, enum bpf_map_type type, uint32_t value)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;

	return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    info.type == type && info.value_size == value;
}

static bool
state_ours(struct kp *kp)
{
	return looks_right(kp->state_fd, BPF_MAP_TYPE_ARRAY, sizeof *kp->state) &&
	    map_state(kp) == 0 && kp->state->magic == KP_MAGIC &&
	    kp->state->layout == KP_LAYOUT && kp->state->size == sizeof *kp->state;
}

static int
open_buffer(struct kp *kp)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	void *p;

	kp->buf_fd = bpf_obj_get(KP_PIN_BUF);
	kp->cpu_fd = bpf_obj_get(KP_PIN_CPU);
	if (kp->buf_fd < 0 || kp->cpu_fd < 0 ||
	    !looks_right(kp->buf_fd, BPF_MAP_TYPE_ARRAY, KP_BLOCK_SIZE) ||
	    bpf_obj_get_info_by_fd(kp->cpu_fd, &info, &size) != 0 ||
	    info.value_size != sizeof *kp->cpu)
		return -EPROTO;
	p = mmap(NULL, info.max_entries * sizeof *kp->cpu,
	    kp->control ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, kp->cpu_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	kp->cpu = p;
	kp->cpus = info.max_entries;
	return 0;
}

void
kp_state_new(struct kp *kp)
{
	state_init(&kp->local);
	kp->state = &kp->local;
}

int
kp_state_open(struct kp *kp)
{
	kp_state_new(kp);
	kp->state_fd = bpf_obj_get(KP_PIN_STATE);
	if (kp->state_fd == -ENOENT)
		return 0;
	if (kp->state_fd < 0)
		return kp_refused(kp, kp->state_fd, KP_PIN_STATE);
	kp->filter_fd = bpf_obj_get(KP_PIN_FILTER);
	kp->rules_fd = kp_map_open(KP_PIN_RULES, sizeof(struct kp_rule_key), sizeof(struct kp_rule));
	if (!state_ours(kp) || kp->rules_fd < 0 ||
	    !looks_right(kp->filter_fd, BPF_MAP_TYPE_ARRAY, KP_FILTER_MAX) ||
	    (kp->state->buffer_size != 0 && open_buffer(kp) != 0))
		kp->foreign = true;
	return 0;
}

int
kp_state_usable(struct kp *kp)
{
	if (kp->looking)
		return kp_refused(kp, -EPERM, "kernel probes");
	if (!kp->foreign)
		return 0;
	return kp_fail(kp, -EPROTO, KP_DIR ": pins of another version, or damaged: "
	    "remove them with \"buffer dealloc\"");
}

int
kp_state_make(struct kp *kp)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t zero = 0;
	uint8_t *reasons;
	int r;

	if (kp->state != &kp->local)
		return 0;
	kp->state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tnf_state", sizeof zero,
	    sizeof *kp->state, 1, &opts);
	if (kp->state_fd < 0)
		return kp_refused(kp, kp->state_fd, "BPF map");
	if ((r = kp_filter_make(kp)) < 0)
		return r;
	kp->rules_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "tnf_rules",
	    sizeof(struct kp_rule_key), sizeof(struct kp_rule), KP_RULES_MAX, NULL);
	if (kp->rules_fd < 0)
		return kp_refused(kp, kp->rules_fd, "BPF map");
	if ((r = bpf_map_update_elem(kp->state_fd, &zero, &kp->local, BPF_ANY)) < 0 ||
	    (r = bpf_obj_pin(kp->filter_fd, KP_PIN_FILTER)) < 0 ||
	    (r = bpf_obj_pin(kp->rules_fd, KP_PIN_RULES)) < 0 ||
	    (r = bpf_obj_pin(kp->state_fd, KP_PIN_STATE)) < 0)
		return kp_refused(kp, r, KP_DIR);
	for (int i = 0; i < kp->kepts; i++)
		if ((reasons = kp_filter_reasons(kp, kp->kept[i])) != NULL)
			*reasons = KP_FILTER_ALONE;
	kp->kepts = 0;
	if ((r = map_state(kp)) == 0)
		kp_rules_put_back(kp);
	return r;
}

/* The session keeps its copy of the settings, though they are pinned no more. */
void
kp_state_close(struct kp *kp)
{
	if (kp->state != NULL && kp->state != &kp->local) {
		if (!kp->foreign)
			kp->local = *kp->state;
		munmap(kp->state, sizeof *kp->state);
	}
	kp->local.rules = 0;
	kp->local.buffer_size = 0;
	kp->local.on = 0;
	kp->local.notes = 0;
	kp->loaded = 0;
	kp->state = &kp->local;
	if (kp->buf != NULL)
		munmap(kp->buf, kp->buf_size);
	kp->buf = NULL;
	if (kp->wbuf != NULL)
		munmap(kp->wbuf, kp->buf_size);
	kp->wbuf = NULL;
	if (kp->pool != NULL)
		munmap(kp->pool, ((size_t)kp->local.pool * sizeof *kp->pool + 4095) & ~4095ul);
	kp->pool = NULL;
	if (kp->filter != NULL)
		munmap(kp->filter, KP_FILTER_MAX);
	kp->filter = NULL;
	kp_imports_close(kp);
	kp_programs_close(kp);
	if (kp->cpu != NULL)
		munmap(kp->cpu, kp->cpus * sizeof *kp->cpu);
	kp->cpu = NULL;
	kp_close_fd(&kp->state_fd);
	kp_close_fd(&kp->filter_fd);
	kp_close_fd(&kp->rules_fd);
	kp_close_fd(&kp->buf_fd);
	kp_close_fd(&kp->cpu_fd);
	kp_close_fd(&kp->pool_fd);
}
