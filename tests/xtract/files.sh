#!/bin/sh
# files.sh - traces of processes are taken out of a memory image, which has their pages
# in any order, some twice and one of them older.
#
# usage: files.sh tnfxtract bakery
#
# Guards: blocks at another place or of another file, an older block that replaces the
# newer one, files of the boot that is when an earlier one's are asked for, losses that
# are not told.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program python3
x=$(realpath "$1") bakery=$(realpath "$2")
dump=$TNF_BUILD/tnfdump/tnfdump
scratch
cd "$TMP" || fail "cd"

# A program that is traced from its start; a sanitizer's library has to come first.
first=$(ldd "$bakery" | awk '/lib(asan|ubsan|tsan)/ { printf "%s:", $3 }')
trace() {
	# shellcheck disable=SC2016  # $all is not the shell's
	LD_PRELOAD=$first$TNF_BUILD/libtnfprobe/libtnfprobe.so TNF_ENABLE='$all' TNF_FILE=$1 TNF_SIZE=1m \
		"$bakery" -n "$2" >/dev/null 2>err || fail "bakery: $(cat err)"
	"$dump" "$1" >"$1.txt" && grep -q ' order_end ' "$1.txt" || skip "no trace without prex: $(cat err)"
}
trace one 40
trace two 90

# image NAME LEFT-OUT FILE...: every page of the files, in another order, among noise; of
# each file one page in an older state as well; the page LEFT-OUT of each is not there.
cat >image.py <<'END'
import random, struct, sys
out, left = sys.argv[1], int(sys.argv[2])
random.seed(1)
pages = [random.randbytes(4096) for _ in range(100)]
for name in sys.argv[3:]:
    data = open(name, "rb").read()
    mine = [data[i:i + 4096] for i in range(0, len(data) // 4096 * 4096, 4096)]
    old = bytearray(mine[24])			# the first page of events
    for at in range(0, 4096, 512):
        valid, = struct.unpack_from("<H", old, at + 8)
        struct.pack_into("<H", old, at + 8, min(valid, 24))
    pages += [p for i, p in enumerate(mine) if i != left] + [bytes(old)]
random.shuffle(pages)
open(out, "wb").write(b"".join(pages))
END
python3 image.py whole -1 one two || fail "image.py"
mkdir out
"$x" -d whole --files out 2>err || fail "whole: $(cat err)"
[ ! -s err ] || fail "whole: said $(cat err)"
n=0
for f in out/process-*.tnf; do
	"$dump" "$f" >txt || fail "$f is no trace"
	for t in one two; do
		! cmp -s txt $t.txt || n=$((n + 1))
	done
done
[ $n -eq 2 ] || fail "$n of 2 traces came out as they were"

# Found again, the copies would be taken for the files.
python3 image.py copies -1 out/process-*.tnf
"$x" -d copies --files again 2>err && fail "copies count as files"
grep -q "page cache" err || fail "copies: $(cat err)"

# A page of events is missing, and nothing else.
python3 image.py part 25 one
"$x" -d part --files part.d 2>err || fail "part: $(cat err)"
grep -q "blocks are not in the image: their events are missing" err || fail "part: said $(cat err)"
"$dump" --info part.d/process-*.tnf >txt
grep -q 'complete: *no: [0-9]* of [0-9]* blocks were not in the image of memory$' txt ||
	fail "part: --info says $(cat txt)"
"$dump" part.d/process-*.tnf >txt 2>/dev/null
[ "$(wc -l <txt)" -lt "$(wc -l <one.txt)" ] && grep -q ' order_end ' txt || fail "part: other events"

# The page of definitions is missing: that is said.
python3 image.py bare 16 one
"$x" -d bare --files bare.d 2>err
grep -q "definitions or blocks of them are not in the image" err || fail "bare: said $(cat err)"

"$x" --files out 2>err && fail "--files without an image"
grep -q "takes traces out of an image" err || fail "--files alone: $(cat err)"
echo "ok"
