#!/bin/sh
# live.sh - two tnfwatch with a live program each, in one fleet: what one's trigger fires on
# is asked of the other one, and who asks both gets what their rings hold.
# Usage: live.sh TNFWATCH SHOP TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
need_program jq
need_ptrace
shop=$(realpath "$2")
fleet_programs "$1" "$3" "$4"
LD_LIBRARY_PATH=$TNF_BUILD/libtnfprobe:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
server
asker
for h in a b; do
	cp "$shop" "shop-$h" || fail "no shop"
	{
		printf '[watch]\ndirectory = %s\nrun = %s/run\n' "$TMP/kept/$h" "$TMP/kept/$h"
		printf '[process shop]\nprogram = %s\nenable = $all\n' "$TMP/shop-$h"
		printf '[fleet]\nservers = %s\nname = %s\nlabels = side=%s\n' "$NATS" "$h" "$h"
		[ $h = b ] || printf '[trigger call]\nafter = 0s\nask = label side=b wait 20s\n'
	} > "$h.conf"
	"./shop-$h" 200 1000000 > "shop-$h.log" 2>&1 &
	STARTED="$STARTED $!"
	"$W" -c "$h.conf" >> "$h.log" 2>&1 &
	eval "WATCH_$h=$!"
	STARTED="$STARTED $!"
done
watched() { "$W" -c "$1.conf" status 2>/dev/null | grep -q '^shop-[0-9]* .*[1-9]'; }
for h in a b; do wait_for 120 watched $h || fail "$h: $(cat $h.log; "$W" -c $h.conf status)"; done
wait_for 120 answers_all 2 || wrong "not both answer: $(cat try.out ./*.log)"
ask --patience 120s -o both > out 2>&1 || wrong "both: $(cat out a.log b.log)"
for h in a b; do
	[ "$("$DUMP" --no-header both/$h/*.tnf 2>/dev/null | wc -l)" -gt 0 ] || wrong "$h: no events: $(ls both/$h)"
	"$W" -c $h.conf list | grep -q asked || wrong "$h: no incident"
done
"$DUMP" --hosts --no-header --columns host both/* | sort -u | tr -d ' \n' | grep -qx ab || wrong "merged"
# How far back a machine reaches is told, and a question beyond it is not said to be answered.
ask --at "$(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%SZ)" --last 1s -o before > out 2>&1
[ $? -eq 3 ] && grep -q '^pin: 0 of 2 ' out && [ "$(grep -c '^missing: [ab]: reaches back to .* only: it has nothing' out)" = 2 ] ||
	wrong "an hour ago: $(cat out)"
for n in first again; do
	# shellcheck disable=SC2046  # two words, or none
	ask $([ $n = again ] || echo --last 5h) -o hours > out 2>&1
	[ $? -eq 3 ] && grep -q '^pin: 2 of 2 ' out && grep -q '^fetch: 2 of 2 ' out && grep -q '^reach: [0-9.]* s at least, of [ab]' out &&
		[ "$(grep -c '^missing: [ab]: reaches back to .* s of what was asked are not there' out)" = 2 ] || wrong "5h, $n: $(cat out)"
done
[ "$("$DUMP" --no-header hours/a/*.tnf | wc -l)" -gt 0 ] || wrong "5h: no events"
ask --last 1ms -o now > out 2>&1 || wrong "1ms: $(cat out)"
# A trigger of one asks the other.
"$W" -c a.conf fire call > fired || wrong "fire: $(cat a.log)"
asked() { ls kept/a/incidents/*call/hosts/b/*.tnf > /dev/null 2>&1; }
wait_for 120 asked || wrong "ask = : $(cat a.log; ls kept/a/incidents/*)"
# The agent goes with its tnfwatch, and comes again when it was killed alone.
agent_of() { pgrep -P "$1" tnfwatch-agent; }
first=$(agent_of "$WATCH_a")
[ -n "$first" ] || wrong "no agent"
kill -9 "$first"
again() { _a=$(agent_of "$WATCH_a") && [ "$_a" != "$first" ]; }
wait_for 120 again || wrong "the agent does not come again"
second=$(agent_of "$WATCH_a")
kill "$WATCH_a"
wait_for 120 sh -c "! kill -0 $WATCH_a 2>/dev/null || [ \"\$(ps -o stat= -p $WATCH_a | cut -c1)\" = Z ]" ||
	wrong "tnfwatch does not end"
gone() { ! kill -0 "$second" 2>/dev/null; }
wait_for 60 gone || wrong "the agent outlives its tnfwatch"
exit $bad
