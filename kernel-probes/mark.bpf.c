/*
 * mark.bpf.c - a mark: the loader runs this program once for each, and hangs it on
 * nothing.
 *
 * A run of a raw tracepoint's program is like a hit: preemption is disabled, and it ends
 * before what it interrupted goes on.  Its arguments are ours to choose.
 */
#include "kernel-probes/import.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8[KP_IMAGE_MAX + 2 * KP_TEXT_MAX + 1024]);
} mark_scratch SEC(".maps");

/* 0: slot, 1 and 2: addresses of the two strings in the calling process, 3 and 4: address and
   bytes of the numbers, which lie in the event behind the references to the strings.  Neither the
   filter nor a rate applies: a user wants this very event. */
SEC("raw_tp")
int import_mark(struct bpf_raw_tracepoint_args *ctx)
{
	u32 slot = ctx->args[0], zero = 0, at, first = sizeof(struct kp_event);
	struct kp_import_row *row = bpf_map_lookup_elem(&tnf_rows, &slot);
	struct import_hit h = { .row = row, .task = bpf_get_current_task_btf() };
	u8 *image = bpf_map_lookup_elem(&mark_scratch, &zero);

	if (row == NULL || !row->on || image == NULL)
		return 0;
	at = row->size;
	if (bpf_probe_read_user(image + first + 2 * sizeof(u32), ctx->args[4] & 127,
	    (void *)ctx->args[3]) != 0)
		return 0;
	import_string(image, &at, first, ctx->args[1], KP_TEXT_MAX, true);
	import_string(image, &at, first + sizeof(u32), ctx->args[2], KP_TEXT_MAX, true);
	return import_write(&h, image, at);
}
