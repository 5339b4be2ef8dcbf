#!/bin/bash
# causes.sh CAUSES [NAME...] - programs with known causes are recorded, and the verdict of
# tnfdump --why has to name the cause.  Nine of ten must be right.
. "${TNF_SOURCE:?}/tests/lib.sh"
causes=$(realpath "$1"); shift
tnfdump=$TNF_BUILD/tnfdump/tnfdump prex=$TNF_BUILD/prex/prex tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_kernel
need_ptrace
scratch
cpu_group='' memory_group='' freezer_group='' blkio_group='' swap=''

undo() {
	"$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
	[ -z "$swap" ] || swapoff "$swap" 2>/dev/null
	for g in $cpu_group $memory_group $freezer_group $blkio_group; do
		# Processes left in the group have been killed with the program.
		wait_for 5 rmdir "$g" 2>/dev/null
	done
	test_end
}
trap undo EXIT

# group CONTROLLER prints a new control group, of version 1 or 2.
group() {
	local dir
	dir=$(awk -v c="$1" '$3 == "cgroup" && $4 ~ "(^|,)" c "(,|$)" { print $2; exit }' /proc/mounts)
	[ -n "$dir" ] || dir=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$dir" ] && mkdir "$dir/tnf-why-$$" 2>/dev/null && echo "$dir/tnf-why-$$"
}
cpu_group=$(group cpu)
if [ -n "$cpu_group" ]; then
	{ echo 100000 >"$cpu_group/cpu.cfs_period_us" && echo 10000 >"$cpu_group/cpu.cfs_quota_us"; } 2>/dev/null ||
		echo "10000 100000" >"$cpu_group/cpu.max" 2>/dev/null &&
		export WHY_CGROUP=$cpu_group
fi
memory_group=$(group memory)
if [ -n "$memory_group" ]; then
	{ echo 24M >"$memory_group/memory.limit_in_bytes" || echo 24M >"$memory_group/memory.max"; } 2>/dev/null &&
		export WHY_MEMCG=$memory_group
fi
freezer_group=$(group freezer)
[ -z "$freezer_group" ] || export WHY_FREEZER=$freezer_group

blkio_group=$(group blkio)
[ -n "$blkio_group" ] || blkio_group=$(group io)
if [ -n "$blkio_group" ]; then
	disk=$(lsblk -no MAJ:MIN "$(df --output=source "$TMP" | tail -n 1)" 2>/dev/null | head -n 1 | tr -d ' ')
	{ echo "$disk 4194304" >"$blkio_group/blkio.throttle.read_bps_device" ||
		echo "$disk rbps=4194304" >"$blkio_group/io.max"; } 2>/dev/null &&
		export WHY_BLKIO=$blkio_group
fi

# record NAME [samples]: the program's trace is NAME.tnf, the kernel's NAME.kernel.
record() {
	"$prex" -k --set sample_rate=999 >"$TMP/out" 2>&1 <<-END || fail "prex -k: $(cat "$TMP/out")"
		buffer alloc 96m
		trace \$why
		enable \$why
		${2:+trace keys=profile}
		${2:+enable keys=profile}
		ktrace on
	END
	# Others that happen to run here are to take little of the CPUs: the priority of a session
	# counts where the kernel groups by sessions.
	setsid -w nice -n -20 sh -c 'echo -20 >/proc/self/autogroup; exec "$@"' sh timeout 60 \
		"$prex" -o "$TMP/$1.tnf" -c 'enable $all; continue' "$causes" "$1" "$TMP/data" >"$TMP/out" 2>&1
	"$prex" -k -c 'ktrace off' >/dev/null 2>&1
	"$tnfxtract" "$TMP/$1.kernel" 2>"$TMP/lost"
	"$prex" -k -c 'buffer dealloc' >/dev/null 2>&1
}

# verdicts NAME WORDS [OPTION...]: of the five slow ones, $hits have a verdict with words that match,
# of which $first is one; $verdict is the last.
verdicts() {
	local name=$1 words=$2 id
	shift 2
	hits=0 first=
	for id in 8 16 24 32 40; do
		"$tnfdump" --why=request --id $id "$@" "$TMP/$name.tnf" "$TMP/$name.kernel" \
			>"$TMP/$name.$id.why" 2>"$TMP/err"
		verdict=$(sed -n 's/^\(Waited\|Spent\|Was\) /&/p' "$TMP/$name.$id.why" | head -n 1)
		grep -qE "$words" <<<"$verdict" && hits=$((hits + 1)) && first=${first:-$verdict}
	done
	[ -z "$WHY_KEEP" ] || cp "$TMP/$name".* "$WHY_KEEP/"
}

total=0 right=0
: >"$TMP/table"
# judge NAME WORDS [OPTION...]: verdicts of at least three of the five slow ones have words
# that match.  A program is recorded up to three times: what others do here may be a cause, too,
# and a larger one.
judge() {
	local name=$1 words=$2 hits verdict first try
	shift 2
	[ -z "$wanted" ] || [[ " $wanted " == *" $name "* ]] || return 0
	for try in 1 2 3; do
		record "$name" "$SAMPLES"
		if ! [ -s "$TMP/$name.tnf" ] || grep -q '^causes: \|^no ' "$TMP/out"; then
			echo "skip   $name: $(grep -m1 '^causes: \|^no ' "$TMP/out")" >>"$TMP/table"
			return 0
		fi
		verdicts "$name" "$words" "$@"
		[ "$hits" -lt 3 ] || break
		echo "again  $name $try: $hits/5: $verdict" >>"$TMP/table"
	done
	total=$((total + 1))
	if [ "$hits" -ge 3 ]; then
		right=$((right + 1))
		echo "right  $name $hits/5: $first" >>"$TMP/table"
	else
		echo "WRONG  $name $hits/5: $verdict (wanted: $words) $(head -c 300 "$TMP/err")" >>"$TMP/table"
	fi
}
wanted=$*

