/*
 * probe.h - TNF_PROBE_0 ... TNF_PROBE_10: probes for C and C++ programs.
 *
 *	TNF_PROBE_2(parse_line, "parser io", "sunw%debug 'a line'",
 *	    tnf_int, lineno, n, tnf_string, text, s);
 *
 * TNF_PROBE_n(name, keys, detail, type, argname, value, ...)
 *	name	 an identifier.  A macro is expanded; names need not be unique.
 *	keys	 a string constant: words separated by blanks, to select probes by.
 *	detail	 a string constant: "attribute value;attribute value".
 *	type	 an argument type or record type of <tnf/writer.h>.
 *	argname	 an identifier: the name of the value in the trace.
 *	value	 an expression of the type's C type.
 *
 * n is the number of values.  TNF_PROBE(3) is the reference, with examples;
 * <tnf/runtime.h> makes probes whose names are known at run time only.
 *
 * Off.  A probe is a control block (<tnf/target.h>) in a section of its own and a
 * test of one word of it.  While that word is 0 the program does nothing else: no
 * value is evaluated and nothing is called.  A program with probes needs no
 * library to link or run.  A controller such as prex(1) loads libtnfprobe into it
 * and sets the word, at any time and from another process.
 *
 * On.  The thread that reaches the probe evaluates each value once, from left to
 * right, and then commits the event.  If libtnfprobe has no room for the event, or
 * the thread is within another probe already, no value is evaluated and the event is
 * counted as lost.  So a value must have no side effect that the program needs.
 * A probe reports no error to the program, and libtnfprobe leaves errno as it was.
 * It takes no lock and allocates no memory; any number of threads may be in the same
 * probe at once.
 *
 * Where.  A probe may stand wherever a block may: in functions, inline functions,
 * templates, constructors, signal handlers, threads and shared objects.  It
 * expands to a block, not to an expression; behind `if (x)` use braces when an
 * else follows.  A C++ exception that leaves a value drops the event.  When a
 * longjmp() leaves a value, its event stays open until the thread reaches that
 * probe again, or a probe in a function that called this one; then it is dropped.
 *
 * Not promised: how many bytes an event takes, the order of control blocks in
 * memory, and that an event is recorded at all, since newer events overwrite the
 * oldest.  Names that end in '_' or begin with tnf_v_ or tnf_m belong to this header.
 *
 * Before including it define
 *	NPROBE		to compile all probes out: they expand to ((void)0)
 *	TNF_DEBUG	to compile TNF_PROBE_n_DEBUG in, which has "debug;" in front
 *			of its detail; without it these expand to ((void)0)
 *	TNF_COMPILED_KEYS to compile only the probes in that have one of these keys, at most
 *			eight: -DTNF_COMPILED_KEYS='"io","net"' (without optimisation the
 *			others stay in the program, and never record)
 *	TNF_NO_ASM	to have the word tested in C instead of by an asm statement
 */
#ifndef TNF_PROBE_H
#define TNF_PROBE_H

#include <tnf/writer.h>

#ifdef NPROBE

#define TNF_SITE_0_(name, keys, detail, argnames)			((void)0)
#define TNF_SITE_1_(name, keys, detail, argnames, t1, v1)		((void)0)
#define TNF_SITE_2_(name, keys, detail, argnames, t1, v1, t2, v2)	((void)0)
#define TNF_SITE_3_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3) \
	((void)0)
#define TNF_SITE_4_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3, \
    t4, v4) \
	((void)0)
#define TNF_SITE_5_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3, \
    t4, v4, t5, v5) \
	((void)0)

#else

#define TNF_STR_(x)		#x
#define TNF_STR(x)		TNF_STR_(x)
#define TNF_NAME_(name, what)	tnf_v_##name##_##what
#define TNF_EMPTY_
#define TNF_FIELD_(type, member)	type##_t member;
#define TNF_TAG_(type)			&type##_tag_data
#define TNF_ASSIGN_(name, type, member, value) \
	TNF_NAME_(name, event)->member = type##_encode( \
	    &TNF_NAME_(name, setup), value, &TNF_NAME_(name, event)->member);

