#!/bin/sh
# mute.sh - a target hands out a file that can never be closed in place of a socket
# of its own: prex does not take it, and ends.
#
# usage: mute.sh PREX VICTIM-ENDS LIBRARY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_root
need_ptrace
[ -c /dev/fuse ] || skip "no /dev/fuse"
prex=$(realpath "$1") victim=$(realpath "$2") library=$(realpath "$3")
if ldd "$victim" | grep -q -e libasan -e libtsan; then
	skip "the library must come in front of the sanitizer's"
fi
scratch
cd "$TMP" || exit 1
mkdir mnt
cp "$library" libc.so.6
mkfifo in
: > said
TNF_MUTE=$TMP/mnt LD_PRELOAD=$TMP/libc.so.6 "$victim" < in > said 2>&1 &
pid=$!
# The target may wait for its file until the server, its child, is gone.
end_them() {
	# shellcheck disable=SC2046  # words are meant
	kill -KILL $(cat /proc/$pid/task/*/children 2>/dev/null) $pid 2>/dev/null
}
trap 'end_them; test_end' EXIT
exec 5> in
rm in
started() { grep -q . said || ! kill -0 $pid 2> /dev/null; }
wait_for 60 started
if grep -q '^no file' said; then
	wait $pid
	skip "$(cat said)"
fi
grep -qF "$TMP/libc.so.6" "/proc/$pid/maps" || fail "the library is not there: $(cat said)"

"$prex" -p $pid -s 128 -o trace -c 'enable $all; quit' < /dev/null > out 2>&1 &
asker=$!
ended() { ! kill -0 $asker 2> /dev/null || grep -q '^State:.Z' "/proc/$asker/status"; }
if wait_for 60 ended; then
	# The target itself waits for its file, so it may be that it has no trace.
	wait $asker || grep -q "process $pid: it cannot open" out || fail "status $?: $(cat out)"
else
	state=$(sed -n 's/^State:.//p' "/proc/$asker/status")
	kill -KILL $asker
	fail "prex has not ended: $state"
fi
kill -0 $pid ||
	fail "the target has ended: $(cat said)"
case $(sed -n 's/^State:.//p' "/proc/$pid/status") in
[RSD]*) ;;
*) fail "the target is not as it was left" ;;
esac
echo "ok"
