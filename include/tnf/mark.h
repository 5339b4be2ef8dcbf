/*
 * mark.h - TNF_MARK: a probe in few words, for C.  (Linux)
 *
 *	TNF_MARK(order_done, id, o->cakes, name);
 *
 * TNF_MARK(name, ...)
 *	name	 an identifier: the name of the probe, whose key is "mark".
 *	...	 up to six values, whose names in the trace are the words that stand here.
 *		 Write them without blanks.  A macro among them has the name of what it
 *		 stands for; TNF_MARK_n (n: the number of values) takes it as it is written.
 *
 * The type of a value is that of the expression: whole numbers become tnf_int64 or
 * tnf_uint64, floating ones tnf_float64, char * a string, any other pointer tnf_opaque.
 * All that <tnf/probe.h> says of probes holds for these.  C++ has no such choice of types
 * among constants; write TNF_PROBE_n there.
 */
#ifndef TNF_MARK_H
#define TNF_MARK_H

#include <tnf/probe.h>

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L

#ifdef NPROBE

#define TNF_MARK_0(name)			((void)0)
#define TNF_MARK_1(name, a)			((void)0)
#define TNF_MARK_2(name, a, b)			((void)0)
#define TNF_MARK_3(name, a, b, c)		((void)0)
#define TNF_MARK_4(name, a, b, c, d)		((void)0)
#define TNF_MARK_5(name, a, b, c, d, e)		((void)0)
#define TNF_MARK_6(name, a, b, c, d, e, f)	((void)0)
#define TNF_MARK_SITE_(n, name, keys, detail, argnames, ...)	((void)0)
#define TNF_MARK_SITE_0_(name, keys, detail)	((void)0)

#else

/* One of five, by the type of a value. */
#define TNF_MARK_BY_(v, i, u, d, s, p) \
	_Generic((v), char *: s, const char *: s, float: d, double: d, long double: d, \
	    char: i, signed char: i, short: i, int: i, long: i, long long: i, \
	    _Bool: u, unsigned char: u, unsigned short: u, unsigned int: u, unsigned long: u, \
	    unsigned long long: u, default: p)

static inline tnf_int64_t
tnf_mark_int_(struct tnf_probe_setup *setup, tnf_int64_t v, tnf_reference_t *cell)
{
	(void)setup;
	(void)cell;
	return v;
}

static inline tnf_uint64_t
tnf_mark_uint_(struct tnf_probe_setup *setup, tnf_uint64_t v, tnf_reference_t *cell)
{
	(void)setup;
	(void)cell;
	return v;
}

static inline tnf_float64_t
tnf_mark_float_(struct tnf_probe_setup *setup, tnf_float64_t v, tnf_reference_t *cell)
{
	(void)setup;
	(void)cell;
	return v;
}

static inline tnf_reference_t
tnf_mark_string_(struct tnf_probe_setup *setup, const char *v, tnf_reference_t *cell)
{
	return setup->probe->ops->string(setup, v, cell);
}

static inline tnf_opaque_t
tnf_mark_pointer_(struct tnf_probe_setup *setup, const volatile void *v, tnf_reference_t *cell)
{
	(void)setup;
	(void)cell;
	return (tnf_opaque_t)(unsigned long)v;
}

#define TNF_MARK_FIELD_(x, i, t, v) \
	__typeof__(TNF_MARK_BY_(v, (tnf_int64_t)0, (tnf_uint64_t)0, (tnf_float64_t)0, \
	    (tnf_string_t)0, (tnf_opaque_t)0)) tnf_m##i;
#define TNF_MARK_TAG_(x, i, t, v) \
	TNF_MARK_BY_(v, &tnf_int64_tag_data, &tnf_uint64_tag_data, &tnf_float64_tag_data, \
	    &tnf_string_tag_data, &tnf_opaque_tag_data) TNF_SEP_##i##_
