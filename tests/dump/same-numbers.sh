#!/bin/sh
# same-numbers.sh - the end of a trace in which two processes bear the same number.
# Usage: same-numbers.sh TNFDUMP PROGRAM
#
# Guards against events that --last and --from leave out, because blocks of two
# threads were taken for those of one.
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") program=$(realpath "$2")
scratch
cd "$TMP" || fail "cannot enter $TMP"
TNF_ENABLE='$all' TNF_FILE=x.tnf TNF_SIZE=64m "$program" 2>err
case $? in
0) ;;
77) skip "cannot make pid name spaces: $(cat err)" ;;
*) fail "the program: $(cat err)" ;;
esac
[ "$(stat -c %s x.tnf)" -ge $((16 << 20)) ] || fail "the trace is too small for this test"
"$tnfdump" --columns elapsed,pid --no-header x.tnf >all
[ "$(awk '{ print $2 }' all | sort -u | grep -cx 1)" = 1 ] || fail "nobody is number 1"
end=$(awk 'END { print int($1) }' all)
[ "$end" -gt 0 ] || fail "it took no time: $end ms"

# same OPTION...: as when all is read first
same()
{
	"$tnfdump" --strict "$@" x.tnf >want || fail "--strict $*"
	"$tnfdump" "$@" x.tnf >got || fail "$*"
	cmp want got || fail "differs: $*: $(wc -l <want) lines, and $(wc -l <got)"
}

# Behind the first of the slow one's events, and before its last.
for i in 2 9; do
	same --last "$((end * i / 11))ms" --columns elapsed,pid,tid,args
	same --from "$((end * i / 11))ms" --columns elapsed,pid,tid,args
done
