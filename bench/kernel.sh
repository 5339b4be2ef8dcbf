#!/bin/sh
# kernel.sh - what a system call and a switch of threads cost while recorded.
#
# CPU nanoseconds that are added to one getppid(2), beside perf, trace-cmd and
# bpftrace, in the same run; to one switch between two threads that wake each other
# through pipes; and to the first write to a page.
#
# Stacks, arguments and softirqs have a peer of their own as reference: the ring with stacks,
# perf trace, the ring.
#
# Two floors for calls and faults: programs that return at once, at the places
# where the probes are, and programs that read the clock there and store it.
. "$(dirname "$0")/lib.sh"

b=$BENCH_BUILD
kpctl=$b/tests/kernel/kpctl loop=$b/bench/kernel/kernel-loop floor=$b/bench/kernel/kernel-floor
calls=${BENCH_LOOPS:-1000000}
cpu=$(($(nproc) - 1))

[ -x "$kpctl" ] && [ -x "$floor" ] || leave "built without the kernel's probes"
kernel_lock || exit 77

# added WHAT ROUND BARE CMD...: what CMD prints, less BARE.  Rows of another $unit have another
# reference.
unit=ns
added()
{
	_w=$1 _r=$2 _bare=$3
	shift 3
	_v=$("$@" 2>"$BENCH_TMP/err" | awk '/^[0-9.]+$/ { v = $1 } END { print v }')
	[ -n "$_v" ] || { failed "$_w ($(tail -n 1 "$BENCH_TMP/err"))"; return; }
	row "$_w" "$unit" "$_r" "$(echo "$_v $_bare" | awk '{ printf "%.1f", $1 - $2 }')"
}

# a thousand processes in the filter's set
sleepers=
at_exit 'kill $sleepers 2>/dev/null'
thousand_in()
{
	for _i in $(seq 1000); do sleep 1000 & sleepers="$sleepers $!"; done
	# shellcheck disable=SC2086 # many
	"$kpctl" filter add $sleepers
}
thousand_out()	# those that have ended are taken out by who lists the set
{
	# shellcheck disable=SC2086
	kill $sleepers && wait $sleepers
	sleepers=
	"$kpctl" filter list
} >/dev/null 2>&1

left_out()	# ROUND BARE WHAT PROBE...: the loop is not in the filter's set
{
	"$kpctl" filter on
	ours "$@"
	"$kpctl" filter off
}

ours()	# ROUND BARE WHAT PROBE...
{
	_round=$1 _bare0=$2 _what=$3
	shift 3
	"$kpctl" enable "$@" && "$kpctl" on || return 1
	# shellcheck disable=SC2086 # may begin with an option
	added "$_what" "$_round" "$_bare0" "$loop" $calls "$cpu"
	"$kpctl" off
	"$kpctl" disable "$@"
}

# the frames that led to a system call: those of the kernel are known from the second call on
with_stack()	# ROUND BARE
{
	unit='ns stack'
	added "a program that does nothing" "$1" "$2" "$floor" one "$loop" "$calls" "$cpu"
	added "a program that takes a stack of 8" "$1" "$2" "$floor" stack "$loop" "$calls" "$cpu"
	"$kpctl" stacks syscall_start 8 0
	ours "$@" "syscall_start with a stack" syscall_start
	"$kpctl" stacks syscall_start 0 8
	ours "$@" "syscall_start with a user stack" syscall_start
	anew
	[ ! -d /sys/kernel/tracing/instances ] || added "tracefs ring with stacktrace" "$1" "$2" \
		in_ring -s raw_syscalls/sys_enter -- "$calls"
	triggered "$1" "$2" "tracefs ring with a stacktrace trigger" stacktrace raw_syscalls/sys_enter "$calls"
	triggered "$1" "$2" "tracefs hist trigger by stack" hist:keys=stacktrace raw_syscalls/sys_enter "$calls"
	unit=ns
}

# a call with its arguments, and its end
with_arguments()	# ROUND BARE
{
	unit='ns args'
	"$b/prex/prex" -k -c 'enable name=syscall_args name=syscall_end; trace name=syscall_args name=syscall_end' \
		</dev/null >/dev/null && "$kpctl" on &&
		added "syscall_args + syscall_end" "$1" "$2" "$loop" "$calls" "$cpu"
	"$kpctl" off
	anew
	[ -z "$perf" ] || added "perf trace" "$1" "$2" \
		perf trace -o "$BENCH_TMP/trace" "$loop" $((calls / 5)) "$cpu"
	triggered "$1" "$2" "tracefs hist trigger by call" hist:keys=id raw_syscalls/sys_enter "$calls"
	unit=ns
}

