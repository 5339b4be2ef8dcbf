#!/bin/sh
# fast.sh TNFDUMP PREX TARGET KILLS TOGGLE TIMES - fast probes in a program under load: what they record, that
# off means the bytes of before, that the program's results stay right, also when prex is killed
# at any moment, and what is refused.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$1 prex=$(realpath "$2") program=$3 kills=$4 toggle=$(realpath "$5") times=$6
need_ptrace
scratch
[ "$(uname -m)" = x86_64 ] || skip "x86-64 alone has fast probes"
cp "$program" "$TMP/program"

# As a user without any rights: root has more than fast probes need.
as=
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$TMP"
	mkdir "$TMP/out" && chown 65534 "$TMP/out"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086  # words are meant
	$as "$prex" --version >/dev/null 2>&1 || { as=; echo "as root: a user cannot run $prex"; }
else
	mkdir "$TMP/out"
fi
out=$TMP/out HOME=$TMP/out
export HOME

start()
{
	# shellcheck disable=SC2086
	$as "$TMP/program" "$@" >>"$TMP/said" 2>>"$TMP/debug" &
	pid=$!
	wait_for 60 grep -q ready "$TMP/said" || fail "the target does not begin"
}
trap 'kill -9 $pid 2>/dev/null; test_end' EXIT

# run COMMANDS: by a prex of its own
run()
{
	# shellcheck disable=SC2086
	(cd "$out" && timeout 300 $as "$prex" -p "$pid" -o "$out/trace" -c "$1") >"$TMP/prex" 2>"$TMP/err"
}

# said WORDS: what the target says of itself now
said()
{
	: >"$TMP/said"
	kill -USR1 "$pid"
	wait_for 60 grep -q calls "$TMP/said" || fail "the target does not answer"
	grep -q "wrong 0 code $1" "$TMP/said" || fail "$2: $(cat "$TMP/said")"
}

has_events() { "$tnfdump" "$out/trace" 2>/dev/null | grep -q "$1"; }

start
run 'enable function=/^exec_/; list probes keys=function' || fail "prex: $(cat "$TMP/err")"
grep -q "name=exec_leaf_entry enable=on trace=on .*fast=yes" "$TMP/prex" || {
	grep -q "cannot decode instructions" "$TMP/prex" && skip "built without Zydis"
	fail "not on: $(cat "$TMP/prex" "$TMP/err")"
}
grep -q "name=exec_eight_entry .*fast=yes" "$TMP/prex" || fail "not in its segment: $(cat "$TMP/prex")"
[ "$(grep -c fast=yes "$TMP/prex")" -ge 5 ] || fail "too few: $(cat "$TMP/prex")"
[ "$(grep -c '^name=exec_deep' "$TMP/prex")" -eq 1 ] || fail "two names: $(cat "$TMP/prex")"
grep "not on" "$TMP/err" && fail "not all are on"
wait_for 60 has_events exec_text_entry || fail "nothing is recorded"
said changed "while it is on"

# A nop of 5 bytes, which the kernel must not have from 6.18 on, since it overwrites what lies below the stack pointer.
run 'enable name=exec.zone; list probes keys=exec' || fail "zone: $(cat "$TMP/err")"
grep -q "^name=exec.zone enable=on .*fast=yes" "$TMP/prex" || fail "zone: $(cat "$TMP/prex" "$TMP/err")"
! grep -qw avx /proc/cpuinfo || wait_for 60 has_events exec.zone || fail "zone: nothing is recorded"

# A second session finds what the first has left on, and switches it off.
run 'list probes keys=function; disable keys=function keys=exec; list probes keys=function' || fail "prex: $(cat "$TMP/err")"
grep -q "exec_leaf_entry enable=on" "$TMP/prex" || fail "not on any more: $(cat "$TMP/prex")"
grep -q "exec_leaf_entry enable=off" "$TMP/prex" || fail "not off: $(cat "$TMP/prex")"
said same "off"
"$tnfdump" "$out/trace" | grep "exec_text" >"$TMP/dump"
grep -q 's: "cake" n: 5' "$TMP/dump" || grep -q 'arg2: 5' "$TMP/dump" ||
	fail "arguments: $(head -n 3 "$TMP/dump")"

