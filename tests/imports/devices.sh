#!/bin/sh
# Two files with one number, on two file systems, as containers have them: both are
# looked at, and a file of the same name and number that is not the mapped one is not
# taken for it.
#
#	devices.sh VICTIM LIB
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
victim=$(readlink -f "$1"); lib=$(readlink -f "$2")
prex=$TNF_BUILD/prex/prex

need_root
scratch
mkdir "$TMP/a" "$TMP/b"
for place in a b; do
	test_mount tmpfs "$TMP/$place" || skip "cannot mount a tmpfs"
	cp "$lib" "$TMP/$place/lib.so"
done
[ "$(stat -c %i "$TMP/a/lib.so")" = "$(stat -c %i "$TMP/b/lib.so")" ] ||
	skip "the two files have two numbers"
pid=''
stop_all() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	test_end
}
trap stop_all EXIT

mkfifo "$TMP/go"
LD_PRELOAD="$TMP/a/lib.so" "$victim" -l "$TMP/b/lib.so" < "$TMP/go" > "$TMP/out" 7>&- &
pid=$!
exec 7> "$TMP/go"
says() { [ "$(wc -l < "$TMP/out")" -ge "$1" ]; }
for round in 1 2 3; do
	wait_for 60 says "$round" || fail "victim"
	echo >&7
done
wait_for 60 says 4 || fail "victim"
grep -q "$TMP/b/lib.so" "/proc/$pid/maps" || fail "it has not loaded the second one"
"$prex" -p "$pid" -c 'list name file probes name=later.loaded' > "$TMP/list" 2>&1 ||
	fail "prex -p: $(cat "$TMP/list")"
for place in a b; do
	grep -q "name=later.loaded file=$TMP/$place/lib.so" "$TMP/list" ||
		fail "not that of $place: $(cat "$TMP/list")"
done
echo "two files of one number"
