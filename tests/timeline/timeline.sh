#!/bin/sh
# timeline.sh PREX TNFXTRACT PINGS ORDER - a program and the kernel, traced at
# once, on one time line.  TNF_TIMELINE_ROUNDS: of each of four threads; 250000 takes
# some minutes.
. "${TNF_SOURCE:?}/tests/lib.sh"
prex=$(realpath "$1") tnfxtract=$(realpath "$2") pings=$(realpath "$3") order=$(realpath "$4")
n=${TNF_TIMELINE_ROUNDS:-12500}
need_kernel
need_ptrace
scratch
cd "$TMP" || exit 1
undo() {
	printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >/dev/null 2>&1
	rm -rf "$TMP"
}
trap undo EXIT

printf 'enable $all\ncontinue\n' |
	"$prex" -o user.tnf -s $((n / 2 + 16384)) "$pings" pid "$n" >prex.out 2>&1 &
wait_for 60 test -s pid || fail "the program did not start: $(cat prex.out)"
pid=$(cat pid)
"$prex" -k >kernel.out 2>&1 <<EOF || fail "prex -k: $(cat kernel.out)"
buffer alloc $((n / 1000 + 32))m
pfilter add $pid
pfilter on
trace syscall
enable syscall
ktrace on
EOF
touch pid.go
wait_for $((60 + n / 500)) sh -c "! kill -0 $pid 2>/dev/null" || fail "the program hangs"
wait
"$tnfxtract" kernel.tnf 2>lost || fail "tnfxtract: $(cat lost)"
[ ! -s lost ] || fail "$(cat lost)"
"$order" "$pid" "$n" user.tnf kernel.tnf || fail "order"
