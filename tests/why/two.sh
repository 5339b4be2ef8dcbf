#!/bin/bash
# two.sh RELAY - a recorded request waits for a server on another machine, whose clock of the boot
# is a day ahead, and which is stopped meanwhile: the verdict has to follow it there.
. "${TNF_SOURCE:?}/tests/lib.sh"
relay=$(realpath "$1")
tnfdump=$TNF_BUILD/tnfdump/tnfdump prex=$TNF_BUILD/prex/prex tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_kernel
need_program python3
scratch
cd "$TMP" || exit 1
servers=
undo() {
	# shellcheck disable=SC2086  # words are meant
	[ -z "$servers" ] || { kill -KILL $servers && wait $servers; } 2>/dev/null
	"$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
	test_end
}
trap undo EXIT

# server NAME PORT [HOST PORT]: its probes are enabled, and its process is in $!.
server() {
	local name=$1
	shift
	LD_PRELOAD=$TNF_BUILD/libtnfprobe/libtnfprobe.so.1 TNF_ENABLE=relay TNF_FILE=$name.tnf \
		"$relay" "$@" 9>&- &
	servers="$servers $!"
}
web=$((20000 + $$ % 10000)) db=$((web + 1))
server db "$db"
store=$!
server web "$web" 127.0.0.1 "$db"
# ask N: N requests, each of which was answered.
ask() { "$relay" -n "$1" 127.0.0.1 "$web" 9>&-; }
calls() { "$tnfdump" --no-header web.tnf 2>/dev/null | grep -c ' call '; }
answered() { ask 1 2>/dev/null && [ "$(calls)" -gt 0 ] && "$tnfdump" --no-header db.tnf | grep -q ' reply '; }
wait_for 60 answered || fail "the servers do not answer"

"$prex" -k >out 2>&1 <<-END || fail "prex -k: $(cat out)"
	buffer alloc 32m
	trace \$why
	enable \$why
	ktrace on
END
ask 3
before=$(calls)
kill -STOP "$store"
ask 1 &
client=$!
waits() { [ "$(calls)" -gt "$before" ]; }
wait_for 60 waits || fail "the request does not come to the first server"
sleep 0.5	# longer than any other request takes
kill -CONT "$store"
wait $client
"$prex" -k -c 'ktrace off' >/dev/null 2>&1
"$tnfxtract" web.kernel 2>err || fail "tnfxtract: $(cat err)"
cp web.kernel db.kernel

python3 "$TNF_SOURCE/tests/why/reboot.py" "$tnfdump" db 86400000000000 db.tnf db.kernel || fail reboot.py
"$tnfdump" --hosts --message call,took,message --message reply,back,message --why \
	--pair call,back web.tnf web.kernel db.tnf db.kernel >why 2>err || fail "--why: $(cat err)"
head -n 3 why
sed -n 2p why | grep -qE "^Waited .* for relay $store \\(message\\): .* stopped by " || fail "verdict: $(cat why err)"
