/*
 * trigger-parse.c - from the text of a trigger to its function and its condition.
 *
 * The text is cut into words as tnfexpr(5) has them.  A function stands at the top,
 * joined with the rest by "and".  The function is replaced by "true" and blanks, so that
 * the rest is an expression whose mistakes have the columns of the text.
 */
#include <ctype.h>
#include <limits.h>

#include "analysis/expr/expr-impl.h"
#include "common/text.h"
#include "tnfwatch/trigger-impl.h"

/* The place of the reader of words in the text. */
struct words {
	struct expr_lex	 lex;
	enum expr_token	 before;	/* the word before the current one */
	unsigned	 depth;		/* of parentheses */
	struct trigger_error *err;
};

bool
when_fail(struct trigger_error *err, size_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->offset = offset;
	return false;
}

static size_t
words_offset(const struct words *w)
{
	return (size_t)(w->lex.start - w->lex.text);
}

static bool
words_fail(const struct words *w, const char *what)
{
	if (w->lex.token == EXPR_T_ERROR)
		return when_fail(w->err, words_offset(w), "%s", w->lex.wrong);
	if (w->lex.token == EXPR_T_END)
		return when_fail(w->err, words_offset(w), "%s expected at the end", what);
	return when_fail(w->err, words_offset(w), "%s expected at '%.*s'", what,
	    w->lex.len > 40 ? 40 : (int)w->lex.len, w->lex.start);
}

static void
words_next(struct words *w)
{
	enum expr_token was = w->lex.token;

	w->depth += was == EXPR_T_OPEN;
	w->depth -= was == EXPR_T_CLOSE && w->depth > 0;
	w->before = was;
	expr_lex_next(&w->lex, was == EXPR_T_MATCH || was == EXPR_T_NOMATCH);
}

static bool
words_is_name(const struct words *w)
{
	return w->lex.token == EXPR_T_NAME || (w->lex.token >= EXPR_T_OR &&
	    w->lex.token <= EXPR_T_NULL && isalpha((unsigned char)*w->lex.start));
}

/* True if the current word is a function: a name with a parenthesis right behind it. */
static bool
words_at_function(const struct words *w)
{
	const char *p = w->lex.next;

	while (isspace((unsigned char)*p))
		p++;
	return w->lex.token == EXPR_T_NAME && *p == '(' && *w->lex.start != '$' &&
	    w->before != EXPR_T_DOT;
}

static bool
no_such_function(const struct words *w)
{
	const char *names[16];
	char name[32], list[128] = "";
	const char *guess;
	unsigned n = 0;

	for (unsigned i = 1; trigger_kind(i) != NULL && n < 15; i++) {
		names[n++] = trigger_kind(i)->name;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
		    i > 1 ? " " : "", trigger_kind(i)->name);
	}
	names[n] = NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(w->lex.len < 31 ? w->lex.len : 31),
	    w->lex.start);
	if ((guess = tnf_word_guess(names, name)) != NULL)
		return when_fail(w->err, words_offset(w),
		    "no function '%s': is '%s' meant?", name, guess);
	return when_fail(w->err, words_offset(w), "no function '%s': there are %s",
	    name, list);
}

static const struct trigger_kind *
find_function(const struct words *w)
{
	const struct trigger_kind *k;
	double quantile;

	if (trigger_percentile_name(w->lex.start, w->lex.len, &quantile))
		return &trigger_percentile;
	for (unsigned i = 1; (k = trigger_kind(i)) != NULL; i++)
		if (strlen(k->name) == w->lex.len &&
		    memcmp(k->name, w->lex.start, w->lex.len) == 0)
			return k;
	no_such_function(w);
	return NULL;
}

/* Parses a time, which needs a unit. */
static bool
parse_time(struct words *w, int64_t *ns)
{
	char text[64];

	if (w->lex.token != EXPR_T_NUMBER)
		return words_fail(w, "time such as 200ms");
	snprintf(text, sizeof(text), "%.*s",
	    (int)(w->lex.len < sizeof(text) ? w->lex.len : sizeof(text) - 1), w->lex.start);
	if (!isalpha((unsigned char)text[strlen(text) - 1]) || !duration_parse(text, ns))
		return when_fail(w->err, words_offset(w),
		    "time without a unit: write 200ms, 1.5s");
	words_next(w);
	return true;
}

/* A name, which may have dots and dashes in it: postgresql.query, a-b. */
static bool
parse_dotted(struct words *w, struct when *when)
{
	const char *start = w->lex.start, *end = start + w->lex.len;

	while (end[0] != '\0' && (isalnum((unsigned char)*end) || strchr("._-:", *end) != NULL))
		end++;
	when->args[when->n_args++] = tnf_xstrndup(start, (size_t)(end - start));
	while (w->lex.start < end && w->lex.token != EXPR_T_END && w->lex.token != EXPR_T_ERROR)
		words_next(w);
	return true;
}

