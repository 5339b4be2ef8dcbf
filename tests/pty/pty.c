/*
 * pty.c - type at a program on a pseudo-terminal, and look at its screen.
 *
 * usage: pty [-e] script program [arg ...]
 *	-e	no echo: what is typed does not show
 *
 * The script has one command a line; TEXT understands \n \r \t \e \\ \xHH:
 *
 *	send TEXT	type it
 *	cursor TEXT	wait until the cursor's row is TEXT
 *	row TEXT	wait until some row is TEXT
 *	has TEXT	wait until some row contains TEXT
 *	hasnot TEXT	no row contains TEXT
 *	size ROWS COLS	change the window
 *	signal NUMBER	send the program a signal
 *	raw TEXT	what came so far contains TEXT
 *	noraw TEXT	and does not contain this
 *	eof		wait until the program has closed the terminal
 *	exit STATUS	wait for its end; 128 + n: killed by signal n
 *	print		all that came, without the escapes of the screen
 *
 * Exit status 0: all as told.  1: not; the screen is shown on stderr.
 */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "tests/pty/screen.h"

enum { PATIENCE_MS = 60000, TICK_MS = 20, RAW_MAX = 1 << 20 };

static struct screen screen;
static int master;
static pid_t child;
static bool ended;		/* the terminal is closed */
static char raw[RAW_MAX + 1];
static size_t n_raw;
static const char *script;
static int line_no;

static void
show_screen(void)
{
	int i;

	for (i = 0; i < screen.rows; i++)
		fprintf(stderr, "%c|%s\n", i == screen.row ? '>' : ' ',
		    screen_row(&screen, i));
}

static _Noreturn void
fail(const char *what, const char *text)
{
	fprintf(stderr, "%s:%d: %s: %s\n", script, line_no, what, text);
	show_screen();
	kill(child, SIGKILL);
	exit(EXIT_FAILURE);
}

/* Takes what the program writes within the time. */
static void
listen_for(int ms)
{
	struct pollfd fd = { .fd = master, .events = POLLIN };
	char buf[4096];
	ssize_t n;

	memset(buf, 0, sizeof buf);
	if (ended || poll(&fd, 1, ms) <= 0)
		return;
	n = read(master, buf, sizeof buf);
	if (n <= 0) {
		ended = true;
		return;
	}
	screen_write(&screen, buf, n);
	if (screen.unknown > 0)
		fail("an escape sequence that screen.c does not know", buf);
	if (n_raw + n > RAW_MAX)
		fail("too much output", "");
	memcpy(raw + n_raw, buf, n);
	n_raw += n;
	raw[n_raw] = '\0';
}

static int
hex(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* In place; returns the length. */
static size_t
unescape(char *s)
{
	char *out = s, *start = s;

	for (; *s != '\0'; s++) {
		if (*s != '\\' || s[1] == '\0') {
			*out++ = *s;
			continue;
		}
		switch (*++s) {
		case 'n': *out++ = '\n'; break;
		case 'r': *out++ = '\r'; break;
		case 't': *out++ = '\t'; break;
		case 'e': *out++ = '\033'; break;
		case 's': *out++ = ' '; break;
		case 'x':
			*out++ = hex(s[1]) * 16 + hex(s[2]);
			s += 2;
			break;
		default: *out++ = *s;
		}
	}
	*out = '\0';
	return out - start;
}

static bool
some_row(const char *text, bool whole)
{
	int i;

	for (i = 0; i < screen.rows; i++) {
		const char *row = screen_row(&screen, i);

		if (whole ? strcmp(row, text) == 0 : strstr(row, text) != NULL)
			return true;
	}
	return false;
}

static bool
cursor_row(const char *text)
{
	return strcmp(screen_row(&screen, screen.row), text) == 0;
}

static bool is_row(const char *text) { return some_row(text, true); }
static bool has_row(const char *text) { return some_row(text, false); }
static bool has_raw(const char *text) { return strstr(raw, text) != NULL; }
static bool has_ended(const char *text) { return ended; }

static void
wait_until(bool (*is)(const char *), const char *name, const char *text)
{
	int left = PATIENCE_MS / TICK_MS;

	while (!is(text)) {
		size_t had = n_raw;

		if (ended)
			usleep(TICK_MS * 1000);
		listen_for(TICK_MS);
		/* A look at which something came took less than a tick. */
		if (n_raw == had && left-- <= 0)
			fail(name, text);
	}
}

static void
wait_exit(int want)
{
	int status, got, left = PATIENCE_MS / TICK_MS;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (left-- <= 0)
			fail("exit", "still running");
		if (ended)
			usleep(TICK_MS * 1000);
		listen_for(TICK_MS);
	}
	got = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	    WEXITSTATUS(status);
	if (got != want) {
		char text[32];

		snprintf(text, sizeof text, "%d, not %d", got, want);
		fail("exit", text);
	}
}

