#!/bin/sh
# mark.sh - prex -k's "mark": once in the buffer, whole, at its time, whatever the filter
# says; said where nothing is recorded; and no probe is on afterwards that was not before.
. "$(dirname "$0")/kernel.sh"
need_program jq
need_program python3
prex=$TNF_BUILD/prex/prex tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_buffer
k() { "$prex" -k -c "$1" >"$TMP/out" 2>"$TMP/err"; }
marks() {
	"$tnfxtract" "$TMP/buf" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
	"$tnfdump" --to jsonl "$TMP/buf" | grep '"probe":"mark"' >"$TMP/events"
	jq -r '.args.text' "$TMP/events"
}
now() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }

k 'mark x' && fail "a mark without a buffer: $(cat "$TMP/out")"
k 'buffer alloc 8m; mark x' && fail "a mark while tracing is off"
grep -q 'tracing is off' "$TMP/err" || fail "$(cat "$TMP/err")"

# Processes are filtered, and prex is none of them.
k 'enable name=thread_exit; trace name=thread_exit; pfilter add 1; pfilter on; ktrace on' ||
	fail "$(cat "$TMP/err")"
before=$(now)
k 'mark deploy 812 begins' || fail "$(cat "$TMP/err")"
after=$(now)
k "mark 'the second: in one session'; mark the third; list probes name=mark" || fail "$(cat "$TMP/err")"
grep -q 'name=mark enable=off' "$TMP/out" || fail "its probe: $(cat "$TMP/out")"
marks >"$TMP/got"
printf '%s\n' 'deploy 812 begins' 'the second: in one session' 'the third' >"$TMP/want"
cmp "$TMP/got" "$TMP/want" || fail "marks: $(cat "$TMP/got")"
t=$(head -n 1 "$TMP/events" | jq .time)
[ "$t" -ge "$before" ] && [ "$t" -le "$after" ] || fail "at $t, not between $before and $after"
head -n 1 "$TMP/events" | jq -e '.pid as $p | .args.by | test(" by prex\\[\($p)\\]$")' >/dev/null ||
	fail "by: $(head -n 1 "$TMP/events")"

# Numbers are members; each list of names is a probe.
k "mark 'queue' length=17 rest='-1'; mark 'queue' length=18" || fail "$(cat "$TMP/err")"
k "mark 'all' a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j='-10'; mark 'queue' length=19" || fail "$(cat "$TMP/err")"
marks >/dev/null
got=$(tail -n 4 "$TMP/events" | jq -c '[.args[] | numbers]' | tr '\n' ' ')
[ "$got" = '[17,-1] [18] [1,2,3,4,5,6,7,8,9,-10] [19] ' ] || fail "numbers: $got"

# Many, beside events; and they are there when tracing is off.
k 'pfilter add name=work; enable syscall; trace syscall' || fail "$(cat "$TMP/err")"
"$work" syscalls 20000 >"$TMP/said" &
i=0
while [ $i -lt 50 ]; do i=$((i + 1)); echo "mark $i of many"; done | "$prex" -k >"$TMP/out" 2>"$TMP/err" ||
	fail "$(cat "$TMP/err")"
wait $!
k 'ktrace off' || fail "$(cat "$TMP/err")"
equal "marks" "$(marks | grep -c 'of many$')" 50
k "mark $(printf '%0256d' 0)" && fail "256 bytes"
k 'ktrace on; mark '"$(printf '%0255d' 0)"'; ktrace off' || fail "$(cat "$TMP/err")"
python3 "$TNF_SOURCE/tests/writer/steps.py" "$TMP/buf" tnf_string:50 || fail "a record's size"
equal "bytes of the longest" "$(marks | tail -n 1 | tr -d '\n' | wc -c)" 255

# A frozen buffer records nothing until tracing is switched on, whoever changes probes meanwhile;
# who looks is told why, and so is who reads a copy.
getppid=110
[ "$(uname -m)" != aarch64 ] || getppid=173
frozen() { "$tnfdump" --info=json "$TMP/buf" | jq -r '.frozen // empty'; }
k 'freeze too late' && fail "a freeze while tracing is off"
k "enable syscall; trace syscall; ktrace on; freeze 'the first: timeout'; mark x" && fail "a mark in it"
k 'untrace syscall; trace syscall; ktrace' || fail "$(cat "$TMP/err")"
grep -q '^Tracing is off: frozen .* seconds ago: the first: timeout$' "$TMP/out" || fail "$(cat "$TMP/out")"
last() { "$tnfxtract" "$TMP/buf" || fail "tnfxtract"; "$tnfdump" --to jsonl "$TMP/buf" | tail -n 1 | jq .time; }
t=$(last)
"$work" syscalls 2000 >"$TMP/said"
equal "last event of a frozen buffer" "$(last)" "$t"
[ "$(frozen)" = 'the first: timeout' ] || fail "the reason: $(frozen)"
k "freeze $(printf '%0128d' 0)" && fail "a reason of 128 bytes"
k 'ktrace on' || fail "$(cat "$TMP/err")"
"$work" syscalls 2000 >"$TMP/said"
[ "$(last)" -gt "$t" ] || fail "it does not go on"
[ -z "$(frozen)" ] || fail "the reason of a buffer that goes on: $(frozen)"

