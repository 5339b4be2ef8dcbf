/*
 * writer.h - what probes are written with: argument types, record types,
 * control of the own process, and what a connected function may look at.
 *
 * <tnf/probe.h> includes it.  A source file with probes or record types needs
 * no library to link or run.  The functions declared at the end are libtnfprobe's:
 * a program that calls them must link with -ltnfprobe.
 *
 * Every argument type T has
 *	T_t		the member in the event, or the member of a record
 *	T_tag_data	what libtnfprobe is told about the type
 *	T_encode()	the value to be stored in the member
 * and a record type adds T_prototype_t, the record in the file.
 *
 * Values.  A scalar is converted to its C type as by an assignment.  tnf_opaque
 * takes a pointer.  tnf_string and tnf_name take a const char * that ends in a
 * NUL; the first TNF_STRING_MAX (255) characters are copied into the trace while
 * the probe is hit, and NULL is recorded as a null reference.  The text remains the
 * caller's, and may change or be freed after the probe.  No character set is
 * assumed.  A value that finds no room in the block makes the whole event lost,
 * which is counted in the file.
 *
 * Threads.  The functions that a probe calls take no lock and allocate no memory, and may be
 * used from any thread and from signal handlers.  The text or structure that a
 * value points to must not change while it is copied; nobody checks that.
 *
 * T_encode(), names that end in '_', and the functions behind 'ops' are called by
 * the macros only.  Their signatures may change with TNF_PROBE_ABI.
 */
#ifndef TNF_WRITER_H
#define TNF_WRITER_H

#include <stddef.h>

#include <tnf/com.h>
#include <tnf/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members that every event begins with. */
typedef tnf_uint32_t		tnf_probe_event_t;
typedef tnf_uint32_t		tnf_time_delta_t;
typedef tnf_uint32_t		tnf_tag_t;

typedef int			tnf_int_t;
typedef unsigned int		tnf_uint_t;
typedef long			tnf_long_t;
typedef unsigned long		tnf_ulong_t;
__extension__ typedef long long	tnf_longlong_t;
__extension__ typedef unsigned long long tnf_ulonglong_t;
typedef float			tnf_float_t;
typedef double			tnf_double_t;
typedef short			tnf_short_t;
typedef unsigned short		tnf_ushort_t;
typedef __UINTPTR_TYPE__	tnf_opaque_t;
typedef size_t			tnf_size_t;
typedef tnf_int32_t			tnf_pid_t;
typedef tnf_uint32_t		tnf_lwpid_t;
typedef tnf_int64_t			tnf_time_base_t;
typedef tnf_reference_t		tnf_string_t;
typedef tnf_reference_t		tnf_name_t;
typedef tnf_reference_t		tnf_chars_t;

/*
 * The value of an argument of type tnf_chars: text that need not end in a NUL.  At
 * most 'len' characters are read, and at most one more than TNF_STRING_MAX, which are
 * recorded; the string in the trace ends there, or at the first NUL.  Write TNF_CHARS(text, len).  (Linux)
 */
struct tnf_chars {
	const char	*text;		/* or NULL */
	size_t		 len;
};

static inline struct tnf_chars
tnf_chars_make(const char *text, size_t len)
{
	struct tnf_chars c;

	c.text = text;
	c.len = len;
	return c;
}

static inline tnf_reference_t
tnf_chars_put(struct tnf_probe_setup *setup, struct tnf_chars value,
    tnf_reference_t *cell)
{
	char copy[TNF_STRING_MAX + 2];	/* one too many: it will be marked as cut */

	if (value.text == NULL)
		return 0;
	if (value.len > TNF_STRING_MAX + 1)
		value.len = TNF_STRING_MAX + 1;
	__builtin_memcpy(copy, value.text, value.len);
	copy[value.len] = '\0';
	return setup->probe->ops->string(setup, copy, cell);
}

