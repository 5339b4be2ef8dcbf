/*
 * elf.c - fuzzes what libtnfctl reads of a process: ELF files, control blocks,
 * attribute strings, the linker's list.
 *
 * The input is the object file and, over and over, the process's memory too.
 * Between two looks at the process one word changes, and objects come and go:
 * the last bytes of the input tell which.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tnf/target.h>

#include "common/elf-file.h"
#include "libtnfctl/handle.h"
#include "libtnfctl/proc.h"

#define READ_MAX	(1u << 20)
#define INPUT_MAX	(1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *memory;
static size_t memory_size;
static int object;
static unsigned first_object, objects;	/* that the process has */

/* The last quarter of the address space cannot be read. */
static bool
read_memory(void *arg, uintptr_t at, void *buf, size_t n)
{
	uint8_t *p = buf;
	size_t i;

	if (at > UINTPTR_MAX / 4 * 3 || n > READ_MAX)
		return false;
	for (i = 0; i < n; i++)
		p[i] = memory[(at + i) % memory_size];
	return true;
}

static int
ind_read(void *client, uintptr_t at, void *buf, size_t n)
{
	return read_memory(NULL, at, buf, n) ? 0 : -1;
}

static int
ind_write(void *client, uintptr_t at, void *buf, size_t n)
{
	return at % 5 == 4 ? -1 : 0;
}

static pid_t
ind_pid(void *client)
{
	return getpid();
}

static int
ind_objects(void *client, tnfctl_ind_obj_f *fn, void *arg)
{
	tnfctl_ind_obj_info_t info = { .objfd = object, .objname = "/one" };
	unsigned i;

	for (i = first_object; i < first_object + objects; i++) {
		info.text_base = info.data_base = i * INPUT_MAX;
		if (fn(client, &info, arg) != 0)
			return -1;
	}
	return 0;
}

static tnfctl_errcode_t
try_probe(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	tnfctl_probe_state_t state;
	size_t i;

	tnfctl_probe_enable(h, p, NULL);
	tnfctl_probe_trace(h, p, NULL);
	tnfctl_probe_connect(h, p, NULL, "hit");
	if (tnfctl_probe_state_get(h, p, &state) == TNFCTL_ERR_NONE) {
		*(size_t *)arg += strlen(state.attr_string);
		for (i = 0; state.func_names != NULL && state.func_names[i]; i++)
			*(size_t *)arg += strlen(state.func_names[i]);
	}
	tnfctl_probe_disconnect_all(h, p, NULL);
	tnfctl_probe_untrace(h, p, NULL);
	tnfctl_probe_disable(h, p, NULL);
	return TNFCTL_ERR_NONE;
}

static void
look(tnfctl_handle_t *h)
{
	tnfctl_trace_attrs_t attrs;
	size_t sum = 0;

	if (tnfctl_trace_attrs_get(h, &attrs) == TNFCTL_ERR_NONE &&
	    attrs.trace_file_name != NULL)
		sum += strlen(attrs.trace_file_name);
	tnfctl_probe_apply(h, try_probe, &sum);
}

/* The changes that the process makes meanwhile. */
static void
change(void)
{
	static uint8_t later[INPUT_MAX];
	uint32_t tail[3], at;

	memcpy(tail, memory + memory_size - sizeof tail, sizeof tail);
	memcpy(later, memory, memory_size);
	at = tail[0] % (memory_size - sizeof tail[1]);
	memcpy(later + at, &tail[1], sizeof tail[1]);
	memory = later;
	first_object = tail[2] & 1;
	objects = tail[2] >> 1 & 3;
}

static void
fuzz_process(void)
{
	tnfctl_ind_config_t config = { ind_read, ind_write, ind_pid, ind_objects };
	tnfctl_handle_t *h;

	first_object = 0;
	objects = 1;
	if (tnfctl_indirect_open(NULL, &config, &h) != TNFCTL_ERR_NONE)
		return;
	look(h);
	change();
	tnfctl_check_libs(h);
	look(h);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
}

static void
fuzz_linker(void)
{
	static const struct target_ops none = { .close = NULL };
	const struct reader r = { getpid(), read_memory, NULL };
	tnfctl_handle_t *h = tnfctl_handle_new(&none, r.pid);
	struct linker l = { .debug = 0 };

	tnfctl_linkmap_look(&r, &l);
	memset(&l, 0, sizeof(l));
	l.debug = 64;
	tnfctl_linkmap_look(&r, &l);
	tnfctl_linkmap_objects(h, &r, &l);
	tnfctl_handle_free(h);
}

static bool
count(void *arg, uint64_t address, uint64_t size)
{
	return ++*(unsigned *)arg < 1000;
}

static void
fuzz_file(void)
{
	static const char *const names[] = { "hit", "_tnf_process_control" };
	struct elffile *e;
	uint64_t values[2] = { 0 }, v;
	char text[64];
	unsigned n = 0;

	tnf_elffile_kind_of(object, TNF_PROCESS_SYMBOL);
	if ((e = tnf_elffile_open(object)) == NULL)
		return;
	tnf_elffile_sections(e, "tnf_probes", count, &n);
	tnf_elffile_symbols(e, names, values, 2, true);
	if (tnf_elffile_function(e, "hit", &v) &&
	    tnf_elffile_function_at(e, v, text, sizeof text) &&
	    strlen(text) >= sizeof text)
		abort();
	if (tnf_elffile_pointer(e, tnf_elffile_lowest(e) + 256, &v) &&
	    tnf_elffile_string(e, v, text, sizeof text) && strlen(text) >= sizeof text)
		abort();
	tnf_elffile_close(e);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 64 || size > INPUT_MAX)
		return 0;
	object = memfd_create("object", MFD_CLOEXEC);
	if (object < 0 || write(object, data, size) != (ssize_t)size)
		abort();
	memory = data;
	memory_size = size;
	fuzz_file();
	fuzz_process();
	fuzz_linker();
	close(object);
	return 0;
}
