#!/bin/bash
# What tnfwatch costs and how fast it keeps: bench/watch.sh BUILD [PART ...]
#
#   cost     part of a CPU for 50,000 events a second with five triggers
#   history  memory and disk for a minute of 400,000 events a second, and its reach
#   fire     from a firing to the complete incident, 64 MiB of kernel ring (root)
#   stalls   200 stalls of 50 to 500 ms: each in one incident, none without
#   many     500 processes: how long until all are watched, and what it costs then
#   exec     of 50 programs that are started, how many have their first probe in the trace
#   ring     from an event to the complete incident, 16 MiB of a process's ring
#   peers    the same of lttng's trigger with a snapshot, and how many of 50 events make one;
#            how many of a program's stalls bpftrace tells, and how late; no history there
set -u
B=$(realpath "${1:?BUILD}")
shift
S=$(realpath "$(dirname "$0")/..")
[ $# -gt 0 ] || set -- cost history fire stalls many exec ring peers
T=$(mktemp -d "${TMPDIR:-/tmp}/tnf-bench.XXXXXX")
STARTED=
end() {
	for p in $STARTED; do kill "$p" 2>/dev/null; done
	wait
	rm -rf "$T"
}
trap end EXIT
[ -x "$B/tests/watch/shop" ] || ninja -C "$B" tests/watch/shop >/dev/null
cp "$B/tests/watch/shop" "$T/shop"
export LD_LIBRARY_PATH=$B/libtnfprobe
W() { "$B/tnfwatch/tnfwatch" -c "$T/watch.conf" "$@"; }

conf() {
	printf '[watch]\ndirectory = %s\nrun = %s/run\n' "$T/kept" "$T/kept" >"$T/watch.conf"
	cat >>"$T/watch.conf"
}
watch() {
	"$B/tnfwatch/tnfwatch" -c "$T/watch.conf" 2>>"$T/log" &
	PID=$!
	STARTED="$STARTED $PID"
	until W status >/dev/null 2>&1; do sleep 0.05; done
}
stop() {
	kill "$PID"
	wait "$PID"
	rm -rf "$T/kept"
}
# ticks PID: of a CPU, of the process without its children
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
# cpu SECONDS: per cent of a CPU that tnfwatch takes meanwhile
cpu() {
	local a b
	a=$(ticks "$PID")
	sleep "$1"
	b=$(ticks "$PID")
	awk -v t=$((b - a)) -v s="$1" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", 100 * t / hz / s }'
}
source_of() { W status | awk -v s="$1" 'index($1, s) == 1'; }

cost() {
	conf <<-C
	[process shop]
	program = $T/shop
	enable = order
	size = 16m
	[trigger a]
	when = duration(order) > 60s
	[trigger b]
	when = open(order) > 60s
	[trigger c]
	when = probe == "order_end" and id < 0
	[trigger d]
	when = silence(order_end) > 60s
	[trigger e]
	when = lost() > 1000000
	C
	watch
	"$T/shop" 25000 >/dev/null & local shop=$!
	sleep 3
	echo "cost: $(cpu 15) % of a CPU; $(source_of shop | awk '{ print $2 }') events/s"
	kill $shop
	stop
}

history() {
	local seconds=${SECONDS_OF_HISTORY:-70}
	conf <<-C
	keep = 60s
	limit = 4g
	segments = memory
	[process shop]
	program = $T/shop
	enable = order
	size = 64m
	[trigger hand]
	after = 0s
	C
	watch
	"$T/shop" 200000 >/dev/null & local shop=$!
	sleep "$seconds"
	echo "history: $(source_of shop)"
	# The ring of the process is mapped, and is its memory whether we look or not.
	echo "history: $(awk '/^VmHWM/ { most = $2 } /^RssAnon/ { own = $2 }
		END { printf "%d MB of memory at most with the ring, %d MB of its own now", most * 1.024e-3, own * 1.024e-3 }
		' "/proc/$PID/status"), $(cpu 5) % of a CPU"
	kill $shop
	stop
}

fire() {
	[ "$(id -u)" -eq 0 ] || { echo "fire: not measured: root alone"; return; }
	conf <<-C
	[kernel]
	buffer = 64m
	enable = thread syscall io
	[trigger hand]
	after = 0s
	C
	watch
	# The ring is to be full.
	for _ in 1 2 3; do
		timeout 20 dd if=/dev/zero of=/dev/null bs=1 count=1500000 2>/dev/null
	done
	local i id t0 t1
	for i in 1 2 3 4 5; do
		sleep 1
		t0=$(date +%s%N)
		id=$(W fire hand)
		until [ -e "$T/kept/incidents/$id/incident.json" ]; do sleep 0.002; done
		t1=$(date +%s%N)
		echo "fire: $(((t1 - t0) / 1000000)) ms, $(stat -c %b "$T/kept/incidents/$id/kernel.tnf" | awk '{ printf "%.1f", $1 / 2048 }') MiB of ring"
	done
	stop
	"$B/prex/prex" -k -c 'ktrace off; buffer dealloc; quit' >/dev/null
}

stalls() {
	TNF_SOURCE=$S TNF_BUILD=$B sh "$S/tests/watch/stalls.sh" "$B/tnfwatch/tnfwatch" "$T/shop" \
		"$B/tnfdump/tnfdump" 80000 | sed 's/^/stalls: /'
}

many() {
	local n=${PROCESSES:-500} i t0 t1 shops=
	conf <<-C
	keep = 5s
	[process shop]
	program = $T/shop
	enable = order
	size = 256k
	[trigger slow]
	when = duration(order) > 60s
	C
	for i in $(seq "$n"); do "$T/shop" 10 >/dev/null & shops="$shops $!"; done
	t0=$(date +%s%N)
	watch
	until [ "$(source_of shop | wc -l)" -ge "$n" ]; do sleep 0.2; done
	t1=$(date +%s%N)
	echo "many: $n processes watched after $(((t1 - t0) / 1000000)) ms"
	echo "many: $(cpu 10) % of a CPU for $((n * 20)) events/s of $n processes"
	for i in $shops; do
		case $(awk '/^State:/ { print $2 }' "/proc/$i/status") in T | t) echo "many: $i is stopped" ;; esac
	done
	# shellcheck disable=SC2086  # words are meant
	kill $shops
	stop
}