#define tnf_int_encode(setup, value, cell)	(value)
#define tnf_uint_encode(setup, value, cell)	(value)
#define tnf_long_encode(setup, value, cell)	(value)
#define tnf_ulong_encode(setup, value, cell)	(value)
#define tnf_longlong_encode(setup, value, cell)	(value)
#define tnf_ulonglong_encode(setup, value, cell) (value)
#define tnf_float_encode(setup, value, cell)	(value)
#define tnf_double_encode(setup, value, cell)	(value)
#define tnf_char_encode(setup, value, cell)	(value)
#define tnf_uchar_encode(setup, value, cell)	(value)
#define tnf_short_encode(setup, value, cell)	(value)
#define tnf_ushort_encode(setup, value, cell)	(value)
#define tnf_int8_encode(setup, value, cell)	(value)
#define tnf_uint8_encode(setup, value, cell)	(value)
#define tnf_int16_encode(setup, value, cell)	(value)
#define tnf_uint16_encode(setup, value, cell)	(value)
#define tnf_int32_encode(setup, value, cell)	(value)
#define tnf_uint32_encode(setup, value, cell)	(value)
#define tnf_int64_encode(setup, value, cell)	(value)
#define tnf_uint64_encode(setup, value, cell)	(value)
#define tnf_float32_encode(setup, value, cell)	(value)
#define tnf_float64_encode(setup, value, cell)	(value)
#define tnf_size_encode(setup, value, cell)	(value)
#define tnf_pid_encode(setup, value, cell)	(value)
#define tnf_lwpid_encode(setup, value, cell)	(value)
#define tnf_time_base_encode(setup, value, cell) (value)
#define tnf_opaque_encode(setup, value, cell)	((tnf_opaque_t)(value))
#define tnf_string_encode(setup, value, cell) \
	((setup)->probe->ops->string((setup), (value), (cell)))
#define tnf_name_encode(setup, value, cell) \
	((setup)->probe->ops->name((setup), (value), (cell)))
#define TNF_CHARS(text, len)	tnf_chars_make((text), (len))
#define tnf_chars_encode(setup, value, cell) \
	tnf_chars_put((setup), (value), (cell))

/*
 * In C++ the types' descriptions are template arguments (probe.h), which in C++98
 * must have external linkage: no 'static', no 'const'.  extern "C++" is there
 * because old sources include this file within extern "C".
 */
#ifdef __cplusplus
}
#define TNF_LOCAL_BEGIN_	extern "C++" { namespace {
#define TNF_LOCAL_END_		} }
#define TNF_TAG_DATA		__attribute__((__unused__)) struct tnf_tag_data
#else
#define TNF_LOCAL_BEGIN_
#define TNF_LOCAL_END_
#define TNF_TAG_DATA \
	__attribute__((__unused__)) static const struct tnf_tag_data
#endif

#define TNF_TYPE_(type, tagkind, filename) \
	TNF_TAG_DATA type##_tag_data = { TNF_PROBE_ABI, (tagkind), \
	    (tnf_uint16_t)__alignof__(type##_t), (tnf_uint32_t)sizeof(type##_t), 0, \
	    (filename), NULL, NULL };

/* In the file, tnf_int, tnf_long, ... have the name of the type of their width. */
#if defined(__LP64__) || defined(_LP64)
#define TNF_LONG_NAME_	"tnf_int64"
#define TNF_ULONG_NAME_	"tnf_uint64"
#else
#define TNF_LONG_NAME_	"tnf_int32"
#define TNF_ULONG_NAME_	"tnf_uint32"
#endif

