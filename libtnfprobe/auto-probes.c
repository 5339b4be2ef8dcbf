/*
 * auto-probes.c - the control blocks of all objects of this process.
 *
 * Their sections are not known at run time; the objects' files tell where they are.
 * A file counts only if it is still the one that has been mapped, as its program headers
 * tell, and a section only if it lies within what is mapped and may be written.
 */
#include <link.h>

#include "libtnfprobe/internal.h"

#define NAMES_MAX	(16u << 20)
#define BLOCK_MAX	4096u		/* bytes a control block may grow to */

struct visit {
	void	(*fn)(void *, struct tnf_probe_control *, const char *);
	void	*arg;
	const struct dl_phdr_info *info;
	const char *object;
	bool	any_unread;
};

static void *
read_part(int fd, uint64_t at, uint64_t n)
{
	void *p = malloc(n > 0 ? n : 1);

	if (p != NULL && pread(fd, p, n, (off_t)at) != (ssize_t)n) {
		free(p);
		p = NULL;
	}
	return p;
}

static bool
is_mapped(const struct dl_phdr_info *info, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W) != 0 &&
		    address >= ph->p_vaddr && size <= ph->p_memsz &&
		    address - ph->p_vaddr <= ph->p_memsz - size)
			return true;
	}
	return false;
}

static void
visit_section(const struct visit *v, const ElfW(Shdr) *s)
{
	char *at = (char *)v->info->dlpi_addr + s->sh_addr, *end = at + s->sh_size;
	struct tnf_probe_control *c;

	while (at + sizeof(*c) <= end) {
		c = (struct tnf_probe_control *)(void *)at;
		if (c->tnf_version != TNF_PROBE_ABI || c->size < sizeof(*c) ||
		    c->size > BLOCK_MAX || c->size % 8 != 0) {
			at += 8;	/* padding */
			continue;
		}
		if (c->attrs != NULL && strncmp(c->attrs, "name ", 5) == 0)
			v->fn(v->arg, c, v->object);
		at += c->size;
	}
}

static void
visit_sections(const struct visit *v, const ElfW(Ehdr) *eh, const ElfW(Shdr) *sh,
    const char *names, uint64_t names_size)
{
	static const char prefix[] = TNF_PROBE_SECTION;
	const size_t n = sizeof(prefix) - 1;

	for (unsigned i = 0; i < eh->e_shnum; i++) {
		const char *name = names + sh[i].sh_name;

		if (sh[i].sh_name >= names_size || names_size - sh[i].sh_name <= n ||
		    sh[i].sh_type != SHT_PROGBITS || (sh[i].sh_flags & SHF_ALLOC) == 0 ||
		    memcmp(name, prefix, n) != 0 || (name[n] != '\0' && name[n] != '.') ||
		    sh[i].sh_addr % 8 != 0)
			continue;
		if (is_mapped(v->info, sh[i].sh_addr, sh[i].sh_size))
			visit_section(v, &sh[i]);
	}
}

/* The file may have been replaced since it was loaded. */
static bool
is_loaded(const struct dl_phdr_info *info, int fd, const ElfW(Ehdr) *eh)
{
	uint64_t size = (uint64_t)info->dlpi_phnum * sizeof(ElfW(Phdr));
	void *ph;
	bool same;

	if (eh->e_phentsize != sizeof(ElfW(Phdr)) || eh->e_phnum != info->dlpi_phnum ||
	    (ph = read_part(fd, eh->e_phoff, size)) == NULL)
		return false;
	same = memcmp(ph, info->dlpi_phdr, size) == 0;
	free(ph);
	return same;
}

/* false: it is no file of what has been loaded. */
static bool
visit_file(const struct visit *v, int fd)
{
	ElfW(Shdr) *sh = NULL;
	ElfW(Ehdr) eh;
	char *names = NULL;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    eh.e_shentsize != sizeof(*sh) ||
	    eh.e_shstrndx >= eh.e_shnum || !is_loaded(v->info, fd, &eh))
		return false;
	sh = read_part(fd, eh.e_shoff, (uint64_t)eh.e_shnum * sizeof(*sh));
	if (sh != NULL && sh[eh.e_shstrndx].sh_size <= NAMES_MAX)
		names = read_part(fd, sh[eh.e_shstrndx].sh_offset, sh[eh.e_shstrndx].sh_size);
	if (names != NULL && sh[eh.e_shstrndx].sh_size > 0) {
		names[sh[eh.e_shstrndx].sh_size - 1] = '\0';
		visit_sections(v, &eh, sh, names, sh[eh.e_shstrndx].sh_size);
	}
	free(names);
	free(sh);
	return true;
}

static bool
visit_path(const struct visit *v, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool read = fd >= 0 && visit_file(v, fd);

	if (fd >= 0)
		close(fd);
	return read;
}

/* The program itself has no name here.  Where a dynamic linker was told to start it, or
   an emulator runs it, that is /proc/self/exe, and the program is what it was called. */
static bool
visit_program(struct visit *v)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	v->object = path;
	return visit_path(v, "/proc/self/exe") ||
	    (realpath(program_invocation_name, path) != NULL && visit_path(v, path));
}

static int
visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = info->dlpi_name;
	struct visit *all = arg, v = *all;

	v.info = info;
	v.object = path;
	if (path == NULL || *path == '\0')
		all->any_unread |= !visit_program(&v);
	else if (strchr(path, '/') != NULL)	/* the vDSO has no file */
		all->any_unread |= !visit_path(&v, path);
	return 0;
}

bool
tnf_auto_probes(void (*fn)(void *, struct tnf_probe_control *, const char *), void *arg)
{
	struct visit v = { .fn = fn, .arg = arg };

	dl_iterate_phdr(visit_object, &v);
	return !v.any_unread;
}
