#!/bin/sh
# fast-none.sh PREX PROGRAM STATIC MUSL WORDS LIBRARY - each reason of a process for which none of its functions has a fast
# probe: prex says it, records nothing, and the process goes on; and reasons of functions that a process tells.  "-" in place of a program: it cannot be built.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
prex=$(realpath "$1")
need_ptrace
scratch
fast_user "$prex"
trap 'kill -9 $pid $beside 2>/dev/null; test_end' EXIT
beside=
cp "$2" "$TMP/program"
[ "$3" = - ] || cp "$3" "$TMP/static"
[ "$4" = - ] || cp "$4" "$TMP/musl"
[ "$5" = - ] || cp "$5" "$TMP/words"
cp "$6" "$TMP/library.so"

# start [VARIABLE=VALUE] PROGRAM MODE: by a user without rights
start()
{
	: >"$TMP/ready"
	# shellcheck disable=SC2086
	(cd "$TMP" && exec $as env "$@") >"$TMP/ready" &
	pid=$!
}
is_ready() { [ -s "$TMP/ready" ] && [ "$(cat "/proc/$pid/comm")" != env ]; }

# libtnfprobe of a release before fast probes has a control block that ends before them.
make_older()
{
	lib=$TNF_BUILD/libtnfprobe/libtnfprobe.so.1
	_base=$(sed -n 's,^\([0-9a-f]*\)-.* 00000000 .*libtnfprobe.*,\1,p' "/proc/$pid/maps" | head -n 1)
	_at=$((0x$_base + 0x$(nm -D "$lib" | sed -n 's/ . _tnf_process_control.*//p') + 4))
	_size=$(dd if="/proc/$pid/mem" bs=1 skip=$_at count=4 2>/dev/null | od -A n -t u4)
	[ "$_size" -gt 4096 ] || fail "older: a control block of $_size bytes"
	_size=$((_size - 8))
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $((_size % 256)))\\$(printf %03o $((_size / 256)))" |
		dd of="/proc/$pid/mem" bs=1 seek=$_at conv=notrunc 2>/dev/null || fail "older"
}

# begin NAME: the process of a row of the table; false: not here
begin()
{
	case $1 in
	filter | full | undumpable | handler | fault | vfork | shared) start ./program "$1" ;;
	older) start "LD_PRELOAD=$TNF_BUILD/libtnfprobe/libtnfprobe.so.1" ./program plain ;;
	static | musl | words)
		[ -e "$TMP/$1" ] || { why="it cannot be built"; return 1; }
		start "./$1" plain ;;
	other)
		[ -n "$as" ] || { why="not root"; return 1; }
		_as=$as as="setpriv --reuid=65533 --regid=65533 --clear-groups"
		start ./program plain
		as=$_as ;;
	traced)
		command -v strace >/dev/null || { why="no strace"; return 1; }
		start ./program plain ;;
	scope)
		_scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null) || { why="the kernel has no Yama"; return 1; }
		[ "$_scope" -gt 0 ] || { why="kernel.yama.ptrace_scope is 0, and is the whole machine's"; return 1; }
		start ./program plain ;;
	esac
	case $1 in
	words) sleep 0.2 ;;
	*) wait_for 60 is_ready || fail "$1: the program does not begin" ;;
	esac
	[ "$1" != older ] || make_older
	[ "$1" != traced ] || {
		# shellcheck disable=SC2086
		$as strace -o /dev/null -p "$pid" 2>/dev/null &
		beside=$!
		wait_for 60 grep -q '^TracerPid:.*[1-9]' "/proc/$pid/status" || fail "no strace"
	}
}

