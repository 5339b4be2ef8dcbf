#!/bin/sh
# definitions.sh - definitions that a memory image lacks are taken from the release that
# reads it, if what the image has of them is the same.
#
# usage: definitions.sh tnfxtract xtract-imported
#
# Guards: a buffer that is lost with one of its first pages, the very first as well, a trace that is called complete
# and is not, definitions of another release
# that are mixed with ours, imported probes that are lost without a word, memory for what
# a page of the image claims.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") imported=$(realpath "$2")
dump=$TNF_BUILD/tnfdump/tnfdump
scratch
cd "$TMP" || fail "cd"

# image NAME CHANGED LEFT-OUT...: the buffer's pages in another order, without these; of
# the page CHANGED a byte is another one.
cat >image.py <<'END2'
import random, sys
data = open("buffer", "rb").read()
left = [int(n) for n in sys.argv[3:]]
random.seed(1)
pages = [bytearray(data[i:i + 4096]) for i in range(0, len(data), 4096)]
if int(sys.argv[2]) > 0:
    pages[int(sys.argv[2])][100] ^= 1
pages = [p for i, p in enumerate(pages) if i not in left]
random.shuffle(pages)
open(sys.argv[1], "wb").write(b"".join(pages))
END2
image() { python3 image.py "$@" || fail "image.py"; }

# probes TRACE: the list of them.
probes() { "$dump" --info "$1" | sed -n '/^  probes:/,$p'; }
"$imported" buffer || fail "xtract-imported"
image whole 0
"$x" -d whole plain 2>err || fail "whole: $(cat err)"
[ ! -s err ] || fail "whole: said $(cat err)"
probes plain >list
[ "$(wc -l <list)" -gt 20 ] || fail "no probes: $(cat list)"

for left in 1 4 5 "1 4" "2 3 4"; do
	# shellcheck disable=SC2086  # words are meant
	image part 0 $left
	"$x" -d part out 2>err || fail "without $left: $(cat err)"
	grep -q "they were taken from this release" err || fail "without $left: said $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || fail "without $left: said $(cat err)"
	probes out | cmp - list || fail "without $left: other probes"
	cmp out plain || fail "without $left: another trace"
done

# The words of the first page are in the blocks of events as well, if the file says that
# they are.
facts() { "$dump" --info "$1" | grep -e size: -e boot: -e 'wall clock:' -e events:; }
for left in 0 "0 1 4"; do
	# shellcheck disable=SC2086  # words are meant
	image part 0 $left
	"$x" -d part out 2>err || fail "without $left: $(cat err)"
	facts plain >facts.1
	facts out | cmp - facts.1 || fail "without $left: $(facts out)"
	probes out | cmp - list || fail "without $left: other probes"
done
# shellcheck disable=SC2046  # words are meant
image part 0 0 $(seq 14 31)
"$x" -d part out 2>err && fail "without the first page and most blocks: something was found"
# Words that make no sense, by the place of the word.
cat >tails.py <<'END2'
import struct, sys
word, value = int(sys.argv[1]), int(sys.argv[2], 0)
data = bytearray(open("buffer", "rb").read())
for n in range(8, len(data) // 4096):
    if n % 8 == word:
        struct.pack_into("<Q", data, 4096 * n + 4088, value)
open("part", "wb").write(data[int(sys.argv[3]) * 4096:])
END2
for tail in "0 0" "0 4097" "0 0x1000000000000000" "1 0" "1 0x1000" "1 0x100000200" "1 0xfffff00000001000"; do
	# shellcheck disable=SC2086  # words are meant
	python3 tails.py $tail 1 || fail "tails.py"
	"$x" -d part out 2>err && fail "word $tail: something was found"
	[ -s err ] || fail "word $tail: nothing is said"
done

# Pages of the directory that have no probe are no loss.
image part 0 2 3
"$x" -d part out 2>err || fail "without 2 and 3: $(cat err)"
! grep -q "this release" err || fail "without 2 and 3: said $(cat err)"
probes out | cmp - list || fail "without 2 and 3: other probes"

# A part of another release.
image part 4 1
"$x" -d part out 2>err && fail "another release's directory was made of ours"
grep -q "definitions are not in the image" err || fail "another release: said $(cat err)"
# All of them are missing: their sum tells whether they were those of this release.
for left in "1 2 3 4 5 6 7" "0 1 2 3 4 5 6 7"; do
	# shellcheck disable=SC2086  # words are meant
	image part 0 $left
	"$x" -d part out 2>err || fail "without $left: $(cat err)"
	grep -q "they were taken from this release" err || fail "without $left: said $(cat err)"
	probes out | cmp - list || fail "without $left: other probes"
done
python3 tails.py 7 1 8 || fail "tails.py"
"$x" -d part out 2>err && fail "definitions out of nothing"
grep -q "definitions are not in the image" err || fail "another release's sum: said $(cat err)"

# Definitions of imported probes among these are lost, which is said; the rest is there.
"$imported" buffer near 0 far 1000 || fail "xtract-imported"
image whole 0
"$x" -d whole plain 2>err && [ ! -s err ] || fail "imported, whole: said $(cat err)"
probes plain >list
[ "$(grep -c -e near -e far list)" -eq 2 ] || fail "no imported probes: $(cat list)"
probes plain | grep -v -e near -e far -e probes: >ours

# without EVENTS BLOCKS LEFT-OUT...: has our probes and these events of imported ones;
# so many blocks are said to be missing.
without() {
	events=$1 blocks=$2
	shift 2
	image part 0 "$@"
	"$x" -d part out 2>err || fail "imported, without $*: $(cat err)"
	probes out 2>/dev/null | grep -v -e near -e far -e probes: | cmp - ours ||
		fail "imported, without $*: other probes"
	got=$("$dump" --columns=probe out 2>/dev/null | grep -o -x -e near -e far | tr -d '\n')
	[ "$got" = "$events" ] || fail "imported, without $*: events '$got'"
	if [ "$blocks" -eq 0 ]; then
		! grep -q -e "imported probes, if" -e "blocks are not in the image" err
	else
		grep -q "definitions of imported probes, if there were any, are lost" err &&
			grep -q "$blocks of 32 blocks are not in the image" err
	fi || fail "imported, without $*: said $(cat err)"
	case $("$dump" --info out 2>/dev/null | sed -n 's/^  complete: *//p') in
	"no: $blocks of 32 blocks were not in the image of memory") [ "$blocks" -gt 0 ] ;;
	*) [ "$blocks" -eq 0 ] || [ -z "$events" ] ;;
	esac || fail "imported, without $*: --info says $("$dump" --info out)"
}
without nearfar 0
without nearfar 0 4
without far 1 1
without near 1 2
without near 1 2 4
without "" 1 7
without "" 3 1 2 4 7
without nearfar 0 0
without far 1 0 1

# The buffer of which there is one page, which claims 4 GiB: as much memory as without it.
cat >peak.py <<'END2'
import resource, struct, subprocess, sys
page = bytearray(open("buffer", "rb").read(4096))
struct.pack_into("<I", page, 32, 1 << 20)
open("huge", "wb").write(page)
status = subprocess.call([sys.argv[1], "-d", "huge", "out"], stderr=subprocess.DEVNULL)
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
END2
peak=$(python3 peak.py "$x") || fail "peak.py"
[ "${peak% *}" -eq 1 ] || fail "one page: exit status ${peak% *}"
[ "${peak#* }" -lt 512 ] || fail "one page: ${peak#* } MiB"
echo "ok"
