#!/bin/sh
# disk.sh - guards: all who ask wait for the slowest disk of the fleet, since a machine notes
# a question on its disk before it answers; a note that is never put there.
# Usage: disk.sh TNFWATCH TNFDUMP STORY SLOW-DISK
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
slow=$(realpath "$4")
fleet_programs "$@"
if ldd "$W" | grep -q -e libasan -e libtsan; then
	skip "the library must come in front of the sanitizer's"
fi
server
asker
mkdir disk
: > disk/go
export TNF_DISK="$TMP/disk"
LD_PRELOAD=$slow
export LD_PRELOAD
agent web1 ''
unset LD_PRELOAD
wait_for 120 answers_all 1 || fail "no answer: $(cat try.out web1.log)"
id() { sed -n 's/^question //p' "$1/.question"; }
# The disk is asked to take it; whether it has is another line.
synced() { grep -q "^/.*/$1\$" disk/waits; }
# None of the questions so far is still under way to the disk.
all_synced() { [ "$(grep -c '^done .*/fleet$' disk/waits 2>/dev/null)" -eq "$(ls kept/web1/fleet | wc -l)" ]; }
wait_for 60 all_synced || fail "the directory is not synced: $(cat disk/waits)"

# The disk takes nothing: the answer is there, and all of what was asked for.
rm disk/go disk/waits
ask --wait 30s -o held > out 2>&1 || wrong "held: $(cat out)"
grep -q '^pin: 1 of 1 hosts' out || wrong "held: $(cat out)"
cmp -s rec/web1/shop.tnf held/web1/shop.tnf || wrong "held: not fetched"
# It is asked to take the note, and the name of it.
wait_for 60 synced "$(id held)" || wrong "no note: $(cat disk/waits)"
synced fleet && wrong "the name before the note: $(cat disk/waits)"
: > disk/go
wait_for 60 synced fleet || wrong "no name: $(cat disk/waits)"
# Half a note, as a machine has it that went down before: the question is answered anew.
kill -9 "$PID_web1"
: > "kept/web1/fleet/$(id held)"
rm -rf held/web1
start_agent web1
wait_for 120 answers_all 1 || wrong "web1 does not come back: $(cat try.out)"
ask --wait 30s -o held > out 2>&1 || wrong "half a note: $(cat out)"
cmp -s rec/web1/shop.tnf held/web1/shop.tnf || wrong "half a note: not fetched"
exit $bad
