#!/bin/sh
# stacks.sh - events have no stack, frames of the tracing, those of another event, or not the
# program's; or the stack of a place that was seen before differs from the one that was walked.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex

# stacks_of NAME: the stacks in the copy, one a line: "stack", then "user", as JSON has them
stacks_of() { sed -n "s/.*\"$1\".*\"stack\":\(\[[^]]*\]\|null\),\"user\":\(\[[^]]*\]\|null\).*/\1 \2/p" "$TMP/json"; }

trace_begin 16000000 syscall_start strategy thread_queue
"$kpctl" stacks syscall_start 8 8 && "$kpctl" stacks strategy 16 0 && "$kpctl" stacks thread_queue 8 0 &&
	"$kpctl" stacks sched.sched_waking 8 0 && "$kpctl" enable sched.sched_waking || fail "stacks"
traced "$work" syscalls 3000
pid=$(said pid)

# Whatever is remembered: the same call has the same stack, each time.
case $(uname -m) in x86_64) getppid=110 ;; *) getppid=173 ;; esac
"$tnfdump" --to jsonl --process "$pid" --where "name == \"syscall_start\" && sysnum == $getppid" "$TMP/buf" >"$TMP/json" ||
	fail "tnfdump"
within "calls of getppid, with the shell's own" "$(wc -l <"$TMP/json")" 3000 3002
stacks_of syscall_start | grep -v null | sort | uniq -c | sort -rn >"$TMP/stacks"
equal "calls that have the same stacks" "$(awk 'NR == 1 { print $1 }' "$TMP/stacks")" 3000

# A file's data go to the disk: from the function that begins a request to the system call.
"$kpctl" on && dd if=/dev/zero of="$TMP/file" bs=4k count=64 conv=fsync 2>/dev/null && "$kpctl" off || fail "dd"
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
"$tnfdump" --pretty "$TMP/trace" >"$TMP/pretty" || fail "tnfdump --pretty"
if [ "$("$tnfdump" --stats "$TMP/trace" | grep -c ' strategy$')" -gt 0 ]; then
	"$tnfdump" --to folded --probe strategy "$TMP/trace" >"$TMP/folded" || fail "tnfdump --to folded"
	grep -q ';submit_bio[a-z_]*;strategy ' "$TMP/folded" || fail "requests: $(cat "$TMP/folded")"
	"$tnfdump" --stats=stack --probe strategy "$TMP/trace" | grep -q 'strategy stack=\[submit_bio' ||
		fail "no statistics by stack"
	"$tnfdump" --two-line --pretty --probe strategy "$TMP/trace" | grep -q '^ *device: .* stack: \[submit_bio' ||
		fail "no stack on the second line"
	"$tnfdump" --to perfetto --probe strategy "$TMP/trace" | grep -aq submit_bio || fail "no stack in perfetto"
	echo "ok: requests by stack"
else
	echo "$TMP is on no disk: no requests"
fi

# Stacks begin above the tracing, also when others trace the same, and in idle threads.
grep -E 'stack: \[(bpf_|__bpf|__traceiter|perf_trace|trace_call)' "$TMP/pretty" >"$TMP/ours"
head -n 3 "$TMP/ours"
equal "stacks that begin in the tracing" "$(wc -l <"$TMP/ours")" 0
within "stacks of wake-ups" "$(grep -c 'sched_waking.*stack: \[try_to_wake_up' "$TMP/pretty")" 1 1000000
"$tnfdump" --to jsonl --where 'name == "sched.sched_waking"' "$TMP/trace" >"$TMP/json" || fail "tnfdump"
equal "wake-ups without a stack" "$(stacks_of sched.sched_waking | grep -c '^null')" 0

# A probe that has no stacks when it begins, while programs are in the kernel that cannot take any;
# a function of a program: where it was, and who has called it.
kernel_off
# Others' calls fill it as well, until tracing is off.
"$kpctl" alloc 64000000 >/dev/null && "$kpctl" enable syscall_end && "$kpctl" on || fail "without stacks"
"$kpctl" stacks syscall_end 8 0 || fail "stacks of a probe that records"
"$prex" -k >"$TMP/said" 2>&1 <<X || fail "prex -k: $(cat "$TMP/said")"
import '$work'
trace function=burn_here ustack=4
enable function=burn_here
ktrace on
X
! "$prex" -k -c 'trace name=thread_state stack=4' >"$TMP/said" 2>&1 </dev/null || fail "stacks of thread_state"
grep -q 'thread_state: has no stacks' "$TMP/said" || fail "$(cat "$TMP/said")"
"$work" burn 10 >"$TMP/said" && "$prex" -k -c 'ktrace off' >/dev/null && "$kpctl" copy "$TMP/buf" || fail "burn"
pid=$(said pid) burn=$(($(said burn)))
"$tnfdump" --to jsonl --process "$pid" "$TMP/buf" >"$TMP/json" || fail "tnfdump"
within "stacks that begin later" "$(stacks_of syscall_end | grep -vc '^null')" 1 100000
equal "ends of calls without one" "$(stacks_of syscall_end | grep -c '^null')" 0
user=$(stacks_of burn_here_entry | sed 's/.* \["\(0x[0-9a-f]*\)".*/\1/')
equal "the program's stack begins in the function" "$((user))" "$burn"
"$kpctl" list | grep -q 'name burn_here_entry;.*;ustack 4;' || fail "the list: $("$kpctl" list | grep burn_here)"

# A second lap of events with stacks, over events without any: each block is whole.
kernel_off
"$kpctl" alloc 600000 >/dev/null && "$kpctl" enable syscall_start && "$kpctl" on &&
	"$work" syscalls 30000 >/dev/null && "$kpctl" stacks syscall_start 8 8 &&
	"$work" syscalls 30000 >/dev/null && "$kpctl" off && "$kpctl" copy "$TMP/buf" || fail "laps"
"$tnfdump" --info "$TMP/buf" >"$TMP/info" 2>&1 || fail "tnfdump --info"
within "laps" "$(sed -n 's/.*laps: *//p' "$TMP/info")" 2 1000
equal "damaged blocks" "$(grep -c 'damage' "$TMP/info")" 0
