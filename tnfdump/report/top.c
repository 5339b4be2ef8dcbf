/*
 * top.c - --top: statistics of what happens now, anew for each second.
 *
 * The statistics are those of --stats for one interval at a time.  On a terminal each table
 * replaces the one before and keys are read; otherwise the tables follow each other.
 */
#include <sys/ioctl.h>

#include <poll.h>
#include <termios.h>

#include "tnfdump/report/report.h"

#define LOOK_EVERY	1024	/* events, between looks at the clock */
#define WIDTH_MIN	40u
#define LINES_MIN	6u

struct top {
	struct dump	*d;
	struct stats	*stats;		/* of this interval */
	double		 interval;	/* seconds */
	int64_t		 since;		/* start of the interval, monotonic ns */
	uint64_t	 events;	/* in the interval */
	uint64_t	 all;		/* since the start */
	unsigned	 look;
	unsigned	 height, width;	/* of the terminal; 0: there is none */
	char		 order;		/* key of the chosen order */
	bool		 paused;
};

/* The terminal's settings before; they are restored however the program ends. */
static struct {
	bool		 changed;
	struct termios	 was;
} keyboard;

static bool screen_taken;

static void
top_say(const char *escape)
{
	if (write(STDOUT_FILENO, escape, strlen(escape)) < 0)
		return;
}

static void
terminal_restore(void)
{
	if (keyboard.changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &keyboard.was);
	if (screen_taken)
		top_say("\033[?25h\033[?1049l");
	keyboard.changed = screen_taken = false;
}

static void
terminal_take(void)
{
	atexit(terminal_restore);
	if (tcgetattr(STDIN_FILENO, &keyboard.was) == 0) {
		struct termios t = keyboard.was;
		t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
		t.c_cc[VSUSP] = _POSIX_VDISABLE;
		keyboard.changed = tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0;
	}
	top_say("\033[?1049h\033[?25l");
	screen_taken = true;
}

static void
find_size(struct top *t)
{
	struct winsize w;

	if (!screen_taken)
		return;
	t->height = 24;
	t->width = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0) {
		t->height = w.ws_row < LINES_MIN ? LINES_MIN : w.ws_row;
		t->width = w.ws_col < WIDTH_MIN ? WIDTH_MIN : w.ws_col;
	}
}

static char top_order;		/* for qsort() */

static double
row_key(const struct stats_row *r)
{
	switch (top_order) {
	case 'c':
		return (double)r->count;
	case 'm':
		return r->pair ? (double)r->took.max : -1;
	default:
		return r->pair ? r->took.total : -1;
	}
}

static int
row_order(const void *a, const void *b)
{
	const struct stats_row *x = *(struct stats_row *const *)a;
	const struct stats_row *y = *(struct stats_row *const *)b;
	size_t n = x->len < y->len ? x->len : y->len;

	if (top_order != 'n') {
		double p = row_key(x);
		double q = row_key(y);
		if (p != q)
			return p > q ? -1 : 1;
		if (x->count != y->count)
			return x->count > y->count ? -1 : 1;
	}
	int c = memcmp(x->text, y->text, n);
	return c != 0 ? c : (x->len > y->len) - (x->len < y->len);
}

/* Ends a line, cut at the width of the screen. */
static void
end_line(struct top *t, size_t from)
{
	struct out *o = &t->d->scratch;
	size_t len = out_size(o) - from, i, columns;

	if (t->width > 0) {
		/* Counts characters, not bytes. */
		for (i = columns = 0; i < len; i++) {
			columns += ((unsigned char)o->base[from + i] & 0xc0) != 0x80;
			if (columns > t->width)
				break;
		}
		o->p = o->base + from + i;
		out_lit(o, "\033[K\r\n");
	} else
		out_char(o, '\n');
}

static size_t
begin_line(struct top *t)
{
	return out_size(&t->d->scratch);
}

static void __attribute__((format(printf, 2, 3)))
top_put(struct top *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		tnf_out_bytes(&t->d->scratch, text, (size_t)n < sizeof(text) ? (size_t)n :
		    sizeof(text) - 1);
}

static void
put_head(struct top *t, double seconds)
{
	time_t now = time(NULL);
	char clock[32] = "", names[160];
	uint64_t missed = follow_missed(t->d);
	struct tm tm;
	size_t at = begin_line(t);

	if (localtime_r(&now, &tm) != NULL)
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	top_put(t, "%s  ", clock);
	follow_what(t->d, names, sizeof(names));
	print_escaped(&t->d->scratch, names, strlen(names));
	top_put(t, "  %.0f events/s  %llu in all", (double)t->events / seconds,
	    (unsigned long long)t->all);
	if (missed > 0)
		top_put(t, "  fell behind: %llu blocks", (unsigned long long)missed);
	if (t->paused)
		top_put(t, "  PAUSED");
	end_line(t, at);
	if (t->height == 0)
		return;
	at = begin_line(t);
	top_put(t, "q quit  by: t time  c count  m longest  n name  space pauses");
	end_line(t, at);
}

