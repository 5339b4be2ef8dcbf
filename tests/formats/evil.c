/*
 * evil.c - records what nobody would write: markup, quotes, marks of direction, what is
 * not UTF-8, and 60 KiB of it, as names of probes, keys, members and as values.
 */
#include <string.h>

#include <tnf/runtime.h>

#define BIG	(60u * 1024)

static const char *const evil[] = {
	"</script><script>window.evil=1</script>", "a\"'`onload=window.evil=1",
	("\xe2\x80\xae" "rtl\xe2\x80\xac"), "\xff\xfe\x80",
	"<img/src=x/onerror=window.evil=1>", "--><!--", "]]>",
	"\\u003cscript\\u003ewindow.evil=1", "${window.evil=1}", "=cmd|'/C'!A0",
	"&ltb&gt", "__proto__", "constructor",
};

/* No name has such characters, but a value may. */
static const char *const control[] = {
	"\x1b[2J\x1b]0;window.evil=1\a", "a\nb 0.0 0.0 1 1 1 - c\rd\te", ("\x7f\xc2\x9b" "31m"),
};

/* As tnfwatch makes them. */
static void
mark(const char *text)
{
	const struct tnf_probe_argument_type arg = { "text", TNF_ARG_STRING };
	const struct tnf_probe_value value = { .u.text = text, .size = TNF_SIZE_NUL };
	struct tnf_probe_control *p = tnf_probe_define("mark", "watch mark", "", 1, &arg);

	if (p != NULL)
		tnf_probe_hit(p, &value);
}

int
main(void)
{
	static char big[BIG + 1];
	unsigned i;

	for (i = 0; i < sizeof(evil) / sizeof(evil[0]); i++) {
		const struct tnf_probe_argument_type args[] = {
			{ evil[i], TNF_ARG_TEXT }, { "blob", TNF_ARG_BLOB },
			{ "string", TNF_ARG_STRING },
		};
		const struct tnf_probe_value values[] = {
			{ .u.text = big, .size = BIG },
			{ .u.data = evil[i], .size = strlen(evil[i]) },
			{ .u.text = evil[i], .size = TNF_SIZE_NUL },
		};
		struct tnf_probe_control *p;

		memset(big, i % 2 ? '<' : '"', BIG);
		memcpy(big, evil[i], strlen(evil[i]));
		p = tnf_probe_define(evil[i], evil[i], "file </script>", 3, args);
		if (p == NULL)
			return 1;
		tnf_probe_hit(p, values);
		mark(evil[i]);
	}
	for (i = 0; i < sizeof(control) / sizeof(control[0]); i++)
		mark(control[i]);
	return 0;
}
