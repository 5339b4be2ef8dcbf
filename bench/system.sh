#!/bin/sh
# system.sh - what programs pay while the whole machine is recorded.
#
# CPU milliseconds of a compilation, of two processes and a pipe, of hackbench, of a
# loop of system calls and of redis under its benchmark: alone, with $always, with
# the kernel's probes, without stacks and with 8 frames, with $why likewise, and beside a tracefs
# instance, perf record, trace-cmd and perf trace with the hooks of the same events.
# BENCH_WORK and BENCH_RECORDERS choose some of them; args, syscall_args with the results, is for
# BENCH_WORK=calls beside perf-trace, and none of those that run without being asked for.
#
# Each is run BENCH_PIECES (3) times a round while it is recorded, and as often alone
# right before; compilations, which are short, BENCH_BUILDS (4) times that, in turns.  Two
# rows: what is added in a turn, between its least runs; and "least", between those of all
# rounds.  On a virtual machine another one's load counts as CPU time of ours: it only
# adds, so that the least run is that without it.
#
# tracefs has the hooks of the events; tracefs-ends has in addition the hook by which the
# probes know that a page fault has ended, which no event of its own tells.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/programs.sh"

b=$BENCH_BUILD
prex=$b/prex/prex
[ -x "$b/tests/kernel/kpctl" ] || leave "built without the kernel's probes"
kernel_lock || exit 77
[ "${BENCH_WORK:-}" = build ] || have perf linux-perf || leave "no perf: two of the programs are its"
have trace-cmd trace-cmd && tracecmd=trace-cmd
have redis-server redis-server && have redis-benchmark redis-tools && redis=redis
[ -z "${BENCH_QUICK:-}" ] || : "${BENCH_RECORDERS:=always probes tracefs probes-stack why tracefs-why}"
pieces=${BENCH_PIECES:-3}
: "${BENCH_BUILDS:=4}"
: "${BENCH_WORK:=build pipe hackbench calls $redis}"
: "${BENCH_RECORDERS:=always probes tracefs tracefs-ends probes-stack tracefs-stack perf perf-stack $tracecmd perf-trace why tracefs-why why-stack tracefs-why-stack}"

# The hooks of the kernel's probes, by their names in tracefs.
sched="sched/sched_switch sched/sched_wakeup sched/sched_wakeup_new
	sched/sched_migrate_task sched/sched_process_exit task/task_newtask"
events="$sched raw_syscalls/sys_enter raw_syscalls/sys_exit
	exceptions/page_fault_user exceptions/page_fault_kernel kmem/mm_page_alloc
	filemap/mm_filemap_add_to_page_cache filemap/mm_filemap_delete_from_page_cache
	block/block_bio_queue block/block_rq_complete"
# The events of $why, for somebody who would find causes out from tracefs: without the hooks by
# which its programs know that an interrupt, a timer, a lock or a page fault has ended.
causes="sched/sched_switch sched/sched_waking sched/sched_wakeup sched/sched_wakeup_new
	sched/sched_process_exit task/task_newtask signal/signal_generate
	irq/irq_handler_entry irq/softirq_entry timer/hrtimer_expire_entry
	timer/timer_expire_entry lock/contention_begin exceptions/page_fault_user
	filemap/mm_filemap_add_to_page_cache block/block_bio_queue block/block_rq_complete"
probes="thread dispatcher synch syscall pagefault pageio blockio"
ring=/sys/kernel/tracing/instances/tnf-bench.$$

work()		# NAME: a line for each piece
{
	_n=0
	while [ $((_n += 1)) -le "$pieces" ]; do once "$1"; done
}

kernel_probes()	# SELECTORS STACK WORK
{
	"$prex" -k --set stack_depth="$2" --set recover_reason="$((1 - !$2))" \
	    -c "buffer alloc 64m; trace $1; enable $1; ktrace on" </dev/null >/dev/null 2>&1
	work "$3"
	kernel_off
}

in_tracefs()	# STACK WORK EVENT...
{
	_stack=$1 _work=$2
	shift 2
	mkdir "$ring" || return 1
	echo 32768 >"$ring/buffer_size_kb"
	for _e; do echo 1 >"$ring/events/$_e/enable"; done
	# The stacks of threads that sleep, as thread_block has them.
	[ "$_stack" = 0 ] || echo 'stacktrace if prev_state != 0' >"$ring/events/sched/sched_switch/trigger"
	work "$_work"
	rmdir "$ring"
}
no_ring() { [ ! -d "$ring" ] || rmdir "$ring"; }
at_exit no_ring

