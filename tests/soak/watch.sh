#!/bin/bash
# watch.sh SECONDS [BUILD] - tnfwatch for an hour or a night: are memory, descriptors and CPU flat?
#
# Programs with stalls start, end and are killed, triggers fire at random from within and
# from outside, the configuration is read again.  Every ten seconds a line: seconds, resident
# KiB, descriptors, children, per cent of a CPU, incidents.  At the end the first and the
# last third are compared, and tnfwatch ends: what a sanitizer of the build has to say of it
# comes last.
set -u
seconds=${1:?SECONDS}
B=$(realpath "${2:-build}")
T=$(mktemp -d "${TMPDIR:-/tmp}/tnf-soak.XXXXXX")
PIDS=
end() {
	# shellcheck disable=SC2086  # words are meant
	kill $PIDS 2>/dev/null
	wait
	rm -rf "$T"
}
trap end EXIT
export LD_LIBRARY_PATH=$B/libtnfprobe:$B/libtnf:$B/libtnfctl
cp "$B/tests/watch/shop" "$T/shop" || exit 2
cat >"$T/watch.conf" <<C
[watch]
directory = $T/kept
run = $T/kept/run
keep = 20s
limit = 64m
[process shop]
program = $T/shop
enable = order
size = 512k
[trigger stalled]
when = duration(order) > 40ms
after = 200ms
limit = 100000/hour
[trigger open]
when = open(order) > 300ms
after = 100ms
[trigger hand]
after = 50ms
[trigger lost]
when = lost() > 0
limit = 60/hour
C
W() { "$B/tnfwatch/tnfwatch" -c "$T/watch.conf" "$@"; }
"$B/tnfwatch/tnfwatch" -c "$T/watch.conf" 2>"$T/log" &
PID=$!
PIDS=$PID
until W status >/dev/null 2>&1; do
	kill -0 "$PID" || { cat "$T/log"; exit 1; }
	sleep 0.1
done
# Three shops that go on, and one that ends after a while and starts again.
for i in 1 2 3; do
	"$T/shop" $((300 * i)) 0 $((4000 + 1000 * i)) >/dev/null &
	PIDS="$PIDS $!"
done
(trap 'kill %1 2>/dev/null; exit' TERM; while :; do "$T/shop" 500 10000 3000 >/dev/null & wait; done) &
PIDS="$PIDS $!"

ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$PID/stat"; }
hz=$(getconf CLK_TCK) begun=$SECONDS before=$(ticks) asked=0
while [ $((SECONDS - begun)) -lt "$seconds" ]; do
	sleep 10
	kill -0 "$PID" || { echo "tnfwatch has ended:"; cat "$T/log"; exit 1; }
	[ $((RANDOM % 4)) -ne 0 ] || { W fire hand --note soak >/dev/null && asked=$((asked + 1)); }
	[ $((RANDOM % 12)) -ne 0 ] || kill -HUP "$PID"
	now=$(ticks)
	echo "$((SECONDS - begun)) $(awk '/^VmRSS/ { print $2 }' "/proc/$PID/status")" \
		"$(find "/proc/$PID/fd" | wc -l) $(pgrep -P "$PID" | wc -l)" \
		"$(awk -v t=$((now - before)) -v hz="$hz" 'BEGIN { printf "%.2f", t * 10 / hz }')" \
		"$(W list | wc -l)" "$(awk '/^RssAnon/ { print $2 }' "/proc/$PID/status")"
	before=$now
done | tee "$T/samples"
W status
awk '{ rss[NR] = $2; fd[NR] = $3; cpu[NR] = $5; own[NR] = $7 }
END {
	n = int(NR / 3)
	for (t = 0; t < 3; t++) {
		r = f = c = o = 0
		for (i = t * n + 1; i <= (t + 1) * n; i++) {
			r += rss[i]; f += fd[i]; c += cpu[i]; o += own[i]
		}
		printf "third %d: %d KiB, %d of them its own, %.1f descriptors, %.2f %% of a CPU\n",
		    t + 1, r / n, o / n, f / n, c / n
	}
}' "$T/samples"
grep -c read "$T/log" | sed 's/$/ times read again/'
grep -v -E 'kept:|read again' "$T/log" | sort | uniq -c | sort -rn | head -5
kill "$PID"
wait "$PID"
echo "ended with $?; reports of a sanitizer: $(grep -c -e 'Sanitizer:' -e 'runtime error:' "$T/log")"
grep -A 20 -e 'Sanitizer:' -e 'runtime error:' "$T/log" | head -60
