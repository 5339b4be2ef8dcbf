/*
 * screen.c - a terminal of the kind that libedit needs.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/pty/screen.h"

static void
clear_row(struct screen *s, int row, int from, int to)
{
	memset(s->cell[row] + from, ' ', to - from);
}

void
screen_init(struct screen *s, int rows, int cols)
{
	int i;

	memset(s, 0, sizeof *s);
	s->rows = rows;
	s->cols = cols;
	for (i = 0; i < SCREEN_MAX; i++)
		clear_row(s, i, 0, SCREEN_MAX);
}

static void
line_feed(struct screen *s)
{
	if (s->row < s->rows - 1) {
		s->row++;
		return;
	}
	memmove(s->cell[0], s->cell[1], (s->rows - 1) * sizeof s->cell[0]);
	clear_row(s, s->rows - 1, 0, SCREEN_MAX);
}

static void
put(struct screen *s, char c)
{
	if (s->col >= s->cols) {
		s->col = 0;
		line_feed(s);
	}
	s->cell[s->row][s->col++] = c;
}

static int
clamp(int n, int max)
{
	return n < 0 ? 0 : n > max ? max : n;
}

static void
erase_below(struct screen *s)
{
	int i;

	clear_row(s, s->row, s->col, SCREEN_MAX);
	for (i = s->row + 1; i < s->rows; i++)
		clear_row(s, i, 0, SCREEN_MAX);
}

static void
shift(struct screen *s, int n)
{
	char *p = s->cell[s->row];
	int from = s->col, room = SCREEN_MAX - from;

	if (n > 0) {
		memmove(p + from + n, p + from, room - n);
		memset(p + from, ' ', n);
	} else {
		memmove(p + from, p + from - n, room + n);
		memset(p + SCREEN_MAX + n, ' ', -n);
	}
}

static void
control_sequence(struct screen *s, char final, const char *args)
{
	int n = atoi(args), n1 = n > 0 ? n : 1;
	const char *second = strchr(args, ';');

	switch (final) {
	case 'A': s->row = clamp(s->row - n1, s->rows - 1); break;
	case 'B': s->row = clamp(s->row + n1, s->rows - 1); break;
	case 'C': s->col = clamp(s->col + n1, s->cols - 1); break;
	case 'D': s->col = clamp(s->col - n1, s->cols - 1); break;
	case 'G': s->col = clamp(n1 - 1, s->cols - 1); break;
	case 'H':
		s->row = clamp(n1 - 1, s->rows - 1);
		s->col = second != NULL ?
		    clamp(atoi(second + 1) - 1, s->cols - 1) : 0;
		break;
	case 'J': erase_below(s); break;
	case 'K': clear_row(s, s->row, s->col, SCREEN_MAX); break;
	case 'P': shift(s, -clamp(n1, s->cols - s->col)); break;
	case '@': shift(s, clamp(n1, s->cols - s->col)); break;
	case 'm': break;
	case 'h': case 'l': break;
	default: s->unknown++;
	}
}

static void
escape(struct screen *s, char c)
{
	s->esc[s->n_esc++] = c;
	s->esc[s->n_esc] = '\0';
	if (s->n_esc == 2 && c == '[')
		return;
	if (s->n_esc == 2 || s->n_esc == sizeof s->esc - 1) {
		s->unknown++;
		s->n_esc = 0;
	} else if (c >= '@') {
		control_sequence(s, c, s->esc + 2);
		s->n_esc = 0;
	}
}

void
screen_write(struct screen *s, const char *text, size_t n)
{
	for (; n > 0; n--, text++) {
		if (s->n_esc > 0) {
			escape(s, *text);
			continue;
		}
		switch (*text) {
		case '\033': s->esc[s->n_esc++] = *text; break;
		case '\r': s->col = 0; break;
		case '\n': line_feed(s); break;
		case '\b': s->col = clamp(s->col - 1, s->cols - 1); break;
		case '\t': s->col = clamp((s->col + 8) / 8 * 8, s->cols - 1);
			break;
		case '\a': break;
		default: put(s, *text);
		}
	}
}

const char *
screen_row(const struct screen *s, int row)
{
	static char buf[SCREEN_MAX + 1];
	size_t n = s->cols;

	memcpy(buf, s->cell[row], n);
	while (n > 0 && buf[n - 1] == ' ')
		n--;
	buf[n] = '\0';
	return buf;
}
