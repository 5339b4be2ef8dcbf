#!/bin/sh
# large.sh - a trace that is read as it is printed says what one says that is read first.
# Usage: large.sh TNFDUMP MKTRACE
#
# --strict reads all of a file before it prints; else files of 16 MiB and more are
# read as their events are wanted.
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") mktrace=$(realpath "$2")
scratch
cd "$TMP" || fail "cannot enter $TMP"
"$mktrace" -n 300000 -t 5 a.tnf && "$mktrace" -B -n 290000 -t 3 b.tnf || fail "mktrace"
[ "$(stat -c %s a.tnf)" -ge $((16 << 20)) ] && [ "$(stat -c %s b.tnf)" -ge $((16 << 20)) ] ||
	fail "the traces are too small for this test"

# same OPTION... FILE...: both ways say the same, also on standard error
same()
{
	"$tnfdump" --strict "$@" >want 2>want.err || fail "--strict $*: $(cat want.err)"
	"$tnfdump" "$@" >got 2>got.err || fail "$*: $(cat got.err)"
	cmp want got || fail "differs: $*"
	cmp want.err got.err || fail "says something else: $*"
}

same a.tnf
same b.tnf
same a.tnf b.tnf
same --info=json a.tnf b.tnf
same --info a.tnf
same --info b.tnf
same --info a.tnf b.tnf
# Facts that are known before the events are counted are printed before them.
"$tnfdump" --info a.tnf | head -n 1 | grep -qx 'a.tnf:' || fail "--info into head"
same --stats a.tnf
end=$("$tnfdump" --columns elapsed --no-header a.tnf | awk 'END { print $1 }')
for time in 1ns 1us "${end}ms" 100s; do
	same --last "$time" a.tnf
	same --from "$time" a.tnf
	same --until "$time" a.tnf b.tnf
	same --from "$time" --where 'a > 3' b.tnf a.tnf
done
same --from 1ms --tid 1 a.tnf
