/*
 * usdt-list.c - the notes of files, one line each, for comparison with readelf -n.
 *
 *	usdt-list FILE...	FILE provider name address base semaphore args
 *	usdt-list -p FILE...	FILE provider.name sites arguments, with their types
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "libtnfctl/usdt.h"

struct of_file {
	const char *path;
	unsigned long n;
};

static bool
print_note(void *arg, const struct usdt_note *n)
{
	struct of_file *f = arg;

	printf("%s %s %s 0x%016llx 0x%016llx 0x%016llx %s\n", f->path, n->provider,
	    n->name, (unsigned long long)n->address, (unsigned long long)n->base,
	    (unsigned long long)n->semaphore, n->args);
	f->n++;
	return true;
}

/* As they are in the file: readelf knows nothing of prelink. */
static bool
each_section(void *arg, const uint8_t *bytes, size_t size)
{
	tnfctl_usdt_notes_read(bytes, size, print_note, arg);
	return true;
}

static void
print_probes(const char *path, struct elffile *e)
{
	struct usdt_object o;

	if (!tnfctl_usdt_object_read(e, &o))
		return;
	for (size_t i = 0; i < o.n; i++) {
		printf("%s %s.%s %zu", path, o.v[i].provider, o.v[i].name, o.v[i].nsites);
		for (unsigned a = 0; a < o.v[i].nargs; a++)
			printf(" %s%d", o.v[i].sign[a] ? "int" : "uint", o.v[i].size[a] * 8);
		printf("%s%s\n", o.v[i].why[0] != '\0' ? " # " : "", o.v[i].why);
	}
	if (o.skipped != 0)
		printf("%s: %zu notes skipped\n", path, o.skipped);
	tnfctl_usdt_object_free(&o);
}

int
main(int argc, char **argv)
{
	bool probes = argc > 1 && strcmp(argv[1], "-p") == 0;

	for (int i = 1 + probes; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		struct elffile *e = fd == -1 ? NULL : tnf_elffile_open(fd);
		struct of_file f = { .path = argv[i] };

		if (e != NULL && probes)
			print_probes(argv[i], e);
		else if (e != NULL)
			tnf_elffile_notes(e, ".note.stapsdt", each_section, &f);
		tnf_elffile_close(e);
		if (fd != -1)
			close(fd);
	}
	return 0;
}
