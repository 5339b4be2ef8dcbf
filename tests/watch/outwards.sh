#!/bin/sh
# Guards: metrics that Prometheus cannot read or that nobody asked for; an incident of which the
# journal does not hear, or hears what is not so; a journal that is not there and costs an incident;
# an incident whose record of OpenTelemetry's logs is of another span than what fired.
# outwards.sh TNFWATCH SHOP TNFDUMP TRACED
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program curl python3
watch_programs "$1" "$2" "$3"
cp "$4" "$TMP/traced" || fail "no program"

# systemd's own journal, in a mount namespace.
[ "$(id -u)" -eq 0 ] || skip "not root: no mount namespace for a journal"
journald=/lib/systemd/systemd-journald
[ -x $journald ] || skip "no systemd-journald (Debian package systemd)"
mkdir "$TMP/journal"
cat >"$TMP/serve" <<'J'
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal /run/log/journal || exit 1
"$1" &
child=$!
trap 'kill $child' EXIT
until [ -S /run/systemd/journal/socket ]; do sleep 0.1; done
ln -s "/proc/$$/root/run/systemd/journal/socket" "$2/socket"
: >"$2/ready"
while [ ! -e "$2/stop" ]; do sleep 0.1; done
journalctl -D /run/log/journal -o json MESSAGE_ID=c0f4d1a5d6a44c0d9f3b7a1f0b6e2a47 >"$2/entries"
J
unshare -m sh "$TMP/serve" $journald "$TMP/journal" >"$TMP/serve.log" 2>&1 &
server=$!
STARTED=$server
wait_for 60 [ -e "$TMP/journal/ready" ] || skip "no journal here: $(cat "$TMP/serve.log")"

