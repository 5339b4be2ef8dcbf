#!/bin/sh
# Guards: metrics that Prometheus cannot read or that nobody asked for; an incident of which the
# journal does not hear, or hears what is not so; a journal that is not there and costs an incident.
# outwards.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program curl python3
watch_programs "$1" "$2" "$3"

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
entry, = [json.loads(line) for line in open(sys.argv[1])]
want = {"MESSAGE": f"incident {sys.argv[3]}: fired from outside", "TNF_INCIDENT": sys.argv[2],
        "TNF_TRIGGER": "hand", "TNF_NOTE": "two lines", "SYSLOG_IDENTIFIER": "tnfwatch", "PRIORITY": "4"}
sys.exit({k: entry.get(k) for k in want} != want)
P
stop_watch
