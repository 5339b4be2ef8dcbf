/*
 * frameless.c - runs in functions that keep no frame pointers, until it is killed.
 */
static volatile unsigned long sum;

static __attribute__((noinline)) void
innermost(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i;
}

#define CALLS(name, next)						\
	static __attribute__((noinline)) void				\
	name(int n)							\
	{								\
		volatile char room[100];				\
									\
		room[n % 100] = 1;					\
		next(n);						\
		sum += (unsigned long)room[n % 100];			\
	}
CALLS(inner, innermost)
CALLS(middle, inner)
CALLS(outer, middle)
CALLS(outermost, outer)

int
main(int argc, char **argv)
{
	for (;;)
		outermost(argc * 1000000);
}
