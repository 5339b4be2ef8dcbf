#!/bin/sh
# kswapd.sh - the page daemon.  Only when TNF_TEST_KSWAPD=1: for two seconds the
# whole machine is short of memory and drops its caches.
. "$(dirname "$0")/kernel.sh"

[ "${TNF_TEST_KSWAPD:-}" = 1 ] || skip "empties the caches of the machine (TNF_TEST_KSWAPD=1)"
min=$(cat /proc/sys/vm/min_free_kbytes)
at_exit "echo $min >/proc/sys/vm/min_free_kbytes"
trace_begin 16000000 pageout_scan_start pageout_scan_end
scans() { awk '$1 == "pageoutrun" { print $2 }' /proc/vmstat; }

# With the low watermark just above what is free, allocation goes on but wakes
# the daemon.
short() {
	free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
	echo $((free * 88 / 100)) >/proc/sys/vm/min_free_kbytes
	needed=$(high_watermarks)
	"$work" zero 20000
	sleep 1
	echo $min >/proc/sys/vm/min_free_kbytes
	"$work" zero 100
	sleep 1
	echo "needed $needed"
}
before=$(scans)
traced short
runs=$(($(scans) - before))
awk '$4 ~ /^pageout_scan/' "$TMP/events" >"$TMP/scans"
[ "$runs" -gt 0 ] || skip "the daemon did not run"
within "scans of the daemon, as pageoutrun" "$(count - pageout_scan_start)" "$runs" $((runs * 3))
equal "scans end as often as they begin" "$(count - pageout_scan_end)" "$(count - pageout_scan_start)"
equal "pages needed, as /proc/zoneinfo" \
	"$(events - pageout_scan_start | sed -n 's/.*pages_needed: //p' | grep -cx "$(said needed)" |
	awk '{ print ($1 > 0) }')" 1
