#!/bin/sh
# webhook.sh - Alertmanager's requests fire triggers, by a Unix socket and by a port;
# what is none is refused, and slow or many clients stop nobody.
#
# Guards: clients that send a byte now and then and take all places; a body that is read once
# a tick, and to its end though it is too large; a web page that fires triggers.
# Usage: webhook.sh WEBHOOK-RUN
. "${TNF_SOURCE:-.}/tests/lib.sh"

run=$(realpath "$1")
command -v curl >/dev/null || skip "no curl"
need_program python3
scratch
cd "$TMP" || exit 1

cat >alert.json <<'M'
{"version":"4","groupKey":"{}:{}","truncatedAlerts":0,"status":"firing","receiver":"tnf",
 "groupLabels":{},"commonLabels":{},"commonAnnotations":{},"externalURL":"http://am:9093",
 "alerts":[
 {"status":"firing","labels":{"alertname":"HighLatency","instance":"shop:80","trigger":"slow"},
  "annotations":{"summary":"99 % above 2 s"},"startsAt":"2026-11-21T03:12:20Z","endsAt":"0001-01-01T00:00:00Z"},
 {"status":"resolved","labels":{"alertname":"HighLatency","trigger":"slow"},"annotations":{}},
 {"status":"firing","labels":{"alertname":"DiskFull"},"annotations":{"description":"/var is full"}},
 {"status":"firing","labels":{"alertname":"Unheard"},"annotations":{}}]}
M
# serve ADDRESS: runs until stop.
serve() {
	rm -f in
	: >out
	mkfifo in
	"$run" "$1" slow DiskFull 'odd name' <in >out &
	server=$!
	exec 3>in
	wait_for 30 grep -q ready out || fail "$1: $(cat out)"
}
stop() {
	exec 3>&-
	wait $server || fail "it ends with $?"
	server=
}
# post STATUS URL CURL-OPTION...
# A body that is too large is refused before all of it has come; a client that still sends may
# then meet the end of the connection before it reads the answer (55, 56), and asks again.
post() {
	want=$1 url=$2 left=50
	shift 2
	until got=$(curl -sS -m 60 -o answer -w '%{http_code}' "$@" "$url"); do
		case $?,$want in
		55,413 | 56,413) [ $((left -= 1)) -gt 0 ] || fail "$url: no answer to a large body" ;;
		*)	fail "$url: curl: $got" ;;
		esac
	done
	[ "$got" = "$want" ] || fail "$url $*: $got, not $want: $(cat answer)"
}
JSON='Content-Type: application/json'
expect() { [ "$(sed 1d out)" = "$1" ] || fail "fired $(sed 1d out), not $1"; }

serve "$TMP/hook"
[ "$(stat -c %a hook)" = 660 ] || fail "the socket has mode $(stat -c %a hook)"
post 200 http://x/ --unix-socket hook -H "$JSON" --data-binary @alert.json
grep -qx 'fired: 2, unknown: 1' answer || fail "answers $(cat answer)"
expect 'slow	HighLatency: 99 % above 2 s; instance=shop:80; since 2026-11-21T03:12:20Z
DiskFull	DiskFull: /var is full'
# By name, with what belongs to a name escaped.
post 200 'http://x/odd%20name' --unix-socket hook -H "$JSON; charset=utf-8" --data-binary @alert.json
[ "$(grep -c '^odd name' out)" = 3 ] || fail "by name: $(cat out)"
before=$(cat out)
post 404 http://x/nobody --unix-socket hook -H "$JSON" --data-binary @alert.json
post 415 http://x/ --unix-socket hook --data-binary @alert.json
post 415 http://x/ --unix-socket hook -H 'Content-Type: application/jsonp' --data-binary @alert.json
post 405 http://x/ --unix-socket hook
post 405 http://x/ --unix-socket hook -X DELETE
for bad in '' '{' '[]' '{"alerts":{}}' '{"alerts":[3]}' '{"alerts":[{"labels":7}]}' '{"alerts":[]}}' 'null' \
	"$(printf '%0100d' 0 | sed 's/0/{"alerts":[/g')"; do
	post 400 http://x/ --unix-socket hook -H "$JSON" --data-binary "$bad"
