/*
 * term-signal.c - signals while a line is being edited.  The terminal is in
 * another mode then, which no other program must find: not the shell that runs while we
 * are stopped, and not the shell when we end.
 */
#include <sys/ioctl.h>

#include <unistd.h>

#include "prex/term.h"

static const int signals[] = {
	SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH
};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction old_actions[N_SIGNALS];
static sigset_t old_mask;
static volatile sig_atomic_t came[NSIG];

static void
on_signal(int sig)
{
	came[sig] = 1;
}

const sigset_t *
term_signal_mask(void)
{
	return &old_mask;
}

void
term_signal_let_in(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, &old_mask, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

bool
term_signal_came(void)
{
	for (int i = 0; i < N_SIGNALS; i++)
		if (came[signals[i]])
			return true;
	return false;
}

void
term_signal_begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t block;

	sigemptyset(&block);
	for (int i = 0; i < N_SIGNALS; i++)
		sigaddset(&block, signals[i]);
	sigprocmask(SIG_BLOCK, &block, &old_mask);
	for (int i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], NULL, &old_actions[i]);
		if (old_actions[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

void
term_signal_end(void)
{
	/* A Ctrl-C that came too late for this line is not for the next. */
	for (int i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], &old_actions[i], NULL);
		came[signals[i]] = 0;
	}
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

/* Lets the signal do what it would have done to us without libedit. */
static void
term_signal_suffer(EditLine *el, int sig)
{
	el_set(el, EL_PREP_TERM, 0);
	term_signal_end();
	kill(getpid(), sig);
	term_signal_begin();
	el_set(el, EL_PREP_TERM, 1);
	el_set(el, EL_REFRESH);
}

static void
put_capability(EditLine *el, const char *name)
{
	char *s = NULL;

	if (el_get(el, EL_GETTC, name, &s) == 0 && s != NULL)
		fputs(s, stdout);
}

/* Handles a new size of the window: the terminal has folded the line anew, and
   libedit, which does not know how, has to start from the line's beginning. */
static void
term_signal_resize(EditLine *el)
{
	const LineInfo *li = el_line(el);
	struct winsize ws;
	size_t rows = 0;
	char *(*prompt)(EditLine *);

	if (el_get(el, EL_PROMPT, &prompt) == 0 &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		rows = (strlen(prompt(el)) + (li->cursor - li->buffer)) / ws.ws_col;
	putchar('\r');
	while (rows-- > 0)
		put_capability(el, "up");
	put_capability(el, "cd");
	fflush(stdout);
	el_resize(el);
	el_set(el, EL_REFRESH);
}

bool
term_signal_act(EditLine *el)
{
	if (came[SIGINT] && old_actions[0].sa_handler != SIG_DFL) {
		came[SIGINT] = 0;
		return true;
	}
	if (came[SIGWINCH]) {
		came[SIGWINCH] = 0;
		term_signal_resize(el);
	}
	if (came[SIGCONT]) {
		/* The shell may have changed the terminal. */
		came[SIGCONT] = 0;
		el_set(el, EL_PREP_TERM, 1);
		el_set(el, EL_REFRESH);
	}
	for (int i = 0; i < N_SIGNALS; i++)
		if (came[signals[i]]) {
			term_signal_suffer(el, signals[i]);
			break;
		}
	return false;
}
