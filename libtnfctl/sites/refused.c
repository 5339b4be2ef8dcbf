/*
 * refused.c - objects and functions that are left alone whatever their code is like.
 */
#include <elf.h>
#include <string.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/sites.h"

#define RECORDING	"libtnfprobe calls it while it records"
#define ADDRESS_KNOWN	"a signal handler looks for its address"

static const struct refused_object {
	const char *soname;	/* that the name begins with */
	const char *why;
} refused_objects[] = {
	{ "ld-linux", "the dynamic linker is at work before a process can be probed" },
	{ "ld-musl", "the dynamic linker is at work before a process can be probed" },
	{ "libc.musl", "the dynamic linker is at work before a process can be probed" },
	{ "libtnfprobe.", "libtnfprobe itself records events" },
	{ "linux-vdso", "it is the kernel's code" },
};

/*
 * The functions that libtnfprobe calls when a thread hits a probe for the first time and when it
 * opens the file, and those that these functions call by name (tests/sites/names.sh compares the
 * list with what libtnfprobe imports).  The other names of the same function, such as
 * __libc_malloc, count too: they are at the same address.
 */
static const char *const recording[] = {
	"__asprintf_chk", "__ctype_b_loc", "__ctype_tolower_loc", "__cxa_finalize",
	"__errno_location", "__memcpy_chk", "__memmove_chk", "__realpath_chk",
	"__register_atfork", "__snprintf_chk", "__stack_chk_fail", "__strcat_chk",
	"__vsnprintf_chk", "aligned_alloc", "asprintf", "calloc", "clock_gettime", "close",
	"dl_iterate_phdr", "dlinfo", "faccessat", "fchmod", "flock", "free", "fstat64", "fstatat64",
	"getauxval", "getcwd", "geteuid", "getpid", "getppid", "getrandom", "getrlimit64",
	"kill", "linkat", "madvise", "malloc", "malloc_usable_size", "memalign", "memccpy",
	"memchr", "memcmp", "memcpy", "memmove", "memset", "mmap64", "mprotect", "mremap",
	"munmap", "nanosleep", "open64", "openat64", "posix_fallocate64", "posix_memalign",
	"pread64", "pthread_getcpuclockid", "pthread_getspecific", "pthread_key_create",
	"pthread_mutex_lock", "pthread_mutex_unlock", "pthread_self", "pthread_setcancelstate",
	"pthread_setspecific", "read", "readlink", "realloc", "reallocarray", "realpath", "regcomp",
	"regerror", "regexec", "regfree", "renameat", "renameat2", "sched_yield",
	"secure_getenv", "sigaction", "sigaltstack", "snprintf", "stat64", "statfs64", "stpcpy",
	"strcat", "strchr", "strcmp", "strcpy", "strcspn", "strerror", "strlen", "strncmp",
	"strncpy", "strndup", "strnlen", "strrchr", "strsep", "strspn", "strstr", "strtoull",
	"syscall", "sysconf", "unlink", "unlinkat", "vsnprintf", "write",
};

/* Their code may fault, or be interrupted, on purpose; the program's handler tells by the
   address in the registers which of them it was.  Parts of names. */
static const char *const address_known[] = {
	"SafeFetch",			/* OpenJDK */
	"ProbeMemory", "v8_probe_memory", "v8_simulator_probe_memory",	/* V8 */
	"JIT_WriteBarrier", "JIT_CheckedWriteBarrier", "JIT_ByRefWriteBarrier",	/* .NET */
	"__syscall_cancel_arch", "__syscall_cp_asm",	/* glibc and musl: pthread_cancel() */
	"__restore_rt",
};

const char *
tnfctl_refused_name(const char *name)
{
	for (size_t i = 0; i < sizeof recording / sizeof *recording; i++)
		if (strcmp(name, recording[i]) == 0)
			return RECORDING;
	for (size_t i = 0; i < sizeof address_known / sizeof *address_known; i++)
		if (strstr(name, address_known[i]) != NULL)
			return ADDRESS_KNOWN;
	return NULL;
}

/* They look at the address to return to, keep it to return once more, or are not returned to at
   all.  Beginnings of names. */
static const char *const returns_known[] = {
	"_Unwind_", "__builtin_", "__clone", "__cxa_", "__cyg_profile_", "__fentry__", "__getcontext",
	"__indirect_thunk", "__libc_start_", "__longjmp", "__morestack", "__setjmp", "__sigsetjmp",
	"__vfork", "__x86_indirect_thunk", "__x86_return_thunk", "_dl_", "_longjmp", "_mcount",
	"_setjmp", "_start", "clone", "dladdr", "dlinfo", "dlmopen", "dlopen", "dlsym", "dlvsym",
	"getcontext", "longjmp", "makecontext", "mcount", "setcontext", "setjmp", "siglongjmp",
	"sigsetjmp", "swapcontext", "vfork",
};

const char *
tnfctl_refused_return(const char *name)
{
	for (size_t i = 0; i < sizeof returns_known / sizeof *returns_known; i++)
		if (strncmp(name, returns_known[i], strlen(returns_known[i])) == 0)
			return "it uses the address to return to";
	return NULL;
}

/* Functions of programs that make code at run time, and whose garbage collectors go through
   the addresses to return to that they find on stacks; or of what loads such a program. */
static const char *const engines[] = {
	"_ZN2v87Isolate3NewERKNS0_12CreateParamsE", "_ZN2v87Isolate8AllocateEv",	/* V8 */
	"JNI_CreateJavaVM", "JLI_Launch",	/* Java */
	"coreclr_initialize", "hostfxr_main",	/* .NET */
	"mono_jit_init", "mono_jit_init_version",
	"JSGlobalContextCreate",	/* WebKit */
	"_Z13JS_NewContextjP9JSRuntime",	/* SpiderMonkey */
};

bool
tnfctl_object_makes_code(struct elffile *e)
{
	uint64_t addresses[sizeof engines / sizeof *engines] = { 0 };

	tnf_elffile_symbols(e, engines, addresses, sizeof engines / sizeof *engines, false);
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (addresses[i] != 0)
			return true;
	return false;
}

struct kinds {
	bool	is_linked;	/* by the dynamic linker, or for it */
	bool	has_threads;	/* variables of a thread's own: it has a C library */
};

static bool
note_segment(void *arg, const struct elffile_segment *s)
{
	struct kinds *k = arg;

	k->is_linked |= s->type == PT_DYNAMIC;
	k->has_threads |= s->type == PT_TLS;
	return true;
}

static bool
note_section(void *arg, uint64_t address, uint64_t size)
{
	*(bool *)arg = true;
	return false;
}

const char *
tnfctl_refused_object(struct elffile *e)
{
	struct kinds kinds = { false, false };
	bool is_go = false;
	char name[64];

	if (!tnf_elffile_has_sections(e))
		return "the file has no table of sections";
	tnf_elffile_sections(e, ".gopclntab", note_section, &is_go);
	if (is_go)
		return "a Go program moves its stacks, with the addresses to return to";
	if (tnf_elffile_soname(e, name, sizeof name))
		for (size_t i = 0; i < sizeof refused_objects / sizeof *refused_objects; i++)
			if (strncmp(name, refused_objects[i].soname,
			    strlen(refused_objects[i].soname)) == 0)
				return refused_objects[i].why;
	tnf_elffile_segments(e, note_segment, &kinds);
	if (!kinds.is_linked && !kinds.has_threads)
		return "it is linked statically, and has no C library's threads";
	return NULL;
}
