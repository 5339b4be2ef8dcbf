#!/bin/sh
# fast-life.sh PREX PROGRAM LIBRARY START TNFDUMP BORN - code with fast probes that comes and goes: a library that is closed
# and opened again, a program that executes itself, one with a filter of system calls, one that gets no memory, a child
# that is born while probes are switched on; and what comes before a program's begin.
# The program goes on with right results, and probes are switched on again or refused with a reason.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
prex=$(realpath "$1") program=$2 library=$3 start=$4 dump=$5 born=$6
need_ptrace
scratch
[ "$(uname -m)" = x86_64 ] || skip "x86-64 alone has fast probes"
cp "$library" "$TMP/library.so"
cp "$program" "$TMP/program"

# As a user without any rights: what is refused does not go to the kernel.
as=
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$TMP"
	mkdir "$TMP/out" && chown 65534 "$TMP/out"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086  # words are meant
	$as "$prex" --version >/dev/null 2>&1 || skip "a user cannot run $prex"
else
	mkdir "$TMP/out"
fi
HOME=$TMP/out
export HOME
trap 'kill -9 $pid 2>/dev/null; test_end' EXIT

start()
{
	: >"$TMP/said"
	# shellcheck disable=SC2086
	$as env ${2:+LD_PRELOAD="$2"} "$TMP/program" "$TMP/library.so" "$1" >>"$TMP/said" &
	pid=$!
	wait_for 60 grep -q ready "$TMP/said" || fail "$1: the program does not begin: $(cat "$TMP/said")"
}

# run COMMANDS: by a prex of its own
run()
{
	# shellcheck disable=SC2086
	(cd "$TMP/out" && timeout 300 $as "$prex" -p "$pid" -o "$TMP/out/trace" -c "$1") >"$TMP/prex" 2>"$TMP/err"
}
is_on() { grep -q "name=life_twice_entry enable=$1 .*fast=yes" "$TMP/prex"; }
lives() { kill -0 "$pid" 2>/dev/null || fail "$1: the program has ended: $(cat "$TMP/said" "$TMP/err")"; }

# after SIGNAL WORD: it has done what the signal asks for, and calls the function again
after()
{
	: >"$TMP/said"
	kill -"$1" "$pid"
	wait_for 60 grep -q "$2" "$TMP/said" || fail "$1: no answer: $(cat "$TMP/said" "$TMP/err")"
	sleep 0.1
	lives "after $1"
}

start free
run 'enable function=life_twice; list probes keys=function' || fail "prex: $(cat "$TMP/err")"
is_on on || {
	grep -q "cannot decode instructions" "$TMP/prex" && skip "built without Zydis"
	fail "not on: $(cat "$TMP/prex" "$TMP/err")"
}
# The library is patched once, twice, and goes; what comes in its place has no jumps.
for round in 1 2 3; do
	after USR1 again
	run 'enable function=life_twice; list probes keys=function' || fail "dlopen $round: $(cat "$TMP/err")"
	is_on on || fail "dlopen $round: not on: $(cat "$TMP/prex" "$TMP/err")"
	lives "dlopen $round"
done
after USR1 again
run 'disable keys=function' || fail "of a library that has gone: $(cat "$TMP/err")"
after USR1 again

# The program that comes by exec has no jumps, and can get them.
run 'enable function=life_twice' || fail "before exec: $(cat "$TMP/err")"
after USR2 ready
run 'enable function=life_twice; list probes keys=function' || fail "after exec: $(cat "$TMP/err")"
is_on on || fail "after exec: not on: $(cat "$TMP/prex" "$TMP/err")"
run 'disable keys=function; list probes keys=function' || fail "after exec: $(cat "$TMP/err")"
is_on off || fail "after exec: not off: $(cat "$TMP/prex" "$TMP/err")"
lives "after exec"
kill -9 "$pid"
wait "$pid" 2>/dev/null

