#!/bin/sh
# session.sh - replay the session in prex(1): what the manual shows is so.
#
# usage: session.sh PREX PTY COOKIE [TNFDUMP]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") pty=$(realpath "$2") cookie=$(realpath "$3")
dump=$([ -z "${4:-}" ] || realpath "$4")
cd "$TMP" || exit 1
PATH=$(dirname "$prex"):$(dirname "$cookie"):$PATH
export HOME="$TMP" PATH TERM=dumb

sed -n '/^\.\\" .*session\.sh/,/^\.Ed/p' "$TNF_SOURCE/man/prex.1" |
	grep -v '^\.' | sed 's/\\e/\\/g' > session
sed -n '2,/^\$ tnfdump/p' session | grep -v '^\$ ' > expected
[ -s expected ] || fail "no session in the manual"
{
	echo 'cursor prex>'
	sed -n 's/^prex> //p' session | sed 's/\\/\\\\/g' | while read -r line; do
		printf 'send %s\\n\nrow prex> %s\n' "$line" "$line"
		[ "$line" = continue ] || echo 'cursor prex>'
	done
	printf 'eof\nexit 0\nprint\n'
} > keys
command=$(sed -n '1s/^\$ //p' session)
"$pty" keys $command > out 2> err || { cat err; fail "the session went wrong"; }
tr -d '\r' < out | sed 's/ *$//' > shown
# Probes come in the order in which the compiler laid them down: the manual's is x86-64's.
if [ "$(uname -m)" != x86_64 ]; then
	for f in expected shown; do sort $f >$f.sorted && mv $f.sorted $f; done
fi
diff -u expected shown || fail "the manual shows something else"
[ -z "$dump" ] && exit
# One inloop for each cookie, and the end.
[ "$("$dump" cookie.tnf | grep -c -w -e inloop -e end)" -ge 3 ] ||
	fail "the records are not in the file"
