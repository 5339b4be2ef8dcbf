#!/bin/sh
# Guards: half an incident, a stopped target or a lost ring when tnfwatch is killed at
# any moment; one that does not start again.
# killed.sh TNFWATCH SHOP TNFDUMP [ROUNDS]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

conf_shop 2s 512k 0ms
cat >>"$CONF" <<T
[trigger often]
when = probe == "order_end" and id % 200 == 0
after = 10ms
T
# Five incidents a second; fewer where it takes long to look at each.
shop $((1000 / ${TNF_SLOW:-1}))
for round in $(seq "${4:-6}"); do
	watch
	shop_watched "in round $round"
	w fire hand >/dev/null
	sleep "0.$(awk -v r="$round" 'BEGIN { srand(r); printf "%03d", rand() * 400 }')"
	kill -9 "$PID"
	wait "$PID" 2>/dev/null
	for i in "$D"/incidents/2*; do
		[ ! -d "$i" ] || whole "$i"
	done
	runs "$SHOPPID" || fail "round $round: the shop is stopped"
done
watch
shop_watched "at last"
# Each ring is there once.
[ "$(find "$D/rings" -name "shop-$SHOPPID*.tnf" | wc -l)" -eq 1 ] || fail "rings: $(ls "$D/rings")"
# The events that the ring had before are in what is kept now.
fire hand
whole "$I"
[ "$(jq '[.sources[] | select(.name == "shop") | .files | length] | add' "$I/incident.json")" -ge 1 ] ||
	fail "nothing of the shop: $(jq .sources "$I/incident.json")"
stop_watch
# Incidents that were half done are gone.
for i in "$D"/incidents/.tmp-*; do
	case $i in *'*') ;; *) fail "half an incident: $i" ;; esac
done
echo "$(w list | wc -l) incidents"
