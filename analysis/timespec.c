/*
 * timespec.c - points in time (relative, of a clock, of a day), and numbers with units.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/timespec.h"
#include "analysis/value.h"

#define SECOND 1000000000LL

/* Reads two digits, or returns -1. */
static int
timespec_two(const char *s)
{
	if (!isdigit((unsigned char)s[0]) || !isdigit((unsigned char)s[1]))
		return -1;
	return (s[0] - '0') * 10 + (s[1] - '0');
}

/* Reads HH:MM[:SS[.fraction]]; NULL: malformed. */
static const char *
timespec_parse_clock(const char *s, int64_t *ns)
{
	int hour = timespec_two(s), minute, second = 0;
	int64_t unit;

	if (hour < 0 || hour > 23 || s[2] != ':')
		return NULL;
	minute = timespec_two(s + 3);
	if (minute < 0 || minute > 59)
		return NULL;
	s += 5;
	if (*s == ':') {
		second = timespec_two(s + 1);
		if (second < 0 || second > 60)
			return NULL;
		s += 3;
	}
	*ns = ((hour * 60 + minute) * 60LL + second) * SECOND;
	if (*s != '.' || !isdigit((unsigned char)s[1]))
		return s;
	for (s++, unit = SECOND / 10; isdigit((unsigned char)*s); s++) {
		*ns += (*s - '0') * unit;
		unit /= 10;
	}
	return s;
}

/* Reads Z, +HH:MM or +HHMM; NULL: malformed. */
static const char *
parse_zone(const char *s, int64_t *offset)
{
	int hour, minute, sign = *s == '-' ? -1 : 1;

	*offset = 0;
	if (*s == 'Z' || *s == 'z')
		return s + 1;
	if (*s != '+' && *s != '-')
		return NULL;
	hour = timespec_two(s + 1);
	if (hour < 0 || hour > 23)
		return NULL;
	s += 3;
	if (*s == ':')
		s++;
	minute = timespec_two(s);
	if (minute < 0 || minute > 59)
		return NULL;
	*offset = sign * (hour * 60LL + minute) * 60 * SECOND;
	return s + 2;
}

static bool
is_date(const char *s)
{
	return strspn(s, "0123456789") == 4 && s[4] == '-' && timespec_two(s + 5) > 0 &&
	    s[7] == '-' && timespec_two(s + 8) > 0;
}

/* Adds a time of day to a day's local midnight, by the rules of the time zone. */
static bool
from_local(struct tm *tm, int64_t clock, int64_t *ns)
{
	tm->tm_hour = (int)(clock / SECOND / 3600);
	tm->tm_min = (int)(clock / SECOND / 60 % 60);
	tm->tm_sec = (int)(clock / SECOND % 60);
	tm->tm_isdst = -1;
	time_t t = mktime(tm);
	if (t == (time_t)-1)
		return false;
	*ns = (int64_t)t * SECOND + clock % SECOND;
	return true;
}

static const char *
parse_date(const char *s, struct timespec_arg *arg)
{
	static const char wrong[] =
	    "date and time expected, as 2026-11-21T03:12:20Z";
	int64_t clock = 0, offset;
	struct tm tm = { 0 };

	tm.tm_year = atoi(s) - 1900;
	tm.tm_mon = timespec_two(s + 5) - 1;
	tm.tm_mday = timespec_two(s + 8);
	if (tm.tm_mon > 11 || tm.tm_mday > 31 || tm.tm_year < 70 ||
	    tm.tm_year > 360)
		return wrong;
	s += 10;
	if (*s == 'T' || *s == 't' || *s == ' ') {
		s = timespec_parse_clock(s + 1, &clock);
		if (s == NULL)
			return wrong;
	}
	arg->kind = TIMESPEC_WALL;
	if (*s == '\0')
		return from_local(&tm, clock, &arg->ns) ? NULL : wrong;
	s = parse_zone(s, &offset);
	if (s == NULL || *s != '\0')
		return wrong;
	arg->ns = (int64_t)timegm(&tm) * SECOND + clock - offset;
	return NULL;
}

const char *
timespec_parse(const char *s, struct timespec_arg *arg)
{
	char *end;

	if (is_date(s))
		return parse_date(s, arg);
	if (timespec_two(s) >= 0 && s[2] == ':') {
		s = timespec_parse_clock(s, &arg->ns);
		if (s == NULL || *s != '\0')
			return "time of day expected, as 03:12:20.5";
		arg->kind = TIMESPEC_DAY;
		return NULL;
	}
	if (*s == '@' && isdigit((unsigned char)s[1])) {
		errno = 0;
		arg->ns = strtoll(s + 1, &end, 10);
		arg->kind = TIMESPEC_MONO;
		return *end == '\0' && errno == 0 ? NULL :
		    "nanoseconds expected after '@'";
	}
	if (!duration_parse(s, &arg->ns))
		return "time expected: 1.5s or 200ms after the first event, "
		    "03:12:20, 2026-11-21T03:12:20Z";
	arg->kind = TIMESPEC_ELAPSED;
	return NULL;
}

/* Resolves a time of day on the day of the first event, or on the next day if it is long
   past. */
static bool
resolve_day(int64_t clock, const struct timespec_clock *c, int64_t *time)
{
	int64_t first = c->first + c->mono_to_wall, ns;
	time_t t = (time_t)(first / SECOND);
	struct tm tm, next;

	if (localtime_r(&t, &tm) == NULL)
		return false;
	next = tm;
	if (!from_local(&tm, clock, &ns))
		return false;
	if (ns < first - 12 * 3600 * SECOND) {
		next.tm_mday++;
		if (!from_local(&next, clock, &ns))
			return false;
	}
	*time = ns - c->mono_to_wall;
	return true;
}

const char *
timespec_resolve(const struct timespec_arg *arg,
    const struct timespec_clock *c, int64_t *time)
{
	if ((arg->kind == TIMESPEC_WALL || arg->kind == TIMESPEC_DAY) &&
	    !c->wall)
		return "the trace does not tell the time of day "
		    "(its writer did not store it): "
		    "use a time since the first event, as 1.5s";
	switch (arg->kind) {
	case TIMESPEC_ELAPSED:
		if (__builtin_add_overflow(c->first, arg->ns, time))
			*time = INT64_MAX;
		return NULL;
	case TIMESPEC_MONO:
		*time = arg->ns;
		return NULL;
	case TIMESPEC_WALL:
		if (__builtin_sub_overflow(arg->ns, c->mono_to_wall, time))
			*time = INT64_MAX;
		return NULL;
	case TIMESPEC_DAY:
		return resolve_day(arg->ns, c, time) ? NULL :
		    "time of day out of range";
	default:
		return "no time";
	}
}

static void
walltime_put(char *p, unsigned width, unsigned v)
{
	while (width-- > 0) {
		p[width] = (char)('0' + v % 10);
		v /= 10;
	}
}

/* Writes "2026-11-21T03:12:20" and the zone into the two buffers. */
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
	digits_last(buf + 20, (uint64_t)rest, 9);
	unsigned n = (unsigned)strlen(last.zone);
	memcpy(buf + 29, last.zone, n + 1);
	return 29 + n;
}

void
wall_utc(struct out *o, int64_t ns)
{
	out_room(o);
	o->p += wall_format(o->p, ns, true);
}
