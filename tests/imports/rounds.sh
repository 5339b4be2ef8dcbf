#!/bin/sh
# rounds.sh VICTIM [ROUNDS [KILLS]] - USDT probes and functions on and off many times, of
# a file and of one process, while the program hits them; and a prex that is killed in
# the middle of it.  Afterwards no link, program, map or semaphore is left; the next
# prex puts right what the other has left half done.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
. "$TNF_SOURCE/tests/kernel/objects.sh"
victim=$(readlink -f "$1")
most=${2:-6} kills=${3:-3}

# COMMAND for 1 to 4 of them.
some() {
	shuf -n "$(shuf -n 1 -i 1-4)" <<-X | sed "s/^/$1 /" | tr '\n' ';'
	name=victim.none
	name=victim.sizes
	name=victim.text
	name=victim.twice
	name=victim.twelve
	name=victim.counted
	function=main
	function=described
	X
}
both() { chosen=$(some enable); echo "$chosen$(echo "$chosen" | sed 's/enable/trace/g')"; }

victim_start "$victim" -w
control -k -c 'buffer alloc 4m; ktrace on'
i=0
while [ "$i" -lt "$most" ]; do
	if [ $((i % 3)) -eq 0 ]; then
		control --no-fast -p "$pid" -c "$(both)"
	else
		control -k -c "import '$victim'; $(both)"
	fi
	[ "$(pins)" -gt 0 ] || fail "round $i: nothing is on: $(cat "$TMP/said")"
	round
	if [ "$i" -eq 0 ]; then
		prog=uprobe_hit
		[ -e /sys/fs/bpf/tnf/prog/$prog ] || prog=uprobe_plain
		[ -e /sys/fs/bpf/tnf/prog/$prog ] || prog=uprobe_quick
		prog=$(program_id $prog)
		maps=$(map_ids rows counts asked sites pool buf)
		[ "$(links "$prog")" -eq "$(pins)" ] || fail "$(links "$prog") links, $(pins) pins"
	fi
	control -k -c "disable origin=usdt origin=function; untrace origin=usdt origin=function"
	pins_are 0 || fail "round $i: links stay: $(ls /sys/fs/bpf/tnf/import)"
	i=$((i + 1))
done

# The kernel lets go of a link some time after it has been removed.
down() { round; [ "$(semaphores)" = "0 0 0 0 0 0 0 0" ] && [ "$(links "$prog")" -eq 0 ]; }
wait_for 60 down || fail "after $most rounds: $(links "$prog") links, semaphores $(semaphores)"
n=$(bpftool -j map dump pinned /sys/fs/bpf/tnf/sites | grep -o '"key"' | wc -l)
[ "$n" -eq 0 ] || fail "$n places of probes stay in the map"
echo "ok: after $most rounds: 0 links, 0 semaphores, 0 places"

# Killed wherever it is.
i=0
while [ "$i" -lt "$kills" ]; do
	list=''
	for n in 1 2 3 4 5; do list="$list$(both)"; done
	killed_soon "$prex" -k -c "import '$victim'; $list"
	round
	control -k -c "ktrace off; ktrace on; disable origin=usdt origin=function; untrace origin=usdt origin=function"
	pins_are 0 || fail "after a kill: links stay: $(ls /sys/fs/bpf/tnf/import)"
	i=$((i + 1))
done
wait_for 60 down || fail "after $kills kills: $(links "$prog") links, semaphores $(semaphores)"
echo "ok: after $kills kills: 0 links, 0 semaphores"

buffer_end
nothing_left "$prog" $maps
victim_end
