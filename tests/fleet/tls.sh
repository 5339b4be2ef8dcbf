#!/bin/sh
# tls.sh - a server with TLS and permissions: an agent answers for itself alone, a user
# without the right cannot ask, and the message of a refusal names the fault: another CA, an
# old certificate, another name, no TLS on one side; users by certificate and by credentials.
# Usage: tls.sh TNFWATCH TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
need_program openssl python3
fleet_programs "$@"

# --- certificates: authority NAME; certificate CA NAME COMMON-NAME ALTERNATIVE [DAYS] ---
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
		-subj "/CN=$1" -keyout "$1.key" -out "$1.pem" 2> ssl.log || fail "openssl: $(cat ssl.log)"
}
certificate() {
	echo "subjectAltName = $4" > ext
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$3" \
		-keyout "$2.key" -out csr 2> ssl.log &&
		openssl x509 -req -in csr -CA "$1.pem" -CAkey "$1.key" -CAcreateserial \
		-days "${5:-30}" -extfile ext -out "$2.pem" 2>> ssl.log || fail "openssl: $(cat ssl.log)"
}
authority ca
authority stranger
certificate ca server fleet IP:127.0.0.1
certificate ca old fleet IP:127.0.0.1 -1
certificate ca elsewhere fleet DNS:elsewhere.example
for user in web1 web2 boss nosy; do certificate ca $user $user "DNS:$user"; done
certificate stranger outsider web1 DNS:web1

# --- who may what: permissions NAME, as in tracing(7) and examples/fleet ---
permissions() {
	case $1 in
	boss)	echo 'publish: ["tnf.ask", "tnf.host.*", "$JS.API.>", "$JS.FC.>"], subscribe: "_INBOX.>"' ;;
	nosy)	echo 'publish: "news.>", subscribe: "_INBOX.>"' ;;
	*)	printf 'publish: ["_INBOX.*.*.%s", "$KV.tnf-hosts.%s", "$JS.API.STREAM.INFO.KV_tnf-hosts"], ' "$1" "$1"
		printf 'subscribe: ["tnf.ask", "tnf.ask.*", "tnf.host.%s", "_AGENT.%s.>"]\n' "$1" "$1" ;;
	esac
}

