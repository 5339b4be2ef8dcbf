#!/bin/sh
# symbols.sh - addresses in a dump get names, of whatever machine it is.
#
# usage: symbols.sh tnfxtract xtract-buffer
#
# Guards: a dump of arm64 read on x86-64, or the other way round, whose addresses are taken
# for something else because the machine that reads has its code elsewhere; a trace that
# does not tell its machine, so that system calls get the names of another one.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") buffer=$(realpath "$2")
printk=$TNF_SOURCE/tests/xtract/printk.py
scratch
cd "$TMP" || fail "cd"

# put BLOCK ADDRESS...: words in these blocks of events.
put() {
	python3 - "$@" <<'END' || fail "put"
import sys
with open("buffer", "r+b") as f:
    for block, word in zip(sys.argv[1::2], sys.argv[2::2]):
        f.seek(int(block) * 4096 + 160)
        f.write(int(word, 16).to_bytes(8, "little"))
END
}

# try MACHINE NAME BUILT CODE DATA: for where the kernel was built, where it is (printk.py),
# and an address of data.
try() {
	machine=$1 name=$2 built=$3 code=$4
	"$buffer" make buffer 64 || fail "xtract-buffer"
	put 5 "${code}0104" 7 "${code}0204" 9 "$5"
	"$buffer" image buffer raw && python3 "$printk" raw image lines 0 "$machine" || fail "printk.py $machine"
	printf '%s T _stext\n%s T first\n%s T second\n%s T third\n' \
		"${built}0000" "${built}0100" "${built}0200" "${built}0300" >list
	for d in image image.core; do
		"$x" -d $d -n list out 2>err || fail "$machine, $d: $(cat err)"
		grep -a '^symbol ' out | cut -d' ' -f2,5 >got
		printf '%s first\n%s second\n' "${code}0100" "${code}0200" >want
		cmp got want || fail "$machine, $d: $(grep -a '^symbol ' out)"
		grep -aqx "machine $name" out || fail "$machine, $d: the trace does not tell its machine"
	done
}
try x86_64 x86_64 ffffffff8100 ffffffff9100 ffff888012345678
try arm64 aarch64 ffff80000801 ffff80008001 ffff000012345678
echo "ok"
