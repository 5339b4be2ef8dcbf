#!/bin/sh
# liar.sh - who says on the wire what he should not: it is refused, nobody ends of it, and
# nothing is written but below the directory that was named.
# Usage: liar.sh TNFWATCH TNFDUMP STORY LIAR.PY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
fleet_programs "$@"
liar=$(cd "$TNF_SOURCE" && realpath tests/fleet/liar.py)
need_program python3
server
asker
agent good role=web
wait_for 120 answers_all 1 || fail "no answer: $(cat try.out good.log)"

# Garbage to everybody: the agent answers as before, has noted nothing that it should not.
python3 "$liar" "${NATS#nats://}" flood || wrong "flood"
kill -0 "$PID_good" || wrong "the agent has ended: $(cat good.log)"
wait_for 120 answers_all 1 || wrong "after the flood: $(cat try.out good.log)"
find kept -name '*etc*' -o -name '.new' | grep . && wrong "notes of garbage"
# Only to inboxes, and no more than a question has.
timeout 120 python3 "$liar" "${NATS#nats://}" reply || wrong "reply: $(cat good.log)"
grep -rl ballast kept/good/fleet && wrong "ballast is noted"
find . -type f | sort > before

# A host that lies: what is good is fetched, the liar is named, nothing else is there.
: > liar.out
python3 "$liar" "${NATS#nats://}" agent liar > liar.out 2>&1 &
LIARS=$!
STARTED="$STARTED $!"
wait_for 60 grep -q ready liar.out || fail "liar: $(cat liar.out)"
mkdir deep
ask --wait 3s --patience 4s -o deep/all > out 2>&1
[ $? -eq 3 ] || wrong "status: $(cat out)"
grep -q '^missing: liar: ' out || wrong "not named: $(cat out)"
cmp -s rec/good/shop.tnf deep/all/good/shop.tnf || wrong "good: $(cat out)"
[ -e deep/all/liar/e.tnf ] && wrong "a lie is a file"
find . -type f | sort | comm -13 before - | grep -v -e '^./deep/all/' -e '^./kept/good/fleet/' \
	-e '^./js/' -e '^./out$' -e '^./liar.out$' -e '^./before$' && wrong "files elsewhere"
find . -name '*evil*' | grep . && wrong "evil names"
[ -e /tmp/evil.tnf ] && wrong "/tmp/evil.tnf"
grep -q "$(printf '\033')" out && wrong "controls on the terminal"
[ "$(ls deep/all | tr '\n' ' ')" = "good liar " ] || wrong "directories: $(ls deep/all)"

# An agent that has too much, sends less than asked for, or never comes to an end is given up.
kill -9 "$LIARS"
LIARS=
for h in greedy drip slow; do
	: > $h.out
	python3 "$liar" "${NATS#nats://}" agent $h > $h.out 2>&1 &
	LIARS="$LIARS $!"
	STARTED="$STARTED $!"
	wait_for 60 grep -q ready $h.out || fail "$h: $(cat $h.out)"
done
ask --hosts '[gds][rl]*' --wait 60s --patience 60s --deadline 20s -o three > out 2>&1
[ $? -eq 3 ] || wrong "three: status: $(cat out)"
grep -q '^missing: greedy: .* has more than --bytes 4294967296$' out || wrong "greedy: $(cat out)"
grep -q '^missing: drip: ' out || wrong "drip: $(cat out)"
grep -q '^missing: slow: .* takes longer than --deadline$' out || wrong "slow: $(cat out)"
find three -name e.tnf | grep . && wrong "three: a file"
for p in $LIARS; do kill -9 "$p"; done

# A piece that does not come in time is asked for in smaller pieces, which do.
: > far.out
python3 "$liar" "${NATS#nats://}" agent far > far.out 2>&1 &
FAR=$!
STARTED="$STARTED $FAR"
wait_for 60 grep -q ready far.out || fail "far: $(cat far.out)"
ask --hosts far --wait 60s --patience 120s -o far > out 2>&1 || wrong "far: $(cat out far.out)"
[ "$(stat -c %s far/far/e.tnf)" = 200000 ] || wrong "far: $(cat out)"
kill -9 "$FAR"
ask --hosts good --wait 60s --bytes 100 -o little > out 2>&1 && wrong "little: status 0"
grep -q '^missing: good: .* has more than --bytes 100$' out || wrong "little: $(cat out)"
ask --wait 60s --bytes 100 -o little > out 2>&1 && wrong "little: status 0"
ask --wait 60s --bytes 1m -o little > out 2>&1 || wrong "little, again: $(cat out)"

# Many who take their time do not take it one after the other.
: > crowd.out
python3 "$liar" "${NATS#nats://}" crowd 40 24 > crowd.out 2>&1 &
CROWD=$!
STARTED="$STARTED $!"
wait_for 60 grep -q ready crowd.out || fail "crowd: $(cat crowd.out)"
ask --hosts 'c*' --wait 60s --patience 20s -o crowd > out 2>&1 || wrong "crowd: $(cat out crowd.out)"
grep -q '^fetch: 40 of 40 hosts' out || wrong "crowd: $(cat out)"
kill -9 "$CROWD"
exit $bad