# secure CERTIFICATE: a server with that, and users by their certificates.
PORT=
secure() {
	[ -z "$SERVER" ] || { kill -9 "$SERVER"; wait "$SERVER" 2>/dev/null; }
	{
		echo "listen: \"127.0.0.1:${PORT:--1}\""
		echo 'jetstream { store_dir: "'"$TMP"'/js", max_mem: 64m, max_file: 512m }'
		echo "tls { cert_file: $TMP/$1.pem, key_file: $TMP/$1.key, ca_file: $TMP/ca.pem, verify_and_map: true }"
		echo 'authorization { users: ['
		for user in web1 web2 boss nosy; do
			echo "  { user: $user, permissions: { $(permissions $user) } }"
		done
		echo '] }'
	} > nats.conf
	start_server
	NATS=tls://127.0.0.1:$PORT
}
start_server() {
	rm -rf ports && mkdir ports
	nats-server -c nats.conf --ports_file_dir "$TMP/ports" >> nats.log 2>&1 &
	SERVER=$!
	STARTED="$STARTED $SERVER"
	wait_for 60 has_ports || fail "nats-server does not start: $(cat nats.log)"
	PORT=$(sed 's/.*"nats":\["[^"]*:\([0-9]*\)".*/\1/' ports/*.ports)
}
# as USER [CA]: the lines of [fleet].
as() { printf 'ca = %s.pem\ncert = %s.pem\nkey = %s.key\n' "$TMP/${2:-ca}" "$TMP/$1" "$TMP/$1"; }
# conf FILE LINE ...
conf() { _f=$1; shift; { printf '[fleet]\nservers = %s\n' "$NATS"; printf '%s\n' "$@"; } > "$_f"; }
# refused WHAT PATTERN: ask says so, and has not succeeded; the server may be slow with its answer.
refused() {
	wait_for 30 is_refused "$1" "$2" || wrong "$1: $(cat out)"
}
is_refused() {
	rm -rf bad
	timeout 60 "$W" -c bad.conf ask --wait 1s -o bad > out 2>&1 && wrong "$1: status 0"
	grep -q -- "$2" out
}

secure server
conf ask.conf "$(as boss)"
ask --wait 1s -o nobody > out 2>&1	# the registry is made by who may
grep -q 'no host is registered' out || wrong "nobody: $(cat out)"
agent web1 role=web "$(as web1)"
agent web2 role=web "$(as web2)"
wait_for 120 answers_all 2 || fail "not both answer: $(cat try.out web1.log web2.log)"
ask -o all > out 2>&1 || wrong "all: $(cat out)"
for h in web1 web2; do cmp -s "rec/$h/shop.tnf" "all/$h/shop.tnf" || wrong "all: $h"; done

# An ordinary user has no right to ask, nor has an agent.
for user in nosy web1; do
	conf bad.conf "$(as $user)"
	refused "$user asks" 'Permissions Violation for [PS].*nats-server'
done

# web2 says that it is web1, while that one is away: it gets no question's answer through.
kill -9 "$PID_web1" "$PID_web2"
mkdir -p false/web1 && trace false/web1/shop.tnf false 99
sed -e "s,$TMP/rec/web1,$TMP/false/web1,; s,$TMP/kept/web1,$TMP/kept/imp," -e "s,$TMP/web1\.,$TMP/web2.," web1.conf > imp.conf
: > imp.log
start_agent imp
wait_for 120 grep -q 'Permissions Violation.*web1' imp.log || wrong "who answers for another is not told: $(cat imp.log)"
ask --hosts web1 --wait 3s -o imp > out 2>&1
[ $? -eq 3 ] && grep -q '^missing: web1: ' out && [ ! -e imp/web1/shop.tnf ] || wrong "another's answer: $(cat out)"
# With both, the right one's files come.
start_agent web1
wait_for 120 answers_host web1 || wrong "web1 with a false one: $(cat try.out)"
ask --hosts web1 -o imp2 > out 2>&1
cmp -s rec/web1/shop.tnf imp2/web1/shop.tnf || wrong "the false one's files: $(cat out)"

# Things that do not fit together, by name.
conf bad.conf "$(as boss stranger)"
refused "another CA" '\[fleet\] servers = tls://127.0.0.1:.*certificate'
conf bad.conf "$(as outsider)"
refused "a certificate of another CA" '\[fleet\] servers = tls://.*does it want a cert'
conf bad.conf "ca = $TMP/none.pem"
refused "no CA" "\[fleet\] ca = $TMP/none.pem: "
conf bad.conf "ca = $TMP/ca.pem" "cert = $TMP/boss.pem" "key = $TMP/nosy.key"
refused "another's key" "\[fleet\] cert, key = $TMP/boss.pem, $TMP/nosy.key: .*mismatch"
sed -i 's/^servers = tls/servers = nats/; /^ca\|^cert\|^key/d' bad.conf
refused "no CA of ours" 'servers = nats://.*unable to get local issuer certificate'
conf bad.conf "credentials = $TMP/none.creds"
refused "no credentials" "\[fleet\] credentials = $TMP/none.creds: "

# The server's certificate: an agent says it, too, and is there when it is right again.
secure elsewhere
conf bad.conf "$(as boss)"
refused "another name" '[Hh]ost *name mismatch\|IP address mismatch'
secure old
refused "an old certificate" 'certificate has expired'
kill -9 "$PID_web2" 2>/dev/null
: > web2.log
start_agent web2
wait_for 60 grep -q '\[fleet\] servers = .*certificate has expired' web2.log || wrong "the agent does not say why: $(cat web2.log)"
secure server
wait_for 120 answers_host web2 || wrong "the agent does not come again: $(cat web2.log try.out)"
kill -9 "$SERVER"
{ echo "listen: \"127.0.0.1:$PORT\""; } > nats.conf
start_server
refused "a server without TLS" 'the server has no TLS'
kill -9 "$SERVER"
refused "no server" 'does nats-server run there'
# A password in an address is not told.
NATS="nats://me:secret@127.0.0.1:$PORT nats://127.0.0.1:$PORT"
conf bad.conf
refused "a password" "servers = nats://127.0.0.1:$PORT nats://127.0.0.1:$PORT: "
grep -q secret out && wrong "a password is told: $(cat out)"

# Credentials, as NATS' operators give them.
for user in web1 boss nosy; do permissions $user | python3 "$TNF_SOURCE/tests/fleet/creds.py" perm $user; done
python3 "$TNF_SOURCE/tests/fleet/creds.py" make web1 boss nosy > operator.conf || fail "no credentials"
{
	echo "listen: \"127.0.0.1:$PORT\""
	echo 'jetstream { store_dir: "'"$TMP"'/js2", max_mem: 64m, max_file: 512m }'
	cat operator.conf
} > nats.conf
start_server
NATS=nats://127.0.0.1:$PORT
conf ask.conf "credentials = $TMP/boss.creds"
ask --wait 1s -o nobody2 > out 2>&1
grep -q 'no host is registered' out || wrong "credentials: $(cat out nats.log)"
kill -9 "$PID_web1" "$PID_web2"
agent web1 role=web "credentials = $TMP/web1.creds"
wait_for 120 answers_host web1 || wrong "credentials: $(cat try.out web1.log)"
conf bad.conf "credentials = $TMP/nosy.creds"
refused "credentials that may not ask" 'Permissions Violation for Publish to'
conf bad.conf "credentials = $TMP/old.creds"
refused "old credentials" 'credentials, or cert and key, in \[fleet\]'
conf bad.conf
refused "no credentials" 'credentials, or cert and key, in \[fleet\]'
exit $bad
