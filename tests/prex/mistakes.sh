#!/bin/sh
# mistakes.sh - what selects nothing, filters nothing or is misspelt says so on
# standard error, with its name and what was probably meant.
#
# usage: mistakes.sh PREX PTY
#
# The table mistakes.list has a line for each, with tabs between: the target,
# prex's exit status, the commands (as with -c), and what standard error says
# (";;" stands for a new line).
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
prex=$(realpath "$1") pty=$(realpath "$2")
here=$TNF_SOURCE/tests/prex
export HOME="$TMP" PREX_FAKE="$here/kernel.table" TMPDIR=/nowhere
ln -s "$prex" "$TMP/prex"
cp "$here"/*.table "$TMP"
: > "$TMP/empty.table"
cd "$TMP" || exit 1
PATH=$TMP:$PATH
bad=0 n=0
tab=$(printf '\t')

while IFS="$tab" read -r target status commands text; do
	case $target in '#'*|'') continue ;; esac
	n=$((n + 1))
	printf '%s' "$text" | sed 's/;;/\n/g' > expected
	[ -z "$text" ] || echo >> expected
	prex -c "$commands" "$target" 2> err > out < /dev/null
	got=$?
	grep -v '^closed: ' err > shown
	cmp -s shown expected || { echo "$target: $commands:"
		diff -u expected shown | sed 1,2d; bad=1; }
	[ "$got" -eq "$status" ] ||
		{ echo "$target: $commands: status $got, not $status"; bad=1; }
	# -t is for those who compare output: no warning.
	prex -t -c "$commands" "$target" 2>&1 > out < /dev/null |
		grep warning && { echo "-t: $commands: a warning"; bad=1; }
done < "$here/mistakes.list"
[ $n -gt 20 ] || fail "only $n mistakes in the table"

# A terminal shows names as text: nothing in them is obeyed.
esc=$(printf 'a\033]0;owned\007b')
printf '%s\n' "source '$esc'" > "$esc"
for try in "-f $esc.no parser.table" "-p $esc" "-s $esc parser.table" \
	"--$esc" "-f $esc parser.table"; do
	printf 'eof\nprint\n' > look
	"$pty" look prex $try > out 2>&1 < /dev/null
	grep -q "$(printf '\033')" out && { echo "raw: $try"; bad=1; }
	grep -qF '\033]0;' out || { echo "not shown: $try"; cat -v out; bad=1; }
done
exit $bad
