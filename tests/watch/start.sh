#!/bin/sh
# Guards: what a program does before it has been attached to, which is in no trace; rings that
# nobody removes; a program that follows what it must not: the text of a tnfwatch that has
# ended, or one that others can change; one that is not meant, or killed by its own filter.
# start.sh TNFWATCH SHOP TNFDUMP SHOP-LINKED
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program python3
need_program pgrep
need_program flock
watch_programs "$1" "$4" "$3"
need_ring_room "$TMP"
TNF_WATCH=$D/run
export TNF_WATCH
# The same program without the library, which is preloaded into it.
cp "$2" "$TMP/preloaded" || fail "no shop"
# It may end while it is attached to, when a search for leaks is refused.
no_leaks=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
once() { ASAN_OPTIONS=$no_leaks "$SHOP" "$@" >/dev/null; }
preloaded() { LD_PRELOAD=$TNF_BUILD/libtnfprobe/libtnfprobe.so.1 "$TMP/preloaded" "$@"; }
rings() { find "$D/rings" -name "shop-*.tnf" -o -name "preloaded-*.tnf" | wc -l; }
# is_in_full N: the incident has N rings whose program began and ended in them.
is_in_full() {
	n=0
	for f in "$I"/shop-*.tnf "$I"/preloaded-*.tnf; do
		"$DUMP" --to jsonl "$f" >"$TMP/events" 2>/dev/null
		grep -q '"shop_opens"' "$TMP/events" && grep -q '"order_end"' "$TMP/events" && n=$((n + 1))
	done
	[ $n -eq "$1" ]
}

# The sanitizer's runtime wants to come first, and so does not let it be preloaded.
preloaded 1000 1 >/dev/null 2>&1 || preloaded() { once "$@"; }

# from_start: the configuration has it for the shop, with all of its probes.
from_start() { sed -i 's/^enable = .*/enable = shop order\nfrom_start = yes/' "$CONF"; }
# There is no attaching until attach_again; a ring is there only if the program has made it.
attach_never() {
	CHILDREN=$(pgrep -P "$PID") || fail "no children"
	# shellcheck disable=SC2086  # words are meant
	kill -STOP $CHILDREN "$PID" 2>/dev/null
}
# shellcheck disable=SC2086
attach_again() { kill -CONT $CHILDREN "$PID" 2>/dev/null; }

# A program that does not ask for it is told nothing, also if something was left by one that was killed.
conf_shop 600s 128k
mkdir -p "$D/run"
echo old >"$D/run/start"
watch
[ ! -e "$D/run/start" ] || fail "programs are told, and nobody asked for it"
attach_never
once 1000 1
[ "$(rings)" -eq 0 ] || fail "a ring that nobody asked for"
attach_again
stop_watch

# A section before it means the same program, and has not asked.
grep -A 9 '^.process shop' "$CONF" >"$TMP/shop-section"
conf <<T
[process quiet]
comm = shop
$(cat "$TMP/shop-section")
T
from_start
watch
[ -e "$D/run/start" ] || fail "nobody is told: $(cat "$TMP/log")"
attach_never
once 1000 1
[ "$(rings)" -eq 0 ] || fail "the second section is followed"
attach_again
stop_watch

conf_shop 600s 128k 0s
printf '[process preloaded]\nprogram = %s\nenable = order\nsize = 128k\n' "$TMP/preloaded" >>"$CONF"
from_start
watch
for _ in $(seq 25); do preloaded 1000 10 >/dev/null; done
# These have mostly ended when somebody comes to attach to them.
for _ in $(seq 25); do once 1000 1; done
found() { answers && [ "$(grep -c -E '^(shop|preloaded)-' "$TMP/status")" -ge "$1" ]; }
wait_for 60 found 50 || fail "not 50: $(cat "$TMP/log" "$TMP/status")"
fire hand
whole "$I"
# tnfwatch leaves a program alone for a tenth of a second of CPU time at its start, which
# is not enough of an emulated processor.
if [ "${TNF_SLOW:-1}" -gt 1 ]; then
	is_in_full 50 || echo "on this slow machine $n of 50 have their first probe"
fi
[ "${TNF_SLOW:-1}" -gt 1 ] || is_in_full 50 || fail "$n of 50 have their first probe: $(cat "$TMP/log")"

# They fire as others do, and their rings go with their time.
conf_shop 1s 128k 0s
from_start
cat >>"$CONF" <<T
[trigger opened]
when = probe == "shop_opens"
after = 0s
T
kill -HUP "$PID"
wait_for 120 told 'read again' || fail "not read again: $(cat "$TMP/log")"
once 1000 1
wait_for 120 kept opened || fail "nothing fired: $(cat "$TMP/log" "$TMP/status")"
empty() { [ "$(rings)" -eq 0 ]; }
wait_for 120 empty || fail "rings stay: $(ls "$D/rings")"