# A filter that refuses calls to the program: nothing is on, prex says why, the program goes on; with
# libtnfprobe in the program from its start, and without.
for preload in '' "$TNF_BUILD/libtnfprobe/libtnfprobe.so.1"; do
	start filter "$preload"
	run 'enable function=life_twice; list probes keys=function'
	sleep 0.1
	lives "filter"
	is_on on && fail "in spite of the filter, the probe is on: $(cat "$TMP/prex")"
	grep -q 'seccomp filter' "$TMP/err" || fail "filter: no reason: $(cat "$TMP/prex" "$TMP/err")"
	cat "$TMP/prex" "$TMP/err"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
done
# A process that may have no more memory than it has.
if command -v prlimit >/dev/null; then
	start free "$TNF_BUILD/libtnfprobe/libtnfprobe.so.1"
	# shellcheck disable=SC2086
	$as prlimit --pid "$pid" --as=$(($(sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status") * 1024)): ||
		fail "prlimit"
	run 'enable function=life_twice; list probes keys=function'
	lives "no memory"
	is_on on && fail "without memory, the probe is on: $(cat "$TMP/prex")"
	grep -q 'life_twice_entry .*fast=no: it has no memory left' "$TMP/prex" ||
		fail "no memory: no reason: $(cat "$TMP/prex" "$TMP/err")"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
fi
# A signal that waits while the process stands: the child is born while thousands of probes are switched on, for which the
# process runs, or right after it.  Its probes are on, too.
cp "$born" "$TMP/born"
mkfifo "$TMP/in"
# shellcheck disable=SC2086
$as env LD_PRELOAD="$TNF_BUILD/libtnfprobe/libtnfprobe.so.1" "$TMP/born" >"$TMP/said" &
pid=$!
wait_for 60 grep -q ready "$TMP/said" || fail "born: the program does not begin"
# A process whose fast probes are all off is stopped once: there is nothing to put in order.
if command -v strace >/dev/null; then
	run 'enable function=/^born_10/; disable keys=function' || fail "born: $(cat "$TMP/err")"
	# shellcheck disable=SC2086
	(cd "$TMP/out" && $as strace -e trace=ptrace -o calls "$prex" -p "$pid" -o trace -c 'list probes name=born_1000_entry') \
		>"$TMP/prex" 2>"$TMP/err" || fail "strace prex: $(cat "$TMP/err")"
	grep -q '^name=born_1000_entry enable=off .*fast=yes' "$TMP/prex" || fail "born: $(cat "$TMP/prex")"
	[ "$(grep -c PTRACE_INTERRUPT "$TMP/out/calls")" -eq 1 ] || fail "stopped again: $(cat "$TMP/out/calls")"
fi
# shellcheck disable=SC2086
(cd "$TMP/out" && exec $as "$prex" --follow-fork -p "$pid" -o "$TMP/out/born.tnf") <"$TMP/in" >"$TMP/prex" 2>"$TMP/err" &
session=$!
exec 6>"$TMP/in"
listed() { grep -q "^name=$1 enable=$2" "$TMP/prex"; }
stopped() { kill -INT $session; listed born_1001_entry off; }
cat >&6 <<'END'
enable function=/^born_/
disable keys=function
list probes name=born_1000_entry
continue
list probes name=born_1001_entry
END
wait_for 120 listed born_1000_entry off || fail "born: $(cat "$TMP/prex" "$TMP/err")"
wait_for 60 stopped || fail "born: prex does not stop the process: $(cat "$TMP/prex" "$TMP/err")"
kill -USR1 "$pid"
# An interrupt that came late stops the process once more.
cat >&6 <<'END'
enable keys=function
list probes name=born_1002_entry
continue
continue
continue
END
wait_for 60 listed born_1002_entry on || fail "born: $(cat "$TMP/prex" "$TMP/err")"
wait_for 60 grep -q 'is followed' "$TMP/err" || fail "born: no child: $(cat "$TMP/prex" "$TMP/err")"
records() { "$dump" "$TMP/out/born.tnf" 2>/dev/null | grep -q ' born_1000_entry '; }
wait_for 60 records || fail "born: the child's probes are off: $(cat "$TMP/prex" "$TMP/err")"
kill -9 "$pid"
exec 6>&-
wait $session "$pid" 2>/dev/null

# starts WHAT PROCESSES COMMAND...: by COMMAND, prex starts a program whose constructor does WHAT, so that as many processes
# get to its entry
starts()
{
	_what=$1 _processes=$2
	shift 2
	rm -f "$TMP/out/trace" "$TMP/status"
	(cd "$TMP/out" && BEFORE=$_what "$@" "$prex" -o "$TMP/out/trace" \
		-c 'enable function=start_work; list probes keys=function; continue' "$TMP/start" >"$TMP/prex" 2>"$TMP/err" </dev/null
	echo $? >"$TMP/status") &
	if ! wait_for 60 test -s "$TMP/status"; then
		pkill -KILL -f "^$TMP/start"
		fail "starts $_what: prex does not get on: $(cat "$TMP/prex" "$TMP/err")"
	fi
	[ "$(cat "$TMP/status")" -eq 0 ] || fail "starts $_what: status $(cat "$TMP/status"): $(cat "$TMP/prex" "$TMP/err")"
	grep -q 'name=start_work_entry enable=on .*fast=yes' "$TMP/prex" || fail "starts $_what: $(cat "$TMP/prex" "$TMP/err")"
	wait_for 60 summed "$_processes" || fail "starts $_what: not $_processes sums: $(cat "$TMP/prex" "$TMP/err")"
	# prex lets the program go when it has become another one, so that its calls are not recorded.
	[ "$_what" != exec ] || return 0
	"$dump" "$TMP/out/trace" >"$TMP/dump"
	[ "$(grep -c ' start_work_entry ' "$TMP/dump")" -eq $((_processes * 100)) ] ||
		fail "starts $_what: $(grep -c ' start_work_entry ' "$TMP/dump") calls"
}
summed() { [ "$(grep -c '^sum 10000$' "$TMP/prex")" -eq "$1" ]; }

# A program that prex starts is stopped where the program itself begins, whatever its libraries have done before.
cp "$start" "$TMP/start"
# shellcheck disable=SC2086  # words are meant
for what in no:1 fork:2 thread:1 spawn:1 exec:1; do
	starts "${what%:*}" "${what#*:}" $as env
done
# It takes no turn of the processor there: else prex, of the same real-time priority, would never run again.
if [ "$(id -u)" -eq 0 ] && chrt -f 10 true; then
	starts no 1 chrt -f 10 taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')"
else
	echo "not tested: real-time priority: not permitted"
fi
# If somebody else has a breakpoint there, the kernel's uprobe for example, the program has no fast probes.
events=/sys/kernel/tracing
entry=$(readelf -h "$TMP/start" | sed -n 's/.*Entry point address: *//p')
if [ "$(id -u)" -eq 0 ] && echo "p:tnffast/begin $TMP/start:$entry" 2>/dev/null >>$events/uprobe_events; then
	echo 1 >$events/events/tnffast/begin/enable
	# shellcheck disable=SC2086
	(cd "$TMP/out" && timeout 60 $as "$prex" -o "$TMP/out/trace" -c \
		'enable function=start_work; list probes keys=function; continue' "$TMP/start") >"$TMP/prex" 2>"$TMP/err" </dev/null
	echo 0 >$events/events/tnffast/begin/enable
	echo "-:tnffast/begin" >>$events/uprobe_events
	for text in '^sum 10000$' 'fast=no: somebody else has a breakpoint where the program begins'; do
		grep -q "$text" "$TMP/prex" || fail "a breakpoint at the begin: $(cat "$TMP/prex" "$TMP/err")"
	done
else
	echo "not tested: a uprobe of others where a program begins: no tracefs, or not root"
fi
echo "the program lives through all that"
