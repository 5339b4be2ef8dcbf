#!/bin/sh
# calls.sh - tnfdump --calls names, numbers or decodes a system call otherwise than strace(1):
# more than 200 different calls of one program, 95 % of them equal in meaning; also of 32 bits.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
calls=$TNF_BUILD/tests/kernel/calls

command -v strace >/dev/null || skip "strace is not installed"
# The same place in both runs: its path is in the lines.
place=${TNF_TEST_DIR:-$TMP}/place
begin() { rm -rf "$place" && mkdir "$place" || fail "$place"; }
at_exit "rm -rf $place"
at_exit kernel_off
"$kpctl" tracepoints >/dev/null 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"

# recorded PROGRAM: its calls as strace has them, and in the buffer
recorded() {
	begin
	strace -yy -o "$TMP/strace" "$1" "$place" 2>"$TMP/err" ||
		skip "strace cannot trace here: $(cat "$TMP/err")"
	begin
	"$kpctl" alloc 4000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
	"$prex" -k -c 'enable name=/^syscall_[ae]/; trace name=/^syscall_[ae]/ stack=4' </dev/null \
		>"$TMP/said" || fail "prex: $(cat "$TMP/said")"
	held "$1" "$place"
	"$kpctl" filter add "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
	released
	wait "$held" || fail "calls: $(cat "$TMP/err")"
	"$kpctl" off || fail "off"
	"$kpctl" copy "$TMP/buf" || fail "copy"
	"$tnfdump" --calls "$TMP/buf" >"$TMP/calls" 2>"$TMP/err" || fail "tnfdump --calls"
	grep -q 'left out' "$TMP/err" && fail "damaged: $(head -n 3 "$TMP/err")"
	"$kpctl" dealloc
}
# compared [32]
compared() {
	python3 "$TNF_SOURCE/tests/kernel/calls-compare.py" "$TMP/strace" "$TMP/calls" "$@" >"$TMP/said" ||
		fail "other calls than strace has: $(cat "$TMP/said")"
	cat "$TMP/said"
}

# A program of 32 bits, where one can be built and run.
calls32=$TMP/calls32
if i686-linux-gnu-gcc -static -D_GNU_SOURCE -o "$calls32" "$TNF_SOURCE/tests/kernel/calls.c" 2>/dev/null ||
	gcc -m32 -static -D_GNU_SOURCE -o "$calls32" "$TNF_SOURCE/tests/kernel/calls.c" 2>/dev/null &&
	begin && "$calls32" "$place"; then
	recorded "$calls32"
	compared 32
else
	echo "no program of 32 bits: gcc-i686-linux-gnu builds one"
fi

recorded "$calls"
# With stacks: their references lie between the members and the texts.
"$tnfdump" --pretty --probe syscall_args "$TMP/buf" 2>/dev/null | grep -q ' stack: \[0x' || fail "no stacks"
compared
# Two things that strace does not tell: the calls that a filter keeps, and those that have no end.
"$tnfdump" --calls --where 'text1 == "file" && sysnum != "openat"' "$TMP/buf" >"$TMP/some" ||
	fail "tnfdump --where"
grep -q 'faccessat2(AT_FDCWD, "file", X_OK, AT_EACCESS) = ' "$TMP/some" || fail "$(cat "$TMP/some")"
grep -qE '(openat|socket)\(' "$TMP/some" && fail "not kept: $(cat "$TMP/some")"
tail -n 1 "$TMP/calls" | grep -qE ' exit_group\(0\) = \?$' || fail "$(tail -n 3 "$TMP/calls")"
echo "ok: calls that a filter keeps, and one without an end"
