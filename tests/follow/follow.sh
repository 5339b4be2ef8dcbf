#!/bin/sh
# follow.sh - --follow on live processes: all events, once, in order; the end
# of the target ends it; falling behind is told.
# usage: follow.sh TNFDUMP PREX BUSY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
tnfdump=$1 prex=$2 busy=$3

# traced FILE ARGS...: starts busy under prex; pid in $target
traced() {
	file=$1 size=$2
	shift 2
	"$prex" -s "$size" -o "$file" -c 'enable $all; continue' "$busy" "$@" \
	    >"$TMP/prex.out" 2>&1 &
	prexpid=$!
	wait_for 60 pgrep -P "$prexpid" >/dev/null || fail "target did not start"
	target=$(pgrep -P "$prexpid")
}

in_order() {
	awk -v want="$2" '
	$7 == "tick" { if ($9 != n) bad = 1; n = $9 + 1; k++ }
	END { if (bad || k != want) { print k " events of " want ", bad " bad + 0; exit 1 } }' "$1"
}

# followed WHAT OUTPUT: the target goes on when its first half has been told.
followed() {
	timeout 300 "$tnfdump" --follow "$1" >"$2" 2>"$TMP/err" & follower=$!
	wait_for 60 grep -q tick "$2" || fail "nothing is told: $(cat "$TMP/err")"
	: >"$2.go"
	wait $follower || fail "--follow $1: $(cat "$TMP/err")"
}

traced "$TMP/a.tnf" 4096 800 1000 "$TMP/a.txt.go"
followed "$target" "$TMP/a.txt"
in_order "$TMP/a.txt" 800 || fail "--follow PID"
wait "$prexpid"

traced "$TMP/b.tnf" 4096 800 1000 "$TMP/b.txt.go"
wait_for 60 test -s "$TMP/b.tnf" || fail "no file"
followed "$TMP/b.tnf" "$TMP/b.txt"
in_order "$TMP/b.txt" 800 || fail "--follow FILE"
wait "$prexpid"

# The trace of the process is not written over, by whatever name: it is known only when the
# process has been found.
traced "$TMP/g.tnf" 4096 800 1000 "$TMP/g.go"
wait_for 60 test -s "$TMP/g.tnf" || fail "no file"
ln "$TMP/g.tnf" "$TMP/g2.tnf"
for what in "$target" "$TMP/g.tnf"; do
	for format in text tnf; do
		timeout 60 "$tnfdump" --follow "$what" --to $format -o "$TMP/g2.tnf" 2>"$TMP/err" &&
			fail "--follow $what: --to $format wrote over the trace"
		grep -q 'g2.tnf: is one of the files to be read' "$TMP/err" ||
			fail "--follow $what: --to $format: $(cat "$TMP/err")"
	done
done
# Another file is emptied first, and one with the name "kernel" is not the kernel.
seq 100000 >"$TMP/kernel"
timeout 300 "$tnfdump" --follow "$target" -o "$TMP/kernel" & follower=$!
wait_for 60 grep -q tick "$TMP/kernel" || fail "-o: nothing is told"
: >"$TMP/g.go"
wait $follower || fail "-o: status"
in_order "$TMP/kernel" 800 || fail "-o"
grep -q '^100000$' "$TMP/kernel" && fail "-o: the file was not emptied"
wait "$prexpid"
(cd "$TMP" && timeout -s INT 2 "$tnfdump" --follow kernel -o kernel 2>err)
grep -q 'one of the files' "$TMP/err" && fail "-o kernel: $(cat "$TMP/err")"

# A file that is complete: everything, and it ends.
timeout 120 "$tnfdump" --follow "$TMP/b.tnf" >"$TMP/c.txt" || fail "finished file"
cmp "$TMP/b.txt" "$TMP/c.txt" || fail "finished file: other output"

"$TNF_BUILD/tests/reader/mktrace" -n 100 "$TMP/o.tnf" || fail "mktrace"
timeout 120 "$tnfdump" --follow "$TMP/o.tnf" >"$TMP/c.txt" || fail "a file without a writer"

# A reader that was ended goes on behind the last event that it has told, each event once.
traced "$TMP/e.tnf" 4096 800 1000 "$TMP/e.go"
wait_for 60 test -s "$TMP/e.tnf" || fail "no file"
"$tnfdump" --follow "$target" --cursor "$TMP/place" >"$TMP/e1.txt" 2>"$TMP/err" & follower=$!
wait_for 60 grep -q tick "$TMP/e1.txt" || fail "--cursor: nothing is told: $(cat "$TMP/err")"
kill -INT $follower
wait $follower || fail "--cursor: $(cat "$TMP/err")"
: >"$TMP/e.go"
timeout 120 "$tnfdump" --follow "$target" --cursor "$TMP/place" >"$TMP/e2.txt" 2>"$TMP/err" ||
	fail "--cursor again: $(cat "$TMP/err")"
