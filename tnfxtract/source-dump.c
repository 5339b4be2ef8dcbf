/*
 * source-dump.c - a buffer in the memory image of a crashed machine.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/header.h"
#include "tnfxtract/source.h"

#define KCORE	"/proc/kcore"		/* this machine's memory */

/* The list's address of the symbol where the kernel's text begins; 0: none. */
static uint64_t
stext_of_list(const char *name, bool *readable)
{
	char line[1024], symbol[1024], type;
	unsigned long long addr;
	uint64_t found = 0;
	FILE *f = fopen(name, "re");

	*readable = f != NULL;
	if (f == NULL)
		return 0;
	while (found == 0 && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%llx %c %1023s", &addr, &type, symbol) == 3 &&
		    strcmp(symbol, "_stext") == 0)
			found = addr;
	fclose(f);
	return found;
}

static bool
open_list(struct source *s, const char *list)
{
	bool readable;
	uint64_t stext = stext_of_list(list, &readable);

	if (!readable) {
		perror(list);
		return false;
	}
	if (stext == 0) {
		complain("Symbol lookup error in %s: no _stext: give a copy of "
		    "the machine's /proc/kallsyms or the System.map of its kernel's "
		    "debug package, or leave out -n", list);
		return false;
	}
	s->symbols = list;
	s->shift = s->image.stext != 0 ? s->image.stext - stext : 0;
	return true;
}

static bool
open_image(struct source *s, const char *dump)
{
	int e = image_open(&s->image, dump);

	if (e == ENOEXEC)
		complain("%s: compressed dump, which cannot be read here: have "
		    "kdump write ELF, with makedumpfile -E instead of -c, -l or -p "
		    "(MAKEDUMP_ARGS in /etc/default/kdump-tools)", dump);
	else if (e == ELIBACC)
		complain("%s: compressed dump: libkdumpfile.so.10 is needed to read "
		    "it: install the package libkdumpfile10", dump);
	else if (e == EINVAL)
		complain("kvm_read error in %s: neither a 64-bit ELF core, nor a "
		    "compressed dump, nor raw memory; or it is damaged", dump);
	else if (e != 0 && strcmp(dump, KCORE) == 0)
		complain("%s: %s: run as root, on a kernel that has CONFIG_PROC_KCORE and "
		    "is not locked down", dump, strerror(e));
	else if (e != 0)
		complain("%s: %s", dump, strerror(e));
	return e == 0;
}

/* A dump without the note, or whose note is not found: the kernel keeps the same lines in
   a page of its own, to which it adds the time when it crashes. */
static void
read_info(struct source *s)
{
	char page[IMAGE_PAGE + 1];

	if (s->search.info == 0 || (s->image.stext != 0 && s->image.crashed != 0 &&
	    s->image.info != NULL) || image_read(&s->image, page, IMAGE_PAGE, s->search.info) != (ssize_t)IMAGE_PAGE)
		return;
	page[IMAGE_PAGE] = '\0';
	image_note(&s->image, page, IMAGE_PAGE);
}

bool
source_open_dump(struct source *s, const char *dump, const char *list)
{
	memset(s, 0, sizeof *s);
	s->image.fd = -1;
	s->dump = dump;
	if (!open_image(s, dump))
		return false;
	int e = image_search(&s->image, &s->search);
	if (e != 0) {
		complain("kvm_read error in %s: %s", dump, strerror(e));
		return false;
	}
	read_info(s);
	if (image_apart_damaged(&s->image) != 0)
		complain("%s: damaged: at %u places or more it cannot be read: what was there is "
		    "missing", dump, image_apart_damaged(&s->image));
	return list == NULL || open_list(s, list);
}

bool
source_open_previous(struct source *s)
{
	if (!source_open_dump(s, KCORE, NULL))
		return false;
	s->previous = true;
	if (!tnf_boot_id(s->boot_id)) {
		complain("/proc/sys/kernel/random/boot_id: cannot be read: what is of "
		    "this boot cannot be told from what is older");
		return false;
	}
	return true;
}

bool
source_find_buffer(struct source *s)
{
	int e = image_find_buffer(&s->image, &s->search, s->previous ? s->boot_id : NULL,
	    &s->found);

	if ((e == 0 || e == ENODATA) && source_restore_definitions(s))
		e = 0;
	if (e == ENOENT && s->previous)
		complain("no kernel buffer of an earlier boot is in memory: the firmware "
		    "has cleared it, or there was none");
	else if (e == ENOENT)
		fprintf(stderr, "No trace data available in the kernel.\n");
	else if (e == ENODATA)
		complain("%s: the buffer's definitions are not in the image",
		    s->dump);
	else if (e != 0)
		complain("kvm_read error in %s: %s", s->dump, strerror(e));
	if (e != 0)
		return false;
	if (s->found.missing != 0)
		complain("%s: %u of %zu blocks are not in the image: their "
		    "events are missing", s->dump, s->found.missing,
		    s->found.size / 4096);
	s->base = s->found.base;
	s->size = s->found.size;
	return true;
}
