#!/bin/sh
# table.sh - what the kernel's probes count beside what others count, as one table.
#
# usage: TNF_BUILD=build table.sh [NAME...]	syscall thread sched fault io swap filter names
#
# Runs the tests and makes a row of each line that compares: the test, what is
# compared, ours, and the independent count (of getrusage, /proc, the device's own
# account, a tracefs instance, or of the workload itself), or between which counts
# ours has to be because others use the machine as well.  Ends with the rows that
# are wrong.  Needs root, and some minutes.
set -u
: "${TNF_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TNF_BUILD:=$TNF_SOURCE/build}"
export TNF_SOURCE TNF_BUILD
[ $# -gt 0 ] || set -- syscall thread sched fault io swap filter names
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM

echo "# $(uname -sr), $(date -u +%Y-%m-%d)"
echo "| test | what | ours | independent |"
echo "|---|---|---:|---:|"
wrong=0 skipped=
for t; do
	sh "$TNF_SOURCE/tests/kernel/$t.sh" >"$out" 2>&1
	status=$?
	awk -v t="$t" '
	/^ok: / {
		sub(/^ok: /, "")
		if (!match($0, /: -?[0-9]+( \([^)]*\))?$/)) next
		what = substr($0, 1, RSTART - 1); n = substr($0, RSTART + 2)
		other = n
		if (i = index(n, " (")) {
			other = substr(n, i + 2, length(n) - i - 2)
			n = substr(n, 1, i - 1)
		}
		printf "| %s | %s | %s | %s |\n", t, what, n, other
	}
	/^lost: / { printf "| %s | %s | | |\n", t, $0 }
	/^FAIL/ { sub(/^FAIL: */, ""); printf "| %s | %s | wrong | |\n", t, $0 }' "$out"
	case $status in
	0) ;;
	77) skipped="$skipped $t" ;;
	*) wrong=$((wrong + 1)) ;;
	esac
done
echo
echo "tests with a wrong row: $wrong${skipped:+; not run here:$skipped}"
[ "$wrong" -eq 0 ]