wait "$prexpid"
[ ! -s "$TMP/err" ] || fail "--cursor says: $(cat "$TMP/err")"
cat "$TMP/e1.txt" "$TMP/e2.txt" >"$TMP/e.txt"
in_order "$TMP/e.txt" 800 || fail "--cursor"
"$tnfdump" --follow "$TMP/e.tnf" --cursor "$TMP/place" >"$TMP/e3.txt" || fail "--cursor: a third time"
grep -q ' tick ' "$TMP/e3.txt" && fail "--cursor: told again: $(grep ' tick ' "$TMP/e3.txt" | head -n 2)"
"$tnfdump" --follow "$TMP/b.tnf" --cursor "$TMP/place" >"$TMP/c.txt" 2>"$TMP/err"
grep -q 'in another trace' "$TMP/err" && in_order "$TMP/c.txt" 800 || fail "another trace: $(cat "$TMP/err")"
echo nonsense >"$TMP/bad"
"$tnfdump" --follow "$TMP/e.tnf" --cursor "$TMP/bad" 2>"$TMP/err" && fail "a bad cursor"
grep -q 'no cursor' "$TMP/err" || fail "a bad cursor: $(cat "$TMP/err")"
"$tnfdump" --cursor "$TMP/place" "$TMP/e.tnf" 2>"$TMP/err" && fail "--cursor alone"
grep -q 'give --follow' "$TMP/err" || fail "--cursor alone: $(cat "$TMP/err")"

# 64 blocks are written over thousands of times a second, until we end the writer.
traced "$TMP/d.tnf" 128 2000000000 0
wait_for 60 test -s "$TMP/d.tnf" || fail "no file"
"$tnfdump" --fail-on-loss --follow "$target" >/dev/null 2>"$TMP/err" & follower=$!
wait_for 60 grep -q 'fell behind: [0-9]* blocks' "$TMP/err" || fail "not told: $(cat "$TMP/err")"
kill -INT $follower
wait $follower
rc=$?
[ $rc -eq 3 ] || fail "--fail-on-loss: $rc: $(cat "$TMP/err")"
kill -9 "$target"
wait "$prexpid"

# So is what was overwritten between two runs with a cursor: the target stands until the
# first run has ended, and laps the buffer before the second begins.
traced "$TMP/f.tnf" 128 200000 0 "$TMP/f.go"
wait_for 60 test -s "$TMP/f.tnf" || fail "no file"
"$tnfdump" --follow "$TMP/f.tnf" --cursor "$TMP/place" >"$TMP/f1.txt" 2>"$TMP/err" & follower=$!
wait_for 60 grep -q ' 99999$' "$TMP/f1.txt" || fail "--cursor, small: $(cat "$TMP/err")"
kill -INT $follower
wait $follower || fail "--cursor, small: $(cat "$TMP/err")"
: >"$TMP/f.go"
wait "$prexpid"
timeout 120 "$tnfdump" --follow "$TMP/f.tnf" --cursor "$TMP/place" >"$TMP/f2.txt" 2>"$TMP/err" ||
	fail "--cursor, small, again: $(cat "$TMP/err")"
grep -q 'place: the blocks of [0-9.]* seconds were overwritten' "$TMP/err" ||
	fail "not told: $(head -n 3 "$TMP/err")"
grep -q ' 199999$' "$TMP/f2.txt" || fail "the last event is not there"

# One that writes nothing: we wait, and say so once.
"$tnfdump" --follow $$ 2>"$TMP/err" & follower=$!
wait_for 60 grep -q waiting "$TMP/err" || fail "no trace file: $(cat "$TMP/err")"
sleep 0.5
kill -INT $follower
wait $follower && fail "no trace file"
[ "$(grep -c "^tnfdump: process $$: waiting: " "$TMP/err")" -eq 1 ] ||
	fail "message: $(cat "$TMP/err")"
nobody() { setpriv --reuid 65534 --clear-groups "$@"; }
if [ "$(id -u)" -eq 0 ] && nobody "$tnfdump" --version >/dev/null; then
	nobody "$tnfdump" --follow $$ 2>"$TMP/err" &&
		fail "somebody else's process"
	grep -q "^tnfdump: process $$: .*become its user or root" "$TMP/err" ||
		fail "message: $(cat "$TMP/err")"
fi
"$tnfdump" --follow 999999999 2>"$TMP/err" && fail "no such process"
grep -q '^tnfdump: process 999999999: ' "$TMP/err" || fail "message: $(cat "$TMP/err")"
"$tnfdump" --follow /nowhere 2>"$TMP/err" && fail "no such file"
grep -q '/nowhere: cannot follow: No such file' "$TMP/err" || fail "message: $(cat "$TMP/err")"
echo "follow: passed"
