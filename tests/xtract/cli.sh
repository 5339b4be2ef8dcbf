#!/bin/sh
# cli.sh TNFXTRACT BUFFER - options, messages, files; the buffer is a file.
. "${TNF_SOURCE:?}/tests/lib.sh"
x=$(realpath "$1") buffer=$(realpath "$2")
scratch
cd "$TMP" || exit 1
export TNF_FAKE_BUFFER="$TMP/buffer"
"$buffer" make buffer 512 || fail "make"

# expect STATUS STDERR COMMAND...
expect() {
	_status=$1 _text=$2; shift 2
	"$@" >out 2>err; _got=$?
	[ $_got -eq "$_status" ] || fail "$*: exit $_got, not $_status: $(cat err)"
	if [ -z "$_text" ]; then
		[ ! -s err ] || fail "$*: said $(cat err)"
	else
		grep -qF -- "$_text" err || fail "$*: said $(cat err)"
	fi
}
nothing_left() {
	[ -z "$(ls -A files)" ] || fail "$1 left $(ls -A files)"
}

usage="usage: $x [-d <dumpfile> -n <symbolfile> ] <output-filename>"
expect 1 "$x: unrecognized argument" "$x" -z file
expect 1 "$x: too many or too few arguments" "$x"
expect 1 "$x: too many or too few arguments" "$x" a b
expect 1 "$x: too many or too few arguments" "$x" -d d
expect 1 "$x: must specify both or neither of the -d and -n options" "$x" -n d a
expect 1 "$usage" "$x" -n d a
expect 0 "" "$x" --help; grep -qF "$usage" out || fail "--help"
expect 0 "" "$x" --version; grep -q '^tnfxtract [0-9]' out || fail "--version"

expect 1 "--rotate-size needs a number of bytes" "$x" --rotate-size 0 a
expect 1 "--rotate-time needs a number from 1 on" "$x" --rotate-time -3 a
expect 1 "into files" "$x" --rotate-time 1 -
expect 1 "--keep needs a number" "$x" --rotate-time 1 --keep x a

mkdir files
expect 1 "files/none/x: No such file" "$x" files/none/x
expect 1 "files: Is a directory" "$x" files
expect 1 "/dev/null: is not an ordinary file" "$x" /dev/null
expect 1 "No trace data available in the kernel." env -u TNF_FAKE_BUFFER "$x" files/x
expect 1 "No trace data available in the kernel." env TNF_FAKE_BROKEN=1 "$x" files/x
expect 1 "needs CAP_BPF" env TNF_FAKE_ERRNO=1 "$x" files/x
nothing_left "an error"

expect 0 "" "$x" files/x
[ "$("$buffer" check files/x 512)" -eq 254 ] || fail "copy"
[ "$(stat -c %a files/x)" = 600 ] || fail "mode"
grep -aq 'TNFCTX 1' files/x || fail "no context"
grep -aq '^ended 2000000001 2000000000 1 gone$' files/x || fail "no ended task"
grep -aq '^named 2000000001 5000 before$' files/x || fail "no former name"
expect 0 "" "$x" --no-context --sync files/y
[ "$(stat -c %s files/y)" -eq $((512 * 4096)) ] || fail "size without context"
expect 0 "7 events lost, 6 of them on CPU 3: 7 nested in another event: a larger buffer" env TNF_FAKE_LOST=7 "$x" files/x

# Events that the kernel skipped are in no buffer; the file says so as we do.
tnfdump=$TNF_BUILD/tnfdump/tnfdump layout=$TNF_BUILD/tests/kernel/kernel-layout
if [ -x "$tnfdump" ] && [ -x "$layout" ]; then
	"$layout" empty || fail "layout"
	expect 0 "3 events lost: 3 passed over by the kernel: fewer probes" \
		env TNF_FAKE_HOOK=3 TNF_FAKE_BUFFER=empty "$x" --no-context files/e
	"$tnfdump" --info=json files/e >out 2>&1
	grep -q '"dropped":3,.*"skipped by the kernel":3' out || fail "--info: $(cat out)"
	"$tnfdump" --fail-on-loss files/e >out 2>err && fail "--fail-on-loss: status 0"
	expect 0 "" env TNF_FAKE_BUFFER=empty "$x" --no-context files/e
	expect 0 "" "$tnfdump" --fail-on-loss files/e
	rm files/e
