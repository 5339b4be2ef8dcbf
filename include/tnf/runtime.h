/*
 * runtime.h - probes that are made while the program runs.  (Linux)
 *
 * TNF_PROBE_n of <tnf/probe.h> is for programs whose probes are known when they are
 * compiled.  These functions are for those whose probes are not: an interpreter, and
 * the bindings of other languages (Python's package tnf is made of them; those of
 * Go, Rust, Java or node would be).  Nothing here is a macro, and what is inline is
 * one load and one comparison, so that it can be written in any language.
 *
 *	static const struct tnf_probe_argument_type args[] = {
 *		{ "id", TNF_ARG_INT64 }, { "cake", TNF_ARG_TEXT },
 *	};
 *	struct tnf_probe_control *start =
 *	    tnf_probe_define("order_start", "order", "", 2, args);
 *	...
 *	if (tnf_probe_is_on(start)) {
 *		struct tnf_probe_value v[2];
 *
 *		v[0].u.i = id;
 *		v[1].u.text = cake;
 *		v[1].size = strlen(cake);
 *		tnf_probe_hit(start, v);
 *	}
 *
 * The functions are libtnfprobe's: link with -ltnfprobe, or load libtnfprobe.so.1
 * and look them up.  A controller such as prex(1) lists and switches these probes
 * as it does others, whether they were made before it came or afterwards.
 */
#ifndef TNF_RUNTIME_H
#define TNF_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include <tnf/com.h>
#include <tnf/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TNF_ARGUMENTS_MAX	16u	/* of a probe that is made at run time */
#define TNF_LONG_MAX		65536u	/* bytes of a text or blob */

/* An argument's type in the trace, and the member of a value that holds it. */
enum tnf_argument_kind {
	TNF_ARG_INT8 = 1,	/* i */
	TNF_ARG_INT16 = 2,	/* i */
	TNF_ARG_INT32 = 3,	/* i */
	TNF_ARG_INT64 = 4,	/* i */
	TNF_ARG_UINT8 = 5,	/* u */
	TNF_ARG_UINT16 = 6,	/* u */
	TNF_ARG_UINT32 = 7,	/* u */
	TNF_ARG_UINT64 = 8,	/* u */
	TNF_ARG_FLOAT32 = 9,	/* d */
	TNF_ARG_FLOAT64 = 10,	/* d */
	TNF_ARG_OPAQUE = 11,	/* u: shown in hexadecimal */
	TNF_ARG_STRING = 12,	/* text: the first TNF_STRING_MAX characters */
	TNF_ARG_TEXT = 13,	/* text: up to TNF_LONG_MAX bytes */
	TNF_ARG_BLOB = 14	/* data: up to TNF_LONG_MAX bytes, any */
};

struct tnf_probe_argument_type {
	const char	*name;
	tnf_uint32_t	 kind;		/* enum tnf_argument_kind */
};

/*
 * The value of an argument.  Integers are cut to the width of the argument.  'size'
 * counts the bytes of a string, text or blob, which need not end in a NUL: at most so
 * many are read, and a string or text ends at the first NUL.  TNF_SIZE_NUL: it ends
 * there, however long it is.  With the pointer NULL a null reference is recorded.
 */
struct tnf_probe_value {
	union {
		tnf_int64_t	 i;
		tnf_uint64_t	 u;
		double		 d;
		const char	*text;
		const void	*data;
	} u;
	size_t	size;
};

#define TNF_SIZE_NUL	((size_t)-1)

/*
 * Makes a probe, or finds the one that has been made with the same words.
 *	name	of the probe; no blanks, control characters or semicolons; at most
 *		TNF_NAME_MAX bytes.  Names need not be unique.
 *	keys	words separated by blanks; no control characters or semicolons.
 *	detail	"attribute value;attribute value"; no control characters.  Put "file F"
 *		and "line N" first, if they are known.
 *	args	'n' arguments; names as the probe's.
 * Strings are copied.  Returns NULL and sets errno: EINVAL if a word has a character
 * that it must not have, a kind is none of the above, there are more than
 * TNF_ARGUMENTS_MAX arguments, or it is all together longer than 4000 bytes; ENOMEM.
 * The probe is off at first.  A controller that was asked to switch on such probes
 * switches it on: before the call returns if the controller has started the program;
 * some time afterwards if it attached, and hits before then are not recorded.
 * The probe lives as long as the process,
 * and children of fork() have it, too.  Any thread may call this, but no signal handler.
 */
struct tnf_probe_control *tnf_probe_define(const char *name, const char *keys,
    const char *detail, unsigned n, const struct tnf_probe_argument_type *args);

/* True if somebody wants the probe's events.  Ask before the values are computed. */
static inline bool
tnf_probe_is_on(const struct tnf_probe_control *probe)
{
	return __builtin_expect(probe->test != 0, 0);
}

/*
 * Records an event, if the probe is on: values[i] is argument i of the definition.
 * The rules are those of TNF_PROBE_n: no lock is taken, no memory allocated, errno is
 * left as it was; any thread and any signal handler may call it; what could not be
 * recorded is counted in the trace file.
 *
 * A text or blob takes one block of the file for 462 or 464 bytes, and is cut at
 * TNF_LONG_MAX bytes or at an eighth of the file's data blocks, whichever is less
 * (a file of 1 MiB has room for 64 KiB); all values of an event together are cut at a
 * quarter.  Readers show the rest of a value that has been cut, and mark it as cut.
 */
void tnf_probe_hit(struct tnf_probe_control *, const struct tnf_probe_value *values);

#ifdef __cplusplus
}
#endif

#endif /* TNF_RUNTIME_H */
