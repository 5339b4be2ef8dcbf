#!/bin/sh
# go.sh - loading libtnfprobe ran over the stacks of goroutines: a Go program
# with probes in C died of being looked at.
#
# usage: go.sh PREX; TNF_STRESS=long: many rounds
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program go gcc
need_ptrace
scratch
prex=$(realpath "$1")
victim=$TNF_BUILD/tests/live/victim-go
rounds=3
[ "$TNF_STRESS" = long ] && rounds=200

export GO111MODULE=off GOCACHE="$TNF_BUILD/tests/live/go-cache"
export CGO_CFLAGS="-O2 -g -I$TNF_SOURCE/include" CC=gcc
go build -o "$victim" "$TNF_SOURCE/tests/victims/go/main.go" > "$TMP/built" 2>&1 ||
	{ cat "$TMP/built"; fail "the victim cannot be built"; }
mkfifo "$TMP/in"
for i in $(seq $rounds); do
	: > "$TMP/said"
	"$victim" < "$TMP/in" > "$TMP/said" 2>&1 &
	pid=$!
	exec 5> "$TMP/in"
	wait_for 60 grep -q ready "$TMP/said" || fail "the victim does not start"
	"$prex" -p $pid -s 128 -o "$TMP/trace" -c 'enable $all; quit' \
		> "$TMP/out" 2>&1 < /dev/null ||
		{ cat "$TMP/out" "$TMP/said"; fail "round $i: prex"; }
	wait_for 60 grep -aq goroutine "$TMP/trace" ||
		fail "round $i: no event"
	exec 5>&-
	wait $pid || { cat "$TMP/said"; fail "round $i: the victim died"; }
	grep -q unharmed "$TMP/said" ||
		{ cat "$TMP/said"; fail "round $i: the victim was harmed"; }
done
