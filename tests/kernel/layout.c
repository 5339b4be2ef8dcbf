/*
 * layout.c - the buffer's unchanging part, written to a file: layout FILE.
 * The events that the programs write must have the size that the types say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/com.h>

#include "kernel-probes/catalogue.h"

static uint32_t
word(const char *buf, uint32_t at)
{
	uint32_t w;

	memcpy(&w, buf + (at & ~TNF_REF32_PERMANENT), sizeof w);
	return w & ~TNF_REF32_PERMANENT;
}

static int
check_sizes(const char *buf)
{
	int bad = 0;

	for (unsigned id = 1; id < KP_PROBES; id++) {
		uint32_t probe = word(buf, KP_TAG(id) >> 16 & ~TNF_TAG16_ABS);
		uint32_t size = word(buf, probe + 16);

		if (((size + 7) & ~7u) == kp_catalogue[id].size)
			continue;
		printf("%s: type has %u bytes, event %u\n", kp_catalogue[id].name,
		    size, kp_catalogue[id].size);
		bad = 1;
	}
	return bad;
}

int
main(int argc, char **argv)
{
	size_t size = 128 << 10;
	char *buf = calloc(1, size);
	struct kp_defs defs;
	FILE *f;
	int bad;

	if (argc != 2 || buf == NULL || kp_defs_write(buf, size, 1, &defs) != 0) {
		puts("no room for the definitions");
		return 1;
	}
	f = fopen(argv[1], "w");
	if (f == NULL || fwrite(buf, 1, size, f) != size || fclose(f) != 0) {
		perror(argv[1]);
		return 1;
	}
	bad = check_sizes(buf);
	free(buf);
	return bad;
}
