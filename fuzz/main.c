/*
 * main.c - gives files to a fuzz target, so that its seeds run as a test.
 *
 * Arguments are files and directories.  Each file is also tried cut off at a
 * number of places, and an empty input always comes first.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CUTS		16		/* truncations of each seed */
#define MAX_SEED	(64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_inputs;

/* The copy has exactly 'size' bytes, so that ASan sees one byte too many. */
static void
feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = calloc(1, size > 0 ? size : 1);

	if (copy == NULL)
		return;
	if (size > 0)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	n_inputs++;
}

static int
feed_file(const char *path, size_t size)
{
	uint8_t *data;
	FILE *f;
	size_t n = 0;
	unsigned i;

	if (size > MAX_SEED || (data = malloc(size + 1)) == NULL)
		return -1;
	if ((f = fopen(path, "rb")) != NULL) {
		n = fread(data, 1, size, f);
		fclose(f);
	}
	for (i = 1; i <= CUTS; i++)
		feed(data, n * i / CUTS);
	free(data);
	return f != NULL ? 0 : -1;
}

static int
feed_path(const char *path)
{
	char name[4096];
	struct dirent *e;
	struct stat st;
	DIR *dir;
	int rc = 0;

	if (stat(path, &st) != 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return feed_file(path, (size_t)st.st_size);
	if ((dir = opendir(path)) == NULL)
		return -1;
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		if (feed_path(name) != 0)
			rc = -1;
	}
	closedir(dir);
	return rc;
}

int
main(int argc, char **argv)
{
	int i, rc = 0;

	feed((const uint8_t *)"", 0);
	for (i = 1; i < argc; i++)
		if (feed_path(argv[i]) != 0) {
			fprintf(stderr, "%s: cannot read\n", argv[i]);
			rc = 1;
		}
	printf("%u inputs\n", n_inputs);
	return rc;
}
