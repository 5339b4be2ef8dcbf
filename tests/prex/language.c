/*
 * language.c - the parts of the shell one by one: tokens, attributes,
 * selectors, words, completion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "prex/cmd.h"
#include "prex/shell.h"
#include "tests/check-run.h"

/* The kinds of the tokens of a line, a letter each. */
static const char *
kinds(const char *s)
{
	static const char letters[] = ".\\;=,iw$&q/0!";
	static char buf[128];
	struct token tok;
	size_t n = 0;

	for (;;) {
		s += lex(s, &tok);
		buf[n++] = letters[tok.kind];
		token_free(&tok);
		if (buf[n - 1] == '.')
			break;
	}
	buf[n] = '\0';
	return buf;
}

START_TEST(tokens)
{
	ck_assert_str_eq(kinds(""), ".");
	ck_assert_str_eq(kinds("  \t # list sets\n"), ".");
	ck_assert_str_eq(kinds("list sets\n"), "ww.");
	ck_assert_str_eq(kinds("name=/a\\/b/'c d'/x#y/#z"), "i=/q/.");
	ck_assert_str_eq(kinds("$all &debug $ & $1"), "$&!!!0.");
	ck_assert_str_eq(kinds("$list&enable"), "$&.");
	ck_assert_str_eq(kinds("1 1k 2M 3km 4x"), "0000i0i.");
	ck_assert_str_eq(kinds(".%_a9 a-b"), "ii!i.");
	ck_assert_str_eq(kinds("tracer trace 'trace' filter"), "iwqw.");
	ck_assert_str_eq(kinds("'no end"), "!ii.");
	ck_assert_str_eq(kinds("/no end\\"), "!ii!.");
	ck_assert_str_eq(kinds("/no end\\\n/"), "!ii\\!.");
	ck_assert_str_eq(kinds("a\\\nb"), "i\\i.");
	ck_assert_str_eq(kinds("''//"), "q/.");
	ck_assert_str_eq(kinds("1,2;*?"), "0,0;!!.");
	ck_assert_str_eq(kinds("\xc3\xa4\x01"), "!!!.");
}
END_TEST

/* An INT is 32 bits wide; what is wider must not become something else. */
START_TEST(numbers)
{
	static const struct { const char *text; long value; } v[] = {
		{ "0", 0 }, { "10", 10 }, { "1k", 1024 }, { "2K", 2048 },
		{ "1m", 1048576 }, { "2047M", 2047L << 20 },
		{ "2048M", -1 }, { "2147483647", 2147483647 },
		{ "2147483648", -1 }, { "99999999999999999999999", -1 },
		{ "18014398509481985k", -1 },
	};
	struct token tok;

	lex(v[_i].text, &tok);
	ck_assert_int_eq(tok.kind, TOK_INT);
	ck_assert_int_eq(tok.number, v[_i].value);
	token_free(&tok);
}
END_TEST

/* "name|text|value|value" for each attribute. */
static const char *
attributes(const char *s)
{
	static char buf[512];
	const struct tnf_probe_attrs attrs = { .own = s };
	struct tnf_probe_attrs_at at = { 0 };
	struct attribute a;
	const char *p, *word;
	size_t len, n = 0;

	buf[0] = '\0';
	while (tnf_probe_attrs_next(&attrs, &at, &a)) {
		if (at.rest == NULL)
			continue;	/* "enable" and "trace", which change */
		n += sprintf(buf + n, "%.*s<%.*s>", (int)a.name_len, a.name, (int)a.value_len, a.value);
		for (p = a.value; attribute_word(&p, a.value + a.value_len, &word, &len);)
			n += sprintf(buf + n, "[%.*s]", (int)len, word);
	}
	return buf;
}

