#!/bin/sh
# series.sh - one test many times beside a load, and how often it passed.
#
# usage: series.sh [-b BUILD] [-l LOOPS] [-j JOBS] [-t SECONDS] N TEST [ARGUMENT]...
#
# TEST is a program or script below BUILD/tests or tests, as tests/meson.build
# runs it: live/live-signals, writer/suite.  -b names the build directory
# (default: build), -l how many busy loops run beside it (default: 16), -j how many
# runs at once (default: 1), -t after how long a run counts as hung (default: 600).
#
# Prints "N of N" and how long the runs took; exits 0 if each one passed.  The
# output of a run that failed goes to standard error.  Not part of tools/check.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
usage() { sed -n '4,/^set/{/^set/d;s/^# \{0,1\}//p;}' "$0"; exit 2; }
build=$top/build load=16 jobs=1 limit=600
while getopts b:l:j:t: option; do
	case $option in
	b) build=$(cd "$OPTARG" && pwd) || exit 1 ;;
	l) load=$OPTARG ;;
	j) jobs=$OPTARG ;;
	t) limit=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
runs=$1 name=$2; shift 2
for program in "$build/tests/$name" "$top/tests/$name" "$name"; do
	[ ! -f "$program" ] || break
done
[ -x "$program" ] || { echo "series: $name: no such test below $build/tests: ninja -C $build meson-test-prereq" >&2; exit 1; }

export TNF_SOURCE="$top" TNF_BUILD="$build" CK_TAP_LOG_FILE_NAME=-
export LD_LIBRARY_PATH="$build/libtnfctl:$build/libtnfprobe:$build/libtnf:$build/tests/victims${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/tnf-series.XXXXXX") || exit 1
loops='' beside=$load
# In a session of their own the loops would share the processors by group, and
# weigh less: they stay in ours.
while [ "$load" -gt 0 ]; do
	sh -c 'while :; do :; done' &
	loops="$loops $!" load=$((load - 1))
done
# shellcheck disable=SC2086,SC2064  # words are meant
trap "kill $loops 2>/dev/null; rm -rf '$dir'" EXIT
trap 'exit 1' HUP INT TERM

# worker N: takes the next run until there is none.
worker() {
	i=0
	while :; do
		# A directory is made by one worker only.
		while ! mkdir "$dir/$i" 2>/dev/null; do
			i=$((i + 1))
		done
		[ "$i" -lt "$runs" ] || return
		timeout -k 5 "$limit" "$program" "$@" >"$dir/$i/out" 2>&1 </dev/null
		echo $? >"$dir/$i/status"
		[ "$(cat "$dir/$i/status")" -eq 0 ] && { rm "$dir/$i/out"; continue; }
		{ echo "run $i: status $(cat "$dir/$i/status")"; tail -20 "$dir/$i/out"; } >&2
	done
}

start=$(date +%s)
workers=
while [ "$jobs" -gt 0 ]; do
	worker "$@" & workers="$workers $!"
	jobs=$((jobs - 1))
done
# shellcheck disable=SC2086
wait $workers
passed=$(cat "$dir"/*/status | grep -c '^0$')
echo "$name${*:+ $*}: $passed of $runs, $(($(date +%s) - start)) s, $beside loops, load $(cut -d' ' -f1 /proc/loadavg)"
[ "$passed" -eq "$runs" ]
