#!/bin/sh
# top-both.sh - --top on the kernel, and on the kernel and a process at once: both
# are in one table, sorted, with what this machine tells of names.
# usage: top-both.sh PREX BUSY PTY
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
need_ptrace
prex=$1 busy=$2 pty=$3

trace_begin 4000000 syscall_start syscall_end thread_block
# shellcheck disable=SC2016  # prex's word
"$prex" -s 1024 -o "$TMP/user.tnf" -c 'enable $all; continue' "$busy" 1000000 2000 "$TMP/go" \
	>"$TMP/prex.out" 2>&1 &
prexpid=$!
at_exit "kill $prexpid 2>/dev/null"
wait_for 60 pgrep -P "$prexpid" >/dev/null || fail "no target: $(cat "$TMP/prex.out")"
target=$(pgrep -P "$prexpid")
at_exit "kill $target 2>/dev/null"
wait_for 60 [ -s "$TMP/user.tnf" ] || fail "no file"
"$kpctl" filter add "$target" && "$kpctl" filter on && "$kpctl" on || fail "cannot trace"
: >"$TMP/go"

# top NAME ARGUMENT...: the tables of --top until each of the words in want has been there
top()
{
	name=$1
	shift
	: >"$TMP/$name"
	"$tnfdump" --pretty --interval 0.2 "$@" >"$TMP/$name" 2>"$TMP/$name.err" </dev/null &
	follower=$!
	at_exit "kill $follower 2>/dev/null"
	wait_for 90 has_all "$TMP/$name" || fail "$name: $(tail -30 "$TMP/$name") $(cat "$TMP/$name.err")"
	kill -INT $follower
	wait $follower || fail "$name: ended with $?: $(cat "$TMP/$name.err")"
	grep -q "$(printf '\033')" "$TMP/$name" && fail "$name: escapes in a file"
}
# Behind each other in the last table, not somewhere in all of them.
has_all()
{
	for word in $want; do
		awk '/rate\/s/ && /what/ { t = "" } { t = t "\n" $0 } END { print t }' "$1" | grep -q -- "$word" || return 1
	done
}

want='syscall_end thread_block'
top kernel --top --follow kernel
grep -q ' tick' "$TMP/kernel" && fail "kernel: a process' probe"
echo "ok: the kernel"

want='syscall_end thread_block tick'
top both --top --follow kernel --follow "$target"
echo "ok: the kernel and process $target"

want='syscall_end.comm=busy tick.comm=busy'
top named --top=comm --follow kernel --follow "$target"
echo "ok: by name"

# On a terminal it is one picture, which q ends.
cat >"$TMP/keys" <<'K'
has syscall_end
has tick
has events/s
send q
eof
exit 0
raw \e[?1049l
K
TERM=xterm "$pty" "$TMP/keys" "$tnfdump" --top --pretty --interval 0.2 --follow kernel --follow "$target" \
	>"$TMP/out" 2>&1 || fail "on a terminal: $(cat "$TMP/out")"
"$kpctl" off
kill "$target"
wait $prexpid
exit 0
