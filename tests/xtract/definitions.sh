#!/bin/sh
# definitions.sh - definitions that a memory image lacks are taken from the release that
# reads it, if what the image has of them is the same.
#
# usage: definitions.sh tnfxtract kernel-layout
#
# Guards: a buffer that is lost with one of its first pages, definitions of another release
# that are mixed with ours.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") layout=$(realpath "$2")
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
"$layout" buffer || fail "kernel-layout"
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
	probes out | cmp - list || fail "without $left: other probes"
	cmp out plain || fail "without $left: another trace"
done

# Pages of the directory that have no probe are no loss.
image part 0 2 3
"$x" -d part out 2>err || fail "without 2 and 3: $(cat err)"
! grep -q "this release" err || fail "without 2 and 3: said $(cat err)"
probes out | cmp - list || fail "without 2 and 3: other probes"

# Of another release.
image part 4 1
"$x" -d part out 2>err && fail "another release's directory was made of ours"
grep -q "definitions are not in the image" err || fail "another release: said $(cat err)"
# All of them are missing: nobody knows of which release they were.
image part 0 1 2 3 4 5 6 7
"$x" -d part out 2>err && fail "definitions out of nothing"
echo "ok"
