#!/bin/sh
# soak.sh - random commands against changing targets and the kernel, and kill
# -9 of either side at a random moment, for SOAK_SECONDS.
#
# usage: soak.sh PREX TNFXTRACT TNFDUMP VICTIM-DIRECTORY
#
# No process may stay stopped, nothing may stay behind: processes, descriptors and
# mappings in a target that was visited often, pins; and the kernel says nothing.
# SOAK_SEED repeats the choices, if not the moments.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") tnfxtract=$(realpath "$2") tnfdump=$(realpath "$3")
victims=$(realpath "$4")
end=$(($(date +%s) + ${SOAK_SECONDS:-20}))
seed=${SOAK_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
echo "seed $seed, ${SOAK_SECONDS:-20} seconds"
cd "$TMP" || exit 1
bad=0 rounds=0 sessions=0 killed_prex=0 killed_targets=0 kernel_sessions=0 dumps=0
wrong() { echo "round $rounds: $*"; bad=$((bad + 1)); }

# The kernel's probes while they are free: sessions follow one another on what the
# last one left, then everything is put back and other tests have their turn.
kernel=no
kernel_can=no
[ "$(id -u)" -ne 0 ] || [ ! -r /sys/kernel/btf/vmlinux ] || kernel_can=yes
# Root's lock cannot be opened by others.
[ $kernel_can = no ] || exec 9> "${TMPDIR:-/tmp}/tnf-kernel-test.lock"
kernel_take() {
	[ $kernel = no ] && [ $kernel_can = yes ] && flock -n 9 || return
	if [ -e /sys/fs/bpf/tnf/state ]; then
		flock -u 9
	else
		kernel=yes
	fi
}
trap 'kill -9 $visited 2> /dev/null; put_back; rm -rf "$TMP"' EXIT
put_back() {
	[ $kernel = no ] && return
	# One at a time: without a buffer some fail, and end a session.
	for c in 'ktrace off' 'pfilter off' 'disable $all' 'untrace $all' \
	    'buffer dealloc'; do
		"$prex" -k -c "$c" < /dev/null
	done > put_back 2>&1
	[ ! -e /sys/fs/bpf/tnf/state ] || {
		wrong "pins stay"; cat put_back; find /sys/fs/bpf/tnf; }
	kernel=no
	flock -u 9
}

# random N: $r is 0 to N-1.
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	r=$((seed / 65536 % $1))
}
# one_of WORD...: $r is one of them.
one_of() { random $#; shift $r; r=$1; }
# pause: up to 0.2 seconds.
pause() { random 20; sleep "$(printf '0.%02d' $r)"; }

user_commands() {
	c=
	random 8; n=$((r + 1))
	while [ $n -gt 0 ]; do
		n=$((n - 1))
		one_of 'list probes $all' 'enable $all' 'disable $all' \
			'trace $all' 'untrace $all' 'create $s name=/^[a-p]/' \
			'enable $s' 'list sets' 'list values' 'clear $all' \
			'create &f puts' 'connect &f $s' 'list fcns' 'history' \
			'list tracefile' 'enable name=/./' 'help list' 'nonsense'
		c="$c; $r"
	done
	c=${c#; }
}
kernel_commands() {
	c=
	random 8; n=$((r + 1))
	while [ $n -gt 0 ]; do
		n=$((n - 1))
		one_of 'buffer alloc 1m' 'buffer' 'buffer dealloc' 'ktrace on' \
			'ktrace off' 'enable keys=io' 'enable keys=syscall' \
			'trace keys=io' 'trace keys=syscall' 'disable $all' \
			'untrace $all' 'pfilter on' 'pfilter off' "pfilter add $$" \
			'list probes keys=io' 'list values keys' 'nonsense'
		c="$c; $r"
	done
	c=${c#; }
}

gone() { ! kill -0 "$1" 2> /dev/null; }
runs() {
	case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null) in
	[Tt]*) return 1 ;;
	esac
}
# ended PID NAME: within a minute.
ended() {
	wait_for 60 gone "$1" && return
	wrong "$2 hangs: $c"
	kill -9 "$1"
}
# perhaps_kill PID COUNTER
perhaps_kill() {
	random 3
	[ $r -eq 0 ] || return
	pause
	kill -9 "$1" 2> /dev/null && eval "$2=\$(($2 + 1))"
}
start_victim() {
	one_of 'threads 3 2' 'many 2' 'busy malloc 2' 'threads 2 2 signals' 'ends'
	: > ready
	# shellcheck disable=SC2086
	"$victims"/victim-$r > ready < empty &
	victim=$!
	wait_for 60 grep -qs ready ready || wrong "the victim does not start"
}
: > empty

# A target of prex's own, which is to die with it.
child_session() {
	user_commands
	one_of 'threads 2 0' 'busy malloc 0' 'ends'
	# shellcheck disable=SC2086
	"$prex" -s 128 -o trace -c "$c; continue" "$victims"/victim-$r \
		> out 2>&1 < /dev/null &
	p=$!
	perhaps_kill $p killed_prex
	ended $p prex
	wait $p 2> /dev/null
}
pid_session() {
	user_commands
	one_of 'quit' 'quit resume' 'quit kill' 'continue'
	"$prex" -s 128 -o trace -p $1 -c "$c; $r" > out 2>&1 < /dev/null &
	p=$!
	perhaps_kill $p killed_prex
	random 4
	[ $r -ne 0 ] || [ $1 = "$visited" ] || perhaps_kill $1 killed_targets
	random 2
	[ $r -eq 0 ] && { pause; kill -INT $p 2> /dev/null; }
	ended_soon $p
	wait $p 2> /dev/null
	gone $1 || wait_for 60 runs $1 || wrong "the target stays stopped: $c"
}
# "continue" goes on until the target ends, which some never do.
ended_soon() {
	wait_for 3 gone $1 || { kill -9 $1 2> /dev/null; killed_prex=$((killed_prex + 1)); }
}
attach_session() {
	start_victim
	pid_session $victim
	kill -9 $victim 2> /dev/null
	wait $victim 2> /dev/null
}
kernel_session() {
	kernel_commands
	"$prex" -k -c "$c" > out 2>&1 < /dev/null &
	p=$!
	perhaps_kill $p killed_prex
	random 2
	[ $r -ne 0 ] || timeout 120 "$tnfxtract" kernel > out2 2>&1
	[ $? -ne 124 ] || wrong "tnfxtract hangs"
	ended $p "prex -k"
	wait $p 2> /dev/null
	kernel_sessions=$((kernel_sessions + 1))
	random 6
	[ $r -ne 0 ] || put_back
}
dump() {
	[ -s "$1" ] || return
	timeout 120 "$tnfdump" "$1" > dump 2> dump.err
	got=$?
	dumps=$((dumps + 1))
	[ $got -le 1 ] || wrong "tnfdump: status $got"
}
warnings() {
	dmesg 2> /dev/null |
		grep -c -e 'WARNING: CPU' -e 'BUG:' -e 'Oops' -e 'hung task' \
		-e 'blocked for more than' -e 'general protection'
}
descriptors() { find "/proc/$visited/fd" -type l | wc -l; }
mappings() { wc -l < "/proc/$visited/maps"; }

"$victims"/victim-threads 2 100000 > visited < empty &
visited=$!
wait_for 60 grep -qs ready visited || fail "the victim does not start"
"$prex" -s 128 -o first -p $visited -c 'enable $all; quit resume' \
	> out 2>&1 < /dev/null || fail "cannot attach: $(cat out)"
before="$(descriptors) descriptors"
maps=$(mappings)
said=$(warnings)

while [ "$(date +%s)" -lt $end ]; do
	rounds=$((rounds + 1))
	rm -f trace kernel
	random 8
	case $r in
	0|1)	child_session ;;
	2|3|4)	attach_session ;;
	5)	user_commands
		"$prex" -s 128 -o trace -p $visited -c "$c; quit resume" \
			> out 2>&1 < /dev/null &
		p=$!
		perhaps_kill $p killed_prex
		ended $p prex
		wait $p 2> /dev/null
		wait_for 60 runs $visited || wrong "stays stopped: $c" ;;
	*)	kernel_take
		[ $kernel = no ] || kernel_session ;;
	esac
	sessions=$((sessions + 1))
	dump trace
	dump kernel
	rm -f core*
