#!/bin/sh
# fleet.sh - how tnfwatch ask grows with the number of machines.
#
# N agents are processes with a recorded file each, in ten network name spaces that wires
# with delay and loss join to one bridge (bench/wire.c); nats-server and the asker are in
# that of the bridge.  Three questions: one undisturbed; one during which 5 % of the agents
# are killed as soon as they have answered, then the server, which is started again, then
# who asks, who asks again; and one of those that are left, with 5 % of them stopped, and with
# strangers, that lie, have too much, send too little or too slowly (tests/fleet/liar.py).
#
# One row for each N; -o: also drawn (fleet.awk).
#	up		seconds until all are registered
#	pinned, fetch	seconds of the undisturbed question
#	asker, server, agent	KiB of memory, at most, at most, and of one (PSS)
#	idle		CPU of one agent that nobody asks
#	whole		hosts of which everything is there
#	back		seconds from the server's start until all agents are connected to it
#	cut		percent of all bytes that were there when the asker was killed
#	hurt		hosts of which everything is there in the end, of those alive
#	named		killed ones that are said to be missing
#	once		was no byte fetched twice, and nobody else said to be missing?
#	mixed		hosts of which everything is there in the third question, of those that run
#	said		killed ones, stopped ones and strangers that are said to be missing
#
# tools/bench asks 10 and 100 machines; 1,000 take some minutes more: bench/fleet.sh 1000.
#
# usage: fleet.sh [-d DELAY-ms] [-l LOSS-percent] [-o FILE.svg] [N ...]
. "$(dirname "$0")/lib.sh"
delay=10 loss=1 svg=
while getopts d:l:o: o; do
	case $o in d) delay=$OPTARG ;; l) loss=$OPTARG ;; o) svg=$(realpath "$OPTARG") ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
