/*
 * walltime.c - wall clock time as RFC 3339 text with nanoseconds.
 */
#include <stdlib.h>
#include <time.h>

#include "analysis/walltime.h"

#define SECOND 1000000000LL

static void
walltime_put(char *p, unsigned width, unsigned v)
{
	while (width-- > 0) {
		p[width] = (char)('0' + v % 10);
		v /= 10;
	}
}

/* "2026-11-21T03:12:20" and the zone, into the two buffers. */
static void
format_second(time_t t, bool utc, char head[24], char zone[8])
{
	struct tm tm;

	if ((utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) == NULL)
		memset(&tm, 0, sizeof(tm));
	memcpy(head, "0000-00-00T00:00:00", 20);
	walltime_put(head, 4, (unsigned)(tm.tm_year + 1900) % 10000);
	walltime_put(head + 5, 2, (unsigned)tm.tm_mon + 1);
	walltime_put(head + 8, 2, (unsigned)tm.tm_mday);
	walltime_put(head + 11, 2, (unsigned)tm.tm_hour);
	walltime_put(head + 14, 2, (unsigned)tm.tm_min);
	walltime_put(head + 17, 2, (unsigned)tm.tm_sec);
	long off = utc ? 0 : tm.tm_gmtoff / 60;
	if (utc) {
		memcpy(zone, "Z", 2);
		return;
	}
	memcpy(zone, off < 0 ? "-00:00" : "+00:00", 7);
	walltime_put(zone + 1, 2, (unsigned)labs(off) / 60);
	walltime_put(zone + 4, 2, (unsigned)labs(off) % 60);
}

unsigned
wall_format(char buf[WALL_SIZE], int64_t wall_ns, bool utc)
{
	static struct {
		bool	valid, utc;
		int64_t	second;
		char	head[24], zone[8];
	} last;
	int64_t second = wall_ns / SECOND, rest = wall_ns % SECOND;

	if (rest < 0) {
		second--;
		rest += SECOND;
	}
	if (!last.valid || last.second != second || last.utc != utc) {
		format_second((time_t)second, utc, last.head, last.zone);
		last.valid = true;
		last.utc = utc;
		last.second = second;
	}
	memcpy(buf, last.head, 19);
	buf[19] = '.';
	walltime_put(buf + 20, 9, (unsigned)rest);
	unsigned n = (unsigned)strlen(last.zone);
	memcpy(buf + 29, last.zone, n + 1);
	return 29 + n;
}

void
wall_utc(struct out *o, int64_t ns)
{
	char buf[WALL_SIZE];

	tnf_out_bytes(o, buf, wall_format(buf, ns, true));
}
