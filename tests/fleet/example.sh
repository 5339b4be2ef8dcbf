#!/bin/sh
# example.sh - examples/fleet: three machines in network name spaces, each of whose clocks is
# wrong, one command up, one down; a request that crosses all three is in causal order on one
# time line, and nothing of it is left.
# Usage: example.sh TNFWATCH TNFDUMP RELAY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
W=$(realpath "$1") DUMP=$(realpath "$2") RELAY=$(realpath "$3")
need_root
need_ptrace
need_program nats-server ip jq
ip netns add "tnf-try-$$" 2>/dev/null || skip "no network name spaces: ip netns add"
ip netns exec "tnf-try-$$" ip link add v0 type veth peer name v1 2>/dev/null || no=yes
ip netns del "tnf-try-$$"
[ -z "$no" ] || skip "no veth"
scratch
cd "$TMP" || exit 1
PATH=$(dirname "$W"):$(dirname "$DUMP"):$(dirname "$RELAY"):$PATH
LD_LIBRARY_PATH=$TNF_BUILD/libtnfprobe:$LD_LIBRARY_PATH
FLEET=$TMP/fleet FLEET_NET=tnf$$
export PATH LD_LIBRARY_PATH FLEET FLEET_NET
fleet() { "$TNF_SOURCE/examples/fleet/fleet" "$@"; }
trap 'fleet down; test_end' EXIT
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }

clocks=
for f in /usr/lib/*/faketime/libfaketime.so.1; do [ ! -e "$f" ] || clocks=-c; done
unshare -T --fork --monotonic 100 true 2>/dev/null || clocks=
# The sanitizer's library wants to be the first one.
if LD_TRACE_LOADED_OBJECTS=1 "$W" | grep -q 'lib[a-z]*san'; then clocks=; fi
# shellcheck disable=SC2086  # or none
fleet up $clocks > up.out 2>&1 || fail "up: $(cat up.out fleet/*.log)"
fleet load 20 || wrong "load"
fleet ask --last 10m -o stall > out 2>&1
# All is fetched, and that they have not watched for so long is said.
[ $? -eq 3 ] && grep -q '^fetch: 3 of 3 ' out && [ "$(grep -c ' s of what was asked are not there' out)" -eq 3 ] ||
	wrong "ask: $(cat out fleet/*.log)"

# 20 requests of ten events each, of which nothing may come before what caused it.
crossing() { "$DUMP" --hosts --no-header --to jsonl "$@" stall/* |
	jq -r 'select(.probe == ("took", "call", "back", "reply")) | "\(.host) \(.probe) \(.args.request) \(.args.message)"'; }
crossing --message call,took,message --message reply,back,message > seen
[ "$(wc -l < seen)" -eq 200 ] || wrong "$(wc -l < seen) events, not 200: $(cat fleet/*.log)"
for r in 1 7 20; do
	[ "$(awk -v r=$r '$3 == r { printf "%s:%s ", $1, $2 }' seen)" = \
		"web:took web:call app:took app:call db:took db:reply app:back app:reply web:back web:reply " ] ||
		wrong "request $r: $(awk -v r=$r '$3 == r' seen)"
done
# The clocks were wrong by seconds, and are known better than that.
if [ -n "$clocks" ]; then
	for h in web:-3 app:2 db:-0.5; do
		awk -v want="${h#*:}" '$1 == "offset" { o = $2 / 1e9 } $1 == "error" { e = $2 / 1e9 }
			END { d = o - want; exit !((d < 0 ? -d : d) <= e + 0.001) }' "stall/${h%:*}/clock" ||
			wrong "clock of $h: $(cat "stall/${h%:*}/clock")"
	done
else
	echo "without clocks of their own"
fi
# A machine answers for itself alone, in the example, too.
sed 's/^name = .*/name = db/' fleet/web.conf > imp.conf
ip netns exec "$FLEET_NET-web" "$W" -c imp.conf agent > imp.log 2>&1 &
imp=$!
wait_for 60 grep -q 'Permissions Violation' imp.log || wrong "web may be db: $(cat imp.log)"
kill $imp
fleet down || wrong "down"
ip netns list | grep "^$FLEET_NET-" && wrong "name spaces are left"
[ ! -e "$FLEET" ] || wrong "files are left"
pgrep -f "$FLEET" && wrong "processes are left"
exit $bad
