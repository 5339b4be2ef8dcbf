#!/bin/sh
# Guards: a machine that goes down without an incident, or one that is made without
# that; events that the ring and its segments both have, told twice.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
watch_programs "$1" "$2" "$3"

conf_shop 30s 256k
watch
shop 1500
segments() { [ "$(find "$D/segments" -name "shop-*.zst" | wc -l)" -ge 2 ]; }
wait_for 120 segments || fail "no segments: $(cat "$TMP/log" "$TMP/status")"
# As a crash leaves it, but for the boot.
kill -9 "$PID" "$SHOPPID"
wait 2>/dev/null
other_boot() {
	python3 - "$D/segments/boot" "$D"/rings/*.tnf <<-'T'
	import sys
	open(sys.argv[1], "w").write("11111111-2222-3333-4444-555555555555\n")
	for name in sys.argv[2:]:
	    f = open(name, "r+b")
	    data = f.read(512)
	    at = data.find(bytes.fromhex(
	        open("/proc/sys/kernel/random/boot_id").read().replace("-", "").strip()))
	    if at > 0:
	        f.seek(at)
	        f.write(bytes.fromhex("11111111222233334444555555555555"))
	T
}
other_boot
watch
kept -crash || fail "no incident: $(cat "$TMP/log")"
i=$(incident)
jq -e '.boot == "11111111-2222-3333-4444-555555555555"' "$i/incident.json" >/dev/null || fail "boot"
ls "$i"/shop-*.zst "$i"/shop-*.tnf >/dev/null || fail "not all: $(ls "$i")"
for f in "$i"/shop-*.tnf*; do
	"$DUMP" --to jsonl "$f"
done 2>/dev/null | jq -r 'select((.probe // .name) == "order_end") | .args.id // .id' | sort -n >"$TMP/ids"
uniq -d "$TMP/ids" | grep -q . && fail "twice: $(uniq -d "$TMP/ids" | wc -l)"
[ "$(wc -l <"$TMP/ids")" -gt 1000 ] || fail "only $(wc -l <"$TMP/ids") events"
stop_watch

# In order, there is none.
watch
stop_watch
[ "$(w list | wc -l)" -eq 1 ] || fail "one too many: $(w list)"
echo "$(wc -l <"$TMP/ids") orders"
