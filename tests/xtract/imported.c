/*
 * imported.c - a kernel's buffer with imported probes, each of which has one event in a
 * block of its own: imported FILE [PROBE SLOT]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/com.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

#define SIZE	(128u << 10)

static void
die(const char *what)
{
	fprintf(stderr, "imported: %s\n", what);
	exit(1);
}

struct event {
	struct kp_event head;
	int64_t value;
};

static void
add_import(struct kp *kp, char *buf, char *name, int slot)
{
	struct kp_import imp = { .name = name, .keys = (char[]){ "test" }, .slot = slot,
		.member[0] = { .type = "tnf_long", .name = (char[]){ "value" } }, .members = 1 };

	imp.row.size = sizeof(struct event);
	if (kp_defs_add(kp, buf, &imp) != 0)
		die(name);
}

static void
add_event(char *buf, uint32_t sched_tag, unsigned n, int slot)
{
	struct tnf_block_header *h = (void *)(buf + KP_DATA + n * KP_BLOCK_SIZE);
	struct tnf_kernel_schedule *s = (void *)((char *)h + KP_BLOCK_HEADER);
	struct event *e = (void *)(s + 1);

	*s = (struct tnf_kernel_schedule){ .tag = sched_tag, .lwpid = 1, .pid = 1,
		.time_base = n + 1, .number = 1, .cpuid = (int32_t)n };
	e->head.tag = KP_TAG(KP_IMPORT_ID(slot)) | (-(uint32_t)sizeof *s & 0xfffc);
	e->value = slot;
	h->bytes_valid = (uint16_t)(KP_BLOCK_HEADER + sizeof *s + sizeof *e);
	h->generation = n + 1;
	((struct tnf_ext *)(void *)(buf + TNF_EXT_OFFSET))->data_cursor = n + 1;
}

int
main(int argc, char **argv)
{
	static struct kp_shared state;
	static struct kp kp = { .state = &state };
	char *buf = calloc(1, SIZE);
	struct kp_defs defs;
	FILE *f;

	if (argc < 2 || buf == NULL || kp_defs_write(buf, SIZE, 1, &defs) != 0)
		die("no room for the definitions");
	state.tag_next = defs.next;
	memcpy(state.type, defs.type, sizeof state.type);
	for (int i = 2; i + 1 < argc; i += 2) {
		add_import(&kp, buf, argv[i], atoi(argv[i + 1]));
		add_event(buf, defs.sched_tag, (unsigned)i / 2 - 1, atoi(argv[i + 1]));
	}
	f = fopen(argv[1], "w");
	if (f == NULL || fwrite(buf, 1, SIZE, f) != SIZE || fclose(f) != 0)
		die(argv[1]);
	free(buf);
	return 0;
}