#ifndef NPROBE
TNF_LOCAL_BEGIN_
TNF_TYPE_(tnf_int, TNF_TAG_SCALAR, "tnf_int32")
TNF_TYPE_(tnf_uint, TNF_TAG_SCALAR, "tnf_uint32")
TNF_TYPE_(tnf_long, TNF_TAG_SCALAR, TNF_LONG_NAME_)
TNF_TYPE_(tnf_ulong, TNF_TAG_SCALAR, TNF_ULONG_NAME_)
TNF_TYPE_(tnf_longlong, TNF_TAG_SCALAR, "tnf_int64")
TNF_TYPE_(tnf_ulonglong, TNF_TAG_SCALAR, "tnf_uint64")
TNF_TYPE_(tnf_float, TNF_TAG_SCALAR, "tnf_float32")
TNF_TYPE_(tnf_double, TNF_TAG_SCALAR, "tnf_float64")
TNF_TYPE_(tnf_char, TNF_TAG_SCALAR, "tnf_char")
TNF_TYPE_(tnf_uchar, TNF_TAG_SCALAR, "tnf_uint8")
TNF_TYPE_(tnf_short, TNF_TAG_SCALAR, "tnf_int16")
TNF_TYPE_(tnf_ushort, TNF_TAG_SCALAR, "tnf_uint16")
TNF_TYPE_(tnf_int8, TNF_TAG_SCALAR, "tnf_int8")
TNF_TYPE_(tnf_uint8, TNF_TAG_SCALAR, "tnf_uint8")
TNF_TYPE_(tnf_int16, TNF_TAG_SCALAR, "tnf_int16")
TNF_TYPE_(tnf_uint16, TNF_TAG_SCALAR, "tnf_uint16")
TNF_TYPE_(tnf_int32, TNF_TAG_SCALAR, "tnf_int32")
TNF_TYPE_(tnf_uint32, TNF_TAG_SCALAR, "tnf_uint32")
TNF_TYPE_(tnf_int64, TNF_TAG_SCALAR, "tnf_int64")
TNF_TYPE_(tnf_uint64, TNF_TAG_SCALAR, "tnf_uint64")
TNF_TYPE_(tnf_float32, TNF_TAG_SCALAR, "tnf_float32")
TNF_TYPE_(tnf_float64, TNF_TAG_SCALAR, "tnf_float64")
TNF_TYPE_(tnf_string, TNF_TAG_STRING, "tnf_string")
TNF_TYPE_(tnf_name, TNF_TAG_STRING, "tnf_name")
TNF_TYPE_(tnf_chars, TNF_TAG_STRING, "tnf_string")
TNF_TYPE_(tnf_opaque, TNF_TAG_DERIVED, "tnf_opaque")
TNF_TYPE_(tnf_size, TNF_TAG_DERIVED, "tnf_size")
TNF_TYPE_(tnf_pid, TNF_TAG_DERIVED, "tnf_pid")
TNF_TYPE_(tnf_lwpid, TNF_TAG_DERIVED, "tnf_lwpid")
TNF_TYPE_(tnf_time_base, TNF_TAG_DERIVED, "tnf_time_base")
TNF_LOCAL_END_
#endif

/*
 * Record types: a struct of the program becomes an argument type.
 *
 * TNF_DECLARE_RECORD(c_type, type); stands once in each source file that uses the
 * type, or in a header.  TNF_DEFINE_RECORD_n(c_type, type, mtype, member, ...)
 * stands in exactly one source file of the program, at file scope, without a
 * semicolon; it names 1 to 5 of the struct's members, in any order.
 *
 * The value is a const c_type *; NULL is recorded as a null reference.  A member of
 * a record type is a pointer to such a struct, and what it points to is written,
 * too: a list as far as there is room in one event, a circle once around.
 */
#ifdef __cplusplus
#define TNF_C_	extern "C"
#else
#define TNF_C_	extern
#endif

#ifdef NPROBE

#define TNF_DECLARE_RECORD(c_type, type) \
	typedef tnf_reference_t type##_t
#define TNF_DEFINE_RECORD_1(c_type, type, t1, m1)
#define TNF_DEFINE_RECORD_2(c_type, type, t1, m1, t2, m2)
#define TNF_DEFINE_RECORD_3(c_type, type, t1, m1, t2, m2, t3, m3)
#define TNF_DEFINE_RECORD_4(c_type, type, t1, m1, t2, m2, t3, m3, t4, m4)
#define TNF_DEFINE_RECORD_5(c_type, type, t1, m1, t2, m2, t3, m3, t4, m4, \
    t5, m5)

#else

