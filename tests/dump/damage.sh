#!/bin/sh
# damage.sh - each damaged block is told once, and an output that cannot be written ends the run.
# Usage: damage.sh TNFDUMP MKTRACE
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") mktrace=$(realpath "$2")
scratch
cd "$TMP" || fail "cannot enter $TMP"
"$mktrace" -n 200000 -t 5 a.tnf && "$mktrace" -n 110000 -t 3 r.tnf || fail "mktrace"

# A block in the middle says that more of it is used than it has.
size=$(stat -c %s a.tnf)
cp a.tnf d.tnf
printf '\210\023' | dd of=d.tnf bs=1 seek=$((size / 1024 * 512 + 8)) conv=notrunc 2>/dev/null
"$tnfdump" --to jsonl d.tnf >got 2>got.err
[ "$(grep -c 'block at' got.err)" = 1 ] || fail "jsonl: $(cat got.err)"

start=$(od -An -tu4 -j28 -N4 r.tnf | tr -d ' ') size=$(stat -c %s r.tnf)
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
	for i in 0 1 127 128 255 639 $last; do
		spoil $i 1 $what
	done
	spoil 1920 20 $what
	"$tnfdump" -r d.tnf >got 2>got.err
	grep -o 'block at 0x[0-9a-f]*' got.err >told
	[ -z "$(sort told | uniq -d)" ] || fail "$what: told twice: $(sort told | uniq -d | head -n 3)"
	[ "$(wc -l <told)" -ge 26 ] || fail "$what: $(wc -l <told) blocks told"
	"$tnfdump" -r --strict d.tnf >got 2>got.err && fail "$what: --strict: status 0"
done
# An event of one block names a schedule record of the block before, which is damaged.
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
"$tnfdump" -r d.tnf >got 2>got.err
[ "$(grep -c 'block at 0x1fe00' got.err)" -eq 1 ] || fail "told at two places: $(cat got.err)"
# The header promises more blocks than the file has.
cp r.tnf d.tnf
printf '\000\045\000\000' | dd of=d.tnf bs=1 seek=32 conv=notrunc 2>/dev/null
"$tnfdump" -r d.tnf >got 2>got.err
grep -q 'fewer blocks' got.err || fail "$(cat got.err)"

# The output cannot be written: an error, not a signal.
for how in '--to csv a.tnf' '--to jsonl a.tnf r.tnf' '-r r.tnf r.tnf'; do
	# shellcheck disable=SC2086  # words are meant
	"$tnfdump" $how >/dev/full 2>got.err
	got=$?
	[ $got = 1 ] && grep -q 'No space left' got.err || fail "/dev/full: $how: $got: $(cat got.err)"
done

# A file is cut off while it is read: that is said, and nothing about the output.  The
# reader of the output waits until the file is cut.
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
