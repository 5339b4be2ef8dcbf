#!/bin/sh
# Each event shows the name that its thread had then: names that a program changes are
# in its trace from the start, with or without prex, also while it is followed; a ring
# that has gone round many times has them still.
#
#	names.sh NAMED TNFDUMP PREX
. "${TNF_SOURCE:-.}/tests/lib.sh"
named=$(realpath "$1") tnfdump=$(realpath "$2") prex=$(realpath "$3")
scratch
cd "$TMP" || exit 1

cat > expected <<'X'
child_after child
child_before two words\012
main_after two words\012
main_before named
main_end two words\012
plain_after other
plain_before named
worker_after worker
worker_before two words\012
X
# names WHAT ARGUMENT...: what tnfdump prints for it.
names() {
	what=$1; shift
	"$tnfdump" --to jsonl --no-header "$@" > lines || fail "$what: tnfdump"
	sed -n 's/.*"comm":"\([^"]*\)".*"probe":"\([^"]*\)".*/\2 \1/p' lines |
	    sed 's/\\n$/\\012/' | sort > got
	diff expected got > differ || fail "$what: $(cat differ)"
}
TNF_ENABLE='/.*/' TNF_FILE="$TMP/alone" "$named" || fail "named: $?"
names "without prex" alone
[ "$("$tnfdump" --no-header --columns=program alone | sort -u | tr -d ' ')" = "$named" ] ||
	fail "program: $("$tnfdump" --columns=program alone)"
[ "$("$tnfdump" --no-header --where "program =~ '/named$' and comm == 'worker'" alone | wc -l)" = 1 ] ||
	fail "--where program"
"$prex" -o by-prex -c 'enable $all; continue' "$named" > out 2>&1 || fail "prex: $(cat out)"
names "with prex" by-prex
"$tnfdump" --to tnf alone > again || fail "--to tnf"
names "--to tnf" again

# Followed while it lives.
mkfifo go
TNF_ENABLE='/.*/' TNF_FILE="$TMP/live" "$named" wait < go &
pid=$!
exec 7> go
ended() { "$tnfdump" live 2>/dev/null | grep -q main_end; }
wait_for 60 ended || fail "named has not come to its end"
: > followed
"$tnfdump" --follow live --to jsonl --no-header > followed 2> err 7>&- &
follower=$!
seen() { grep -q main_end followed; }
wait_for 60 seen || fail "--follow: $(cat err)"
exec 7>&-
wait "$pid" "$follower"
sed -n 's/.*"comm":"\([^"]*\)".*"probe":"\([^"]*\)".*/\2 \1/p' followed |
    sed 's/\\n$/\\012/' | sort > got
diff expected got > differ || fail "--follow: $(cat differ)"
echo "names with time"
