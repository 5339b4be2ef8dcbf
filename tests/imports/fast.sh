#!/bin/sh
# fast.sh TNFDUMP PREX PROGRAM - prex without an option: a process that is looked at gets nothing; one whose
# USDT probes or functions are switched on records them itself, also from its first instruction on; with --no-fast the
# kernel is asked, and a probe that cannot be fast is refused with the reason where the kernel must not be asked.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
dump=$1 prex=$(realpath "$2") program=$3
need_ptrace
scratch
fast_user "$prex"
cp "$program" "$TMP/program"
mkfifo "$TMP/in"
chmod 666 "$TMP/in"
# shellcheck disable=SC2086
$as "$TMP/program" -w <"$TMP/in" >"$TMP/out" &
pid=$!
trap 'kill -9 $pid 2>/dev/null; test_end' EXIT
exec 6>"$TMP/in"
wait_for 60 test -s "$TMP/out" || fail "the program does not begin"

# run ARG...: prex, which must not fail
run()
{
	# shellcheck disable=SC2086
	(cd "$TMP" && timeout 120 $as "$prex" "$@") >"$TMP/said" 2>&1 6>&- </dev/null
}
told() { grep -q "$1" "$TMP/said" || fail "not \"$1\": $(cat "$TMP/said")"; }
is_loaded() { grep -q 'libtnfprobe' "/proc/$pid/maps"; }

run -p "$pid" -c 'list probes keys=victim; disable keys=victim' || fail "list: $(cat "$TMP/said")"
told "process $pid has no probes of TNF, but others (USDT): it is not stopped until one is switched on"
is_loaded && fail "a process that is looked at has libtnfprobe"

run --no-fast -p "$pid" -c 'enable name=victim.none' && [ -n "$as" ] && fail "--no-fast: $(cat "$TMP/said")"
is_loaded && fail "--no-fast: it has libtnfprobe"
[ -z "$as" ] || told CAP_

run -p "$pid" -o "$TMP/t.tnf" -c 'enable name=victim.none name=victim.text function=described; list probes keys=victim' ||
	fail "enable: $(cat "$TMP/said")"
grep -q 'cannot decode instructions' "$TMP/said" && skip "built without Zydis"
told "process $pid has libtnfprobe now, and records into $TMP/t.tnf"
told '^name=victim.none enable=on .*fast=yes'
[ -z "$as" ] || told 'victim.text: not on: not fast: it is too short: the kernel could have it: that needs root'
told '^name=victim.text .*fast=no: it is too short'
is_loaded || fail "it has no libtnfprobe"
echo >&6
events() { [ "$("$dump" "$TMP/t.tnf" 2>/dev/null | grep -c " $1 ")" -ge "$2" ]; }
wait_for 60 events victim.none 1 || fail "no event of a USDT probe: $("$dump" "$TMP/t.tnf")"

# Conditions, and names of arguments: an event of the first two alone.
run -p "$pid" -c "trace name=victim.twice where 'nothing = 3'" && fail "a member that is not there"
told 'where: nothing: victim.twice has no such member: it has arg1'
run -p "$pid" -c "trace name=victim.sizes where 'arg1 = -128 and arg8 > 5 or arg2 = 7'; trace function=described \
where 'said = \"six*\" and small < 0'; trace name=victim.counted args 'what:chars n' where 'what = \"xxx*\" and n & 4'
trace name=victim.twelve where 'arg1 < 100'; trace name=victim.forms where 'arg2 != 1 or arg3 >= 4'
enable name=victim.sizes name=victim.counted name=victim.twelve name=victim.forms" || fail "where: $(cat "$TMP/said")"
n=$("$dump" "$TMP/t.tnf" | grep -c ' described_entry ')
echo >&6
wait_for 60 events described_entry $((n + 1)) || fail "where: $("$dump" "$TMP/t.tnf")"
"$dump" "$TMP/t.tnf" >"$TMP/dump"
grep -q ' victim.sizes .*arg1: -128' "$TMP/dump" || fail "where on numbers: $(cat "$TMP/dump")"
grep -q ' victim.counted .*what: "xxxxx" n: 5' "$TMP/dump" || fail "args: $(cat "$TMP/dump")"
grep -qE ' victim.(twelve|forms) ' "$TMP/dump" && fail "conditions that do not hold: $(cat "$TMP/dump")"
run -p "$pid" -c "trace name=victim.counted args 'other'" && fail "other arguments"
told 'the process has it with other arguments already'
run -p "$pid" -c "trace name=victim.sizes where 'arg1 = 0'; trace function=described where 'said = \"sex*\"'; trace name=victim.twelve" ||
	fail "other conditions: $(cat "$TMP/said")"
echo >&6
wait_for 60 events victim.twelve 1 || fail "no conditions any more: $("$dump" "$TMP/t.tnf")"
[ "$("$dump" "$TMP/t.tnf" | grep -c ' victim.sizes ')" -eq 1 ] || fail "other conditions: $("$dump" "$TMP/t.tnf")"
[ "$("$dump" "$TMP/t.tnf" | grep -c ' described_entry ')" -eq $((n + 1)) ] || fail "other texts: $("$dump" "$TMP/t.tnf")"
run -p "$pid" -c 'disable keys=victim keys=function; list probes name=victim.none' || fail "disable: $(cat "$TMP/said")"
told '^name=victim.none enable=off'

# A program that prex starts.
# shellcheck disable=SC2016
run -o "$TMP/c.tnf" -c 'enable name=victim.sizes function=main; list probes function=main; continue' "$TMP/program" 1 ||
	fail "prex CMD: $(cat "$TMP/said")"
told '^name=main_entry enable=on .*fast=yes'
[ "$("$dump" "$TMP/c.tnf" | grep -c ' main_entry .*argc: 2')" -eq 1 ] || fail "main: $("$dump" "$TMP/c.tnf")"
[ "$("$dump" "$TMP/c.tnf" | grep -c ' victim.sizes .*-128')" -eq 1 ] || fail "USDT: $("$dump" "$TMP/c.tnf")"
echo "fast without an option"
