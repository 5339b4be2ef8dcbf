#!/bin/sh
# follow.sh - children of the target, followed and free.
#
# usage: follow.sh PREX PTY FORKER TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") pty=$(realpath "$2") forker=$(realpath "$3")
dump=$(realpath "$4")
PATH=$(dirname "$prex"):$PATH
export HOME="$TMP" TERM=dumb PATH
cd "$TMP" || exit 1

# All turns of the three are in the file, whether they are followed or not.
turns() {
	want=$1; shift
	prex "$@" -o f.tnf -c 'enable $all; continue' "$forker" 20 \
		> out 2> err || fail "prex $*: $(cat err)"
	n=$("$dump" f.tnf | grep -c 'turn:')
	[ "$n" -eq 60 ] || fail "prex $*: $n turns, not 60"
	n=$(grep -c 'is followed' err)
	[ "$n" -eq "$want" ] || fail "prex $*: $n children followed"
}
turns 2 --follow-fork
turns 0

# Ctrl-C stops all three, and a command reaches all three.
cat > keys <<'E'
cursor prex>
send connect &debug $all\n
row prex> connect &debug $all
cursor prex>
send enable $all\n
row prex> enable $all
cursor prex>
send continue\n
has who="parent"
has who="child"
has who="grandchild"
send \x03
has Target process stopped
cursor prex>
send disable $all\n
row prex> disable $all
cursor prex>
send continue\n
eof
exit 0
print
E
"$pty" keys prex --follow-fork -o f.tnf "$forker" 600 > out || fail "keys"
sed '1,/disable/d' out | grep 'probe turn' && fail "one went on"
[ "$(grep -c exited out)" -eq 3 ] || fail "not all exits were seen"

# Children that become other programs, made by fork and by vfork.
prex --follow-fork -o f.tnf -c continue sh -c '/bin/echo a; (/bin/echo b)' \
	> out 2> err || fail "sh: $(cat err)"
grep -qx a out && grep -qx b out || fail "sh: $(cat out err)"

# Threads of prex end with the children that they were for.
: > err
prex --follow-fork -o f.tnf -c continue sh -c 'for i in 1 2 3 4 5 6 7 8 9 10
	do (:); done; sleep 100' > out 2> err &
p=$!
wait_for 60 sh -c '[ $(grep -c -e exited -e "another program" err) -ge 10 ]' ||
	fail "ten children: $(cat err)"
n=$(sed -n 's/^Threads:[[:space:]]*//p' "/proc/$p/status")
[ "$n" -le 4 ] || fail "$n threads after ten children"
kill -INT $p
wait $p

# quit takes them along.
: > err
prex --follow-fork -o f.tnf -c 'continue' "$forker" 1000 > out 2> err &
p=$!
wait_for 60 grep -q 'followed' err
wait_for 60 sh -c '[ $(grep -c followed err) -eq 2 ]' || fail "not followed"
kill -INT $p
wait $p
sed -n 's/.*child process \([0-9]*\) is.*/\1/p' err | while read -r child; do
	[ ! -d "/proc/$child" ] || grep -q '^State:.*Z' "/proc/$child/status" ||
		fail "child $child is still there"
done