START_TEST(attribute_strings)
{
	ck_assert_str_eq(attributes("name a;slots x y ;keys k;"),
	    "name<a>[a]slots<x y >[x][y]keys<k>[k]");
	ck_assert_str_eq(attributes("slots ;;debug"), "slots<>debug<>");
	ck_assert_str_eq(attributes(""), "");
	/* A segment of blanks only crashed the original. */
	ck_assert_str_eq(attributes("a 1;   ;b 2"), "a<1>[1]b<2>[2]");
	ck_assert_str_eq(attributes(" a  1 ; b"), "a< 1 >[1]b<>");
	ck_assert_str_eq(attributes("x 'a; b' c"), "x<'a; b' c>[a; b][c]");
	ck_assert_str_eq(attributes("x '' y"), "x<'' y>[][y]");
	ck_assert_str_eq(attributes("x 'open; y 2"), "x<'open>['open]y<2>[2]");
	ck_assert_str_eq(attributes("x don't;y 'q'"),
	    "x<don't;y 'q'>[don't;y][q]");
}
END_TEST

static bool
matches(const char *attr, bool attr_regex, const char *value, bool regex,
    const char *string)
{
	const struct tnf_probe_attrs attrs = { .own = string };
	struct tnf_selector s;
	const struct tnf_selectors l = { .n = 1, .v = &s };
	bool r;

	tnf_spec_init(&s.attr, attr, strlen(attr), attr_regex);
	tnf_spec_init(&s.value, value, strlen(value), regex);
	r = tnf_selectors_match(&l, &attrs, NULL);
	tnf_spec_free(&s.attr);
	tnf_spec_free(&s.value);
	return r;
}

START_TEST(selection)
{
	static const char s[] = "name f_start;keys io net;x 'a b' ;e";

	ck_assert(matches("keys", false, "io", false, s));
	ck_assert(matches("keys", false, "net", false, s));
	ck_assert(!matches("keys", false, "io net", false, s));
	ck_assert(!matches("keys", false, "IO", false, s));
	ck_assert(matches("keys", false, "^n", true, s));
	/* Anchored to the value, not to the text. */
	ck_assert(!matches("keys", false, "io n", true, s));
	ck_assert(matches("x", false, "a b", false, s));
	ck_assert(matches("x", false, "^a b$", true, s));
	ck_assert(matches("e", false, "", false, s));
	ck_assert(matches("e", false, "^$", true, s));
	ck_assert(matches("^k", true, "io", false, s));
	ck_assert(!matches("^k", true, "f_start", false, s));
	/* Basic expressions. */
	ck_assert(!matches("name", false, "star+t", true, s));
	ck_assert(matches("name", false, "sta*rt\\{1\\}", true, s));
	/* One that is invalid matches nothing, not even itself. */
	ck_assert(!matches("name", false, "\\(", true, s));
	ck_assert(!matches("\\(", true, "io", false, s));
}
END_TEST

START_TEST(abbreviations)
{
	static const char *const list[] = { "on", "off", "only", NULL };
	static const char *const long_names[] = { "net.net_dev_xmit",
	    "sched.sched_process_exec", NULL };
	const char *w = NULL;
	char *all;

	ck_assert_int_eq(word_find(list, "of", &w), WORD_ONE);
	ck_assert_str_eq(w, "off");
	/* Whole words win over longer ones. */
	ck_assert_int_eq(word_find(list, "on", &w), WORD_ONE);
	ck_assert_str_eq(w, "on");
	ck_assert_int_eq(word_find(list, "o", &w), WORD_SEVERAL);
	ck_assert_int_eq(word_find(list, "x", &w), WORD_NONE);
	all = word_candidates(list, "on");
	ck_assert_str_eq(all, "on, only");
	free(all);
	ck_assert_str_eq(tnf_word_guess(cmd_names, "enalbe"), "enable");
	ck_assert_str_eq(tnf_word_guess(cmd_names, "qiut"), "quit");
	ck_assert_ptr_null(tnf_word_guess(cmd_names, "xyzzy"));
	ck_assert_ptr_null(tnf_word_guess(cmd_names,
	    "averylongwordthatisnocommandatall"));
	/* Names of tracepoints are long. */
	ck_assert_str_eq(tnf_word_guess(long_names, "sched.sched_proces_exec"),
	    "sched.sched_process_exec");
	ck_assert_ptr_null(tnf_word_guess(long_names, "sched.sched_switched_to"));
}
END_TEST

