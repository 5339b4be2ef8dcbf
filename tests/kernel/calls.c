/*
 * calls.c - makes more than 200 different system calls, the same in each run, between two calls
 * of getppid: most with arguments that the kernel refuses, so that nothing is changed.
 *
 * Usage: calls DIRECTORY
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifdef __i386__
/* The calls of today's programs of 32 bits, and of those that have one in no other form. */
#undef SYS_mmap
#undef SYS_fcntl
#undef SYS_select
#define SYS_mmap	SYS_mmap2
#define SYS_fcntl	SYS_fcntl64
#define SYS_select	SYS__newselect
#define SYS_newfstatat	SYS_fstatat64
#define SYS_semop	SYS_semget
#define SYS_semtimedop	SYS_semget
#define SYS_accept	SYS_accept4
#endif

#define DO(name, ...)	syscall(SYS_ ## name, ##__VA_ARGS__)
#define AT		AT_FDCWD

static char buffer[4096], text[] = "hello";
static struct iovec two[] = { { text, 3 }, { text + 3, 2 } };
static struct timespec brief = { 0, 1000 };
static struct sockaddr_in inet = { .sin_family = AF_INET };
static struct sockaddr_in6 inet6 = { .sin6_family = AF_INET6 };
static struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/nowhere/socket" };
static struct msghdr message = { .msg_iov = two, .msg_iovlen = 2 };
static uint64_t set;
static int word;

