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

# lies FILE STATE: prex looks at a target that names this file as its trace, and puts a
# mark into it; the file stays as it was.
lies() {
	before=$(cksum < "$1")
	[ -p "$TMP/in" ] || mkfifo "$TMP/in"
	: > "$TMP/ready"
	as env LIE_FILE="$1" LIE_STATE="$2" LIE_SIZE=1048576 sh -c 'echo $$; exec "$1" file' sh "$liar" \
		< "$TMP/in" > "$TMP/ready" &
	exec 3> "$TMP/in"
	wait_for 60 grep -q ready "$TMP/ready" || wrong "the liar does not start"
	"$prex" -p "$(head -1 "$TMP/ready")" -c 'list tracefile' > "$TMP/out" 2>&1 < /dev/null
	says "${1##*/}" "$TMP/out"
	"$prex" -p "$(head -1 "$TMP/ready")" -c 'mark planted' > "$TMP/out" 2>&1 < /dev/null &&
		wrong "$1, state $2: marked"
	says "${1##*/}: " "$TMP/out"
	exec 3>&-
	wait $!
	[ "$(cksum < "$1")" = "$before" ] || wrong "$1, state $2: it was written"
}
# A target that names another's file as its own (running: 0; yet to be opened: 2): root's trace,
# zeros that would become a trace, and a file of the target's user that it cannot get at.
trace "$TMP/root.tnf"
mkdir -m 700 "$TMP/secret"
cp "$TMP/root.tnf" "$TMP/secret/trace.tnf"
truncate -s 1M "$TMP/secret/image"
cp "$TMP/root.tnf" "$TMP/secret/users.tnf"
cp "$TMP/secret/image" "$TMP/secret/users"
chown "$other" "$TMP/secret/users.tnf" "$TMP/secret/users"
ln -s "$TMP/secret" "$STICKY/detour"
for state in 0 2; do
	for file in root.tnf secret/trace.tnf secret/image secret/users.tnf secret/users sticky/detour/image; do
		lies "$TMP/$file" $state
	done
done

umask 0
trace "$STICKY/fresh"
[ "$(mode "$STICKY/fresh")" = "600 0" ] || wrong "mode $(mode "$STICKY/fresh")"
as cat "$STICKY/fresh" 2>/dev/null | grep -q . && wrong "others can read the trace"
exit $bad