fi
expect 0 "" "$x" --no-context -; cmp out files/y || fail "standard output"
: > files/z
expect 0 "" sh -c '"$1" --no-context - >> files/z' sh "$x"
cmp files/z files/y || fail "standard output that appends"
expect 1 "standard output: Bad file descriptor" sh -c 'exec "$1" - >&-' sh "$x"
rm files/*

# A disk that fills up; a limit on the size of files.
expect 1 "write: File too large" sh -c "ulimit -f 100; exec $x files/x"
nothing_left "RLIMIT_FSIZE"
echo old >files/x
expect 1 "write: File too large" sh -c "ulimit -f 100; exec $x files/x"
[ "$(cat files/x)" = old ] || fail "the old file was touched"

# Somebody else's link is neither followed nor replaced.
echo theirs >theirs
ln -sf ../theirs files/x
expect 1 "files/x: is a symbolic link" "$x" files/x
[ "$(cat theirs)" = theirs ] || fail "followed a link"
rm files/x

# Headers that cannot be.
printf 'XXXX' | dd of=buffer conv=notrunc 2>/dev/null
expect 1 "Buffer is not in TNF format." "$x" files/x
"$buffer" make buffer 512
printf '\002' | dd of=buffer bs=1 seek=8 conv=notrunc 2>/dev/null
expect 1 "Version mismatch (tnfxtract: 1; buffer: 2)" "$x" files/x
"$buffer" make buffer 512
printf '\377\377' | dd of=buffer bs=1 seek=32 conv=notrunc 2>/dev/null
expect 1 "header is damaged" "$x" files/x
nothing_left "a bad header"

# Memory images.
"$buffer" make buffer 512
"$buffer" image buffer image
printf 'ffffffff81000000 T _stext\n' >list
expect 0 "" "$x" -d image -n list files/x
expect 0 "" "$x" --no-context -d image files/named
expect 0 "" "$x" --no-context -d image -n list files/x
cmp files/x files/named || fail "without a list of symbols it is another trace"
rm files/named
expect 0 "" "$x" -d image -n list files/x
[ "$("$buffer" check files/x 512)" -eq 254 ] || fail "image"
rm files/x
expect 1 "none: No such file" "$x" -d none -n list files/x
expect 1 "none: No such file" "$x" -d image -n none files/x
expect 1 "Symbol lookup error in theirs" "$x" -d image -n theirs files/x
head -c 100000 /dev/zero >zero
expect 1 "No trace data available in the kernel." "$x" -d zero -n list files/x
[ -r /proc/kcore ] || expect 1 ": run as root, on a kernel that has CONFIG_PROC_KCORE" "$x" --previous-boot files/x
printf 'KDUMP   %4096s' x >compressed
expect 1 "compressed" "$x" -d compressed files/x
printf 'makedumpfile\0\0\0\0' >flat; head -c 4096 /dev/zero >>flat
expect 1 "flat: Bad message" "$x" -d flat files/x
rm flat
nothing_left "an image"

# While it is written: only whole records, also by several at once.
"$buffer" write buffer 4 & writer=$!
n=0
while kill -0 $writer 2>/dev/null; do
	"$x" --no-context files/a & a=$!
	"$x" files/b & b=$!
	wait $a && wait $b || fail "several at once"
	"$buffer" check files/a 512 >/dev/null || fail "torn copy"
	"$buffer" check files/b 512 >/dev/null || fail "torn copy"
	n=$((n + 2))
done
rm files/*
# Killed at any moment.
"$buffer" make buffer 8192
for delay in 0 0.001 0.002 0.004 0.006 0.008 0.01 0.015; do
	"$x" files/x & pid=$!
	sleep $delay
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ ! -e files/x ] || "$buffer" check files/x 8192 >/dev/null || fail "half a file"
	rm -f files/x
	nothing_left "kill -9"
done
echo "$n copies of a buffer being written, all whole"
