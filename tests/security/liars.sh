#!/bin/sh
# liars.sh - programs that lie in what prex reads: an answer, in 1 GiB of
# address space, no harm to either side, and nothing for the terminal.
#
# It takes as long as the limits of what prex reads let it: a linker that never comes
# to an end is waited for (3 s), 8,192 objects are looked at (2 s of CPU).
#
# usage: liars.sh PREX VICTIM-LIAR
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") liar=$(realpath "$2")
bad=0
limit=1048576
ldd "$prex" | grep -q -e libasan -e libtsan && limit=unlimited

# ask LIE: all that prex can be asked, of a program that tells it.
ask() {
	mkfifo "$TMP/in"
	: > "$TMP/ready"
	"$liar" "$1" < "$TMP/in" > "$TMP/ready" &
	pid=$!
	exec 3> "$TMP/in"
	rm "$TMP/in"
	wait_for 60 grep -q ready "$TMP/ready" || echo "$1: does not start"
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -v $limit
	exec timeout $((120 * ${TNF_SLOW:-1})) "$prex" -s 128 -o "$TMP/trace" -p $pid -c 'list probes $all
		list values; list tracefile; create &f puts; connect &f $all
		enable $all; clear $all; quit resume') \
		> "$TMP/out" 2>&1 < /dev/null
	got=$?
	[ $got -le 1 ] && ! reported "$TMP/out" ||
		{ echo "$1: status $got"; tail -40 "$TMP/out"; bad=1; }
	case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$pid/status") in
	[RSD]*) ;;
	*)	echo "$1: the target is not as it was left"; bad=1 ;;
	esac
	if command -v script > /dev/null; then
		script -qec "$prex -s 128 -o $TMP/trace -p $pid -c '
			list /.*/ probes \$all; list values /.*/
			list tracefile; enable \$all'" /dev/null \
			< /dev/null > "$TMP/out"
		! grep -q "$(printf '\033')" "$TMP/out" ||
			{ echo "$1: the terminal gets it raw"; bad=1; }
		! reported "$TMP/out" || { tail -40 "$TMP/out"; bad=1; }
	fi
	exec 3>&-
	wait $pid
	got=$?
	[ $got -eq 3 ] || { echo "$1: the target ended with $got"; bad=1; }
}
n=0
for lie in $("$liar"); do
	ask "$lie"
	n=$((n + 1))
done
echo "$n lies"
exit $bad
