#!/bin/sh
# tasks.sh - who lives is told by a program of ours: the same tasks, names, programs and
# control groups as /proc tells, which is asked where the kernel did not take the program.
. "$(dirname "$0")/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
pin=/sys/fs/bpf/tnf/prog/tell_tasks

need_program python3
# The program numbers tasks as the first pid name space does; in another one /proc is asked.
[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ] || skip "needs the first pid name space"
trace_begin 131072 syscall_start
[ -e "$pin" ] || skip "this kernel did not take the program"

# One whose name is made to confuse, and one with threads that have names of their own.
cp /bin/sleep "$TMP/a) R 1 \\101" || fail "cp"
"$TMP/a) R 1 \\101" 1000 &
odd=$!
python3 -c 'import ctypes, sys, threading
libc = ctypes.CDLL(None)
named = threading.Semaphore(0)
stop = threading.Event()
def run(name):
    libc.prctl(15, name)
    named.release()
    stop.wait()
for name in b"first thread", b"the other, 15+", b"a\nb":
    threading.Thread(target=run, args=(name,), daemon=True).start()
for i in range(3):
    named.acquire()
open(sys.argv[1], "w").close()
stop.wait()' "$TMP/named" &
threads=$!
at_exit "kill $odd $threads 2>/dev/null"
are_named() { [ -e "$TMP/named" ] && [ "$(cat "/proc/$odd/comm")" = 'a) R 1 \101' ]; }
wait_for 60 are_named || fail "names: $(cat "/proc/$odd/comm")"

"$kpctl" tasks >"$TMP/told" || fail "tasks"
for p in $$ $odd $threads; do
	grep -q "^$p $p $(awk '{ sub(/.*\) /, ""); print $2 }' "/proc/$p/stat") " "$TMP/told" ||
		fail "$p is not told: $(cat "$TMP/told")"
done
[ "$(grep -c "^[0-9]* $threads $$ " "$TMP/told")" = 4 ] || fail "threads: $(cat "$TMP/told")"
echo "ok: $(wc -l <"$TMP/told") tasks are told"

# lines FILE: what a snapshot says of the living.  The work of a kernel's worker changes.
lines() {
	"$tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
	grep -aE '^(task|program|cgroup) ' "$TMP/trace" |
		sed 's|^\(task .* kworker/[^-+]*\)[-+].*|\1|' | LC_ALL=C sort >"$1"
}
by_proc() { mv "$pin" "$pin-away" && lines "$1" && mv "$pin-away" "$pin" || fail "pin"; }
by_proc "$TMP/before"
lines "$TMP/ours"
by_proc "$TMP/after"

# Others come and go meanwhile.  What /proc says before and after, we must say; and nothing
# of a task that is in both where neither says it.
LC_ALL=C comm -12 "$TMP/before" "$TMP/after" >"$TMP/same"
LC_ALL=C comm -23 "$TMP/same" "$TMP/ours" >"$TMP/lacks"
[ -s "$TMP/same" ] && [ ! -s "$TMP/lacks" ] || fail "not said: $(cat "$TMP/lacks")"
awk 'FILENAME == ARGV[3] { if (($2 in task) && !(($1 " " $2) in said)) print; next }
	$1 == "task" { n[$2]++; if (n[$2] == 2) task[$2] } { said[$1 " " $2] }' \
	"$TMP/before" "$TMP/after" "$TMP/ours" >"$TMP/more"
[ ! -s "$TMP/more" ] || fail "too much: $(cat "$TMP/more")"
for kind in task program cgroup; do
	echo "ok: $(grep -c "^$kind " "$TMP/same") $kind lines as /proc has them"
done
grep -qx "program $odd $TMP/a) R 1 \\\\134101" "$TMP/ours" || fail "program: $(grep "^program $odd " "$TMP/ours")"
grep -qx "task [0-9]* $threads $$ a\\\\012b" "$TMP/ours" || fail "thread: $(grep "^task [0-9]* $threads " "$TMP/ours")"
