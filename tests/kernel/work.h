/*
 * work.h - what the workloads of "work" share.
 */
#ifndef TESTS_KERNEL_WORK_H
#define TESTS_KERNEL_WORK_H

#include <sys/syscall.h>
#include <sys/types.h>

#define PAGE	sysconf(_SC_PAGESIZE)

struct work {
	const char *name;
	void (*run)(long n, char **arg);
};

/* A row each, and one without a name behind them. */
extern const struct work work_tasks[], work_pages[], work_io[], work_wake[], work_mixed[];

/* Values go there, so that they are really read. */
extern volatile char work_sink;

void	work_die(const char *what) __attribute__((noreturn));
/* Pages that are never parts of huge ones. */
char	*work_map(long pages, int prot, int flags, int fd);
char	*work_memory(long pages);
/* Memory that 32-bit calls reach. */
char	*work_low_memory(long pages);
/* A call of the 32-bit table; 77 is the program's end where there is none. */
long	work_call32(long nr, long a, long b, long c, long d, long e);
/* "word FROM TO": addresses. */
void	work_say_range(const char *word, const char *from, long pages);
/* Waits for a child, which must end by itself. */
void	work_reap(pid_t);
/* Waits until a thread sleeps in one of two calls. */
void	work_await_call(pid_t tid, long call, long or);

/* New machines have none of these. */
#ifndef SYS_poll
#define SYS_poll	SYS_ppoll
#define SYS_select	SYS_pselect6
#define SYS_pause	SYS_ppoll
#endif

#endif