if [ -n "${BENCH_QUICK:-}" ]; then
	idles=1
	[ $# -gt 0 ] || set -- 3
else
	idles=20
	[ $# -gt 0 ] || set -- 10 100
fi
[ "$(id -u)" = 0 ] || leave "needs root, for network name spaces"
have nats-server nats-server && have jq jq && have curl curl && have ip iproute2 ||
	leave "programs are missing"
story=$BENCH_BUILD/tests/dump/story
[ -x "$story" ] && [ -x "$BENCH_BUILD/tnfwatch/tnfwatch" ] || leave "built without tnfwatch or the tests"
PATH=$BENCH_BUILD/tnfwatch:$BENCH_BUILD/tnfdump:$PATH
LD_LIBRARY_PATH=$BENCH_BUILD/libtnfprobe:$BENCH_BUILD/libtnf:$BENCH_BUILD/libtnfctl
export PATH LD_LIBRARY_PATH
T=$BENCH_TMP NET=fl$$ SPACES=10
fail() { echo "$bench: $*" >&2; exit 1; }
hub() { ip netns exec "$NET" "$@"; }
finish() {
	i=0
	while [ $i -le $SPACES ]; do
		s=$NET$([ $i -eq 0 ] || echo "-$i")
		ip netns pids "$s" 2>/dev/null | xargs -r kill -9
		ip netns del "$s" 2>/dev/null
		i=$((i + 1))
	done
	wait 2>/dev/null
	cd /
}
at_exit finish
cd "$T" || exit 1
for p in wire elapsed; do
	${CC:-cc} -O2 -D_GNU_SOURCE -o $p "$bench_dir/$p.c" || fail "no $p"
done

# until_true SECONDS COMMAND ...: not often, since it takes CPU from what is measured
until_true() { _n=$(($1 * 4)); shift; until "$@"; do [ $((_n -= 1)) -gt 0 ] || return 1; sleep 0.25; done; }
# Waits for a thing that lasts for a moment only.
until_soon() { _n=$(($1 * 50)); shift; until "$@"; do [ $((_n -= 1)) -gt 0 ] || return 1; sleep 0.02; done; }

network() {
	ip netns add "$NET" || fail "no network name spaces"
	hub ip link set lo up
	hub ip link add br0 type bridge
	hub ip addr add 10.78.0.1/16 dev br0
	hub ip link set br0 up
	names=
	i=1
	while [ $i -le $SPACES ]; do ip netns add "$NET-$i"; names="$names $NET-$i"; i=$((i + 1)); done
	# shellcheck disable=SC2086
	hub ./wire "$delay" "$loss" $names > wire.out &
	until_true 20 grep -q ready wire.out || fail "no wires"
	i=1
	for s in $names; do
		hub ip link set "$s" master br0 up
		ip netns exec "$s" ip addr add "10.78.1.$i/16" dev eth0
		ip netns exec "$s" ip link set eth0 up
		i=$((i + 1))
	done
}
server() {
	printf 'listen: "10.78.0.1:4222"\nhttp: "127.0.0.1:8222"\njetstream { store_dir: "%s/js", max_mem: 64m, max_file: 512m }\n' "$T" > nats.conf
	ip netns exec "$NET" nats-server -c nats.conf >> nats.log 2>&1 &
	server=$!
	until_true 60 hub curl -s -o /dev/null http://127.0.0.1:8222/varz || fail "no server: $(cat nats.log)"
}
registered() { [ "$(hub curl -s 'http://127.0.0.1:8222/jsz' | jq .messages)" -ge "$1" ]; }
connected() { [ "$(hub curl -s http://127.0.0.1:8222/varz | jq .connections)" -ge "$1" ]; }
# Do they also hear questions?
subscribed() {
	[ "$(hub curl -s 'http://127.0.0.1:8222/connz?limit=20000' | jq '[.connections[] | select(.subscriptions >= 2)] | length')" -ge "$1" ]
}
kb() { awk -v k="$1:" '$1 == k { print $2 }' "/proc/$2/status" 2>/dev/null; }

# A recorded file of 4,000 events, the same for all but for its host's name.
record() {
	awk -v host="$1" 'BEGIN { print "process 100\nboot 1\nprobe work net id:tnf_int32"
		for (i = 0; i < 4000; i++) print 1000000 + i * 1000, "100 101 1 0 work", i * 7919 % 4001
		print "@host " host "\n@clock 1000000 1700000000001000000\n@sync synchronised 0 5000000 5000000" }' |
		"$story" "$2"
}
agents() {
	record m source.tnf || fail "no source"
	i=1
	: > start
	while [ $i -le "$1" ]; do
		mkdir -p "rec/$i" "kept/$i"
		ln source.tnf "rec/$i/shop.tnf"
		printf '[watch]\ndirectory = %s/kept/%s\nrun = %s/kept/%s/run\n[fleet]\nservers = nats://10.78.0.1:4222\nname = m%s\nrecorded = %s/rec/%s\n' \
			"$T" $i "$T" $i $i "$T" $i > "m$i.conf"
		i=$((i + 1))
	done
	i=1
	while [ $i -le $SPACES ]; do
		# shellcheck disable=SC2016
		ip netns exec "$NET-$i" sh -c 'i=$1; while [ "$i" -le "$3" ]; do
			tnfwatch -c "m$i.conf" agent >> agents.log 2>&1 & echo $! > "kept/$i/pid"; i=$((i + $2)); done' sh $i $SPACES "$1"
		i=$((i + 1))
	done
}
pids() { cat kept/*/pid; }
# Ticks of CPU that the agents took so far.
# shellcheck disable=SC2046
ticks() { awk '{ n += $14 + $15 } END { print n + 0 }' $(pids | sed 's|.*|/proc/&/stat|'); }
pss() { for p in $(pids | head -20); do awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup"; done | awk '{ n += $1 } END { print int(n / NR) }'; }
ask() { hub tnfwatch -c ask.conf ask "$@"; }
# Bytes of files, also of those that are not whole.
there() { find "$1" -name '*shop.tnf' -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }
whole() { n=0; for f in "$1"/*/shop.tnf; do cmp -s "$f" source.tnf && n=$((n + 1)); done; echo $n; }

# one N: a row of the table.
one() {
	N=$1
	rm -rf js kept rec m*.conf all hurt some
	server
	printf '[fleet]\nservers = nats://10.78.0.1:4222\n' > ask.conf
	ask --wait 1s -o none > /dev/null 2>&1; rm -rf none
	begun=$(date +%s)
	agents "$N"
	until_true 300 registered "$N" || fail "only $(hub curl -s 'http://127.0.0.1:8222/jsz' | jq .messages) registered"
	up=$(($(date +%s) - begun))
	before=$(ticks); sleep $idles; idle=$(awk -v t=$(($(ticks) - before)) -v n="$N" -v s=$idles 'BEGIN { printf "%.3f", t / s / n }')
	each=$(pss)
	timeout 120 ip netns exec "$NET" ./elapsed -m tnfwatch -c ask.conf ask --wait 60s -o all > out || fail "undisturbed: $(tail -5 out)"
	pin=$(sed -n 's/^pin: .* after \(.*\) s$/\1/p' out) fetch=$(sed -n 's/^fetch: .*, \([0-9.]*\) s$/\1/p' out)
	bytes=$(sed -n 's/^fetch: .* chunks, \([0-9]*\) bytes.*/\1/p' out) wire=$(sed -n 's/^fetch: .*(\([0-9]*\) on the wire.*/\1/p' out)
	most=$(sed -n '$s/\..*//p' out) srv=$(kb VmHWM $server) all=$(whole all)
	killed=0 back=- cut=- again=0 named=0 once=- mixed=- said=-
	[ -n "${BENCH_QUICK:-}" ] || { hurt; mixed; }
	# shellcheck disable=SC2059
	printf "$FORMAT" "$N" "$up" "$pin" "$fetch" "$bytes" "$wire" "$most" "$srv" "$each" "$idle" "$all" \
		"$back" "$cut" "$again/$((N - killed))" "$named/$killed" "$once" "$mixed" "$said" | tee -a rows
	pids | xargs -r kill -9 2>/dev/null
	kill -9 $server; wait $server 2>/dev/null
}
# Is there more of it than so many bytes, or has who asks ended?
more() { [ "$(there hurt)" -gt "$1" ] || ! kill -0 "$asker" 2>/dev/null; }
victim() { echo "m$(($1 * 20 % N + 1))"; }

# The row shows what happens to the second question.  Each wait has an end: answers that
# have not come by then are seen in the row.
hurt() {
	killed=$((N / 20)); [ $killed -gt 0 ] || killed=1
	ip netns exec "$NET" tnfwatch -c ask.conf ask --wait 60s --patience 60s -o hurt > hurt.1 2>&1 &
	asker=$!
	until_soon 60 grep -q '^pin:' hurt.1 || fail "hurt: $(cat hurt.1)"
	i=1; while [ $i -le $killed ]; do v=$(victim $i); kill -9 "$(cat "kept/${v#m}/pid")"; echo "$v"; i=$((i + 1)); done | sort > victims
	# It stands still until the server is there again: it shall not have all by then.
	until_soon 20 more 0
	kill -STOP $asker 2>/dev/null
	had=$(there hurt)
	kill -9 $server; wait $server 2>/dev/null
	server
	kill -CONT $asker 2>/dev/null
	begun=$(date +%s)
	until_soon 15 more "$had"
	kill -9 $asker 2>/dev/null
	wait $asker 2>/dev/null
	had=$(there hurt)
	back=-
	until_true 60 connected $((N - killed)) && until_true 20 subscribed $((N - killed)) && back=$(($(date +%s) - begun))
	cut=$((had * 100 / (N * $(stat -c %s source.tnf))))
	timeout 120 ip netns exec "$NET" tnfwatch -c ask.conf ask --wait 5s --patience 10s -o hurt > hurt.2 2>&1
	got=$(sed -n 's/^fetch: .* chunks, \([0-9]*\) bytes.*/\1/p' hurt.2)
	sed -n 's/^missing: \([^:]*\): .*/\1/p' hurt.2 | sort > missing
	named=$(comm -12 victims missing | wc -l) again=$(whole hurt) once=no
	[ $((had + ${got:-0})) -eq "$(there hurt)" ] && [ -z "$(comm -13 victims missing)" ] && once=yes
	[ $once = yes ] || { echo "$had bytes were there, $got came, $(there hurt) are there"; grep -v '^missing: .*away for' hurt.2; } >&2
	again=$((again - $(while read -r v; do cmp -s "hurt/$v/shop.tnf" source.tnf && echo; done < victims | wc -l)))
}
stopped() { while read -r v; do kill "-$1" "$(cat "kept/${v#m}/pid")"; done < asleep; }
mixed() {
	i=1; while [ $i -le $killed ]; do echo "m$((i * 20 % N + 2))"; i=$((i + 1)); done | sort | comm -23 - victims > asleep
	stopped STOP
	strangers="liar greedy drip slow" liars=
	for h in $strangers; do
		: > "$h.out"
		ip netns exec "$NET" python3 "$bench_dir/../tests/fleet/liar.py" 10.78.0.1:4222 agent "$h" > "$h.out" 2>&1 &
		liars="$liars $!"
		until_true 60 grep -q ready "$h.out" || fail "$h: $(cat "$h.out")"
	done
	timeout 120 ip netns exec "$NET" tnfwatch -c ask.conf ask --wait 10s --patience 10s --deadline 30s -o some > some.out 2>&1
	sed -n 's/^missing: \([^:]*\): .*/\1/p' some.out | sort -u > missing
	echo "$strangers" | tr ' ' '\n' | sort - victims asleep > absent
	mixed=$(whole some)/$((N - killed - $(wc -l < asleep)))
	said=$(comm -12 absent missing | wc -l)/$(wc -l < absent)
	comm -13 absent missing | sed 's/^/missing, but runs: /' >&2
	stopped CONT
	# shellcheck disable=SC2086  # words are meant
	kill $liars
}
network
FORMAT='%6s %7s %8s %8s %11s %10s %8s %8s %8s %9s %6s %6s %5s %9s %7s %6s %7s %6s\n'
echo "delay $delay ms each way, loss $loss %, $SPACES name spaces, load $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
# shellcheck disable=SC2059
printf "$FORMAT" hosts up/s pinned/s fetch/s bytes wire asker/K server/K agent/K 'idle/%CPU' whole back/s cut/% hurt named once mixed said
for n; do one "$n"; done
[ -z "$svg" ] || awk -f "$bench_dir/fleet.awk" rows > "$svg"