# shellcheck disable=SC2086  # $calls: an option and its value
# the frames that led to a wake-up: eight from a pipe's write, also of ours
with_eight()	# ROUND BARE
{
	unit='ns wake-up'
	added "wake-up: a program that does nothing" "$1" "$2" "$floor" one -s "$loop" $calls "$cpu"
	added "wake-up: a program that takes a stack of 8" "$1" "$2" "$floor" stack -s "$loop" $calls "$cpu"
	ours "$@" "wake-up: imported sched_wakeup" sched.sched_wakeup
	anew
	"$kpctl" stacks sched.sched_wakeup 8 0
	ours "$@" "wake-up: imported with a stack of 8" sched.sched_wakeup
	anew
	[ ! -d /sys/kernel/tracing/instances ] || added "wake-up: tracefs ring with stacktrace" "$1" "$2" \
		in_ring -s sched/sched_wakeup -- $calls
	triggered "$1" "$2" "wake-up: tracefs ring with a stacktrace trigger" stacktrace sched/sched_wakeup $calls
	unit=ns
}

# programs without stacks again
anew() { "$kpctl" dealloc && "$kpctl" alloc 16777216 >/dev/null; }

stop_ours() { "$kpctl" off >/dev/null 2>&1; "$kpctl" dealloc >/dev/null 2>&1; }
at_exit stop_ours
"$kpctl" alloc 16777216 >/dev/null || exit 1

have perf linux-perf && perf=yes
have trace-cmd trace-cmd && tracecmd=yes
ring=/sys/kernel/tracing/instances/tnf-bench.$$
triggers=$(sed -n 's/^# traceon/traceon/p' /sys/kernel/tracing/events/raw_syscalls/sys_enter/trigger 2>/dev/null)
for t in stacktrace hist; do
	case " $triggers " in *" $t "*) ;; *) not_measured "tracefs: this kernel has no trigger $t" ;; esac
done
have bpftrace bpftrace && bpftrace=yes

# The ring that trace-cmd reads from, without the reader.
in_ring()	# [-s] [-t TRIGGER] EVENT... -- LOOP ARGUMENT...; -s: with the kernel's stack
{
	mkdir "$ring" || return 1
	[ "$1" != -s ] || { shift; echo 1 >"$ring/options/stacktrace" || { rmdir "$ring"; return 1; }; }
	_trigger=
	[ "$1" != -t ] || { _trigger=$2; shift 2; }
	while [ "$1" != -- ]; do
		[ -z "$_trigger" ] || echo "$_trigger" >"$ring/events/$1/trigger" || { rmdir "$ring"; return 1; }
		# A histogram counts, and records nothing.
		[ "${_trigger#hist}" != "$_trigger" ] || echo 1 >"$ring/events/$1/enable" ||
			{ rmdir "$ring"; return 1; }
		shift
	done
	shift
	"$loop" "$@" "$cpu"
	rmdir "$ring"
}
triggered()	# ROUND BARE WHAT TRIGGER EVENT LOOP...
{
	_round=$1 _bare0=$2 _what=$3 _by=$4 _on=$5
	shift 5
	case " $triggers " in
	*" ${_by%%:*} "*) added "$_what" "$_round" "$_bare0" in_ring -t "$_by" "$_on" -- "$@" ;;
	esac
}
no_ring() { stop_ours; [ ! -d "$ring" ] || rmdir "$ring"; }
at_exit no_ring

# a switch on which a thread blocks: why, and with which stack
blocks()	# ROUND
{
	_calls=$calls
	calls="-s $((calls / 2))"
	# shellcheck disable=SC2086 # an option and its value
	bare=$("$loop" $calls "$cpu")
	row "switch alone" ns/switch "$1" "$bare"
	for depth in 0 8 32; do
		"$kpctl" set stack_depth $depth && "$kpctl" set recover_reason 0
		ours "$1" "$bare" "thread_block: stack of $depth" thread_block
	done
	"$kpctl" set recover_reason 1
	ours "$1" "$bare" "thread_block: 32 and the wait queue" thread_block
	ours "$1" "$bare" "thread_state" thread_state
	with_eight "$1" "$bare"
	# shellcheck disable=SC2086
	added "switch: two empty programs" "$1" "$bare" "$floor" empty -s "$loop" $calls "$cpu"
	left_out "$1" "$bare" "switch: thread_state filtered out" thread_state
	# shellcheck disable=SC2086
	[ -z "$perf" ] || added "perf record -g of sched_switch" "$1" "$bare" \
		perf record -q -g -a -o "$BENCH_TMP/perf" -e sched:sched_switch "$loop" $calls "$cpu"
	calls=$_calls
}