# On and off again, in one session and in several.
i=0
while [ $((i += 1)) -le 5 ]; do
	run 'enable keys=function; disable keys=function; enable keys=function; untrace keys=function' ||
		fail "again $i: $(cat "$TMP/err")"
	run 'trace keys=function; disable keys=function' || fail "off again $i: $(cat "$TMP/err")"
done
said same "off after $i times"

# On and off many times, with short runs between, a USDT probe in a red zone too.
[ "${TNF_STRESS:-}" != long ] || times=10000
# shellcheck disable=SC2086
$as "$toggle" "$pid" "$times" >"$TMP/toggled" 2>"$TMP/err" || fail "toggle: $(cat "$TMP/err")"
grep -q "times $times refused" "$TMP/toggled" || fail "toggle: $(cat "$TMP/toggled")"
said same "after $(cat "$TMP/toggled")"

# Killed at any moment, prex leaves a program that goes on, and the next one finds its way.
i=0 hit=0
while [ "$hit" -lt "$kills" ] && [ $((i += 1)) -le $((kills * 20)) ]; do
	# shellcheck disable=SC2086
	(cd "$out" && exec timeout -s KILL "$(printf 0.%03d1 $((i * 37 % 100)))" $as "$prex" -p "$pid" -o "$out/trace" \
		-c 'enable function=/^exec_/; disable keys=function; enable keys=function; disable keys=function') \
		>/dev/null 2>&1
	# One that has ended before is not counted.
	[ $? -ne 137 ] || hit=$((hit + 1))
	kill -0 "$pid" 2>/dev/null || fail "kill $i: the target has ended"
done
[ "$hit" -ge "$kills" ] || fail "of $i prex, $hit were killed"
# timeout kills itself with prex, which may end a moment later.
wait_for 60 grep -q 'TracerPid:[[:space:]]*0$' "/proc/$pid/status" || fail "after the kills: prex does not end"
run 'disable keys=function' || fail "after the kills: $(cat "$TMP/err")"
said same "after $kills kills"

# ended_at CALL N: prex is killed when it is about to make the Nth CALL; true: it makes fewer
ended_at()
{
	# shellcheck disable=SC2086
	(cd "$out" && timeout 300 $as strace -o /dev/null -e "inject=$1:signal=KILL:when=$2" "$prex" \
		-p "$pid" -o "$out/trace" -c 'enable function=/^exec_/; disable keys=function') >/dev/null 2>&1 </dev/null && return
	[ $? -eq 137 ] || fail "$1 $2: prex has failed, but was not killed"
	kill -0 "$pid" 2>/dev/null || fail "killed at $1 $2: the target has ended"
	killed=$((killed + 1))
	run 'disable keys=function' || fail "killed at $1 $2: $(cat "$TMP/err")"
	said same "killed at $1 $2"
	false
}

# So does prex that is killed at a system call of enable or disable by which the target changes: at each, and each
# time the next prex puts the target in order.
killed=0
if command -v strace >/dev/null && [ "$kills" -gt 0 ]; then
	for call in pwrite64 process_vm_writev ptrace; do
		n=0
		until [ $((n += 1)) -gt 2000 ] || ended_at $call $n; do
			:
		done
		[ "$n" -gt 2 ] || fail "prex is killed at no $call"
		echo "killed at $((n - 1)) of $call"
	done
fi

# calls_of FILE: the system calls of a whole session, how many of each kind; not those that strace has no name for
calls_of()
{
	# shellcheck disable=SC2086
	(cd "$out" && $as strace -o "$out/calls" "$prex" -p "$pid" -o "$out/trace" \
		-c 'enable function=/^exec_/; disable keys=function') >/dev/null 2>&1 </dev/null || fail "strace prex"
	sed -n 's/^\([a-z_0-9]*\)(.*/\1/p' "$out/calls" | sort | uniq -c | grep -v -e ' execve$' -e ' syscall_0x' >"$1"
}

