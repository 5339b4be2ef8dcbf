#!/bin/sh
# child.sh - the agent of a tnfwatch: it ends with it in any state, and without a server;
# another [fleet] reaches it; it connects to a server that comes later.  Whom its triggers
# are to ask is nothing that it waits for.
# Usage: child.sh TNFWATCH TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
need_program jq
fleet_programs "$@"

# configure LINE ...: of [fleet].
configure() {
	{
		printf '[watch]\ndirectory = %s/kept/a\nrun = %s/kept/a/run\n' "$TMP" "$TMP"
		printf "[file none]\npath = %s/none.tnf\n" "$TMP"
		[ $# -eq 0 ] || printf '[fleet]\nname = a\n'
		for _x in "$@"; do echo "$_x"; done
	} > a.conf
}
w() { "$W" -c a.conf "$@"; }
answers() { w status > status 2>/dev/null; }
agent_of() { pgrep -P "$PID" -x tnfwatch-agent; }
has_agent() { A=$(agent_of) && [ "$A" != "$1" ]; }
ended() { ! kill -0 "$1" 2>/dev/null || [ "$(ps -o stat= -p "$1" | cut -c1)" = Z ]; }
watch() {
	"$W" -c a.conf >> a.log 2>&1 &
	PID=$!
	STARTED="$STARTED $PID"
	wait_for 120 answers || fail "tnfwatch does not answer: $(cat a.log)"
	wait_for 120 has_agent none || fail "no agent: $(cat a.log)"
	STARTED="$STARTED $A"
}

# No server listens there.
configure 'servers = nats://127.0.0.1:1' 'labels = x=1'
watch
[ "$(ps -o ni= -p "$A" | tr -d ' ')" -ge 0 ] || wrong "the agent goes before others"
kill "$PID"
wait_for 120 ended "$PID" || wrong "tnfwatch does not end without a server"
wait_for 120 ended "$A" || wrong "the agent does not end without a server"
[ -e kept/a/segments/boot ] && wrong "it has not ended in order"

# It does nothing any more, and tnfwatch ends all the same; so does it with a killed one.
watch
kill -STOP "$A"
kill "$PID"
wait_for 120 ended "$PID" || wrong "tnfwatch waits for its agent"
wait_for 120 ended "$A" || wrong "a stopped agent stays"
watch
kill -9 "$PID"
wait_for 120 ended "$A" || wrong "the agent outlives a killed tnfwatch"

# The configuration is read again: only another [fleet] is another agent.
watch
told() { [ "$(grep -c 'read again' a.log)" -ge "$1" ]; }
first=$A
kill -HUP "$PID"
wait_for 120 told 1 || wrong "not read again: $(cat a.log)"
answers
[ "$(agent_of)" = "$first" ] || wrong "another agent for nothing"
configure 'servers = nats://127.0.0.1:1' 'limit = 1/hour'
kill -HUP "$PID"
wait_for 120 has_agent "$first" || wrong "the agent knows nothing of another limit"
STARTED="$STARTED $A"
ended "$first" || wrong "two agents"
# One that does not end by itself, and no [fleet] any more: rings are read meanwhile.
kill -STOP "$A"
configure
kill -HUP "$PID"
wait_for 120 ended "$A" || wrong "the agent stays without [fleet]"
answers || wrong "tnfwatch does not answer"
kill "$PID"
wait_for 120 ended "$PID" || wrong "tnfwatch does not end"

# A server that comes later.
server
kill -9 "$SERVER"
wait "$SERVER" 2>/dev/null
asker
agent late role=late
wait_for 120 test -s late.log || wrong "it does not say that there is no server"
server
wait_for 120 answers_all 1 || wrong "not connected later: $(cat try.out late.log)"
kill "$PID_late"
wait_for 120 ended "$PID_late" || wrong "SIGTERM does not end it"

# The one to be asked has gone: incidents are written all the same, and tnfwatch ends.
configure "servers = $NATS" '[trigger call]' 'after = 10ms' 'ask = label role=late wait 500s'
watch
written() { [ -e "kept/a/incidents/$id/incident.json" ]; }
for i in 1 2 3 4 5 6; do
	id=$(w fire call) || fail "fire: $(cat a.log)"
	wait_for 120 written || wrong "incident $i waits for other machines: $(cat a.log)"
done
kill "$PID"
wait_for 120 ended "$PID" || wrong "tnfwatch waits for other machines"
pgrep -f "$TMP/kept/a/incidents/.*/hosts" && wrong "one asks still"
exit $bad
