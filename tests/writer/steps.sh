#!/bin/sh
# steps.sh - a reader that goes from record to record by their own sizes, as the original
# does, reads what is written: texts and bytes of any length, and what tnfdump makes of them.
#	steps.sh LENGTHS TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
lengths=$(realpath "$1") tnfdump=$(realpath "$2")
need_program python3
scratch
# steps NAME FILE: as many pieces with padding as there are lengths that need it.
steps() {
	python3 "$TNF_SOURCE/tests/writer/steps.py" "$2" tnf_blob:38 tnf_padded_bytes:20 tnf_text:38 ||
		fail "$1"
	"$tnfdump" --to jsonl "$2" | python3 -c '
import json, sys
n = 0
for line in sys.stdin:
    e = json.loads(line)
    if e.get("probe") != "made":
        continue
    a, n = e["args"], n + 1
    want = bytes(i % 7 for i in range(a["n"]))
    assert a["b"] == {"$bytes": want.hex()}, (a["n"], a["b"])
    assert a["t"] == "x" * a["n"], a["n"]
assert n == 38, n' || fail "$1: values"
	"$tnfdump" "$2" >"$TMP/out" 2>&1 || fail "$1: $(cat "$TMP/out")"
}
TNF_ENABLE='lengths' TNF_FILE="$TMP/c" TNF_SIZE=8m "$lengths" || fail "lengths"
steps C "$TMP/c"
"$tnfdump" --to tnf -o "$TMP/slice" "$TMP/c" || fail "--to tnf"
steps "--to tnf" "$TMP/slice"
