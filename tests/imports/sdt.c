/*
 * sdt.c - a victim with USDT probes: each form of an operand, with known values.
 *
 *	sdt [ROUNDS]	hits each probe ROUNDS times (1) and ends
 *	sdt -w		the same once for each line on standard input; after each
 *			round it prints the words of its semaphores
 *	sdt -l LIB	the same, and loads LIB before the second round
 *
 * Probes with literal operands (STAP_PROBE_ASM) stand in functions that put the
 * values there themselves; what they are to be is in usdt.sh, too.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEMAPHORE(name) \
	__extension__ unsigned short victim_##name##_semaphore \
	    __attribute__((section(".probes"), visibility("hidden"), used))

SEMAPHORE(none);
SEMAPHORE(sizes);
SEMAPHORE(text);
SEMAPHORE(twice);
SEMAPHORE(forms);
SEMAPHORE(constants);
SEMAPHORE(twelve);
SEMAPHORE(counted);

struct place {
	uint64_t first;
	int32_t  second[4];
	int16_t  third;
};

__attribute__((visibility("hidden"))) int64_t victim_global = -77;
__attribute__((visibility("hidden"))) uint32_t victim_array[4] = { 10, 20, 30, 40 };

/* The words that the kernel is to have counted up. */
static void
print_semaphores(void)
{
	printf("%hu %hu %hu %hu %hu %hu %hu %hu\n", victim_none_semaphore,
	    victim_sizes_semaphore, victim_text_semaphore, victim_twice_semaphore,
	    victim_forms_semaphore, victim_constants_semaphore,
	    victim_twelve_semaphore, victim_counted_semaphore);
	fflush(stdout);
}

__attribute__((noinline)) static void
sizes(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f,
    int64_t g, uint64_t h)
{
	STAP_PROBE8(victim, sizes, a, b, c, d, e, f, g, h);
}

__attribute__((noinline)) static void
text(const char *good, const char *absent, const char *longer, const char *empty)
{
	STAP_PROBE4(victim, text, good, absent, longer, empty);
}

/* Two sites of one name, which find the argument in different places. */
__attribute__((noinline)) static void
twice(int n, const struct place *p)
{
	STAP_PROBE1(victim, twice, n);
	if (p->third != 0)
		STAP_PROBE1(victim, twice, p->second[2]);
}

#if defined(__x86_64__)
/* base+disp, base+index*scale+disp, rip-relative, a register's second byte. */
__attribute__((noinline)) static void
forms(const struct place *p)
{
	__asm__ volatile (
	    "movq %0, %%rdi\n\t"
	    "movl $2, %%eax\n\t"
	    "movl $0x1234, %%ecx\n\t"
	    STAP_PROBE_ASM(victim, forms,
	    8@(%%rdi) -4@8(%%rdi) -4@8(%%rdi,%%rax,4) -2@24(%%rdi)
	    -8@victim_global(%%rip) 4@victim_array+4(%%rip) 1@%%ch 1@%%cl 2@%%cx)
	    : : "r" (p) : "rdi", "rax", "rcx");
}

/* A float between two others is left out, and they are not. */
__attribute__((noinline)) static void
constants(void)
{
	__asm__ volatile (
	    STAP_PROBE_ASM(victim, constants, -4@$-5 8f@%%xmm0 8@$0x7fffffffffffffff)
	    : : :);
}
#elif defined(__aarch64__)
/* base+offset, base+index<<shift, a symbol, a constant, parts of a register.  Commas would
   part the macro's arguments: with two of these the first is a line for the assembler. */
__attribute__((noinline)) static void
forms(const struct place *p)
{
	__asm__ volatile (
	    "mov x0, %0\n\t"
	    "add x3, x0, 8\n\t"
	    "mov x1, 2\n\t"
	    "mov w2, 0x1234\n\t"
	    STAP_PROBE_ASM(victim, forms,
	    ".ascii \"8@[x0] -4@[x0, 8] -4@[x3, x1, lsl 2] -2@[x0, 24] "
	    "-8@victim_global 4@victim_array+4 1@18 1@w2 2@x2\"\n", "")
	    : : "r" (p) : "x0", "x1", "x2", "x3");
}

__attribute__((noinline)) static void
constants(void)
{
	__asm__ volatile (
	    STAP_PROBE_ASM(victim, constants, -4@-5 8f@d0 8@0x7fffffffffffffff)
	    : : :);
}
#else
static void forms(const struct place *p) { }
static void constants(void) { }
#endif

__attribute__((noinline)) static void
twelve(long n)
{
	STAP_PROBE12(victim, twelve, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6,
	    n + 7, n + 8, n + 9, n + 10, n + 11);
}

/* Text without an end, its length behind it. */
__attribute__((noinline)) static void
counted(const char *s, int n)
{
	STAP_PROBE2(victim, counted, s, n);
}

/* A function with parameters of all kinds, of which debugging information tells. */
enum colour { BLACK, WHITE = 7 };
struct wide { long v[3]; };

#if __has_attribute(noipa)
__attribute__((noipa))
#else
__attribute__((noinline))
#endif
int16_t described(int8_t small, uint32_t large, const char *said, double real, struct wide by_value,
    enum colour colour, void *where, uint16_t sixth, int32_t seventh, const char *eighth,
    int16_t ninth, const char *tenth);

int16_t
described(int8_t small, uint32_t large, const char *said, double real, struct wide by_value,
    enum colour colour, void *where, uint16_t sixth, int32_t seventh, const char *eighth,
    int16_t ninth, const char *tenth)
{
	__asm__ volatile ("" : : "r" (said), "r" (eighth), "r" (tenth), "r" (where), "m" (by_value) : "memory");
	return (int16_t)(small + (int)large + (int)colour + sixth + seventh + ninth + (int)real);
}

static void
hit_all(const char *longer)
{
	static const struct place p = { 0xfedcba9876543210u, { 1, -2, 3, -4 }, -300 };

	STAP_PROBE(victim, none);
	sizes(-128, 255, -32768, 65535, -2147483647 - 1, 4294967295u,
	    INT64_MIN, UINT64_MAX);
	text("a probe of \"sdt\"; it's text", (const char *)16, longer, "");
	twice(1, &p);
	forms(&p);
	constants();
	twelve(100);
	counted(longer, 5);
	described(-3, 4000000000u, "six \"words\"", 2.5, (struct wide){ { 1, 2, 3 } }, WHITE,
	    (void *)16, 65535, -100000, "in memory", -9, "here, too");
}

static void
load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*hit)(int) = NULL;

	if (lib != NULL)
		*(void **)&hit = dlsym(lib, "later_hit");
	if (hit == NULL) {
		fprintf(stderr, "sdt: %s: %s\n", path, dlerror());
		exit(1);
	}
	hit(42);
}

int
main(int argc, char **argv)
{
	const char *lib = argc > 2 && strcmp(argv[1], "-l") == 0 ? argv[2] : NULL;
	char longer[400], line[16];
	int round = 0;

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	if (argc < 2 || argv[1][0] != '-') {
		for (int n = argc < 2 ? 1 : atoi(argv[1]); n > 0; n--)
			hit_all(longer);
		return 0;
	}
	print_semaphores();
	while (fgets(line, sizeof line, stdin) != NULL) {
		if (lib != NULL && round++ > 0)
			load(lib);
		hit_all(longer);
		print_semaphores();
	}
	return 0;
}
