#!/bin/sh
# printk.sh - the last lines that a crashed kernel printed are in the trace's context.
#
# usage: printk.sh tnfxtract xtract-buffer
#
# Guards: messages that are overwritten, half written or without a text and shown, or left
# out though they are there; pages that are taken from the wrong place; a ring that lies
# about itself and brings tnfxtract down.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") buffer=$(realpath "$2")
dump=$TNF_BUILD/tnfdump/tnfdump
printk=$TNF_SOURCE/tests/xtract/printk.py
kdump=$TNF_SOURCE/tests/xtract/kdump.py
scratch
cd "$TMP" || fail "cd"

"$buffer" make buffer 64 && "$buffer" image buffer raw || fail "xtract-buffer"
python3 "$printk" raw image lines 40 || fail "printk.py"
[ "$(wc -l <lines)" -gt 20 ] || fail "printk.py: only $(wc -l <lines) lines"

# printed TRACE: the lines as --info shows them.
printed() { "$dump" --info "$1" 2>/dev/null | sed '1,/^  printed last:/d; s/^    //'; }
"$x" -d image out 2>err || fail "plain memory: $(cat err)"
"$dump" --info out | grep -q '^  printed last:' || fail "no lines in: $("$dump" --info out)"
printed out >got
cmp got lines || fail "other lines: $(diff lines got | head)"
"$dump" --info=json out | grep -q '"printk":"\[ .*second line of 3' || fail "not in JSON"

# In parts, of which some are in others: what ends in one goes on in the other.
"$x" -d image.core out 2>err || fail "ELF: $(cat err)"
printed out | cmp - lines || fail "ELF: other lines"

# The same, compressed: the pages are read by another way.
python3 "$kdump" zlib image zlib || fail "kdump.py"
if "$x" -d zlib out 2>err; then
	printed out | cmp - lines || fail "compressed: other lines"
else
	grep -q -e libkdumpfile -e "cannot be read here" err || fail "compressed: $(cat err)"
fi

"$x" -d raw out 2>err || fail "without messages: $(cat err)"
[ -z "$(printed out)" ] || fail "lines out of nothing: $(printed out)"
"$x" --no-context -d image out && [ -z "$(printed out)" ] || fail "lines without a context"

# arm64 is without tables of pages.
python3 "$printk" raw arm lines 20 arm64 || fail "printk.py arm64"
for d in arm arm.core; do
	"$x" -d $d out 2>err || fail "$d: $(cat err)"
	printed out | cmp - lines || fail "$d: other lines"
done

# Damaged: what can be had, never a signal.
for n in $(seq -f image.%g 1 40) $(seq -f arm.%g 1 20); do
	timeout 60 "$x" -d "$n" out >/dev/null 2>err
	[ $? -le 1 ] && ! reported err || fail "damaged, $n: $(cat err)"
done
echo "ok"
