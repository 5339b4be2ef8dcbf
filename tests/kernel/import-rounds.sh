#!/bin/sh
# import-rounds.sh [ROUNDS [KILLS]] - tracepoints on and off many times, and a prex that
# is killed in the middle of it: no program, link or map is left, and the next
# prex puts right what the other has left half done.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
rounds=${1:-12} kills=${2:-6}
export PATH="$PATH:/usr/sbin:/sbin"
need_program bpftool

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
sed -n 's/^[0-9]* name \([^;.]*\.[^;]*\);.*/\1/p' "$TMP/all" | grep -v '^syscalls' >"$TMP/names"
some() { shuf -n "$1" "$TMP/names"; }

# Those of ours: of the program that is pinned here, not of others on the machine.
pins() { ls /sys/fs/bpf/tnf/import 2>/dev/null | wc -l; }
program() { bpftool -j prog show pinned /sys/fs/bpf/tnf/prog/import_tracepoint | jq_id; }
jq_id() { sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }
links() { bpftool link show 2>/dev/null | grep -c " prog $1 *\$"; }
map_ids() { for m in rows counts asked pool buf; do bpftool -j map show pinned "/sys/fs/bpf/tnf/$m" | jq_id; done; }

"$kpctl" alloc 4000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" on || fail "on"
i=0
# shellcheck disable=SC2046 # one word a probe
while [ "$i" -lt "$rounds" ]; do
	set -- $(some $((i % 7 + 1)))
	"$kpctl" enable "$@" || fail "enable $*"
	[ "$(pins)" -eq $# ] || fail "round $i: $(pins) pins for $*"
	if [ "$i" -eq 0 ]; then
		prog=$(program) maps=$(map_ids)
		equal "links" "$(links "$prog")" $#
	fi
	"$kpctl" disable "$@" || fail "disable $*"
	i=$((i + 1))
done
equal "links after $rounds rounds" "$(links "$prog")" 0
equal "the program is the same" "$(program)" "$prog"
[ "$(map_ids)" = "$maps" ] || fail "other maps: $(map_ids), not $maps"
equal "pins" "$(pins)" 0

# Killed wherever it is: what is on then is what the next one says is on.
# shellcheck disable=SC2046 # one word a probe
while [ "$kills" -gt 0 ]; do
	set -- $(some 60)
	"$prex" -k -c "$(for n; do echo "enable name='$n'; trace name='$n';"; done)" >/dev/null 2>&1 &
	sleep "0.$(shuf -n 1 -i 10-99)"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	"$kpctl" off && "$kpctl" on || fail "after a kill"
	"$kpctl" list | grep -c ' enabled traced$' >"$TMP/on"
	equal "pins as many as are on" "$(pins)" "$(cat "$TMP/on")"
	"$prex" -k -c "disable origin=tracepoint; untrace origin=tracepoint" >"$TMP/said" 2>&1 ||
		fail "disable: $(cat "$TMP/said")"
	equal "pins when they are off" "$(pins)" 0
	kills=$((kills - 1))
done
wait_for 10 test "$(links "$prog")" -eq 0 || fail "$(links "$prog") links are left"
"$kpctl" off && "$kpctl" dealloc || fail "dealloc"
gone() { ! bpftool prog show id "$prog" >/dev/null 2>&1; }
wait_for 10 gone || fail "the program is left"
for m in $maps; do
	gone() { ! bpftool map show id "$m" >/dev/null 2>&1; }
	wait_for 10 gone || fail "map $m is left"
done
[ -z "$(ls -A /sys/fs/bpf/tnf 2>/dev/null)" ] || fail "pins are left"
echo "ok: nothing is left"
