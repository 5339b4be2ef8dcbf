/*
 * matrix.c - every way to write a probe, for the compilers.  C and C++.
 */
#include <sys/tnf_probe.h>

#define CALLED	real_name
#define TYPICAL(name)	TNF_PROBE_1(name, "made by a macro", "", \
			    tnf_int, line, __LINE__)

struct point { int x, y; };
TNF_DECLARE_RECORD(struct point, my_point);
TNF_DECLARE_RECORD(struct point, my_point_too);
TNF_DEFINE_RECORD_1(struct point, my_point, tnf_int, x)
TNF_DEFINE_RECORD_2(struct point, my_point_too, tnf_int, x, tnf_int, y)

struct all { char c; short s; long l; const char *str; struct point *p; };
TNF_DECLARE_RECORD(struct all, my_all);
TNF_DEFINE_RECORD_5(struct all, my_all, tnf_char, c, tnf_short, s, tnf_long, l,
    tnf_string, str, my_point, p)

static int never;

__attribute__((unused)) static int
count(void)
{
	return ++never;
}

static inline void
in_line(int n)
{
	TNF_PROBE_1(in_line, "k", "", tnf_int, n, n);
}

void all_types(struct all *, const void *);

void
all_types(struct all *a, const void *o)
{
	TNF_PROBE_5(t1, "k", "", tnf_int, a, 1, tnf_uint, b, 2u, tnf_long, c,
	    3l, tnf_ulong, d, 4ul, tnf_longlong, e, 5);
	TNF_PROBE_5(t2, "k", "", tnf_ulonglong, a, 1, tnf_float, b, 2.f,
	    tnf_double, c, 3., tnf_string, d, a->str, tnf_opaque, e, o);
	TNF_PROBE_5(t3, "k", "", tnf_char, a, 'c', tnf_uchar, b, 'd',
	    tnf_short, c, a->s, tnf_ushort, d, 4, tnf_name, e, "n");
	TNF_PROBE_5(t4, "k", "", tnf_int8, a, 1, tnf_uint8, b, 2, tnf_int16, c,
	    3, tnf_uint16, d, 4, tnf_int32, e, 5);
	TNF_PROBE_5(t5, "k", "", tnf_uint32, a, 1, tnf_int64, b, 2, tnf_uint64,
	    c, 3, tnf_float32, d, 4, tnf_float64, e, 5);
	TNF_PROBE_5(t6, "k", "", tnf_size, a, sizeof(*a), tnf_pid, b, 2,
	    tnf_lwpid, c, 3, my_all, d, a, my_point_too, e, a->p);
}

/* Between two probes something begins or ends that must not be jumped over. */
#ifdef __cplusplus
struct ends { ~ends() { never += 0; } };
#else
static void
end(int *p)
{
	never += 0 * *p;
}
#endif

static int
scopes(int n)
{
	TNF_PROBE_0(outside, "k", "");
	{
#ifdef __cplusplus
		ends e;
#else
		__attribute__((cleanup(end))) int e = n;
		int vla[n];

		vla[0] = e;
		n = vla[0];
#endif
		(void)e;
		TNF_PROBE_1(inside, "k", "", tnf_int, n, n);
	}
	n += __extension__ ({ TNF_PROBE_0(in_expression, "k", ""); 0; });
	return n;
}

#ifdef __cplusplus
template <class T> struct box {
	T value;
	void look() { TNF_PROBE_1(look, "k", "", tnf_long, v, (long)value); }
};
template <class T> void
tmpl(T t)
{
	box<T> b = { t };

	TNF_PROBE_0(tmpl, "k", "");
	b.look();
}
class with_probe {
public:
	with_probe() { TNF_PROBE_0(constructed, "k", ""); }
	~with_probe() { TNF_PROBE_0(destroyed, "k", ""); }
};
static with_probe global;
#else
__attribute__((constructor)) static void
early(void)
{
	TNF_PROBE_0(early, "k", "");
}
#endif

int
main(void)
{
	int i;

	TNF_PROBE_0(plain, "k", "");
	TNF_PROBE_0(plain, "same name", "in the same function");
	TNF_PROBE_1(CALLED, "a b", "x y;v%z 'quoted words'", tnf_int, CALLED,
	    count());
	TYPICAL(from_macro);
	never += scopes(1) - 1;
	for (i = 0; i < 3; i++) {
		TNF_PROBE_2(loop, "k", "", tnf_int, i, i, tnf_int, n, count());
		in_line(i);
	}
	if (i == 3) {
		TNF_PROBE_0_DEBUG(dbg0, "d", "");
		TNF_PROBE_1_DEBUG(dbg1, "d", "x", tnf_int, n, count());
		TNF_PROBE_5_DEBUG(dbg5, "d", "x", tnf_int, a, 1, tnf_int, b, 2,
		    tnf_int, c, 3, tnf_int, d, 4, tnf_int, e, count());
	}
	switch (i) {
	case 3:
		TNF_PROBE_0(in_switch, "k", "");
		break;
	default:
		TNF_PROBE_0(in_switch, "k", "");
	}
#ifdef __cplusplus
	tmpl(1);
	tmpl('c');
	tmpl(2L);
#endif
	if (never)
		all_types(0, 0);
	return never;
}
