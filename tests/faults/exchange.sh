#!/bin/sh
# exchange.sh - a process that records is given another trace file.
#
# usage: exchange.sh PREX TNFDUMP HITS BARE
. "${TNF_SOURCE:-../..}/tests/faults/lib.sh"

# answered N: N lines "ready" have come, so all events before are behind us
answered() { [ "$(grep -c '^ready$' said)" -ge "$1" ]; }
step() { go; wait_for 60 answered "$1" || wrong "the target does not answer"; }
visit() {
	"$PREX" -p $hits "$@" > out 2> err < /dev/null ||
		wrong "prex $*: status is not 0"
}
has_context() {
	"$DUMP" --info "$1" > out
	grep -q 'tasks known: [1-9]' out || wrong "$1 has no context"
}

what="a new file and size, with the probes as they are"
target ready hit=100 ready hit=200 ready hit=50 ready hit=20
visit -o a -s 256 -c 'enable $all'
step 2
visit -o b -s 1024
grep -q warning err && wrong "a warning"
[ "$(stat -c %s b)" -ge 1048576 ] || wrong "b has $(stat -c %s b) bytes"
step 3
whole 100 a
has_context a

what="a new file of the old size, while the probes change"
visit -o c -c 'disable $all; list tracefile'
grep -qx "Current trace file is: $TMP/c" out || wrong "list tracefile"
step 4
whole 200 b
whole 0 c
[ "$(stat -c %s c)" -ge 1048576 ] || wrong "c has $(stat -c %s c) bytes"

what="the file that it has, under another name"
mkdir d
ln c d/link
visit -o d/link -c 'list tracefile'
[ "$(stat -c %i c)" = "$(stat -c %i d/link)" ] || wrong "it was replaced"
rm d/link
visit -o ./c -c 'enable $all'

what="files that cannot be"
"$PREX" -p $hits -o missing/e > out 2> err < /dev/null
[ $? -eq 1 ] || wrong "prex's status is not 1"
says 'missing/e.*No such file'
go; survived
whole 20 c

what="many exchanges while it records: every event is in one file"
target ready slow=1000000
visit -o f0 -s 256 -c 'enable $all'
go
for n in 1 2 3 4 5; do
	so_far=$(count)
	wait_for 60 counted $((so_far + 20)) || wrong "it stands still"
	visit -o f$n -s 256
done
kill -KILL $hits
wait $hits
for n in 0 1 2 3 4 5; do
	"$DUMP" f$n 2> err | sed -n 's/.* number: \([0-9]*\) .*/\1/p' >> numbers
	[ $n -eq 5 ] || has_context f$n
done
seq "$(count)" > expected
sed "$(count)q" numbers | cmp - expected > err || wrong "events are missing"

what="a target that is nearly always within a hit"
target ready for-ever
visit -o f0 -s 128 -c 'enable $all'
go
for n in 1 2 3; do
	visit -o f$n -s 128
	so_far=$(count)
	wait_for 60 counted $((so_far + 100)) || wrong "it stands still"
	"$DUMP" f$n 2> err | grep -q 'number: ' || wrong "f$n has no event"
done
kill -KILL $hits
wait $hits
exit $bad
