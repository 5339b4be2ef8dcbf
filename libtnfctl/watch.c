/*
 * watch.c - wait for the target and for signals to ourselves at once.
 *
 * wait(2) cannot open the signal mask and go to sleep in one step, as ppoll(2)
 * can: a Ctrl-C in between would be handled and then slept over.  So a thread
 * sleeps in waitid(2), only looks (WNOWAIT) and reports through an eventfd.
 * waitid(2) also returns for other children of our client.  We leave these alone;
 * as long as one is waitable, we poll every few milliseconds instead.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libtnfctl/watch.h"

#define NOT_OURS_MS	2

struct watch {
	pthread_t thread;
	sem_t	 next;
	int	 fd;
	pid_t	 tid;		/* the latest that was seen; 0: none */
	bool	 not_ours;
};

static void
watch_sleep_ms(long ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000 };

	nanosleep(&ts, NULL);
}

static void *
watch_look(void *arg)
{
	struct watch *w = arg;
	siginfo_t si;
	uint64_t one = 1;

	for (;;) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOWAIT |
		    __WALL) < 0)
			watch_sleep_ms(NOT_OURS_MS);
		w->tid = si.si_pid;
		if (write(w->fd, &one, sizeof(one)) < 0)
			return NULL;
		while (sem_wait(&w->next) < 0)
			;
		if (w->not_ours)
			watch_sleep_ms(NOT_OURS_MS);
	}
}

struct watch *
tnfctl_watch_start(void)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	if ((w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		free(w);
		return NULL;
	}
	sem_init(&w->next, 0, 0);
	if ((errno = pthread_create(&w->thread, NULL, watch_look, w)) != 0) {
		close(w->fd);
		free(w);
		return NULL;
	}
	return w;
}

void
tnfctl_watch_stop(struct watch *w)
{
	/* It sleeps in waitid, nanosleep or sem_wait and has nothing to lose. */
	pthread_cancel(w->thread);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->next);
	close(w->fd);
	free(w);
}

enum watch_result
tnfctl_watch_wait(struct watch *w, const sigset_t *mask, int timeout_ms,
    pid_t *ret_tid)
{
	struct timespec ts = { .tv_sec = timeout_ms / 1000,
	    .tv_nsec = timeout_ms % 1000 * 1000000L };
	struct pollfd fd = { .fd = w->fd, .events = POLLIN };
	uint64_t count;
	int n = ppoll(&fd, 1, timeout_ms < 0 ? NULL : &ts, mask);

	if (n < 0)
		return WATCH_SIGNAL;
	if (n == 0 || read(w->fd, &count, sizeof(count)) < 0)
		return WATCH_TIMEOUT;
	*ret_tid = w->tid;
	return WATCH_CHILD;
}

void
tnfctl_watch_next(struct watch *w, bool not_ours)
{
	w->not_ours = not_ours;
	sem_post(&w->next);
}
