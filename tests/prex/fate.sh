#!/bin/sh
# fate.sh - how the target has ended is how prex ends, in a script.
#
# usage: fate.sh PREX ENDS FORKER
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") ends=$(realpath "$2") forker=$(realpath "$3")
export HOME="$TMP"
cd "$TMP" || exit 1

# word of ends, status, what is said of a signal
fate() {
	echo "$1" | "$prex" -o f.tnf -c continue "$ends" > out 2> err
	status=$?
	[ "$status" -eq "$2" ] || fail "$1: status $status, not $2: $(cat err)"
	if [ -n "$3" ]; then
		grep -qx ".*: target process was killed by signal $3" err ||
			fail "$1: $(cat err)"
	else
		grep -q 'killed by' err && fail "$1: $(cat err)"
	fi
}
fate 'exit=0' 0
fate 'exit=3' 3
fate 'kill=9' 137 '9 (SIGKILL)'
fate 'kill=15' 143 '15 (SIGTERM)'
fate 'kill=40' 168 40

# A mistake of the user is prex's own failure.
"$prex" -o f.tnf -c 'nonsense; continue' "$ends" < /dev/null > out 2> err
status=$?
[ "$status" -eq 1 ] || fail "mistake: status $status"

# A shell that becomes the program: nothing is traced, and that is told.
"$prex" -o f.tnf -c 'continue' sh -c "exec $forker 1" > out 2> err
status=$?
[ "$status" -eq 1 ] || fail "exec: status $status"
grep -qx "Target process exec'd" out || fail "exec: $(cat out)"
grep -q 'had no probes and has become another program, which is not traced' \
	err || fail "exec: $(cat err)"

# One with probes may do so; as on Solaris.
echo "exec=/bin/true" | "$prex" -o f.tnf -c continue "$ends" > out 2> err ||
	fail "exec with probes: $(cat err)"

# A file is named, and nothing would be in it.
silent='no probe is both enabled and traced: nothing is recorded'
for c in 'continue' 'enable $all; disable $all; continue' 'enable $all; untrace $all; continue'; do
	"$prex" -o f.tnf -c "$c" "$ends" < /dev/null > out 2> err
	grep -q "warning: $silent" err || fail "$c: $(cat err)"
done
for c in 'enable $all; continue' 'enable exit; disable exit; enable $all; continue'; do
	"$prex" -o f.tnf -c "$c" "$ends" < /dev/null > out 2> err
	grep -q "$silent" err && fail "$c: $(cat err)"
done
"$prex" -c continue "$ends" < /dev/null > out 2> err
grep -q "$silent" err && fail "no file is named: $(cat err)"

# prex starts its target with what prex itself was started with: signals ignored and
# blocked.
look='grep -E "^Sig(Ign|Blk)" /proc/self/status'
ignoring sh -c "$look" > alone < /dev/null
ignoring "$prex" -o f.tnf -c continue sh -c "$look" < /dev/null 2> err | grep '^Sig' > under
[ -s alone ] || fail "signals: no look"
cmp alone under || fail "signals: $(cat alone under err)"
