/*
 * lengths.c - records strings, texts and bytes of many lengths, by probes of all kinds.
 */
#include <stdint.h>
#include <string.h>

#include <tnf/probe.h>
#include <tnf/runtime.h>

/* 0 to 16, and around what a string, a piece and an array of pieces hold. */
static const size_t border[] = { 230, 231, 232, 233, 234, 254, 255, 256, 257, 462, 463, 464, 465,
	117 * 231, 117 * 231 + 1, 117 * 232, 117 * 232 + 1, 118 * 232 - 1, 118 * 232 + 1, 65535, 65536 };

static char text[65537];
static unsigned char data[65537];

static void
hit(struct tnf_probe_control *p, size_t len)
{
	const struct tnf_probe_value v[] = {
		{ .u.text = text, .size = len < 255 ? len : 255 }, { .u.text = text, .size = len },
		{ .u.data = data, .size = len }, { .u.u = len },
	};

	tnf_probe_hit(p, v);
	text[len] = '\0';
	TNF_PROBE_2(compiled, "lengths", "", tnf_string, s, text, tnf_uint8, n, (uint8_t)len);
	text[len] = 'x';
}

int
main(void)
{
	const struct tnf_probe_argument_type args[] = { { "s", TNF_ARG_STRING },
		{ "t", TNF_ARG_TEXT }, { "b", TNF_ARG_BLOB }, { "n", TNF_ARG_UINT64 } };
	struct tnf_probe_control *p = tnf_probe_define("made", "lengths", "", 4, args);
	size_t i;

	if (p == NULL)
		return 1;
	memset(text, 'x', sizeof(text));
	/* The bytes behind the value in memory, and its padding, are no part of the value. */
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i % 7);
	for (i = 0; i <= 16; i++)
		hit(p, i);
	for (i = 0; i < sizeof(border) / sizeof(border[0]); i++)
		hit(p, border[i]);
	return 0;
}
