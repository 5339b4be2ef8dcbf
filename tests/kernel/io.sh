#!/bin/sh
# io.sh - requests to a block device: of raw transfers, of a file system.
. "$(dirname "$0")/kernel.sh"
need_program losetup mkfs.ext4

dir=${TNF_TEST_DIR:-$TNF_BUILD}
image=$dir/io-image.$$ mnt=$TMP/mnt
at_exit "umount $mnt 2>/dev/null; [ -z \$loop ] || losetup -d \$loop; rm -f $image"
loop=
truncate -s 64M "$image" || skip "no room for an image"
loop=$(losetup -f --show "$image" 2>/dev/null) || skip "no loop device"
name=${loop#/dev/}
page=$(getconf PAGESIZE)
device=$(awk -F: '{ print $1 * 1048576 + $2 }' "/sys/block/$name/dev")

on_device() { grep -E "device: $device( |\$)" "$TMP/events" | awk -v n="$1" '$4 == n'; }
# sectors read and written, by the device's own account
account() { awk -v f="$1" '{ print $f }' "/sys/block/$name/stat"; }

trace_begin 16000000 strategy biodone physio_start physio_end pagein pageout
"$kpctl" set rawio 1 || fail "set rawio"
reads=$(account 3) writes=$(account 7)
traced "$work" direct 0 "$loop"
reads=$(($(account 3) - reads)) writes=$(($(account 7) - writes))
pid=$(said pid)

# Flags: 64 read, 256 write.
grep -E '^(read|write) ' "$TMP/said" | while read -r how offset size got; do
	[ "$how" = read ] && rw=64 || rw=256
	events "$pid" physio_start |
		grep -q "device: $device offset: $offset size: $size rw: $rw\$" ||
		fail "no physio_start for $how at $offset of $size"
done || exit 1
equal "raw transfers begin" "$(count "$pid" physio_start)" "$(grep -cE '^(read|write) ' "$TMP/said")"
equal "raw transfers end" "$(count "$pid" physio_end)" "$(count "$pid" physio_start)"
equal "bytes, by the device's account" "$(on_device strategy | sum size)" \
	$(((reads + writes) * 512))
equal "requests done" "$(on_device biodone | wc -l)" "$(on_device strategy | wc -l)"
# Every request is done under the address and block that it began with.
for n in strategy biodone; do
	on_device $n | sed 's/.*block: \([0-9]*\) .*buf: \(0x[0-9a-f]*\).*/\1 \2/' |
		sort >"$TMP/$n"
done
cmp -s "$TMP/strategy" "$TMP/biodone" || fail "requests and completions differ"
echo "ok: the same requests"
# 32: raw; 16: of pages.
flags=$(events "$pid" strategy | grep "device: $device " | sed 's/.*flags: //' | sort -u)
for f in $flags; do
	[ $((f & 48)) -eq 32 ] || fail "flags of a raw request: $f"
done
echo "ok: raw requests are no paging"
# 1024: nobody waits.
equal "reads that nobody waits for" "$(events "$pid" strategy | grep "device: $device " |
	sed 's/.*flags: //' | awk 'int($1 / 64) % 2 && int($1 / 1024) % 2' | wc -l)" 0

# By calls of the 32-bit table, with its iovecs; elsewhere no program makes calls of both.
if [ "$(uname -m)" = x86_64 ]; then
	traced "$work" direct32 20 "$loop"
	pid=$(said pid)
	equal "transfers of the 32-bit table" "$(grep '^read ' "$TMP/said" |
		while read -r how offset size got; do
			events "$pid" physio_start |
				grep "device: $device offset: $offset size: $size rw: 64\$"
		done | wc -l)" 21
	equal "no others" "$(count "$pid" physio_start)" 21
fi

# A request that moves no data is neither a read (64) nor a write (256).
if command -v blkdiscard >/dev/null; then
	discard() { blkdiscard -o 1M -l 1M "$loop" && echo "done"; }
	traced discard
	equal "discards" "$(on_device strategy | grep 'size: 1048576 ' | sed 's/.*flags: //' |
		awk 'int($1 / 64) % 2 == 0 && int($1 / 256) % 2 == 0' | wc -l)" 1
fi

# Device, place and address of the bios that events on standard input tell of.
bios_of() {
	sed 's/.*device: \([0-9]*\) block: \([0-9]*\) .*buf: \(0x[0-9a-f]*\).*/\1 \2 \3/' | sort
}