judge hog 'for a CPU.*cpuhog'
judge compute '^Spent .* on the CPU'
SAMPLES=yes
judge spins '^Spent .* on the CPU, spins in spins_request'
SAMPLES=
judge stopped 'stopped by stopper'
judge throttled 'throttled'
judge inversion 'low .*runnable, CPU: middle'
judge fsync-holder 'holder .*disk'
judge preempted-holder 'holder .*runnable, CPU: cpuhog'
judge pi-futex 'holder .*on the CPU'
judge convoy 'convoy .*on the CPU'
judge false-wakeups 'waker .*on the CPU'
judge flock 'locker .*sleep until a timer'
judge rwsem 'mapper .*lock'
judge pipes 'stage3.*sleep until a timer'
judge sleep '^Waited .*sleep until a timer'
judge timed-wait 'timed wait that ran out'
judge tcp-peer 'peer .*on the CPU'
judge unix-peer 'peer .*on the CPU'
judge pool 'queue of worker' --pair request_start,request_end,id
judge child 'sleep .*child.*sleep until a timer'
judge epoll 'slowpoke .*on the CPU'
judge full-pipe 'reader .*sleep until a timer'
judge semaphore 'poster .*on the CPU'
judge barrier 'late .*sleep until a timer'
judge rwlock 'rdlocker .*on the CPU'
judge join 'joined .*on the CPU'
judge word-lock 'keeper .*sleep until a timer'
SAMPLES=yes
judge spin-lock 'on the CPU, spins in pthread_spin_lock'
judge yields 'on the CPU, spins in .*sched_yield'
SAMPLES=
judge polls 'sleep until a timer'
judge pool-of-two 'queue of worker.*sleep until a timer' --pair request_start,request_end,id
judge timed-loop 'computes .*on the CPU'
judge woken-for-nothing 'computes .*on the CPU'
judge fifo 'opener .*sleep until a timer'
judge posix-lock 'locker .*on the CPU'
judge mqueue 'sender .*message queue.*on the CPU'
judge sysv-msg 'sender .*message queue.*on the CPU'
judge inotify 'toucher .*sleep until a timer'
judge udp-peer 'dgrams .*sleep until a timer'
judge sigwait 'killer .*signal.*on the CPU'
judge timerfd 'sleep until a timer'
judge poll-timeout 'sleep until a timer|timed wait that ran out'
judge vfork 'vforked .*child.*sleep until a timer'
judge system 'sh .*on the CPU'
judge children 'for kid \(child\), several of them: .*on the CPU'
judge pipeline 'sleep .*sleep until a timer'
judge userfault 'filler .*on the CPU'
judge tty 'terminal.*typist.*sleep until a timer'
judge stopped-peer 'peer .*stopped by stopper'
judge stopped-holder 'holder .*stopped by halter'
judge throttled-peer 'peer .*throttled'
judge frozen-peer 'peer .*frozen by its control group, until freezer'
judge traced-peer 'peer .*stopped by its tracer tracer'
judge rt-hog 'CPU: rtthread'
judge crowd 'CPU: crowd'
judge fresh-pages 'on the CPU, in a page fault'
judge inode-lock 'bigwrite .*lock of the kernel'
judge aio 'disk'
judge file-fault 'page of a file, disk'
judge fsync 'disk'
judge behind-writes 'disk .*behind .* of large'
judge io_uring 'io_uring, disk'
judge reclaim 'reclaim|disk'
judge lock-poll 'refused a lock of a file, which locker'
judge flock-poll 'refused a lock of a file, which locker'
judge io-limit 'disk .*held back .*before the device'
judge eventfd 'computes .*on the CPU'
judge cond-chain 'second .*third.*sleep until a timer'
judge full-socket 'lazy .*sleep until a timer'
judge busy-storer 'storer .*disk'
judge sendfile 'disk'
judge msync 'disk'
judge pidfd 'quits .*on the CPU'
judge nested-locks 'deep.*disk'
judge shared-mutex 'keeper .*sleep until a timer'
judge broker 'worker.*on the CPU'
swapfile=$TMP/swap
if [ -z "$wanted" ] || [[ " $wanted " == *" swap-fault "* ]]; then
	dd if=/dev/zero of="$swapfile" bs=1M count=64 status=none && chmod 600 "$swapfile" &&
		mkswap "$swapfile" >/dev/null 2>&1 && swapon "$swapfile" 2>/dev/null && swap=$swapfile
fi
if [ -n "$swap" ] || [ -n "$wanted" ]; then
	judge swap-fault 'swap'
else
	echo "skip   swap-fault: no swap file here" >>"$TMP/table"
fi

cat "$TMP/table"
echo "$right of $total right"
[ $((right * 10)) -ge $((total * 9)) ] || fail "fewer than nine of ten"
