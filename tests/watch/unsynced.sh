#!/bin/sh
# Guards: half an incident after the machine went down before the disk had it; one that is
# thrown away although the disk has all, or although only tnfwatch was killed; one that is not
# synced since its note cannot be written; a note that makes tnfwatch read elsewhere, or wait.
# unsynced.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
watch_programs "$1" "$2" "$3"

conf_shop 2s 256k 0ms
echo "limit = 60/hour" >>"$CONF"
watch
shop 1000
shop_watched
for _ in 1 2 3 4 5 6 7 8 9; do
	w fire hand >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
	i=$D/incidents/$(cat "$TMP/out")
	wait_for 120 grep -q "$(cat "$TMP/out"): kept" "$TMP/log" || fail "said: $(cat "$TMP/log")"
	[ ! -e "$i/.unsynced" ] || fail "kept, and not synced"
	cat "$TMP/out" >>"$TMP/ids"
done
stop_watch
id() { sed -n "$1p" "$TMP/ids"; }

cat >"$TMP/sums.py" <<'T'
import struct, sys
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        text = f.read()
    s = 0
    for word, in struct.iter_unpack("=Q", text + bytes(-len(text) % 8)):
        s = (s ^ word) * 0x9e3779b97f4a7c15 & 0xffffffffffffffff
        s ^= s >> 29
    print("%016x %d %s" % (s, len(text), name[2:]))
T

# note INCIDENT BOOT: as its writer left it before the disk had all.
note() {
	{
		echo "$2"
		(cd "$D/incidents/$1" && python3 "$TMP/sums.py" ./*)
		echo all
	} >"$D/incidents/$1/.unsynced"
}
other=11111111-2222-3333-4444-555555555555
note "$(id 1)" "$(cat /proc/sys/kernel/random/boot_id)"
note "$(id 2)" $other
note "$(id 3)" $other
for f in "$D/incidents/$(id 3)"/shop-*.tnf; do
	truncate -s -1 "$f" || fail "no trace: $(ls "$D/incidents/$(id 3)")"
done
# It has its size, and the disk never got a page that has something in it.
note "$(id 5)" $other
python3 - "$D/incidents/$(id 5)"/shop-*.tnf <<'T' || fail "no page with something in it"
import sys
with open(sys.argv[1], "r+b") as f:
    text = f.read()
    page = max(at for at in range(0, len(text), 4096) if any(text[at:at + 4096]))
    f.seek(page)
    f.write(bytes(len(text[page:page + 4096])))
T
# The disk has the note of before its files were known.
echo $other >"$D/incidents/$(id 6)/.unsynced"
# Not even the note came to the disk.
: >"$D/incidents/$(id 4)/.unsynced"
# An incident whose writer was killed lacks what a disk gets last, and is whole.
printf '%s\n1 gone\n' "$(cat /proc/sys/kernel/random/boot_id)" >"$D/incidents/$(id 1)/.unsynced"
# Their notes are right, and name a pipe that nobody writes to, or another's file.
mkfifo "$D/incidents/$(id 7)/pipe"
printf '%s\n%016x 0 pipe\nall\n' $other 0 >"$D/incidents/$(id 7)/.unsynced"
{
	echo $other
	(cd "$D/incidents/$(id 8)" && python3 "$TMP/sums.py" "./../$(id 2)/incident.json")
	echo all
} >"$D/incidents/$(id 8)/.unsynced"
# No note of its files can be written, and what is no file is not waited for.
cat /proc/sys/kernel/random/boot_id >"$D/incidents/$(id 9)/.unsynced"
mkdir "$D/incidents/$(id 9)/.unsynced.new"
mkfifo "$D/incidents/$(id 9)/pipe"

watch
[ -z "$(find "$D/incidents" -name .unsynced)" ] || fail "notes: $(find "$D/incidents" -name .unsynced)"
for n in 1 2 9; do whole "$D/incidents/$(id $n)"; done
for n in 3 4 5 6 7 8; do
	[ ! -e "$D/incidents/$(id $n)" ] || fail "half an incident: $(ls -la "$D/incidents/$(id $n)")"
	grep -q "$(id $n): lost: the machine went down" "$TMP/log" || fail "said: $(cat "$TMP/log")"
done
stop_watch
echo "of nine, the three that are whole"