#define TNF_ATTRS_(name, keys, detail, argnames) \
	"name " #name ";slots " argnames ";keys " keys ";file " __FILE__ \
	";line " TNF_STR(__LINE__) ";" detail

/*
 * The test: on x86-64 cmpl and jne, 9 bytes, or 13 if the rest of the probe is far
 * away; on 64-bit ARM three instructions, or two.
 * clang compiles a volatile word to that; gcc would load the word into a register
 * first.  (asm goto is no better, and clang then refuses two probes with a
 * destructor or an array of variable size between them.)
 */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && \
    !defined(__clang__) && !defined(TNF_NO_ASM)
/* "i" in C: with "m" gcc loads the address first, because the cold part uses it. */
#if defined(__cplusplus)
#define TNF_CMP_	"cmpl $0, %1"
#define TNF_WORD_(w)	"m"(w)
#else
#define TNF_CMP_	"cmpl $0, %c1(%%rip)"
#define TNF_WORD_(w)	"i"(&(w))
#endif
#define TNF_IF_ON_(control, name) \
	int TNF_NAME_(name, on); \
	__asm__ volatile(TNF_CMP_ : "=@ccne"(TNF_NAME_(name, on)) : \
	    TNF_WORD_((control).test)); \
	if (__builtin_expect(TNF_NAME_(name, on), 0))
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__cplusplus) && !defined(TNF_NO_ASM)
/* adrp, ldr and cbnz; gcc would keep the whole address for the cold part.  Where all
   addresses are within a megabyte (-mcmodel=tiny), ldr has the whole of it. */
#if defined(__AARCH64_CMODEL_TINY__)
#define TNF_LOAD_	"ldr %w0, %1"
#else
#define TNF_LOAD_	"adrp %0, %1\n\tldr %w0, [%0, #:lo12:%1]"
#endif
#define TNF_IF_ON_(control, name) \
	unsigned long TNF_NAME_(name, on); \
	__asm__ volatile(TNF_LOAD_ : \
	    "=r"(TNF_NAME_(name, on)) : "S"(&(control).test)); \
	if (__builtin_expect((unsigned int)TNF_NAME_(name, on) != 0, 0))
#else
#define TNF_IF_ON_(control, name) \
	if (__builtin_expect((control).test != 0, 0))
#endif

/* An exception that leaves an argument ends the hit. */
#ifdef __cplusplus
TNF_LOCAL_BEGIN_
struct tnf_hit_guard {
	tnf_probe_setup *setup;
	~tnf_hit_guard()
	{
		if (setup != NULL) {
			setup->buffer = NULL;
			setup->probe->ops->commit(setup);
		}
	}
};
TNF_LOCAL_END_
#define TNF_GUARD_(name)	tnf_hit_guard TNF_NAME_(name, guard) = \
				    { &TNF_NAME_(name, setup) };
#define TNF_UNGUARD_(name)	TNF_NAME_(name, guard).setup = NULL;
#else
#define TNF_GUARD_(name)
#define TNF_UNGUARD_(name)
#endif

/* The code that runs while the probe is on. */
#define TNF_HIT_(name, control, assigns) \
	{ \
		struct tnf_probe_setup TNF_NAME_(name, setup); \
		struct TNF_NAME_(name, struct) *TNF_NAME_(name, event) = \
		    (struct TNF_NAME_(name, struct) *) \
		    (control)->ops->alloc((control), &TNF_NAME_(name, setup)); \
		if (TNF_NAME_(name, event) != NULL) { \
			TNF_GUARD_(name) \
			assigns \
			TNF_UNGUARD_(name) \
			(control)->ops->commit(&TNF_NAME_(name, setup)); \
		} \
	}

/* Is the probe compiled in? */
#ifdef TNF_COMPILED_KEYS
#define TNF_HAS_(keys, key)	(__builtin_strstr(" " keys " ", " " key " ") != 0)
#define TNF_HAS8_(keys, a, b, c, d, e, f, g, h, ...) \
	(TNF_HAS_(keys, a) || TNF_HAS_(keys, b) || TNF_HAS_(keys, c) || TNF_HAS_(keys, d) || \
	TNF_HAS_(keys, e) || TNF_HAS_(keys, f) || TNF_HAS_(keys, g) || TNF_HAS_(keys, h))
