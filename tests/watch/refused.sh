#!/bin/sh
# Guards: a tnfwatch without the right to something, which ends, says nothing, or does not
# watch what it may; one that others may ask or read.
# refused.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
need_program setpriv
watch_programs "$1" "$2" "$3"
chmod 711 "$TMP"
chmod 755 "$SHOP"

# nobody COMMAND...: as a user without rights, who sees the build.
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
nobody "$W" --version >"$TMP/out" 2>&1 || skip "the build is not for everybody: $(cat "$TMP/out")"
nobody "$SHOP" 1000 1 >"$TMP/out" 2>&1 || skip "the build is not for everybody: $(cat "$TMP/out")"
cp "$SHOP" "$TMP/roots"
mkdir -m 700 "$D"
chown 65534:65534 "$D"
"$TMP/roots" 500 >/dev/null &
roots=$!
STARTED=$roots
conf <<T
keep = 60s
[kernel]
buffer = 1m
enable = syscall
[process roots]
pid = $roots
enable = order
[process shop]
program = $SHOP
enable = order
size = 256k
[trigger hand]
after = 0s
T
chmod 644 "$CONF"

# A tnfwatch that has no right to write there does not begin, and says what it cannot do.
mkdir -m 755 "$TMP/roots-own"
sed "s,^directory = .*,directory = $TMP/roots-own/kept," "$CONF" >"$TMP/no.conf"
chmod 644 "$TMP/no.conf"
nobody "$W" -c "$TMP/no.conf" >"$TMP/out" 2>&1 && fail "it begins without a directory"
grep -q "$TMP/roots-own/kept: Permission denied" "$TMP/out" || fail "said: $(cat "$TMP/out")"
cp "$CONF" "$TMP/no.conf"
chmod 600 "$TMP/no.conf"
nobody "$W" check -c "$TMP/no.conf" >"$TMP/out" 2>&1 && fail "it reads what it may not"
grep -q "$TMP/no.conf: Permission denied" "$TMP/out" || fail "said: $(cat "$TMP/out")"

root_w=$W
printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups "%s" "$@"\n' "$W" >"$TMP/as-nobody"
chmod 755 "$TMP/as-nobody"
W=$TMP/as-nobody
watch
# One of its own, beside one that it has no right to control.
(exec setpriv --reuid 65534 --regid 65534 --clear-groups "$SHOP" 500) >/dev/null &
SHOPPID=$!
STARTED="$STARTED $SHOPPID"
shop_watched
wait_for 120 told "^tnfwatch: roots .*: " || fail "not told of root's program: $(cat "$TMP/log" "$TMP/status")"
wait_for 120 told "kernel: " || fail "not told of the kernel: $(cat "$TMP/log")"
answers
grep -q '^roots-' "$TMP/status" && fail "root's program is watched: $(cat "$TMP/status")"
fire hand
whole "$I"
jq -r '.sources[].name' "$I/incident.json" | grep -qx shop || fail "its own is missing: $(cat "$I/incident.json")"
runs "$roots" || fail "root's program is stopped"
runs "$SHOPPID" || fail "the shop is stopped"
[ -z "$(find "$D" -perm /077)" ] || fail "for others: $(find "$D" -perm /077 -ls)"
stop_watch
kill "$SHOPPID"

# Only root reads or asks for what root's tnfwatch keeps.  It has no kernel: the buffer would stay, and
# other tests find it in use.
sed -i '/^\[kernel\]/,/^enable = syscall/d' "$CONF"
W=$root_w
chown -R 0:0 "$D"
watch
for c in status 'fire hand' 'mark x' list; do
	# shellcheck disable=SC2086  # words are meant
	nobody "$W" -c "$CONF" $c >"$TMP/out" 2>&1 && fail "$c: others may: $(cat "$TMP/out")"
	grep -q 'Permission denied' "$TMP/out" || fail "$c: said: $(cat "$TMP/out")"
done
stop_watch
grep "roots " "$TMP/log" | head -1
