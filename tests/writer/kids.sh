#!/bin/sh
# kids.sh - prex -p PID --children: children, and theirs, that were there are traced,
# with all their threads, and run on when prex has gone.
# Usage: kids.sh PREX TNFDUMP KIDS
. "${TNF_SOURCE:-.}/tests/lib.sh"

prex=$(realpath "$1") tnfdump=$(realpath "$2") kids=$(realpath "$3")
need_ptrace
[ -e /proc/self/task/$$/children ] || [ -e /proc/$$/task/$$/children ] || skip "kernel without CONFIG_PROC_CHILDREN"
scratch
cd "$TMP" || exit 1

all_there() { [ -s parent.pid ] && [ -s child.pid ] && [ -s grandchild.pid ] && [ -s other.pid ]; }
"$kids" &
job=$!
wait_for 60 all_there || fail "the processes do not start"
"$prex" -p "$(cat parent.pid)" --children -o t.tnf -s 256 -c 'enable $all; trace $all' >out 2>err || fail "prex: $(cat err)"
[ "$(grep -c 'is followed' err)" = 3 ] || fail "followed: $(cat err)"
has_both() {
	"$tnfdump" --no-header "$1" 2>/dev/null | grep -q "\"$2\"" &&
		"$tnfdump" --no-header "$1" 2>/dev/null | grep -q '"thread"'
}
wait_for 60 has_both t.tnf parent || fail "the parent: $("$tnfdump" t.tnf | tail -3)"
for who in child grandchild other; do
	wait_for 60 has_both "t.tnf.$(cat $who.pid)" "$who" || fail "$who: $(ls)"
done
touch stop
wait $job || fail "the parent ends with $?"
# Mistakes of the command line.
"$prex" --children true 2>err && fail "--children without -p"
grep -q -- '--children needs -p' err || fail "$(cat err)"
exit 0
