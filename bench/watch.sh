#!/bin/bash
# What tnfwatch costs and how fast it keeps: bench/watch.sh BUILD [PART ...]
#
#   cost     part of a CPU for 50,000 events a second with five triggers
#   history  memory and disk for a minute of 400,000 events a second, and its reach
#   fire     from a firing to the complete incident, 64 MiB of kernel ring (root)
#   stalls   200 stalls of 50 to 500 ms: each in one incident, none without
#   many     500 processes: how long until all are watched, and what it costs then
#   exec     of 50 programs that are started, how many have their first probe in the trace
set -u
B=$(realpath "${1:?BUILD}")
shift
S=$(realpath "$(dirname "$0")/..")
[ $# -gt 0 ] || set -- cost history fire stalls many exec
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
	echo "history: $(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$PID/status") MiB of memory at most, $(cpu 5) % of a CPU"
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
	[trigger hand]
	after = 0s
	C
	watch
	# A program that neither links nor preloads the library has run on by then.
	for i in $(seq 50); do
		LD_PRELOAD=$B/libtnfprobe/libtnfprobe.so.1 "$T/shop" 1000 100 >/dev/null
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

for part; do
	case $part in
	exec) exec_ ;;
	*) "$part" ;;
	esac
done