#define TNF_MARK_SET_(x, i, t, v) \
	TNF_NAME_(x, event)->tnf_m##i = TNF_MARK_BY_(v, tnf_mark_int_, tnf_mark_uint_, \
	    tnf_mark_float_, tnf_mark_string_, tnf_mark_pointer_)(&TNF_NAME_(x, setup), v, \
	    (tnf_reference_t *)(void *)&TNF_NAME_(x, event)->tnf_m##i);
/* The values come in pairs, whose first half is empty: their types are known. */
#define TNF_MARK_SITE_(n, name, keys, detail, argnames, ...) \
	TNF_SITE_(name, keys, detail, n, argnames, \
	    TNF_EACH_##n##_(TNF_MARK_FIELD_, name, __VA_ARGS__), \
	    TNF_EACH_##n##_(TNF_MARK_TAG_, name, __VA_ARGS__), \
	    TNF_EACH_##n##_(TNF_MARK_SET_, name, __VA_ARGS__))
#define TNF_MARK_SITE_0_(name, keys, detail)	TNF_SITE_0_(name, keys, detail, "")
/* A name with a blank would count as two; for clang this is no constant. */
#ifdef __clang__
#define TNF_MARK_WORD_(text)
#else
#define TNF_MARK_WORD_(text) \
	_Static_assert(__builtin_strchr(text, ' ') == 0, \
	    "TNF_MARK: write the value " text " without blanks");
#endif

#define TNF_MARK_0(name)	TNF_MARK_SITE_0_(name, "mark", "")
#define TNF_MARK_1(name, a) \
	{ TNF_MARK_WORD_(#a) \
	TNF_MARK_SITE_(1, name, "mark", "", #a " ", , a) }
#define TNF_MARK_2(name, a, b) \
	{ TNF_MARK_WORD_(#a) TNF_MARK_WORD_(#b) \
	TNF_MARK_SITE_(2, name, "mark", "", #a " " #b " ", , a, , b) }
#define TNF_MARK_3(name, a, b, c) \
	{ TNF_MARK_WORD_(#a) TNF_MARK_WORD_(#b) TNF_MARK_WORD_(#c) \
	TNF_MARK_SITE_(3, name, "mark", "", #a " " #b " " #c " ", , a, , b, , c) }
#define TNF_MARK_4(name, a, b, c, d) \
	{ TNF_MARK_WORD_(#a) TNF_MARK_WORD_(#b) TNF_MARK_WORD_(#c) TNF_MARK_WORD_(#d) \
	TNF_MARK_SITE_(4, name, "mark", "", #a " " #b " " #c " " #d " ", , a, , b, , c, , d) }
#define TNF_MARK_5(name, a, b, c, d, e) \
	{ TNF_MARK_WORD_(#a) TNF_MARK_WORD_(#b) TNF_MARK_WORD_(#c) TNF_MARK_WORD_(#d) \
	TNF_MARK_WORD_(#e) \
	TNF_MARK_SITE_(5, name, "mark", "", #a " " #b " " #c " " #d " " #e " ", , a, , b, , c, \
	    , d, , e) }
#define TNF_MARK_6(name, a, b, c, d, e, f) \
	{ TNF_MARK_WORD_(#a) TNF_MARK_WORD_(#b) TNF_MARK_WORD_(#c) TNF_MARK_WORD_(#d) \
	TNF_MARK_WORD_(#e) TNF_MARK_WORD_(#f) \
	TNF_MARK_SITE_(6, name, "mark", "", #a " " #b " " #c " " #d " " #e " " #f " ", , a, , b, \
	    , c, , d, , e, , f) }

#endif /* NPROBE */

#define TNF_MARK_CHOSEN_(name, a, b, c, d, e, f, chosen, ...)	chosen
#define TNF_MARK(...) \
	TNF_MARK_CHOSEN_(__VA_ARGS__, TNF_MARK_6, TNF_MARK_5, TNF_MARK_4, TNF_MARK_3, \
	    TNF_MARK_2, TNF_MARK_1, TNF_MARK_0, 0)(__VA_ARGS__)

#endif

#endif /* TNF_MARK_H */