done
post 200 http://x/ --unix-socket hook -H "$JSON" --data-binary '{"alerts":[]}'
head -c 1100000 /dev/zero | tr '\0' ' ' >large
post 413 http://x/ --unix-socket hook -H "$JSON" -H 'Expect:' --data-binary @large
head -c 64000000 /dev/zero >larger
post 413 http://x/ --unix-socket hook -H "$JSON" --data-binary @larger
post 403 http://x/ --unix-socket hook -H "$JSON" -H 'Origin: http://x' --data-binary @alert.json
[ "$(cat out)" = "$before" ] || fail "what was refused has fired: $(cat out)"
# Clients that begin and say nothing more; then as many as are let in at once.
for i in 1 2 3 4 5; do
	curl -s -m 30 --unix-socket hook -H "$JSON" -H 'Content-Length: 100' -X POST --data-binary x http://x/ >/dev/null &
	slow="$slow $!"
done
post 200 http://x/ --unix-socket hook -H "$JSON" --data-binary @alert.json
# shellcheck disable=SC2086  # numbers
wait $slow
# A hundred alerts of a request count.
python3 -c 'import json; print(json.dumps({"alerts": [{"labels": {"trigger": "slow"}}] * 1000}))' >thousand
post 200 http://x/ --unix-socket hook -H "$JSON" --data-binary @thousand
grep -qx 'fired: 100, unknown: 0' answer || fail "a thousand: $(cat answer)"
# As many as are let in, who send a byte now and then and come again.
python3 -c 'import os, socket, time
def come():
    s = socket.socket(socket.AF_UNIX)
    s.connect("hook")
    s.send(b"POST / HTTP/1.1\r\nX: ")
    return s
all = [come() for i in range(16)]
print("come", flush=True)
while True:
    time.sleep(.1)
    for i, s in enumerate(all):
        try:
            s.send(b"x")
        except OSError:
            all[i] = come()' >drip &
drip=$!
wait_for 30 grep -q come drip || fail "no clients"
sleep 0.3
post 200 http://x/ --unix-socket hook -H "$JSON" --data-binary @alert.json
kill -0 $drip || fail "the clients are gone"
kill $drip
wait $drip 2>/dev/null
# A second one at the same place is refused; what a killed one left is taken over.
"$run" "$TMP/hook" slow </dev/null >other && fail "two listen at one place"
grep -q 'another program listens' other || fail "says $(cat other)"
stop
[ ! -e hook ] || fail "it leaves its socket"
echo precious >hook
"$run" "$TMP/hook" slow </dev/null >other && fail "a file is replaced"
grep -q 'no socket' other && [ "$(cat hook)" = precious ] || fail "a file: $(cat other)"
rm hook
serve "$TMP/hook"
# Its input is open as long as it lives: at its end it would remove the socket itself.
kill -9 $server
wait $server 2>/dev/null
exec 3>&-
[ -S hook ] || fail "a killed one has removed its socket"
serve "$TMP/hook"
stop

# Ports of this machine alone.
for bad in 0.0.0.0:9099 192.168.1.1:80 example.com:80 127.0.0.1 127.0.0.1:0 127.0.0.1:x 127.0.0.1:70000 hook ''; do
	"$run" "$bad" slow </dev/null >other && fail "$bad: taken"
	grep -q 'wanted: an absolute path' other || fail "$bad: $(cat other)"
done
for port in $(shuf -i 20000-32000 -n 20); do
	rm -f in
	: >out
	mkfifo in
	"$run" "127.0.0.1:$port" slow DiskFull <in >out &
	server=$!
	exec 3>in
	wait_for 30 [ -s out ]
	grep -q ready out && break
	exec 3>&-
	wait $server
done
grep -q ready out || skip "no port to be had: $(cat out)"
post 200 "http://127.0.0.1:$port/" -H "$JSON" --data-binary @alert.json
[ "$(sed 1d out | wc -l)" = 2 ] || fail "by a port: $(cat out)"
for host in evil.example evil.example:80 127.0.0.1.evil.example ''; do
	post 403 "http://127.0.0.1:$port/" -H "$JSON" -H "Host: $host" --data-binary @alert.json
done
post 403 "http://127.0.0.1:$port/" -H "$JSON" -H 'Origin: http://127.0.0.1' --data-binary @alert.json
post 200 "http://127.0.0.1:$port/" -H "$JSON" -H 'Host: localhost' --data-binary @alert.json
[ "$(sed 1d out | wc -l)" = 4 ] || fail "of a page: $(cat out)"
stop
exit 0
