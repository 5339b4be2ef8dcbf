#!/bin/sh
# exec.sh - prex --follow-exec goes on in the program that the target becomes.
#
# usage: exec.sh PREX TNFDUMP VICTIM-ENDS VICTIM-NAMES
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") dump=$(realpath "$2")
ends=$(realpath "$3") names=$(realpath "$4")
export HOME="$TMP"
cd "$TMP" || exit 1

# events N: in the trace, and all is well
events() {
	[ "$status" -eq 0 ] || fail "$what: status $status: $(cat out err)"
	"$dump" --info f.tnf > info 2>&1 || fail "$what: $(cat info)"
	grep -q "events: *$1\$" info || fail "$what: $(cat info)"
}

what="a shell"
"$prex" --follow-exec -o f.tnf -c 'enable $all; continue' \
	sh -c "exec sh -c 'exec $names'" < /dev/null > out 2> err
status=$?
events 4
[ "$(grep -cx "Target process exec'd" out)" -eq 2 ] || fail "$(cat out)"
grep -q 'which is not traced' err && fail "$(cat err)"

what="only what was asked for"
"$prex" --follow-exec -o f.tnf -c 'enable name=last; continue' \
	sh -c "exec $names" < /dev/null > out 2> err
status=$?
events 1

what="a program with probes, and a status"
echo "exec=$names" | "$prex" --follow-exec -o f.tnf \
	-c 'enable $all; continue' "$ends" > out 2> err
status=$?
events 4
echo 'exec=/bin/false' | "$prex" --follow-exec -o f.tnf -c continue "$ends" \
	> out 2> err
[ $? -eq 1 ] || fail "the status of false: $(cat out err)"

# Its linker waits for a library that nobody writes: prex waits for as long as for any other
# target, and not at all after a signal.  The program goes on when the library comes.
what="a library that does not come"
mkdir lib
mkfifo lib/libc.so.6
unanswered() {
	"$prex" --follow-exec -o f.tnf -c 'enable $all; continue' \
		sh -c "echo \$\$ > pid; LD_LIBRARY_PATH=$TMP/lib exec $names" < /dev/null > out 2> err &
	pid=$!
}
goes_on() {
	kill -0 "$(cat pid)" || fail "$what: it has ended: $(cat err)"
	: > lib/libc.so.6
	wait_for 60 is_gone "$(cat pid)" || fail "$what: it does not go on"
	rm pid
}
is_gone() { grep -qs '^State:.[^Z]' "/proc/$1/status" && return 1 || return 0; }
started() { [ -s pid ] && [ "$(cat "/proc/$(cat pid)/comm")" = victim-names ]; }
unanswered
wait_for 60 started || fail "$what: not started: $(cat out err)"
kill "$pid"
wait "$pid"
[ $? -eq 143 ] && grep -q 'given up for SIGTERM' err || fail "$what, SIGTERM: $(cat out err)"
goes_on
unanswered
wait "$pid"
[ $? -eq 1 ] && grep -q 'did not load its program and libraries in 30 s' err ||
	fail "$what: $(cat out err)"
goes_on

"$prex" --follow-exec -p $$ -c continue > out 2> err && fail "-p: $(cat out)"
grep -q 'follow-exec needs a command' err || fail "-p: $(cat err)"
exit 0
