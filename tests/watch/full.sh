#!/bin/sh
# Guards: a full disk that costs more than the incident that is written; a limit that is
# not kept, or costs what is pinned; a trigger that costs the incidents of another one.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
watch_programs "$1" "$2" "$3"
has_mount_spaces || skip "no mounts here"
mkdir "$D"
mount -t tmpfs -o size=8m,mode=0700 tmpfs "$D" || skip "no tmpfs here"
test_mounted="$D $test_mounted"

conf <<T
keep = 2s
limit = 100m
[process shop]
program = $SHOP
enable = order
size = 512k
[trigger hand]
after = 0ms
limit = 1000/hour
[trigger rare]
after = 0ms
T
watch
shop 1000
shop_watched
dd if=/dev/zero of="$D/filler" bs=4k 2>/dev/null
w fire hand >/dev/null || fail "fire"
wait_for 120 told 'lost: No space left' || fail "said: $(cat "$TMP/log")"
[ "$(find "$D/incidents" -mindepth 1 | wc -l)" -eq 0 ] || fail "half an incident: $(ls -a "$D/incidents")"
watched "$SHOPPID" || fail "not watched any more"
rm "$D/filler"
fire hand
whole "$I"
runs "$SHOPPID" || fail "the shop is stopped"

# The oldest that is not pinned goes when the limit is reached.
w pin "$(cat "$TMP/out")" || fail "pin"
pinned=$(cat "$TMP/out")
w fire hand >"$TMP/out"
wait_for 120 test -e "$D/incidents/$(cat "$TMP/out")/report.html" || fail "report: $(cat "$TMP/log")"
second=$(cat "$TMP/out")
sed -i 's/^limit = 100m/limit = 1m/' "$CONF"
kill -HUP "$PID"
wait_for 120 told 'read again' || fail "said: $(cat "$TMP/log")"
w fire hand >/dev/null
gone() { ! kept "$second"; }
wait_for 120 gone || fail "limit: second $second: $(w list): $(cat "$TMP/log")"
kept "$pinned" || fail "the pinned one is gone: $(w list)"

# One that fires again and again makes room for itself.
sed -i 's/^limit = 1m/limit = 5m/' "$CONF"
kill -HUP "$PID"
again() { [ "$(grep -c 'read again' "$TMP/log")" -ge 2 ]; }
wait_for 120 again || fail "said: $(cat "$TMP/log")"
fire rare
rare=$(cat "$TMP/out")
removed() { grep -c 'removed: limit' "$TMP/log"; }
n=$(removed)
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	fire hand
	[ "$(removed)" -lt $((n + 2)) ] || break
done
[ "$(removed)" -ge $((n + 2)) ] || fail "limit: nothing is removed: $(w list)"
kept "$rare" || fail "another trigger's incident is gone: $(w list): $(cat "$TMP/log")"
stop_watch
