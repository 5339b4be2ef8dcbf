#!/bin/sh
# Guards: a second incident for a cause that is known; none for another cause of the same probe;
# a limit that is used up by incidents that were not kept.
# cause.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

# A tnfdump that says why as we want it, and is counted.
own_dump <<T
#!/bin/sh
echo >>"$TMP/asked"
cat "$TMP/why"
echo "   at ms \$\$"
T
: >"$TMP/asked"

conf <<T
keep = 5s
[process shop]
program = $SHOP
enable = order
size = 256k
[trigger slow]
when = duration(order) > 40ms
after = 0s
page = no
limit = 3/hour
same_cause = 60s
T
# because WHY: all slow ones from now on.
because() {
	echo "order $$.5 ms, shop 4711; typical 0.012 ms (99 seen)" >"$TMP/new"
	echo "Waited 30 ms (84 %) for $1 8474." >>"$TMP/new"
	mv "$TMP/new" "$TMP/why"
}
asked() { [ "$(wc -l <"$TMP/asked")" -ge "$1" ]; }
# looked N: so often more it is asked for the cause, and what came of it is known.
looked() {
	n=$(wc -l <"$TMP/asked")
	wait_for 120 asked $((n + $1)) || fail "not asked why: $(cat "$TMP/log" "$TMP/status")"
	wait_for 120 settled || fail "a writer stays"
}
settled() { [ -z "$(find "$D/incidents" -name '.tmp-*')" ] && [ -z "$(find "$D/run" -name 'window-*')" ]; }
count() { w list 2>/dev/null | grep -c -- '-slow '; }

# A cause of longer ago is new again.
late() { [ $(($(date +%s) - begun)) -ge 60 ]; }

because 'the logger'
begun=$(date +%s)
watch
shop 1000 0 100
shop_watched
wait_for 120 kept slow || fail "nothing fired: $(cat "$TMP/log" "$TMP/status")"
first=$(w list | awk '{ print $1 }')
looked 3
[ "$(w list | awk '{ print $1 }')" = "$first" ] || late || fail "the same cause: $(w list)"
grep -q 'for the logger' "$D/incidents/$first/why.txt" || fail "why: $(cat "$D/incidents/$first/why.txt")"
answers
awk '$1 == "slow" { exit !($3 == 1 && $4 >= 2) }' "$TMP/status" || late || fail "counted: $(cat "$TMP/status")"
grep -i lost "$TMP/log" && fail "what is not kept is called lost"
because 'the disk'
two() { [ "$(count)" -ge 2 ]; }
wait_for 120 two || fail "another cause: $(w list; cat "$TMP/status")"
because 'the logger'
looked 2
[ "$(count)" -eq 2 ] || late || fail "a cause of before: $(w list)"
stop_watch
[ -z "$(find "$D/run" -name 'window-*')" ] || fail "the note of a window is left"
echo "2 causes, asked $(wc -l <"$TMP/asked") times"
