/*
 * condition.c - what --fail-on asks of a comparison.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tnfdump/report/condition.h"

static const char *const figures[] = {
	"count", "rate", "total", "min", "mean", "p50", "p90", "p99", "max",
};

static const struct {
	const char *name;
	double	    ns;
} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

static const char *
condition_skip(const char *s)
{
	return s + strspn(s, " \t");
}

static const char *
parse_figure(struct condition *c, const char **at)
{
	const char *s = condition_skip(*at), *open = strchr(s, '('), *close;

	if (open == NULL || (close = strchr(open, ')')) == NULL)
		return "wanted: figure(group), such as p99(syscall)";
	size_t n = (size_t)(open - s);
	c->figure = FIG_NONE;
	for (unsigned i = 0; i < FIG_NONE; i++)
		if (strlen(figures[i]) == n && strncmp(s, figures[i], n) == 0)
			c->figure = (enum figure)i;
	if (c->figure == FIG_NONE)
		return "no such figure: count, rate, total, min, mean, p50, p90, p99, max";
	n = (size_t)(close - open - 1);
	if (n == 0 || n >= sizeof(c->group))
		return "wanted the name of a pair or probe in parentheses";
	memcpy(c->group, open + 1, n);
	c->group[n] = '\0';
	*at = condition_skip(close + 1);
	return NULL;
}

static const char *
condition_parse_number(struct condition *c, const char *s)
{
	char *end;

	c->change = *s == '+' || *s == '-';
	c->number = strtod(s, &end);
	if (end == s)
		return "wanted a number behind the operator";
	c->percent = *end == '%';
	if (c->percent)
		return c->change && *condition_skip(end + 1) == '\0' ? NULL :
		    "percent need a sign: +10%";
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].name) == 0) {
			c->number *= units[i].ns;
			return NULL;
		}
	return "unknown unit: %, ns, us, ms, s";
}

const char *
condition_parse(struct condition *c, const char *text)
{
	const char *s = text, *error;

	c->text = text;
	if ((error = parse_figure(c, &s)) != NULL)
		return error;
	size_t n = strspn(s, "<>=");
	if (n == 0 || n > 2 || *s == '=' || (n == 2 && s[1] != '='))
		return "wanted one of: > >= < <=";
	memcpy(c->op, s, n);
	c->op[n] = '\0';
	return condition_parse_number(c, condition_skip(s + n));
}

double
figure_value(enum figure f, const struct stats_row *r, double seconds)
{
	if (r == NULL)
		return 0;
	const struct histogram *h = &r->took;
	switch (f) {
	case FIG_COUNT:	return (double)r->count;
	case FIG_RATE:	return seconds > 0 ? (double)r->count / seconds : 0;
	case FIG_TOTAL:	return h->total;
	case FIG_MIN:	return (double)h->min;
	case FIG_MEAN:	return (double)histogram_mean(h);
	case FIG_P50:	return (double)histogram_percentile(h, 50);
	case FIG_P90:	return (double)histogram_percentile(h, 90);
	case FIG_P99:	return (double)histogram_percentile(h, 99);
	default:	return (double)h->max;
	}
}

bool
condition_names(const struct condition *c, const struct stats_row *r)
{
	size_t n = strlen(c->group);

	return r->len >= n && memcmp(r->text, c->group, n) == 0 &&
	    (r->len == n || r->text[n] == ' ');
}

bool
condition_holds(const struct condition *c, double before, double after)
{
	double v = after;

	if (c->change) {
		v = after - before;
		if (c->percent && before == 0 && after == 0)
			v = 0;
		else if (c->percent)
			v = before == 0 ? 1e300 : v / before * 100;
	}
	if (c->op[0] == '>')
		return c->op[1] == '=' ? v >= c->number : v > c->number;
	return c->op[1] == '=' ? v <= c->number : v < c->number;
}
