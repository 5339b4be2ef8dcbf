#!/bin/sh
# kernel.sh - records kernel.tnf, what the kernel's probes see of known work; and swap.tnf and raw.tnf
# where this machine has what they take.  The caller has the lock of the kernel's tests.
set -e
PATH=$PATH:/usr/sbin:/sbin
printf '%s\n' 'set -e' 'work syscalls 10; work threads 3; work execs 2; work pipe 10; work mutex 5' \
	'work zero 50; work cow 20 f1; work evict 8 f2; work text 4 f3; work cache 8 f4' >load
prex -k --run -o kernel.tnf -c 'trace $all; enable $all' sh load

loop='' group='' swap=''
undo() {
	[ -z "$swap" ] || swapoff "$swap" || :
	[ -z "$swap" ] || echo 1 >/sys/block/zram0/reset
	[ -z "$group" ] || rmdir "$group"
	[ -z "$loop" ] || losetup -d "$loop"
}
trap undo EXIT
trap 'exit 1' HUP INT TERM

# Transfers of a raw device, and requests that the device splits.
truncate -s 64M image
if loop=$(losetup -f --show image 2>/dev/null); then
	most=/sys/block/${loop#/dev/}/queue/max_sectors_kb
	before=$(cat "$most")
	echo $(($(getconf PAGESIZE) / 1024)) >"$most"
	prex -k --set rawio=1 --run -o raw.tnf -s 16384 -c 'trace io keys=block; enable io keys=block' \
		sh -c "work direct 4 $loop; work split 2 $loop"
	echo "$before" >"$most"
fi

# A process with less memory than it wants, and with swap.
for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/memory; do
	mkdir "$root/tnf-rows.$$" 2>/dev/null || continue
	group=$root/tnf-rows.$$
	for limit in memory.max memory.limit_in_bytes; do
		[ ! -e "$group/$limit" ] || ! echo 32M >"$group/$limit" || break 2
	done
	rmdir "$group"
	group=''
done
if [ -n "$group" ] && [ "$(cat /sys/block/zram0/disksize 2>/dev/null)" = 0 ]; then
	swap=/dev/zram0
	echo 256M >/sys/block/zram0/disksize
	mkswap $swap >/dev/null && swapon $swap
	prex -k --run -o swap.tnf -s 65536 -c 'trace vm swap pageio; enable vm swap pageio' \
		sh -c "echo \$\$ >$group/cgroup.procs; exec work stacks 64"
fi
