#!/bin/sh
# Guards: half an incident after the machine went down before the disk had it; one that is
# thrown away although the disk has all, or although only tnfwatch was killed.
# unsynced.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 2s 256k 0ms
watch
shop 1000
shop_watched
for _ in 1 2 3 4; do
	w fire hand >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
	i=$D/incidents/$(cat "$TMP/out")
	wait_for 120 grep -q "$(cat "$TMP/out"): kept" "$TMP/log" || fail "said: $(cat "$TMP/log")"
	[ ! -e "$i/.unsynced" ] || fail "kept, and not synced"
	cat "$TMP/out" >>"$TMP/ids"
done
stop_watch
id() { sed -n "$1p" "$TMP/ids"; }

# note INCIDENT BOOT: as its writer left it before the disk had all.
note() {
	{
		echo "$2"
		(cd "$D/incidents/$1" && stat -c '%s %n' -- *)
	} >"$TMP/note"
	mv "$TMP/note" "$D/incidents/$1/.unsynced"
}
other=11111111-2222-3333-4444-555555555555
note "$(id 1)" "$(cat /proc/sys/kernel/random/boot_id)"
note "$(id 2)" $other
note "$(id 3)" $other
for f in "$D/incidents/$(id 3)"/shop-*.tnf; do
	truncate -s -1 "$f" || fail "no trace: $(ls "$D/incidents/$(id 3)")"
done
# Not even the note came to the disk.
: >"$D/incidents/$(id 4)/.unsynced"
# What was killed alone lacks what a disk gets last, and is whole.
printf '%s\n1 gone\n' "$(cat /proc/sys/kernel/random/boot_id)" >"$D/incidents/$(id 1)/.unsynced"

watch
[ -z "$(find "$D/incidents" -name .unsynced)" ] || fail "notes: $(find "$D/incidents" -name .unsynced)"
for n in 1 2; do whole "$D/incidents/$(id $n)"; done
for n in 3 4; do
	[ ! -e "$D/incidents/$(id $n)" ] || fail "half an incident: $(ls -la "$D/incidents/$(id $n)")"
	grep -q "$(id $n): lost: the machine went down" "$TMP/log" || fail "said: $(cat "$TMP/log")"
done
stop_watch
echo "of four, the two that are whole"
