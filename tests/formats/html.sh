#!/bin/sh
# html.sh - html.py in a network namespace of its own: pages that need nothing.
# usage: html.sh TNFDUMP ODD HTML.PY EVIL
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$(realpath "$1") odd=$(realpath "$2") script=$3 evil=$(realpath "$4")
need_program python3 chromedriver chromium unshare ip
need_golden
scratch
unshare -rn true 2>/dev/null || skip "no network namespace of one's own here"
mkdir "$TMP/home"
# What nobody would write: markup in names and strings, circles, 60 members.
for kind in line names strings circle list array; do
	"$odd" $kind "$TMP/odd-$kind" || fail "odd $kind"
	set -- "$@" "$TMP/odd-$kind"
done
# The same and worse of a program that makes its probes while it runs.
# shellcheck disable=SC2016  # prex's word
TNF_ENABLE='$all' TNF_FILE="$TMP/evil" TNF_SIZE=8m "$evil" || fail "evil"
set -- "$@" "$TMP/evil"
shift 4
HOME=$TMP/home unshare -rn sh -c 'ip link set lo up && exec python3 "$@"' sh \
	"$script" "$tnfdump" "${HTML_OUT:-$TMP}" "$TNF_GOLDEN"/kern_events.lp64.tnf \
	"$TNF_GOLDEN"/threads.lp64.tnf "$TNF_GOLDEN"/kern_live.lp64.tnf \
	"$TNF_GOLDEN"/records.s390x.tnf "$TNF_GOLDEN"/scalars.ilp32.tnf "$@"
