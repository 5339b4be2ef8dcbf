#!/bin/sh
# machines.sh TNFDUMP - traces of programs and kernels of several machines are read alike
# on each: names of system calls, also of 32-bit programs, paths, threads, strings, times.
#
# kept/NAME.tnf.zst was written by that machine's prex and tnfxtract (the kernel's, of one
# process) or libtnfprobe (examples/bakery); NAME.txt is what tnfdump printed for it on
# x86-64, looked through by hand.
. "${TNF_SOURCE:-.}/tests/lib.sh"
tnfdump=$(realpath "$1")
kept=$TNF_SOURCE/tests/dump/kept
scratch
export TZ=UTC
said=0
for trace in "$kept"/*.tnf.zst; do
	text=${trace%.tnf.zst}.txt
	"$tnfdump" --pretty "$trace" >"$TMP/out" 2>"$TMP/err" ||
		fail "${trace##*/}: $(cat "$TMP/err")"
	[ ! -s "$TMP/err" ] || fail "${trace##*/}: $(cat "$TMP/err")"
	diff "$text" "$TMP/out" >"$TMP/diff" || {
		echo "FAIL: ${trace##*/}:"
		head -n 10 "$TMP/diff"
		said=1
	}
done
exit $said