done

# Look for what is left.
gone $visited && wrong "the process that was visited has died"
# Another file: that takes calls, and whoever makes some closes what others left.
"$prex" -s 128 -o last -p $visited -c 'disable $all; clear $all; quit resume' \
	> out 2>&1 < /dev/null ||
	wrong "cannot attach any more: $(cat out)"
after="$(descriptors) descriptors"
[ "$before" = "$after" ] || wrong "$before at first, $after in the end"
[ "$(mappings)" -le $((maps + 16)) ] ||
	wrong "$maps mappings at first, $(mappings) in the end"
kill -9 $visited
put_back
wait 2> /dev/null
for f in /proc/[0-9]*/cwd; do
	[ "$(readlink "$f" 2> /dev/null)" != "$TMP" ] || p=${f%/cwd}
	[ "$(readlink "$f" 2> /dev/null)" != "$TMP" ] || [ "$p" = /proc/$$ ] ||
		! tr '\0' ' ' < "$p/cmdline" 2> /dev/null | grep -q -e victim- -e prex ||
		wrong "still there: $(tr '\0' ' ' < "$p/cmdline" 2> /dev/null)"
done
[ "$(warnings)" -le "$said" ] || { wrong "the kernel warned"; dmesg | tail -30; }
echo "$rounds rounds, $sessions sessions ($kernel_sessions with the kernel)," \
	"$killed_prex times prex killed, $killed_targets times the target," \
	"$dumps traces read, $bad wrong"
[ $bad -eq 0 ]
