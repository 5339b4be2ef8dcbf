/*
 * liar.c - victim: what a controller reads in its memory is a lie.
 *
 * liar KIND: a controller must answer, whatever the answer, in bounded time
 * and memory, and this process must not come to harm by it.
 */
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <tnf/probe.h>
#include <tnf/target.h>

#include "victim.h"

extern struct tnf_probe_control __start_tnf_probes[], __stop_tnf_probes[];

static void
hit(void)
{
	TNF_PROBE_2(one, "lie", "", tnf_int, a, 1, tnf_string, b, "two");
	TNF_PROBE_0(two, "lie", "");
}

static struct r_debug *
debug(void)
{
	ElfW(Dyn) *d;

	for (d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (struct r_debug *)d->d_un.d_ptr;
	abort();
}

static void
lie_attrs_pointer(void)
{
	__start_tnf_probes[0].attrs = (const char *)0xdeadbeef000;
	__start_tnf_probes[1].attrs = (const char *)UINTPTR_MAX;
}

/* No NUL for as far as memory goes. */
static void
lie_attrs_endless(void)
{
	char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 'x', 64 << 20);
	memcpy(p, "name ", 5);
	__start_tnf_probes[0].attrs = p;
}

static void
lie_attrs_escape(void)
{
	static const char text[] = "name x;slots ;keys \033[2J\n\r;;;';=";

	__start_tnf_probes[0].attrs = text;
}

static void
lie_sizes(void)
{
	__start_tnf_probes[0].size = UINT32_MAX;
	__start_tnf_probes[1].size = 0;
}

static void
lie_version(void)
{
	_tnf_process_control.version = 77;
}

static void
lie_process(void)
{
	_tnf_process_control.state = 12345;
	_tnf_process_control.file_min = UINT64_MAX;
	_tnf_process_control.file_size = UINT64_MAX;
	_tnf_process_control.chain_used = UINT64_MAX;
	memset(_tnf_process_control.file_name, 'y', TNF_PATH_SIZE);
}

static unsigned long
lie_number(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text != NULL ? strtoul(text, NULL, 0) : otherwise;
}

/* $LIE_FILE, or something that a terminal would act on; $LIE_STATE, $LIE_SIZE. */
static void
lie_file(void)
{
	const char *name = getenv("LIE_FILE");

	_tnf_process_control.state = (tnf_uint32_t)lie_number("LIE_STATE", TNF_PROC_RUNNING);
	_tnf_process_control.file_size = lie_number("LIE_SIZE", TNF_PATH_SIZE);
	snprintf(_tnf_process_control.file_name, TNF_PATH_SIZE, "%s",
	    name != NULL ? name : "/tmp/\033[2J");
}

static void
lie_chain_used(void)
{
	_tnf_process_control.chain_used = UINT64_MAX;
}

/* A chain of functions that has no end. */
static void
lie_chain_endless(void)
{
	static tnf_probe_func_t f[100000];
	size_t i;

	for (i = 0; i < 100000; i++)
		f[i] = (tnf_probe_func_t)(uintptr_t)(0x1000 + i);
	__start_tnf_probes[0].chain = f;
	__start_tnf_probes[0].controlled = 1;
}

static void
lie_map_cycle(void)
{
	struct link_map *m = debug()->r_map;

	while (m->l_next != NULL)
		m = m->l_next;
	m->l_next = debug()->r_map;
}

static void
lie_map_wild(void)
{
	debug()->r_map->l_next = (struct link_map *)0x123;
}

/* Each entry is another object, and all of them are the same file. */
static void
lie_map_endless(void)
{
	static struct link_map maps[50000];
	struct link_map *m = debug()->r_map;
	size_t i;

	for (i = 0; i < 50000; i++) {
		maps[i] = *m;
		maps[i].l_addr = m->l_addr + 4096 * (i + 1);
		maps[i].l_next = i + 1 < 50000 ? &maps[i + 1] : NULL;
	}
	m->l_next = &maps[0];
}

static void
lie_map_names(void)
{
	static char name[1 << 20];

	memset(name, '/', sizeof(name));
	debug()->r_map->l_next->l_name = name;
	debug()->r_map->l_next->l_next->l_name = (char *)8;
}

static void
lie_map_bias(void)
{
	debug()->r_map->l_addr = (ElfW(Addr))-4096;
}

static void
lie_state(void)
{
	debug()->r_state = RT_ADD;
}

static const struct {
	const char *name;
	void	(*lie)(void);
} lies[] = {
	{ "attrs-pointer", lie_attrs_pointer },
	{ "attrs-endless", lie_attrs_endless },
	{ "attrs-escape", lie_attrs_escape },
	{ "sizes", lie_sizes },
	{ "version", lie_version },
	{ "process", lie_process },
	{ "file", lie_file },
	{ "chain-used", lie_chain_used },
	{ "chain-endless", lie_chain_endless },
	{ "map-cycle", lie_map_cycle },
	{ "map-wild", lie_map_wild },
	{ "map-endless", lie_map_endless },
	{ "map-names", lie_map_names },
	{ "map-bias", lie_map_bias },
	{ "state", lie_state },
};

int
main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
			puts(lies[i].name);
		return 0;
	}
	hit();
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (strcmp(argv[1], lies[i].name) == 0)
			lies[i].lie();
	victim_ready();
	getchar();
	/* No destructors: the linker would believe us as well. */
	_exit(3);
}
