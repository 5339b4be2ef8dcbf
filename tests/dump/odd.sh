#!/bin/sh
# odd.sh - tnfdump has an answer for traces that nobody would write, soon and
# within bounds, in every mode.
# Usage: odd.sh TNFDUMP ODD
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") odd=$(realpath "$2")
scratch
cd "$TMP" || exit 1

# An answer: not a signal, not a sanitizer's, not megabytes.
answers() {
	rc=0
	# shellcheck disable=SC2086
	timeout 120 "$tnfdump" $1 "$2" > out 2> err || rc=$?
	[ $rc -le 1 ] && ! reported err || fail "$2: $1: exit status $rc: $(head -5 err)"
	[ "$(wc -c < out)" -lt 4000000 ] || fail "$2: $1: $(wc -c < out) bytes"
}

for kind in line names circle list array strings times; do
	"$odd" $kind $kind || fail "odd $kind"
	while read -r options; do
		answers "$options" $kind
	done <<'M'

-r
-x
--pretty
--columns=all
--columns=all --pretty
--to=jsonl
--to=csv
--to=chrome
--to=perfetto
--to=otlp
--to=otlp-pb
--to=ctf -o ctf
--to=folded
--to=tnf
--stats
--stats=a,b,c,s --pretty
--states
--why
--why=json
--why-slow
--why --to folded
--tree
--tree --pretty
--info
--info=json
--from=1s --until=2s
--last=1s
-t /dev/null
M
done

# All of a list; what leads into itself is told, once, and the end of it.
[ "$("$tnfdump" list | grep -o 'v: [0-9]*' | wc -l)" -eq 20 ] || fail "list: not all of it"
"$tnfdump" list | grep -q 's: { type: span a: 1 time_delta: 2 b: 3 }' || fail "span: not all of it"
"$tnfdump" circle > out 2> err && fail "circle: exit status 0"
[ "$(grep -c 'leads into itself' err)" -eq 1 ] && [ "$(wc -l < err)" -eq 1 ] ||
	fail "circle: $(cat err)"

# Original readers find a block by masking an address: no larger than a page.
# Events that are larger than that together follow in further blocks.
"$odd" large large || fail "odd large"
"$tnfdump" large > want && "$tnfdump" --to=tnf large > slice && "$tnfdump" slice > got ||
	fail "large: not all of it"
cmp want got || fail "large: the slice differs"
[ "$(od -An -tu4 -j24 -N4 slice)" -eq 4096 ] || fail "blocks of $(od -An -tu4 -j24 -N4 slice)"
[ "$(od -An -tu4 -j28 -N4 slice)" -eq 65536 ] || fail "directory"

# They do not know references backwards, unless these are permanent.
"$tnfdump" --to=tnf circle > slice 2> /dev/null
at=$("$tnfdump" -r slice 2> /dev/null | sed -n '/^0x/h; /tnf_tag .*circle$/{x;s/ *:.*//p;q}')
for word in $(od -An -tx4 -j$((at + 4)) -N16 slice); do
	[ $((0x$word)) -eq $((at | 0x80000000)) ] || fail "circle: $word at $at"
done

# Readers of other formats have to cope with these.
if command -v python3 > /dev/null; then
	for kind in names strings circle; do
		for format in --to=jsonl --to=chrome --info=json; do
			"$tnfdump" $format $kind > json
			python3 -c 'import json, sys
text = open("json", encoding="utf-8").read()
for t in [text] if sys.argv[1] == "--to=chrome" else text.splitlines():
	json.loads(t)' $format || fail "$kind: $format: no JSON"
		done
	done
fi
"$tnfdump" --columns=src line | grep -q 'f.c:1*$' || fail "src"
[ "$("$tnfdump" --to=folded strings)" = "pid_7;strings 2" ] || fail "folded"

# Bytes of a trace do not reach a terminal raw on standard error either.
"$tnfdump" --where 'e_sc == 1' names > /dev/null 2> err
grep -q 'no probe has a member e_sc: did you mean e.x1bsc?' err ||
	fail "hint: $(cat err)"
"$tnfdump" --diff --stats='arg."e\x1bsc"' --fail-on \
    "count($(printf 'na\377me')) > 0" names names > /dev/null 2>> err
[ $? -eq 4 ] || fail "--fail-on: $(cat err)"
grep -q '\[2J' err || fail "--fail-on: $(cat err)"
LC_ALL=C grep -q "$(printf '\033')" err && fail "raw on standard error"
echo "an answer to everything"