static void
set_size(const char *text)
{
	struct winsize ws = { 0 };

	if (sscanf(text, "%hu %hu", &ws.ws_row, &ws.ws_col) != 2 ||
	    ws.ws_row > SCREEN_MAX || ws.ws_col > SCREEN_MAX)
		fail("size", text);
	screen.rows = ws.ws_row;
	screen.cols = ws.ws_col;
	ioctl(master, TIOCSWINSZ, &ws);
}

static void
send_text(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t w = write(master, text, n);

		if (w < 0)
			fail("send", strerror(errno));
		text += w;
		n -= w;
		listen_for(0);
	}
}

static void
command(char *name, char *text)
{
	size_t n = unescape(text);

	if (strcmp(name, "send") == 0)
		send_text(text, n);
	else if (strcmp(name, "cursor") == 0)
		wait_until(cursor_row, name, text);
	else if (strcmp(name, "row") == 0)
		wait_until(is_row, name, text);
	else if (strcmp(name, "has") == 0)
		wait_until(has_row, name, text);
	else if (strcmp(name, "raw") == 0)
		wait_until(has_raw, name, text);
	else if (strcmp(name, "eof") == 0)
		wait_until(has_ended, name, text);
	else if (strcmp(name, "exit") == 0)
		wait_exit(atoi(text));
	else if (strcmp(name, "size") == 0)
		set_size(text);
	else if (strcmp(name, "signal") == 0)
		kill(child, atoi(text));
	else if (strcmp(name, "print") == 0)
		fwrite(raw, 1, n_raw, stdout);
	else if (strcmp(name, "hasnot") == 0 ? has_row(text) :
	    strcmp(name, "noraw") == 0 ? has_raw(text) : true)
		fail(name, text);
}

static void
run_script(FILE *fp)
{
	char *line = NULL, *text;
	size_t size = 0;

	while (getline(&line, &size, fp) > 0) {
		line_no++;
		line[strcspn(line, "\n")] = '\0';
		if (*line == '\0' || *line == '#')
			continue;
		text = line + strcspn(line, " ");
		if (*text != '\0')
			*text++ = '\0';
		command(line, text);
	}
	free(line);
}

static void
start(char **argv, bool echo)
{
	struct winsize ws = { .ws_row = 24, .ws_col = 80 };
	struct termios tio;

	child = forkpty(&master, NULL, NULL, &ws);
	if (child < 0) {
		perror("forkpty");
		exit(77);
	}
	if (child > 0 && !echo && tcgetattr(master, &tio) == 0) {
		tio.c_lflag &= ~ECHO;
		tio.c_oflag &= ~ONLCR;
		tcsetattr(master, TCSANOW, &tio);
	}
	if (child > 0)
		return;
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int
main(int argc, char **argv)
{
	bool echo = argc < 2 || strcmp(argv[1], "-e") != 0;
	FILE *fp;

	argv += echo ? 1 : 2;
	argc -= echo ? 1 : 2;
	if (argc < 2 || (fp = fopen(argv[0], "r")) == NULL) {
		fprintf(stderr, "usage: pty [-e] script program [arg ...]\n");
		return 2;
	}
	script = argv[0];
	screen_init(&screen, 24, 80);
	start(argv + 1, echo);
	run_script(fp);
	fclose(fp);
	kill(child, SIGKILL);
	return EXIT_SUCCESS;
}