# Merged: one request of as many pages as the disk takes.
major_minor=$(mountpoint -d "$(df --output=target "$dir" | tail -n 1)")
disk=$(basename "$(realpath "/sys/dev/block/$major_minor")")
[ -e "/sys/block/$disk" ] || disk=$(basename "$(dirname "$(realpath "/sys/dev/block/$major_minor")")")
most=$(cat "/sys/block/$disk/queue/max_segments" 2>/dev/null) || most=0
pages=10160
dd if=/dev/zero of="$image.merged" bs="$page" count=$pages conv=fsync 2>/dev/null || fail "dd"
at_exit "rm -f $image.merged"
if [ "$most" -gt 128 ]; then
	# Writes of others to the disk come in between.  And on a busy machine the
	# kernel sometimes runs no program at block_rq_complete for a millisecond: what then
	# has no end is told as lost when its bio begins anew.
	for try in 1 2 3 4 5 6; do
		requests=$(awk '{ print $5 }' "/sys/block/$disk/stat")
		traced "$work" merged $pages "$image.merged"
		requests=$(($(awk '{ print $5 }' "/sys/block/$disk/stat") - requests))
		# 1 busy, 32 raw, 256 write.
		events "$(said pid)" strategy | grep ' flags: 289$' | bios_of >"$TMP/began"
		ended=$(events - biodone | bios_of | comm -12 - "$TMP/began" | wc -l)
		[ $((requests * 64)) -ge $pages ] || [ "$ended" -lt $pages ] || break
		echo "in $requests requests, of $pages ended: $ended, lost: $lost"
	done
	[ $((requests * 64)) -lt $pages ] || fail "merged: $requests requests, hardly merged"
	equal "pages handed in" "$(wc -l <"$TMP/began")" $pages
	equal "merged in $requests requests: each has ended" "$ended" $pages
else
	echo "no request of $disk has more than $most parts: not tried"
fi
rm -f "$image.merged"

# And the other way round: a bio of which each page is a request, done by many CPUs.
most=$(cat "/sys/block/$name/queue/max_sectors_kb")
echo $((page / 1024)) >"/sys/block/$name/queue/max_sectors_kb" || fail "max_sectors_kb"
parts=400
# As above, what the kernel did not show is tried again.
for try in 1 2 3 4 5 6; do
	requests=$(account 5)
	traced "$work" split $parts "$loop"
	requests=$(($(account 5) - requests))
	events "$(said pid)" strategy | grep "device: $device .* size: 262144 " | bios_of >"$TMP/began"
	ended=$(on_device biodone | bios_of | comm -12 - "$TMP/began" | wc -l)
	[ "$ended" -lt $((4 * parts)) ] || break
	echo "of $((4 * parts)) ended: $ended, lost: $lost"
done
echo "$most" >"/sys/block/$name/queue/max_sectors_kb"
equal "pieces handed in" "$(wc -l <"$TMP/began")" $((4 * parts))
within "requests of them, by the device's account" $requests $((4 * parts * 262144 / page)) $((4 * parts * 262144 / page + 64))
equal "split: each has ended" "$ended" $((4 * parts))

# A file system: pages of one file go out and come in.
mkfs.ext4 -q -F "$loop" && mkdir "$mnt" && mount "$loop" "$mnt" || fail "mount"
n=128
# Both layers: the file system's device, and the file that it lies in.  Requests of
# others may be under way when tracing goes on or off.  As above, what the kernel
# did not show is tried again.
without_end() { echo $(($(count - strategy) - $(count - biodone))); }
for try in 1 2 3 4 5 6; do
	before=$(without_end)
	traced "$work" cache $n "$mnt/file$try"
	more=$(($(without_end) - before))
	[ $more -gt 8 ] || break
	echo "requests without an end: $more, lost: $lost"
done
pid=$(said pid)
# Most of all that is read is the file.
vnode=$(events "$pid" pagein | awk '{ s[$6] += $10 } END { for (v in s) print s[v], v }' |
	sort -n | awk 'END { print $2 }')
equal "bytes that come in" "$(events "$pid" pagein | grep "vnode: $vnode " | sum size)" $((n * page))
# A page that is written back before the call that fills its folio is done goes twice.
within "pages that go out" "$(events - pageout | grep "vnode: $vnode " | sum pages_pageout)" $n $((2 * n))
equal "none of them to be freed" "$(events - pageout | grep "vnode: $vnode " | sum pages_freed)" 0
within "requests without an end, on both layers" $more -8 8
