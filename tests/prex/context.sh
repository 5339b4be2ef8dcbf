#!/bin/sh
# context.sh - what prex knows of a process is in the trace file when prex has
# ended: whether the target has recorded something by then or not.
#
# usage: context.sh PREX TNFDUMP VICTIM-ENDS VICTIM-NAMES
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") dump=$(realpath "$2") victim=$(realpath "$3")
names=$(realpath "$4")
cd "$TMP" || exit 1
export HOME="$TMP"

knows() {
	"$dump" --info "$1" > info 2>&1
	grep -q 'tasks known: *1$' info || fail "$2: $(cat info)"
}

# It waits for its input, and hits its only probe at the end of it.
mkfifo in
"$victim" < in > out &
pid=$!
exec 3> in
trap 'kill $pid 2>/dev/null; rm -rf "$TMP"' EXIT
wait_for 60 grep -q ready out || fail "the victim does not start"

"$prex" -p $pid -o z.tnf -c 'enable $all; quit' > prex.out 2>&1 ||
	fail "prex: $(cat prex.out)"
grep -aq 'TNFCTX 1$' z.tnf || fail "nothing was recorded yet: no context"
cp z.tnf before.tnf
exec 3>&-
wait $pid
[ "$("$dump" z.tnf | grep -c ' end ')" -ge 1 ] || fail "no event"
knows z.tnf "the target has set the file up after us"

# One that prex ends, and one that runs on, with a file that is in use.
"$prex" -o y.tnf -c 'enable $all; continue' "$victim" < /dev/null \
	> prex.out 2>&1 || fail "prex: $(cat prex.out)"
knows y.tnf "the target has ended"
mkfifo in2
: > out
"$victim" < in2 > out &
pid=$!
exec 3> in2
wait_for 60 grep -q ready out || fail "the victim does not start"
for i in 1 2; do
	"$prex" -p $pid -o x.tnf -c 'enable $all; quit' > prex.out 2>&1 ||
		fail "prex: $(cat prex.out)"
	grep -aq "^task $pid " x.tnf || fail "visit $i: no context"
	[ "$(grep -ac 'TNFCTX 1$' x.tnf)" -eq 1 ] || fail "visit $i: twice"
done
exec 3>&-
wait $pid
knows x.tnf "after the second visit"

# Threads that have ended before prex has, born while it was there.
named() {
	for name in 'worker 0' 'worker 1' 'worker 2' master; do
		grep -aq "^ended [0-9]* [0-9]* [0-9]* $name\$" "$1" ||
			fail "$2: no $name: $(grep -a '^ended' "$1")"
	done
}
"$prex" -o n.tnf -c 'enable $all; continue' "$names" < /dev/null \
	> prex.out 2>&1 || fail "prex: $(cat prex.out)"
named n.tnf "started"
"$dump" --columns +comm n.tnf | grep -q ' named .* worker 1 ' ||
	fail "tnfdump does not name them: $("$dump" --columns +comm n.tnf)"
mkfifo in3
: > out
"$names" < in3 > out &
pid=$!
exec 3> in3
wait_for 60 grep -q ready out || fail "the victim does not start"
: > prex.out
"$prex" -p $pid -o m.tnf -c 'enable $all; continue' > prex.out 2>&1 3>&- &
wait_for 60 grep -q Type prex.out || fail "prex: $(cat prex.out)"
exec 3>&-
wait $! || fail "prex: $(cat prex.out)"
wait $pid
named m.tnf "attached to"

# In a pid name space their events have numbers of that.
if [ "$(id -u)" -eq 0 ] && has_mount_spaces; then
	mkfifo in4
	: > out
	unshare -m -p -f --mount-proc "$names" < in4 > out &
	outer=$!
	exec 3> in4
	wait_for 60 grep -q ready out || fail "the victim does not start"
	pid=$(tr -d ' ' < /proc/$outer/task/$outer/children)
	: > prex.out
	"$prex" -p "$pid" -o i.tnf -c 'enable $all; continue' > prex.out 2>&1 3>&- &
	wait_for 60 grep -q Type prex.out || fail "prex: $(cat prex.out)"
	exec 3>&-
	wait $! || fail "prex: $(cat prex.out)"
	wait $outer
	named i.tnf "in a name space"
	for n in 0 1 2; do
		"$dump" --columns +comm i.tnf | grep -q " named .* worker $n " ||
			fail "in a name space: $("$dump" --columns +comm i.tnf)"
	done
fi
exit 0