#define TNF_HAS_ONE_(keys, ...)	TNF_HAS8_(keys, __VA_ARGS__)
#define TNF_COMPILED_(keys) \
	if (TNF_HAS_ONE_(keys, TNF_COMPILED_KEYS, "\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n"))
#else
#define TNF_COMPILED_(keys)
#endif

#define TNF_EVENT_(name, fields) \
	struct TNF_NAME_(name, struct) { \
		tnf_probe_event_t tnf_tag; \
		tnf_time_delta_t time_delta; \
		fields \
	};

#if defined(__cplusplus) && (defined(__x86_64__) || defined(__aarch64__)) && \
    defined(__GNUC__) && !defined(__clang__) && !defined(TNF_NO_ASM)
#if defined(__x86_64__)
#define TNF_ADDRESS_	"leaq 9971b(%%rip), %0"
#else
#define TNF_ADDRESS_	"adrp %0, 9971b\n\tadd %0, %0, #:lo12:9971b"
#endif
/*
 * g++ ignores the section attribute of a static variable inside a template.  So
 * asm lays the block out (struct tnf_probe_control).  The flag '?' puts it into
 * the section group of its function, so that the linker drops both together when
 * it finds a second instance.  The block points to things that are local to the file, and
 * therefore a constant also in position-independent code.
 */
TNF_LOCAL_BEGIN_
template <int N> struct tnf_slots0 {
	static const struct tnf_tag_data *const v[1];
};
template <int N> const struct tnf_tag_data *const tnf_slots0<N>::v[1] = {
	NULL
};
#define TNF_SLOTS_(n, params, args) \
template <params> struct tnf_slots##n { \
	static const struct tnf_tag_data *const v[n + 1]; \
}; \
template <params> const struct tnf_tag_data *const \
tnf_slots##n<args>::v[n + 1] = { args TNF_COMMA_ NULL };
#define TNF_P_(x)	const struct tnf_tag_data *x
TNF_SLOTS_(1, TNF_P_(A), A)
TNF_SLOTS_(2, TNF_P_(A) TNF_COMMA_ TNF_P_(B), A TNF_COMMA_ B)
TNF_SLOTS_(3, TNF_P_(A) TNF_COMMA_ TNF_P_(B) TNF_COMMA_ TNF_P_(C),
    A TNF_COMMA_ B TNF_COMMA_ C)
TNF_SLOTS_(4, TNF_P_(A) TNF_COMMA_ TNF_P_(B) TNF_COMMA_ TNF_P_(C) TNF_COMMA_
    TNF_P_(D), A TNF_COMMA_ B TNF_COMMA_ C TNF_COMMA_ D)
TNF_SLOTS_(5, TNF_P_(A) TNF_COMMA_ TNF_P_(B) TNF_COMMA_ TNF_P_(C) TNF_COMMA_
    TNF_P_(D) TNF_COMMA_ TNF_P_(E),
    A TNF_COMMA_ B TNF_COMMA_ C TNF_COMMA_ D TNF_COMMA_ E)
#define TNF_P6_	TNF_P_(A) TNF_COMMA_ TNF_P_(B) TNF_COMMA_ TNF_P_(C) TNF_COMMA_ \
    TNF_P_(D) TNF_COMMA_ TNF_P_(E) TNF_COMMA_ TNF_P_(F)
#define TNF_A6_	A TNF_COMMA_ B TNF_COMMA_ C TNF_COMMA_ D TNF_COMMA_ E TNF_COMMA_ F
TNF_SLOTS_(6, TNF_P6_, TNF_A6_)
TNF_SLOTS_(7, TNF_P6_ TNF_COMMA_ TNF_P_(G), TNF_A6_ TNF_COMMA_ G)
TNF_SLOTS_(8, TNF_P6_ TNF_COMMA_ TNF_P_(G) TNF_COMMA_ TNF_P_(H),
    TNF_A6_ TNF_COMMA_ G TNF_COMMA_ H)
