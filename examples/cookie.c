/*
 * cookie.c - a program as it was written for Solaris: nothing in it is ours.
 *
 *	cc -o cookie cookie.c -ltnfprobe	(or without the library)
 */
#include <stdio.h>
#include <stdlib.h>
#include <tnf/probe.h>

typedef struct cookie {
	int	 number;
	char	*flavor;
	double	 weight;
} cookie_t;

TNF_DECLARE_RECORD(cookie_t, tnf_cookie);
TNF_DEFINE_RECORD_3(cookie_t, tnf_cookie,
	tnf_int, number,
	tnf_string, flavor,
	tnf_double, weight)

int
main(int argc, char **argv)
{
	static char *flavors[] = { "ginger", "oatmeal", "chocolate chip" };
	int i, count;
	cookie_t c;

	count = argc > 1 ? atoi(argv[1]) : 9;
	TNF_PROBE_0(start, "cookie main", "sunw%debug 'starting main'");
	for (i = 0; i < count; i++) {
		c.number = i;
		c.flavor = flavors[i % 3];
		c.weight = 25.0 + i / 4.0;
		TNF_PROBE_2(inloop, "cookie main loop", "sunw%debug 'in the loop'",
			tnf_int,    loop_count, i,
			tnf_cookie, the_cookie, &c);
	}
	TNF_PROBE_1(end, "cookie main", "sunw%debug 'ending main'",
		tnf_long, total, (long)count);
	printf("%d cookies\n", count);
	return 0;
}
