#!/bin/sh
# end.sh - the target or prex ends in the midst of it.
#
# usage: end.sh PREX TNFDUMP HITS
. "${TNF_SOURCE:-../..}/tests/faults/lib.sh"

# ended HOW: what --info makes of it
ended() {
	"$DUMP" --info f | grep -q "ended: *$1" ||
		wrong "--info: $("$DUMP" --info f | grep ended)"
}

# All events up to the last one are there, but for one that was on its way.
# The numbers may begin late: a file keeps the latest.
all_there() {
	"$DUMP" f > events 2> err || wrong "tnfdump's status is not 0"
	[ ! -s err ] || wrong "tnfdump complains"
	sed -n 's/.*number: \([0-9]*\) text: "as long as it takes".*/\1/p' \
		events > numbers
	[ "$(grep -c ' hit  ' events)" -eq "$(wc -l < numbers)" ] ||
		wrong "a torn event"
	awk 'NR > 1 && $1 != last + 1 { exit 1 } { last = $1 }' numbers ||
		wrong "a hole"
	last=$(tail -n 1 numbers) counted=$(count)
	[ "${last:-0}" -eq "$counted" ] ||
		[ "${last:-0}" -eq $((counted + 1)) ] ||
		wrong "$counted events, and the last one is ${last:-none}"
}

what="exit"
prex -o f -c 'enable $all; continue' "$HITS" count hit=1000
ended 'in order'
whole 1000 f

what="_exit"
rm -f count
prex -o f -c 'enable $all; continue' "$HITS" count hit=1000 _exit
says 'target process exited'
ended 'no: 1 of 1'
all_there

what="abort"
rm -f count
prex -o f -c 'enable $all; continue' "$HITS" count hit=1000 abort
says 'disappeared'
ended 'no: 1 of 1'
all_there

what="SIGKILL of its own"
rm -f count
prex -o f -c 'enable $all; continue' "$HITS" count hit=1000 kill
says 'disappeared'
ended 'no: 1 of 1'
all_there

what="killed while it writes"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	target ready for-ever
	attach -o f -s 512
	go
	wait_for 60 counted $((i * 1000))
	kill -KILL $hits
	wait $hits 2>/dev/null
	exec 5>&-
	wait $prex
	says 'disappeared'
	ended 'no: 1 of 1'
	all_there
done

what="child killed while it writes"
for i in 1 2 3 4; do
	target ready killed-child hit=1000
	attach -o f -s 1024
	go; survived
	wait $prex || wrong "prex's status is $?"
	ended 'no: 1 of 2'
	"$DUMP" f > events 2> err || wrong "tnfdump's status is not 0"
	[ ! -s err ] || wrong "tnfdump complains"
	[ "$(grep -c " $hits .* hit .*as long as it takes" events)" -eq 1000 ] ||
		wrong "the parent's events are not all there"
done

what="prex is killed: a target that it attached to goes on"
target ready slow=100 ready slow=10
attach -o f -s 1024
go; wait_for 60 counted 100
kill -KILL $prex
wait $prex 2>/dev/null
wait_for 60 running || wrong "the target stands still"
go; survived
whole 110 f

what="prex is killed: a target that it attached to loads objects"
target ready load=libm.so.6 slow=10
attach -o f -s 1024
kill -KILL $prex
wait $prex 2>/dev/null
go; survived

what="prex is killed: a target that it has started goes along"
mkfifo never
: > out
"$PREX" -o f -c 'enable $all; continue' "$HITS" "$TMP/count" ready \
	< never > out 2> err &
prex=$!
exec 6> never
wait_for 60 grep -q ready out
hits=$(ps -o pid= --ppid $prex | tr -d ' ')
kill -KILL $prex
wait $prex 2>/dev/null
wait_for 60 [ ! -d "/proc/$hits" ] || wrong "it is still there"
exec 6>&-

what="target killed while prex holds it"
target ready slow=10
attach -o f -s 1024
kill -STOP $prex
kill -KILL $hits
kill -CONT $prex
wait $prex
says 'disappeared'
wait $hits 2>/dev/null
exec 5>&-

what="target killed while prex waits for a command"
target ready slow=10
mkfifo commands
: > out
"$PREX" -p $hits -o f < commands > out 2> err &
prex=$!
exec 6> commands
wait_for 60 grep -q Type out || wrong "prex does not attach"
kill -KILL $hits
wait_for 60 grep -q '^State:.Z' /proc/$hits/status
# shellcheck disable=SC2016
echo 'enable $all' >&6
exec 5>&- 6>&-
wait $prex && wrong "prex's status is 0"
wait $hits 2>/dev/null
says 'Target process finished'
says "process $hits: it has ended"

what="quit suspend: what prex has started stays stopped without it"
for i in 1 2 3 4 5; do
	prex -o f -s 128 -c 'quit suspend' "$HITS" "$TMP/count" hit=1
	left=$(pgrep -f "$HITS $TMP/count hit" || echo gone)
	stopped() { grep -q '^State:.T' "/proc/$left/status"; }
	[ "$left" != gone ] && wait_for 60 stopped 2>/dev/null ||
		wrong "it is $left: $(grep State "/proc/$left/status" 2>/dev/null)"
	[ "$left" = gone ] || kill -KILL "$left"
done

exit $bad
