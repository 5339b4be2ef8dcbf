/*
 * selector.c - tokens that end where they should, texts of selectors that say what is wrong
 * with them, and which probes a selector means.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/selector.h"
#include "tests/check-run.h"

static const struct { const char *line; enum token_kind kind; size_t blanks, len; } tokens[] = {
	{ "", TOK_END, 0, 0 }, { " \t", TOK_END, 2, 0 }, { "\nx", TOK_END, 0, 1 }, { "# a\nx", TOK_END, 0, 4 },
	{ "# a", TOK_END, 0, 3 }, { "\\\nx", TOK_CONTINUE, 0, 2 }, { "\\x", TOK_BAD, 0, 1 }, { ";;", TOK_SEMICOLON, 0, 1 },
	{ "==", TOK_EQUAL, 0, 1 }, { ",a", TOK_COMMA, 0, 1 }, { " $a1 b", TOK_SET, 1, 3 }, { "&f=", TOK_FCN, 0, 2 },
	{ "$ a", TOK_BAD, 0, 1 }, { "&", TOK_BAD, 0, 1 }, { "'a b'c", TOK_QSTR, 0, 5 }, { "''", TOK_QSTR, 0, 2 },
	{ "'a\n'", TOK_BAD, 0, 1 }, { "'a", TOK_BAD, 0, 1 }, { "/a b/c", TOK_REGEX, 0, 5 }, { "//", TOK_REGEX, 0, 2 },
	{ "/a\\/b/", TOK_REGEX, 0, 6 }, { "/a\\\n/", TOK_BAD, 0, 1 }, { "/a\n/", TOK_BAD, 0, 1 }, { "/a\\", TOK_BAD, 0, 1 },
	{ "/a", TOK_BAD, 0, 1 }, { "12k;", TOK_INT, 0, 3 }, { "12kk", TOK_INT, 0, 3 }, { "7", TOK_INT, 0, 1 },
	{ "7x", TOK_INT, 0, 1 }, { "5G", TOK_INT, 0, 2 }, { "k5", TOK_IDENT, 0, 2 }, { "a_1 b", TOK_IDENT, 0, 3 },
	{ "a.b=c", TOK_IDENT, 0, 3 }, { "*a", TOK_BAD, 0, 1 }, { "\"a\"", TOK_BAD, 0, 1 },
};

START_TEST(lexing)
{
	size_t blanks, len;

	ck_assert_int_eq(tnf_lex(tokens[_i].line, &blanks, &len), tokens[_i].kind);
	ck_assert_uint_eq(blanks, tokens[_i].blanks);
	ck_assert_uint_eq(len, tokens[_i].len);
}
END_TEST

/* "attribute=value" of each, patterns between slashes; or "!" and what is wrong, where. */
static const char *
parsed(const char *text)
{
	static char said[400];
	char why[200] = "", *at_end = said;
	size_t at;
	struct tnf_selectors *l = tnf_selectors_parse(text, why, sizeof why, &at);

	*said = '\0';
	if (l == NULL)
		snprintf(said, sizeof said, "!%zu %s", at, why);
	for (size_t i = 0; l != NULL && i < l->n; i++) {
		const struct tnf_spec *s[] = { &l->v[i].attr, &l->v[i].value };
		for (int k = 0; k < 2; k++)
			at_end += sprintf(at_end, "%s%s%s%s", s[k]->is_regex ? "/" : "", s[k]->text,
			    s[k]->is_regex ? "/" : "", k == 0 ? "=" : " ");
	}
	tnf_selectors_unref(l);
	return said;
}

#define ALWAYS	"name=thread_create name=thread_exit name=strategy name=biodone name=major_fault " \
    "name=pagein name=pageout name=pageout_scan_start name=pageout_scan_end name=swapout_lwp "
#define WHY	"name=thread_create name=thread_exit name=thread_state name=thread_block " \
    "name=thread_wakeup name=thread_throttle name=thread_signal name=lock_owner name=strategy " \
    "name=biodone name=major_fault name=pagein name=pageout name=pageout_scan_start name=pageout_scan_end "
static const struct { const char *text, *want; } texts[] = {
	{ "", "" }, { "# nothing\n", "" }, { "a", "keys=a " }, { "a b", "keys=a keys=b " }, { "a=b", "a=b " },
	{ "a = b c\nd=/e f/ # g", "a=b keys=c d=/e f/ " }, { "'a b'='c'", "a b=c " }, { "'\\('", "keys=\\( " }, { "/^a/=b\\\nc", "/^a/=b keys=c " },
	{ "$all", "keys=/.*/ " }, { "a $all b", "keys=a keys=/.*/ keys=b " }, { "$always", ALWAYS }, { "$why", WHY },
	{ "$wh", "!0 no set named \"$wh\": there are $all, $always and $why" },
	{ "$alx", "!0 no set named \"$alx\": there are $all, $always and $why" },
	{ "$al", "!0 no set named \"$al\": there are $all, $always and $why" },
	{ "$alwayz", "!0 no set named \"$alwayz\": there are $all, $always and $why" },
	{ "$always1", "!0 no set named \"$always1\": there are $all, $always and $why" },
	{ "a=", "!2 =: no value behind it: write attribute=value" },
	{ "a=#", "!3 =: no value behind it: write attribute=value" },
	{ "=a", "!0 =: no selector: write key, attribute=value, or quote it: 'text', /expression/" },
	{ "a b ,c", "!4 ,: no selector: write key, attribute=value, or quote it: 'text', /expression/" },
	{ "a==b", "!2 =: no selector: write key, attribute=value, or quote it: 'text', /expression/" },
	{ "a=b=c", "!3 =: no selector: write key, attribute=value, or quote it: 'text', /expression/" },
	{ "a=$all", "!2 $all: a set cannot be a value: it stands by itself, among selectors" },
	{ "a=5k", "!2 5k: a number as a value: quote it: '5k'" },
	{ "a*", "!1 *: patterns are regular expressions: name=/^re.*ad$/" },
	{ "a='b", "!2 ': not closed before the end of the line" }, { "/b\n/", "!0 /: not closed before the end of the line" },
	{ "\"a\"", "!0 \": texts are in single quotes: 'a text'" }, { "a-b", "!1 -: not allowed in an unquoted word: quote the word: 'a-b'" },
	{ "/a\\(/", "!0 /a\\(/: Unmatched ( or \\(" },
	{ "/\\(/ $all", "!0 /\\(/: Unmatched ( or \\(" },
};

