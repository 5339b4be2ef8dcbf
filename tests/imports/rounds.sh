#!/bin/sh
# rounds.sh VICTIM [ROUNDS [KILLS]] - USDT probes and functions on and off many times, of
# a file and of one process, while the program hits them; and a prex that is killed in
# the middle of it.  Afterwards no link, program, map or semaphore is left; the next
# prex puts right what the other has left half done.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
victim=$(readlink -f "$1")
rounds=${2:-6} kills=${3:-3}
prex=$TNF_BUILD/prex/prex
export PATH="$PATH:/usr/sbin:/sbin"

need_kernel
[ -e /sys/bus/event_source/devices/uprobe ] || skip "kernel without uprobes"
. "$TNF_SOURCE/tests/kernel/objects.sh"
scratch
export HOME="$TMP"
pid=''
stop_all() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	[ ! -e /sys/fs/bpf/tnf/buf ] || "$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
	test_end
}
trap stop_all EXIT
control() { "$prex" "$@" >"$TMP/said" 2>&1 </dev/null || fail "prex $*: $(cat "$TMP/said")"; }

# The victim hits all probes whenever it reads a line, and then prints its semaphores.
mkfifo "$TMP/go"
"$victim" -w <"$TMP/go" >"$TMP/out" 7>&- 9>&- &
pid=$!
exec 7>"$TMP/go"
hits=1
lines_are() { [ "$(wc -l <"$TMP/out")" -ge "$1" ]; }
hit() {
	hits=$((hits + 1))
	echo >&7
	wait_for 60 lines_are "$hits" || fail "the victim has stopped"
}
semaphores() { tail -n 1 "$TMP/out"; }
wait_for 60 lines_are 1 || fail "victim"

no_pins() { [ "$(pins)" -eq 0 ]; }

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

control -k -c 'buffer alloc 4m; ktrace on'
i=0
while [ "$i" -lt "$rounds" ]; do
	if [ $((i % 3)) -eq 0 ]; then
		control -p "$pid" -c "$(both)"
	else
		control -k -c "import '$victim'; $(both)"
	fi
	[ "$(pins)" -gt 0 ] || fail "round $i: nothing is on: $(cat "$TMP/said")"
	hit
	if [ "$i" -eq 0 ]; then
		prog=uprobe_hit
		[ -e /sys/fs/bpf/tnf/prog/$prog ] || prog=uprobe_plain
		prog=$(program_id $prog)
		maps=$(map_ids rows counts asked sites pool buf)
		[ "$(links "$prog")" -eq "$(pins)" ] || fail "$(links "$prog") links, $(pins) pins"
	fi
	control -k -c "disable origin=usdt origin=function; untrace origin=usdt origin=function"
	no_pins || fail "round $i: links stay: $(ls /sys/fs/bpf/tnf/import)"
	i=$((i + 1))
done

# The kernel lets go of a link some time after it has been removed.
down() { hit; [ "$(semaphores)" = "0 0 0 0 0 0 0 0" ] && [ "$(links "$prog")" -eq 0 ]; }
wait_for 60 down || fail "after $rounds rounds: $(links "$prog") links, semaphores $(semaphores)"
n=$(bpftool -j map dump pinned /sys/fs/bpf/tnf/sites | grep -o '"key"' | wc -l)
[ "$n" -eq 0 ] || fail "$n places of probes stay in the map"
echo "ok: after $rounds rounds: 0 links, 0 semaphores, 0 places"

# Killed wherever it is.
i=0
while [ "$i" -lt "$kills" ]; do
	list=''
	for n in 1 2 3 4 5; do list="$list$(both)"; done
	killed_soon "$prex" -k -c "import '$victim'; $list"
	hit
	control -k -c "ktrace off; ktrace on; disable origin=usdt origin=function; untrace origin=usdt origin=function"
	no_pins || fail "after a kill: links stay: $(ls /sys/fs/bpf/tnf/import)"
	i=$((i + 1))
done
wait_for 60 down || fail "after $kills kills: $(links "$prog") links, semaphores $(semaphores)"
echo "ok: after $kills kills: 0 links, 0 semaphores"

control -k -c 'ktrace off; buffer dealloc'
nothing_left "$prog" $maps
exec 7>&-
wait "$pid"
pid=''
exit 0
