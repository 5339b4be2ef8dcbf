# shellcheck shell=sh
# server.sh - what the scripts share that look at a real server in a container of its own,
# record it and compare what the file tells with what the server has counted.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_root
need_ptrace
need_program gcc unshare
[ $# -eq 1 ] || fail "usage: $(basename "$0") DIR"
mkdir -p "$1" || exit 1
dir=$(cd "$1" && pwd)
source=$(realpath "$TNF_SOURCE")
prex=$(realpath "$TNF_BUILD/prex/prex") dump=$(realpath "$TNF_BUILD/tnfdump/tnfdump")

# A directory for the test: the server's user goes through it, and not into "closed".
server_scratch() {
	scratch
	cd "$TMP" || exit 1
	chmod 711 .
	mkdir -m 700 closed
	mkfifo in
}

# container COMMAND: a shell command, until container_end; "box" is its process.
container() {
	unshare -m -p -f --mount-proc sh -c "$1; read -r _" <in >said 2>&1 &
	box=$!
	exec 5>in
}
container_end() {
	exec 5>&-
	wait $box
}

# status WORD PID: as the kernel tells; the last one of several.
status() { awk -v w="$1:" '$1 == w { print $NF }' "/proc/$2/status"; }
effective_user() { awk '/^Uid/ { print $3 }' "/proc/$1/status"; }

# looked_at PID PROBES: nothing is set up by it.
looked_at() {
	"$prex" -p "$1" -c 'list name probes $all' >out 2>&1 || fail "look: $(cat out)"
	[ "$(grep -c '^name=' out)" -eq "$2" ] || fail "look: $(cat out)"
}
# record PID FILE KBYTES
record() { "$prex" -p "$1" -o "$2" -s "$3" -c 'enable $all; quit' >out 2>&1 || fail "$(cat out)"; }
# recorded FILE: its events are in "events", what is known of it in "info"; it is root's.
recorded() {
	"$dump" --info "$1" >info 2>err || fail "$(cat err)"
	"$dump" --to jsonl "$1" >events 2>err || fail "$(cat err)"
	[ "$(stat -c '%u %a' "$1")" = "0 600" ] || fail "whose file is it?"
}
info_shown() { grep -E 'events:|dropped:|overwritten:|held|writers|tasks known' info; }
