# shellcheck shell=sh
# lib.sh - what the tests of bindings share: a scratch copy of the package, and a server that
# is asked for three cakes.  Usage of each test: NAME.sh TNFDUMP LIBTNFPROBE

tnfdump=$(realpath "$1")
LD_LIBRARY_PATH=$(dirname "$(realpath "$2")")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
scratch
cd "$TMP" || exit 1
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }
same() { [ "$2" = "$3" ] || wrong "$1: $2, not $3"; }
copy() { cp -r "$TNF_SOURCE/bindings/$1" package && cd package || exit 1; }

# Runs a server with all probes of the words in $1 on; the rest is its command, which prints
# its port and ends after three requests.  The trace is server.tnf.
serve() {
	words=$1
	shift
	TNF_ENABLE=$words TNF_FILE=$TMP/server.tnf timeout 240 "$@" > "$TMP/port" &
	server=$!
	wait_for 120 [ -s "$TMP/port" ] || fail "$1: tells no port"
	python3 - "$(head -1 "$TMP/port")" <<'ASK'
import socket, sys
for cake, want in (("apple", "320"), ("pear", "no such cake"), ("brownie", "250")):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60) as s:
        s.sendall(cake.encode() + b"\n")
        got = s.makefile().readline().strip()
        if got != want:
            sys.exit(f"{cake}: {got!r}, not {want!r}")
ASK
	[ $? -eq 0 ] || wrong "the server's answers"
	wait "$server" || wrong "the server's status: $?"
	served
}

# The probes of a server, with the members that all of them have.
served() {
	"$tnfdump" --no-header --to jsonl "$TMP/server.tnf" | grep -v '"tnf":1' > "$TMP/events" || fail "tnfdump"
	same "events" "$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    print(e["probe"], " ".join(f"{k}={v}" for k, v in e["args"].items()))' "$TMP/events")" \
"request_start id=1
lookup_start cake=apple
lookup_end error=0
request_end error=0
request_start id=2
lookup_start cake=pear
lookup_end error=0
request_end error=404
request_start id=3
lookup_start cake=brownie
lookup_end error=0
request_end error=0"
	same "keys" "$(grep -c '"keys":\["web"\]' "$TMP/events")" 6
	same "places in the source" "$(grep -c '"src":"[^"]*[Ss]erver' "$TMP/events")" 12
}

# Spans of OpenTelemetry's kind in a trace: "bake" is in "order", whatever thread ran it.
nested() {
	"$tnfdump" --to otlp "$1" > "$TMP/spans" || fail "tnfdump --to otlp"
	same "spans" "$(python3 -c '
import json, sys
spans = {s["name"]: s for l in open(sys.argv[1]) for r in json.loads(l)["resourceSpans"]
         for c in r["scopeSpans"] for s in c["spans"]}
order, bake = spans["order"], spans["bake"]
print(len(spans), bake["parentSpanId"] == order["spanId"], bake["traceId"] == order["traceId"],
      order.get("parentSpanId"), int(bake["endTimeUnixNano"]) > int(bake["startTimeUnixNano"]))' "$TMP/spans")" \
	    "2 True True None True"
}

# The spans of a trace have the ids that the SDK told, "trace span" a line, and one of them failed.
same_ids() {
	"$tnfdump" --to otlp "$1" > "$TMP/spans.json" || fail "tnfdump --to otlp"
	same "the SDK's ids" "$(jq -r '.resourceSpans[].scopeSpans[].spans[] | .traceId + " " + .spanId' "$TMP/spans.json" | sort)" "$(sort "$2")"
	same "the failure" "$(jq -r '.resourceSpans[].scopeSpans[].spans[].status.message // empty' "$TMP/spans.json")" burnt
}
