#!/bin/sh
# html.sh - html.py and page.py in a network namespace of its own: pages that need nothing.
# usage: html.sh TNFDUMP ODD HTML.PY EVIL STORY PAGE.PY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$(realpath "$1") odd=$(realpath "$2") script=$3 evil=$(realpath "$4") story=$(realpath "$5") page=$6
need_program python3 chromedriver chromium unshare ip
need_golden
scratch
unshare -rn true 2>/dev/null || skip "no network namespace of one's own here"
mkdir "$TMP/home"
# Traces that nobody would write: markup in names and strings, circles, 60 members.
for kind in line names strings circle list array; do
	"$odd" $kind "$TMP/odd-$kind" || fail "odd $kind"
	set -- "$@" "$TMP/odd-$kind"
done
# The same and worse of a program that makes its probes while it runs.
# shellcheck disable=SC2016  # prex's word
TNF_ENABLE='$all' TNF_FILE="$TMP/evil" TNF_SIZE=8m "$evil" || fail "evil"
set -- "$@" "$TMP/evil"
# Three machines, whose clocks may be wrong by 150 us each: a request goes from web by way
# of app to db, and back.  Process and thread have the same numbers everywhere.
# machine NAME NR MONO: events are lines "TIME NAME ID".
machine()
{
	{
		echo process 100
		echo "boot $2"
		for p in ask got call took answer back reply done_; do echo "probe $p net id:tnf_int32"; done
		while read -r time name id; do echo "$((time + $3)) 100 101 1 0 $name $id"; done
		echo "@host $1"
		echo "@clock $((5000000 + $3)) 1700000000005000000"
		echo "@sync synchronised 0 150000 1000"
		echo "@task 100 100 1 $1d"
		echo "@task 101 100 1 $1-worker"
	} | "$story" "$TMP/hosts/$1.tnf" || fail story
}
mkdir "$TMP/hosts"
machine web 1 0 <<M
1000000 ask 7
2400000 done_ 7
M
machine app 2 5000000000 <<M
1200000 got 7
1300000 call 7
2100000 back 7
2200000 reply 7
M
machine db 3 77000000000 <<M
1500000 took 7
1900000 answer 7
M
set -- "$@" "$TMP/hosts"
shift 6
export HOME=$TMP/home
unshare -rn sh -c 'ip link set lo up && exec python3 "$@"' sh "$page" "$tnfdump" "$story" "${HTML_OUT:-$TMP}" || fail page
unshare -rn sh -c 'ip link set lo up && exec python3 "$@"' sh \
	"$script" "$tnfdump" "${HTML_OUT:-$TMP}" "$TNF_GOLDEN"/kern_events.lp64.tnf \
	"$TNF_GOLDEN"/threads.lp64.tnf "$TNF_GOLDEN"/kern_live.lp64.tnf \
	"$TNF_GOLDEN"/records.s390x.tnf "$TNF_GOLDEN"/scalars.ilp32.tnf "$@"
