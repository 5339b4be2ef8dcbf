/*
 * signals.c - signals that end prex, and signals while somebody types at the prompt.
 *
 * prex lets the target go as by "quit" before it dies of the signal: if the kernel did
 * that, calls that our stop has interrupted would return EINTR.
 * This signal or a Ctrl-C may come just before prex begins to wait for something
 * else; then a timer ends that wait.
 */
#include <sys/ioctl.h>
#include <sys/time.h>

#include "prex/editor.h"
#include "prex/shell.h"

enum { NUDGE_US = 10000 };

static volatile sig_atomic_t came;
static struct sigaction nudge_before;	/* what we got ourselves */
static sigset_t mask_before;

void
ending_nudge(bool on)
{
	const struct itimerval often = { { 0, NUDGE_US }, { 0, NUDGE_US } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	if (on || came == 0)
		setitimer(ITIMER_REAL, on ? &often : &never, NULL);
}

static void
on_ending(int sig)
{
	if (came == 0)
		came = sig;
	ending_nudge(true);
}

static void
on_nudge(int sig)
{
}

static void
ending_catch_one(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_ending, .sa_flags = flags }, old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(sig, &sa, NULL);
}

void
ending_catch(void)
{
	struct sigaction nudge = { .sa_handler = on_nudge };
	sigset_t set;

	/* The program that started prex may have blocked the signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, &mask_before);
	sigaction(SIGALRM, &nudge, &nudge_before);
	ending_catch_one(SIGHUP, SA_RESETHAND);
	ending_catch_one(SIGTERM, SA_RESETHAND);
	ending_catch_one(SIGPIPE, 0);
}

void
ending_inherit(void)
{
	sigaction(SIGALRM, &nudge_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int
ending_signal(void)
{
	return came;
}

void
ending_die(void)
{
	if (came == 0)
		return;
	signal(came, SIG_DFL);
	raise(came);
}

/*
 * Signals while a line is being edited.  The terminal is in
 * another mode then, which no other program must find: not the shell that runs while we
 * are stopped, and not the shell when we end.
 */

static const int signals[] = {
	SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH
};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction old_actions[N_SIGNALS];
static sigset_t old_mask;
static volatile sig_atomic_t typed[NSIG];

static void
on_signal(int sig)
{
	typed[sig] = 1;
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
		if (typed[signals[i]])
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
		typed[signals[i]] = 0;
	}
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

/* Lets the signal do what it would have done to us without libedit. */
static void
term_signal_suffer(EditLine *el, int sig)
{
	editor.el_set(el, EL_PREP_TERM, 0);
	term_signal_end();
	kill(getpid(), sig);
	term_signal_begin();
	editor.el_set(el, EL_PREP_TERM, 1);
	editor.el_set(el, EL_REFRESH);
}

static void
put_capability(EditLine *el, const char *name)
{
	char *s = NULL;

	if (editor.el_get(el, EL_GETTC, name, &s) == 0 && s != NULL)
		fputs(s, stdout);
}

/* Handles a new size of the window: the terminal has folded the line anew, and
   libedit, which does not know how, has to start from the line's beginning. */
static void
term_signal_resize(EditLine *el)
{
	const LineInfo *li = editor.el_line(el);
	struct winsize ws;
	size_t rows = 0;
	char *(*prompt)(EditLine *);

	if (editor.el_get(el, EL_PROMPT, &prompt) == 0 &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		rows = (strlen(prompt(el)) + (li->cursor - li->buffer)) / ws.ws_col;
	putchar('\r');
	while (rows-- > 0)
		put_capability(el, "up");
	put_capability(el, "cd");
	fflush(stdout);
	editor.el_resize(el);
	editor.el_set(el, EL_REFRESH);
}

bool
term_signal_act(EditLine *el)
{
	if (typed[SIGINT] && old_actions[0].sa_handler != SIG_DFL) {
		typed[SIGINT] = 0;
		return true;
	}
	if (typed[SIGWINCH]) {
		typed[SIGWINCH] = 0;
		term_signal_resize(el);
	}
	if (typed[SIGCONT]) {
		/* The shell may have changed the terminal. */
		typed[SIGCONT] = 0;
		editor.el_set(el, EL_PREP_TERM, 1);
		editor.el_set(el, EL_REFRESH);
	}
	for (int i = 0; i < N_SIGNALS; i++)
		if (typed[signals[i]]) {
			term_signal_suffer(el, signals[i]);
			break;
		}
	return false;
}
