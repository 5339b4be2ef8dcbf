#!/bin/sh
# run.sh - every golden file in every mode: text, messages and exit status.
# Usage: run.sh TNFDUMP
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1")
[ -x "$tnfdump" ] || fail "no program $1"
need_golden
scratch
cd "$TNF_GOLDEN" || fail "cannot enter $TNF_GOLDEN"
# The texts of our own directory are packed, beside the traces.
texts=$TNF_GOLDEN
if [ -f texts.tar.xz ]; then
	mkdir "$TMP/texts" && tar -xJf texts.tar.xz -C "$TMP/texts" || fail "texts.tar.xz: not unpacked"
	texts=$TMP/texts
fi
failed=0 done=0

# check MODE OPTION...: the files that have a text of this mode
check() {
	mode=$1
	shift
	for text in "$texts"/*."$mode".txt; do
		base=$(basename "$text" ."$mode.txt")
		[ -f "$base.tnf" ] || continue
		expected=0 rc=0
		[ -f "$texts/$base.$mode.rc" ] && expected=$(cat "$texts/$base.$mode.rc")
		[ -f "$texts/$base.$mode.err" ] && cp "$texts/$base.$mode.err" "$TMP/want" ||
			: > "$TMP/want"
		"$tnfdump" "$@" "$base.tnf" > "$TMP/out" 2> "$TMP/err" || rc=$?
		done=$((done + 1))
		cmp "$TMP/out" "$text" && cmp "$TMP/err" "$TMP/want" &&
		    [ "$rc" = "$expected" ] && continue
		echo "FAIL: $base.tnf $mode: exit status $rc"
		head -3 "$TMP/err"
		failed=1
	done
}

check cooked
check raw -r
check cooked_x -x
check raw_x -r -x
echo "$done texts compared"
[ "$done" -gt 0 ] || fail "no golden texts in $TNF_GOLDEN"
exit $failed