TNF_SLOTS_(9, TNF_P6_ TNF_COMMA_ TNF_P_(G) TNF_COMMA_ TNF_P_(H) TNF_COMMA_ TNF_P_(I),
    TNF_A6_ TNF_COMMA_ G TNF_COMMA_ H TNF_COMMA_ I)
TNF_SLOTS_(10, TNF_P6_ TNF_COMMA_ TNF_P_(G) TNF_COMMA_ TNF_P_(H) TNF_COMMA_ TNF_P_(I)
    TNF_COMMA_ TNF_P_(J), TNF_A6_ TNF_COMMA_ G TNF_COMMA_ H TNF_COMMA_ I TNF_COMMA_ J)
#undef TNF_P6_
#undef TNF_A6_
#undef TNF_P_
#undef TNF_SLOTS_
TNF_LOCAL_END_

#define TNF_TAG_NONE_	0
#define TNF_SITE_(name, keys, detail, n, argnames, fields, types, assigns) \
{ \
TNF_COMPILED_(keys) { \
	TNF_EVENT_(name, fields) \
	struct tnf_probe_control *TNF_NAME_(name, control); \
	__asm__(".pushsection " TNF_PROBE_SECTION ",\"aw?\",@progbits\n" \
	    "\t.balign 64\n" \
	    "9971:\t.long %c1, %c2, 0, 0\n" \
	    "\t.quad 0, 0, 0\n" \
	    "\t.long 0, %c3\n" \
	    "\t.quad %c4, %c5\n" \
	    "\t.zero 64\n" \
	    "\t.popsection\n" \
	    "\t" TNF_ADDRESS_ : \
	    "=r"(TNF_NAME_(name, control)) : \
	    "i"(TNF_PROBE_ABI), "i"(sizeof(struct tnf_probe_control)), \
	    "i"(sizeof(struct TNF_NAME_(name, struct))), \
	    "i"(TNF_ATTRS_(name, keys, detail, argnames)), \
	    "i"(&tnf_slots##n<types>::v)); \
	TNF_IF_ON_(*TNF_NAME_(name, control), name) \
		TNF_HIT_(name, TNF_NAME_(name, control), assigns) \
} \
}

#else

#if defined(__cplusplus)
/* Blocks of inline functions and plain ones cannot share a section. */
#define TNF_SECTION_	TNF_PROBE_SECTION "." TNF_STR(__COUNTER__)
#else
#define TNF_SECTION_	TNF_PROBE_SECTION
#endif

#define TNF_TAG_NONE_	NULL
#define TNF_SITE_(name, keys, detail, n, argnames, fields, types, assigns) \
{ \
TNF_COMPILED_(keys) { \
	TNF_EVENT_(name, fields) \
	static const struct tnf_tag_data *const TNF_NAME_(name, slots)[] = \
	    { types, NULL }; \
	static struct tnf_probe_control TNF_NAME_(name, control) \
	    __attribute__((__section__(TNF_SECTION_), __aligned__(64))) = { \
		TNF_PROBE_ABI, sizeof(struct tnf_probe_control), \
		0, 0, NULL, NULL, 0, 0, \
		sizeof(struct TNF_NAME_(name, struct)), \
		TNF_ATTRS_(name, keys, detail, argnames), \
		TNF_NAME_(name, slots), \
		{ 0, 0, 0, 0, 0, 0, 0, 0 } \
	}; \
	TNF_IF_ON_(TNF_NAME_(name, control), name) \
		TNF_HIT_(name, &TNF_NAME_(name, control), assigns) \
} \
}

#endif

/*
 * A shared object that is loaded while its process traces itself (TNF_ENABLE) says so
 * to libtnfprobe, if that is there.
 */
#if defined(__PIC__) && !defined(__PIE__) && defined(__GNUC__)
#ifdef __cplusplus
extern "C"
#else
extern
#endif
void _tnf_probe_object(void) __attribute__((__weak__));
TNF_LOCAL_BEGIN_
static void __attribute__((__constructor__, __used__))
tnf_object_loaded_(void)
{
	if (_tnf_probe_object != NULL)
		_tnf_probe_object();
}
TNF_LOCAL_END_
#endif

/* A probe with n values, once their names are a string. */
#define TNF_SITE_0_(name, keys, detail, argnames) \
	TNF_SITE_(name, keys, detail, 0, argnames, TNF_EMPTY_, TNF_TAG_NONE_, \
	    TNF_EMPTY_)
#define TNF_SITE_1_(name, keys, detail, argnames, t1, v1) \
	TNF_SITE_(name, keys, detail, 1, argnames, \
	    TNF_FIELD_(t1, tnf_m1), \
	    TNF_TAG_(t1), \
	    TNF_ASSIGN_(name, t1, tnf_m1, v1))
#define TNF_SITE_2_(name, keys, detail, argnames, t1, v1, t2, v2) \
	TNF_SITE_(name, keys, detail, 2, argnames, \
	    TNF_FIELD_(t1, tnf_m1) TNF_FIELD_(t2, tnf_m2), \
	    TNF_TAG_(t1) TNF_COMMA_ TNF_TAG_(t2), \
	    TNF_ASSIGN_(name, t1, tnf_m1, v1) \
	    TNF_ASSIGN_(name, t2, tnf_m2, v2))
#define TNF_SITE_3_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3) \
	TNF_SITE_(name, keys, detail, 3, argnames, \
	    TNF_FIELD_(t1, tnf_m1) TNF_FIELD_(t2, tnf_m2) \
	    TNF_FIELD_(t3, tnf_m3), \
	    TNF_TAG_(t1) TNF_COMMA_ TNF_TAG_(t2) TNF_COMMA_ TNF_TAG_(t3), \
	    TNF_ASSIGN_(name, t1, tnf_m1, v1) \
	    TNF_ASSIGN_(name, t2, tnf_m2, v2) \
	    TNF_ASSIGN_(name, t3, tnf_m3, v3))
#define TNF_SITE_4_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3, \
    t4, v4) \
	TNF_SITE_(name, keys, detail, 4, argnames, \
	    TNF_FIELD_(t1, tnf_m1) TNF_FIELD_(t2, tnf_m2) \
	    TNF_FIELD_(t3, tnf_m3) TNF_FIELD_(t4, tnf_m4), \
	    TNF_TAG_(t1) TNF_COMMA_ TNF_TAG_(t2) TNF_COMMA_ \
	    TNF_TAG_(t3) TNF_COMMA_ TNF_TAG_(t4), \
	    TNF_ASSIGN_(name, t1, tnf_m1, v1) \
	    TNF_ASSIGN_(name, t2, tnf_m2, v2) \
	    TNF_ASSIGN_(name, t3, tnf_m3, v3) \
	    TNF_ASSIGN_(name, t4, tnf_m4, v4))
#define TNF_SITE_5_(name, keys, detail, argnames, t1, v1, t2, v2, t3, v3, \
    t4, v4, t5, v5) \
	TNF_SITE_(name, keys, detail, 5, argnames, \
	    TNF_FIELD_(t1, tnf_m1) TNF_FIELD_(t2, tnf_m2) \
	    TNF_FIELD_(t3, tnf_m3) TNF_FIELD_(t4, tnf_m4) \
	    TNF_FIELD_(t5, tnf_m5), \
	    TNF_TAG_(t1) TNF_COMMA_ TNF_TAG_(t2) TNF_COMMA_ \
	    TNF_TAG_(t3) TNF_COMMA_ TNF_TAG_(t4) TNF_COMMA_ TNF_TAG_(t5), \
	    TNF_ASSIGN_(name, t1, tnf_m1, v1) \
	    TNF_ASSIGN_(name, t2, tnf_m2, v2) \
	    TNF_ASSIGN_(name, t3, tnf_m3, v3) \
	    TNF_ASSIGN_(name, t4, tnf_m4, v4) \
	    TNF_ASSIGN_(name, t5, tnf_m5, v5))

