# shellcheck shell=sh
# lib.sh - a target, prex at work on it, and what both had to say.
#
# usage of each test: NAME.sh PREX TNFDUMP HITS
# shellcheck source=tests/lib.sh
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
PREX=$(realpath "$1") DUMP=$(realpath "$2") HITS=$(realpath "$3")
export HOME="$TMP" TMPDIR="$TMP"
unset PREXRC LD_PRELOAD
chmod 755 "$TMP"
cd "$TMP" || exit 1
mkfifo in
bad=0
undo=
trap 'eval "$undo"; rm -rf "$TMP"' EXIT

# wrong TEXT: the fault of which $what is the name has done harm
wrong() {
	echo "FAIL: $what: $*"
	sed 's/^/	/' out err said 2>/dev/null
	bad=1
}

is_root() {
	[ "$(id -u)" -eq 0 ] || { echo "not root: left out: $what"; return 1; }
}

# prex ARGS...: with its streams in the files "out" and "err"
prex() {
	: > said
	"$PREX" "$@" > out 2> err < /dev/null
}

# target WORD...: hits in the background; it waits where a word is "ready"
target() {
	rm -f count
	: > said
	"$HITS" "$TMP/count" "$@" < in > said 2>&1 &
	hits=$!
	exec 5> in
	wait_for 60 grep -q ready said || wrong "the target does not start"
}

# attach ARGS...: prex at the target, all probes on, target on its way
attach() {
	: > out
	"$PREX" -p $hits "$@" -c 'enable $all; continue; quit resume' \
		> out 2> err < /dev/null &
	prex=$!
	wait_for 60 grep -q 'Type' out && wait_for 10 running ||
		wrong "prex does not attach"
}

running() { grep -q '^State:.*[RS] ' "/proc/$hits/status"; }
counted() { [ "$(count)" -ge "$1" ]; }
count() { od -An -tu8 -N8 count | tr -d ' '; }
go() { echo >&5; }

# interrupt: Ctrl-C, and prex's last words
interrupt() {
	kill -INT $prex
	wait $prex
	status=$?
}

# survived: the target has come to its end as if nobody had looked
survived() {
	exec 5>&-
	wait $hits
	_status=$?
	[ $_status -eq 0 ] || wrong "the target's status is $_status"
	grep -qx unharmed said || wrong "the target has not survived"
}

says() { cat out err | grep -qi -e "$*" || wrong "prex does not say: $*"; }

# refused FACT REMEDY FILE ARGS...: prex says so and leaves nothing behind
refused() {
	fact=$1 remedy=$2 file=$3; shift 3
	before=$(ls -A "$(dirname "$file")" 2>/dev/null)
	prex -o "$file" "$@" -c 'enable $all; continue' \
		"$HITS" "$TMP/count" hit=10
	status=$?
	[ $status -eq 1 ] || wrong "prex's status is $status"
	says "$file.*$fact.*$remedy"
	grep -q unharmed out && wrong "prex has let the target run"
	[ "$before" = "$(ls -A "$(dirname "$file")" 2>/dev/null)" ] ||
		wrong "something is left behind"
}

# whole N FILE: tnfdump has nothing to complain about, and there are N events
whole() {
	"$DUMP" "$2" > out 2> err || wrong "tnfdump's status is not 0"
	[ ! -s err ] || wrong "tnfdump complains"
	_n=$(grep -c 'number: ' out)
	[ "$_n" -eq "$1" ] || wrong "$_n events, not $1"
}
