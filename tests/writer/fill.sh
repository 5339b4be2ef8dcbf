#!/bin/sh
# fill.sh - prex --fill: the first events stay, and each that came later is counted.
# Usage: fill.sh PREX TNFDUMP AUTO
. "${TNF_SOURCE:-.}/tests/lib.sh"

prex=$(realpath "$1") tnfdump=$(realpath "$2") auto=$(realpath "$3")
need_ptrace
scratch
cd "$TMP" || exit 1

info() { "$tnfdump" --info=json "$1" >json || fail "--info of $1"; }
# lost FILE: all events that were dropped.
lost() { "$tnfdump" --info "$1" | sed -n 's/^ *dropped[^0-9]*\([0-9]*\).*/\1/p'; }

# fill N MODE: N hits of "work" and of "other" in a file of 128 kbytes.
fill() {
	rm -f t.tnf
	"$prex" -s 128 -o t.tnf --fill -c 'enable $all; trace $all; continue' "$auto" "$@" >out 2>err ||
		fail "prex: $(cat err)"
	"$tnfdump" --no-header t.tnf >events || fail "tnfdump: $(cat events)"
	kept=$(wc -l <events)
}
# Nothing is lost of what fits.
fill 100
[ "$kept" = 201 ] && [ "$(lost t.tnf)" = 0 ] || fail "100: $kept events, $(lost t.tnf) lost"
# One thread: the first ones in a row, and each of the others is counted.
fill 20000
[ $((kept + $(lost t.tnf))) = 40001 ] || fail "20000: $kept events and $(lost t.tnf) lost are not 40001"
[ "$kept" -gt 2000 ] || fail "20000: only $kept events"
head -1 events | grep -q early || fail "the first event: $(head -1 events)"
awk '$0 ~ "work" { if ($NF != n++) exit 1 }' events || fail "events are missing in between"
"$tnfdump" --info t.tnf | grep -q 'came when the file was full' || fail "$("$tnfdump" --info t.tnf)"
# As many as without it are in a ring, but the last ones.
rm -f r.tnf
"$prex" -s 128 -o r.tnf -c 'enable $all; trace $all; continue' "$auto" 20000 >out 2>err || fail "$(cat err)"
"$tnfdump" --no-header r.tnf | tail -2 | grep -q 'i: 19999' || fail "a ring without its end"
# A child goes on in the same file.
fill 20000 fork
[ $((kept + $(lost t.tnf))) = 80001 ] || fail "fork: $kept events and $(lost t.tnf) lost are not 80001"
exit 0
