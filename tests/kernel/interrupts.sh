#!/bin/sh
# interrupts.sh - time that interrupts take from a thread counts as its own, counts twice where one
# interrupts another, or is not told by vector.
. "$(dirname "$0")/kernel.sh"
need_program python3
prex=$TNF_BUILD/prex/prex
need_buffer
irq='irq.irq_handler_entry irq.irq_handler_exit irq.softirq_entry irq.softirq_exit'
[ ! -d /sys/kernel/tracing/events/irq_vectors ] || irq="$irq irq_vectors"
"$prex" -k >"$TMP/said" 2>&1 <<X || fail "prex -k: $(cat "$TMP/said")"
buffer alloc 32m
enable name=thread_state $irq
trace name=thread_state $irq
ktrace on
X
"$work" burn 500 >"$TMP/said" || fail "burn"
"$kpctl" off && "$kpctl" copy "$TMP/buf" || fail "ktrace off"
pid=$(said pid)

# The same from the events: from the first entry to the exit of the outermost.
"$tnfdump" --to jsonl --process "$pid" "$TMP/buf" >"$TMP/json" || fail "tnfdump"
python3 - "$TMP/json" >"$TMP/want" <<'P' || fail "events of process $pid"
import json, sys
depth = total = since = n = 0
for line in open(sys.argv[1]):
    e = json.loads(line)
    name = e.get("probe", "")
    if not name.startswith("irq"):
        continue
    if name.endswith("_entry"):
        since = e["time"] if depth == 0 else since
        depth += 1
        n += 1
    elif depth > 0:
        depth -= 1
        total += e["time"] - since if depth == 0 else 0
print(total // 1000, n)
P
"$tnfdump" --states --process "$pid" "$TMP/buf" >"$TMP/states" || fail "tnfdump --states"
column() { awk -v c="$1" 'NR == 1 { sub("TOTAL ms", "TOTAL"); for (i = 1; i <= NF; i++) if ($i == c) n = i; next }
	n { s += $n } END { printf "%.0f\n", s * 1000 }' "$TMP/states"; }
read -r want entries <"$TMP/want"
within "interrupts of the process" "$entries" 10 10000000
within "microseconds that interrupts took" "$(column INTERRUPT)" $((want * 9 / 10)) $((want * 11 / 10 + 1))
# No event tells the end of a system call here, so that part of it counts as SYSTEM.
within "microseconds that it computed" $(($(column USER) + $(column SYSTEM))) 250000 1000000000
"$tnfdump" --stats=vec --process "$pid" "$TMP/buf" >"$TMP/stats" || fail "tnfdump --stats"
grep -q ' irq.softirq vec=[0-9]' "$TMP/stats" || [ "$(grep -c softirq_entry "$TMP/json")" -eq 0 ] ||
	fail "softirqs by vector: $(cat "$TMP/stats")"

# Without these tracepoints there is no such column.
"$tnfdump" --states --probe thread_state "$TMP/buf" >"$TMP/states" || fail "tnfdump --states"
! "$tnfdump" --to tnf --probe thread_state --output "$TMP/less" "$TMP/buf" ||
	! "$tnfdump" --states "$TMP/less" | grep -q INTERRUPT || fail "interrupts that are not in the trace"
