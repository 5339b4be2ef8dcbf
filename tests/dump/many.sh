#!/bin/sh
# many.sh - many processes, whose numbers an unkeyed hash would put in one place:
# four times as many take about four times the time, not sixteen.
# usage: many.sh TNFDUMP MKTRACE
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
scratch
tnfdump=$1 mktrace=$2
for n in 15000 60000; do
	"$mktrace" -k -P -b 256 -p none -n $n -t $n "$TMP/$n.tnf" || fail "mktrace"
done

# Each process is told once.
[ "$("$tnfdump" --stats=pid "$TMP/15000.tnf" | grep -c ' pid=')" = 15000 ] || fail "--stats=pid"
[ "$("$tnfdump" --tree "$TMP/15000.tnf" | grep -c work_none)" = 15000 ] || fail "--tree"

# The CPU's time in user mode, whatever else runs.  A machine that slows down between two runs
# makes one pair of them differ, not each of ten.
exec python3 - "$tnfdump" "$TMP/15000.tnf" "$TMP/60000.tnf" <<'END'
import os, subprocess, sys

def user_seconds(option, path):
    p = subprocess.Popen([sys.argv[1], option, path], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    if status != 0:
        sys.exit(f'{option} {path}: wait status {status}')
    return used.ru_utime

for option in '--tree', '--to=chrome', '--states', '--stats=pid', '--info', '--to=folded':
    for _ in range(10):
        small, large = (user_seconds(option, path) for path in sys.argv[2:])
        print(f'{option}: {small:.3f} s, {large:.3f} s')
        # Less than 0.02 s is not measured well.
        if large <= 9 * max(small, 0.02):
            break
    else:
        sys.exit(f'{option}: four times the processes take nine times the time, in ten runs of ten')
END
