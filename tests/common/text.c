/*
 * text.c - characters, numbers, words and lines of symbols at the edges of what they may be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/out.h"
#include "common/proc.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "tests/check-run.h"

/* A code in so many bytes, whether or not that is right. */
static size_t
encode(unsigned char *to, uint32_t code, size_t n)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; --i > 0; code >>= 6)
		to[i] = (unsigned char)(0x80 | (code & 0x3f));
	to[0] = (unsigned char)(first[n] | code);
	return n;
}

static size_t
bytes_of(uint32_t code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

START_TEST(characters)
{
	static const unsigned char broken[] = { 0x00, 0x7f, 0xc0, 0xff };
	unsigned char s[5] = "";

	for (uint32_t code = 1; code < 0x140000; code += code < 0x20000 || code > 0x10ff00 ? 1 : 97) {
		bool good = code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
		for (size_t n = bytes_of(code); n <= 4; n++) {
			size_t want = good && n == bytes_of(code) ? n : 0;
			encode(s, code, n);
			s[n] = 0x80;
			if (tnf_utf8_length(s, n) != want || tnf_utf8_length(s, n + 1) != want ||
			    (n > 1 && tnf_utf8_length(s, n - 1) != 0) ||
			    tnf_utf8_is_valid((const char *)s, n) != (want != 0))
				ck_abort_msg("U+%04X in %zu bytes", code, n);
			for (size_t i = 1; i < n; i++)
				for (size_t k = 0; k < sizeof broken; k++) {
					unsigned char was = s[i];
					s[i] = broken[k];
					if (tnf_utf8_length(s, n) != 0)
						ck_abort_msg("U+%04X, byte %zu is %x", code, i, broken[k]);
					s[i] = was;
				}
		}
	}
	for (unsigned c = 0x80; c < 0x100; c++)
		if (c < 0xc2 || c > 0xf4) {
			memset(s, 0x80, sizeof s);
			s[0] = (unsigned char)c;
			ck_assert_uint_eq(tnf_utf8_length(s, 4), 0);
		}
	ck_assert(tnf_utf8_is_valid("", 0) && tnf_utf8_is_valid("a\xc3\xa4z", 4));
	ck_assert(!tnf_utf8_is_valid("a\xc3\xa4\x80", 4));
}
END_TEST

/* Characters that act on a terminal or turn the text are not shown; their neighbours are. */
START_TEST(shown)
{
	unsigned char s[4];

	for (uint32_t code = 0; code < 0x3000; code++) {
		size_t n = encode(s, code, bytes_of(code));
		bool acts = code < 0x20 || (code >= 0x7f && code < 0xa0) ||
		    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
		ck_assert_msg(tnf_printable_length(s, n) == (acts ? 0 : n), "U+%04X", code);
		if (n > 1)
			ck_assert_uint_eq(tnf_printable_length(s, n - 1), 0);
	}
}
END_TEST

START_TEST(printed)
{
	static const struct { const char *fmt, *arg, *want; } rows[] = {
		{ "%s\n", "a", "a\n" }, { "%s", "a\n", "a\\n" }, { "%s\n", "\t\r\n", "\\t\\r\\n\n" },
		{ "%s", "\x1b[m", "\\x1b[m" }, { "%s", "\xc3\xa4\xc3", "\xc3\xa4\\xc3" },
		{ "%s", "\xe2\x80\xae", "\\xe2\\x80\\xae" }, { "%s", "", "" }, { "\n%s\n", "x", "\\nx\n" },
	};
	char *text;
	size_t n;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		FILE *f = open_memstream(&text, &n);
		_Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
		tnf_printable_printf(f, rows[i].fmt, rows[i].arg);
		fclose(f);
		ck_assert_str_eq(text, rows[i].want);
		free(text);
	}
	FILE *f = open_memstream(&text, &n);
	tnf_printable_printf(f, "%c%s", 0, "");
	tnf_printable_printf(f, "%s", "");
	fclose(f);
	ck_assert_str_eq(text, "\\x00");
	free(text);
}
END_TEST

static void
digits_of(uint64_t v)
{
	char got[64], want[64];

	*digits_u64(got, v) = '\0';
	snprintf(want, sizeof want, "%" PRIu64, v);
	ck_assert_str_eq(got, want);
	*digits_wide(got, v, 9) = '\0';
	snprintf(want, sizeof want, "%9" PRIu64, v);
	ck_assert_str_eq(got, want);
	*digits_ms16(got, v) = '\0';
	snprintf(want, sizeof want, "%9" PRIu64 ".%06" PRIu64, v / 1000000, v % 1000000);
	ck_assert_str_eq(got, want);
}

START_TEST(digits)
{
	char got[16];

	for (uint64_t ten = 1, i = 0; i < 20; i++, ten *= 10)
		for (uint64_t v = ten - 1; v != ten + 2; v++)
			digits_of(v);
	for (uint64_t v = 1; v < UINT64_MAX / 3; v = v * 3 + 1)
		digits_of(v);
	digits_of(UINT64_MAX);
	for (unsigned n = 0; n < 6; n++) {
		*digits_last(got, 54321, n) = '\0';
		ck_assert_str_eq(got, &"54321"[5 - n]);
	}
	for (unsigned v = 0; v < 100; v++) {
		char want[16];
		snprintf(want, sizeof want, "%02u", v);
		*digits_last(got, v, 2) = '\0';
		ck_assert_str_eq(got, want);
	}
}
END_TEST

