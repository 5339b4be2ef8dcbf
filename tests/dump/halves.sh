#!/bin/sh
# halves.sh - what two processes write is what one writes, and they end together.
# Usage: halves.sh TNFDUMP MKTRACE
#
# With one CPU only tnfdump does not fork, so that this is what to compare with.
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") mktrace=$(realpath "$2")
need_program taskset
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
[ "$(taskset -cp $$ | sed 's/.*: *//')" != "$cpu" ] || skip "needs two CPUs"
scratch
cd "$TMP" || fail "cannot enter $TMP"
"$mktrace" -n 200000 -t 5 a.tnf && "$mktrace" -B -n 150000 -t 3 b.tnf || fail "mktrace"
one() { taskset -c "$cpu" "$tnfdump" "$@"; }

# same OPTION... FILE...: the same bytes, the same messages, the same status
same()
{
	one "$@" >want 2>want.err
	want=$?
	"$tnfdump" "$@" >got 2>got.err
	got=$?
	cmp want got || fail "differs: $*"
	cmp want.err got.err || fail "says something else: $*: $(cat got.err)"
	[ "$want" = "$got" ] || fail "status: $*: $got, not $want"
}
for format in jsonl csv; do
	same --to $format a.tnf
	same --to $format a.tnf b.tnf
	same --to $format --where 'a % 2 == 0' b.tnf
done
same --no-header --to jsonl --from 1ms a.tnf
# As many as one writes before it forks, and about where the turns change.
for n in 65536 65537 81920 81921; do
	"$mktrace" -n $n -t 2 n.tnf || fail mktrace
	same --to jsonl n.tnf
done
one --to csv a.tnf b.tnf >want || fail "one"
"$tnfdump" --to csv -o got a.tnf b.tnf || fail "-o"
cmp want got || fail "-o: differs"
# It appends, too.
echo first >got
"$tnfdump" --to csv a.tnf b.tnf >>got || fail ">>"
{ echo first; cat want; } | cmp - got || fail ">>: differs"

# Damage is told once: a block in the middle says that more of it is used than it has.
size=$(stat -c %s a.tnf)
cp a.tnf d.tnf
printf '\210\023' | dd of=d.tnf bs=1 seek=$((size / 1024 * 512 + 8)) conv=notrunc 2>/dev/null
same --to jsonl d.tnf
grep -q block got.err || fail "no damage: $(cat got.err)"

# -r: every other piece of a file of 4 MiB or more.  Damage is told in the order of the file.
"$mktrace" -n 110000 -t 3 r.tnf || fail mktrace
start=$(od -An -tu4 -j28 -N4 r.tnf | tr -d ' ') size=$(stat -c %s r.tnf)
[ $((size - start)) -ge $((4 << 20)) ] || fail "too small: $size"
same -r r.tnf
same -r r.tnf n.tnf r.tnf
# spoil FIRST COUNT WHAT: so many blocks have an impossible size, or no header
spoil()
{
	i=$1
	while [ $i -lt $(($1 + $2)) ]; do
		at=$((start + i * 512))
		[ "$3" = size ] && printf '\210\023' | dd of=d.tnf bs=1 seek=$((at + 8)) conv=notrunc 2>/dev/null
		[ "$3" = header ] && printf '\377\377\377\177' | dd of=d.tnf bs=1 seek=$at conv=notrunc 2>/dev/null
		i=$((i + 1))
	done
}
last=$(((size - start) / 512 - 1))
for what in size header; do
	cp r.tnf d.tnf
	# The first, the last, on both sides of the ends of pieces, and a whole piece of 64 KiB.
	for i in 0 1 127 128 255 256 257 512 639 1000 $last; do
		spoil $i 1 $what
	done
	spoil 1920 128 $what
	same -r d.tnf
	[ "$(grep -c 'block at' got.err)" -ge 138 ] || fail "$what: $(grep -c 'block at' got.err) blocks told"
	same -r --strict d.tnf
