#!/bin/sh
# tasks.sh - which process and which thread an event is of, by name: a process
# goes by its leader's, who has none is told, and mistakes are.
# Usage: tasks.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
scratch
cd "$TMP" || exit 1

"$story" user.tnf <<'M' || fail "story"
process 100
boot 1
probe bake io n:tnf_int32
1000 100 100 1 0 bake 1
2000 100 101 2 0 bake 2
3000 100 102 3 0 bake 3
4000 200 200 4 0 bake 4
5000 300 300 5 0 bake 5
@task 100 100 1 bakery
@task 101 100 1 oven
@task 200 200 1 shop
M

# keeps 'N N' OPTION...: these loaves
keeps() {
	want=$1
	shift
	got=$("$tnfdump" --no-header "$@" user.tnf 2> err | sed 's/.*n: //' | tr '\n' ' ')
	[ "$got" = "$want" ] || fail "$*: keeps $got, not $want"
}
says() { [ "$(cat err)" = "$1" ] || fail "says $(cat err)"; }

# 102 has ended and has no name; 101 has another.  300 is nobody's.
keeps '1 2 3 ' -p bakery
says 'tnfdump: -p bakery: 1 event of 1 process whose name the trace does not tell were left out: choose them by number: 300'
keeps '1 2 3 4 ' -p 'bak*,sh*'
keeps '1 2 3 5 ' -p bakery,300
says ''
keeps '2 ' --tid oven
says 'tnfdump: --tid oven: 2 events of 2 threads whose name the trace does not tell were left out: choose them by number, for example 300'
keeps '2 3 ' --tid 101,102
says ''
keeps '' -p bakkery
says 'tnfdump: -p bakkery: no event that was read is of a process of that name: did you mean bakery?
tnfdump: -p bakkery: 1 event of 1 process whose name the trace does not tell were left out: choose them by number: 300'
keeps '' -p oven
grep -q '^tnfdump: -p oven: a thread, not a process: --tid oven$' err || fail "$(cat err)"
keeps '' -p 101
says 'tnfdump: -p 101: a thread, not a process: --tid 101'
keeps '1 2 3 ' -p 100,999
says 'tnfdump: -p 999: no event that was read is of that process'
# An event that another filter drops was there.
keeps '1 ' --where 'n == 1' -p 100,200
says ''

# Process 0 is the kernel's idle threads, whose name nobody misses.
"$story" idle.tnf <<'M' || fail "story"
process 100
boot 1
probe bake io n:tnf_int32
1000 100 100 1 0 bake 1
2000 0 0 2 0 bake 2
@task 100 100 1 bakery
M
"$tnfdump" --no-header -p bakery idle.tnf > out 2> err || fail "idle: $(cat err)"
says ''

# Flame graphs go by the process, too.
"$tnfdump" --to folded user.tnf | sort > out
[ "$(cat out)" = "bakery;bake 3
pid_300;bake 1
shop;bake 1" ] || fail "folded: $(cat out)"

# A trace of the kernel tells the names of the processes of another, of one boot.
"$story" kernel.tnf <<'M' || fail "story"
kernel
kernel-part
boot 1
probe tick k n:tnf_int32
2500 0 0 0xf0 1 tick 9
@task 300 300 1 third
M
[ "$("$tnfdump" --no-header -p third user.tnf kernel.tnf 2> err | sed 's/.*n: //')" = 5 ] ||
	fail "a name in the other file: $(cat err)"
"$story" other.tnf <<'M' || fail "story"
kernel
kernel-part
boot 2
probe tick k n:tnf_int32
2500 0 0 0xf0 1 tick 9
@task 300 300 1 third
M
"$tnfdump" --no-header -p third user.tnf other.tnf > out 2> err
[ ! -s out ] || fail "names of another boot: $(cat out)"
echo "processes and threads by name"
