#!/bin/sh
# top.sh - --top: a table that is drawn anew, on a terminal with keys and without one.
#
# usage: top.sh TNFDUMP PTY VICTIM-RUNTIME
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
tnfdump=$(realpath "$1") pty=$(realpath "$2") victim=$(realpath "$3")
cd "$TMP" || exit 1

# Something happens until the test ends: one more often than two, and a pair.
mkfifo to
# shellcheck disable=SC2016  # prex's word
TNF_ENABLE='$all' TNF_FILE="$TMP/f.tnf" "$victim" < to > said &
i=0
while [ $i -lt 24000 ] && [ ! -e over ]; do
	printf 'hit one 9\nhit two 2\nhit job_start 1\nhit job_end 1\n' || break
	sleep 0.05
	i=$((i + 1))
done > to &
feeder=$!
trap 'touch "$TMP/over"; wait "$feeder"; test_end' EXIT
wait_for 60 test -s f.tnf || fail "nothing is recorded: $(cat said)"

cat > keys <<'E'
has rate/s
has q quit
has one
has two
has job
has events/s
send n
has job
send \x20
has PAUSED
send \x20
hasnot nosuch
size 8 50
has rate/s
raw \e[?1049h
send q
eof
exit 0
raw \e[?1049l
raw \e[?25h
E
TERM=xterm "$pty" keys "$tnfdump" --top --interval 0.2 --follow f.tnf > out 2> err ||
	fail "on a terminal: $(cat err)"

# By process, and without a terminal: one table after the other, until it is ended.
"$tnfdump" --top=pid --interval 0.2 --follow f.tnf > tables 2> err < /dev/null &
top=$!
three() { [ "$(grep -c 'rate/s' tables)" -ge 3 ]; }
wait_for 60 three || fail "no tables: $(cat tables err)"
kill -INT "$top"
wait "$top" || fail "the end: $? $(cat err)"
grep -q "one pid=" tables || fail "not by process: $(cat tables)"
# Sorted: what takes time comes before what is frequent.
awk '$1 == "rate/s" { rows = 0; next } /one pid=/ { rows++ } /job pid=/ && rows { bad = 1 }
	END { exit bad }' tables || fail "not sorted: $(cat tables)"
grep -q "$(printf '\033')" tables && fail "escapes in a file"

"$tnfdump" --top f.tnf > out 2>&1
[ $? -eq 2 ] || fail "without --follow: $(cat out)"
"$tnfdump" --top --interval 0 --follow f.tnf > out 2>&1
[ $? -eq 2 ] || fail "--interval 0: $(cat out)"
exit 0
