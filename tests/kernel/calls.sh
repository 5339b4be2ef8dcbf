#!/bin/sh
# calls.sh - tnfdump --calls names, numbers or decodes a system call otherwise than strace(1):
# more than 200 different calls of one program, 95 % of them equal in meaning.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
calls=$TNF_BUILD/tests/kernel/calls

command -v strace >/dev/null || skip "strace is not installed"
# The same place in both runs: its path is in the lines.
place=${TNF_TEST_DIR:-$TMP}/place
begin() { rm -rf "$place" && mkdir "$place" || fail "$place"; }
at_exit "rm -rf $place"
begin
strace -yy -o "$TMP/strace" "$calls" "$place" 2>"$TMP/err" ||
	skip "strace cannot trace here: $(cat "$TMP/err")"
begin
at_exit kernel_off
"$kpctl" tracepoints >/dev/null 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
"$kpctl" alloc 4000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$prex" -k -c 'enable name=/^syscall_[ae]/; trace name=/^syscall_[ae]/ stack=4' </dev/null \
	>"$TMP/said" || fail "prex: $(cat "$TMP/said")"
held "$calls" "$place"
"$kpctl" filter add "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
released
wait "$held" || fail "calls: $(cat "$TMP/err")"
"$kpctl" off || fail "off"
"$kpctl" copy "$TMP/buf" || fail "copy"
# With stacks: their references lie between the members and the texts.
"$tnfdump" --calls "$TMP/buf" >"$TMP/calls" 2>"$TMP/err" || fail "tnfdump --calls"
grep -q 'left out' "$TMP/err" && fail "damaged: $(head -n 3 "$TMP/err")"
"$tnfdump" --pretty --probe syscall_args "$TMP/buf" 2>/dev/null | grep -q ' stack: \[0x' || fail "no stacks"
python3 "$TNF_SOURCE/tests/kernel/calls-compare.py" "$TMP/strace" "$TMP/calls" >"$TMP/said" ||
	fail "other calls than strace has: $(cat "$TMP/said")"
cat "$TMP/said"
# Two things that strace does not tell: the calls that a filter keeps, and those that have no end.
"$tnfdump" --calls --where 'text1 == "file" && sysnum != "openat"' "$TMP/buf" >"$TMP/some" ||
	fail "tnfdump --where"
grep -q 'faccessat2(AT_FDCWD, "file", X_OK, AT_EACCESS) = ' "$TMP/some" || fail "$(cat "$TMP/some")"
grep -qE '(openat|socket)\(' "$TMP/some" && fail "not kept: $(cat "$TMP/some")"
tail -n 1 "$TMP/calls" | grep -qE ' exit_group\(0\) = \?$' || fail "$(tail -n 3 "$TMP/calls")"
echo "ok: calls that a filter keeps, and one without an end"
