#!/bin/sh
# Guards: an incident that waits for the pages of those before it; a page that is not made;
# two made at once.
# reports.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_ptrace
watch_programs "$1" "$2" "$3"

# A tnfdump that is not done before we say so.
own_dump <<T
#!/bin/sh
mkdir "$TMP/makes" || touch "$TMP/twice"
until [ -e "$TMP/go" ]; do sleep 0.05; done
rmdir "$TMP/makes"
echo page
T

conf_shop 2s 256k 0ms
watch
shop 1000
shop_watched
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do fire hand; done
wait_for 120 test -d "$TMP/makes" || fail "no page is made"
: >"$TMP/go"
pages() { [ "$(find "$D/incidents" -name report.html | wc -l)" -eq 12 ]; }
wait_for 120 pages || fail "pages: $(find "$D/incidents" -name 'report*'): $(cat "$TMP/log")"
[ ! -e "$TMP/twice" ] || fail "two pages at once"

# A tnfwatch that ends does not wait for a page, and leaves no half one.
rm "$TMP/go"
w fire hand >"$TMP/out"
wait_for 120 test -d "$TMP/makes" || fail "no page is made"
stop_watch
[ -z "$(find "$D/incidents" -name .report)" ] || fail "half a page"

# That of one who was killed goes when the next one begins.
rm -rf "$TMP/makes"
watch
w fire hand >"$TMP/out"
wait_for 120 test -d "$TMP/makes" || fail "no page is made"
kill -9 "$PID"
wait "$PID" 2>/dev/null
[ -n "$(find "$D/incidents" -name .report)" ] || fail "there is no half page"
: >"$TMP/go"
watch
[ -z "$(find "$D/incidents" -name .report)" ] || fail "half a page stays"
stop_watch
echo "12 pages, one after the other"