/* Six to ten values need macros of any number of arguments, which C has since 1999. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define TNF_MANY_	1
#define TNF_EACH_1_(f, x, t, v)	f(x, 1, t, v)
#define TNF_EACH_2_(f, x, t, v, ...) \
	f(x, 2, t, v) TNF_EACH_1_(f, x, __VA_ARGS__)
#define TNF_EACH_3_(f, x, t, v, ...) \
	f(x, 3, t, v) TNF_EACH_2_(f, x, __VA_ARGS__)
#define TNF_EACH_4_(f, x, t, v, ...) \
	f(x, 4, t, v) TNF_EACH_3_(f, x, __VA_ARGS__)
#define TNF_EACH_5_(f, x, t, v, ...) \
	f(x, 5, t, v) TNF_EACH_4_(f, x, __VA_ARGS__)
#define TNF_EACH_6_(f, x, t, v, ...) \
	f(x, 6, t, v) TNF_EACH_5_(f, x, __VA_ARGS__)
#define TNF_EACH_7_(f, x, t, v, ...) \
	f(x, 7, t, v) TNF_EACH_6_(f, x, __VA_ARGS__)
#define TNF_EACH_8_(f, x, t, v, ...) \
	f(x, 8, t, v) TNF_EACH_7_(f, x, __VA_ARGS__)
#define TNF_EACH_9_(f, x, t, v, ...) \
	f(x, 9, t, v) TNF_EACH_8_(f, x, __VA_ARGS__)
#define TNF_EACH_10_(f, x, t, v, ...) \
	f(x, 10, t, v) TNF_EACH_9_(f, x, __VA_ARGS__)
#define TNF_SEP_1_
#define TNF_SEP_2_	TNF_COMMA_
#define TNF_SEP_3_	TNF_COMMA_
#define TNF_SEP_4_	TNF_COMMA_
#define TNF_SEP_5_	TNF_COMMA_
#define TNF_SEP_6_	TNF_COMMA_
#define TNF_SEP_7_	TNF_COMMA_
#define TNF_SEP_8_	TNF_COMMA_
#define TNF_SEP_9_	TNF_COMMA_
#define TNF_SEP_10_	TNF_COMMA_
#define TNF_FIELD_OF_(x, i, t, v)	TNF_FIELD_(t, tnf_m##i)
#define TNF_TAG_OF_(x, i, t, v)		TNF_TAG_(t) TNF_SEP_##i##_
#define TNF_ASSIGN_OF_(x, i, t, v)	TNF_ASSIGN_(x, t, tnf_m##i, v)
#define TNF_SITE_N_(n, name, keys, detail, argnames, ...) \
	TNF_SITE_(name, keys, detail, n, argnames, \
	    TNF_EACH_##n##_(TNF_FIELD_OF_, name, __VA_ARGS__), \
	    TNF_EACH_##n##_(TNF_TAG_OF_, name, __VA_ARGS__), \
	    TNF_EACH_##n##_(TNF_ASSIGN_OF_, name, __VA_ARGS__))
#endif

#endif /* NPROBE */