#define TNF_DECLARE_RECORD(c_type, type) \
	typedef tnf_reference_t type##_t; \
	TNF_C_ struct tnf_tag_data type##_tag_data; \
	TNF_C_ tnf_reference_t type##_encode(struct tnf_probe_setup *, \
	    const c_type *, tnf_reference_t *)

#define TNF_MEMBER_(t, n)	t##_t n;
#define TNF_STORE_(t, n, m) \
	tnf_v_record->n = t##_encode(tnf_v_setup, tnf_v_value->m, \
	    &tnf_v_record->n);

#define TNF_RECORD_(c_type, type, members, names, types, stores) \
	typedef struct { tnf_tag_t tnf_tag; members } type##_prototype_t; \
	static const char *const type##_slot_names[] = { names NULL }; \
	static const struct tnf_tag_data *const type##_slot_types[] = \
	    { types NULL }; \
	struct tnf_tag_data type##_tag_data = { TNF_PROBE_ABI, \
	    TNF_TAG_RECORD, (tnf_uint16_t)__alignof__(tnf_reference_t), \
	    (tnf_uint32_t)sizeof(type##_prototype_t), 0, #type, \
	    type##_slot_names, type##_slot_types }; \
	tnf_reference_t \
	type##_encode(struct tnf_probe_setup *tnf_v_setup, \
	    const c_type *tnf_v_value, tnf_reference_t *tnf_v_cell) \
	{ \
		tnf_reference_t tnf_v_ref = 0; \
		type##_prototype_t *tnf_v_record; \
		if (tnf_v_value == NULL) \
			return (0); \
		tnf_v_record = (type##_prototype_t *) \
		    tnf_v_setup->probe->ops->record(tnf_v_setup, \
		    &type##_tag_data, sizeof(*tnf_v_record), tnf_v_cell, \
		    &tnf_v_ref); \
		if (tnf_v_record != NULL) { \
			stores \
		} \
		return (tnf_v_ref); \
	}

/* A comma that can be part of a macro's argument. */
#define TNF_COMMA_	,
#define TNF_TAG_1(t)	&t##_tag_data TNF_COMMA_

#define TNF_DEFINE_RECORD_1(c_type, type, t1, m1) \
	TNF_RECORD_(c_type, type, \
	    TNF_MEMBER_(t1, tnf_m1), \
	    #m1 TNF_COMMA_, \
	    TNF_TAG_1(t1), \
	    TNF_STORE_(t1, tnf_m1, m1))
#define TNF_DEFINE_RECORD_2(c_type, type, t1, m1, t2, m2) \
	TNF_RECORD_(c_type, type, \
	    TNF_MEMBER_(t1, tnf_m1) TNF_MEMBER_(t2, tnf_m2), \
	    #m1 TNF_COMMA_ #m2 TNF_COMMA_, \
	    TNF_TAG_1(t1) TNF_TAG_1(t2), \
	    TNF_STORE_(t1, tnf_m1, m1) TNF_STORE_(t2, tnf_m2, m2))
#define TNF_DEFINE_RECORD_3(c_type, type, t1, m1, t2, m2, t3, m3) \
	TNF_RECORD_(c_type, type, \
	    TNF_MEMBER_(t1, tnf_m1) TNF_MEMBER_(t2, tnf_m2) TNF_MEMBER_(t3, tnf_m3), \
	    #m1 TNF_COMMA_ #m2 TNF_COMMA_ #m3 TNF_COMMA_, \
	    TNF_TAG_1(t1) TNF_TAG_1(t2) TNF_TAG_1(t3), \
	    TNF_STORE_(t1, tnf_m1, m1) TNF_STORE_(t2, tnf_m2, m2) \
	    TNF_STORE_(t3, tnf_m3, m3))
#define TNF_DEFINE_RECORD_4(c_type, type, t1, m1, t2, m2, t3, m3, t4, m4) \
	TNF_RECORD_(c_type, type, \
	    TNF_MEMBER_(t1, tnf_m1) TNF_MEMBER_(t2, tnf_m2) TNF_MEMBER_(t3, tnf_m3) \
	    TNF_MEMBER_(t4, tnf_m4), \
	    #m1 TNF_COMMA_ #m2 TNF_COMMA_ #m3 TNF_COMMA_ #m4 TNF_COMMA_, \
	    TNF_TAG_1(t1) TNF_TAG_1(t2) TNF_TAG_1(t3) TNF_TAG_1(t4), \
	    TNF_STORE_(t1, tnf_m1, m1) TNF_STORE_(t2, tnf_m2, m2) \
	    TNF_STORE_(t3, tnf_m3, m3) TNF_STORE_(t4, tnf_m4, m4))
#define TNF_DEFINE_RECORD_5(c_type, type, t1, m1, t2, m2, t3, m3, t4, m4, \
    t5, m5) \
	TNF_RECORD_(c_type, type, \
	    TNF_MEMBER_(t1, tnf_m1) TNF_MEMBER_(t2, tnf_m2) TNF_MEMBER_(t3, tnf_m3) \
	    TNF_MEMBER_(t4, tnf_m4) TNF_MEMBER_(t5, tnf_m5), \
	    #m1 TNF_COMMA_ #m2 TNF_COMMA_ #m3 TNF_COMMA_ #m4 TNF_COMMA_ \
	    #m5 TNF_COMMA_, \
	    TNF_TAG_1(t1) TNF_TAG_1(t2) TNF_TAG_1(t3) TNF_TAG_1(t4) \
	    TNF_TAG_1(t5), \
	    TNF_STORE_(t1, tnf_m1, m1) TNF_STORE_(t2, tnf_m2, m2) \
	    TNF_STORE_(t3, tnf_m3, m3) TNF_STORE_(t4, tnf_m4, m4) \
	    TNF_STORE_(t5, tnf_m5, m5))

