#!/bin/sh
# redis.sh - a real server with probes of ours: looked at, recorded, killed.
#
# usage: redis.sh DIR
#
# DIR gets Debian's source of redis, patched with examples/redis.patch and built.
# Then a redis-server that has daemonised, is no longer root, and is alone in its
# namespaces of processes and mounts gets a flight recorder, work of known amount,
# and SIGKILL; what the file tells is compared with what redis has counted.  Needs
# root, the network, dpkg-dev and $TNF_BUILD (default: build).  Not part of
# tools/check.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/soak/server.sh"
need_program dpkg-source make setpriv

get_source() {
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb-src [signed-by=$key] http://deb.debian.org/debian bookworm main" > "$dir/apt/list"
	set -- -qq -o Dir::Etc::sourcelist="$dir/apt/list" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache"
	apt-get "$@" update || fail "no list of sources"
	(cd "$dir" && apt-get "$@" source redis) || fail "no source of redis"
}
if ! [ -x "$dir/redis/src/redis-server" ]; then
	[ -d "$dir/redis" ] || {
		get_source > "$dir/source.log" 2>&1
		mv "$dir"/redis-7.* "$dir/redis"
		patch -d "$dir/redis" -p1 < "$source/examples/redis.patch" || fail "the patch"
	}
	make -C "$dir/redis/src" MALLOC=libc REDIS_CFLAGS="-I$source/include -O1" \
		redis-server redis-cli redis-benchmark > "$dir/make.log" 2>&1 ||
		fail "$(tail "$dir/make.log")"
fi
PATH=$dir/redis/src:$PATH

server_scratch
mkdir -m 700 db
chown 65534 db
cp "$(command -v redis-server)" server
chmod 755 server
container "setpriv --reuid 65534 --regid 65534 --clear-groups \
	./server --daemonize yes --dir $TMP/db --port 0 --unixsocket $TMP/db/sock \
	--save '' --loglevel warning --logfile $TMP/db/log"
ask() { redis-cli -s db/sock "$@"; }
answers() { [ "$(ask ping 2>&1)" = PONG ]; }
wait_for 60 answers || fail "the server does not answer: $(cat db/log)"
server=$(grep -lx server /proc/[0-9]*/comm 2>/dev/null | while read -r f; do
	p=${f%/comm}
	tr '\0' ' ' < "$p/cmdline" | grep -q "$TMP/db/sock" && echo "${p#/proc/}"
done)
[ -n "$server" ] || fail "which process is the server?"
echo "redis is process $server, $(status NSpid "$server") in its container," \
	"user $(effective_user "$server"), child of $(status PPid "$server")"

looked_at "$server" 5
answers || fail "it does not answer after the look"

ask config resetstat > out
record "$server" closed/f 8192
redis-benchmark -s db/sock -t set,get,incr -n 3000 -c 20 -q > out 2>&1 || fail "$(cat out)"
ask set short x px 20 > out
ask bgsave > out
saved() { ask info persistence | grep -q '^rdb_bgsave_in_progress:0'; }
wait_for 60 saved || fail "it does not save"
expired() { ask info stats | grep -q '^expired_keys:1'; }
wait_for 60 expired || fail "the key does not expire"
wanted=$(ask info commandstats | sed -n 's/^cmdstat_[^:]*:calls=\([0-9]*\).*/\1/p' |
	awk '{ n += $1 } END { print n + 0 }')
kill -KILL "$server"
container_end

recorded closed/f
count() { grep -c "\"$1\"" events; }
# The last question had not counted itself when it was answered; but "config
# resetstat", which came before the recorder, had.
printf '%s of %s commands, %s ends, %s expired, %s saves of %s\n' "$(count command_start)" \
	"$wanted" "$(count command_end)" "$(count expired)" "$(count save_end)" "$(count save_start)"
info_shown
[ "$(count command_start)" -eq "$(count command_end)" ] || fail "commands without an end"
[ "$(count command_end)" -eq "$wanted" ] || fail "not all commands"
[ "$(count expired) $(count save_end)" = "1 1" ] || fail "expired, saves"
"$dump" --stats=command closed/f | head -8
echo "ok"