# A thousand times, at calls of each kind that prex makes from its start to its end; and while it loads libtnfprobe into
# a process that has none, after which the next prex has the probes on and off.
if [ "$killed" -gt 0 ] && [ "${TNF_STRESS:-}" = long ]; then
	old=$pid
	calls_of "$TMP/kinds"
	while read -r many call <&3; do
		n=1
		until [ $n -gt "$many" ] || ended_at "$call" $n; do
			n=$((n + 1 + many / 130))
		done
	done 3<"$TMP/kinds"
	known=$killed
	: >"$TMP/said"
	start
	calls_of "$TMP/kinds"
	kill -9 "$pid"
	while read -r many call <&3; do
		for n in 1 $((many / 5)) $((many * 2 / 5)) $((many * 3 / 5)) $((many * 4 / 5)); do
			[ "$many" -ge 8 ] || continue
			: >"$TMP/said"
			start
			# How many it makes differs a little from time to time.
			ended_at "$call" $n
			run 'enable function=/^exec_/; disable keys=function' || fail "loading killed at $call $n: $(cat "$TMP/err")"
			said same "loading killed at $call $n"
			kill -9 "$pid"
		done
	done 3<"$TMP/kinds"
	pid=$old
	echo "killed $killed times, $((killed - known)) of them while libtnfprobe was loaded, at $(wc -l <"$TMP/kinds") kinds of calls"
	[ $((killed + kills)) -ge 1000 ] || fail "$killed kills are no thousand"
fi

# A debugger's breakpoint in place of a jump: it hits, goes, and the jump is there again.
if command -v gdb >/dev/null && run 'enable function=/^exec_/'; then
	timeout 300 gdb -nx -batch -p "$pid" -ex 'handle SIGALRM nostop noprint pass' -ex 'break exec_deep' -ex continue \
		-ex continue -ex delete -ex detach </dev/null >"$TMP/gdb" 2>&1
	[ "$(grep -c 'hit Breakpoint 1' "$TMP/gdb")" -eq 2 ] || fail "gdb: $(cat "$TMP/gdb")"
	said changed "after gdb"
	run 'disable keys=function' || fail "after gdb: $(cat "$TMP/err")"
	said same "after gdb, off"
fi

# at FUNCTION: where the process has it
start=$(sed -n "s,^\([0-9a-f]*\)-.* 00000000 .*$TMP/program\$,\1,p" "/proc/$pid/maps" | head -n 1)
at() { echo $((0x$start + 0x$(nm "$TMP/program" | sed -n "s/ . $1\$//p"))); }

# uprobe ON: those of somebody else at functions that have fast probes: the
# kernel executes the first instruction elsewhere, and goes on behind it.
uprobe()
{
	_events=/sys/kernel/tracing
	for _f in exec_leaf exec_text exec_deep exec_double; do
		[ "$1" = 0 ] || echo "p:tnffast/$_f $TMP/program:$(($(at $_f) - 0x$start))" >>$_events/uprobe_events || return 1
		[ "$1" = 0 ] || { echo 1 >$_events/events/tnffast/$_f/enable; continue; }
		echo 0 >$_events/events/tnffast/$_f/enable && echo "-:tnffast/$_f" >>$_events/uprobe_events
	done
}
if [ "$(id -u)" -eq 0 ] && [ -w /sys/kernel/tracing/uprobe_events ] && uprobe 1 2>/dev/null; then
	run 'enable function=/^exec_/' || fail "beside uprobes: $(cat "$TMP/err")"
	grep "not on" "$TMP/err" && fail "beside uprobes"
	said changed "beside uprobes that were there before"
	uprobe 0
	said changed "after them"
	uprobe 1
	said changed "beside uprobes that have come later"
	run 'disable keys=function' || fail "beside uprobes: $(cat "$TMP/err")"
	said changed "uprobes alone"
	uprobe 0
	said same "after uprobes"
else
	echo "not tested: uprobes of others: no tracefs, or not root"
fi