/* A name, or a quoted one; the last may be a window. */
static bool
parse_arg(struct words *w, struct when *when)
{
	const struct trigger_kind *k = when->kind;

	if (k->window && when->n_args > 0 && w->lex.token == EXPR_T_NUMBER)
		return parse_time(w, &when->window) && (w->lex.token == EXPR_T_CLOSE ||
		    words_fail(w, "')'"));
	if (when->n_args == k->args_max)
		return when_fail(w->err, words_offset(w), "too many names: %s", k->usage);
	when->arg_offset[when->n_args] = words_offset(w);
	if (w->lex.token == EXPR_T_STRING && w->lex.string_len > 0 &&
	    strlen(w->lex.string) == w->lex.string_len)
		when->args[when->n_args++] = tnf_xstrdup(w->lex.string);
	else if (words_is_name(w))
		return parse_dotted(w, when);
	else
		return words_fail(w, "name");
	words_next(w);
	return true;
}

/* ( NAME, ... ) */
static bool
parse_args(struct words *w, struct when *when)
{
	words_next(w);
	words_next(w);
	while (w->lex.token != EXPR_T_CLOSE) {
		if (when->n_args > 0) {
			if (w->lex.token != EXPR_T_COMMA)
				return words_fail(w, "',' or ')'");
			words_next(w);
		}
		if (!parse_arg(w, when))
			return false;
	}
	if (when->n_args < when->kind->args_min)
		return when_fail(w->err, words_offset(w), "a name is missing: %s",
		    when->kind->usage);
	words_next(w);
	return true;
}

/* True if the current word is this name. */
static bool
words_at(const struct words *w, const char *name)
{
	return w->lex.token == EXPR_T_NAME && w->lex.len == strlen(name) &&
	    memcmp(w->lex.start, name, w->lex.len) == 0;
}

static bool
parse_number(struct words *w, double *ret)
{
	if (w->lex.token != EXPR_T_NUMBER || !val_to_double(&w->lex.number, ret))
		return words_fail(w, "number");
	words_next(w);
	return true;
}

/* Parses "2 * usual". */
static bool
parse_usual(struct words *w, struct when *when)
{
	if (!parse_number(w, &when->number))
		return false;
	if (w->lex.token != EXPR_T_STAR)
		return words_fail(w, "'* usual'");
	words_next(w);
	if (!words_at(w, "usual"))
		return words_fail(w, "usual");
	words_next(w);
	when->usual = true;
	return true;
}

/* True if the number at the current word has a unit. */
static bool
words_at_time(const struct words *w)
{
	return w->lex.token == EXPR_T_NUMBER && isalpha((unsigned char)w->lex.start[w->lex.len - 1]);
}

static bool
parse_limit(struct words *w, struct when *when)
{
	if (when->kind->usual && w->lex.token == EXPR_T_NUMBER && !words_at_time(w) &&
	    *w->lex.next != '\0' && w->lex.next[strspn(w->lex.next, " ")] == '*')
		return parse_usual(w, when);
	if (!when->kind->time)
		return parse_number(w, &when->number);
	if (!parse_time(w, &when->time))
		return false;
	when->number = (double)when->time;
	return true;
}

/* Reads "> X".  A value that can only grow must not be compared with "<". */
static bool
parse_comparison(struct words *w, struct when *when)
{
	enum expr_token op = w->lex.token;
	bool less = op == EXPR_T_LT || op == EXPR_T_LE;

	if (op != EXPR_T_GT && op != EXPR_T_GE &&
	    !(less && when->kind->compare == COMPARE_ANY))
		return when_fail(w->err, words_offset(w), "%s() is compared by %s: %s",
		    when->kind->name, when->kind->compare == COMPARE_ANY ?
		    "> >= < <=" : "> or >=", when->kind->usage);
	when->more = !less;
	when->equal = op == EXPR_T_GE || op == EXPR_T_LE;
	words_next(w);
	return parse_limit(w, when);
}

/* Parses "until < X": the other way than the limit. */
static bool
parse_until(struct words *w, struct when *when)
{
	enum expr_token op;

	words_next(w);
	op = w->lex.token;
	if (when->more ? op != EXPR_T_LT && op != EXPR_T_LE : op != EXPR_T_GT && op != EXPR_T_GE)
		return words_fail(w, when->more ? "'<' or '<='" : "'>' or '>='");
	when->until = true;
	when->until_equal = op == EXPR_T_LE || op == EXPR_T_GE;
	words_next(w);
	return when->kind->time ? parse_time(w, &when->until_time) :
	    parse_number(w, &when->until_number);
}

/* Parses "for 5s" and "until < 50". */
static bool
parse_hold(struct words *w, struct when *when)
{
	if (!when->kind->window)
		return true;
	if (words_at(w, "for")) {
		words_next(w);
		if (!parse_time(w, &when->hold))
			return false;
	}
	return !words_at(w, "until") || parse_until(w, when);
}

/* Parses "of workers": the sources of a section, taken together. */
static bool
parse_of(struct words *w, struct when *when)
{
	if (!when->kind->sums || !words_at(w, "of"))
		return true;
	words_next(w);
	if (w->lex.token == EXPR_T_STRING)
		when->of = tnf_xstrdup(w->lex.string);
	else if (words_is_name(w))
		when->of = tnf_xstrndup(w->lex.start, w->lex.len);
	else
		return words_fail(w, "name of a section");
	words_next(w);
	return true;
}

