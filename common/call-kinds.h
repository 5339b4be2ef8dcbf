/*
 * call-kinds.h - kinds of arguments of system calls, and which call has which of them.
 *
 * common/syscall-table.h has the kinds of each call; tools/call-table writes them.  The kernel's
 * programs record what the first of these kinds refer to, as text; analysis/calls.c prints them all.
 */
#ifndef COMMON_CALL_KINDS_H
#define COMMON_CALL_KINDS_H

enum call_kind {
	CALL_END,
	/* The kernel's programs record what such an argument refers to. */
	CALL_FD,		/* a descriptor: the file's path, or a socket's addresses */
	CALL_DFD,		/* the same, or AT_FDCWD */
	CALL_PATH, CALL_TEXT,	/* a path; any other text */
	CALL_ADDRESS,		/* a socket address; the next argument is its size */
	CALL_IOVEC,		/* an array of buffers; the next argument is their number */
	CALL_MESSAGE,		/* of sendmsg(2): an address and an array of buffers */
	CALL_TIME,		/* struct timespec */
	CALL_RECORDED = CALL_TIME,
	/* Only the argument itself counts. */
	CALL_INT, CALL_UNSIGNED, CALL_LONG, CALL_HEX, CALL_PTR, CALL_MODE,
	CALL_SOCKOPT,		/* the argument before it is the level */
	CALL_FCNTL_ARG,		/* the argument before it is the command */
	CALL_HIGH,		/* upper half of a 32-bit program's argument before it, which is LONG */
	/*
	 * Names from the C library's and the kernel's headers, of which analysis/gen-names.sh makes
	 * tables: SET(name, mask, which, but).  'which' and 'but' are extended regular expressions:
	 * the set has the macros that the first one matches and the second one does not.  The bits
	 * of 'mask' together are one value; each other bit is a flag.
	 */
	CALL_NAMES,
#define SET(name, ...) CALL_ ## name,
SET(ACCESS,	0,	"[FRWX]_OK", "")
SET(AT,		0,	"AT_([A-Z_]*FOLLOW|REMOVEDIR|EMPTY_PATH|NO_AUTOMOUNT|STATX_[A-Z]*_SYNC)", "")
SET(AT_ACCESS,	0,	"AT_(EACCESS|SYMLINK_NOFOLLOW|EMPTY_PATH)", "")
SET(CLOCK,	~0u,	"CLOCK_[A-Z_]+", "CLOCK_(DEFAULT|EXT|INT|TXFROMRX|TXINT)")
SET(CLONE,	0xff,	"CLONE_[A-Z_]+|SIGCHLD", "CLONE_(CLEAR_SIGHAND|INTO_CGROUP|NEWTIME)")
SET(CLOSE_RANGE, 0,	"CLOSE_RANGE_[A-Z]+", "")
SET(EFD,	0,	"EFD_[A-Z]+", "")
SET(EPOLL,	0,	"EPOLL_CLOEXEC", "")
SET(EPOLL_CTL,	~0u,	"EPOLL_CTL_[A-Z]+", "")
SET(FADVISE,	~0u,	"POSIX_FADV_[A-Z]+", "")
SET(FALLOC,	0,	"FALLOC_FL_[A-Z_]+", "")
SET(FAMILY,	~0u,	"AF_[A-Z0-9]+", "AF_(LOCAL|FILE|ROUTE|MAX)")
SET(FCNTL,	~0u,	"F_[A-Z]+[A-Z_]*", "F_(OK|U?LOCK|TEST|TLOCK|EXLCK|SHLCK|UNLCK|RDLCK|WRLCK|SEAL_.*|OWNER.*|[GS]ETLKW?64)")
SET(FILE_FLAGS,	0,	"O_(CLOEXEC|NONBLOCK|DIRECT)", "")
SET(FLOCK,	0,	"LOCK_(SH|EX|NB|UN|MAND)", "")
SET(FUTEX,	0xff,	"FUTEX_(WA[A-Z_]+|FD|REQUEUE|CMP_[A-Z_]+|(UN)?LOCK_PI2?(_PRIVATE)?|TRYLOCK_PI|CLOCK_REALTIME)", "FUTEX_(PRIVATE_FLAG|WAITERS|WAITV|WAITV_MAX)")
SET(GRND,	0,	"GRND_[A-Z]+", "")
SET(INOTIFY,	0,	"IN_(CLOEXEC|NONBLOCK)", "")
SET(IOCTL,	~0u,	"(TC|TIO|FIO|SIOC)[A-Z0-9]+", "TIOC(INQ|M_.*|PKT_.*|SER_.*)|SIOC(DEVPRIVATE|PROTOPRIVATE)")
SET(IPC_CMD,	0xff,	"IPC_(RMID|SET|STAT|INFO|64)|(GET|SET)(VAL|ALL|PID|NCNT|ZCNT)|SHM_(LOCK|UNLOCK|STAT|INFO)|(SEM|MSG)_(STAT|INFO)", "")
SET(IPC_FLAGS,	0777,	"IPC_(CREAT|EXCL)|SHM_(HUGETLB|NORESERVE)", "")
SET(IPC_WAIT,	0,	"IPC_NOWAIT|MSG_(NOERROR|EXCEPT)", "")
SET(ITIMER,	~0u,	"ITIMER_[A-Z]+", "")
SET(KEY,	~0u,	"IPC_PRIVATE", "")
SET(MADV,	~0u,	"MADV_[A-Z_]+", "")
SET(MAP,	0xf,	"MAP_[A-Z_0-9]+", "MAP_(FAILED|ANON|TYPE|HUGE_.*|FILE)")
SET(MCL,	0,	"MCL_[A-Z]+", "")
SET(MFD,	0,	"MFD_(CLOEXEC|ALLOW_SEALING|HUGETLB)", "")
SET(MOUNT,	0,	"MS_([A-Z]+)", "MS_(ASYNC|SYNC|INVALIDATE)|MS_NOUSER")
SET(MREMAP,	0,	"MREMAP_[A-Z]+", "")
SET(MSG,	0,	"MSG_[A-Z_]+", "MSG_(COPY|NOERROR|EXCEPT|STAT.*|INFO|TRYHARD|TRUNC_.*)")
SET(MSYNC,	0,	"MS_(ASYNC|SYNC|INVALIDATE)", "")
SET(OPEN,	3,	"O_[A-Z]+", "O_(NDELAY|FSYNC|ACCMODE|RSYNC|LARGEFILE)")
SET(PERF_FLAG,	0,	"PERF_FLAG_[A-Z_]+", "")
SET(PRCTL,	~0u,	"PR_[SGC][A-Z]+_[A-Z0-9_]+", "PR_SET_MM_.*|PR_SET_PTRACER_ANY|PR_SCHED_CORE_.*|PR_SPEC_.*|PR_CAP_AMBIENT_.*")
SET(PRIO,	~0u,	"PRIO_(PROCESS|PGRP|USER)", "")
SET(PROT,	0,	"PROT_[A-Z]+", "")
SET(PROTOCOL,	~0u,	"IPPROTO_[A-Z0-9]+", "IPPROTO_(RAW|MAX|HOPOPTS)")
SET(PTRACE,	~0u,	"PTRACE_[A-Z]+", "")
SET(RENAME,	0,	"RENAME_[A-Z]+", "")
SET(RLIMIT,	~0u,	"RLIMIT_[A-Z]+", "RLIMIT_OFILE|RLIMIT_NLIMITS")
SET(RUSAGE,	~0u,	"RUSAGE_[A-Z]+", "RUSAGE_LWP")
SET(RWF,	0,	"RWF_[A-Z]+", "RWF_SUPPORTED")
SET(SCHED,	0xff,	"SCHED_[A-Z_]+", "SCHED_(FLAG.*|ISO)")
SET(SEEK,	~0u,	"SEEK_[A-Z]+", "")
SET(SFD,	0,	"SFD_[A-Z]+", "")
SET(SHM,	0,	"SHM_(RDONLY|RND|REMAP|EXEC)", "")
SET(SHUT,	~0u,	"SHUT_[A-Z]+", "")
SET(SIGHOW,	~0u,	"SIG_(BLOCK|UNBLOCK|SETMASK)", "")
SET(SIGNAL,	~0u,	"SIG[A-Z]+[A-Z0-9]*", "SIG(IOT|POLL|CLD|UNUSED|STKSZ|STKFLT_|EV_.*|RTM.*)|SIGCONTEXT.*")
SET(SOCK,	0xf,	"SOCK_[A-Z]+", "")
SET(SOCK_FLAGS,	0,	"SOCK_(CLOEXEC|NONBLOCK)", "")
SET(SOL,	~0u,	"SOL_[A-Z0-9]+", "SOL_(RAW)")
SET(SPLICE,	0,	"SPLICE_F_[A-Z]+", "")
SET(STATX,	0,	"STATX_[A-Z_]+", "STATX_(ATTR_.*|_RESERVED)")
SET(TFD,	0,	"TFD_(CLOEXEC|NONBLOCK)", "")
SET(TIMER,	0,	"TIMER_ABSTIME|TFD_TIMER_CANCEL_ON_SET", "")
SET(UMOUNT,	0,	"MNT_(FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW", "")
SET(WAIT,	0,	"W(NOHANG|STOPPED|EXITED|CONTINUED|NOWAIT)|__W[A-Z]+", "")
SET(WAITID,	~0u,	"P_(ALL|PID|PGID|PIDFD)", "")
SET(WATCH,	0,	"IN_[A-Z_]+", "IN_(CLOEXEC|NONBLOCK|CLASS[A-D].*|BADCLASS.*)")
SET(XATTR,	0,	"XATTR_(CREATE|REPLACE)", "")
/* Options of a socket, by level. */
SET(SO_SOCKET,	~0u,	"SO_[A-Z_]+", "SO_(.*_OLD|.*_NEW|GET_FILTER)")
SET(SO_TCP,	~0u,	"TCP_[A-Z_0-9]+", "TCP_(ESTABLISHED|SYN_.*|FIN_.*|TIME_WAIT|CLOSE|CLOSE_WAIT|LAST_ACK|LISTEN|CLOSING|CA_.*|NO_QUEUE|.*_QUEUE|QUEUES_NR|MAXWIN|MAX_.*|COOKIE_.*|S_DATA.*|REPAIR_.{2,}|MD5SIG_.*)")
#undef SET
	CALL_KINDS_COUNT
};

#define CALL_ARGUMENTS	6

/* Applies f to the six kinds of a row of the table. */
#define CALL_EACH(f, ...)						\
	CALL_EACH_(f, 0, ##__VA_ARGS__, END, END, END, END, END, END, END)
#define CALL_EACH_(f, none, a, b, c, d, e, g, ...)			\
	f(CALL_ ## a, CALL_ ## b, CALL_ ## c, CALL_ ## d, CALL_ ## e, CALL_ ## g)

#endif /* COMMON_CALL_KINDS_H */
