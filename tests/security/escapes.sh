#!/bin/sh
# escapes.sh - what a trace holds does not act on the terminal that shows it.
#
# usage: escapes.sh TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program script
scratch
tnfdump=$(realpath "$1")
esc=$(printf '\033')
bad=0

# A name, a key and a string that switch something on or off.
LC_ALL=C sed "s/plain/p${esc}[5n/g; s/text/${esc}[5n/g; s/keys a;/keys $esc;/g" \
	"$TNF_SOURCE/fuzz/seeds/trace/lp64" > "$TMP/trace"
cd "$TMP" || exit 1
while read -r options; do
	script -qec "$tnfdump --color=never $options trace" /dev/null \
		< /dev/null > out
	[ -s out ] || { echo "$options: nothing"; bad=1; }
	! grep -q "$esc" out || { echo "$options: raw"; bad=1; }
done <<'M'
--pretty
-r
-x
--columns=+keys
--two-line
--to=jsonl
--to=csv
--to=chrome
--to=folded
--stats
--stats=s,probe
--states
--why
--why-slow
--tree
--tree --pretty
--info
--info=json
-t /dev/null
--diff trace
M
# Into a pipe they are the trace's own bytes.
"$tnfdump" trace | grep -q "$esc" || { echo "pipe: changed"; bad=1; }
exit $bad
