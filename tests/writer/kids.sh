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
# A shell has no probes; the first of its children that has some is the target, and what a
# subshell has started is found, too.
rm -f ./*.pid stop t.tnf*
sh -c '(sh -c "\"$0\" & wait \$!"; :) & wait $!; :' "$kids" &
job=$!
wait_for 60 all_there || fail "the processes do not start below a shell"
"$prex" -p $job -c quit >out 2>err
grep -qE 'taken by --children|libtnfprobe.so loaded' err || fail "a shell, without --children: $(cat err)"
"$prex" -p $job --children -o t.tnf -s 256 -c 'enable $all; trace $all' >out 2>err || fail "a shell: $(cat err)"
grep -q "process $job has no probes: its child $(cat parent.pid) has, and is the target" err || fail "a shell: $(cat err)"
[ "$(grep -c 'is followed' err)" = 3 ] || fail "followed, below a shell: $(cat err)"
wait_for 60 has_both t.tnf parent || fail "the parent below a shell: $("$tnfdump" t.tnf | tail -3)"
wait_for 60 has_both "t.tnf.$(cat other.pid)" other || fail "the other below a shell: $(ls)"
touch stop
wait $job || fail "the shell ends with $?"
# Mistakes of the command line.
"$prex" --children true 2>err && fail "--children without -p"
grep -q -- '--children needs -p' err || fail "$(cat err)"
exit 0
