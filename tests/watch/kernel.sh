#!/bin/sh
# Guards: an incident without the kernel's events, or with some of them twice; tnfwatch
# with the capabilities of its unit alone, which do not suffice; a buffer that is taken
# away from who made it.
# kernel.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_program setpriv
watch_kernel_programs "$1" "$2" "$3"

# Exactly what the unit leaves it.
caps=$(sed -n '/^CapabilityBoundingSet=/,/[^\\]$/p' "$TNF_SOURCE/tnfwatch/system/tnfwatch.service.in" |
	sed 's/^CapabilityBoundingSet=//' | tr -d '\\\n' | tr 'A-Z\t' 'a-z ' |
	sed 's/cap_/+/g; s/  */,/g; s/,*$//')
case $caps in
+*) ;;
*) fail "no capabilities in the unit: $caps" ;;
esac
printf '#!/bin/sh\nexec setpriv --no-new-privs --bounding-set=-all,%s --inh-caps=-all "%s" "$@"\n' \
	"$caps" "$W" >"$TMP/confined"
chmod +x "$TMP/confined"
W=$TMP/confined
"$W" --version >/dev/null || fail "setpriv does not know $caps"

conf <<T
keep = 5s
[kernel]
buffer = 4m
enable = name=thread_create name=thread_exit
[process shop]
program = $SHOP
enable = order
size = 512k
[trigger hand]
after = 200ms
[trigger gone]
when = probe == "thread_exit" and pid > 0
limit = 1/hour
after = 100ms
T
shop 500
watch
shop_watched
wait_for 120 kernel_watched || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"
[ "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$PID/status")" = 1 ] || fail "it is not confined"

# A thread ends: it fires, and the kernel's event is in the incident.
sh -c : &
wait $!
wait_for 120 kept gone || fail "nothing fired: $(cat "$TMP/log" "$TMP/status")"
fire hand
whole "$I"
"$DUMP" --to jsonl "$I"/kernel*.tnf* >"$TMP/events" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
[ "$(grep -c '"probe":"thread_exit"' "$TMP/events")" -gt 0 ] || fail "no events: $(head -2 "$TMP/events")"
jq -c 'select(.probe != null) | [.time, .cpu, .tid, .probe]' "$TMP/events" | sort | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "twice: $(head -3 "$TMP/twice")"
jq -e '.sources[] | select(.name == "kernel") | .files | length > 0' "$I/incident.json" \
	>/dev/null || fail "the kernel is no source: $(cat "$I/incident.json")"

# It ends: what it has made stays, for who comes back.
stop_watch
[ -e "$I/kernel.tnf" ] || fail "the incident is gone"
echo "$(grep -c probe "$TMP/events") events of the kernel"
