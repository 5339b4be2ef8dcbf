#!/bin/sh
# Guards: tools/bench that waits for a script, for its input, or hides that one has failed.
. "$TNF_SOURCE/tests/lib.sh"
scratch
mkdir -p "$TMP/tools" "$TMP/bench" "$TMP/build"
cp "$TNF_SOURCE/tools/bench" "$TMP/tools"
cp "$TNF_SOURCE/bench/lib.sh" "$TNF_SOURCE/bench/table.awk" "$TMP/bench"
script() {
	{ printf '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n'; cat; } >"$TMP/bench/$1.sh"
	chmod +x "$TMP/bench/$1.sh"
}
script asks <<'S'
read -r answer
row "asked" words 1 "${#answer}"
table "" "a script that asks"
S
script endless <<'S'
while :; do sleep 1; done
S
script lacks <<'S'
have tnf-no-such-program nowhere || leave "needs tnf-no-such-program"
S
script wrong <<'S'
sample "nothing" s 1 false
sample "something" s 1 echo 1.5
table "" "a script of which one row fails"
S

# It ends by itself: the limit is for the script that does not.
BENCH_BUILD=$TMP/build BENCH_LIMIT=3 timeout 120 "$TMP/tools/bench" >"$TMP/out" 2>&1 &
pid=$!
wait $pid
status=$?
cat "$TMP/out"
[ $status -eq 1 ] || fail "status $status, though scripts failed"
says() { grep -qx "$1" "$TMP/out" || fail "not said: $1"; }
says 'ran: asks'
says 'not measured here, for the reasons above: lacks'
says 'failed: endless (no end) wrong'
grep -q '^something  *1.50 s ' "$TMP/out" || fail "the row after the one that failed"
BENCH_BUILD=$TMP/build "$TMP/tools/bench" asks >/dev/null || fail "status of a script that ran"