#define LONG60	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh"

/* The word that is meant, of these; "-": none is. */
START_TEST(guesses)
{
	static const char *const words[] = { "enable", "disable", "trace", "on", "off", "list", "lists",
	    LONG60 "1234", LONG60 "12345", NULL };
	static const struct { const char *text, *want; } rows[] = {
		{ "enable", "enable" }, { "enabel", "enable" }, { "nable", "enable" }, { "enablee", "enable" },
		{ "enabl3", "enable" }, { "neable", "enable" }, { "nabel", "enable" }, { "eneabl", "enable" },
		{ "naleb", "-" }, { "xxenable", "enable" }, { "xxxenable", "-" }, { "able", "enable" },
		{ "enab", "enable" }, { "ena", "-" }, { "trcae", "trace" }, { "rtcae", "trace" }, { "rtcea", "-" },
		{ "no", "on" }, { "ofx", "off" }, { "oxx", "-" }, { "o", "on" }, { "of", "on" },
		{ "", "-" }, { "x", "-" }, { "lits", "list" }, { "list", "list" }, { "lists", "lists" }, { "listss", "lists" },
		{ LONG60 "123", LONG60 "1234" }, { LONG60 "12", LONG60 "1234" }, { LONG60 "1", "-" },
		{ LONG60 "12345", "-" }, { LONG60 "1234", LONG60 "1234" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = tnf_word_guess(words, rows[i].text);
		ck_assert_msg(strcmp(got == NULL ? "-" : got, rows[i].want) == 0, "%s: %s, not %s",
		    rows[i].text, got == NULL ? "-" : got, rows[i].want);
	}
}
END_TEST

START_TEST(symbols)
{
	static const struct { const char *line; uint64_t address; char type; const char *name, *module; } rows[] = {
		{ "ffffffff81001000 T first\n", 0xffffffff81001000, 'T', "first", "" },
		{ "0000000000000000 A hidden", 0, 'A', "hidden", "" },
		{ "09af t x\t[mod]\n", 0x9af, 't', "x", "mod" }, { "1 t x  [mod", 1, 't', "x", "mod" },
		{ "1 t x \t[mod\nother]", 1, 't', "x", "mod" }, { "1 t x y\n", 1, 't', "x", NULL },
		{ "1 ! \n", 1, '!', "", "" },
		{ " T x", 0, 0, NULL, NULL }, { "1", 0, 0, NULL, NULL }, { "1 ", 0, 0, NULL, NULL },
		{ "1 T", 0, 0, NULL, NULL }, { "1   x", 0, 0, NULL, NULL }, { "1 Tx y", 0, 0, NULL, NULL },
		{ "1A T x", 0, 0, NULL, NULL }, { "1g T x", 0, 0, NULL, NULL }, { "1:T x", 0, 0, NULL, NULL },
		{ "/1 T x", 0, 0, NULL, NULL }, { "1` T x", 0, 0, NULL, NULL },
	};
	struct kallsym k;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ck_assert_msg(tnf_kallsyms_line(rows[i].line, &k) == (rows[i].name != NULL), "%s", rows[i].line);
		if (rows[i].name == NULL)
			continue;
		ck_assert_uint_eq(k.address, rows[i].address);
		ck_assert_int_eq(k.type, rows[i].type);
		ck_assert(k.length == strlen(rows[i].name) && strncmp(k.name, rows[i].name, k.length) == 0);
		if (rows[i].module != NULL && *rows[i].module != '\0')
			ck_assert(k.module_length == strlen(rows[i].module) &&
			    strncmp(k.module, rows[i].module, k.module_length) == 0);
		else
			ck_assert_uint_eq(k.module_length, 0);
	}
}
END_TEST

START_TEST(memory)
{
	char *s = tnf_xstrndup("abc", 2), *t = tnf_xstrndup("abc", 9), *u = tnf_xasprintf("%d", 7);
	char *v = tnf_xstrdup("x"), *none = tnf_xcalloc(0, 0), *array = tnf_xreallocarray(NULL, 0, 8);

	ck_assert_str_eq(s, "ab");
	ck_assert_str_eq(t, "abc");
	ck_assert_str_eq(u, "7");
	ck_assert_str_eq(v, "x");
	ck_assert_int_eq(none[0], 0);
	array[0] = 1;
	free(s), free(t), free(u), free(v), free(none), free(array);
}
END_TEST

static void
said(void)
{
	_exit(7);
}

START_TEST(no_memory)
{
	tnf_xalloc_failed = _i == 0 ? NULL : said;
	tnf_xreallocarray(NULL, SIZE_MAX, 2);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("text");
	TCase *t = tcase_create("text");

	tcase_add_test(t, characters);
	tcase_add_test(t, shown);
	tcase_add_test(t, printed);
	tcase_add_test(t, digits);
	tcase_add_test(t, guesses);
	tcase_add_test(t, symbols);
	tcase_add_test(t, memory);
	tcase_add_loop_exit_test(t, no_memory, 1, 0, 1);
	tcase_add_loop_exit_test(t, no_memory, 7, 1, 2);
	suite_add_tcase(s, t);
	return check_run(s);
}