#define TNF_PROBE_0(name, keys, detail) \
	TNF_SITE_0_(name, keys, detail, "")
#define TNF_PROBE_1(name, keys, detail, t1, n1, v1) \
	TNF_SITE_1_(name, keys, detail, #n1 " ", t1, v1)
#define TNF_PROBE_2(name, keys, detail, t1, n1, v1, t2, n2, v2) \
	TNF_SITE_2_(name, keys, detail, #n1 " " #n2 " ", t1, v1, t2, v2)
#define TNF_PROBE_3(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3) \
	TNF_SITE_3_(name, keys, detail, \
	    #n1 " " #n2 " " #n3 " ", t1, v1, t2, v2, t3, v3)
#define TNF_PROBE_4(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4) \
	TNF_SITE_4_(name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " ", t1, v1, t2, v2, t3, v3, t4, v4)
#define TNF_PROBE_5(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5) \
	TNF_SITE_5_(name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5)

#ifdef TNF_MANY_
#define TNF_PROBE_6(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, t4, n4, v4, \
    t5, n5, v5, t6, n6, v6) \
	TNF_SITE_N_(6, name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6)
#define TNF_PROBE_7(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, t4, n4, v4, \
    t5, n5, v5, t6, n6, v6, t7, n7, v7) \
	TNF_SITE_N_(7, name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7)
#define TNF_PROBE_8(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, t4, n4, v4, \
    t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8) \
	TNF_SITE_N_(8, name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8)
