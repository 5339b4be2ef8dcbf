/*
 * value.h - a value in an expression, a statistic or a template: how people write it, how it is
 * compared and shown, and limits for records inside of records.
 *
 * Integers are VAL_INT if they fit 64 bits with a sign, otherwise (above INT64_MAX)
 * VAL_UINT, so that equal numbers have one kind.  Truth is VAL_INT 0 or 1.  Strings are
 * borrowed and not NUL-terminated.
 */
#ifndef ANALYSIS_VALUE_H
#define ANALYSIS_VALUE_H

#include <tnf/stream.h>

#include "common/out.h"

enum val_kind {
	VAL_NULL,	/* missing member, null reference, x / 0 */
	VAL_UNKNOWN,	/* depends on more than the probe */
	VAL_INT,
	VAL_UINT,
	VAL_REAL,
	VAL_STRING,
	VAL_WORDS,	/* a string of words; equal if one word is equal */
	VAL_RECORD	/* record or array */
};

struct val {
	enum val_kind		 kind;
	const struct tnf_type	*type;	/* of the member; NULL: computed */
	const char		*name;	/* of the member; NULL: computed */
	const char		*word;	/* name of the number by the event; NULL: by the type */
	union {
		int64_t	 i;
		uint64_t u;
		double	 d;
		struct {
			const char *chars;
			size_t	    len;
		} s;
		struct {
			uint32_t pos;
			uint32_t count;
			const struct tnf_type *type;
		} r;
	} u;
};

struct val val_int(int64_t);
struct val val_uint(uint64_t);
struct val val_real(double);
struct val val_string(const char *chars, size_t len);
struct val val_cstring(const char *);	/* NULL: VAL_NULL */

/* Converts a member called 'name' (may be NULL) to a value, and back for all kinds but
   strings. */
struct val val_of_member(const struct tnf_value *, const char *name);
struct tnf_value val_to_member(const struct val *);

static inline bool
val_is_number(const struct val *v)
{
	return v->kind == VAL_INT || v->kind == VAL_UINT || v->kind == VAL_REAL;
}

/* These return false if the value is no number. */
bool val_to_double(const struct val *, double *);
bool val_to_int(const struct val *, int64_t *);	/* saturates */

/* The name of a number by its event or its type; NULL: it has none. */
const char *val_name(const struct val *);

/* Returns 1 for true (a number other than 0, a string other than ""), 0 for false, -1 for
   null. */
int val_truth(const struct val *);

/* Returns <0, 0 or >0; VAL_INCOMPARABLE: one is null, or a string is compared with a number
   that has no name.  A number whose type or event names its values ("SLEEP", "ENOENT")
   compares with a string by that name. */
#define VAL_INCOMPARABLE 2
int val_compare(const struct val *, const struct val *);

/* Converts to text: strings unchanged, numbers without their names.  Returns the length;
   the text is in buf or borrowed from the value. */
#define VAL_TEXT_SIZE 48
size_t val_text(const struct val *, char buf[VAL_TEXT_SIZE], const char **text);

/*
 * Reads a number at 's': decimal, 0x, 0o or with a fraction and exponent, then an optional
 * unit: ns us ms s m h d (result in ns), K M G T with an optional B or iB (powers of 1024).
 * Returns NULL and stores the value and the end; or returns what is wrong, and *end is the
 * place of the error.
 */
const char *number_parse(const char *s, const char **end, struct val *);

/* Writes a size in the largest unit that is exact: 4096 as 4K. */
void size_put(struct out *, uint64_t);

/* Reads a whole argument as a duration: "5ms", "2" (seconds); false: it is none. */
bool duration_parse(const char *s, int64_t *ns);

/*
 * Limits for records inside of records.
 *
 * A file can have records that contain themselves, or each other in so many ways that the
 * printed text would fit no disk.  The position of each record on the way down is compared
 * with that at the last power of two of the depth, which is enough to find a cycle (Brent's
 * method).
 *
 * All values of a run share a budget: files hold no more items than bytes, unless they
 * refer to the same records again and again.
 */

#define NEST_DEPTH_MAX	4096
#define NEST_ITEMS_MAX	65536	/* in a value, nested ones included */

struct nest {
	uint64_t *budget;		/* items left to the run; NULL: no limit */
	unsigned depth, items;
	bool	 partial;		/* the value was not visited completely */
	uint32_t mark[13];		/* positions at depth 1, 2, 4, ... 4096 */
};

static inline unsigned
nest_log2(unsigned n)
{
	return 31 - (unsigned)__builtin_clz(n);
}

/* Enters a record or an array; false: treat it as empty. */
static inline bool
nest_enter(struct nest *n, const struct tnf_value *v)
{
	if (n->depth == NEST_DEPTH_MAX || (n->depth > 0 &&
	    n->mark[nest_log2(n->depth)] == v->u.r.pos)) {
		n->partial = true;
		return false;
	}
	n->depth++;
	if ((n->depth & (n->depth - 1)) == 0)
		n->mark[nest_log2(n->depth)] = v->u.r.pos;
	return true;
}

static inline void
nest_leave(struct nest *n)
{
	n->depth--;
}

/* Gets member or element i. */
static inline bool
nest_item(struct nest *n, const struct tnf_file *f, const struct tnf_value *r,
    unsigned i, struct tnf_value *v)
{
	if (!tnf_value_item(f, r, i, v))
		return false;
	if (n->items == NEST_ITEMS_MAX ||
	    (n->budget != NULL && *n->budget == 0)) {
		n->partial = true;
		return false;
	}
	n->items++;
	if (n->budget != NULL)
		--*n->budget;
	return true;
}

#endif