exec_() {
	local i n=0
	conf <<-C
	[process shop]
	program = $T/shop
	enable = shop order
	size = 256k
	from_start = yes
	[trigger hand]
	after = 0s
	C
	watch
	# A program that neither links nor preloads the library has run on by then.
	for i in $(seq 50); do
		TNF_WATCH=$T/kept/run LD_PRELOAD=$B/libtnfprobe/libtnfprobe.so.1 "$T/shop" 1000 100 >/dev/null
	done
	sleep 1
	i=$T/kept/incidents/$(W fire hand)
	until [ -e "$i/incident.json" ]; do sleep 0.05; done
	for f in "$i"/shop-*.tnf; do
		"$B/tnfdump/tnfdump" "$f" 2>/dev/null | grep -q 'shop_opens  ' && n=$((n + 1))
	done
	echo "exec: $n of 50 programs have the first probe of main() in the trace"
	stop
}

# after EVENT DONE: ms between two times in seconds
after() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", (b - a) * 1000 }'; }

ring() {
	conf <<-C
	keep = 1s
	[process shop]
	program = $T/shop
	enable = order
	size = 16m
	[trigger stalled]
	when = probe == "order_end" and stalled == 1
	after = 0s
	limit = 100/hour
	C
	watch
	local i id
	for i in 1 2 3 4 5; do
		"$T/shop" 200000 400000 400000 >/dev/null
		until [ "$(W list | grep -c .)" -ge "$i" ]; do sleep 0.02; done
		id=$(W list | awk 'END { print $1 }')
		# It got its name, and with it another change time, when it was whole.
		echo "ring: $(after "$(jq -r .wall "$T/kept/incidents/$id/incident.json" |
			xargs -I @ date -d @ +%s.%N)" "$(stat -c %.9Z "$T/kept/incidents/$id")") ms," \
			"of them $(jq '(.end - .time) / 1e5 | round / 10' "$T/kept/incidents/$id/incident.json") before it was written," \
			"$(du -sm "$T/kept/incidents/$id" | cut -f1) MiB"
		# The ring of one that has ended is part of the next incident until it goes.
		until [ -z "$(find "$T/kept/rings" -name 'shop-*')" ]; do sleep 0.2; done
	done
	stop
}

