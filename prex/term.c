/*
 * term.c - reads lines from a user at a terminal, through libedit if the terminal can move the
 * cursor; the Tab key completes words.
 *
 * The lines typed are kept in a file that sessions share: each appends a line when it is
 * entered, so that none is lost with a session.
 */
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <wchar.h>

#include "prex/editor.h"
#include "prex/shell.h"

enum { MAX_LINES = 1000 };

struct line_history {
	History	*h;
	char	*path;		/* NULL: this session only */
	int	fd;		/* -1: the same */
	char	*last;
};

/* $XDG_STATE_HOME/prex, else ~/.local/state/prex.  Root does not leave files
   of its own in somebody else's home. */
static char *
line_history_directory(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct stat sb;

	if (state != NULL && *state == '/')
		return tnf_xasprintf("%s/prex", state);
	if (home == NULL || *home != '/' || stat(home, &sb) < 0 || sb.st_uid != geteuid())
		return NULL;
	return tnf_xasprintf("%s/.local/state/prex", home);
}

static void
make_directories(char *path)
{
	for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	mkdir(path, 0700);
}

static int
line_history_open_file(const char *path)
{
	struct stat sb;
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    sb.st_uid == geteuid() && fchmod(fd, 0600) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
line_history_enter(struct line_history *lh, const char *line)
{
	HistEvent ev;

	editor.history(lh->h, &ev, H_ENTER, line);
	free(lh->last);
	lh->last = tnf_xstrdup(line);
}

/* Keeps the younger half of a file that has grown too long. */
static void
line_history_shorten(struct line_history *lh, char **lines, size_t n)
{
	autofree char *tmp = tnf_xasprintf("%s.%ld", lh->path, (long)getpid());
	int fd = open(tmp, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	for (size_t i = n / 2; fd >= 0 && i < n; i++)
		if (dprintf(fd, "%s", lines[i]) < 0) {
			close(fd);
			fd = -1;
		}
	if (fd >= 0 && rename(tmp, lh->path) == 0) {
		close(lh->fd);
		lh->fd = fd;
	} else {
		unlink(tmp);
		if (fd >= 0)
			close(fd);
	}
}

static void
line_history_load(struct line_history *lh)
{
	struct strings lines = { 0 };
	char *line = NULL;
	size_t i, size = 0;
	FILE *fp = fdopen(dup(lh->fd), "r");

	if (fp == NULL)
		return;
	while (getline(&line, &size, fp) > 0)
		strings_add(&lines, tnf_xstrdup(line));
	fclose(fp);
	free(line);
	for (i = lines.n > MAX_LINES ? lines.n - MAX_LINES : 0; i < lines.n; i++)
		line_history_enter(lh, lines.v[i]);
	if (lines.n > 2 * MAX_LINES)
		line_history_shorten(lh, lines.v, lines.n);
	strings_free(&lines);
}

static struct line_history *
line_history_open(void)
{
	struct line_history *lh = tnf_xcalloc(1, sizeof *lh);
	char *dir = line_history_directory();
	HistEvent ev;

	lh->h = editor.history_init();
	editor.history(lh->h, &ev, H_SETSIZE, MAX_LINES);
	editor.history(lh->h, &ev, H_SETUNIQUE, 1);
	lh->fd = -1;
	if (dir == NULL)
		return lh;
	make_directories(dir);
	lh->path = tnf_xasprintf("%s/history", dir);
	free(dir);
	if ((lh->fd = line_history_open_file(lh->path)) >= 0)
		line_history_load(lh);
	return lh;
}

static void
line_history_add(struct line_history *lh, const char *line)
{
	ssize_t n;

	if (line[strspn(line, " \t\n")] == '\0' ||
	    (lh->last != NULL && strcmp(lh->last, line) == 0))
		return;
	line_history_enter(lh, line);
	if (lh->fd < 0)
		return;
	/* One write, so that sessions do not mix within a line. */
	n = write(lh->fd, line, strlen(line));
	if (n < 0) {
		close(lh->fd);
		lh->fd = -1;
	}
}

static void
line_history_close(struct line_history *lh)
{
	editor.history_end(lh->h);
	if (lh->fd >= 0)
		close(lh->fd);
	free(lh->path);
	free(lh->last);
	free(lh);
}

enum { MAX_SHOWN = 300 };

struct term {
	struct shell *sh;
	EditLine *el;		/* NULL: a terminal without cursor motion */
	struct line_history *history;
	char	*prompt;
	mbstate_t mb;
};

static size_t
common_prefix(const struct strings *l)
{
	size_t i, n, len = strlen(l->v[0]);

	for (i = 1; i < l->n; i++) {
		for (n = 0; n < len && l->v[i][n] == l->v[0][n]; n++)
			;
		len = n;
	}
	return len;
}

static void
tab_show(const struct strings *l)
{
	size_t i, width = 0, per_line, n = l->n;
	struct winsize ws;

	for (i = 0; i < l->n; i++)
		if (strlen(l->v[i]) + 2 > width)
			width = strlen(l->v[i]) + 2;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col == 0)
		ws.ws_col = 80;
	per_line = ws.ws_col / width;
	if (per_line == 0)
		per_line = 1;
	if (n > MAX_SHOWN)
		n = MAX_SHOWN;
	putchar('\n');
	for (i = 0; i < n; i++) {
		bool last = i + 1 == n || (i + 1) % per_line == 0;

		printf("%-*s%s", last ? 0 : (int)width, l->v[i], last ? "\n" : "");
	}
	if (n < l->n)
		printf("... and %zu more\n", l->n - n);
	fflush(stdout);
}

/* The text that replaces a word; a word that is whole gets the blank behind it. */
static char *
tab_replacement(const struct strings *l)
{
	char *s = tnf_xstrndup(l->v[0], common_prefix(l)), *t;
	size_t len = strlen(s);

	if (l->n > 1 || len == 0 || strchr("=/", s[len - 1]) != NULL)
		return s;
	t = tnf_xasprintf("%s ", s);
	free(s);
	return t;
}

/* True if 'new' says more than the word did, quotes apart. */
static bool
goes_further(const char *new, const char *word)
{
	if (*new == '\'' && *word != '\'')
		new++;
	return strlen(new) > strlen(word) && strncmp(new, word, strlen(word)) == 0;
}

static unsigned char
tab_insert(EditLine *el, const struct completion *c)
{
	autofree char *new = tab_replacement(&c->candidates);
	size_t n = mbstowcs(NULL, c->word, 0);	/* characters */
	unsigned char r = CC_REFRESH;

	if (n == (size_t)-1)
		n = strlen(c->word);
	if (c->candidates.n == 1 || goes_further(new, c->word)) {
		if (n > 0)
			editor.el_deletestr(el, n);
		editor.el_insertstr(el, new);
	} else {
		tab_show(&c->candidates);
		r = CC_REDISPLAY;
	}
	return r;
}

static unsigned char
tab_complete(EditLine *el, int ch)
{
	const LineInfo *li = editor.el_line(el);
	autofree char *text = tnf_xstrndup(li->buffer, li->cursor - li->buffer);
	struct completion c;
	unsigned char r = CC_ERROR;
	struct term *t;

	editor.el_get(el, EL_CLIENTDATA, &t);
	complete(t->sh, text, &c);
	if (c.candidates.n > 0)
		r = tab_insert(el, &c);
	completion_free(&c);
	return r;
}

static const char *
term_prompt(EditLine *el)
{
	struct term *t;

	editor.el_get(el, EL_CLIENTDATA, &t);
	return t->prompt;
}

/* Reads one character for libedit.  While a line is being edited, signals come only here, and
   so never at the wrong moment. */
static int
read_char(EditLine *el, wchar_t *wc)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	struct term *t;
	ssize_t n;
	char c;

	editor.el_get(el, EL_CLIENTDATA, &t);
	for (;;) {
		fd.revents = 0;
		if (ppoll(&fd, 1, NULL, term_signal_mask()) < 0 && errno != EINTR)
			return -1;
		/* ppoll() looks at the input first; but what has been typed
		   behind a Ctrl-C is not for this line. */
		term_signal_let_in();
		if (term_signal_came() || fd.revents == 0) {
			if (term_signal_act(el))
				return errno = EINTR, -1;
			if (ending_signal() != 0)
				return 0;
			continue;
		}
		n = read(STDIN_FILENO, &c, 1);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n;
		switch (mbrtowc(wc, &c, 1, &t->mb)) {
		case (size_t)-2:
			break;
		case (size_t)-1:
			memset(&t->mb, 0, sizeof t->mb);
			break;
		default:
			return 1;
		}
	}
}