#endif /* NPROBE */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The calling process and thread.  Both are enabled at first.  A probe that is on
 * records, and calls connected functions, only while both are.  The calls do not
 * count: one enable undoes any number of disables.  They change the state of no
 * probe, cannot fail, and may be made from any thread and from signal handlers.
 * tnf_process_disable() is seen by other threads at their next hit, and by the
 * controller as trace_state.  tnf_thread_disable() also gives the thread's block
 * of the trace file back.
 */
void tnf_process_enable(void);
void tnf_process_disable(void);
/* Also keeps the reason in the trace file, once for each call. (Linux) */
void tnf_process_freeze(const char *why);
void tnf_thread_enable(void);
void tnf_thread_disable(void);

/*
 * Connected functions (void f(struct tnf_probe_setup *)) are called by the thread
 * that hit the probe, when all values are in the event and before it is committed.
 * Probes that are reached within such a function record nothing, and are counted.
 * The function may use setup->probe and the three functions below; all else in the
 * setup belongs to libtnfprobe.  The strings that these hand out belong to libtnfprobe or the
 * program, must not be changed, and are valid until the connected function
 * returns.  (Linux)
 */

/* The value of attribute 'name' of the probe: not NUL-terminated, its length in
   bytes in *len.  NULL: the probe has no such attribute; *len is undefined then. */
const char *tnf_probe_get_attribute(const struct tnf_probe_control *,
    const char *name, size_t *len);

struct tnf_probe_argument {
	const char	*name;		/* not NUL-terminated */
	size_t		 name_len;
	const struct tnf_tag_data *type;
	const void	*value;		/* the member in the event */
	const char	*string;	/* TNF_TAG_STRING: the text, or NULL;
					   TNF_TAG_TEXT: how it begins, up to 231
					   characters, or NULL */
};

/* Describes argument n, counted from 0, in *ret.  Returns 0; -1 if the probe has no
   such argument. */
int tnf_probe_get_argument(const struct tnf_probe_setup *, unsigned n,
    struct tnf_probe_argument *ret);

/* The connected function &debug of prex(1): writes the probe's name, its attribute
   sunw%debug and its arguments to file descriptor 2, as one line by one write(2). */
void tnf_probe_debug(struct tnf_probe_setup *);

#ifdef __cplusplus
}
#endif

#endif /* TNF_WRITER_H */
