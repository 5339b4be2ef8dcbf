#!/bin/bash
# watch.sh - what tnfwatch costs and how fast it keeps.  BENCH_PARTS chooses some of:
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
. "$(dirname "$0")/lib.sh"

B=$BENCH_BUILD T=$BENCH_TMP
S=$(realpath "$bench_dir/..")
STARTED=
end() {
	for p in $STARTED; do kill "$p" 2>/dev/null; done
	wait
}
at_exit end
[ -x "$B/tnfwatch/tnfwatch" ] && [ -x "$B/tests/watch/shop" ] ||
	leave "built without tnfwatch or its tests (Debian packages libzstd-dev, check)"
have jq jq || leave "no jq"
cp "$B/tests/watch/shop" "$T/shop"
# Seconds that a part lasts, and how many of something it does.
if [ -n "${BENCH_QUICK:-}" ]; then
	lasts=1 rounds=1 orders=8000 processes=5 programs=2
else
	lasts=15 rounds=5 orders=80000 processes=${PROCESSES:-500} programs=50
fi
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
	soon 60 answers
}
answers() { W status >/dev/null 2>&1; }
# soon SECONDS COMMAND...: until it is so, or the script has failed
soon() {
	local n=$(($1 * 20))
	shift
	until "$@"; do
		[ $((n -= 1)) -gt 0 ] || { echo "$bench: never: $*: $(tail -n 3 "$T/log")" >&2; exit 1; }
		sleep 0.05
	done
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
memory() { awk -v n="$1:" '$1 == n { printf "%d", $2 * 1.024e-3 }' "/proc/$PID/status"; }
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
	row "cost: tnfwatch" "% of a CPU" 1 "$(cpu $lasts)"
	row "cost: of" events/s 1 "$(source_of shop | awk '{ print $2 }')"
	kill $shop
	stop
}

history() {
	local seconds=${SECONDS_OF_HISTORY:-$((lasts * 5 - lasts / 3))}
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
	row "history: reaches back" s 1 "$(source_of shop | awk '{ print $3 + 0 }')"
	row "history: memory at most with the ring" MB 1 "$(memory VmHWM)"
	row "history: memory of its own" MB 1 "$(memory RssAnon)"
	row "history: tnfwatch" "% of a CPU" 1 "$(cpu $(((lasts + 2) / 3)))"
	kill $shop
	stop
}

fire() {
	kernel_lock || return
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
		timeout $((lasts + 5)) dd if=/dev/zero of=/dev/null bs=1 count=$((lasts * 100000)) 2>/dev/null 9>&-
	done
	local i id t0 t1
	for i in $(seq $rounds); do
		sleep 1
		t0=$(date +%s%N)
		id=$(W fire hand)
		until [ -e "$T/kept/incidents/$id/incident.json" ]; do
			kill -0 "$PID" || exit 1
			sleep 0.002
		done
		t1=$(date +%s%N)
		row "fire: kernel's ring to incident" ms "$i" $(((t1 - t0) / 1000000))
		row "fire: kernel's ring" MiB "$i" "$(stat -c %b "$T/kept/incidents/$id/kernel.tnf" | awk '{ printf "%.1f", $1 / 2048 }')"
	done
	stop
	kernel_off
	exec 9>&-
}

stalls() {
	local out
	out=$(TNF_SOURCE=$S TNF_BUILD=$B sh "$S/tests/watch/stalls.sh" "$B/tnfwatch/tnfwatch" "$T/shop" \
		"$B/tnfdump/tnfdump" $orders 2>&1) || { failed "stalls: $out"; return; }
	row "stalls: in one incident each" stalls 1 "$(echo "$out" | awk '/ stalls, / { print $1 }')"
	row "stalls: of" stalls 1 $((orders / 400))
}

watched() { [ "$(source_of shop | wc -l)" -ge "$1" ]; }
many() {
	local i t0 t1 shops=
	conf <<-C
	keep = 5s
	[process shop]
	program = $T/shop
	enable = order
	size = 256k
	[trigger slow]
	when = duration(order) > 60s
	C
	for i in $(seq "$processes"); do "$T/shop" 10 >/dev/null & shops="$shops $!"; done
	t0=$(date +%s%N)
	watch
	soon 120 watched "$processes"
	t1=$(date +%s%N)
	row "many: all of $processes processes watched" ms 1 $(((t1 - t0) / 1000000))
	row "many: tnfwatch for $((processes * 20)) events/s of them" "% of a CPU" 1 "$(cpu $lasts)"
	for i in $shops; do
		case $(awk '/^State:/ { print $2 }' "/proc/$i/status") in T | t) failed "many: $i is stopped" ;; esac
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
	for i in $(seq $programs); do
		TNF_WATCH=$T/kept/run LD_PRELOAD=$B/libtnfprobe/libtnfprobe.so.1 "$T/shop" 1000 100 >/dev/null
	done
	sleep 1
	i=$T/kept/incidents/$(W fire hand)
	soon 60 [ -e "$i/incident.json" ]
	for f in "$i"/shop-*.tnf; do
		"$B/tnfdump/tnfdump" "$f" 2>/dev/null | grep -q 'shop_opens  ' && n=$((n + 1))
	done
	row "exec: traced from the first probe of main()" "of $programs programs" 1 $n
	stop
}

