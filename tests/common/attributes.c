/*
 * attributes.c - a semicolon in quotes that ends an attribute for who chooses by it; an
 * apostrophe that swallows the rest for who looks one up; names, values and words cut wrongly.
 */
#include <stdio.h>

#include "format/attributes.h"
#include "tests/check-run.h"

static char said[256];

static void
say(const char *s, size_t n, const char *behind)
{
	size_t at = strlen(said);

	snprintf(said + at, sizeof said - at, "%.*s%s", (int)n, s, behind);
}

/* "NAME=VALUE(WORD,WORD,)" of each. */
static const char *
cut(const char *s, bool quoted)
{
	struct attribute a;
	const char *p, *word;
	size_t n;

	*said = '\0';
	while (attribute_next(&s, quoted, &a)) {
		say(a.name, a.name_len, "=");
		say(a.value, a.value_len, "(");
		for (p = a.value; attribute_word(&p, a.value + a.value_len, &word, &n); )
			say(word, n, ",");
		say("", 0, ")");
	}
	return said;
}

static const struct { const char *text; bool quoted; const char *want; } rows[] = {
	{ "", true, "" }, { ";; ;", true, "" },
	{ "name p;slots a b ;keys k1 k2", false, "name=p(p,)slots=a b (a,b,)keys=k1 k2(k1,k2,)" },
	{ " name p; keys;", false, "name=p(p,)keys=()" },
	{ "keys  a\tb", false, "keys= a\tb(a,b,)" },
	{ "text 'a;b' c;d", true, "text='a;b' c(a;b,c,)d=()" },
	{ "text 'a;b' c;d", false, "text='a('a,)b'=c(c,)d=()" },
	{ "text 'a b' c", false, "text='a b' c(a b,c,)" },
	{ "file o'neil.c;line 3", true, "file=o'neil.c(o'neil.c,)line=3(3,)" },
	{ "file o'neil.c;text 'x'", false, "file=o'neil.c(o'neil.c,)text='x'(x,)" },
	{ "text ''", true, "text=''(,)" }, { "text 'a", true, "text='a('a,)" },
};

START_TEST(cutting)
{
	ck_assert_str_eq(cut(rows[_i].text, rows[_i].quoted), rows[_i].want);
}
END_TEST

START_TEST(finding)
{
	const char *s = "name p;keys;file o'n.c;text 'x';name q";
	struct attribute a;

	ck_assert(attribute_find(s, "name", &a) && a.value_len == 1 && *a.value == 'p');
	ck_assert(attribute_find(s, "keys", &a) && a.value_len == 0 && *a.value == ';');
	ck_assert(attribute_find(s, "text", &a) && a.value_len == 3);
	ck_assert(!attribute_find(s, "nam", &a) && !attribute_find(s, "names", &a));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("attributes");
	TCase *t = tcase_create("attributes");

	tcase_add_loop_test(t, cutting, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, finding);
	suite_add_tcase(s, t);
	return check_run(s);
}
