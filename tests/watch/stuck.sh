#!/bin/sh
# Guards: targets that never answer: a frozen one, one whose program lies on a file system that
# does not answer, a stopped one.  tnfwatch watches the others, and ends on SIGTERM.
# stuck.sh TNFWATCH SHOP TNFDUMP SILENT-RUN
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"
silent=$(realpath "$4")

conf_shop 2s 256k 10ms
cat >>"$CONF" <<T
[process stuck]
comm = stuck
enable = order
size = 256k
T
cp "$SHOP" "$TMP/stuck" || fail "no copy"

group=
thaw() { [ -z "$group" ] || { echo 0 >"$group/cgroup.freeze"; }; }
trap 'thaw; exec 7>&-; watch_end; [ -z "$group" ] || rmdir "$group"' EXIT
stuck=

# Frozen, if there is a cgroup for that.
for d in /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -z "$group" ] && [ -e "$d/cgroup.procs" ] && mkdir "$d/tnf-watch-stuck-$$" 2>/dev/null || continue
	group=$d/tnf-watch-stuck-$$
	"$TMP/stuck" 200 >/dev/null 2>&1 & frozen=$!
	STARTED="$STARTED $frozen" stuck="$stuck $frozen"
	echo "$frozen" >"$group/cgroup.procs" && echo 1 >"$group/cgroup.freeze" ||
		fail "it is not frozen"
	wait_for 60 grep -q '^frozen 1' "$group/cgroup.events" || fail "it is not frozen"
done
[ -n "$group" ] || echo "no cgroup that freezes"

# Silent, if there is FUSE: whoever reads the program, or asks for its size, waits.
mkfifo "$TMP/words"
"$silent" "$TMP/stuck" "$TMP/stuck" 200 <"$TMP/words" >"$TMP/silent.log" 2>&1 & server=$!
exec 7>"$TMP/words"
STARTED="$STARTED $server"
ended() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
child_of() { pid=$(pgrep -P "$server" -x stuck); }
if wait_for 20 child_of; then
	stuck="$stuck $pid"
	echo open >&7
	# From the first one on who waits for it, the server says nothing to anybody.
	head -c 1 "/proc/$pid/exe" >/dev/null 2>&1 & reader=$!
	waits() { grep -q fuse "/proc/$reader/stack"; }
	wait_for 60 waits || fail "it answers"
else
	cat "$TMP/silent.log"
fi

"$TMP/stuck" 200 >/dev/null 2>&1 & stopped=$!
STARTED="$STARTED $stopped" stuck="$stuck $stopped"
kill -STOP "$stopped"

shop 200
watch
shop_watched "beside stuck ones"
shop 200
shop_watched "that came later"
fire hand
whole "$I"
kill "$PID"
wait_for 60 ended "$PID" || fail "tnfwatch does not end"
runs "$SHOPPID" || fail "the shop does not run"

# Each of them goes on when it can.
thaw
echo all >&7
kill -CONT "$stopped"
for p in $stuck; do
	goes_on() { runs "$p"; }
	wait_for 60 goes_on || fail "$p: $(grep -E 'State|TracerPid' "/proc/$p/status")"
done
echo "stuck:$stuck"
