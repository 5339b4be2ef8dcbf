#!/bin/sh
# fill.sh - prex -k's "buffer alloc SIZE fill": the first events stay, each that came later is
# counted, and nothing is overwritten, also when prex has ended, by definitions and by who
# copies; what was made without it is a ring, as ever.
. "$(dirname "$0")/kernel.sh"
need_program jq
prex=$TNF_BUILD/prex/prex tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_buffer
k() { "$prex" -k -c "$1" >"$TMP/out" 2>"$TMP/err" || fail "$1: $(cat "$TMP/out" "$TMP/err")"; }
# Prints the events that are there, and those that came later.
look() {
	"$tnfxtract" "$TMP/buf" 2>"$TMP/said.lost" || fail "tnfxtract: $(cat "$TMP/said.lost")"
	# The wall clock and the names are as each copy found them.
	"$tnfdump" --to jsonl "$TMP/buf" | grep '"probe"' | sed 's/"wall":"[^"]*",//; s/"comm":"[^"]*",//' >"$TMP/events"
	"$tnfdump" --info=json "$TMP/buf" >"$TMP/info" || fail "--info"
	kept=$(grep -c . "$TMP/events")
	late=$(jq '.dropped_by_reason["came when the file was full"]' "$TMP/info")
	other=$(jq ".dropped - $late" "$TMP/info")
}
# One process alone is recorded, whose calls are counted by the kernel's own trace, too.
calls() {
	"$work" syscalls "$1" >"$TMP/said" || fail "work: $(cat "$TMP/said")"
}
begin() {
	k "buffer alloc $1; trace name=syscall_start; enable name=syscall_start
pfilter add name=work; pfilter on; ktrace on"
}

begin '512k fill'
k buffer
grep -q 'stops when it is full' "$TMP/out" || fail "buffer: $(cat "$TMP/out")"
calls 100
look
[ "$late" -eq 0 ] && [ "$other" -eq 0 ] || fail "$late and $other are missing before it is full"
first=$kept
within "events of the first" "$first" 200 400

# As many again as fit some times: the sum is what was called.
tracefs_begin raw_syscalls/sys_enter
echo 0 >"$ring/tracing_on"
echo >"$ring/trace"
held "$work" syscalls 20000
echo "$held" >"$ring/set_event_pid"
echo 1 >"$ring/tracing_on"
released
wait "$held"
tracefs_end
counted=$(grep -c 'sys_enter:' "$TMP/tracefs")
cp "$TMP/events" "$TMP/first"
look
[ "$other" -eq 0 ] || fail "$other were lost for another reason: $(cat "$TMP/info")"
# The shell that became the program had another name.
within "kept and late" $((kept + late - first)) $((counted - 60)) "$counted"
[ "$late" -gt 5000 ] || fail "it is not full: $late"
k buffer
grep -q 'It is full' "$TMP/out" && grep -q "^Events lost: $late " "$TMP/out" || fail "buffer: $(cat "$TMP/out")"
grep -q 'after the buffer was full' "$TMP/said.lost" || fail "tnfxtract says: $(cat "$TMP/said.lost")"
head -n "$first" "$TMP/events" | cmp - "$TMP/first" || fail "the first events have changed"
jq -e '.complete_from_ns == .first_ns' "$TMP/info" >/dev/null || fail "--info: $(cat "$TMP/info")"
# The two calls of the loop take turns, up to where the first CPU had no room left: another
# one may have had some for longer.
grep "\"pid\":$(said pid)," "$TMP/events" | jq .args.sysnum >"$TMP/calls"
awk -v most=$((kept - first - 4000)) 'NR > most { exit } $1 == 110 || $1 == 173 { on = 1 }
	on && $1 == last { bad++ } { last = $1 } END { exit bad > 0 }' "$TMP/calls" ||
	fail "calls of the loop are missing in between"

# Nothing that is done afterwards takes a block: another probe, off and on, a mark.
cp "$TMP/events" "$TMP/before"
"$prex" -k -c 'ktrace off; ktrace on; trace sched.sched_wakeup; enable sched.sched_wakeup' >"$TMP/out" 2>&1
# The block of the CPU that prex runs on may have room for some marks.
no_room='error in marking: mark: it was not written: the buffer had no room'
for i in $(seq 200); do
	"$prex" -k -c 'mark too late' >"$TMP/out" 2>"$TMP/err" || break
done
grep -q "$no_room" "$TMP/err" || fail "mark $i: $(cat "$TMP/err")"
calls 100
look
head -n "$(grep -c . "$TMP/before")" "$TMP/events" | cmp - "$TMP/before" || fail "events have gone"

# Without "fill" it is a ring again.
k 'ktrace off; buffer dealloc'
begin 512k
calls 30000
k 'ktrace off; buffer'
grep -q full "$TMP/out" && fail "a ring that is full: $(cat "$TMP/out")"
look
[ "$late" -eq 0 ] || fail "a ring has lost $late"
k 'buffer dealloc'
