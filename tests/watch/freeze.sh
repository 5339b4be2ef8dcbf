#!/bin/sh
# Guards: a trigger that is to end the recording and does not, or does not say why; an incident
# that is written before; silence() that fires for what was frozen; a firing that is posted
# without what was captured.
# freeze.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
watch_programs "$1" "$2" "$3"

cat >"$TMP/post.py" <<'P'
import http.server, sys
class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(sys.argv[1] + "/posted.new", "wb").write(body)
        self.send_response(204)
        self.end_headers()
        import os
        os.rename(sys.argv[1] + "/posted.new", sys.argv[1] + "/posted")
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Post)
print(server.server_port, flush=True)
server.serve_forever()
P
python3 "$TMP/post.py" "$TMP" >"$TMP/port" &
STARTED=$!
wait_for 60 test -s "$TMP/port" || fail "no server"

conf <<T
keep = 30s
[process shop]
program = $SHOP
enable = order
size = 1m
[trigger slow]
when = duration(order) > 40ms
after = 0s
once = yes
then = freeze, webhook http://127.0.0.1:$(cat "$TMP/port")/alert
[trigger quiet]
when = silence(order_start) > 1s
after = 0s
[trigger hand]
after = 0s
T
! command -v curl >/dev/null && sed -i 's/, webhook.*//' "$CONF"
for wrong in 'freeze now' 'webhook' 'webhook ftp://a/b' 'webhook http://a b'; do
	sed "s,^then = .*,then = $wrong," "$CONF" >"$TMP/wrong.conf"
	"$W" check -c "$TMP/wrong.conf" >/dev/null 2>"$TMP/err" && fail "'$wrong' is accepted"
	grep -q ': then: ' "$TMP/err" || fail "said of '$wrong': $(cat "$TMP/err")"
done
watch
shop 200 0 300
wait_for 120 kept slow || fail "nothing fired: $(cat "$TMP/log" "$TMP/status")"
first=$D/incidents/$(w list | awk '/-slow / { print $1 }')
I=$first
jq -e '.sources[] | select(.kind == "process" and .name == "shop") | .frozen |
	(.time > 0) and (.why | test("^slow: order took [0-9.]+ ms in "))' "$I/incident.json" >/dev/null ||
	fail "no freeze: $(cat "$I/incident.json" "$TMP/log")"
"$DUMP" --info "$I/shop-$SHOPPID.tnf" | grep -q 'frozen: *at .* slow: order took' ||
	fail "--info: $("$DUMP" --info "$I/shop-$SHOPPID.tnf")"
w show "${I##*/}" | grep -q '"frozen": {"time": .*"why": "slow: order took' || fail "show: $(w show "${I##*/}")"
answers && grep -q "^shop-$SHOPPID .*  frozen [0-9]* s ago: slow: " "$TMP/status" || fail "status: $(cat "$TMP/status")"

# It runs, and no event comes: what is silent for a known reason is no stall.
runs "$SHOPPID" || fail "the program does not run"
events() {
	fire hand
	cat "$I"/shop-*.tnf >/dev/null 2>&1 || fail "no trace: $(ls "$I")"
	"$DUMP" --no-header "$I"/shop-*.tnf* 2>/dev/null | wc -l
}
before=$(events)
sleep 2.5
[ "$(events)" -eq "$before" ] || fail "it records: $before, $(events)"
# A busy machine may have been silent for a second before.
at=$(jq '[.sources[].frozen.time // 0] | max' "$first/incident.json")
find "$D/incidents" -path '*-quiet*/incident.json' -exec cat {} + |
	jq --argjson at "$at" '.firings[] | select(.time > $at)' >"$TMP/quiet"
[ ! -s "$TMP/quiet" ] || fail "silence() of what was frozen: $(cat "$TMP/quiet")"

# The values that were captured have been posted.
if command -v curl >/dev/null; then
	wait_for 60 test -e "$TMP/posted" || fail "not posted: $(cat "$TMP/log")"
	jq -e --arg id "$(w list | awk '/-slow / { print $1 }')" --arg host "$(uname -n)" '.incident == $id and
		.host == $host and (.firing | .trigger == "slow" and (.reason | test("^order took")) and
		.event.probe == "order_end" and .event.args.stalled == 1 and .event.start.probe == "order_start")' \
		"$TMP/posted" >/dev/null || fail "posted: $(cat "$TMP/posted")"
fi

# Read again, the configuration switches the probes on.
kill -HUP "$PID"
more() { [ "$(events)" -gt "$before" ]; }
wait_for 120 more || fail "it stays frozen: $(cat "$TMP/log")"
stop_watch
echo "frozen after $before events"