# A condition freezes: the event that meets it is the last one, and what came before is there.
k 'ktrace off; pfilter add name=work; pfilter on' || fail "$(cat "$TMP/err")"
k "enable raw_syscalls.sys_enter; trace raw_syscalls.sys_enter where 'id = $getppid' then freeze
	enable name=syscall_end; trace name=syscall_end; ktrace on" || fail "$(cat "$TMP/err")"
"$work" syscalls 2000 >"$TMP/said"
k 'list probes name=raw_syscalls.sys_enter; list then probes name=raw_syscalls.sys_enter; ktrace' ||
	fail "$(cat "$TMP/err")"
grep -q "^Tracing is off: frozen .* seconds ago: raw_syscalls.sys_enter where id = $getppid$" "$TMP/out" &&
	grep -q '^then=freeze' "$TMP/out" || fail "$(cat "$TMP/out")"
t=$(last)
"$tnfdump" --to jsonl --last 1s "$TMP/buf" >"$TMP/json"
[ "$(tail -n 1 "$TMP/json" | jq -r '"\(.probe) \(.args.id)"')" = "raw_syscalls.sys_enter $getppid" ] ||
	fail "the last event: $(tail -n 1 "$TMP/json")"
equal "events that meet the condition" "$(grep -c sys_enter "$TMP/json")" 1
within "events before it" "$(grep -c syscall_end "$TMP/json")" 5 100000
[ "$(frozen)" = "raw_syscalls.sys_enter where id = $getppid" ] || fail "the reason: $(frozen)"
k 'trace raw_syscalls.sys_enter; ktrace on' || fail "$(cat "$TMP/err")"
"$work" syscalls 20 >"$TMP/said"
[ "$(last)" -gt "$t" ] && [ -z "$(frozen)" ] || fail "it freezes, though nobody asks for that any more"
k 'trace name=syscall_start then freeze' && fail "a probe that has no condition freezes"

# A call that takes long freezes: no shorter call has an end in the buffer, and nothing comes
# behind the end of the long one, whose beginning is there.
k "ktrace off; pfilter delete 1; pfilter delete name=work; pfilter add name=sleep; enable name=syscall_start; trace name=syscall_start
	trace name=syscall_end where 'duration > 1s' then freeze; ktrace on" || fail "$(cat "$TMP/err")"
sleep 0.001; sleep 0; sleep 1.5; sleep 0.001
k 'list where then probes name=syscall_end; ktrace' || fail "$(cat "$TMP/err")"
grep -q "^where='duration > 1s' then=freeze" "$TMP/out" || fail "$(cat "$TMP/out")"
t=$(last)
[ "$(frozen)" = "syscall_end where duration > 1s" ] || fail "the reason: $(frozen)"
"$tnfdump" --to jsonl "$TMP/buf" >"$TMP/json"
jq -sr 'map(select(.comm == "sleep")) | (map(select(.probe == "syscall_end")) | length) as $n | .[-1] as $last |
	(map(select(.probe == "syscall_start" and .lwpid == $last.lwpid)) | .[-1]) as $start |
	"\($n) \($last.probe) \($last.time - $start.time > 1000000000)"' "$TMP/json" >"$TMP/long"
[ "$(cat "$TMP/long")" = "1 syscall_end true" ] || fail "the long call: $(cat "$TMP/long")"
k 'trace name=syscall_end; ktrace on' || fail "$(cat "$TMP/err")"
sleep 0
last >/dev/null
[ -z "$(frozen)" ] || fail "it freezes, though nobody asks for that any more"
"$tnfdump" --to jsonl "$TMP/buf" >"$TMP/json"
within "ends of short calls without the condition" \
	"$(jq -s --argjson t "$t" 'map(select(.probe == "syscall_end" and .time > $t)) | length' "$TMP/json")" 5 100000

# A call whose beginning was not seen is not long: the probe was off when it began, and the same
# thread's call before, which began long ago, ended at that time, too.
mkfifo "$TMP/bytes"
python3 -u -c 'import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for i in range(5):
    print(i)
    os.read(fd, 1)' "$TMP/bytes" >"$TMP/reads" & reader=$!
at_exit "kill $reader 2>/dev/null"
exec 8>"$TMP/bytes"
is_at() { [ "$(tail -n 1 "$TMP/reads")" = "$1" ] && is_asleep $reader; }
byte() { printf x >&8; wait_for 60 is_at "$1" || fail "read $1: $(cat "$TMP/reads")"; }
wait_for 60 is_at 0 || fail "the reader does not read"
k "pfilter delete name=sleep; pfilter add $reader; trace name=syscall_end where 'duration > 2s' then freeze
	ktrace on" || fail "$(cat "$TMP/err")"
byte 1
k 'disable name=syscall_end' || fail "$(cat "$TMP/err")"
sleep 2.2
byte 2
k 'enable name=syscall_end' || fail "$(cat "$TMP/err")"
byte 3
k ktrace && grep -q '^Tracing is on' "$TMP/out" || fail "a call whose beginning was not seen: $(cat "$TMP/out")"
sleep 2.2
byte 4
k ktrace && grep -q 'frozen .*: syscall_end where duration > 2s$' "$TMP/out" || fail "a long call: $(cat "$TMP/out")"
k 'ktrace on' || fail "$(cat "$TMP/err")"
k 'freeze the end; buffer dealloc; buffer' || fail "$(cat "$TMP/out" "$TMP/err")"
k 'buffer alloc 1m' || fail "$(cat "$TMP/err")"
k 'buffer dealloc' || fail "$(cat "$TMP/err")"
