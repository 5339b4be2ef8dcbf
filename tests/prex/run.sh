#!/bin/sh
# run.sh - the kernel around one command: it and its children are in the file,
# others are not, its status is prex's, and nothing is left, also after failures.
#
# usage: run.sh PREX TNFXTRACT TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_kernel
scratch
prex=$(realpath "$1") dump=$(realpath "$3")
export HOME="$TMP"
cd "$TMP" || exit 1

# run STATUS ARGUMENT...: and the kernel is as it was.
run() {
	want=$1; shift
	rm -f f.tnf
	"$prex" -k --run -o f.tnf "$@" > out 2> err < /dev/null
	got=$?
	[ $got -eq "$want" ] || fail "$*: status $got, not $want: $(cat err)"
	[ ! -e /sys/fs/bpf/tnf/state ] || fail "$*: the kernel is not as it was"
}
events() { "$dump" --to jsonl f.tnf 2> dump.err | grep "\"$1\"" | grep -c "$2"; }

sleep 1000 &
other=$!
run 3 -c 'trace thread; enable thread' \
	sh -c 'echo $$ > mother; sh -c "echo \$\$ > child; kill -0 '$other'"; exit 3'
kill $other
for who in mother child; do
	[ "$(events syscall_start "\"pid\":$(cat $who)[,}]")" -gt 5 ] ||
		fail "$who: no system calls: $("$dump" --info f.tnf)"
	[ "$(events thread_exit "\"pid\":$(cat $who)[,}]")" -eq 1 ] ||
		fail "$who: its end is missing"
done
# thread_create and dispatch tell of others; system calls are their writer's.
n=$("$dump" --to jsonl f.tnf | grep '"syscall_start"' |
	grep -o '"pid":[0-9]*' | sort -u | wc -l)
[ "$n" -eq 2 ] || fail "$n processes made system calls, not 2"

# The command gets the signals as prex got them.
look='grep -E "^Sig(Ign|Blk)" /proc/self/status'
ignoring sh -c "$look" > alone
ignoring "$prex" -k --run -o f.tnf sh -c "$look" 2> err < /dev/null | grep '^Sig' > under
cmp alone under || fail "signals: $(cat alone under err)"

run 137 sh -c 'kill -9 $$'
[ "$("$dump" f.tnf | grep -c ' syscall_start ')" -gt 0 ] || fail "by default"
run 127 -c 'enable nosuch' ./nosuch
grep -qx "$prex: ./nosuch: No such file or directory" err || fail "$(cat err)"
grep -q 'warning: .*nosuch' err && grep -q 'warning: no probe is both' err ||
	fail "nothing is recorded, and nobody says so: $(cat err)"
run 1 -c 'lsit' true
run 1 -c 'enable io' -o /nosuch/f true
grep -q ': nothing has been run' err || fail "$(cat err)"
# Without tnfxtract the command does not run.
mkdir lonely && cp "$prex" lonely || fail "no copy"
PATH=$TMP/lonely lonely/prex -k --run -o f.tnf /usr/bin/touch ran >out 2>err && fail "it runs without tnfxtract"
[ ! -e ran ] && grep -q 'tnfxtract: neither beside prex nor in PATH: nothing has been run' err ||
	fail "without tnfxtract: $(cat err)"
[ ! -e /sys/fs/bpf/tnf/state ] || fail "without tnfxtract: the kernel is not as it was"

# A signal that ends prex ends the command, and the events until then are in the file.
rm -f f.tnf
"$prex" -k --run -o f.tnf -c 'trace io; enable io' sleep 1000 > out 2> err < /dev/null &
p=$!
wait_for 60 pgrep -P $p -x sleep > /dev/null || fail "it does not run: $(cat err)"
kill -TERM $p
wait $p
got=$?
[ $got -eq 143 ] || fail "TERM: status $got: $(cat err)"
[ -s f.tnf ] || fail "TERM: no file"
[ ! -e /sys/fs/bpf/tnf/state ] || fail "TERM: the kernel is not as it was"

# Somebody else's buffer is left alone.
"$prex" -k -c 'buffer alloc 200k' > out 2>&1 || fail "$(cat out)"
"$prex" -k --run -o f.tnf true > out 2> err && fail "it took another's buffer"
grep -q 'there is a buffer already' err || fail "$(cat err)"
"$prex" -k -c 'buffer' | grep -qx 'Trace buffer size is 204800 bytes' ||
	fail "another's buffer has changed"
"$prex" -k -c 'buffer dealloc' > out 2>&1 || fail "$(cat out)"
