#!/bin/sh
# input.sh - traces from pipes and FIFOs, and what is no trace, soon.
# Usage: input.sh TNFDUMP ODD
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") odd=$(realpath "$2")
need_golden
scratch
cd "$TMP" || exit 1
cp "$TNF_GOLDEN/wrap.lp64.tnf" trace
"$tnfdump" trace > want || fail "tnfdump trace"

# same WHAT: standard output of the command before is that of the file
same() { cmp want got || fail "$1: another text"; }
# shellcheck disable=SC2002
cat trace | "$tnfdump" - > got || fail "-"
same "-"
# shellcheck disable=SC2002
cat trace | "$tnfdump" /dev/stdin > got || fail "/dev/stdin"
same /dev/stdin
"$tnfdump" - < trace > got || fail "a file as standard input"
same "a file as standard input"
mkfifo fifo || fail mkfifo
cat trace > fifo &
"$tnfdump" fifo > got || fail "a FIFO"
wait
same "a FIFO"
"$tnfdump" -r trace > want
# shellcheck disable=SC2002
cat trace | "$tnfdump" -r - > got || fail "-r"
same "-r"

# refused TEXT COMMAND...: status 1, soon, with this message
refused() {
	text=$1 rc=0
	shift
	timeout 60 "$@" > got 2> err || rc=$?
	[ $rc -eq 1 ] && [ "$(cat err)" = "tnfdump: $text" ] && [ ! -s got ] ||
		fail "$*: status $rc: $(cat err)"
}
refused "fifo: is a FIFO that nobody writes into" "$tnfdump" fifo
refused "standard input is empty" "$tnfdump" - < /dev/null
# shellcheck disable=SC2002
: | refused "standard input is empty" "$tnfdump" -

# A file may have any name; a terminal is not to act on it.
bad=$(printf 'a\033[2J\nb\377')
refused 'cannot open a\x1b[2J\nb\xff' "$tnfdump" "$bad"
echo text > "$bad"
refused 'error in a\x1b[2J\nb\xff: not a TNF file' "$tnfdump" "$bad"
"$tnfdump" -t "$bad" trace > got 2> err && fail "-t: status 0"
"$tnfdump" --to=ctf -o "$bad/x" trace >> got 2>> err && fail "--to=ctf: status 0"
if [ -x "$TNF_BUILD/tnfxtract/tnfxtract" ]; then
	"$TNF_BUILD/tnfxtract/tnfxtract" -d "$bad" -n "$bad" "$bad/x" >> got 2>> err &&
		fail "tnfxtract: status 0"
fi
LC_ALL=C grep -q "$(printf '\033')" err && fail "raw on standard error: $(cat -v err)"
grep -q '\\x1b\[2J' err || fail "no name told: $(cat -v err)"

# Of 100 GB that were never written nothing is read.
truncate -s 100G sparse || skip "no sparse files"
timeout 60 "$tnfdump" sparse 2> err || fail "sparse: $(cat err)"
[ "$(cat err)" = "tnfdump: sparse is an empty TNF file" ] || fail "sparse: $(cat err)"
echo x >> sparse
refused "error in sparse: not a TNF file" "$tnfdump" sparse

# Records that lead into each other by many ways, from many events.
"$odd" graph graph || fail "odd graph"
for options in '' --pretty --to=jsonl; do
	rc=0
	# shellcheck disable=SC2086
	"$tnfdump" $options graph > got 2> err || rc=$?
	[ $rc -eq 1 ] || fail "graph $options: status $rc"
	[ "$(wc -c < got)" -lt 8000000 ] || fail "graph $options: $(wc -c < got) bytes"
	grep -q 'lead into each other more often' err || fail "graph $options: $(cat err)"
done
echo "pipes read, the rest refused"