static void
files(void)
{
	long fd = DO(openat, AT, "file", O_RDWR | O_CREAT | O_TRUNC, 0640), v[2];

	DO(write, fd, text, 5);
	DO(lseek, fd, 0, SEEK_SET);
	DO(read, fd, buffer, 5);
	DO(pwrite64, fd, text, 2, 1);
	DO(pread64, fd, buffer, 2, 1);
	DO(writev, fd, two, 2);
	DO(readv, fd, two, 1);
	DO(pwritev, fd, two, 2, 3, 0);
	DO(preadv, fd, two, 2, 0, 0);
	DO(pwritev2, fd, two, 2, 3, 0, RWF_DSYNC);
	DO(preadv2, fd, two, 2, 0, 0, RWF_HIPRI);
	DO(fstat, fd, buffer);
	DO(newfstatat, AT, "file", buffer, AT_SYMLINK_NOFOLLOW);
	DO(statx, AT, "file", AT_SYMLINK_NOFOLLOW, STATX_SIZE | STATX_MODE, buffer);
	DO(fsync, fd);
	DO(fdatasync, fd);
	DO(sync_file_range, -1, 0, 0, 0);
	DO(ftruncate, fd, 100);
	DO(fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
	DO(fadvise64, fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	DO(readahead, fd, 0, 100);
	DO(flock, fd, LOCK_EX | LOCK_NB);
	DO(fcntl, fd, F_GETFD);
	DO(fcntl, fd, F_SETFD, FD_CLOEXEC);
	DO(fcntl, fd, F_SETFL, O_APPEND | O_NONBLOCK);
	DO(dup, fd);
	DO(dup3, fd, 40, O_CLOEXEC);
	DO(fchmod, fd, 0600);
	DO(fchown, fd, 0, 0);
	DO(fstatfs, fd, buffer);
	DO(statfs, "file", buffer);
	DO(ioctl, fd, FIONREAD, buffer);
	DO(ioctl, fd, TCGETS, buffer);
	DO(getdents64, fd, buffer, 100);
	DO(fchdir, fd);
	DO(linkat, AT, "file", AT, "link", 0);
	DO(symlinkat, "file", AT, "symbolic");
	DO(readlinkat, AT, "symbolic", buffer, 100);
	DO(renameat2, AT, "link", AT, "other", RENAME_NOREPLACE);
	DO(mkdirat, AT, "directory", 0750);
	DO(unlinkat, AT, "directory", AT_REMOVEDIR);
	DO(mknodat, AT, "fifo", S_IFIFO | 0600, 0);
	DO(faccessat, AT, "file", R_OK | W_OK);
	DO(faccessat2, AT, "file", X_OK, AT_EACCESS);
	DO(fchmodat, AT, "file", 0644);
	DO(fchownat, AT, "other", 0, 0, AT_SYMLINK_NOFOLLOW);
	DO(utimensat, AT, "file", NULL, AT_SYMLINK_NOFOLLOW);
	DO(truncate, "file", 10);
	DO(chdir, "/nowhere");
	DO(chroot, "/nowhere");
	DO(openat2, AT, "file", NULL, 0);
	DO(name_to_handle_at, AT, "file", NULL, NULL, 0);
	DO(open_by_handle_at, -1, NULL, O_RDONLY);
	DO(setxattr, "file", "user.name", text, 5, XATTR_CREATE);
	DO(lsetxattr, "file", "user.name", text, 5, XATTR_REPLACE);
	DO(fsetxattr, fd, "user.name", text, 5, 0);
	DO(getxattr, "file", "user.none", buffer, 100);
	DO(lgetxattr, "file", "user.none", buffer, 100);
	DO(fgetxattr, fd, "user.none", buffer, 100);
	DO(listxattr, "none", buffer, 100);
	DO(llistxattr, "none", buffer, 100);
	DO(flistxattr, -1, buffer, 100);
	DO(removexattr, "none", "user.none");
	DO(lremovexattr, "none", "user.none");
	DO(fremovexattr, -1, "user.none");
	DO(pipe2, v, O_CLOEXEC | O_NONBLOCK);
	DO(splice, -1, NULL, fd, NULL, 10, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	DO(tee, -1, fd, 10, SPLICE_F_MORE);
	DO(vmsplice, -1, two, 2, SPLICE_F_GIFT);
	DO(sendfile, -1, fd, NULL, 10);
	DO(copy_file_range, fd, NULL, -1, NULL, 10, 0);
	DO(close, fd);
	DO(close_range, 400, 401, CLOSE_RANGE_CLOEXEC);
#ifdef SYS_open
	DO(open, "file", O_WRONLY | O_APPEND | O_CLOEXEC);
	DO(creat, "file", 0600);
	DO(stat, "file", buffer);
	DO(lstat, "symbolic", buffer);
	DO(access, "file", F_OK);
	DO(pipe, v);
	DO(dup2, -1, 41);
	DO(rename, "other", "third");
	DO(link, "file", "link");
	DO(symlink, "target", "file");
	DO(unlink, "link");
	DO(mkdir, "directory", 0700);
	DO(rmdir, "directory");
	DO(readlink, "file", buffer, 100);
	DO(chmod, "none", 0600);
	DO(chown, "none", 1, 2);
	DO(lchown, "none", 1, 2);
	DO(mknod, "file", S_IFREG | 0600, 0);
	DO(utime, "none", NULL);
	DO(utimes, "none", NULL);
	DO(futimesat, AT, "none", NULL);
	DO(getdents, -1, buffer, 100);
#endif
}

static void
sockets(void)
{
	long s = DO(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	long u = DO(socket, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), size = sizeof(inet);

	inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	inet6.sin6_addr = in6addr_loopback;
	inet6.sin6_port = htons(9);
	DO(bind, s, &inet, sizeof(inet));
	DO(listen, s, 5);
	DO(setsockopt, s, SOL_SOCKET, SO_REUSEADDR, &word, 4);
	DO(getsockopt, s, IPPROTO_TCP, TCP_NODELAY, &word, &size);
	inet.sin_port = htons(9);
	DO(connect, u, &local, sizeof(local));
	DO(connect, -1, &inet, sizeof(inet));
	DO(connect, -1, &inet6, sizeof(inet6));
	DO(sendto, u, text, 5, MSG_DONTWAIT | MSG_NOSIGNAL, &local, sizeof(local));
	DO(recvfrom, u, buffer, 10, MSG_DONTWAIT | MSG_PEEK, NULL, NULL);
	DO(sendmsg, u, &message, MSG_DONTWAIT);
	DO(recvmsg, u, &message, MSG_DONTWAIT | MSG_TRUNC);
	DO(sendmmsg, -1, NULL, 0, MSG_MORE);
	DO(recvmmsg, -1, NULL, 0, MSG_WAITFORONE, NULL);
	DO(getsockname, -1, buffer, &size);
	DO(getpeername, s, buffer, &size);
	DO(accept, u, NULL, NULL);
	DO(accept4, u, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	DO(socketpair, AF_UNIX, SOCK_SEQPACKET, 0, buffer);
	DO(shutdown, s, SHUT_RDWR);
	DO(close, s);
	DO(close, u);
}

static void
memory(void)
{
	char *p = (char *)DO(mmap, NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	DO(mprotect, p, 4096, PROT_NONE);
	DO(madvise, p, 4096, MADV_DONTNEED);
	DO(mincore, p, 4096, buffer);
	DO(msync, p, 4096, MS_ASYNC | MS_INVALIDATE);
	DO(mlock, p + 4096, 4096);
	DO(munlock, p + 4096, 4096);
	DO(mlock2, NULL, 0, 0);
	DO(mlockall, 0);
	DO(mremap, p, 8192, 4096, MREMAP_MAYMOVE);
	DO(munmap, p, 4096);
	DO(brk, 0);
	DO(memfd_create, "memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	DO(pkey_mprotect, NULL, 0, PROT_READ, -1);
	DO(pkey_free, -1);
	DO(process_vm_readv, -1, two, 2, NULL, 0, 0);
	DO(process_vm_writev, -1, two, 1, NULL, 0, 0);
	DO(shmget, IPC_PRIVATE, 0, IPC_CREAT | 0600);
	DO(shmat, -1, NULL, SHM_RDONLY);
	DO(shmctl, -1, IPC_RMID, NULL);
	DO(shmdt, NULL);
	DO(semget, 5, -1, 0600);
	DO(semop, -1, NULL, 0);
	DO(semctl, -1, 0, IPC_RMID, 0);
	DO(semtimedop, -1, NULL, 0, &brief);
	DO(msgget, 5, IPC_EXCL | 0600);
	DO(msgsnd, -1, buffer, 0, IPC_NOWAIT);
	DO(msgrcv, -1, buffer, 0, 0, MSG_NOERROR);
	DO(msgctl, -1, IPC_STAT, NULL);
}

static void
signals(void)
{
	DO(kill, 0x7ffffff, SIGTERM);
	DO(tgkill, -1, -1, SIGUSR1);
	DO(tkill, -1, SIGCHLD);
	DO(rt_sigaction, SIGUSR1, NULL, NULL, 8);
	DO(rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8);
	DO(rt_sigpending, buffer, 8);
	DO(rt_sigtimedwait, &set, NULL, &brief, 8);
	DO(rt_sigqueueinfo, -1, SIGUSR2, NULL);
	DO(rt_sigsuspend, NULL, 0);
	DO(rt_tgsigqueueinfo, -1, -1, SIGUSR2, NULL);
	DO(sigaltstack, NULL, NULL);
	DO(signalfd4, -1, &set, 8, SFD_CLOEXEC);
	DO(pidfd_send_signal, -1, SIGTERM, NULL, 0);
	DO(wait4, -1, NULL, WNOHANG | WUNTRACED, NULL);
	DO(waitid, P_ALL, 0, NULL, WNOHANG | WEXITED, NULL);
	DO(futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	DO(futex, &word, FUTEX_WAIT, 1, &brief);
	DO(nanosleep, &brief, NULL);
	DO(clock_nanosleep, CLOCK_MONOTONIC, 0, &brief, NULL);
	DO(clock_gettime, CLOCK_REALTIME, buffer);
	DO(clock_getres, CLOCK_BOOTTIME, buffer);
	DO(clock_settime, CLOCK_MONOTONIC, &brief);
	DO(timer_create, CLOCK_MONOTONIC, NULL, NULL);
	DO(timer_settime, 99, TIMER_ABSTIME, NULL, NULL);
	DO(timer_gettime, 99, NULL);
	DO(timer_getoverrun, 99);
	DO(timer_delete, 99);
	DO(timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	DO(timerfd_settime, -1, 0, NULL, NULL);
	DO(timerfd_gettime, -1, NULL);
	DO(getitimer, ITIMER_REAL, buffer);
	DO(setitimer, ITIMER_VIRTUAL, NULL, NULL);
	DO(gettimeofday, buffer, NULL);
	DO(times, buffer);
	DO(eventfd2, 1, EFD_CLOEXEC | EFD_NONBLOCK);
	DO(epoll_create1, EPOLL_CLOEXEC);
	DO(epoll_ctl, -1, EPOLL_CTL_ADD, -1, NULL);
	DO(epoll_pwait, -1, NULL, 1, 0, NULL, 8);
	DO(inotify_init1, IN_CLOEXEC | IN_NONBLOCK);
	DO(inotify_add_watch, -1, "file", IN_CREATE | IN_DELETE);
	DO(inotify_rm_watch, -1, 1);
	DO(ppoll, NULL, 0, &brief, NULL, 8);
	DO(pselect6, 0, NULL, NULL, NULL, &brief, NULL);
#ifdef SYS_open
	DO(poll, NULL, 0, 0);
	DO(select, 0, NULL, NULL, NULL, buffer + 1000);
	DO(epoll_create, 1);
	DO(epoll_wait, -1, NULL, 1, 0);
	DO(eventfd, 1);
	DO(signalfd, -1, &set, 8);
	DO(inotify_init);
	DO(alarm, 0);
	DO(time, NULL);
#endif
}

static void
processes(void)
{
	struct rlimit *limit = (struct rlimit *)(void *)buffer;

	DO(getpid);
	DO(gettid);
	DO(getuid);
	DO(geteuid);
	DO(getgid);
	DO(getegid);
	DO(getpgid, 0);
	DO(getsid, 0);
	DO(getgroups, 0, NULL);
	DO(getresuid, buffer, buffer, buffer);
	DO(getresgid, buffer, buffer, buffer);
	DO(setpgid, -1, 0);
	DO(setreuid, -1, -1);
	DO(setregid, -1, -1);
	DO(setresuid, -1, -1, -1);
	DO(setresgid, -1, -1, -1);
	DO(setfsuid, -1);
	DO(setfsgid, -1);
	DO(setgroups, -1, NULL);
	DO(getpriority, PRIO_PROCESS, 0);
	DO(setpriority, PRIO_USER, -1, 0);
	DO(getrusage, RUSAGE_SELF, buffer);
	DO(getrlimit, RLIMIT_NOFILE, limit);
	DO(setrlimit, RLIMIT_CORE, NULL);
	DO(prlimit64, 0, RLIMIT_STACK, NULL, limit);
	DO(sched_yield);
	DO(sched_getscheduler, 0);
	DO(sched_setscheduler, -1, SCHED_BATCH, NULL);
	DO(sched_getparam, 0, buffer);
	DO(sched_setparam, -1, NULL);
	DO(sched_get_priority_max, SCHED_FIFO);
	DO(sched_get_priority_min, SCHED_RR);
	DO(sched_rr_get_interval, 0, buffer);
	DO(sched_getaffinity, 0, 128, buffer);
	DO(sched_setaffinity, -1, 0, NULL);
	DO(getcpu, NULL, NULL, NULL);
	DO(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
	DO(capget, NULL, NULL);
	DO(personality, 0xffffffff);
	DO(umask, 022);
	DO(uname, buffer);
	DO(sysinfo, buffer);
	DO(getcwd, buffer, 1);
	DO(getrandom, buffer, 8, GRND_NONBLOCK);
	DO(get_robust_list, 0, NULL, NULL);
	DO(set_robust_list, NULL, 0);
	DO(unshare, 0);
	DO(setns, -1, CLONE_NEWNET);
	DO(pidfd_open, -1, 0);
	DO(execve, "/nowhere/program", NULL, NULL);
	DO(execveat, AT, "/nowhere/program", NULL, NULL, 0);
	DO(ptrace, PTRACE_CONT, -1, NULL, 0);
	DO(mount, "none", "/nowhere", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
	DO(umount2, "/nowhere", MNT_DETACH);
	DO(swapon, "/nowhere", 0);
	DO(swapoff, "/nowhere");
	DO(acct, "/nowhere");
	DO(reboot, 0, 0, 0, NULL);
	DO(sethostname, NULL, -1);
	DO(setdomainname, NULL, -1);
	DO(pivot_root, "/nowhere", "/nowhere");
	DO(add_key, NULL, NULL, NULL, 0, 0);
	DO(io_setup, 0, NULL);
	DO(io_destroy, 0);
	DO(mq_unlink, "none");
	DO(mq_open, "none", O_RDONLY);
	DO(perf_event_open, NULL, 0, -1, -1, 0);
	DO(syncfs, -1);
#ifdef SYS_open
	DO(getpgrp);
	DO(iopl, 99);
	DO(ioperm, -1, -1, 0);
#endif
}

int
main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) != 0) {
		fputs("usage: calls DIRECTORY\n", stderr);
		return 2;
	}
	DO(close_range, 3, ~0u, 0);	/* numbers of files are the same in each run */
	DO(getppid);
	files();
	sockets();
	memory();
	signals();
	processes();
	DO(getppid);
	return 0;
}
