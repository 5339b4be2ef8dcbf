#!/bin/sh
# Guards: the trace in a core, or of a stopped program in gdb, cannot be read, or is another's.
# usage: core.sh TNFDUMP BAKERY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
need_program gdb gcore
scratch
tnfdump=$(realpath "$1") bakery=$(realpath "$2")
cd "$TMP" || exit 1
PATH=$(dirname "$tnfdump"):$PATH
script=$TNF_SOURCE/tools/gdb/tnf-gdb.py

pid=''
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; test_end' EXIT
# begin: a program that records, as process $pid; stopped, so that its trace stays as it is
begin() {
	LD_PRELOAD=$TNF_BUILD/libtnfprobe/libtnfprobe.so.1 TNF_ENABLE=order TNF_FILE=$TMP/own.tnf \
		"$bakery" -s 1000 >/dev/null &
	pid=$!
	wait_for 60 recorded || fail "nothing is recorded"
	kill -STOP $pid
	wait_for 60 is_stopped || fail "the program does not stop"
	last=$("$tnfdump" --no-header --columns lwpid,probe,args own.tnf | tail -n 1)
}
recorded() { "$tnfdump" --no-header own.tnf 2>/dev/null | grep -q order_end; }
is_stopped() { ! grep -h '^State:' /proc/$pid/task/*/status | grep -qv '[tT] ('; }
end() { kill -9 $pid; wait $pid 2>/dev/null; pid=''; }
# same CORE FILE: the core has what was recorded until the stop, and nothing that is not in the file
same() {
	"$tnfdump" --no-header --columns lwpid,probe,args "$1" >out 2>err
	grep -qxF "$last" out || fail "$1 lacks $last: $(cat err)"
	"$tnfdump" --no-header --columns lwpid,probe,args "$2" | grep -qxF "$(tail -n 1 out)" ||
		fail "$1: $(tail -n 1 out) is not in $2"
}

begin
gdb -batch -p $pid -ex "source $script" -ex 'tnf last 3' >out 2>err || fail "gdb: $(cat err)"
[ "$(grep -c 'order_' out)" -eq 3 ] || fail "tnf last 3: $(cat out err)"
grep -qF "$(echo "$last" | sed 's/.*order_[a-z]* *//')" out || fail "tnf last: $(cat out), recorded was: $last"
# Each line is of the thread that was selected.
lwpid=${last#"${last%%[! ]*}"} lwpid=${lwpid%% *}
cat >thread.py <<END
import gdb
[t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == $lwpid]
END
gdb -batch -p $pid -ex "source $script" -ex 'source thread.py' -ex 'tnf last 5 thread' \
	-ex 'tnf dump --stats' >out 2>err || fail "gdb: $(cat err)"
awk -v t="$lwpid" '/ order_[a-z]* .*: / { n++; if ($2 != t) exit 2 } END { exit n == 0 }' out ||
	fail "tnf last 5 thread: not of $lwpid: $(cat out err)"
grep -q 'mean us' out || fail "tnf dump --stats: $(cat out err)"

# A core that names the file, and one that has what was mapped.
gcore -o core $pid >/dev/null 2>&1 || fail "gcore"
echo 0x7f >/proc/$pid/coredump_filter
gcore -o whole $pid >/dev/null 2>&1 || fail "gcore"
same core.$pid own.tnf
grep -q 'own.tnf, which the process had mapped' err || fail "it is not told whose the trace is: $(cat err)"
gdb -batch -ex "source $script" -ex 'tnf last 3' "$bakery" core.$pid >out 2>err
[ "$(grep -c 'order_' out)" -eq 3 ] || fail "tnf last 3 of a core: $(cat out err)"
mv own.tnf kept.tnf
same whole.$pid kept.tnf
[ ! -s err ] || fail "a core that has the trace: $(cat err)"
"$tnfdump" core.$pid >out 2>err && fail "a trace that is gone is read"
grep -q 'the file is gone' err || fail "$(cat err)"
head -c 100000 whole.$pid >short.core
"$tnfdump" short.core >out 2>err && fail "half a core is read"
end

# The kernel's own.
case $(cat /proc/sys/kernel/core_pattern) in
core|core.%p)
	begin
	prlimit --core=unlimited --pid $pid
	kill -SEGV $pid
	kill -CONT $pid
	wait $pid
	pid=''
	core=$(find . -name 'core*' -newer short.core | head -n 1)
	if [ -n "$core" ]; then
		"$tnfdump" --no-header --columns lwpid,probe,args "$core" >out 2>err
		grep -qF "$last" out || fail "$core: $(cat err) lacks $last"
		echo "ok: the kernel's core"
	else
		echo "not tried: the kernel wrote no core"
	fi ;;
*)	echo "not tried: cores go elsewhere" ;;
esac
