#!/bin/sh
# fast-returns.sh TNFDUMP PREX PROGRAM KILLS - returns of functions, recorded by the process: one for each call that
# returns, none for one that is left by longjmp(), an exception or pthread_exit(), which find their way; a prex
# that is killed leaves a program that goes on, and the next one switches off what was on; what is refused.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
dump=$1 prex=$(realpath "$2") program=$3 kills=$4
need_ptrace
scratch
fast_user "$prex"
cp "$program" "$TMP/program"
trap 'kill -9 $pid 2>/dev/null; test_end' EXIT
pid=

# run ARG...: prex with returns
run()
{
	# shellcheck disable=SC2086
	(cd "$TMP" && timeout 120 $as "$prex" --set fast_returns=on "$@") >"$TMP/prex" 2>&1 </dev/null
}
told() { grep -q "$1" "$TMP/prex" || fail "not \"$1\": $(cat "$TMP/prex")"; }
count() { grep -c " $1 " "$TMP/dump"; }

run -s 65536 -o "$TMP/t.tnf" -c 'enable function=/^work_/; list probes keys=function; continue' "$TMP/program" 101 ||
	fail "prex CMD: $(cat "$TMP/prex")"
grep -q 'cannot decode instructions' "$TMP/prex" && skip "built without Zydis"
told '^name=work_leaf_return enable=on .*fast=yes'
told 'rounds 101 wrong 0'
"$dump" "$TMP/t.tnf" >"$TMP/dump" 2>/dev/null
for f in leaf deep double first second handler; do
	[ "$(count work_${f}_entry)" -eq "$(count work_${f}_return)" ] && [ "$(count work_${f}_entry)" -ge 101 ] ||
		fail "$f: $(count work_${f}_entry) calls, $(count work_${f}_return) returns"
done
# 101 rounds, and the children of the rounds 0, 50 and 100 in files of their own or none.
for f in jump throw; do
	[ "$(count work_${f}_entry)" -ge 707 ] && [ "$(count work_${f}_return)" -eq 0 ] ||
		fail "$f: $(count work_${f}_entry) calls, $(count work_${f}_return) returns"
done
[ "$(count work_quit_entry)" -eq 36 ] && [ "$(count work_quit_return)" -eq 0 ] || fail "quit: $(count work_quit_entry)"
[ "$(grep ' work_deep_return ' "$TMP/dump" | grep -c 'value: 211')" -eq 1800 ] || fail "values of returns"
[ "$(grep ' work_first_return ' "$TMP/dump" | grep -c 'value: 11')" -eq 101 ] || fail "a function that goes on in another"
# A function is one level deeper than its caller, in all rounds, also behind functions that were left by longjmp().
"$dump" --tree "$TMP/t.tnf" | awk '/ work_first_entry / { at = index($0, "work_"); first = first ? first : at }
	/ work_second_entry / { n += at == first && index($0, "work_") == at + 2 } END { exit n != 101 }' ||
	fail "--tree: $("$dump" --tree "$TMP/t.tnf" | grep -e work_first -e work_second | head)"

# A process that runs: on and off again, and killed in between.
# shellcheck disable=SC2086
$as "$TMP/program" 100000000 >"$TMP/said" &
pid=$!
wait_for 60 grep -q ready "$TMP/said" || fail "the program does not begin"
i=0 hit=0
while [ "$hit" -lt "$kills" ] && [ $((i += 1)) -le $((kills * 20)) ]; do
	# shellcheck disable=SC2086
	(cd "$TMP" && exec timeout -s KILL "$(printf 0.%03d1 $((i * 37 % 100)))" \
		$as "$prex" --set fast_returns=on -p "$pid" -o "$TMP/p.tnf" -c \
		'enable function=/^work_/; disable keys=function; enable keys=function; disable keys=function') \
		>/dev/null 2>&1
	# One that has ended before is not counted.
	[ $? -ne 137 ] || hit=$((hit + 1))
	kill -0 "$pid" 2>/dev/null || fail "kill $i: the program has ended"
	# timeout kills itself with prex, which may end a moment later.
	wait_for 60 grep -q "TracerPid:[[:space:]]*0\$" "/proc/$pid/status" || fail "kill $i: prex does not end"
	# The return alone: its jump is that of the entry.
	run -p "$pid" -o "$TMP/p.tnf" -c 'enable function=/^work_/; disable keys=function; enable name=work_leaf_return' ||
		fail "round $i: $(cat "$TMP/prex")"
	run -p "$pid" -c 'list probes keys=function' || fail "list: $(cat "$TMP/prex")"
	told '^name=work_leaf_return enable=on'
	told '^name=work_leaf_entry enable=off'
done
[ "$hit" -ge "$kills" ] || fail "of $i prex, $hit were killed"
has_returns() { "$dump" "$TMP/p.tnf" 2>/dev/null | tail -n 1000 | grep -q ' work_leaf_return '; }
wait_for 60 has_returns || fail "the return alone is not recorded"
run -p "$pid" -c 'disable keys=function; list probes keys=function' || fail "off: $(cat "$TMP/prex")"
grep -q 'enable=on' "$TMP/prex" && fail "not off: $(cat "$TMP/prex")"
kill -TERM "$pid"
wait "$pid" || fail "wrong results: $(cat "$TMP/said")"
tail -n 1 "$TMP/said"

# Functions that look at their address to return to, and code that is in no file.
run -c 'list probes function=setjmp keys=function' -o "$TMP/x.tnf" "$TMP/program" 1
told 'setjmp_return .*fast=no: it uses the address to return to'
# shellcheck disable=SC2086
$as "$TMP/program" 100000000 jit >"$TMP/said" &
pid=$!
wait_for 60 grep -q ready "$TMP/said" || fail "the program does not begin"
run -p "$pid" -o "$TMP/y.tnf" -c 'enable name=work_leaf_entry; enable function=work_leaf; list probes keys=function; disable keys=function'
told 'work_leaf_return enable=off .*fast=no: the program makes code at run time'
told '^name=work_leaf_entry enable=on .*fast=yes'
kill -TERM "$pid"
wait "$pid" || fail "wrong results: $(cat "$TMP/said")"

# A program whose only thread waits in a function that returns to libtnfprobe gets more probes.
mkfifo "$TMP/in"
# shellcheck disable=SC2086
$as "$TMP/program" 0 wait <"$TMP/in" >"$TMP/said" &
pid=$!
exec 6>"$TMP/in"
wait_for 60 grep -q ready "$TMP/said" || fail "the program does not begin"
run -p "$pid" -o "$TMP/w.tnf" -c 'enable function=work_wait; list probes keys=function' || fail "wait: $(cat "$TMP/prex")"
told '^name=work_wait_return enable=on .*fast=yes'
echo >&6
waits() { [ "$("$dump" "$TMP/w.tnf" 2>/dev/null | grep -c work_wait_entry)" -ge 1 ]; }
wait_for 60 waits || fail "wait: no entry"
run -p "$pid" -c 'enable function=/^work_/; list probes keys=function' || fail "wait: $(cat "$TMP/prex")"
told '^name=work_deep_return enable=on .*fast=yes'
exec 6>&-
wait "$pid" || fail "wait: wrong results: $(cat "$TMP/said")"
[ "$("$dump" "$TMP/w.tnf" | grep -c 'work_wait_return.*value: 0')" -eq 1 ] || fail "wait: $("$dump" "$TMP/w.tnf")"
