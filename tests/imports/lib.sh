# shellcheck shell=sh
# lib.sh - what the tests of probes in programs share: a victim that hits all of its
# probes whenever it is told to, prex, and what came into the kernel's buffer.
#
#	victim_start [PROGRAM] ARG...	starts it: process $pid, its first line is there
#	round				it hits them once more
#	semaphores			as it saw them in its last round
#	victim_end			its input ends, and so does it
#	control [ARG]...		prex, which must not fail; it says $TMP/said
#	extract				the buffer, as text without definitions: $TMP/text
#	events NAME			how many are in it
#
# Whatever happens, the victim and the buffer are gone in the end.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"

prex=$TNF_BUILD/prex/prex
pins=/sys/fs/bpf/tnf/import

need_kernel
[ -e /sys/bus/event_source/devices/uprobe ] || skip "kernel without uprobes"
scratch
export HOME="$TMP"

pid='' prex_pid=''
stop_all() {
	for _p in $prex_pid $pid; do
		kill -9 "$_p" 2>/dev/null
	done
	[ ! -e /sys/fs/bpf/tnf/buf ] || "$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
	test_end
}
trap stop_all EXIT

lines_are() { [ "$(wc -l <"$TMP/out")" -ge "$1" ]; }
victim_start() {
	mkfifo "$TMP/go"
	"$@" <"$TMP/go" >"$TMP/out" 7>&- 9>&- &
	pid=$!
	exec 7>"$TMP/go"
	rounds=1
	wait_for 60 lines_are 1 || fail "$1: it says nothing"
}
round() {
	rounds=$((rounds + 1))
	echo >&7
	wait_for 60 lines_are "$rounds" || fail "the victim has stopped"
}
semaphores() { tail -n 1 "$TMP/out"; }
victim_end() {
	exec 7>&-
	wait "$pid"
	pid=''
	rm "$TMP/go"
}

control() { "$prex" "$@" >"$TMP/said" 2>&1 </dev/null || fail "prex $*: $(cat "$TMP/said")"; }
buffer_end() {
	control -k -c 'ktrace off; buffer dealloc'
	[ ! -e /sys/fs/bpf/tnf ] || fail "pins stay: $(ls /sys/fs/bpf/tnf)"
}
pins_are() { [ "$(find $pins -type f 2>/dev/null | wc -l)" -eq "$1" ]; }

# The definitions of the probes are in $TMP/probes.
extract() {
	rm -f "$TMP/trace"
	"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" || fail "tnfxtract"
	"$TNF_BUILD/tnfdump/tnfdump" "$TMP/trace" >"$TMP/dump" || fail "tnfdump"
	grep '^probe' "$TMP/dump" >"$TMP/probes"
	grep -v '^probe' "$TMP/dump" >"$TMP/text"
}
events() { grep -c " $1 " "$TMP/text"; }