/* The words of the language are those of the reference, no more and no less. */
START_TEST(reserved)
{
	static const char *const words[] = {
		"add", "alloc", "buffer", "clear", "connect", "continue",
		"create", "dealloc", "delete", "disable", "enable", "fcns",
		"filter", "help", "history", "import", "kill", "ktrace", "list", "off",
		"on", "pfilter", "probes", "quit", "resume", "sets", "source",
		"suspend", "trace", "tracefile", "untrace", "values", NULL
	};
	const struct cmd *const *c;
	const char *const *w, *found;

	for (w = words; *w != NULL; w++)
		ck_assert_msg(cmd_reserves(*w), "%s", *w);
	for (c = cmds; *c != NULL; c++) {
		found = "";
		word_find(words, (*c)->name, &found);
		ck_assert_int_ne((*c)->is_free, strcmp(found, (*c)->name) == 0);
		ck_assert_int_ne((*c)->is_free, cmd_reserves((*c)->name));
		ck_assert((*c)->help != NULL && (*c)->summary != NULL);
		ck_assert_ptr_eq(cmd_find((*c)->name), *c);
		for (w = (*c)->words; w != NULL && *w != NULL; w++) {
			word_find(words, *w, &found);
			ck_assert_str_eq(found, *w);
		}
	}
}
END_TEST

/* Whatever bytes come, the parser takes them, says its word, and goes on. */
START_TEST(anything)
{
	static const char alphabet[] =
	    "\n\t $&'/\\=,;#%._*-\x01\x80" "aklm0123456789\"";
	static const char *const pieces[] = {
		"list ", "probes ", "create ", "enable ", "$a ", "values ",
		"help ", "'", "/", "\\\n", "=", "pfilter ", "add ", "connect "
	};
	struct shell sh;
	struct statement st;
	char text[256] = "";
	size_t n = 0;

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	srand(_i);
	while (n < 200) {
		if (rand() % 3 == 0)
			n += sprintf(text + n, "%s", pieces[rand() %
			    (sizeof pieces / sizeof pieces[0])]);
		else
			text[n++] = alphabet[rand() % (sizeof alphabet - 1)];
	}
	text[n] = '\0';
	shell_init(&sh, "prex");
	sh.interactive = true;
	setenv("PREX_FAKE", "/dev/null", 1);
	ck_assert_int_eq(tnfctl_kernel_open(&sh.target), TNFCTL_ERR_NONE);
	source_push_string(&sh, text, "text");
	while (statement_read(&sh, &st) == STATEMENT_OK) {
		dispatch(&sh, &st);
		statement_free(&st);
	}
	statement_free(&st);
	tnfctl_close(sh.target, TNFCTL_TARG_DEFAULT);
	shell_free(&sh);
}
END_TEST

/* "word: candidate candidate" */
static const char *
completed(const char *text)
{
	static char buf[1024];
	struct completion c;
	struct shell sh;
	struct tnf_selectors *l = tnf_xcalloc(1, sizeof *l);
	size_t i, n;

	shell_init(&sh, "prex");
	ck_assert_int_eq(tnfctl_kernel_open(&sh.target), TNFCTL_ERR_NONE);
	names_define_set(&sh.sets, "all", l);
	names_define_set(&sh.sets, "any", l);
	names_define_fcn(&sh.fcns, "debug", "tnf_probe_debug");
	tnf_selectors_unref(l);
	complete(&sh, text, &c);
	n = sprintf(buf, "%s:", c.word);
	for (i = 0; i < c.candidates.n; i++)
		n += sprintf(buf + n, " %s", c.candidates.v[i]);
	completion_free(&c);
	tnfctl_close(sh.target, TNFCTL_TARG_DEFAULT);
	shell_free(&sh);
	return buf;
}

