#!/bin/sh
# Each event shows the name that its thread had then: names that a program changes are
# in its trace from the start, with or without prex, also while it is followed; a ring
# that has gone round many times has them still.
#
# And to record a name harms nobody: not behind a filter that kills, not without the time
# stamp counter, not in the child of a vfork, not on a small stack.
#
#	names.sh NAMED TNFDUMP PREX NAMED-ODD
. "${TNF_SOURCE:-.}/tests/lib.sh"
named=$(realpath "$1") tnfdump=$(realpath "$2") prex=$(realpath "$3") odd=$(realpath "$4")
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

# odd WHAT [EXPECTED]: it gets through, and its events have these names.
odd() {
	TNF_ENABLE='/.*/' TNF_FILE="$TMP/odd-$1" "$odd" "$1" > out 2>&1
	got=$?
	if [ $got = 77 ]; then
		echo "$1: not on this machine"
	else
		[ $got = 0 ] || fail "named-odd $1: $got, $(cat out)"
		called "$1" "$2"
	fi
}
called() {
	got=$("$tnfdump" --to jsonl --no-header "odd-$1" |
	    sed -n 's/.*"comm":"\([^"]*\)".*"probe":"\([^"]*\)".*/\2=\1/p' | sort | tr '\n' ',')
	[ "$got" = "$2" ] || fail "$1: $got instead of $2"
}
odd tsc 'before=named-odd,'
# Nothing is known of the other thread there: it is shown as its process.
odd filter 'after=two,before=named-odd,child=two,other=two,'
odd vfork 'after=named-odd,before=named-odd,'
odd cancel 'after=renamed,before=named-odd,'
odd exec 'before=former,executed=named-odd,'
odd between 'after=named-odd,before=named-odd,'
read -r last middle < out
grep -aq "thread $last $last $middle named-odd" odd-between || fail "the parent of $last is not $middle"
"$odd" attach "$TMP/odd-attach" || fail "named-odd attach: $?"
called attach 'after=named-odd,other=early,'
used=$("$odd" stack "$TMP/odd-stack") || fail "named-odd stack: $?"
called stack 'after=named-odd,'
# A path of PATH_MAX alone would be 4096, beside 2000 to 3000 for all else.
[ -n "${SANITIZE:-}" ] || [ "$used" -le 4608 ] || fail "a first hit uses $used bytes of the stack"
echo "names with time"