done
# What is told last in one piece, and first in the next: an event there names a schedule here.
[ "$start" -eq 65536 ] || fail "the blocks begin at $start"
"$tnfdump" -r r.tnf | head -c 4000000 | awk '/^0x/ { at = $1 } length(at) != 7 { next }
	at >= "0x1fe00" && at < "0x20000" && /tnf_tag .*tnf_sched_rec/ { sched = at }
	at >= "0x20000" && /tnf_tag .*work/ { print sched, at; exit }' >places
read -r sched event <places
cp r.tnf d.tnf
printf '\377\377\377\177' | dd of=d.tnf bs=1 seek=$((sched)) conv=notrunc 2>/dev/null
word=$(printf '%04x' $(((sched - event) & 0xfffc | 1)))
# shellcheck disable=SC2059  # the format is what is wanted
printf "\\$(printf %03o 0x${word#??})\\$(printf %03o 0x${word%??})" |
	dd of=d.tnf bs=1 seek=$((event)) conv=notrunc 2>/dev/null
same -r d.tnf
[ "$(grep -c 'block at 0x1fe00' got.err)" -eq 1 ] || fail "told at two places: $(cat got.err)"
# Fewer blocks than there are: told at the end, whether the last ones can be read or not.
cp r.tnf d.tnf
printf '\000\045\000\000' | dd of=d.tnf bs=1 seek=32 conv=notrunc 2>/dev/null
same -r d.tnf
grep -q 'fewer blocks' got.err || fail "$(cat got.err)"
spoil $((0x2500 - start / 512 - 200)) 200 header
same -r d.tnf

# Nobody reads on: both end, by the signal or the error.
"$tnfdump" --to jsonl a.tnf b.tnf | head -n 70000 >got
one --to jsonl a.tnf b.tnf | head -n 70000 | cmp - got || fail "head: differs"
for i in 1 3 5; do
	"$tnfdump" --to csv a.tnf b.tnf | head -c $((i * 3000000)) | tail -c 1 >/dev/null
done
full() {
	"$tnfdump" "$@" >/dev/full 2>got.err
	got=$?
	one "$@" >/dev/full 2>want.err
	[ $? = "$got" ] && cmp want.err got.err || fail "/dev/full: $got: $(cat got.err)"
}
full --to csv a.tnf
full --to jsonl a.tnf b.tnf
full -r r.tnf r.tnf
for i in 1 3 5; do
	"$tnfdump" -r r.tnf | head -c $((i * 3000000)) | tail -c 1 >/dev/null
done

# A file is cut off while both read it: that is said once, and nothing about the output.
# Nobody reads on until it is cut, so that neither process has come far.
mkfifo fifo
# cut_off FILE LINES BYTES OPTION...: after so many lines it is cut to so many bytes
cut_off() {
	cp "$1" c.tnf
	lines=$2 bytes=$3
	shift 3
	"$tnfdump" "$@" c.tnf >fifo 2>got.err &
	pid=$!
	exec 8<fifo
	head -n "$lines" <&8 >/dev/null
	truncate -s "$bytes" c.tnf
	cat <&8 >/dev/null
	exec 8<&-
	wait $pid
	[ $? -eq 1 ] && [ "$(cat got.err)" = "tnfdump: a file was cut off while it was read, or cannot be read" ] ||
		fail "cut off: $*: $(cat got.err)"
}
cut_off r.tnf 1 1048576 -r
cut_off a.tnf 70000 4194304 --to jsonl

# Twice as many processes, if they can be seen.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	strace -f -e trace=fork,vfork,clone,clone3 -o forks "$tnfdump" --to jsonl a.tnf >/dev/null 2>&1
	grep -q CHILD forks || grep -q 'clone(child_stack=NULL\|clone3\|fork' forks || [ -n "$LD_PRELOAD" ] ||
		fail "no fork: $(cat forks)"
	strace -f -e trace=fork,vfork,clone,clone3 -o forks "$tnfdump" --to jsonl --until 1us a.tnf >/dev/null 2>&1
	! grep -q 'SIGCHLD' forks || fail "a fork for a few events: $(cat forks)"
	strace -f -e trace=fork,vfork,clone,clone3 -o forks "$tnfdump" -r r.tnf >/dev/null 2>&1
	grep -q SIGCHLD forks || [ -n "$LD_PRELOAD" ] || fail "no fork for -r: $(cat forks)"
fi