START_TEST(completion)
{
	char path[] = "/tmp/prex-table.XXXXXX";
	FILE *fp = fdopen(mkstemp(path), "w");

	fputs("probe name one;slots len level other ;keys io net;line 7\n"
	    "probe name two-three;keys io;trace_it yes\n", fp);
	fclose(fp);
	setenv("PREX_FAKE", path, 1);
	setenv("PREX_FAKE_RULE", "name=nginx", 1);
	prctl(PR_SET_NAME, "a-probe-user");
	ck_assert_str_eq(completed("en"), "en: enable");
	ck_assert_str_eq(completed("  con"), "con: connect continue");
	ck_assert_str_eq(completed("enable $"), "$: $all $any");
	ck_assert_str_eq(completed("e $al"), "$al: $all");
	ck_assert_str_eq(completed("enable $all na"), "na: name=");
	ck_assert_str_eq(completed("enable io $al"), "$al: $all");
	ck_assert_str_eq(completed("enable na"), "na: name=");
	ck_assert_str_eq(completed("enable n"), "n: name= net");
	ck_assert_str_eq(completed("enable name="), ": 'two-three' one");
	ck_assert_str_eq(completed("enable name=tw"), "tw: 'two-three'");
	ck_assert_str_eq(completed("enable name='tw"), "'tw: 'two-three'");
	ck_assert_str_eq(completed("enable line="), ": '7'");
	ck_assert_str_eq(completed("enable tra"), "tra: 'trace'= trace_it=");
	ck_assert_str_eq(completed("connect &"), "&: &debug");
	ck_assert_str_eq(completed("connect &debug $an"), "$an: $any");
	ck_assert_str_eq(completed("list na"), "na: name");
	ck_assert_str_eq(completed("list p"), "p: probes");
	ck_assert_str_eq(completed("list name pro"), "pro: probes");
	ck_assert_str_eq(completed("list name probes $al"), "$al: $all");
	ck_assert_str_eq(completed("list values k"), "k: keys");
	ck_assert_str_eq(completed("list sets "), ":");
	ck_assert_str_eq(completed("quit "), ": kill resume suspend");
	ck_assert_str_eq(completed("pfilter o"), "o: off on");
	ck_assert_str_eq(completed("pfilter e"), "e: except");
	ck_assert_str_eq(completed("pfilter add c"), "c: cgroup= children=");
	ck_assert_str_eq(completed("pfilter add name=no-such-"), "name=no-such-:");
	ck_assert_ptr_nonnull(strstr(completed("pfilter add name=a-pro"), ": name=a-probe-user"));
	ck_assert_str_eq(completed("pfilter delete n"), "n: name= name=nginx");
	ck_assert_str_eq(completed("trace name=one w"), "w: where");
	ck_assert_str_eq(completed("trace one w"), "w: where");
	ck_assert_str_eq(completed("trace one us"), "us: ustack=");
	ck_assert_str_eq(completed("trace w"), "w:");
	ck_assert_str_eq(completed("trace name=one where "), ": 'len 'level 'other");
	ck_assert_str_eq(completed("trace name=one where 'le"), "'le: 'len 'level");
	ck_assert_str_eq(completed("trace name=one where 'len > 1000 and o"),
	    "'len > 1000 and o: 'len > 1000 and other");
	ck_assert_str_eq(completed("trace name='two-three' where 'le"), "'le:");
	ck_assert_str_eq(completed("help set"), "set: set_spec");
	ck_assert_str_eq(completed("create $n na"), "na: name=");
	ck_assert_str_eq(completed("remove $"), "$: $all $any");
	ck_assert_str_eq(completed("remove $n na"), "na:");
	ck_assert_str_eq(completed("source '/de"), "'/de: '/dev/");
	ck_assert_str_eq(completed("nothing "), ":");
	unlink(path);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("prex");
	TCase *tc = tcase_create("language");

	tcase_add_test(tc, tokens);
	tcase_add_loop_test(tc, numbers, 0, 11);
	tcase_add_test(tc, attribute_strings);
	tcase_add_test(tc, selection);
	tcase_add_test(tc, abbreviations);
	tcase_add_test(tc, reserved);
	tcase_add_loop_test(tc, anything, 0, 200);
	tcase_add_test(tc, completion);
	suite_add_tcase(s, tc);
	return check_run(s);
}
