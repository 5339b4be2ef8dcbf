/*
 * members.c - structures that pointers lead to, as arguments of a USDT probe and of a function.
 *
 * Usage: members, which hits both once for each line of its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/sdt.h>

struct cake {
	const char *name;
	char	 short_name[8];
	struct {
		short weight;
		unsigned char layers;
	};
	struct { int64_t left; } price;
	unsigned flag : 3;
};

struct order {
	char	 before[300];
	int	 id;
	struct cake *cake;
	struct order *next;
};

static struct cake opera = { "opera", "op", { -7, 200 }, { -5000000000 }, 5 };
static struct order fourth = { "", 4, &opera, NULL }, third = { "", 3, &opera, &fourth },
    second = { "", 2, NULL, &third }, first = { "", -1, &opera, &second };

__attribute__((noinline)) static void
greet(const char *name, struct order *o)
{
	__asm__ volatile ("" : : "r" (name), "r" (o) : "memory");
}

__attribute__((noinline)) static void
serve(const char *name, struct order *o)
{
	DTRACE_PROBE2(shop, serve, name, o);
}

int
main(void)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF) {
		greet("anna", &first);
		serve("bert", &first);
		/* Nothing is there: the record says it. */
		greet("carl", NULL);
		serve("dora", (struct order *)0x1000);
		puts("served");
		fflush(stdout);
	}
	return 0;
}
