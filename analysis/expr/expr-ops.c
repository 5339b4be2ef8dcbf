/*
 * expr-ops.c - arithmetic, bits and comparisons of values.
 *
 * Integers are computed in 128 bits; a result that does not fit 64 bits becomes a real
 * number.  Bit operations are those of 64-bit integers.
 */
#include <math.h>

#include "analysis/expr/expr-impl.h"

static const struct val null_value = { .kind = VAL_NULL };

static bool
expr_ops_is_integer(const struct val *v)
{
	return v->kind == VAL_INT || v->kind == VAL_UINT;
}

static __int128
expr_ops_wide(const struct val *v)
{
	return v->kind == VAL_INT ? (__int128)v->u.i : (__int128)v->u.u;
}

static struct val
expr_ops_narrow(__int128 n)
{
	if (n >= INT64_MIN && n <= INT64_MAX)
		return val_int((int64_t)n);
	if (n > 0 && n <= UINT64_MAX)
		return val_uint((uint64_t)n);
	return val_real((double)n);
}

static struct val
integer_op(enum expr_op op, __int128 a, __int128 b)
{
	switch (op) {
	case EXPR_ADD:
		return expr_ops_narrow(a + b);
	case EXPR_SUB:
		return expr_ops_narrow(a - b);
	case EXPR_MUL:
		if (a > INT64_MAX && b > INT64_MAX)
			return val_real((double)a * (double)b);
		return expr_ops_narrow(a * b);
	case EXPR_DIV:
		return b == 0 ? null_value : expr_ops_narrow(a / b);
	default:
		return b == 0 ? null_value : expr_ops_narrow(a % b);
	}
}

static struct val
real_op(enum expr_op op, double a, double b)
{
	switch (op) {
	case EXPR_ADD:
		return val_real(a + b);
	case EXPR_SUB:
		return val_real(a - b);
	case EXPR_MUL:
		return val_real(a * b);
	case EXPR_DIV:
		return b == 0 ? null_value : val_real(a / b);
	default:
		return b == 0 ? null_value : val_real(fmod(a, b));
	}
}

/* If an operand is negative the result is signed: flags & ~1 of an int32. */
static struct val
bit_op(enum expr_op op, const struct val *a, const struct val *b)
{
	bool sign = (a->kind == VAL_INT && a->u.i < 0) ||
	    (b->kind == VAL_INT && b->u.i < 0);
	uint64_t r;

	switch (op) {
	case EXPR_BITAND:
		r = a->u.u & b->u.u;
		sign = a->kind == VAL_INT && a->u.i < 0 &&
		    b->kind == VAL_INT && b->u.i < 0;
		break;
	case EXPR_BITOR:
		r = a->u.u | b->u.u;
		break;
	default:
		r = a->u.u ^ b->u.u;
		break;
	}
	return sign ? val_int((int64_t)r) : val_uint(r);
}

static struct val
shift_op(enum expr_op op, const struct val *a, const struct val *b)
{
	if (b->kind != VAL_INT || b->u.i < 0 || b->u.i > 63)
		return null_value;
	if (op == EXPR_SHL)
		return val_uint(a->u.u << b->u.i);
	if (a->kind == VAL_INT)
		return val_int(a->u.i >> b->u.i);
	return val_uint(a->u.u >> b->u.i);
}

static struct val
number_op(enum expr_op op, const struct val *a, const struct val *b)
{
	double x, y;

	if (expr_ops_is_integer(a) && expr_ops_is_integer(b)) {
		switch (op) {
		case EXPR_BITOR:
		case EXPR_BITXOR:
		case EXPR_BITAND:
			return bit_op(op, a, b);
		case EXPR_SHL:
		case EXPR_SHR:
			return shift_op(op, a, b);
		default:
			return integer_op(op, expr_ops_wide(a), expr_ops_wide(b));
		}
	}
	if (op >= EXPR_BITOR && op <= EXPR_SHR)
		return null_value;
	if (!val_to_double(a, &x) || !val_to_double(b, &y))
		return null_value;
	return real_op(op, x, y);
}

static bool
expr_ops_has_word(const struct val *words, const struct val *word)
{
	const char *p = words->u.s.chars, *end = p + words->u.s.len, *q;

	for (; p < end; p = q + 1) {
		for (q = p; q < end && *q != ' '; q++)
			continue;
		if ((size_t)(q - p) == word->u.s.len && q > p &&
		    memcmp(p, word->u.s.chars, word->u.s.len) == 0)
			return true;
	}
	return false;
}

/* Equality with "key": true if any of the words is equal. */
static struct val
compare_words(enum expr_op op, const struct val *words, const struct val *word)
{
	if (word->kind != VAL_STRING || (op != EXPR_EQ && op != EXPR_NE))
		return null_value;
	return val_int(expr_ops_has_word(words, word) == (op == EXPR_EQ));
}

static struct val
expr_ops_compare(enum expr_op op, const struct val *a, const struct val *b)
{
	if (a->kind == VAL_WORDS)
		return compare_words(op, a, b);
	if (b->kind == VAL_WORDS)
		return compare_words(op, b, a);
	int c = val_compare(a, b);
	if (c == VAL_INCOMPARABLE)
		return null_value;
	switch (op) {
	case EXPR_EQ:
		return val_int(c == 0);
	case EXPR_NE:
		return val_int(c != 0);
	case EXPR_LT:
		return val_int(c < 0);
	case EXPR_LE:
		return val_int(c <= 0);
	case EXPR_GT:
		return val_int(c > 0);
	default:
		return val_int(c >= 0);
	}
}

struct val
expr_binary(enum expr_op op, const struct val *a, const struct val *b)
{
	if (a->kind == VAL_NULL || b->kind == VAL_NULL)
		return null_value;
	if (a->kind == VAL_UNKNOWN || b->kind == VAL_UNKNOWN)
		return (struct val){ .kind = VAL_UNKNOWN };
	if (op >= EXPR_EQ && op <= EXPR_GE)
		return expr_ops_compare(op, a, b);
	return number_op(op, a, b);
}

struct val
expr_negate(const struct val *v)
{
	if (v->kind == VAL_UNKNOWN)
		return *v;
	if (v->kind == VAL_REAL)
		return val_real(-v->u.d);
	return expr_ops_is_integer(v) ? expr_ops_narrow(-expr_ops_wide(v)) : null_value;
}

struct val
expr_complement(const struct val *v)
{
	if (v->kind == VAL_UNKNOWN)
		return *v;
	if (v->kind == VAL_INT)
		return val_int(~v->u.i);
	return v->kind == VAL_UINT ? val_uint(~v->u.u) : null_value;
}
