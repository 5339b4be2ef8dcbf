#!/bin/sh
# messages.sh - what tnfdump says about files that are not as they should be.
# Usage: messages.sh TNFDUMP MKTRACE
. "${TNF_SOURCE:-.}/tests/lib.sh"
tnfdump=$(realpath "$1") mktrace=$(realpath "$2")
scratch
cd "$TMP" || exit 1
rc=0

# says STATUS STDERR-LINE CMD...: exactly that line; standard output in "out"
says() {
	want=$1 line=$2 got=0
	shift 2
	"$tnfdump" "$@" > out 2> err || got=$?
	printf '%s' "${line:+$line
}" > wanted
	[ "$got" -eq "$want" ] && cmp -s err wanted && return
	echo "FAIL: tnfdump $*: status $got, expected $want; said:"
	cat err
	echo "expected: $line"
	rc=1
}
lines() { [ "$(wc -l < out)" -eq "$1" ] || { echo "FAIL: $(wc -l < out) lines, expected $1"; rc=1; }; }

# put FILE OFFSET OCTAL...
put() {
	file=$1 at=$2
	shift 2
	for byte; do
		printf "\\$byte" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
		at=$((at + 1))
	done
}

usage='Usage: tnfdump [-r] <tnf_file> [<tnf_file> ...]'
says 1 "$usage"
says 1 "tnfdump: invalid option -- 'z'
$usage" -z
says 1 "$usage" -r
says 1 'tnfdump: cannot open gone.tnf' gone.tnf
: > none.tnf
says 1 'tnfdump: none.tnf is empty' none.tnf
says 1 'tnfdump: none.tnf is empty' -r none.tnf
head -c 1000 /dev/zero > zero.tnf
says 0 'tnfdump: zero.tnf is an empty TNF file' zero.tnf
says 0 'tnfdump: zero.tnf is an empty TNF file' -r zero.tnf
echo 'no trace, not at all, by no means' > text.tnf
says 1 'tnfdump: error in text.tnf: not a TNF file' text.tnf
says 1 'tnfdump: error in text.tnf: not a TNF file' -r text.tnf
says 1 'tnfdump: mmap error on /' / 2>/dev/null

"$mktrace" -n 30 good.tnf || fail "mktrace"
says 0 '' good.tnf
lines 36
cp out good.txt
head -c 98304 good.tnf > short.tnf
says 1 'tnfdump: error in short.tnf: bad TNF file' short.tnf
says 1 'tnfdump: error in short.tnf: bad TNF file' -r short.tnf
lines 0

# The others are read all the same.
says 1 'tnfdump: cannot open gone.tnf' gone.tnf good.tnf
cmp out good.txt || rc=1
(cat good.tnf; echo 'something else') > long.tnf
says 0 '' long.tnf
cmp out good.txt || rc=1

# Cut off behind the first data block.
head -c 98816 good.tnf > cut.tnf
says 0 '' --salvage cut.tnf
[ "$(wc -l < out)" -gt 10 ] || { echo "FAIL: nothing salvaged"; rc=1; }

# A block that claims more than it has: the others are printed.
cp good.tnf bad.tnf
put bad.tnf $((98304 + 8)) 001 040
damage='tnfdump: bad.tnf: block at 0x18000: more bytes are used than a block has'
says 1 "$damage; 1 block is left out" bad.tnf
[ "$(wc -l < out)" -gt 10 ] || { echo "FAIL: sound blocks are missing"; rc=1; }
says 1 "$damage" -r bad.tnf
grep -q '^0x18200' out || { echo "FAIL: raw: sound blocks are missing"; rc=1; }
says 1 "$damage; 1 block is left out" --strict bad.tnf
lines 0

# A definition: one bit in the name "tnf_struct", and no record is one.
cp good.tnf bad.tnf
put bad.tnf "$(grep -abo tnf_struct bad.tnf | sed -n '/tnf_struct$/{s/:.*//p;q}')" 125
for option in '' --strict --fail-on-loss -r; do
	got=0
	"$tnfdump" $option bad.tnf > out 2> err || got=$?
	[ "$got" -eq 1 ] || { echo "FAIL: damaged definition, $option: status $got"; rc=1; }
	[ -s err ] || { echo "FAIL: damaged definition, $option: not a word"; rc=1; }
	case $option in
	''|--fail-on-loss)
		grep -q 'left out$' err && [ "$(wc -l < err)" -lt 5 ] ||
			{ echo "FAIL: damaged definition: said:"; cat err; rc=1; } ;;
	esac
done

# Bytes of strings go through a pipe as they are, but not to a terminal.
cp good.tnf esc.tnf
at=$(grep -abo hello esc.tnf | head -1 | cut -d: -f1)
put esc.tnf "$at" 033 133 063 061 155
says 0 '' esc.tnf
grep -q "$(printf '\033')" out || { echo "FAIL: bytes were changed"; rc=1; }
if command -v script >/dev/null; then
	NO_COLOR=1 script -qc "$tnfdump esc.tnf" /dev/null < /dev/null > shown 2>&1
	grep -q "$(printf '\033')" shown && { echo "FAIL: escape reached the terminal"; rc=1; }
	grep -q 's: "\\x1b\[31m"' shown || { echo "FAIL: no \\x1b on the terminal"; rc=1; }
fi

# Newer options have a status of their own.
"$tnfdump" --no-such good.tnf 2> err; [ $? -eq 2 ] || { echo "FAIL: --no-such"; rc=1; }
"$tnfdump" --version | grep -q '^tnfdump [0-9]' || { echo "FAIL: --version"; rc=1; }
"$tnfdump" --info good.tnf | grep -q 'events: *30$' || { echo "FAIL: --info"; rc=1; }
"$tnfdump" --info=json good.tnf | grep -q '"events":30,' || { echo "FAIL: --info=json"; rc=1; }
"$tnfdump" good.tnf > /dev/full 2> err; [ $? -eq 1 ] || { echo "FAIL: full disk"; rc=1; }
exit $rc
