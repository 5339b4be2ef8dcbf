#!/bin/sh
# nginx.sh - Debian's nginx as it is, with probes by a preloaded library: the
# master is root, its workers are not, and all are alone in their namespaces.
#
# usage: nginx.sh DIR
#
# DIR gets Debian's package, unpacked, not installed.  Master and workers are looked
# at; each worker gets a flight recorder; requests of known number; SIGKILL to all.
# The events in the files are compared with what nginx has logged.  Needs root, the
# network, curl, jq and $TNF_BUILD (default: build).  Not part of tools/check.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/soak/server.sh"
need_program dpkg-deb curl jq
nginx=$dir/root/usr/sbin/nginx
if ! [ -x "$nginx" ]; then
	(cd "$dir" && apt-get -qq download nginx && dpkg-deb -x nginx_*.deb root) > "$dir/log" 2>&1 ||
		fail "$(tail "$dir/log")"
fi
if ldd "$nginx" | grep 'not found'; then
	skip "nginx needs libraries that are not here"
fi

server_scratch
gcc -O2 -fPIC -shared -Wall -I"$source/include" -o probes.so "$source/tests/soak/nginx-probes.c" ||
	fail "the library with the probes"
chmod 755 probes.so
mkdir -m 755 www
head -c 100000 /dev/zero | tr '\0' x > www/large
echo small > www/small
cat > conf <<EOF
daemon on;
pid $TMP/pid;
error_log $TMP/error warn;
user nobody nogroup;
worker_processes 2;
events { worker_connections 64; }
http {
	log_format counted '\$pid \$connection \$status \$bytes_sent \$request_length';
	access_log $TMP/access counted;
	client_body_temp_path $TMP/body;
	proxy_temp_path $TMP/proxy;
	fastcgi_temp_path $TMP/fastcgi;
	uwsgi_temp_path $TMP/uwsgi;
	scgi_temp_path $TMP/scgi;
	sendfile off;
	keepalive_requests 1000;
	server { listen unix:$TMP/sock; root $TMP/www; }
}
EOF
container "LD_PRELOAD=$TMP/probes.so $nginx -c $TMP/conf"
get() { curl -sf --unix-socket "$TMP/sock" "$@"; }
answers() { get http://x/small > /dev/null 2>&1; }
wait_for 60 answers || fail "the server does not answer: $(cat said error 2>/dev/null)"

# is_nginx PID: one of ours?
is_nginx() { grep -qsF "$TMP/probes.so" "/proc/$1/maps" && grep -qsx nginx "/proc/$1/comm"; }
find_them() {
	master='' workers=''
	for p in $(grep -lsx nginx /proc/[0-9]*/comm | cut -d/ -f3); do
		is_nginx "$p" || continue
		if [ "$(effective_user "$p")" -eq 0 ]; then master=$p; else workers="$workers $p"; fi
	done
	# shellcheck disable=SC2086  # words are meant
	set -- $workers
	[ -n "$master" ] && [ $# -eq 2 ]
}
wait_for 60 find_them || fail "master $master, workers $workers"
# number PID: in its name space, as nginx logs it
number() { status NSpid "$1"; }
for p in $master $workers; do
	echo "nginx is process $p, $(number "$p") in its container, user $(effective_user "$p")"
	looked_at "$p" 3
done
answers || fail "it does not answer after the look"

logged() { wc -l < access; }
before=$(logged)
for p in $workers; do
	number "$p" > "number-$p"
	record "$p" "closed/$p" 4096
done
# One connection with many requests, and many with one each, at the same time.
get 'http://x/small?[1-600]' > /dev/null & a=$!
get 'http://x/large?[1-200]' > /dev/null & b=$!
for i in $(seq 100); do get http://x/small > /dev/null || fail "request $i"; done
wait $a || fail "small"
wait $b || fail "large"
all_logged() { [ "$(logged)" -eq $((before + 900)) ]; }
wait_for 60 all_logged || fail "$(logged) lines in the log after $before"
# shellcheck disable=SC2086
kill -KILL $master $workers
container_end

sed "1,${before}d" access > counted
total=0
for p in $workers; do
	recorded "closed/$p"
	n=$(cat "number-$p")
	# nginx sends answers and receives requests, however cut.
	tells=$(jq -rs '[(map(select(.probe == "accepted")) | length),
		(map(select(.probe == "sent") | .args.bytes) | add // 0),
		(map(select(.probe == "received") | .args.bytes) | add // 0)] | join(" ")' events)
	logs=$(awk -v p="$n" '$1 == p { if (!($2 in seen)) { seen[$2] = 1; c++ } s += $4; r += $5; l++ }
		END { print c + 0, s + 0, r + 0 }' counted)
	requests=$(awk -v p="$n" '$1 == p' counted | wc -l)
	echo "worker $p: $requests requests; connections, bytes sent, bytes received: $tells; nginx has logged $logs"
	info_shown
	[ "$tells" = "$logs" ] || fail "the file and the log differ"
	total=$((total + requests))
done
[ "$total" -eq 900 ] || fail "$total requests"
echo "ok"