#define TNF_PROBE_9(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, t4, n4, v4, \
    t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8, t9, n9, v9) \
	TNF_SITE_N_(9, name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " " #n9 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8, t9, v9)
#define TNF_PROBE_10(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, t4, n4, v4, \
    t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8, t9, n9, v9, t10, n10, v10) \
	TNF_SITE_N_(10, name, keys, detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " " #n9 " " \
	    #n10 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8, t9, v9, \
    t10, v10)
#elif defined(NPROBE) && (defined(__cplusplus) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L))
#define TNF_PROBE_6(...)	((void)0)
#define TNF_PROBE_7(...)	((void)0)
#define TNF_PROBE_8(...)	((void)0)
#define TNF_PROBE_9(...)	((void)0)
#define TNF_PROBE_10(...)	((void)0)
#endif

#if defined(TNF_MANY_) && defined(TNF_DEBUG)
#define TNF_PROBE_6_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5, t6, n6, v6) \
	TNF_SITE_N_(6, name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6)
#define TNF_PROBE_7_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5, t6, n6, v6, t7, n7, v7) \
	TNF_SITE_N_(7, name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7)
#define TNF_PROBE_8_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8) \
	TNF_SITE_N_(8, name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8)
#define TNF_PROBE_9_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8, t9, n9, v9) \
	TNF_SITE_N_(9, name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " " #n9 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8, t9, v9)
#define TNF_PROBE_10_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, t3, n3, v3, \
    t4, n4, v4, t5, n5, v5, t6, n6, v6, t7, n7, v7, t8, n8, v8, t9, n9, v9, t10, n10, v10) \
	TNF_SITE_N_(10, name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " " #n6 " " #n7 " " #n8 " " #n9 " " \
	    #n10 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5, t6, v6, t7, v7, t8, v8, t9, v9, \
    t10, v10)
#elif defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define TNF_PROBE_6_DEBUG(...)	((void)0)
#define TNF_PROBE_7_DEBUG(...)	((void)0)
#define TNF_PROBE_8_DEBUG(...)	((void)0)
#define TNF_PROBE_9_DEBUG(...)	((void)0)
#define TNF_PROBE_10_DEBUG(...)	((void)0)
#endif

#ifdef TNF_DEBUG

#define TNF_PROBE_0_DEBUG(name, keys, detail) \
	TNF_SITE_0_(name, keys, "debug;" detail, "")
#define TNF_PROBE_1_DEBUG(name, keys, detail, t1, n1, v1) \
	TNF_SITE_1_(name, keys, "debug;" detail, #n1 " ", t1, v1)
#define TNF_PROBE_2_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2) \
	TNF_SITE_2_(name, keys, "debug;" detail, \
	    #n1 " " #n2 " ", t1, v1, t2, v2)
#define TNF_PROBE_3_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3) \
	TNF_SITE_3_(name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " ", t1, v1, t2, v2, t3, v3)
#define TNF_PROBE_4_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3, t4, n4, v4) \
	TNF_SITE_4_(name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " ", t1, v1, t2, v2, t3, v3, t4, v4)
#define TNF_PROBE_5_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3, t4, n4, v4, t5, n5, v5) \
	TNF_SITE_5_(name, keys, "debug;" detail, \
	    #n1 " " #n2 " " #n3 " " #n4 " " #n5 " ", \
	    t1, v1, t2, v2, t3, v3, t4, v4, t5, v5)

#else

#define TNF_PROBE_0_DEBUG(name, keys, detail) \
	((void)0)
#define TNF_PROBE_1_DEBUG(name, keys, detail, t1, n1, v1) \
	((void)0)
#define TNF_PROBE_2_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2) \
	((void)0)
#define TNF_PROBE_3_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3) \
	((void)0)
#define TNF_PROBE_4_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3, t4, n4, v4) \
	((void)0)
#define TNF_PROBE_5_DEBUG(name, keys, detail, t1, n1, v1, t2, n2, v2, \
    t3, n3, v3, t4, n4, v4, t5, n5, v5) \
	((void)0)

#endif /* TNF_DEBUG */

#endif /* TNF_PROBE_H */
