#!/bin/sh
# import-rounds.sh [ROUNDS [KILLS]] - tracepoints on and off many times, and a prex that
# is killed in the middle of it: no program, link or map is left, and the next
# prex puts right what the other has left half done.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
rounds=${1:-12} kills=${2:-6}
export PATH="$PATH:/usr/sbin:/sbin"
. "$TNF_SOURCE/tests/kernel/objects.sh"

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
sed -n 's/^[0-9]* name \([^;.]*\.[^;]*\);.*/\1/p' "$TMP/all" | grep -v '^syscalls' >"$TMP/names"
# The first round looks at the program of all tracepoints: not at one with a program of its own.
some() { [ "$i" -gt 0 ] || set -- "$1" '^\(block\|ext4\|task\|signal\|writeback\)\.'
	grep -e "${2:-.}" "$TMP/names" | shuf -n "$1"; }

ours='rows counts asked pool buf'
# row SLOT: what programs look at, but for the word that says if they are to record
row() {
	bpftool map lookup pinned /sys/fs/bpf/tnf/rows key $(($1 % 256)) $(($1 / 256)) 0 0 |
		grep -v '"on":'
}

"$kpctl" alloc 4000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" on || fail "on"
i=0
# shellcheck disable=SC2046 # one word a probe
while [ "$i" -lt "$rounds" ]; do
	set -- $(some $((i % 7 + 1)))
	"$kpctl" enable "$@" || fail "enable $*"
	[ "$(pins)" -eq $# ] || fail "round $i: $(pins) pins for $*"
	if [ "$i" -eq 0 ]; then
		name=import_tracepoint
		[ -e /sys/fs/bpf/tnf/prog/$name ] || name=import_tracepoint_read
		prog=$(program_id $name) maps=$(map_ids $ours)
		equal "links" "$(links "$prog")" $#
		row 0 >"$TMP/row"
	fi
	"$kpctl" disable "$@" || fail "disable $*"
	# A program that has begun goes on by the row that it found.
	[ "$i" -ne 0 ] || row 0 | cmp "$TMP/row" - || fail "a row that is switched off is another"
	i=$((i + 1))
done
equal "links after $rounds rounds" "$(links "$prog")" 0
equal "the program is the same" "$(program_id $name)" "$prog"
[ "$(map_ids $ours)" = "$maps" ] || fail "other maps: $(map_ids $ours), not $maps"
equal "pins" "$(pins)" 0

# Killed wherever it is: what is on then is what the next one says is on.
# shellcheck disable=SC2046 # one word a probe
while [ "$kills" -gt 0 ]; do
	set -- $(some 60)
	killed_soon "$prex" -k -c "$(for n; do echo "enable name='$n'; trace name='$n';"; done)"
	"$kpctl" off && "$kpctl" on || fail "after a kill"
	"$kpctl" list | grep -c ' enabled traced$' >"$TMP/on"
	equal "pins as many as are on" "$(pins)" "$(cat "$TMP/on")"
	"$prex" -k -c "disable origin=tracepoint; untrace origin=tracepoint" >"$TMP/said" 2>&1 ||
		fail "disable: $(cat "$TMP/said")"
	equal "pins when they are off" "$(pins)" 0
	kills=$((kills - 1))
done
no_links() { [ "$(links "$prog")" -eq 0 ]; }
wait_for 10 no_links || fail "$(links "$prog") links are left"
"$kpctl" off && "$kpctl" dealloc || fail "dealloc"
nothing_left "$prog" $maps
