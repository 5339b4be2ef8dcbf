#!/bin/sh
# large.sh - tnfdump on 1 GiB that a process has recorded, more than once around.
#
# Seconds on the wall, from exec to exit; what is printed is read by a pipe.  "seen" ends
# when the reader has the first screen: the last milliseconds until exit are the kernel's,
# which takes down a mapping of 262,144 pages.  --info counts every event before it ends;
# its first lines are what headers tell.  "all
# read first" is the same with --strict, which reads every record before it prints.
# The file is in the page cache.  BENCH_DIR is where it is made: a file system's
# large folios, and so the faults that a mapping takes, are not those of another.
. "$(dirname "$0")/lib.sh"
tnfdump=$BENCH_BUILD/tnfdump/tnfdump probe=$BENCH_BUILD/bench/bench-probe
: "${BENCH_EVENTS:=40000000}"
out=$(mktemp -d -p "${BENCH_DIR:-/var/tmp}") || exit 1
at_exit 'rm -rf "$out"'

"$probe" --trace "$out/x.tnf" args "$BENCH_EVENTS" >/dev/null &&
	"$probe" --trace "$out/few.tnf" args $((BENCH_EVENTS / 20)) >/dev/null || exit 1
# Its controller makes room for all; the buffer has no more than 1 GiB.
[ "$(stat -c %s "$out/x.tnf")" -le 1073741824 ] || truncate -s 1073741824 "$out/x.tnf"
mib=$(($(stat -c %s "$out/x.tnf") >> 20)) few=$(info "$out/few.tnf" events)
middle=$("$tnfdump" --info=json "$out/x.tnf" |
	sed 's/.*"first_ns":\([0-9]*\),"last_ns":\([0-9]*\).*/\1 \2/' |
	awk '{ printf "%.3fs", ($2 - $1) / 2e9 }')
echo "$bench: $mib MiB, from $middle on"

# screen OPTION...: the first 50 lines
screen() { seconds sh -c '"$@" | head -n 50' screen "$tnfdump" "$@" "$out/x.tnf"; }
# into_file EVENTS CMD...: millions of events a second, where nobody reads beside it
into_file()
{
	_n=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	_s=$(seconds sh -c '"$@" >"$0"' "$out/text" "$@")
	rm -f "$out/text"
	echo "$_n $_s" | awk '{ printf "%.3f\n", $1 / $2 / 1e6 }'
}
# seen LINES OPTION...: until so many lines have come
seen()
{
	_lines=$1
	shift
	_t0=$(date +%s%N)
	"$tnfdump" "$@" "$out/x.tnf" 2>/dev/null | {
		head -n "$_lines" >/dev/null
		date +%s%N
	} | awk -v t0="$_t0" '{ printf "%.4f\n", ($1 - t0) / 1e9 }'
}
# all OPTION...: to the end
all() { seconds sh -c '"$@" | cat' all "$tnfdump" "$@" "$out/x.tnf"; }

while another 60; do
	for how in "" --strict; do
		name=${how:+, all read first}
		name=$(printf '%s' "$name" | tr -d ,)
		# shellcheck disable=SC2086
		sample "first 50 lines$name" s $round screen $how
		# shellcheck disable=SC2086
		sample "--from the middle first 50 lines$name" s $round screen $how --from "$middle"
		# shellcheck disable=SC2086
		sample "--last 1ms$name" s $round all $how --last 1ms
		# shellcheck disable=SC2086
		sample "--until 1ms$name" s $round all $how --until 1ms
	done
	sample "first 50 lines seen" s $round seen 50
	sample "--from the middle first 50 lines seen" s $round seen 50 --from "$middle"
	sample "--info first lines seen" s $round seen 5 --info
	sample "--info" s $round all --info
	sample "--raw" Mevents/s $round rate "$few" "$tnfdump" --raw "$out/few.tnf"
	sample "--raw into a file" Mevents/s $round into_file "$few" "$tnfdump" --raw "$out/few.tnf"
	sample "text" Mevents/s $round rate "$few" "$tnfdump" "$out/few.tnf"
done
table "first 50 lines" "tnfdump on $mib MiB"
