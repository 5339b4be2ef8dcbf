/*
 * normalize.c - queries and paths that differ in literals alone become equal, and no others.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/stats.h"

static const struct { const char *text, *want; } tests[] = {
	{ "SELECT * FROM t WHERE id = 42", "SELECT * FROM t WHERE id = ?" },
	{ "select  a,\n\tb from t2 where x='it''s' and y=1.5e-3",
	    "select a, b from t2 where x=? and y=?" },
	{ "in (1, 2, 3)", "in (?, ...)" },
	{ "in ('a','b')", "in (?, ...)" },
	{ "in (1)", "in (?)" },
	{ "values (1, x, 2)", "values (?, x, ?)" },
	{ "limit $1 offset $2", "limit $1 offset $2" },
	{ "select \"col 1\" from t", "select \"col ?\" from t" },
	{ "/users/812/orders/7", "/users/?/orders/?" },
	{ "/var/lib/x86_64/v1/libc.so", "/var/lib/x86_64/v1/libc.so" },
	{ "/tmp/order20261123.tmp", "/tmp/order?.tmp" },
	{ "/o/550e8400-e29b-41d4-a716-446655440000/x", "/o/?/x" },
	{ "0xff <> -3", "? <> -?" },
	{ "'not closed", "?" },
	{ "'a\\'b' c", "? c" },
	{ "decade", "decade" },
	{ "", "" },
};

int
main(void)
{
	size_t n = sizeof(tests) / sizeof(*tests);
	unsigned bad = 0;
	struct out o;

	printf("1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		tnf_out_memory(&o);
		text_normalize(&o, tests[i].text, strlen(tests[i].text));
		out_char(&o, '\0');
		bool good = strcmp(o.base, tests[i].want) == 0;
		printf("%s %zu - %s\n", good ? "ok" : "not ok", i + 1, o.base);
		bad += !good;
		tnf_out_close(&o);
	}
	return bad > 0;
}
