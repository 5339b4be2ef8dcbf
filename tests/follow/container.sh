#!/bin/sh
# container.sh - prex puts both numbers of a process in another pid namespace into
# its trace.
# Usage: container.sh TNFDUMP PREX VICTIM
. "${TNF_SOURCE:-.}/tests/lib.sh"
need_root
need_ptrace
need_program unshare
tnfdump=$1 prex=$2 victim=$3
scratch

unshare --pid --fork --mount-proc "$victim" 1000000 2000 &
outer=$!
trap 'kill -9 $pid $outer 2>/dev/null; rm -rf "$TMP"' EXIT
pid=
started() { pid=$(pgrep -P $outer) && [ "$(cat "/proc/$pid/comm")" = busy ]; }
wait_for 60 started || skip "no pid namespace"
"$prex" -p "$pid" -o "$TMP/t.tnf" -c 'enable $all; continue' > "$TMP/out" 2>&1 &
prexpid=$!
recorded() { [ -s "$TMP/t.tnf" ] && "$tnfdump" "$TMP/t.tnf" 2>/dev/null | grep -q tick; }
wait_for 60 recorded || fail "nothing recorded: $(cat "$TMP/out")"
"$tnfdump" --follow "$pid" --columns=pid,host-pid,comm,probe > "$TMP/live" &
follower=$!
wait_for 60 grep -q tick "$TMP/live" || fail "nothing is followed"
# The first process of a namespace ends by no other signal.
kill -9 "$pid"
wait $prexpid
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 137 ] || fail "prex: $rc: $(cat "$TMP/out")"
wait $follower || fail "--follow"
for lines in "$TMP/live" "$TMP/late"; do
	[ "$lines" = "$TMP/live" ] ||
		"$tnfdump" --columns=pid,host-pid,comm,probe "$TMP/t.tnf" > "$lines"
	awk -v p="$pid" '/tick/ { n++; if ($1 != 1 || $2 != p || $3 != "busy") bad = 1 }
		END { exit n == 0 || bad }' "$lines" || fail "$lines: $(head -6 "$lines")"
done
echo "a container's process has both numbers"
