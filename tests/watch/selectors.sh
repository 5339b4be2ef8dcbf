#!/bin/sh
# Guards: one list of selectors that means other probes, or another mistake, to prex than to
# TNF_ENABLE, to tnfwatch, and to a program that follows tnfwatch from its start.
# selectors.sh TNFWATCH SHOP-LINKED TNFDUMP PREX
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
need_program pgrep
watch_programs "$1" "$2" "$3"
need_ring_room "$TMP"
prex=$(realpath "$4")
TNF_WATCH=
export TNF_WATCH

# The probes that are on, and the selectors.  The shop has shop_opens (shop), and order_start
# and order_end (order).
cat >"$TMP/rows" <<'T'
order_end order_start|order
order_end order_start shop_opens|$all
order_end order_start shop_opens|shop keys=order
order_end order_start shop_opens|'enable'='off'
order_end order_start shop_opens|'trace'='on'
order_end order_start shop_opens|file=/watch\/shop\.c/
order_end order_start shop_opens|object=/[a-z]/
order_end order_start|name=/^order_/
order_end order_start|slots='id'
shop_opens|/keys/=/^sh/
shop_opens|name = shop_opens
shop_opens|'shop'# a comment
order_end|name=order_end nosuch .x %y
order_end|name=/order_e\(n\)d/
T
on() { awk -F'[= ]' '$4 == "on" { print $2 }' "$1" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'; }
# is_on PID: what of the process is on; that of prex and of the program itself is the same.
is_on() { "$prex" -p "$1" -c "list name 'enable' probes \$all; quit resume" >"$TMP/list" 2>"$TMP/err"; on "$TMP/list"; }
expect() { [ "$1" = "$want" ] || fail "$2: $enable: \"$1\", not \"$want\": $(cat "$TMP/err" "$TMP/log" 2>/dev/null)"; }

conf </dev/null
i=0
while IFS='|' read -r want enable; do
	i=$((i + 1))
	# A comment behind '#' goes to the end of the line.
	"$prex" -o "$TMP/prex.tnf" -c "enable $enable
list name 'enable' probes \$all
quit kill" "$SHOP" 10 >"$TMP/list" 2>"$TMP/err"
	expect "$(on "$TMP/list")" prex
	TNF_ENABLE=$enable TNF_FILE=$TMP/enable.tnf TNF_SIZE=128k shop 10
	started() { [ "$("$DUMP" "$TMP/enable.tnf" 2>/dev/null | wc -l)" -gt 0 ] || ! kill -0 "$SHOPPID"; }
	wait_for 60 started
	expect "$(is_on "$SHOPPID")" TNF_ENABLE
	kill "$SHOPPID"
	rm -f "$TMP"/*.tnf
	for way in taken start; do
		cp "$SHOP" "$TMP/$way$i"
		printf '[process %s%d]\nprogram = %s/%s%d\nsize = 128k\nenable = %s\n' $way $i "$TMP" $way $i "$enable" >>"$CONF"
	done
	echo 'from_start = yes' >>"$CONF"
done <"$TMP/rows"
# libinih takes what is behind " ;" and " #" away, and nothing here has that.
watch
TNF_WATCH=$D/run
start() {
	"$TMP/$1" 10 >/dev/null &
	SHOPPID=$!
	STARTED="$STARTED $SHOPPID"
}
taken() { answers && grep -q "^$1-.*[1-9]" "$TMP/status"; }
n=$i i=0
while IFS='|' read -r want enable; do
	i=$((i + 1))
	start "taken$i"
	wait_for 60 taken "taken$i" || fail "$enable: not taken: $(cat "$TMP/log" "$TMP/status")"
	expect "$(is_on "$SHOPPID")" tnfwatch
	kill "$SHOPPID"
done <"$TMP/rows"
# There is no attaching: they have it from the text that they are told.
CHILDREN=$(pgrep -P "$PID") || fail "no children"
# shellcheck disable=SC2086  # words are meant
kill -STOP $CHILDREN "$PID" 2>/dev/null
i=0
while IFS='|' read -r want enable; do
	i=$((i + 1))
	start "start$i"
	made() { [ -n "$(find "$D/rings" -name "start$i-*")" ]; }
	wait_for 60 made || fail "from_start: $enable: no ring"
	expect "$(is_on "$SHOPPID")" from_start
	kill "$SHOPPID"
done <"$TMP/rows"
# shellcheck disable=SC2086
kill -CONT $CHILDREN "$PID" 2>/dev/null
stop_watch
echo "$n lists, in four ways"

# Mistakes are the same, and told in the same words.
while IFS='|' read -r say enable; do
	"$prex" -o "$TMP/prex.tnf" -c "enable $enable; quit kill" "$SHOP" 10 >"$TMP/out" 2>"$TMP/err" &&
		fail "prex: $enable: it is taken"
	grep -qF -- "$say" "$TMP/err" || fail "prex: $enable: $say: $(cat "$TMP/err")"
	TNF_ENABLE=$enable TNF_FILE=$TMP/x.tnf "$SHOP" 1000 1 >/dev/null 2>"$TMP/err" || fail "$enable: $?"
	[ ! -e "$TMP/x.tnf" ] && grep -qF -- "tnf: TNF_ENABLE: $say" "$TMP/err" ||
		fail "TNF_ENABLE: $enable: $say: $(cat "$TMP/err")"
	for from_start in no yes; do
		conf <<T
[process a]
comm = a
enable = $enable
from_start = $from_start
T
		w check >"$TMP/out" 2>"$TMP/err" && fail "tnfwatch: $enable: it is taken"
		grep -qF -- ": enable: $say" "$TMP/err" || fail "tnfwatch: $enable: $say: $(cat "$TMP/err")"
	done
done <<'T'
no set named "$some"|$some
$all: a set cannot be a value: it stands by itself, among selectors|order=$all
12: a number as a value: quote it: '12'|line=12
*: patterns are regular expressions|order*
/: not closed before the end of the line|file=/watch
': not closed before the end of the line|'order
": texts are in single quotes|"order"
-: not allowed in an unquoted word: quote the word|name=order-end
/\(/: Unmatched|name=/\(/
T
exit 0
