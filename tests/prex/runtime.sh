#!/bin/sh
# runtime.sh - prex lists and switches probes that the target makes while it runs,
# those that it made before prex came and those that it makes later; none of their
# first events is missing where prex has started the target.
#
# usage: runtime.sh PREX TNFDUMP VICTIM-RUNTIME
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") dump=$(realpath "$2") victim=$(realpath "$3")
export HOME="$TMP"
cd "$TMP" || exit 1

# count FILE PROBE N: so many events of it, each whole
count() {
	"$dump" --to jsonl --probe "$2" "$1" > j 2> err || fail "$what: $(cat err)"
	n=$(grep -c '"probe":' j)
	[ "$n" -eq "$3" ] || fail "$what: $2: $n events, not $3: $("$dump" --info "$1")"
	[ "$(grep -c '"text":"\([a-z]\)\1\{999\}","blob":{"$bytes":"000102ff"}' j)" -eq "$3" ] ||
		fail "$what: $2: $(cut -c1-300 j)"
}

what="a program that prex has started"
printf '%s\n' 'define one first' 'hit one 5' 'define two second' 'hit two 7' 'hit three 3' \
	'hit one 1' fork > in
"$prex" -o f.tnf -c 'enable $all; disable second; continue' "$victim" < in > out 2> err ||
	fail "$what: $(cat out err)"
[ "$(grep -cx ok out)" -eq 7 ] || fail "$what: $(cat out err)"
count f.tnf one 7
count f.tnf three 4
"$dump" --info f.tnf | grep -q two && fail "$what: two: $("$dump" --info f.tnf)"

what="--pretty"
"$dump" --pretty --no-header f.tnf > out
[ "$(grep -cE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{18}' out)" -eq "$(wc -l < out)" ] ||
	fail "$what: no time of day: $(cut -c1-60 out)"
"$dump" --pretty --no-header --columns elapsed,probe f.tnf | grep -q ^20 &&
	fail "$what: --columns: a column more"

what="many"
i=0
while [ $i -lt 200 ]; do i=$((i + 1)); echo "hit many$i 1"; done > in
"$prex" -o f.tnf -c 'enable $all; continue' "$victim" < in > out 2> err ||
	fail "$what: $(cat out err)"
[ "$("$dump" --to jsonl f.tnf | grep -c '"many[0-9]*"')" -eq 200 ] || fail "$what: $("$dump" --info f.tnf)"

what="a running one"
mkfifo to
"$victim" < to > said &
pid=$!
exec 8> to
tell() {
	before=$(grep -cx ok said)
	echo "$*" >&8
	wait_for 60 said_more || fail "$what: $*: $(cat said out err)"
}
said_more() { [ "$(grep -cx ok said)" -gt "$before" ]; }
wait_for 60 grep -qx ready said || fail "$what: not ready"
tell define early some
"$prex" -p "$pid" -o g.tnf -c 'list probes $all; enable $all; continue' > out 2> err < /dev/null 8>&- &
by=$!
tell wait early
grep -q 'name=early .*file=runtime.c' out || fail "$what: $(cat out err)"
tell hit early 4
tell define late
tell wait late
tell hit late 6
tell fork
# The end of its input is its end, and that of prex.
exec 8>&-
wait "$pid" || fail "$what: $(cat said)"
wait "$by"
count g.tnf early 5
count g.tnf late 7

what="another file"
mkfifo to2
: > said
"$victim" < to2 > said &
pid=$!
exec 8> to2
wait_for 60 grep -qx ready said || fail "$what: not ready"
tell define early
"$prex" -p "$pid" -o h.tnf -c 'enable $all; quit resume' > out 2> err < /dev/null || fail "$what: $(cat out err)"
tell hit early 3
"$prex" -p "$pid" -o i.tnf -c 'quit resume' > out 2> err < /dev/null || fail "$what: $(cat out err)"
tell hit early 2
tell define new
exec 8>&-
wait "$pid" || fail "$what: $(cat said)"
count h.tnf early 3
count i.tnf early 2

what="TNF_ENABLE"
printf '%s\n' 'hit one 2' 'hit two 1' > in
TNF_ENABLE=name=one TNF_FILE="$TMP/j.tnf" "$victim" < in > out 2> err || fail "$what: $(cat out err)"
count j.tnf one 2
"$dump" --info j.tnf | grep -q two && fail "$what: two"

what="a program that becomes another"
printf '%s\n' 'hit one 2' exec 'hit one 3' 'hit four 1' > in
"$prex" --follow-exec -o f.tnf -c 'enable $all; continue' stdbuf -i0 "$victim" < in > out 2> err ||
	fail "$what: $(cat out err)"
count f.tnf one 5
count f.tnf four 1
exit 0
