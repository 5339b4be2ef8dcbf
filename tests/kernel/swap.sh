#!/bin/sh
# swap.sh - a process with less memory than it wants: scans, swap out, swap in.
. "$(dirname "$0")/kernel.sh"
need_program mkswap swapon swapoff

dir=${TNF_TEST_DIR:-$TNF_BUILD}
image=$dir/swap-image.$$ swap=
group='' moved=''
undo_swap() {
	[ -z "$swap" ] || swapoff "$swap" 2>/dev/null
	case $swap in
	/dev/zram0) echo 1 >/sys/block/zram0/reset ;;
	/dev/loop*) losetup -d "$swap" ;;
	esac 2>/dev/null
	rm -f "$image"
	[ -z "$group" ] || rmdir "$group"
	[ -z "$moved" ] || umount "$TMP/cgroup"
}
at_exit undo_swap

# A group with a limit of 32 MiB; whichever version of cgroups there is.
make_group() {
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		grep -qw memory "$root/cgroup.controllers" 2>/dev/null || continue
		echo +memory >"$root/cgroup.subtree_control" 2>/dev/null
		mkdir "$root/tnf-test.$$" 2>/dev/null || continue
		group=$root/tnf-test.$$
		echo 32M >"$group/memory.max" 2>/dev/null && return
		rmdir "$group"; group=
	done
	root=/sys/fs/cgroup/memory
	if [ ! -d $root ]; then
		root=$TMP/cgroup
		mkdir "$root" && mount -t cgroup -o memory cgroup "$root" 2>/dev/null ||
			skip "no memory cgroup"
		moved=yes
	fi
	mkdir "$root/tnf-test.$$" || skip "no memory cgroup"
	group=$root/tnf-test.$$
	echo 32M >"$group/memory.limit_in_bytes" || skip "no memory limit"
}
make_group

# zram takes pages without requests to a block device until 6.3; then a file it is.
if grep -q ' zram_rw_page' /proc/kallsyms; then
	dd if=/dev/zero of="$image" bs=1M count=192 2>/dev/null || skip "no room for swap"
	swap=$(losetup -f --show "$image" 2>/dev/null) || skip "no loop device"
else
	[ -e /sys/block/zram0/disksize ] || skip "no zram"
	[ "$(cat /sys/block/zram0/disksize)" = 0 ] || skip "zram0 is in use"
	swap=/dev/zram0
	echo 256M >/sys/block/zram0/disksize
fi
{ mkswap "$swap" && swapon "$swap"; } >/dev/null 2>&1 || skip "no swap on $swap"

trace_begin 64000000 pageout_scan_start pageout_scan_end swapout_process \
	swapout_lwp swapin_lwp major_fault pagein pageout strategy biodone
stat_of() { awk -v n="$1" '$1 == n { print $2 }' /proc/vmstat; }
for n in pswpin pswpout pgmajfault pgscan_anon pgscan_file; do
	eval "$n=\$(stat_of $n)"
done
traced sh -c "echo \$\$ >$group/cgroup.procs; exec $work swap 64"
for n in pswpin pswpout pgmajfault pgscan_anon pgscan_file; do
	eval "$n=\$((\$(stat_of $n) - $n))"
done
pid=$(said pid)

# The counters are the machine's, and read before the switch is on and after it
# is off: whatever else is pushed out or faulted in meanwhile (a reclaim daemon
# does so unasked) makes them differ from the events by a few of thousands.
near() { within "$1" "$2" $(($3 - 64)) $(($3 + 64)); }
[ "$pswpout" -gt 1000 ] || fail "hardly any swapping: $pswpout pages"
near "pages swapped out, by process, as pswpout" "$(events - swapout_process | sum page_count)" "$pswpout"
near "all of them are the process's" "$(events - swapout_process | grep "pid: $pid " | sum page_count)" \
	"$(events - swapout_process | sum page_count)"
vnode=$(events "$pid" major_fault | sed 's/.*vnode: \([^ ]*\) .*/\1/' | sort | uniq -c |
	sort -n | awk 'END { print $2 }')
near "pages written to swap, as pswpout" \
	"$(events - pageout | grep "vnode: $vnode " | sum pages_pageout)" "$pswpout"
near "pages swapped in, as pswpin" "$(events - swapin_lwp | sum page_count)" "$pswpin"
near "pages from swap" "$(($(events "$pid" pagein | grep "vnode: $vnode " | sum size) / 4096))" \
	"$pswpin"
near "major faults, as pgmajfault" "$(count - major_fault)" "$pgmajfault"
within "scans end as often as they begin" "$(count - pageout_scan_end)" \
	$(($(count - pageout_scan_start) - 2)) $(($(count - pageout_scan_start) + 2))
equal "pages needed, as /proc/zoneinfo" \
	"$(events - pageout_scan_start | sed -n 's/.*pages_needed: //p' | sort | uniq -c |
	sort -n | awk 'END { print $2 }')" "$(high_watermarks)"
# Scans look at the active lists, too, which vmstat does not count.
within "pages scanned, as pgscan" "$(events - pageout_scan_end | sum pages_scanned)" \
	$((pgscan_anon + pgscan_file)) $((2 * (pgscan_anon + pgscan_file) + 4096))
near "requests done" "$(count - biodone)" "$(count - strategy)"
within "free pages, as /proc/meminfo at most" \
	"$(events - pageout_scan_end | sed -n 's/.*pages_free: //p' | sort -n | tail -n 1)" 1000 \
	$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 4))

# Large folios: of 16 pages each, where the kernel has them.
large=/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled
if [ -w $large ]; then
	before=$(sed 's/.*\[\(.*\)\].*/\1/' $large)
	at_exit "echo $before >$large"
	echo always >$large
	pswpin=$(stat_of pswpin)
	traced sh -c "echo \$\$ >$group/cgroup.procs; exec $work swap 64 large"
	pswpin=$(($(stat_of pswpin) - pswpin))
	echo "$before" >$large
	events "$(said pid)" swapin_lwp | sed 's/.*page_count: //' | sort -n | uniq -c | sed 's/^/pages a time: /'
	near "pages swapped in, large folios" "$(events "$(said pid)" swapin_lwp | sum page_count)" "$pswpin"
fi

# Of threads that sleep, the stacks go.
"$kpctl" disable swapin_lwp
traced sh -c "echo \$\$ >$group/cgroup.procs; exec $work stacks 64"
for t in $(sed -n 's/^thread //p' "$TMP/said"); do
	n=$(events - swapout_lwp | grep -c " lwpid: $t ")
	within "stack pages of thread $t" "$n" 1 40
done
