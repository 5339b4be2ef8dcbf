/*
 * walltime.c - wall clock time as RFC 3339 text with nanoseconds.
 */
#include <stdio.h>
#include <time.h>

#include "tnfdump/walltime.h"

void
wall_utc(struct out *o, int64_t ns)
{
	/* gmtime_r is slow and most events share their second. */
	static _Thread_local time_t cached = -1;
	static _Thread_local char text[24];
	time_t t = (time_t)(ns / 1000000000);
	int64_t rest = ns % 1000000000;
	struct tm tm;
	char digit[9];

	if (rest < 0) {
		rest += 1000000000;
		t--;
	}
	if (t != cached) {
		gmtime_r(&t, &tm);
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.", &tm);
		cached = t;
	}
	out_str(o, text);
	for (int i = 8; i >= 0; i--, rest /= 10)
		digit[i] = (char)('0' + rest % 10);
	out_bytes(o, digit, sizeof(digit));
	out_char(o, 'Z');
}
