#!/bin/sh
# sample.sh - samples are missing, too many, of idle CPUs, of filtered processes, or do not say
# where a thread is.
. "$(dirname "$0")/kernel.sh"

# An emulated CPU that waits for its turn has no samples meanwhile.
least=$((40 / ${TNF_SLOW:-1}))

trace_begin 16000000 sample
# "kpctl" has ended when the process is looked at: the events of the clocks go on without it.
traced "$work" burn 1000
pid=$(said pid)
equal "samples of idle CPUs" "$(events 0 sample | wc -l)" 0
"$tnfdump" --to jsonl --process "$pid" "$TMP/buf" >"$TMP/samples" || fail "tnfdump"
# The innermost frame, unless an interrupt came in between, or the clock is read.
burn=$(($(said burn)))
grep -n '"user":\["0x' "$TMP/samples" | sed 's/^\([0-9]*\):.*"user":\["0x\([0-9a-f]*\).*/\1 0x\2/' |
	while read -r line pc; do [ $((pc)) -lt $burn ] || [ $((pc)) -ge $((burn + 256)) ] || echo "$line"; done >"$TMP/in"
# From the first one on: a slow machine takes long to start the program.
tail -n "+$(head -n 1 "$TMP/in")" "$TMP/samples" >"$TMP/second"
second=$(wc -l <"$TMP/second")
within "samples of a second on a CPU" "$second" $least 130
within "of these, in the function" "$(wc -l <"$TMP/in")" $((second * 3 / 4)) 130
within "of these, called by another function" "$(grep -c '"user":\["0x[0-9a-f]*","0x' "$TMP/second")" \
	$((second * 3 / 4)) 130

# Kernel frames, the innermost first: the loop of system calls is in the kernel for most of its time.
traced "$work" syscalls 2000000
pid=$(said pid)
within "samples in the kernel" "$(events "$pid" sample | grep -c 'stack: <tnf_symbols>')" 1 100000

# The copy tells which file is at the addresses of a process that lives.
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
grep -aq "^object $$ .* /" "$TMP/trace" || fail "no object of process $$"
echo "ok: objects of processes"

# ... and of one that has ended before, whose functions are known all the same, if the kernel shows
# the memory of a process that exits.
if [ "$(printf '6.16\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.16 ]; then
traced "$work" burn 500
pid=$(said pid)
! [ -e "/proc/$pid" ] || fail "$pid has not ended"
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
"$tnfdump" --to folded --process "$pid" "$TMP/trace" >"$TMP/folded" 2>"$TMP/err" || fail "tnfdump: $(cat "$TMP/err")"
grep -qE ';main[^;]*;(.*;)?burn[^;]*;sample ' "$TMP/folded" || fail "no functions of an ended process: $(cat "$TMP/folded")"
echo "ok: objects of a process that has ended"
fi

# The kernel's frames are within the program's, whose functions are told while it lives.
"$kpctl" on || fail "ktrace on"
"$work" syscalls 1000000000 >/dev/null &
pid=$!
at_exit "kill $pid 2>/dev/null"
in_kernel() {
	"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" &&
		"$tnfdump" --to folded --process $pid "$TMP/trace" >"$TMP/folded" 2>"$TMP/err" &&
		grep -qE ';(getppid|close|syscall)[^;]*;(.*;)?(do_syscall_64|el0_svc);.*;sample ' "$TMP/folded"
}
wait_for 60 in_kernel || fail "no stack from the program into the kernel: $(cat "$TMP/err" "$TMP/folded")"
kill $pid
"$kpctl" off || fail "ktrace off"
echo "ok: from the program into the kernel"

# A program without frame pointers: the callers come from its stack.
"$kpctl" set sample_stack 1 && "$kpctl" on || fail "sample_stack"
"$TNF_BUILD/tests/kernel/frameless" >/dev/null &
pid=$!
at_exit "kill $pid 2>/dev/null"
unwound() {
	"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" 2>"$TMP/err" &&
		"$tnfdump" --to folded --process $pid "$TMP/trace" >"$TMP/folded" 2>"$TMP/err" &&
		grep -qE ';main;outermost[^;]*;outer[^;]*;middle[^;]*;inner[^;]*;innermost[^;]*;sample ' "$TMP/folded"
}
wait_for 60 unwound || fail "no callers without frame pointers: $(cat "$TMP/err" "$TMP/folded")"
kill $pid
"$kpctl" off || fail "ktrace off"
"$tnfdump" --pretty --process $pid "$TMP/trace" 2>/dev/null | grep -q 'user: \[innermost[^ ]* inner.* outermost.* main+' ||
	fail "--pretty: no callers"
"$tnfdump" --to tnf --redact --process $pid "$TMP/trace" >"$TMP/secret" 2>/dev/null &&
	"$tnfdump" --to jsonl "$TMP/secret" | grep -q '"words":\[0,0,' || fail "--redact leaves the stack"
echo "ok: callers without frame pointers"
"$kpctl" set sample_stack 0

"$kpctl" set sample_rate 1000 || fail "set sample_rate"
! "$kpctl" set sample_rate 0 2>"$TMP/err" || fail "a rate of 0"
grep -q 'sample_rate: 0 is less than 1' "$TMP/err" || fail "$(cat "$TMP/err")"
traced "$work" burn 1000
within "at 1000 a second" "$(count "$(said pid)" sample)" $((second * 2)) $((1300 * ${TNF_SLOW:-1}))

# The filter holds.
"$kpctl" set sample_rate 99 && "$kpctl" filter add $$ && "$kpctl" filter on || fail "filter"
traced "$work" burn 300
equal "samples of a process that is filtered out" "$(count "$(said pid)" sample)" 0