static void
put_row(struct top *t, const struct stats_row *r, double seconds)
{
	size_t at = begin_line(t);

	top_put(t, "%11.1f ", (double)r->count / seconds);
	if (r->pair)
		top_put(t, "%10.3f %10.1f %10.1f %10.1f %10.1f  ", r->took.total / 1e6 / seconds,
		    (double)histogram_mean(&r->took) / 1e3,
		    (double)histogram_percentile(&r->took, 50) / 1e3,
		    (double)histogram_percentile(&r->took, 99) / 1e3,
		    (double)r->took.max / 1e3);
	else
		top_put(t, "%55s ", "");
	print_escaped(&t->d->scratch, r->text, r->len);
	end_line(t, at);
}

static void
top_draw(struct top *t, double seconds)
{
	struct out *o = &t->d->scratch;
	size_t n, i, room, at;

	find_size(t);
	tnf_out_again(o);
	if (t->height > 0)
		out_lit(o, "\033[H");
	put_head(t, seconds);
	at = begin_line(t);
	top_put(t, "%11s %10s %10s %10s %10s %10s  %s", "rate/s", "time ms/s", "mean us",
	    "p50 us", "p99 us", "max us", "what");
	end_line(t, at);
	struct stats_row **row = stats_rows(t->stats, &n);
	top_order = t->order;
	qsort(row, n, sizeof(row[0]), row_order);
	room = t->height > 0 ? t->height - 4 : n;
	for (i = 0; i < n && i < room; i++)
		put_row(t, row[i], seconds);
	out_str(o, t->height > 0 ? "\033[J" : "\n");
	tnf_out_bytes(&t->d->out, o->base, out_size(o));
	tnf_out_flush(&t->d->out);
}

/* Shows the interval that is over and begins a new one. */
static void
top_turn(struct top *t, int64_t now)
{
	if (!t->paused)
		top_draw(t, (double)(now - t->since) / 1e9);
	stats_free(t->stats);
	t->stats = reports_stats(t->d);
	t->events = 0;
	t->since = now;
}

/* Handles a key; true: draw the table at once. */
static bool
take_key(struct top *t, char key)
{
	switch (key) {
	case 'q':
	case 'Q':
	case 4:		/* the end of the input */
		t->d->enough = true;
		return false;
	case 't':
	case 'c':
	case 'm':
	case 'n':
		t->order = key;
		return true;
	case ' ':
		t->paused = !t->paused;
		return true;
	default:
		return false;
	}
}

static void
top_look(struct top *t)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	bool redraw = false;
	char key;

	while (keyboard.changed && !t->d->enough && poll(&p, 1, 0) > 0) {
		if (read(STDIN_FILENO, &key, 1) != 1) {
			t->d->enough = true;
			return;
		}
		redraw |= take_key(t, key);
	}
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	if ((double)(now - t->since) >= t->interval * 1e9)
		top_turn(t, now);
	else if (redraw && now > t->since)
		top_draw(t, (double)(now - t->since) / 1e9);
}

static int
top_begin(struct dump *d)
{
	struct top *t = tnf_xcalloc(1, sizeof(*t));

	t->d = d;
	t->order = 't';
	reports_pairs(d);
	if ((t->stats = reports_stats(d)) == NULL) {
		free(t);
		return -1;
	}
	d->state = t;
	if (isatty(STDOUT_FILENO) && d->path == NULL)
		terminal_take();
	t->interval = d->interval != 0 ? d->interval : 1;
	t->since = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static int
top_event(struct dump *d, const struct tnf_event *ev)
{
	struct top *t = d->state;

	stats_event(t->stats, ev, d->keep);
	t->events += d->keep == KEEP_ALL;
	t->all += d->keep == KEEP_ALL;
	if (++t->look % LOOK_EVERY == 0)
		top_look(t);
	return 0;
}

void
top_tick(struct dump *d)
{
	if (top_asked(d) && d->state != NULL)
		top_look(d->state);
}

static int
top_end(struct dump *d)
{
	struct top *t = d->state;
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	/* Shows the last, shorter interval, unless q was pressed. */
	if (!d->enough && t->height == 0 && t->events > 0 && now > t->since)
		top_turn(t, now);
	terminal_restore();
	stats_free(t->stats);
	free(t);
	d->state = NULL;
	return 0;
}

static const struct output top_output = {
	.name = "top", .help = "", .begin = top_begin, .event = top_event,
	.end = top_end, .pretty = true, .all = true, .whole = true,
};

bool
top_asked(const struct dump *d)
{
	return d->output == &top_output;
}

int
top_set(struct dump *d, const char *list)
{
	return reports_by(d, "top", &top_output, list);
}

int
interval_set(struct dump *d, const char *seconds)
{
	char *end;
	double v = strtod(seconds, &end);

	if (end == seconds || *end != '\0' || !(v >= 0.1 && v <= 3600))
		return options_wrong("interval", "%s: seconds, from 0.1 to 3600", seconds);
	d->interval = v;
	return 0;
}