tested=0
while IFS='|' read -r name words; do
	why="" function=none_work
	case $name in
	fault) function=none_fault ;;
	shared) function=life_twice ;;
	esac
	begin "$name" || { echo "not tested: $name: $why"; continue; }
	# shellcheck disable=SC2086
	(cd "$TMP" && timeout 120 $as "$prex" -p "$pid" -o "$TMP/$name.tnf" \
		-c "enable function=$function; list probes function=$function") >"$TMP/out" 2>&1 </dev/null
	grep -q 'cannot decode instructions' "$TMP/out" && skip "built without Zydis"
	grep -q -e "$words" "$TMP/out" || fail "$name: not \"$words\": $(cat "$TMP/out")"
	grep -q 'enable=on' "$TMP/out" && fail "$name: it is on: $(cat "$TMP/out")"
	[ -z "$beside" ] || { kill "$beside"; wait "$beside" 2>/dev/null; beside=; }
	sleep 0.05
	kill -0 "$pid" 2>/dev/null || fail "$name: the program has ended"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	tested=$((tested + 1))
done <<END
undumpable|the kernel refuses it: the program is set-id, has rights that we lack
other|it belongs to user 65533: CAP_SYS_PTRACE (root) is needed
scope|kernel.yama.ptrace_scope is [123]:
traced|process [0-9]* controls it already: end that first
words|the program has 32 bits or another byte order
static|it is not stopped, and what they record goes to the kernel's buffer
musl|its C library is musl, not glibc
filter|all of its threads have a seccomp filter
full|fast=no: no free memory is within reach of its code
older|fast=no: the process has an older libtnfprobe, or none
handler|no thread of it came to a place where it surely holds no lock
fault|none_fault_entry: not on: .*thread [0-9]* has a signal handler that interrupts its first instructions
vfork|none_work_entry: not on: .*thread [0-9]* sleeps in the kernel
shared|life_twice_entry: not on: .*its code cannot be written
END
# listed COMMANDS [PID]: prex with returns
listed()
{
	# shellcheck disable=SC2086
	(cd "$TMP" && timeout 120 $as "$prex" --set fast_returns=on -p "${2:-$pid}" -o "$TMP/listed.tnf" -c "$1") >"$TMP/out" 2>&1 </dev/null
}
told() { grep -q -e "$1" "$TMP/out" || fail "not \"$1\": $(cat "$TMP/out")"; }
cp "$TMP/library.so" "$TMP/_greenlet.so"
start "LD_PRELOAD=$TMP/_greenlet.so" ./program plain
wait_for 60 is_ready || fail "the program does not begin"
listed 'enable function=none_both; enable function=none_pages function=none_part.cold function=none_work; list probes keys=function'
told '^name=none_both_entry enable=on .*fast=yes'
told '^name=none_pages_entry enable=off .*fast=no: its first instructions lie on two pages'
told '^name=none_part.cold_entry enable=off .*fast=no: it is a part of a function, to which jumps lead'
told '^name=none_work_return enable=off .*fast=no: greenlet moves stacks'
listed 'enable name=none.both name=none.lost; list probes keys=none'
told 'none.both: not on: .*another probe is in its first instructions'
told '^name=none.lost enable=off .*fast=no: its semaphore is not mapped'
listed 'trace name=none_both_entry stack=4'
told 'the process records it itself, which knows neither stacks nor freeze'
kill -9 "$pid"
wait "$pid" 2>/dev/null

# What is no process to attach to.
pid=
listed quit 999999999 && fail "attached to no process"
told 'there is none'
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	listed quit 2 && fail "attached to the kernel"
	told 'it is a thread of the kernel'
fi
# shellcheck disable=SC2086
[ "$3" = - ] || (cd "$TMP" && timeout 60 $as "$prex" -c quit ./static plain) >"$TMP/out" 2>&1 </dev/null
[ "$3" = - ] || told 'linked statically, and no libtnfprobe.a with symbols is in it'

grep -qw user_shstk /proc/cpuinfo || echo "not tested: a shadow stack: the processor or the kernel has none"
[ "$tested" -ge 5 ] || fail "only $tested reasons"
echo "$tested reasons"