static const char *const keys[][2] = {
	{ "^I", "prex-complete" },
	{ "^R", "em-inc-search-prev" },
	{ "^W", "ed-delete-prev-word" },
	{ "\\e[3~", "ed-delete-next-char" },
	{ "\\e[1~", "ed-move-to-beg" },
	{ "\\e[4~", "ed-move-to-end" },
	{ "\\e[H", "ed-move-to-beg" },
	{ "\\e[F", "ed-move-to-end" },
	{ "\\e[1;5C", "em-next-word" },
	{ "\\e[1;5D", "ed-prev-word" },
};

static void
set_up_editor(struct term *t)
{
	editor.el_set(t->el, EL_CLIENTDATA, t);
	editor.el_set(t->el, EL_EDITOR, "emacs");
	editor.el_set(t->el, EL_PROMPT, term_prompt);
	editor.el_set(t->el, EL_SIGNAL, 0);
	editor.el_set(t->el, EL_GETCFN, read_char);
	editor.el_set(t->el, EL_HIST, editor.history, t->history->h);
	editor.el_set(t->el, EL_ADDFN, "prex-complete", "complete the word", tab_complete);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		editor.el_set(t->el, EL_BIND, keys[i][0], keys[i][1], NULL);
	editor.el_source(t->el, NULL);
}

