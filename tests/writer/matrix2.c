/*
 * matrix2.c - a second file of the same program: the same names again.  C++
 * that was C once includes everything as C, and has macros of its own.
 */
#define unused	__attribute__((unused))
#define section	1

#ifdef __cplusplus
extern "C" {
#endif
#include <tnf/probe.h>
#ifdef __cplusplus
}
#endif

struct point { int x, y; };
TNF_DECLARE_RECORD(struct point, my_point);

int second(const struct point *);

int
second(const struct point *p)
{
	TNF_PROBE_0(plain, "k", "");
	TNF_PROBE_1(point, "k", "", my_point, p, p);
	TNF_PROBE_1(CALLED, "k", "", tnf_int, n, 1);
	return 0;
}