# lttng_session BYTES: of each of four parts of a CPU's ring
lttng_session() {
	lttng -n create watch --snapshot --output="$T/lttng" >/dev/null &&
		lttng -n enable-channel -u c --subbuf-size="$1" --num-subbuf=4 >/dev/null &&
		lttng -n enable-event -u -c c -a >/dev/null && lttng -n start >/dev/null &&
		lttng -n add-trigger --name=t --condition=event-rule-matches --type=user \
			--name=bench:none --action=snapshot-session watch >/dev/null
}
lttng_session_end() {
	lttng -n remove-trigger t >/dev/null
	lttng -n destroy watch >/dev/null
	rm -rf "$T/lttng"
}
snapshots() { find "$T/lttng" -mindepth 1 -maxdepth 1 -type d | wc -l; }
# settled: nothing has been written for two seconds
settled() { [ -z "$(find "$T/lttng" -newermt '2 seconds ago' -print -quit)" ]; }

peer_lttng() {
	local i c event
	export LTTNG_HOME=$T/home
	mkdir -p "$LTTNG_HOME"
	[ -x "$B/bench/peer-lttng" ] || ninja -C "$B" bench/peer-lttng >/dev/null || return
	lttng-sessiond --daemonize --no-kernel --pidfile "$T/lttng.pid" >/dev/null 2>&1 ||
		{ echo "lttng: not measured: no session daemon"; return; }
	STARTED="$STARTED $(cat "$T/lttng.pid")"
	for i in 1 2 3 4 5; do
		lttng_session 2M || return
		# Each CPU's part is to be full.
		for c in $(seq 0 $(($(nproc) - 1))); do
			taskset -c "$c" "$B/bench/peer-lttng" args 1000000 1 >/dev/null
		done
		"$B/bench/peer-lttng" none 0 1 >/dev/null
		until [ "$(snapshots)" -ge 1 ] && settled; do sleep 0.2; done
		event=$(babeltrace2 --clock-seconds "$T/lttng" 2>/dev/null | awk '/bench:none/ { gsub(/[][]/, "", $1); print $1; exit }')
		echo "lttng: ring: $(after "$event" "$(find "$T/lttng" -type f -printf '%T@\n' | sort -n | tail -1)") ms," \
			"$(du -sm "$T/lttng" | cut -f1) MiB"
		lttng_session_end
	done
	lttng_session 64k || return
	for i in $(seq 50); do
		"$B/bench/peer-lttng" none 0 1 >/dev/null
		sleep "0.$((RANDOM % 3))"
	done
	until settled; do sleep 0.2; done
	echo "lttng: $(snapshots) snapshots of 50 events"
	lttng_session_end
}

# Python reads bpftrace's lines and says how late each was.
peer_bpftrace() {
	local stalls
	if ! command -v bpftrace >/dev/null || [ "$(id -u)" -ne 0 ]; then
		echo "bpftrace: not measured: root and bpftrace are needed"
		return
	fi
	cat >"$T/late.py" <<-'P'
	import sys, time
	late = []
	for line in sys.stdin:
	    word = line.split()
	    if word[:1] == ["begin"]:
	        open(sys.argv[1], "w").close()
	    if word[:1] == ["stall"]:
	        late.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC) - int(word[1])) / 1e6)
	late.sort()
	print(len(late), "%.1f" % late[len(late) // 2] if late else "-")
	P
	# shellcheck disable=SC2016  # the text is bpftrace's
	timeout -s INT 60 bpftrace -e 'BEGIN { printf("begin\n"); } tracepoint:syscalls:sys_enter_clock_nanosleep /comm == "shop"/ { @s[tid] = nsecs; }
		tracepoint:syscalls:sys_exit_clock_nanosleep /@s[tid] && nsecs - @s[tid] > 45000000/
		{ printf("stall %lld\n", nsecs); }
		tracepoint:sched:sched_process_exit /comm == "shop" && pid == tid/ { exit(); }' 2>/dev/null |
		python3 "$T/late.py" "$T/began" >"$T/late" &
	until [ -e "$T/began" ]; do sleep 0.1; done
	stalls=$("$T/shop" 1000 5000 100 | wc -l)
	wait $!
	echo "bpftrace: of $stalls stalls, and ms until each was told (median): $(cat "$T/late")"
}

peers() {
	if command -v lttng-sessiond >/dev/null; then
		peer_lttng
	else
		echo "lttng: not measured: lttng-tools is not installed"
	fi
	peer_bpftrace
}

for part; do
	case $part in
	exec) exec_ ;;
	*) "$part" ;;
	esac
done
