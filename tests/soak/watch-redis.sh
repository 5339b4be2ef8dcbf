#!/bin/sh
# watch-redis.sh - an incident under a real server: Debian's redis, as it is, is stalled in
# a known way while clients use it; what tnfwatch kept is compared with what was done.
#
# usage: watch-redis.sh
#
# Needs root, BTF, redis-server and jq; by hand, and not part of tools/check.
# tnfwatch follows the kernel alone: redis has no probes, is not attached to, and is not
# told.  The stall is made by DEBUG SLEEP: the one thread of redis sleeps.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_kernel
need_program redis-server redis-cli redis-benchmark jq python3
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_programs "$TNF_BUILD/tnfwatch/tnfwatch" "$TNF_BUILD/tests/watch/shop" "$TNF_BUILD/tnfdump/tnfdump"
prex=$TNF_BUILD/prex/prex
cd "$TMP" || exit 1
over() {
	watch_end
	"$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
}
trap over EXIT
trap 'exit 1' HUP INT TERM

redis-server --port 0 --unixsocket "$TMP/sock" --save '' --enable-debug-command yes \
	--dir "$TMP" >redis.log 2>&1 &
server=$!
STARTED="$STARTED $server"
ask() { redis-cli -s sock "$@"; }
pong() { [ "$(ask ping 2>&1)" = PONG ]; }
wait_for 60 pong || fail "redis does not answer: $(cat redis.log)"

conf <<T
keep = 5s
[kernel]
buffer = 16m
enable = thread syscall
pfilter = name=redis-server
[trigger asleep]
when = state(SLEEP) > 300ms and pid == $server and lwpid == $server
after = 1s
T
w check || fail "the configuration"
watch
followed() { answers && grep -q '^kernel *[1-9]' status; }
wait_for 30 followed || fail "no kernel: $(cat log status)"

# Work that goes on all the time, and one question whose answer the client times.
redis-benchmark -s sock -t set,get -n 100000000 -c 4 -q >/dev/null 2>&1 &
STARTED="$STARTED $!"
now() { python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'; }
ms() { echo $((($2 - $1) / 1000000)); }

# spans INCIDENT: the events of the main thread: time, probe, system call.
spans() {
	"$DUMP" --to jsonl "$1"/kernel*.tnf* 2>/dev/null | grep '"probe"' |
		jq -r --argjson p "$server" 'select(.tid == $p or .lwpid == $p) |
			[.time, .probe, (.args.sysnum // "-")] | @tsv'
}

stall() {	# NAME COMMAND...
	name=$1; shift
	from=$(now)
	"$@"
	to=$(now)
	one() { w list | grep -q -- "-$name "; }
	wait_for 20 one || fail "$name: no incident: $(cat log status)"
	id=$(w list | awk -v n="-$name" 'index($1, n) { print $1; exit }')
	written() { [ -e "$D/incidents/$id/incident.json" ]; }
	wait_for 60 written || fail "$name: not written: $(cat log)"
	whole "$D/incidents/$id"
	spans "$D/incidents/$id" >"$name.events"
	# The longest time without an event of the thread, within what was done.
	awk -v from="$from" -v to="$to" '
		last && $1 - last > most { most = $1 - last; at = last; what = before; call = number; ends = $1 }
		{ last = $1; before = $2; number = $3 }
		END { printf "%.0f %d %s %s %.0f\n", at, most / 1e6, what, call, ends }' "$name.events" >"$name.gap"
	read -r at gap what call ends <"$name.gap"
	echo "$name: injected within $(ms "$from" "$to") ms; redis's thread is silent for $gap ms," \
		"$(ms "$from" "$at") ms after it began, after $what${call:+ $call}:" \
		"$(w list | grep -- "$id" | sed 's/.*[KM]  *//')"
	[ "$at" -ge "$from" ] && [ "$at" -le "$to" ] || fail "$name: it was at $at, not in $from to $to"
	[ "$gap" -ge 550 ] && [ "$gap" -le "$(ms "$from" "$to")" ] || fail "$name: $gap ms"
}
debug_sleep() { ask debug sleep 0.6 >/dev/null; }

stall asleep debug_sleep
# DEBUG SLEEP is one system call of that time.
[ "$what $call" = "syscall_start 230" ] || [ "$what" = thread_state ] || fail "it slept in $what $call"
n=$(w list | grep -c .)
[ "$n" -eq 1 ] || fail "$n incidents of one stall: $(w list)"
stop_watch
echo "ok: 1 stall, 1 incident"
