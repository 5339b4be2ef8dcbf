/*
 * writer.h - what probes are written with: argument types, record types,
 * control of the own process, and what a connected function may look at.
 *
 * <tnf/probe.h> includes it.  A source file with probes or record types needs
 * no library to link and run; the functions declared at the end are those of
 * libtnfprobe and do.
 *
 * Every argument type T has
 *	T_t		the member in the event, or the member of a record
 *	T_tag_data	what libtnfprobe is told about the type
 *	T_encode()	the value to be stored in the member
 * and a record type adds T_prototype_t, the record in the file.
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
 * The value of an argument of type tnf_chars: a string that need not end in a
 * NUL.  'len' characters are read; the string ends there, or at a NUL before.
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
	char copy[TNF_STRING_MAX + 1];

	if (value.text == NULL)
		return 0;
	if (value.len > TNF_STRING_MAX)
		value.len = TNF_STRING_MAX;
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
 * C++ wants them usable as arguments of templates (probe.h), and that needs
 * external linkage in its first edition: no 'static', no 'const'.  Old sources
 * include us within extern "C".
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

/* Portable names are written under the name of their fixed width. */
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
 * Record types.  TNF_DECLARE_RECORD once for each type, also in a header;
 * TNF_DEFINE_RECORD_n in exactly one source file, at file scope, without a
 * semicolon.  The value is a pointer to the struct; members of record types
 * are pointers and are followed.
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

/* A comma that survives being an argument. */
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
 * The own process and thread.  Tracing is enabled at first; calls do not nest
 * or count.  tnf_thread_disable() gives the thread's trace block back.
 */
void tnf_process_enable(void);
void tnf_process_disable(void);
void tnf_thread_enable(void);
void tnf_thread_disable(void);

/*
 * Connected functions (void f(struct tnf_probe_setup *)) run when the event
 * is complete, before it is committed.  They may use these three; all else in
 * the setup belongs to libtnfprobe.  What they return is valid until the
 * function returns.  (Linux)
 */

/* The value of an attribute of the probe, with its length; it ends at a ';'.
   NULL: the probe has no such attribute. */
const char *tnf_probe_get_attribute(const struct tnf_probe_control *,
    const char *name, size_t *len);

struct tnf_probe_argument {
	const char	*name;		/* not NUL-terminated */
	size_t		 name_len;
	const struct tnf_tag_data *type;
	const void	*value;		/* the member in the event */
	const char	*string;	/* TNF_TAG_STRING: the text, or NULL */
};

/* Argument n = 0 ...; 0, or -1 if the probe has no such argument. */
int tnf_probe_get_argument(const struct tnf_probe_setup *, unsigned n,
    struct tnf_probe_argument *ret);

/* The predefined connected function: one line to file descriptor 2. */
void tnf_probe_debug(struct tnf_probe_setup *);

#ifdef __cplusplus
}
#endif

#endif /* TNF_WRITER_H */
