#!/bin/sh
# causes.sh - what keeps a thread waiting is not told: who has its lock, who stopped it, that
# its control group has no quota.
. "$(dirname "$0")/kernel.sh"

trace_begin 32000000 thread_block lock_owner thread_signal thread_throttle thread_state#2 thread_state#3

# A mutex of glibc, which the first thread has: each of 60 sleeps on it says so.
traced "$work" mutex 20
pid=$(said pid) reason=$(said mutex)
blocks=$(events "$pid" thread_block | grep -c "reason: $reason ")
within "sleeps on the mutex" "$blocks" 60 120
# A thread that is woken may find that another one has taken the mutex, or has freed it.
within "of these, with an owner" "$(events "$pid" lock_owner | grep -c "reason: $reason owner: [1-9]")" 57 "$blocks"
within "of these, the first thread" "$(events "$pid" lock_owner | grep -c "reason: $reason owner: $pid\$")" 57 "$blocks"

# If the mutex inherits priority, the kernel has a lock for each round, which is the reason.
traced "$work" mutex 20 inherit
pid=$(said pid)
events "$pid" lock_owner | sed -n "s/.*reason: \([^ ]*\) owner: $pid\$/\1/p" >"$TMP/reasons"
within "sleeps on mutexes that inherit, for the first thread" "$(wc -l <"$TMP/reasons")" 57 120
equal "of these, without the same reason in thread_block" \
	"$(events "$pid" thread_block | sed 's/.*reason: \([^ ]*\) .*/\1/' | sort -u | awk 'NR == FNR { has[$1] = 1; next }
		!($1 in has) { n++ } END { print n + 0 }' - "$TMP/reasons")" 0

# An rw_semaphore of the kernel, that of a process' memory map.
traced "$work" maps 20
pid=$(said pid)
events "$pid" lock_owner | awk '$2 == $1' >"$TMP/owners"
within "waits for the memory map" "$(wc -l <"$TMP/owners")" 10 60
equal "of these, for the other thread" "$(grep -c "owner: $(said other)\$" "$TMP/owners")" "$(wc -l <"$TMP/owners")"

traced "$work" stop 3
pid=$(said pid) child=$(said child)
equal "stopped by" "$(events "$pid" thread_signal | grep -c "pid: $child signo: 19 code: 0\$")" 3
equal "continued by" "$(events "$pid" thread_signal | grep -c "pid: $child signo: 18 code: 0\$")" 3

# A group with a tenth of a CPU: of the unified hierarchy, or one of its own.
group=
end_group() {
	[ -z "$group" ] || { wait_for 60 is_empty "$group"; rmdir "$group"; }
}
is_empty() { [ -z "$(cat "$1/cgroup.procs")" ]; }
at_exit end_group
for top in /sys/fs/cgroup /sys/fs/cgroup/cpu; do
	dir=$top/tnf-causes.$$
	mkdir "$dir" 2>/dev/null || continue
	group=$dir
	if [ -e "$dir/cpu.max" ]; then
		echo "10000 100000" >"$dir/cpu.max" && break
	elif [ -e "$dir/cpu.cfs_quota_us" ]; then
		echo 100000 >"$dir/cpu.cfs_period_us" && echo 10000 >"$dir/cpu.cfs_quota_us" && break
	fi
	rmdir "$dir"
	group=
done
[ -n "$group" ] || { echo "not looked at: no control group with a quota can be made"; exit 0; }
number=$(stat -c %i "$group")
traced sh -c "echo \$\$ >$group/cgroup.procs; exec $work spin 4 0"
throttled=$(awk '$1 == "nr_throttled" { print $2 }' "$group/cpu.stat")
[ "$throttled" -ge 1 ] || fail "the group was not throttled"
pid=$(said pid)
# Before 6.18 a group may be out of quota for whole periods in which none of its threads runs.
within "throttled, where the group was $throttled times" \
	"$(events "$pid" thread_throttle | grep -c "group: $number\$")" $(((throttled + 4) / 5)) $((throttled * 8))
equal "throttled threads of other groups" "$(events "$pid" thread_throttle | grep -vc "group: $number\$")" 0
# The event comes right before that of the switch.
awk -v p="$pid" '$1 != p { next }
	$4 == "thread_throttle" { waits[$2] = 1; next }
	$4 == "thread_state" && $5 == "state:" && waits[$2] { n++; if ($6 != 8) bad++; waits[$2] = 0 }
	END { print n + 0, bad + 0 }' "$TMP/events" >"$TMP/switches"
read -r n bad <"$TMP/switches"
within "throttled threads that give up the CPU" "$n" 1 100000
equal "of these, in another state than WAIT_CPU" "$bad" 0