# after EVENT DONE: ms between two times in seconds
after() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", (b - a) * 1000 }'; }

listed() { [ "$(W list | grep -c .)" -ge "$1" ]; }
no_ring() { [ -z "$(find "$T/kept/rings" -name 'shop-*')" ]; }
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
	for i in $(seq $rounds); do
		"$T/shop" 200000 400000 400000 >/dev/null
		soon 60 listed "$i"
		id=$(W list | awk 'END { print $1 }')
		# It gets its name when the last file is written, as a snapshot is there then; pages come later.
		row "ring: event to incident" ms "$i" "$(after "$(jq -r .wall "$T/kept/incidents/$id/incident.json" |
			xargs -I @ date -d @ +%s.%N)" "$(find "$T/kept/incidents/$id" -type f \
			\( -name '*.tnf*' -o -name incident.json \) -printf '%T@\n' | sort -n | tail -1)")"
		row "ring: of these before it is written" ms "$i" \
			"$(jq '(.end - .time) / 1e5 | round / 10' "$T/kept/incidents/$id/incident.json")"
		row "ring: incident" MiB "$i" "$(du -sm "$T/kept/incidents/$id" | cut -f1)"
		# The ring of one that has ended is part of the next incident until it goes.
		[ "$i" = $rounds ] || soon 60 no_ring
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
snapshot() { [ "$(snapshots)" -ge 1 ] && settled; }
settled() { [ -z "$(find "$T/lttng" -newermt '2 seconds ago' -print -quit)" ]; }

peer_lttng() {
	local i c event
	export LTTNG_HOME=$T/home
	mkdir -p "$LTTNG_HOME"
	[ -x "$B/bench/peer-lttng" ] || not_measured "no peer-lttng (Debian package liblttng-ust-dev)" || return
	lttng-sessiond --daemonize --no-kernel --pidfile "$T/lttng.pid" >/dev/null 2>&1 ||
		not_measured "lttng: no session daemon" || return
	STARTED="$STARTED $(cat "$T/lttng.pid")"
	for i in $(seq $rounds); do
		lttng_session 2M || return
		# Each CPU's part is to be full.
		for c in $(seq 0 $(($(nproc) - 1))); do
			taskset -c "$c" "$B/bench/peer-lttng" args 1000000 1 >/dev/null
		done
		"$B/bench/peer-lttng" none 0 1 >/dev/null
		soon 60 snapshot
		event=$(babeltrace2 --clock-seconds "$T/lttng" 2>/dev/null | awk '/bench:none/ { gsub(/[][]/, "", $1); print $1; exit }')
		row "lttng: event to snapshot" ms "$i" \
			"$(after "$event" "$(find "$T/lttng" -type f -printf '%T@\n' | sort -n | tail -1)")"
		row "lttng: snapshot" MiB "$i" "$(du -sm "$T/lttng" | cut -f1)"
		lttng_session_end
	done
	lttng_session 64k || return
	for i in $(seq 50); do
		"$B/bench/peer-lttng" none 0 1 >/dev/null
		sleep "0.$((RANDOM % 3))"
	done
	soon 60 settled
	row "lttng: snapshots of 50 events" snapshots 1 "$(snapshots)"
	lttng_session_end
}

# Python reads bpftrace's lines and says how late each was.
peer_bpftrace() {
	local stalls
	[ "$(id -u)" -eq 0 ] && have bpftrace bpftrace || return
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
	soon 60 [ -e "$T/began" ]
	stalls=$("$T/shop" 1000 $((rounds * 1000)) 100 | wc -l)
	wait $!
	row "bpftrace: told" "of $stalls stalls" 1 "$(cut -d' ' -f1 "$T/late")"
	row "bpftrace: until one is told" "ms (median)" 1 "$(cut -d' ' -f2 "$T/late")"
}

peers() {
	! have lttng-sessiond lttng-tools || peer_lttng
	peer_bpftrace
}

for part in ${BENCH_PARTS:-cost history fire stalls many exec ring peers}; do
	case $part in
	exec) exec_ ;;
	cost | history | fire | stalls | many | ring | peers) "$part" ;;
	*) echo "$bench: no part \"$part\"" >&2; exit 2 ;;
	esac
done
table "" "tnfwatch: what it costs and how fast it keeps"