START_TEST(parsing)
{
	ck_assert_str_eq(parsed(texts[_i].text), texts[_i].want);
}
END_TEST

/* The attributes of three probes: a program's own, an imported one, an imported one that is on. */
static const struct tnf_probe_attrs probes[] = {
	{ .object = "/bin/shop", .own = "name order;slots id 'a b' ;keys shop io;file a b.c;empty;text 'x;y'" },
	{ .own = "name sched.wake;keys sched;origin tracepoint" },
	{ .enabled = true, .traced = true, .funcs = "main", .own = "name sched.wake;keys sched;origin tracepoint" },
};
static const struct { const char *text; bool program, imported, used; } matches[] = {
	{ "name=order", true, false, false }, { "name=orde", false, false, false }, { "name=/^or/", true, false, false },
	{ "name=/er$/", true, false, false }, { "nam=order", false, false, false }, { "names=order", false, false, false },
	{ "/^n/=order", true, false, false }, { "shop", true, false, false }, { "io", true, false, false },
	{ "slots='a b'", true, false, false }, { "slots=a", false, false, false }, { "file=a", true, false, false },
	{ "file='a b.c'", false, false, false }, { "empty=''", true, false, false }, { "keys=''", false, false, false },
	{ "text='x;y'", true, false, false }, { "object='/bin/shop'", true, false, false }, { "funcs=main", false, false, true },
	{ "enable=on", false, false, true }, { "trace=on", false, false, true }, { "enable=off", true, false, false },
	{ "trace=off", true, false, false }, { "$all", true, false, true }, { "/./=/./", true, false, true },
	{ "sched", false, true, true }, { "name='sched.wake'", false, true, true }, { "sched.wake", false, true, true },
	{ "sched.wak", false, false, false }, { "/sched.wake/", false, false, false }, { "name=/wake/", false, true, true },
	{ "nothing name=order", true, false, false }, { "", false, false, false }, { "origin=/.*/", false, false, true },
};

START_TEST(matching)
{
	char why[200];
	size_t at;
	bool used[2] = { false, false };
	struct tnf_selectors *l = tnf_selectors_parse(matches[_i].text, why, sizeof why, &at);

	ck_assert_ptr_nonnull(l);
	ck_assert(tnf_selectors_match(l, &probes[0], NULL) == matches[_i].program);
	ck_assert(tnf_selectors_match(l, &probes[1], NULL) == matches[_i].imported);
	ck_assert(tnf_selectors_match(l, &probes[2], used) == matches[_i].used);
	if (l->n > 0)
		ck_assert(used[l->n - 1] == matches[_i].used);
	tnf_selectors_unref(l);
}
END_TEST

START_TEST(finding)
{
	struct attribute a;

	ck_assert(tnf_probe_attrs_find(&probes[0], "object", &a) && a.value_len == 9);
	ck_assert(tnf_probe_attrs_find(&probes[0], "enable", &a) && memcmp(a.value, "off", 3) == 0);
	ck_assert(tnf_probe_attrs_find(&probes[2], "trace", &a) && memcmp(a.value, "on", a.value_len) == 0);
	ck_assert(tnf_probe_attrs_find(&probes[0], "keys", &a) && a.value_len == 7);
	ck_assert(!tnf_probe_attrs_find(&probes[0], "funcs", &a) && !tnf_probe_attrs_find(&probes[0], "key", &a));
	ck_assert(!tnf_probe_attrs_unused_import(&probes[0]) && tnf_probe_attrs_unused_import(&probes[1]) &&
	    !tnf_probe_attrs_unused_import(&probes[2]));
}
END_TEST

/* A list is shared: it lasts until the last one gives it back. */
START_TEST(sharing)
{
	char why[200];
	size_t at;
	struct tnf_selectors *l = tnf_selectors_parse("a b=c", why, sizeof why, &at);

	l->refs++;
	tnf_selectors_unref(l);
	ck_assert(l->n == 2 && strcmp(l->v[1].value.text, "c") == 0);
	tnf_selectors_unref(l);
	tnf_selectors_unref(NULL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("selector");
	TCase *t = tcase_create("selector");

	tcase_add_loop_test(t, lexing, 0, sizeof tokens / sizeof *tokens);
	tcase_add_loop_test(t, parsing, 0, sizeof texts / sizeof *texts);
	tcase_add_loop_test(t, matching, 0, sizeof matches / sizeof *matches);
	tcase_add_test(t, finding);
	tcase_add_test(t, sharing);
	suite_add_tcase(s, t);
	return check_run(s);
}
