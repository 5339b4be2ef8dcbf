#!/bin/sh
# symbols.sh - functions of a traced process, also when it is gone.
# Usage: symbols.sh TNFDUMP PREX FUNCTIONS
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") prex=$(realpath "$2")
need_ptrace
scratch
cp "$3" "$TMP/functions"
"$prex" -o "$TMP/t" -c 'enable $all; trace $all; continue; quit resume' \
	"$TMP/functions" "$TMP/go" > "$TMP/out" 2>&1 &
prexpid=$!
recorded() { "$tnfdump" "$TMP/t" 2> /dev/null | grep -q 'place: 0x'; }
wait_for 60 recorded || fail "no event: $(cat "$TMP/out")"
kill -INT $prexpid
wait $prexpid
: > "$TMP/go"

# says TEXT: what the probe's line ends with
says() {
	"$tnfdump" --pretty --no-header --columns args --probe address "$2" > "$TMP/got"
	[ "$(cat "$TMP/got")" = "$1" ] ||
		fail "$(cat "$TMP/got" "$TMP/out"), and not $1"
}

says 'start: known_function nothing: 0x8' "$TMP/t"
"$tnfdump" --pretty --no-header --columns args --probe within "$TMP/t" |
	grep -q '^place: outer_function.* (inlined: inlined_function)$' ||
	fail "what is inlined there"
"$tnfdump" --to tnf "$TMP/t" > "$TMP/slice" || fail "slice"
says 'start: known_function nothing: 0x8' "$TMP/slice"

# Stripped: the names are in a file beside it, or they are not to be had.
if command -v objcopy > /dev/null; then
	wait_for 60 objcopy --only-keep-debug "$3" "$TMP/functions.debug" || fail "objcopy"
	cp "$3" "$TMP/stripped"
	strip "$TMP/stripped"
	(cd "$TMP" && objcopy --add-gnu-debuglink=functions.debug stripped)
	mv "$TMP/stripped" "$TMP/functions"
	says 'start: known_function nothing: 0x8' "$TMP/t"
	rm "$TMP/functions.debug"
	"$tnfdump" --pretty --no-header --columns args --probe address "$TMP/t" |
		grep -q '^start: functions+0x[0-9a-f]* nothing: 0x8$' ||
		fail "a name that is nowhere"
	cp "$3" "$TMP/functions"
fi

# Another build: the object and the offset, but no wrong name.
if command -v objcopy > /dev/null; then
	wait_for 60 objcopy --remove-section .note.gnu.build-id \
		"$TMP/functions" 2> /dev/null || fail "objcopy"
	"$tnfdump" --pretty --no-header --columns args "$TMP/t" |
		grep -q '^start: functions+0x[0-9a-f]* nothing: 0x8$' ||
		fail "a name from another build"
fi
echo "functions are named"
