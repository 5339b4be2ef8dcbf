# shellcheck shell=sh
# lib.sh - what the shell tests share.  Source it: . "${TNF_SOURCE:-../..}/tests/lib.sh"
#
# A test exits 0 (passed), 1 (failed) or 77 (cannot run here; says why).

# Users who are not root may have no directory of administration in it: ip, losetup.
PATH=$PATH:/usr/sbin:/sbin

: "${TNF_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TNF_BUILD:=$TNF_SOURCE/build}"

skip() { echo "SKIP: $*"; exit 77; }
fail() { echo "FAIL: $*" >&2; exit 1; }

# A sanitizer has reported something in this file.  It ends a program with the status of
# an error: who takes that for an answer asks for this as well.
reported() { grep -q -e 'Sanitizer:' -e 'runtime error:' "$1"; }

need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

need_btf() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "kernel without BTF"
}

# test_mount TYPE DIR: for root alone, until the test ends.
test_mounted=
test_mount() {
	mount -t "$1" -o mode=0700 "$1" "$2" 2>/dev/null && test_mounted="$2 $test_mounted"
}

# Undoes what a test has set up; the test's own exit status is kept.
test_end() {
	# shellcheck disable=SC2086  # words are meant
	[ -z "$test_mounted" ] || umount -l $test_mounted
	rm -rf "$TMP"
}

# "/" of a chroot is no mount point: no name space can be made apart from it.
has_mount_spaces() { unshare -m true 2>/dev/null; }

# A program makes a ring of its own in DIR only where others have room as well, and not in
# memory (TNF_PROBE(3)).
need_ring_room() {
	[ "$(stat -f -c %T "$1")" != tmpfs ] || skip "$1 is a tmpfs: TMPDIR can name another directory"
	# shellcheck disable=SC2046  # words are meant
	set -- "$1" $(stat -f -c '%S %a %b' "$1")
	if [ $(($2 * $3 / 1048576)) -lt 1200 ] || [ $(($3 * 9)) -lt "$4" ]; then
		skip "$1: less than 1.2 GiB or a ninth of it is free"
	fi
}

# The kernel's probes: root, BTF, and a place for pins.
need_kernel() {
	need_root
	need_btf
	# A machine has one kernel buffer: tests take turns, and leave alone one
	# that is not theirs.
	exec 9>"${TMPDIR:-/tmp}/tnf-kernel-test.lock"
	flock -w 300 9 || skip "other tests use the kernel's probes"
	[ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" = bpf_fs ] || test_mount bpf /sys/fs/bpf ||
		skip "cannot mount the bpffs"
	wait_for 30 [ ! -e /sys/fs/bpf/tnf/state ] ||
		skip "the kernel's probes are in use"
}

# Control of a process that is not our child.
need_ptrace() {
	_scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
	[ "$_scope" -eq 0 ] || [ "$(id -u)" -eq 0 ] ||
		skip "kernel.yama.ptrace_scope is $_scope and we are not root"
	grep -q '^Seccomp:[[:space:]]*2' /proc/self/status &&
		! command -v strace >/dev/null &&
		skip "seccomp filter, and no strace to try ptrace with"
	if command -v strace >/dev/null; then
		strace -o /dev/null true 2>/dev/null || skip "ptrace is refused"
	fi
	unset _scope
}

# fast_user PREX: behind "scratch".  Fast probes are tried as a user without rights, by $as: root
# has more than they need.
fast_user() {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 alone has fast probes"
	chmod 777 "$TMP"
	HOME=$TMP as=
	export HOME
	[ "$(id -u)" -eq 0 ] || return 0
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086  # words are meant
	$as "$1" --version >/dev/null 2>&1 || skip "a user cannot run $1"
}

need_program() {
	for _p; do
		command -v "$_p" >/dev/null || skip "$_p is not installed"
	done
	unset _p
}

# Sets TNF_GOLDEN, unless the caller has: traces of the original writers, with
# what the original tnfdump printed for them.
need_golden() {
	: "${TNF_GOLDEN:=$TNF_SOURCE/tests/golden/traces}"
	[ -d "$TNF_GOLDEN" ] || fail "TNF_GOLDEN: no directory $TNF_GOLDEN"
	export TNF_GOLDEN
}

# ignoring COMMAND...: with some signals ignored and some blocked.
ignoring() {
	python3 -c 'import os, signal, sys
for s in signal.SIGALRM, signal.SIGINT, signal.SIGQUIT: signal.signal(s, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGUSR1])
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

# A directory that goes away with the test.
scratch() {
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/tnf-test.XXXXXX") || fail "mktemp"
	trap test_end EXIT
	trap 'exit 1' HUP INT TERM
}

# catches_int PID: SIGINT ends it in order from now on.
catches_int() {
	_caught=$(awk '/^SigCgt:/ { print $2 }' "/proc/$1/status")
	[ $((0x${_caught:-0} & 2)) -ne 0 ]
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	_left=$(($1 * 20 * ${TNF_SLOW:-1})); shift
	until "$@"; do
		_left=$((_left - 1))
		[ "$_left" -gt 0 ] || return 1
		sleep 0.05
	done
}
