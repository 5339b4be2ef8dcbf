#!/bin/sh
# fast.sh - fast probes go on and off in two busy programs for SOAK_SECONDS, each time by a session of its
# own, so that they are hit in between; one session in four is killed.
#
# usage: fast.sh PREX TNFDUMP FAST-TARGET FAST-RETURNS
#
# All results of the programs stay right, each round records events, and in the end the code is that of before.
# Not part of tools/check; the programs are tests/live's, in the build directory.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") dump=$(realpath "$2")
fast_user "$prex"
cp "$3" "$TMP/target"
cp "$4" "$TMP/returns"
end=$(($(date +%s) + ${SOAK_SECONDS:-60}))
trap 'kill -9 $target $returns 2>/dev/null; test_end' EXIT
cd "$TMP" || exit 1

# shellcheck disable=SC2086  # words are meant
$as ./target >said &
target=$!
# shellcheck disable=SC2086
$as ./returns 1000000000 >said-returns &
returns=$!
wait_for 60 grep -q ready said || fail "the target does not begin"
wait_for 60 grep -q ready said-returns || fail "the program with returns does not begin"

# session NAME PID COMMANDS: by a prex of its own; each round has a file of its own
session()
{
	sessions=$((sessions + 1))
	# shellcheck disable=SC2086
	timeout 300 $as "$prex" --set fast_returns=on -s 512 -p "$2" -o "$1.$rounds" -c "$3" >out 2>err </dev/null ||
		fail "round $rounds: $3: $(cat out err)"
}

# killed NAME PID COMMANDS: by a prex that is killed some time after its start; one that has ended before is not counted;
# timeout kills itself with prex, which may end a moment later
killed()
{
	# shellcheck disable=SC2086
	timeout -s KILL "$(printf 0.%03d1 $((rounds * 37 % 250)))" \
		$as "$prex" --set fast_returns=on -s 512 -p "$2" -o "$1.$rounds" -c "$3" >/dev/null 2>&1 </dev/null
	[ $? -ne 137 ] || kills=$((kills + 1))
	wait_for 60 grep -q 'TracerPid:[[:space:]]*0$' "/proc/$2/status" || fail "round $rounds: prex does not end"
}

# events NAME: how many its trace file has of late
events() { "$dump" "$1.$rounds" 2>/dev/null | grep -c " $2"; }
is_hit() { [ "$(events "$1" "$2")" -gt 0 ]; }
lives() { kill -0 "$target" "$returns" || fail "round $rounds: a program has ended: $(cat said said-returns)"; }

rounds=0 sessions=0 kills=0 hits=0
while [ "$(date +%s)" -lt $end ]; do
	rounds=$((rounds + 1))
	rm -f -- *."$((rounds - 1))"
	session target $target 'enable function=/^exec_/'
	session returns $returns 'enable function=/^work_/'
	wait_for 60 is_hit target exec_ || fail "round $rounds: the target records nothing: $(cat out err)"
	wait_for 60 is_hit returns work_leaf_return || fail "round $rounds: no return is recorded: $(cat out err)"
	hits=$((hits + $(events target exec_) + $(events returns work_)))
	[ $((rounds % 4)) -ne 0 ] || killed target $target 'disable keys=function; enable keys=function; disable keys=function'
	[ $((rounds % 4)) -ne 2 ] || killed returns $returns 'disable keys=function; enable keys=function'
	lives
	session target $target 'disable keys=function; list probes keys=function'
	! grep 'enable=on' out || fail "round $rounds: the target's probes stay on"
	session returns $returns 'disable keys=function; list probes keys=function'
	! grep 'enable=on' out || fail "round $rounds: probes of returns stay on"
	lives
done
: >said
kill -TERM $target $returns
wait $target || fail "the target: $(cat said)"
wait $returns || fail "returns: $(cat said-returns)"
grep -q 'wrong 0 code same' said || fail "the target: $(cat said)"
echo "$rounds rounds, $sessions whole sessions, $kills killed, $hits events read; $(cat said); $(tail -n 1 said-returns)"