struct editor editor;

/* NULL, or why there is no libedit. */
static const char *
editor_load(void)
{
	static char why[256];
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		snprintf(why, sizeof(why), "%s", dlerror());
		/* Only Debian counts its versions. */
		if ((library = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL)) == NULL)
			return why;
	}
#define X(name) \
	if ((editor.name = (__typeof__(editor.name))dlsym(library, #name)) == NULL) \
		return dlerror();
	EDITOR_FUNCTIONS(X)
#undef X
	return NULL;
}

struct term *
term_open(struct shell *sh)
{
	struct term *t = tnf_xcalloc(1, sizeof *t);
	const char *type = getenv("TERM"), *why;

	t->sh = sh;
	if (!isatty(STDOUT_FILENO) || type == NULL || *type == '\0' || strcmp(type, "dumb") == 0)
		return t;
	if ((why = editor_load()) != NULL) {
		shell_say(sh, "lines are read without an editor: %s", why);
		return t;
	}
	setlocale(LC_CTYPE, "");
	t->el = editor.el_init("prex", stdin, stdout, stderr);
	if (t->el == NULL)
		return t;
	t->history = line_history_open();
	set_up_editor(t);
	return t;
}

static void
take_line(const char *text, char **line, size_t *size)
{
	free(*line);
	*line = tnf_xstrdup(text);
	*size = strlen(text) + 1;
}

/* Handles the end of the file, which is Ctrl-D unless the terminal is gone.  Ctrl-D does not
   leave prex: it is an empty line. */
static enum source_fill
at_eof(char **line, size_t *size)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	if (!isatty(STDIN_FILENO) ||
	    (poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return SOURCE_END;
	putchar('\n');
	take_line("\n", line, size);
	return SOURCE_LINE;
}

/* Waits for a line or the end of the file; false: Ctrl-C, however early. */
static bool
await_line(const char *text)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t block, old;
	bool was;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &old);
	/* A Ctrl-C from before the prompt is not for this line. */
	target_interrupted();
	fputs(text, stdout);
	fflush(stdout);
	do
		was = ppoll(&fd, 1, NULL, &old) < 0 && target_interrupted();
	while (!was && fd.revents == 0 && ending_signal() == 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return !was;
}

static enum source_fill
read_plain(struct term *t, char **line, size_t *size)
{
	ssize_t n = -1;

	errno = EINTR;
	if (await_line(t->prompt)) {
		errno = 0;
		n = getline(line, size, stdin);
	}
	if (n >= 0 && !target_interrupted())
		return SOURCE_LINE;
	clearerr(stdin);
	if (ending_signal() != 0)
		return SOURCE_END;
	if (n >= 0 || errno == EINTR) {
		target_interrupted();
		putchar('\n');
		return SOURCE_INTERRUPT;
	}
	return at_eof(line, size);
}

static enum source_fill
read_edited(struct term *t, char **line, size_t *size)
{
	const char *text;
	int n = 0;

	fflush(stdout);
	term_signal_begin();
	editor.el_resize(t->el);
	/* This comes before the prompt: else a text typed at once would be echoed twice. */
	editor.el_set(t->el, EL_PREP_TERM, 1);
	text = editor.el_gets(t->el, &n);
	term_signal_end();
	if (text == NULL && n < 0 && errno == EINTR) {
		putchar('\n');
		return SOURCE_INTERRUPT;
	}
	if (text == NULL)
		return at_eof(line, size);
	line_history_add(t->history, text);
	take_line(text, line, size);
	return SOURCE_LINE;
}

enum source_fill
term_read(struct term *t, bool in_statement, char **line, size_t *size)
{
	free(t->prompt);
	t->prompt = in_statement ? tnf_xstrdup("> ") :
	    tnf_xasprintf("%s> ", t->sh->argv0);
	fflush(stderr);
	return t->el != NULL ? read_edited(t, line, size) :
	    read_plain(t, line, size);
}

void
term_close(struct term *t)
{
	if (t == NULL)
		return;
	if (t->el != NULL) {
		editor.el_end(t->el);
		line_history_close(t->history);
	}
	free(t->prompt);
	free(t);
}
