#!/bin/sh
# names.sh - a thread has the name that it had at the time of each event: a shell
# that becomes another program is a shell until then; also when the buffer has been
# overwritten since.
. "$(dirname "$0")/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_program python3

# named BYTES: events of the process by name, "COMM PROBE NUMBER" a line
named() {
	trace_begin "$1" syscall_start syscall_end
	tracefs_begin task/task_rename
	held "$work" syscalls 3000
	"$kpctl" filter add "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
	released
	wait "$held" || fail "work"
	"$kpctl" off || fail "off"
	tracefs_end
	"$tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
	"$kpctl" dealloc
	python3 "$TNF_SOURCE/tests/writer/steps.py" "$TMP/trace" tnf_kernel_schedule:1 ||
		fail "a record's size"
	rm -f "$TMP/csv"
	"$tnfdump" --to csv "$TMP/trace" >"$TMP/csv" 2>"$TMP/err" || fail "tnfdump: $(cat "$TMP/err")"
}
# The column of the thread's name, and the sum of events by it.
by_name() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		{ gsub(/"/, "", $col["comm"]); print $col["comm"] }' "$TMP/csv" | sort | uniq -c
}
of() { by_name | awk -v n="$1" '$2 == n { print $1 }'; }

named 8000000
renames=$(grep -c "task_rename: pid=$held oldcomm=sh newcomm=work" "$TMP/tracefs")
equal "renamed, by the kernel's own trace" "$renames" 1
time=$(sed -n "s/^named $held \([0-9]*\) sh$/\1/p" "$TMP/trace")
[ -n "$time" ] || fail "no former name in the context: $(grep -a '^named' "$TMP/trace" | head -n 3)"
echo "ok: its former name is known"
# The read() that it waited in ends, execve() begins, as a shell.
[ "$(by_name | awk '{ print $2 }' | tr '\n' ' ')" = "sh work " ] || fail "names: $(by_name)"
within "events of the shell" "$(of sh)" 3 100
within "events of the program" "$(of work)" 12000 13000
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
	{ gsub(/"/, "", $col["comm"]) } $col["comm"] == "work" { w = 1; next } w { bad++ }
	END { exit bad > 0 }' "$TMP/csv" || fail "a shell again"
echo "ok: first the shell, then the program"

# The program goes with time as the name does, also now that the process has ended.
programs=$("$tnfdump" --columns comm,program "$TMP/trace" | awk '$2 ~ "^/" { print $1, $2 }' | uniq)
[ "$programs" = "sh $(readlink -f /bin/sh)
work $(readlink -f "$work")" ] || fail "programs: $programs"
echo "ok: first the shell's file, then that of the program"

# A buffer of which the beginning is gone: the name's end is not in it.  All on one
# CPU: blocks that another has written stay.
cpus=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
taskset -cp "$cpus" $$ >/dev/null || fail "taskset"
named 131072
grep -aq "^named $held [0-9]* sh$" "$TMP/trace" || fail "forgotten with the buffer"
[ -z "$(of sh)" ] || fail "the beginning is there: $(by_name)"
echo "ok: overwritten, and still known"