# The recorder runs beside: its own CPU time is not the program's.  It records what
# it starts: that says when it runs, and ends when we say so.
beside()	# WORK CMD...
{
	_w=$1
	shift
	rm -f "$BENCH_TMP/up" "$BENCH_TMP/end"
	mkfifo "$BENCH_TMP/up" "$BENCH_TMP/end"
	# Both ends of both are open here: none waits for a recorder that has failed.
	exec 7<>"$BENCH_TMP/up" 8<>"$BENCH_TMP/end"
	{
		timeout 600 "$@" sh -c 'echo up >&7; read -r end <&8' >/dev/null 2>"$BENCH_TMP/err"
		echo down >&7
	} &
	_pid=$!
	read -r _up <&7
	[ "$_up" = down ] || work "$_w"
	echo >&8
	wait $_pid
	exec 7>&- 8>&-
	rm -f "$BENCH_TMP/trace"*
}
list() { for _e in $events; do printf ' -e %s' "$(echo "$_e" | tr / :)"; done; }

recorded()	# BY WORK
{
	# shellcheck disable=SC2046,SC2016,SC2086
	case $1 in
	always) kernel_probes '$always' 8 "$2" ;;
	probes) kernel_probes "$probes" 0 "$2" ;;
	probes-stack) kernel_probes "$probes" 8 "$2" ;;
	args)	kernel_probes 'name=/^syscall_[ae]/' 0 "$2" ;;
	tracefs) in_tracefs 0 "$2" $events ;;
	tracefs-ends) in_tracefs 0 "$2" $events memcg/count_memcg_events ;;
	tracefs-stack) in_tracefs 1 "$2" $events ;;
	why)	kernel_probes '$why' 0 "$2" ;;
	tracefs-why) in_tracefs 0 "$2" $causes ;;
	why-stack) kernel_probes '$why' 8 "$2" ;;
	tracefs-why-stack) in_tracefs 1 "$2" $causes ;;
	perf)	beside "$2" perf record -q -a -m 4M -o "$BENCH_TMP/trace" $(list) ;;
	perf-stack) beside "$2" perf record -q -a -m 4M -o "$BENCH_TMP/trace" \
		$(list | sed 's|sched:sched_switch|&/call-graph=fp/|') ;;
	trace-cmd) beside "$2" sh "$bench_dir/peers/trace-cmd.sh" record -q \
		-o "$BENCH_TMP/trace" $(list) ;;
	perf-trace) beside "$2" perf trace -a -o "$BENCH_TMP/trace" -- ;;
	esac
}

least() { sort -n "$BENCH_TMP/$1" 2>/dev/null | head -n 1; }

# pair WORK RECORDER TURN: alone, then recorded
pair()
{
	work "$1" >"$BENCH_TMP/alone"
	recorded "$2" "$1" >"$BENCH_TMP/with"
	[ -s "$BENCH_TMP/alone" ] && [ -s "$BENCH_TMP/with" ] || {
		failed "$1, $2: $(tail -n 1 "$BENCH_TMP/err")"; return; }
	cat "$BENCH_TMP/alone" >>"$BENCH_TMP/$1.alone"
	cat "$BENCH_TMP/with" >>"$BENCH_TMP/$1.$2"
	_alone=$(least alone) _with=$(least with)
	row "$1: alone" ms "$3" "$_alone"
	row "$1: $2" "ms $1" "$3" "$(echo "$_with $_alone" | awk '{ printf "%.2f", $1 - $2 }')"
}

turn=0
while another 600; do
	for w in $BENCH_WORK; do
		n=0
		while [ $((n += 1)) -le "$(how_often "$w")" ]; do
			turn=$((turn + 1))
			for by in $BENCH_RECORDERS; do pair "$w" "$by" $turn; done
		done
	done
done

refs=
for w in $BENCH_WORK; do
	alone=$(least "$w.alone")
	row "$w: alone (least)" "ms" 1 "$alone"
	for by in $BENCH_RECORDERS; do
		v=$(least "$w.$by")
		[ -z "$v" ] || row "$w: $by (least)" "ms $w least" 1 \
		    "$(echo "$v $alone" | awk '{ printf "%.2f", $1 - $2 }')"
		[ -z "$v" ] || [ "$by" != always ] || row "$w: always (least) of alone" % 1 \
		    "$(echo "$v $alone" | awk '{ printf "%.2f", 100 * ($1 - $2) / $2 }')"
	done
	refs="$refs${refs:+;}$w: tracefs;$w: tracefs (least)"
done
table "$refs" "CPU milliseconds that recording adds to a program"
