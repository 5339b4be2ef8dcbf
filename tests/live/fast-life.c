/*
 * fast-life.c - a program for fast-life.sh, whose code comes and goes.
 *
 *	fast-life LIBRARY filter|free
 *
 * It calls life_twice() of the library all the time.  At SIGUSR1 it closes the library and opens it
 * again; at SIGUSR2 it executes itself.  With "filter", a filter refuses the system calls
 * that memory and descriptors come by.  It prints a line after each, and ends with 1 after a wrong result.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void
on_signal(int sig)
{
	told = sig;
}

static void *
open_library(const char *path, long (**ret)(long))
{
	void *library = dlopen(path, RTLD_NOW);

	if (library == NULL || (*ret = (long (*)(long))dlsym(library, "life_twice")) == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	return library;
}

/* No memory with rights to execute, and nothing from a socket: as programs that guard themselves. */
static int
refuse_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int
main(int argc, char *argv[])
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };
	sigset_t none;
	long (*twice)(long);
	void *library = open_library(argv[1], &twice);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	if (strcmp(argv[2], "filter") == 0 && refuse_calls() != 0)
		return 77;
	puts("ready");
	fflush(stdout);
	for (long n = 0; ; n = (n + 1) % 1000) {
		if (twice(n) != 2 * n + 1)
			return 1;
		usleep(1000);
		if (told == SIGUSR2)
			execv("/proc/self/exe", argv);
		if (told == SIGUSR1) {
			told = 0;
			dlclose(library);
			library = open_library(argv[1], &twice);
			puts("again");
			fflush(stdout);
		}
	}
}