settings() {
	conf <<T
keep = 2s
webhook = $TMP/hook
$1
[process shop]
program = $SHOP
enable = order
size = 256k
[trigger hand]
after = 0ms
page = no
T
}
settings "metrics = yes
journal = $TMP/journal/socket"
watch
shop 1000
shop_watched
id=$(w fire hand --wait --note 'two
lines') || fail "not kept: $(cat "$TMP/log")"

get() { curl -sS -m 60 -o "$TMP/got" -D "$TMP/head" -w '%{http_code}' --unix-socket "$TMP/hook" "http://x$1"; }
[ "$(get /metrics)" = 200 ] || fail "GET /metrics: $(cat "$TMP/got")"
grep -qi '^content-type: text/plain; version=0.0.4' "$TMP/head" || fail "$(cat "$TMP/head")"
grep -qxF 'tnfwatch_incidents_total{what="kept"} 1' "$TMP/got" || fail "$(cat "$TMP/got")"
grep -q '^tnfwatch_resident_bytes [1-9]' "$TMP/got" || fail "$(cat "$TMP/got")"
[ "$(get /)" = 405 ] || fail "GET /: $(cat "$TMP/got")"
w metrics >"$TMP/metrics"
[ "$(sed 's/ [^ ]*$//' "$TMP/metrics")" = "$(get /metrics >/dev/null; sed 's/ [^ ]*$//' "$TMP/got")" ] || fail "not the same metrics"
if command -v promtool >/dev/null; then
	promtool check metrics <"$TMP/got" >"$TMP/judged" 2>&1 || fail "promtool: $(cat "$TMP/judged")"
	[ ! -s "$TMP/judged" ] || fail "promtool: $(cat "$TMP/judged")"
else
	echo "outwards.sh: no promtool (Debian package prometheus): the metrics are not judged" >&2
fi

# The event that fired is of a trace: the journal, the incident and a record of a log name it, and the record
# has the span, which the same incident has.
settings "metrics = yes
journal = $TMP/journal/socket
[process traced]
program = $TMP/traced
enable = checkout
[trigger late]
when = duration(checkout) > 1ns
limit = 1/hour
page = no"
kill -HUP "$PID"
"$TMP/traced" &
STARTED="$STARTED $!"
wait_for 60 grep -q "read again" "$TMP/log" || fail "not read again: $(cat "$TMP/log")"
wait_for 120 kept late || fail "no incident: $(cat "$TMP/log")"
late=$D/incidents/$(w list | awk '/late/ { print $1; exit }')
wait_for 120 [ -e "$late/incident.json" ] || fail "not written"
"$3" --to otlp "$late"/*.tnf* >"$TMP/otlp" 2>"$TMP/err" || fail "otlp: $(cat "$TMP/err")"
"$3" --to otlp-logs-pb "$late"/*.tnf* >"$TMP/logs" 2>>"$TMP/err" || fail "otlp-logs-pb: $(cat "$TMP/err")"
python3 - "$TMP/otlp" "$late" "$TMP/logs" <<'P' || fail "$late: $(cat "$TMP/otlp" | head -c 4000)"
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
# The trigger that fired before, by hand, is in the history as well, and is of no span.
logs = [rl for line in lines for rl in line.get("resourceLogs", ()) if '"late"' in json.dumps(rl)]
records = [r for rl in logs for sl in rl["scopeLogs"] for r in sl["logRecords"]]
names = {a["value"]["stringValue"] for rl in logs for a in rl["resource"]["attributes"] if a["key"] == "service.name"}
spans = [(s["traceId"], s["spanId"]) for line in lines for rs in line.get("resourceSpans", ())
         for ss in rs["scopeSpans"] for s in ss["spans"]]
binary = open(sys.argv[3], "rb").read()
firings = json.load(open(sys.argv[2] + "/incident.json"))["firings"]
wrong = names != {"traced"} or len(records) < len(firings)
for record, firing in zip(records, firings):
    trace, span = ("%%0%dx" % n % firing["event"]["args"]["id"] for n in (32, 16))
    wrong |= (record["traceId"], record["spanId"], firing["trace"]) != (trace, span, trace)
    wrong |= record["body"] != {"stringValue": firing["reason"]} or record["severityNumber"] != 13
    wrong |= spans.count((trace, span)) != 1
    wrong |= bytes.fromhex(trace) not in binary or firing["reason"].encode() not in binary
sys.exit(wrong)
P
# The protobuf is the same, says OpenTelemetry's own .proto (tools/judges).
export TNF_JUDGES="${TNF_JUDGES:-$TNF_SOURCE/build-judges}"
if [ -e "$TNF_JUDGES/package.json" ]; then
	node "$TNF_SOURCE/tests/judges/otlp.js" "$TNF_JUDGES/node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos" \
	    "$TMP/logs" "$TMP/otlp" logs >"$TMP/judged" 2>&1 || fail "logs: $(cat "$TMP/judged")"
fi
: >"$TMP/log"

# Without the keys there is nothing; a journal that is not there costs no incident.
settings "journal = $TMP/nobody"
kill -HUP "$PID"
wait_for 60 grep -q 'read again' "$TMP/log" || fail "not read again"
[ "$(get /metrics)" = 405 ] || fail "metrics that nobody wants: $(cat "$TMP/got")"
w fire hand --wait >/dev/null || fail "a journal that is not there costs an incident"
wait_for 60 grep -q "journal = $TMP/nobody: No such file" "$TMP/log" || fail "said: $(cat "$TMP/log")"

: >"$TMP/journal/stop"
wait "$server" || fail "journal: $(cat "$TMP/serve.log")"
python3 - "$TMP/journal/entries" "$D/incidents/$id" "$id" <<'P' || fail "$(cat "$TMP/journal/entries")"
import json, sys
entry, late = [json.loads(line) for line in open(sys.argv[1])]
trace = json.load(open(late["TNF_INCIDENT"] + "/incident.json"))["firings"][0]["trace"]
want = {"MESSAGE": f"incident {sys.argv[3]}: fired from outside", "TNF_INCIDENT": sys.argv[2],
        "TNF_TRIGGER": "hand", "TNF_NOTE": "two lines", "SYSLOG_IDENTIFIER": "tnfwatch", "PRIORITY": "4"}
sys.exit({k: entry.get(k) for k in want} != want or "TRACE_ID" in entry or late["TRACE_ID"] != trace)
P
stop_watch
