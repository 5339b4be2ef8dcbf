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
page=$(getconf PAGESIZE)

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

# available PROBE: it, or nothing, and then why
available() {
	_missing=$(unavailable "$1")
	if [ -z "$_missing" ]; then echo "$1"; else echo "not tried: $_missing" >&2; fi
}
swapin=$(available swapin_lwp) major=$(available major_fault)
trace_begin 64000000 pageout_scan_start pageout_scan_end swapout_process \
	swapout_lwp $swapin $major pagein pageout strategy biodone
# The counters are the machine's, and others may push out and fault in as well.  So
# they are read on both sides of each edge of the trace: what all processes did lies
# between what was counted inside and what was counted outside, but for what is on
# its way at the edges.
counted() {
	cat /proc/vmstat >"$TMP/first"
	sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" sh "$@" || return
	cat /proc/vmstat >"$TMP/last"
}
traced_swap() {
	cat /proc/vmstat >"$TMP/before"
	traced counted "$work" "$@"
	cat /proc/vmstat >"$TMP/after"
}
# difference FILE FILE COUNTER...: what they grew by, together
difference() {
	awk -v names=" $(shift 2; echo "$*") " 'index(names, " " $1 " ") == 0 { next }
		FNR == NR { n -= $2 } FNR < NR { n += $2 }
		END { print n }' "$1" "$2"
}
inside() { difference "$TMP/first" "$TMP/last" "$@"; }
outside() { difference "$TMP/before" "$TMP/after" "$@"; }
# as_counted WHAT GOT COUNTER
as_counted() { within "$1" "$2" $(($(inside "$3") - 64)) $(($(outside "$3") + 64)); }
# of_processes WHAT GOT COUNTER GROUP: what processes did is no more than the machine's
# counter says, which counts shared memory of others as well (a tmpfs that is pushed out
# as soon as there is swap), and no less than what our group alone did.
of_processes() { within "$1" "$2" $(($4 - 64)) $(($(outside "$3") + 64)); }

# Pages that the group has swapped out, at the least; of a kernel that does not tell
# (cgroup2 before 6.5), what of its pages has no room there.
group_swapped() {
	if grep -q '^pswpout ' "$group/memory.stat"; then
		awk '$1 == "pswpout" { print $2 }' "$group/memory.stat"
	elif [ -e "$group/memory.swap.peak" ]; then
		echo $(($(cat "$group/memory.swap.peak") / page))
	elif [ -e "$group/memory.max" ]; then
		echo $((64 * 256 - (32 << 20) / page))
	else
		echo $((($(cat "$group/memory.memsw.max_usage_in_bytes") - (32 << 20)) / page))
	fi
}

# Its major faults: each brought a page from swap, but for a few of files.
group_faulted() { awk '$1 == "pgmajfault" { print $2 }' "$group/memory.stat"; }

traced_swap swap 64
pid=$(said pid)
[ "$(inside pswpout)" -gt 1000 ] || fail "hardly any swapping: $(inside pswpout) pages"
swapped=$(events - swapout_process | sum page_count)
of_processes "pages swapped out, by process, as pswpout" "$swapped" pswpout "$(group_swapped)"
within "pages of the process, as its group's" \
	"$(events - swapout_process | grep "pid: $pid " | sum page_count)" \
	$(($(group_swapped) - 64)) "$swapped"
# The place that the pages came from, or, if the kernel does not tell, the one most pages went to.
vnode=$(if [ -n "$major" ]; then events "$pid" "$major"; else events - pageout; fi |
	sed 's/.*vnode: \([^ ]*\) .*/\1/' | sort | uniq -c | sort -n | awk 'END { print $2 }')
as_counted "pages written to swap, as pswpout" \
	"$(events - pageout | grep "vnode: $vnode " | sum pages_pageout)" pswpout
[ -z "$swapin" ] || of_processes "pages swapped in, as pswpin" "$(events - swapin_lwp | sum page_count)" pswpin \
	"$(group_faulted)"
as_counted "pages from swap, as pswpin" \
	"$(($(events - pagein | grep "vnode: $vnode " | sum size) / page))" pswpin
[ -z "$major" ] || as_counted "major faults, as pgmajfault" "$(count - major_fault)" pgmajfault
within "scans end as often as they begin" "$(count - pageout_scan_end)" \
	$(($(count - pageout_scan_start) - 2)) $(($(count - pageout_scan_start) + 2))
equal "pages needed, as /proc/zoneinfo" \
	"$(events - pageout_scan_start | sed -n 's/.*pages_needed: //p' | sort | uniq -c |
	sort -n | awk 'END { print $2 }')" "$(high_watermarks)"
# Scans look at the active lists, too, which vmstat does not count.
within "pages scanned, as pgscan" "$(events - pageout_scan_end | sum pages_scanned)" \
	$(($(inside pgscan_anon pgscan_file) - 4096)) $((2 * $(outside pgscan_anon pgscan_file) + 4096))
within "requests done" "$(count - biodone)" \
	$(($(count - strategy) - 64)) $(($(count - strategy) + 64))
within "free pages, as /proc/meminfo at most" \
	"$(events - pageout_scan_end | sed -n 's/.*pages_free: //p' | sort -n | tail -n 1)" 1000 \
	$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 4))

# Large folios: of 16 pages each, where the kernel has them.
large=/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled
if [ -w $large ] && [ -n "$swapin" ]; then
	before=$(sed 's/.*\[\(.*\)\].*/\1/' $large)
	at_exit "echo $before >$large"
	echo always >$large
	seen=$(events - swapin_lwp | sum page_count)
	traced_swap swap 64 large
	echo "$before" >$large
	events "$(said pid)" swapin_lwp | sed 's/.*page_count: //' | sort -n | uniq -c | sed 's/^/pages a time: /'
	of_processes "pages swapped in, large folios" \
		$(($(events - swapin_lwp | sum page_count) - seen)) pswpin 128
fi

# The stacks of threads that sleep go.
[ -z "$swapin" ] || "$kpctl" disable swapin_lwp
traced_swap stacks 64
for t in $(sed -n 's/^thread //p' "$TMP/said"); do
	n=$(events - swapout_lwp | grep -c " lwpid: $t ")
	within "stack pages of thread $t" "$n" 1 40
done
