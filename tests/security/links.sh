#!/bin/sh
# links.sh - the name of the trace file is not a way to others' files.
#
# usage: links.sh PREX VICTIM LIAR
. "${TNF_SOURCE:-../..}/tests/security/as.sh"
prex=$(realpath "$1") victim=$(realpath "$2")
liar=$(realpath "$3")
scratch_shared "$prex"

# trace NAME: root's prex records there; nothing but the name may change.
trace() {
	"$prex" -s 128 -o "$1" -c 'enable $all; continue' "$victim" \
		> "$TMP/out" 2>&1 < /dev/null
}
# untouched WHAT: the file that a link leads to is as it was.
untouched() {
	[ "$(cat "$TMP/precious")" = precious ] || wrong "$1: the file was written"
	[ "$(mode "$TMP/precious")" = "644 0" ] || wrong "$1: $(mode "$TMP/precious")"
}
# ours NAME: if it is there, it is a file of its own that nobody else can read.
ours() {
	[ ! -L "$1" ] || return 0
	[ ! -e "$1" ] || [ "$(stat -c '%a %u %h' "$1")" = "600 0 1" ] ||
		wrong "$1: $(stat -c '%a %u %h' "$1")"
}

echo precious > "$TMP/precious"
chmod 644 "$TMP/precious"

as ln -s "$TMP/precious" "$STICKY/symlink"
trace "$STICKY/symlink"
untouched "symbolic link"
ours "$STICKY/symlink"

as ln -s "$TMP/created" "$STICKY/dangling"
trace "$STICKY/dangling"
[ ! -e "$TMP/created" ] || wrong "dangling link: created what it names"
ours "$STICKY/dangling"

ln "$TMP/precious" "$STICKY/hard"
trace "$STICKY/hard"
untouched "hard link"
ours "$STICKY/hard"

# A file that others have made ready, and keep open.
as sh -c 'umask 0; : > "$1"' sh "$STICKY/ready"
mkfifo "$TMP/traced"
as sh -c 'exec 3<"$1"; echo open; read -r word; wc -c <&3' sh "$STICKY/ready" \
	< "$TMP/traced" > "$TMP/seen" &
exec 4> "$TMP/traced"
wait_for 60 grep -q open "$TMP/seen" || wrong "the reader does not start"
trace "$STICKY/ready"
echo >&4
exec 4>&-
wait $!
[ "$(tail -n 1 "$TMP/seen")" = 0 ] || wrong "a file that was ready: others read the trace"
ours "$STICKY/ready"

as mkfifo "$STICKY/fifo"
timeout 120 "$prex" -s 128 -o "$STICKY/fifo" -c continue "$victim" \
	> "$TMP/out" 2>&1 < /dev/null
[ $? -ne 124 ] || wrong "a pipe of that name: hangs"
ours "$STICKY/fifo"

# While the name is changed all the time.
as sh -c 'until [ -e "$3" ]; do ln -s "$2" "$1"; rm -f "$1"; done' sh \
	"$STICKY/race" "$TMP/precious" "$STICKY/stop" 2>/dev/null &
for i in 1 2 3 4 5 6 7 8 9 10; do
	trace "$STICKY/race"
	untouched "race $i"
	ours "$STICKY/race"
	rm -f "$STICKY/race"
done
: > "$STICKY/stop"
wait $!

# A target that names another's trace as its own: nothing is put behind it.
trace "$TMP/root.tnf"
before=$(cksum < "$TMP/root.tnf")
mkfifo "$TMP/in"
: > "$TMP/ready"
as sh -c 'echo $$; LIE_FILE=$1 exec "$2" file' sh "$TMP/root.tnf" "$liar" \
	< "$TMP/in" > "$TMP/ready" &
exec 3> "$TMP/in"
wait_for 60 grep -q ready "$TMP/ready" || wrong "the liar does not start"
"$prex" -p "$(head -1 "$TMP/ready")" -c 'list tracefile' > "$TMP/out" 2>&1 < /dev/null
says "root.tnf" "$TMP/out"
exec 3>&-
wait $!
[ "$(cksum < "$TMP/root.tnf")" = "$before" ] || wrong "another's trace was written"

umask 0
trace "$STICKY/fresh"
[ "$(mode "$STICKY/fresh")" = "600 0" ] || wrong "mode $(mode "$STICKY/fresh")"
as cat "$STICKY/fresh" 2>/dev/null | grep -q . && wrong "others can read the trace"
exit $bad
