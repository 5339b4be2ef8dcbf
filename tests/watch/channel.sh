#!/bin/sh
# Guards: rare events of the kernel that busy ones wash out although they have a channel, or
# that an incident has twice, or not if it is open when the channel's configuration goes;
# their strings; a filter of processes by name that records nothing.
# channel.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_kernel_programs "$1" "$2" "$3"

# configure AFTER CHANNEL
configure() {
	conf <<-T
	keep = 1s
	segments = memory
	[kernel]
	buffer = 256k
	enable = syscall
	pfilter = name=dd
	$2
	[trigger hand]
	after = $1
	T
}
channel='channel = name=mark
channel_keep = 1h'
n_read=0
again() { [ "$(grep -c 'read again$' "$TMP/log")" -ge "$n_read" ]; }
reload() {
	n_read=$((n_read + 1))
	kill -HUP "$PID"
	wait_for 120 again || fail "not read again: $(cat "$TMP/log")"
	answers || fail "it does not answer: $(cat "$TMP/log")"
}
configure 0s "$channel"
watch
wait_for 120 kernel_watched || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"

# Rare ones, which have strings.
n=40
for i in $(seq $n); do echo "mark 'rare $i'"; done >"$TMP/marks"
echo quit >>"$TMP/marks"
"$TNF_BUILD/prex/prex" -k -f "$TMP/marks" >"$TMP/out" 2>&1 || fail "prex: $(cat "$TMP/out")"
# kernel_fired: an incident, whose events of the kernel are in "events".
kernel_fired() {
	fire hand
	whole "$I"
	"$DUMP" --to jsonl "$I"/kernel*.tnf* >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
}
marked() {
	jq -r 'select(.probe == "mark") | .args.text // .text' "$TMP/events" | grep '^rare ' | sort >"$TMP/marked"
}
all() {
	marked
	[ "$(wc -l <"$TMP/marked")" -eq $n ] || fail "$1: $(wc -l <"$TMP/marked") of $n: $(head -3 "$TMP/marked"; grep -m 3 mark "$TMP/events"; cat "$TMP/status" "$TMP/log")"
	[ "$(sort -u "$TMP/marked" | wc -l)" -eq $n ] || fail "$1: twice"
}
remembered() { answers && grep -q "channel $n events" "$TMP/status"; }
wait_for 120 remembered || fail "not remembered: $(cat "$TMP/status")"
# They are in the ring still, and in it alone.
kernel_fired
all "at once"

# Until neither the ring nor its segments have any of them.
flood() { timeout 20 dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null; }
washed_out() {
	flood
	kernel_fired
	cp "$TMP/events" "$TMP/whole"
	[ -e "$I/kernel.channel.tnf.zst" ] || return 1
	"$DUMP" --to jsonl "$I/kernel.channel.tnf.zst" >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
	marked
	[ "$(wc -l <"$TMP/marked")" -eq $n ]
}
wait_for 10 washed_out || fail "not from the channel: $(wc -l <"$TMP/marked"), $(ls "$I")"
mv "$TMP/whole" "$TMP/events"
all "washed out"
jq -e '.sources[] | select(.name == "kernel") | .channel.events >= '$n "$I/incident.json" >/dev/null ||
	fail "not told: $(cat "$I/incident.json")"
jq -c 'select(.probe != null) | [.time, .cpu, .tid, .probe]' "$TMP/events" | sort | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "twice: $(head -3 "$TMP/twice")"

# It is configured no more while an incident is open, which has it still.
configure 600s "$channel"
reload
w fire hand >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
configure 600s
reload
grep -q "^open: " "$TMP/status" || fail "no incident is open: $(cat "$TMP/status")"
stop_watch
I=$D/incidents/$(cat "$TMP/out")
whole "$I"
"$DUMP" --to jsonl "$I"/kernel*.tnf* >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
all "configured no more"
kernel_off

# A channel for one program alone, by its name, which no other test's has; it comes before or after the
# rule.
alone=shop$$
mv "$SHOP" "$TMP/$alone"
SHOP=$TMP/$alone
shop 500
conf <<T
keep = 5s
[kernel]
buffer = 256k
enable = syscall
pfilter = name=$alone
[trigger hand]
after = 0s
T
watch
wait_for 120 kernel_watched || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"
! grep -q channel "$TMP/status" || fail "a channel: $(cat "$TMP/status")"
before=$SHOPPID
shop 500
recorded() {
	flood
	kernel_fired
	jq -r 'select(.probe != null) | .pid' "$TMP/events" | sort -u >"$TMP/pids"
	grep -qx "$before" "$TMP/pids" && grep -qx "$SHOPPID" "$TMP/pids"
}
wait_for 20 recorded || fail "not recorded: $(cat "$TMP/log" "$TMP/pids")"
[ "$(wc -l <"$TMP/pids")" -eq 2 ] || fail "others: $(cat "$TMP/pids"), not $before and $SHOPPID alone"
stop_watch
echo "$n rare events, $(wc -l <"$TMP/pids") processes"