attach_never
cp "$SHOP" "$TMP/other"
ASAN_OPTIONS=$no_leaks "$TMP/other" 1000 1 >/dev/null || fail "another program ends with $?"
empty || fail "another program is watched: $(ls "$D/rings")"
(TNF_WATCH='' once 1000 1)
empty || fail "without TNF_WATCH: $(ls "$D/rings")"
chmod g+w "$D/run/start"
once 1000 1
empty || fail "a text that others can change is followed"
chmod g-w "$D/run/start"
chmod o+w "$D/run"
once 1000 1
empty || fail "a directory that others can change is believed"
chmod o-w "$D/run"
# Under a filter that allows what a program needs to start, and kills for fallocate().
cat >"$TMP/filtered.py" <<'T'
import ctypes, os, platform, struct, sys
number = {"x86_64": 285, "aarch64": 47}.get(platform.machine())
if number is None:
    sys.exit(77)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)]
text = b"".join(struct.pack("HBBI", *c) for c in code)
room = ctypes.create_string_buffer(text)
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(room)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(prog), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
T
ASAN_OPTIONS=$no_leaks python3 "$TMP/filtered.py" "$SHOP" 1000 1 >/dev/null
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 77 ] || fail "with a filter it ends with $rc"
[ $rc -eq 0 ] || echo "no program under a filter was tried"
empty || fail "with a filter: $(ls "$D/rings")"
# All is in order again, so those before were refused for what was wrong with them.
once 1000 1
[ "$(rings)" -eq 1 ] || fail "no ring: $(ls -la "$D/run" "$D/rings")"
attach_again
wait_for 120 empty || fail "the ring stays: $(ls "$D/rings"; cat "$TMP/log")"

# 32 of those that nobody attached to stay, however many were started.
reread() {
	_n=$(grep -c 'read again' "$TMP/log")
	kill -HUP "$PID"
	wait_for 120 reread_since "$_n" || fail "not read again: $(cat "$TMP/log")"
}
reread_since() { [ "$(grep -c 'read again' "$TMP/log")" -gt "$1" ]; }
attach_not() {
	CHILDREN=$(pgrep -P "$PID") || fail "no children"
	# shellcheck disable=SC2086
	kill -STOP $CHILDREN 2>/dev/null
}
conf_shop 600s 128k
from_start
reread
attach_not
for _ in $(seq 40); do once 1000 1; done
bounded() {
	answers && grep -q '^8 rings of programs .* removed early' "$TMP/status" &&
		[ "$(grep -c '^shop-' "$TMP/status")" -eq 32 ] && [ "$(rings)" -eq 32 ]
}
wait_for 120 bounded || fail "not 32 of 40: $(rings) $(cat "$TMP/status")"
attach_again

# One that is watched no more fires nothing when it has ended, and nothing twice when its section
# is there again; the end of one that nobody attached to does.
SECTION=$(sed -n '/^.process shop/,$p' "$CONF")
cp "$SHOP" "$TMP/brief"
# with_sections TEXT: beside brief.
with_sections() {
	conf <<T
keep = 600s
[process short]
program = $TMP/brief
enable = shop order
size = 128k
from_start = yes
$1
[trigger opened]
when = probe == "shop_opens" and comm == "shop"
after = 0s
[trigger over]
when = ended("brief")
after = 0s
T
	reread
}
fired() { awk -v t="$1" '$1 == t { print $2 }' "$TMP/status"; }
brief() {
	attach_not
	ASAN_OPTIONS=$no_leaks "$TMP/brief" 1000 1 >/dev/null
	wait_for 120 over "$1" || fail "an end fires nothing: $(cat "$TMP/log" "$TMP/status")"
	attach_again
}
over() { answers && [ "$(fired over)" -eq "$1" ]; }
gone() { answers && ! grep -q '^shop-' "$TMP/status"; }
# Those of before have perhaps not been read to their ends.
with_sections ''
wait_for 120 gone || fail "they stay: $(cat "$TMP/status")"
with_sections "$SECTION"
shop 1000
opened() { answers && [ "$(fired opened)" -gt 0 ]; }
wait_for 120 opened || fail "it fires nothing: $(cat "$TMP/log" "$TMP/status")"
with_sections ''
wait_for 120 gone || fail "it stays: $(cat "$TMP/status")"
kill "$SHOPPID"
wait "$SHOPPID" 2>/dev/null
brief 1
gone || fail "a ring of no section is taken: $(cat "$TMP/status")"
with_sections "$SECTION"
brief 2
[ "$(fired opened)" -eq 1 ] || fail "it fires twice: $(cat "$TMP/status")"

# It is killed, and its text stays behind.
kill -9 "$PID"
wait "$PID" 2>/dev/null
[ -e "$D/run/start" ] || fail "no text"
unlocked() { flock -n "$D/run/start" true; }
wait_for 120 unlocked || fail "its lock stays"
before=$(rings)
once 1000 1
[ "$(rings)" -eq "$before" ] || fail "a tnfwatch that has ended is followed"
watch
stop_watch
[ ! -e "$D/run/start" ] || fail "the text stays"
echo "$n of 50"