/* Parses the function at the current word, up to the word behind it. */
static bool
parse_function(struct words *w, struct when *when)
{
	size_t from = words_offset(w), to;
	bool at_top = w->depth == 0 && (w->before == EXPR_T_END || w->before == EXPR_T_AND);
	const struct trigger_kind *k = find_function(w);

	if (k == NULL)
		return false;
	if (when->kind != trigger_kind(0))
		return when_fail(w->err, from, "a second function: make a trigger of "
		    "each");
	if (!at_top)
		return when_fail(w->err, from, "%s() stands at the left, and by itself or "
		    "joined by 'and': %s", k->name, k->usage);
	when->kind = k;
	when->offset = from;
	when->window = 1000000000;
	trigger_percentile_name(w->lex.start, w->lex.len, &when->quantile);
	if (!parse_args(w, when) || !parse_of(w, when) ||
	    (k->compare != COMPARE_NONE && !parse_comparison(w, when)) || !parse_hold(w, when))
		return false;
	if (w->lex.token != EXPR_T_END && w->lex.token != EXPR_T_AND)
		return words_fail(w, w->lex.token == EXPR_T_OR ? "'and' (for 'or', "
		    "make two triggers)" : "'and'");
	to = w->lex.token == EXPR_T_END ? strlen(w->lex.text) : words_offset(w);
	memset(when->condition + from, ' ', to - from);
	memcpy(when->condition + from, "true", 4);
	return true;
}

/* Parses the words; rejects an "or" at the top, which would make the function one case of two. */
static bool
parse_words(struct words *w, struct when *when)
{
	size_t or_at = 0;
	bool or = false;

	for (words_next(w); w->lex.token != EXPR_T_END; ) {
		/* The expression's own parser says what is wrong. */
		if (w->lex.token == EXPR_T_ERROR)
			break;
		if (w->lex.token == EXPR_T_OR && w->depth == 0) {
			or = true;
			or_at = words_offset(w);
		}
		if (!words_at_function(w))
			words_next(w);
		else if (!parse_function(w, when))
			return false;
	}
	if (or && when->kind != trigger_kind(0))
		return when_fail(w->err, or_at, "'or' beside %s(): make two triggers, or "
		    "put it into parentheses", when->kind->name);
	return true;
}

static bool
unknown_event(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	return false;
}

static bool
unknown_item(const struct tnf_file *f, const struct tnf_value *r, unsigned i,
    struct tnf_value *v)
{
	return false;
}

/* Checks that no members are named if the function has no event. */
static bool
check_members(const struct when *when, const struct expr *e, struct trigger_error *err)
{
	const char *name;

	for (unsigned i = 0; !when->kind->members && (name = expr_member(e, i)) != NULL; i++)
		if (when->kind != &trigger_ended_kind || !trigger_has_ending_member(name))
			return when_fail(err, when->offset, "no '%.40s' beside %s(): there "
			    "are pid, lwpid, comm%s", name, when->kind->name,
			    when->kind == &trigger_ended_kind ?
			    ", signal, status, core" : "");
	return true;
}

static bool
check_condition(struct when *when, struct trigger_error *err)
{
	const struct expr_source source = { .member = unknown_event, .item = unknown_item };
	struct expr_error wrong;
	struct expr *e = expr_new(when->condition, &source, &wrong);
	bool fine;

	if (e == NULL)
		return when_fail(err, wrong.column, "%s", wrong.text);
	fine = check_members(when, e, err);
	expr_free(e);
	return fine;
}

/* Drops the condition if there is nothing but the function. */
static void
drop_empty(struct when *when)
{
	const char *p = when->condition + when->offset + 4;

	if (when->kind == trigger_kind(0) || when->offset != strspn(when->condition, " \t\n"))
		return;
	if (p[strspn(p, " \t\n")] == '\0') {
		free(when->condition);
		when->condition = NULL;
	}
}

bool
when_parse(const char *text, struct when *when, struct trigger_error *err)
{
	struct words w = { .before = EXPR_T_END, .err = err };
	bool fine;

	memset(when, 0, sizeof(*when));
	when->kind = trigger_kind(0);
	if (strlen(text) > EXPR_TEXT_MAX)
		return when_fail(err, 0, "text too long: at most %u bytes", EXPR_TEXT_MAX);
	when->condition = tnf_xstrdup(text);
	w.lex.text = w.lex.next = w.lex.start = text;
	w.lex.token = EXPR_T_END;
	fine = parse_words(&w, when);
	free(w.lex.string);
	fine = fine && check_condition(when, err) &&
	    (when->kind->check == NULL || when->kind->check(when, err));
	if (!fine)
		when_free(when);
	else
		drop_empty(when);
	return fine;
}

void
when_free(struct when *when)
{
	for (unsigned i = 0; i < when->n_args; i++)
		free(when->args[i]);
	free(when->condition);
	free(when->of);
	memset(when, 0, sizeof(*when));
}
