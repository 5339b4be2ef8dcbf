#!/bin/sh
# server.sh - a flight recorder in a daemon: one that has given up root, and one
# in a container's namespaces.  It is looked at, records on, and is killed.
#
# usage: server.sh PREX TNFDUMP HITS BARE SERVER
SERVER=$(realpath "$5")
. "${TNF_SOURCE:-../..}/tests/faults/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to give it up"

# Its number here; the daemon's own is another one.
find_server() {
	hits=
	for _p in /proc/[0-9]*; do
		[ "$(cat "$_p/comm" 2>/dev/null)" = server ] &&
			tr '\0' ' ' < "$_p/cmdline" | grep -q "$TMP/sock" &&
			hits=${_p#/proc/}
	done
	[ -n "$hits" ] && grep -q '^State:.*S ' "/proc/$hits/status"
}

# boxed OPTIONS-OF-SERVER OPTIONS-OF-UNSHARE...: starts it
boxed() {
	options=$1; shift
	: > said
	unshare -m -p -f --mount-proc "$@" sh -c \
		"'$SERVER' $options '$TMP/sock' && echo up && read -r _" \
		< in > said 2>&1 &
	box=$!
	exec 5> in
	wait_for 60 grep -q up said && wait_for 10 find_server ||
		wrong "the server does not start"
}

ask() {
	[ "$("$SERVER" -q "$1" sock)" = "$2" ] || wrong "it does not answer"
}

flight_recorder() {
	ask before erofeb
	prex -p $hits -c 'list name probes $all'
	grep -q 'name=request_start' out || wrong "the probes are not listed"
	prex -p $hits -o closed/f -s 256 -c 'enable $all; quit' ||
		wrong "prex's status is $?"
	for i in 1 2 3; do ask "request $i" "$i tseuqer"; done
	# The answer comes before the end of its request is recorded.
	wait_for 60 find_server || wrong "the server does not wait for the next request"
	kill -KILL $hits
	exec 5>&-
	wait $box
	"$DUMP" --info closed/f > out 2> err || wrong "no information"
	grep -q 'events: *6$' out || wrong "6 events were recorded"
	grep -q 'dropped: *0$' out || wrong "none was dropped"
	grep -q "tasks known: [1-9]" out || wrong "no names are known"
	"$DUMP" --columns +comm closed/f > out 2> err || wrong "status $?"
	grep -q ' request_start .* server .*text: "request 2"' out ||
		wrong "the second request is not there"
	[ "$(stat -c '%u %a' closed/f)" = "0 600" ] || wrong "whose file is it?"
	rm -f closed/f sock
}
mkdir -m 700 closed

what="a daemon that has given up root"
boxed '-u 65534'
flight_recorder

what="a daemon in a user namespace"
if unshare -U -r true 2>/dev/null; then
	boxed '' -U -r
	flight_recorder
fi
exit $bad
