#!/bin/sh
# dumps.sh - compressed and flattened dumps give what the plain memory gives.
#
# usage: dumps.sh tnfxtract xtract-buffer [kdump-loop]
#
# Guards: pages that are read from the wrong place, a dump that ends early or lies
# about itself and brings tnfxtract down, facts of the dump that are not passed on.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") buffer=$(realpath "$2")
loop=${3:+$(realpath "$3")}
kdump=$TNF_SOURCE/tests/xtract/kdump.py
scratch
cd "$TMP" || fail "cd"

"$buffer" make buffer 512 && "$buffer" image buffer image || fail "xtract-buffer"
"$x" --no-context -d image plain 2>err || fail "plain memory: $(cat err)"
python3 "$kdump" zlib image zlib || fail "kdump.py"
"$x" --no-context -d zlib out 2>err
case $(cat err) in
*"libkdumpfile"*|*"cannot be read here"*) skip "$(cat err)" ;;
esac
for dump in zlib snappy zstd none large; do
	python3 "$kdump" $dump image $dump || fail "kdump.py"
	if ! "$x" --no-context -d $dump out 2>err; then
		grep -q "cannot be read here" err || fail "$dump: $(cat err)"
		echo "$dump: not known to libkdumpfile"
		continue
	fi
	cmp out plain || fail "$dump: another trace"
	python3 "$kdump" flat $dump flat
	"$x" --no-context -d flat out 2>err || fail "$dump, flattened: $(cat err)"
	cmp out plain || fail "$dump, flattened: another trace"
done
python3 "$kdump" flat image flat
"$x" --no-context -d flat out 2>err || fail "plain, flattened: $(cat err)"
cmp out plain || fail "plain, flattened: another trace"

"$x" -d zlib out 2>err || fail "with a context: $(cat err)"
for fact in crashed-host 6.1.0-test-amd64; do
	grep -aqF "$fact" out || fail "no $fact in the context"
done

# Plain memory has no notes; the kernel's own page of such lines has the same.
page() { printf '%s\n' "$@"; head -c 4096 /dev/zero; }
page OSRELEASE=6.1.0-page-amd64 'SYMBOL(_stext)=ffffffff91000000' CRASHTIME=1700000000 | head -c 4096 >info
cat image info >image.info
"$x" -d image.info out 2>err || fail "with a page of facts: $(cat err)"
for fact in 'release 6.1.0-page-amd64' 'crashed 2023-11-14T22:13:20Z'; do
	grep -aqF "$fact" out || fail "no $fact in the context of plain memory"
done

# The pages that the dump leaves out are missing, and nothing else.
python3 "$kdump" zlib image some 7
"$x" --no-context -d some out 2>err
status=$?
[ $status -eq 1 ] || grep -q "blocks are not in the image" err || fail "left out: $(cat err)"

# Cut short at every step, and damaged: an answer, never a signal.
size=$(stat -c %s zlib)
for n in $(seq 1 24); do
	head -c $((size * n / 25)) zlib >short
	timeout 60 "$x" --no-context -d short out >/dev/null 2>err
	[ $? -le 1 ] && ! reported err || fail "cut at $n of 25: $(cat err)"
	cp zlib bad
	printf '\377\376\375' | dd of=bad bs=1 seek=$((n * n * 37 % 9000)) conv=notrunc 2>/dev/null
	timeout 60 "$x" --no-context -d bad out >/dev/null 2>err
	[ $? -le 1 ] && ! reported err || fail "damaged at $((n * n * 37 % 9000)): $(cat err)"
	head -c $(($(stat -c %s flat) * n / 25)) flat >short
	timeout 60 "$x" --no-context -d short out >/dev/null 2>err
	[ $? -le 1 ] && ! reported err || fail "flattened, cut at $n of 25: $(cat err)"
done

# Damaged everywhere: libkdumpfile itself ends of that, and tnfxtract does not.
told=0
for n in 1 2 3; do
	for dump in zlib snappy flat; do
		[ -s $dump ] || continue
		python3 "$kdump" spoil $dump bad "$n"
		timeout 120 "$x" --no-context -d bad out >/dev/null 2>err
		status=$?
		[ $status -le 1 ] && ! reported err || fail "$dump, damage $n: status $status: $(cat err)"
		[ $status -eq 0 ] || [ -s err ] || fail "$dump, damage $n: nothing is said"
		told=$((told + $(grep -c 'bad: damaged: at ' err)))
	done
done
[ $told -gt 0 ] || fail "of no dump it is said that it is damaged"

# A piece whose place is damaged makes no file of petabytes that is read through.
python3 - flat bad <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into(">q", data, 4096, 1 << 49)
open(sys.argv[2], "wb").write(data)
END
timeout 120 "$x" --no-context -d bad out >/dev/null 2>err
[ $? -le 1 ] || fail "a piece at 2^49: $(cat err)"

# A page that sends the library round for ever is missing, like any other damaged one.
if [ -n "$loop" ]; then
	mkdir library && cp "$loop" library/libkdumpfile.so.10 || fail "cp"
	LIBKDUMPFILE=$(ldconfig -p | sed -n 's/.*libkdumpfile.so.10 .*=> //p' | head -1)
	[ -n "$LIBKDUMPFILE" ] || LIBKDUMPFILE=$(find /usr/lib /lib -name libkdumpfile.so.10 | head -1)
	machine() { od -An -tx1 -j18 -N2 "$1"; }
	if [ "$(machine "$LIBKDUMPFILE")" != "$(machine "$loop")" ]; then
		echo "$LIBKDUMPFILE is of another machine: a page that sends it round is not tried"
		exit 0
	fi
	export LIBKDUMPFILE
	by_loop() { LOOP_AT=$1 LD_LIBRARY_PATH=library timeout 120 "$x" --no-context -d zlib out 2>err; }
	by_loop 0xffffffffffff0000 || fail "by kdump-loop: $(cat err)"
	cmp out plain || fail "by kdump-loop: another trace"
	by_loop 0x3000
	status=$?
	[ $status -le 1 ] && ! reported err || fail "round for ever: status $status: $(cat err)"
	grep -q 'zlib: damaged: at ' err || fail "round for ever: not told: $(cat err)"
fi