# a page fault: all that is told of it; the ring sees no end of it
faults()	# ROUND
{
	_calls=$calls
	calls="-f $((calls / 5))"
	# shellcheck disable=SC2086 # an option and its value
	{
		bare=$("$loop" $calls "$cpu")
		row "fault alone" ns/fault "$1" "$bare"
		added "fault: three empty programs" "$1" "$bare" "$floor" empty -f "$loop" $calls "$cpu"
		added "fault: three clock readings" "$1" "$bare" "$floor" clock -f "$loop" $calls "$cpu"
	}
	ours "$1" "$bare" "fault: address_fault" address_fault
	ours "$1" "$bare" "fault: thread_state" thread_state
	ours "$1" "$bare" "fault: state + address + page" thread_state address_fault \
	    anon_zero anon_private
	left_out "$1" "$bare" "fault: the same filtered out" thread_state address_fault \
	    anon_zero anon_private
	# shellcheck disable=SC2086
	[ ! -d /sys/kernel/tracing/instances ] || added "fault: tracefs ring of two events" "$1" \
		"$bare" in_ring exceptions/page_fault_user kmem/mm_page_alloc -- $calls
	calls=$_calls
}

# what an interrupt takes from a thread: both ends of a softirq
softirqs()	# ROUND
{
	_calls=$calls
	calls="-i $((calls / 5))"
	unit='ns softirq'
	# shellcheck disable=SC2086 # an option and its value
	bare=$("$loop" $calls "$cpu")
	row "datagram alone" ns/datagram "$1" "$bare"
	ours "$1" "$bare" "softirq: imported entry + exit" irq.softirq_entry irq.softirq_exit
	# shellcheck disable=SC2086
	[ ! -d /sys/kernel/tracing/instances ] || added "softirq: tracefs ring" "$1" "$bare" \
		in_ring irq/softirq_entry irq/softirq_exit -- $calls
	unit=ns
	calls=$_calls
}

while another 330; do
	blocks $round
	faults $round
	softirqs $round
	bare=$("$loop" "$calls" "$cpu")
	row "getppid alone" ns/call $round "$bare"
	added "empty pair" $round "$bare" "$floor" empty "$loop" "$calls" "$cpu"
	added "pair that reads the clock" $round "$bare" "$floor" clock "$loop" "$calls" "$cpu"
	ours $round "$bare" "syscall_start + syscall_end" syscall_start syscall_end
	ours $round "$bare" "syscall_start" syscall_start
	with_stack $round "$bare"
	with_arguments $round "$bare"
	left_out $round "$bare" "both filtered out" syscall_start syscall_end
	thousand_in
	left_out $round "$bare" "both filtered out: a set of 1000" syscall_start syscall_end
	thousand_out
	"$kpctl" set filter_except 1
	left_out $round "$bare" "both let through by a filter" syscall_start syscall_end
	"$kpctl" set filter_except 0
	added "everything off" $round "$bare" "$loop" "$calls" "$cpu"
	[ -z "$perf" ] || added "perf record" $round "$bare" perf record -q -a -o "$BENCH_TMP/perf" \
		-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit "$loop" $((calls / 5)) "$cpu"
	[ ! -d /sys/kernel/tracing/instances ] || added "tracefs ring" $round "$bare" in_ring raw_syscalls -- "$calls"
	[ -z "$tracecmd" ] || added "trace-cmd record" $round "$bare" \
		sh "$bench_dir/peers/trace-cmd.sh" record -q \
		-o "$BENCH_TMP/trace" -e raw_syscalls "$loop" $((calls / 5)) "$cpu"
	[ -z "$bpftrace" ] || added "bpftrace count()" $round "$bare" counting \
		'tracepoint:raw_syscalls:sys_enter { @a = count(); } tracepoint:raw_syscalls:sys_exit { @b = count(); }' \
		"$loop" "$calls" "$cpu"
done
"$kpctl" status | sed 's/.* lost \(.*\) most.*/lost, by reason: \1/'
table "pair that reads the clock;tracefs ring with stacktrace;perf trace;wake-up: tracefs ring with stacktrace;softirq: tracefs ring" \
	"CPU ns added to a system call, a switch or a fault"