# Code that somebody else has changed, as a debugger does for a breakpoint, stays as it is; the
# other probes go on.
# poke ADDRESS BYTES
# shellcheck disable=SC2059  # escapes are meant
poke() { printf "$2" | dd of="/proc/$pid/mem" bs=1 seek="$1" conv=notrunc 2>/dev/null || fail "write at $1"; }
poke "$(at exec_never)" '\314\314\314\314\314\314\314\314'
run "enable function=exec_never function=exec_deep; list probes keys=function" || fail "int3: $(cat "$TMP/err")"
grep -q 'exec_never_entry: not on: .*breakpoint' "$TMP/err" || fail "int3: $(cat "$TMP/prex" "$TMP/err")"
grep -q 'exec_deep_entry enable=on' "$TMP/prex" || fail "int3: the other: $(cat "$TMP/prex" "$TMP/err")"
grep -q 'exec_never_entry enable=off' "$TMP/prex" || fail "int3: on: $(cat "$TMP/prex")"
run 'disable keys=function' || fail "after int3: $(cat "$TMP/err")"
said same "after a breakpoint"

kill -TERM "$pid"
wait "$pid" || fail "wrong results: $(cat "$TMP/said")"
tail -n 1 "$TMP/said" >"$TMP/last"

# never: the first bytes of exec_never, one a line
never() { dd if="/proc/$pid/mem" bs=1 skip="$(at exec_never)" count=24 2>/dev/null | od -An -v -tx1 -w1; }

# A jump that a breakpoint covers when the next prex comes, and that comes to light when that has left, is taken out
# by the one after it.
: >"$TMP/said"
start
start=$(sed -n "s,^\([0-9a-f]*\)-.* 00000000 .*$TMP/program\$,\1,p" "/proc/$pid/maps" | head -n 1)
never >"$TMP/before"
run 'enable function=exec_never' || fail "covered: $(cat "$TMP/err")"
jump=$(never | grep -n -m 1 e9) || fail "exec_never has no jump"
jump=$(($(at exec_never) + ${jump%%:*} - 1))
poke $jump '\314'
run 'disable keys=function' || fail "covered: $(cat "$TMP/err")"
poke $jump '\351'
run 'list probes keys=function' || fail "covered: $(cat "$TMP/err")"
never | cmp - "$TMP/before" || fail "a jump stays that a breakpoint had covered"
kill -TERM "$pid"
wait "$pid" || fail "covered: wrong results: $(cat "$TMP/said")"

# Functions are connected before a probe is first on and run from its first hit on; a probe of the kernel takes none.
: >"$TMP/said"
start
run 'connect &debug function=exec_text name=exec.zone; list probes function=exec_text name=exec.zone' ||
	fail "connect: $(cat "$TMP/err")"
for name in exec_text_entry exec.zone; do
	grep -q "^name=$name enable=off .* funcs=&debug .*fast=yes" "$TMP/prex" || fail "connect $name: $(cat "$TMP/prex" "$TMP/err")"
done
run 'enable name=exec_text_entry name=exec.zone' || fail "connect: $(cat "$TMP/err")"
wait_for 60 grep -q '^probe exec_text_entry; .*=5; $' "$TMP/debug" || fail "&debug is not called"
! grep -qw avx /proc/cpuinfo || wait_for 60 grep -q '^probe exec.zone; ' "$TMP/debug" || fail "&debug: exec.zone"
run 'clear keys=function; connect &debug function=exec_leaf; enable name=exec_leaf_entry; disable keys=function keys=exec' ||
	fail "connect again: $(cat "$TMP/err")"
run 'connect &debug return=exec_leaf' && fail "&debug of a return of the kernel"
grep -q 'the kernel runs those: exec_leaf_return is not fast: returns are traced by the kernel' "$TMP/err" ||
	fail "connect, no reason: $(cat "$TMP/err")"
said same "connected and off"
kill -TERM "$pid"
wait "$pid" || fail "connected: wrong results: $(cat "$TMP/said")"

# A stack that cannot be read is named as such: it is no signal handler that is in the way.
: >"$TMP/said"
start unread
wait_for 60 grep -q unread "$TMP/said" || fail "the thread does not begin"
run 'enable function=exec_leaf'
grep -q "exec_leaf_entry: not on: .*thread [0-9]* has a stack that cannot be searched" "$TMP/err" ||
	fail "unread: $(cat "$TMP/prex" "$TMP/err")"
said same "unread"
kill -TERM "$pid"
wait "$pid" || fail "unread: wrong results: $(cat "$TMP/said")"
cat "$TMP/toggled" "$TMP/last"
