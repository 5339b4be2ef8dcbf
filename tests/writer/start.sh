#!/bin/sh
# start.sh - a program makes the ring that a tnfwatch wants of it, and only at its start, with
# calls that no filter refuses, where there is room, and if no controller gives it a file.
# Usage: start.sh TNFDUMP START START-NOLIB LIBTNFPROBE
. "${TNF_SOURCE:-.}/tests/lib.sh"
need_program flock
tnfdump=$(realpath "$1") lib=$(realpath "$4")
scratch
# The ring is wanted of what has this name.
mkdir "$TMP/nolib"
cp "$2" "$TMP/wanted" || fail "no program"
cp "$3" "$TMP/nolib/wanted" || fail "no program without the library"
LD_LIBRARY_PATH=$(dirname "$lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cd "$TMP" || exit 1
unset TNF_ENABLE TNF_FILE TNF_SIZE
mkdir run rings
chmod 755 run
TNF_WATCH=$TMP/run
export TNF_WATCH

# wanted RINGS [SIZE]: as tnfwatch writes it.  It stays the file that this shell has locked.
wanted() {
	printf '%s\n' 'tnf-start 1' "pidns $(stat -L -c %i /proc/self/ns/pid)" "rings $1" 'process w' \
		"size ${2:-131072}" 'comm wanted' 'enable order' >run/start
	chmod 600 run/start
}
rings() { find "$1" -type f | wc -l; }
work() { "$tnfdump" --no-header "$1" | grep -cw work; }
no_ring() { [ "$(rings rings)" -eq 0 ] || fail "$1: $(ls -la rings)"; }
plenty="TOTAL=100000000 FREE=50000000"

wanted "$TMP/rings"
exec 8<run/start
flock -n 8 || fail "no lock"

# With plenty of room.
# shellcheck disable=SC2086  # words are meant
run() { env $plenty "$@" || fail "$*: ends with $?"; }
run ./wanted maps >shared
[ "$(rings rings)" -eq 1 ] || fail "no ring: $(ls -la rings run)"
[ "$(work rings/w-*.tnf)" -eq 2 ] || fail "the ring has not both events"
[ "$(stat -c '%a %s %h' rings/w-*.tnf)" = "600 131072 1" ] || fail "$(ls -la rings)"
# tnfwatch finds who has it by this.
grep -q "$(echo "$TMP"/rings/w-*.tnf)\$" shared || fail "it maps something else: $(cat shared)"
rm rings/*

# The file system keeps a tenth and 1 GiB, and no ring takes a quarter of what is left.
while read -r want total left; do
	TOTAL=$total FREE=$left ./wanted
	[ "$(rings rings)" -eq "$want" ] || fail "$left kbytes of $total: $(rings rings) rings"
	rm -f rings/*
done <<'T'
1 100000000 10000128
0 100000000 10000127
1 5000000 1048704
0 5000000 1048703
0 0 0
T
wanted "$TMP/rings" 419430400
TOTAL=5000000 FREE=1500000 ./wanted
no_ring "more than a quarter"
wanted "$TMP/rings"
# Memory would be the program's.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && shm=$(mktemp -d /dev/shm/start.XXXXXX); then
	wanted "$shm"
	./wanted
	n=$(rings "$shm")
	rm -rf "$shm"
	[ "$n" -eq 0 ] || fail "a ring in memory"
	wanted "$TMP/rings"
fi

# A filter that kills for what the start of a program does not need.
# The sanitizer's runtime makes these calls itself.
if [ -z "$SANITIZE" ]; then
	# shellcheck disable=SC2086
	env $plenty ./nolib/wanted filter "$(./nolib/wanted calls)" ./wanted
	rc=$?
	[ $rc -eq 0 ] || [ $rc -eq 77 ] || fail "with a filter it ends with $rc"
	no_ring "with a filter"
fi

# Loaded by main().
run ./nolib/wanted load "$lib"
no_ring "loaded later"
# Preloaded: the sanitizer's runtime would have to come first.
if [ -z "$SANITIZE" ]; then
	run env LD_PRELOAD="$lib" ./nolib/wanted
	[ "$(rings rings)" -eq 1 ] || fail "no ring of a library that is preloaded"
	rm rings/*
fi

# Without the directory, with one that others may write to, and with a text that is none or ends
# too early, the program starts as ever, with its standard input.
copies() {
	[ "$(echo line | run ./wanted copy)" = line ] || fail "$1: its standard input is not there"
	no_ring "$1"
}
TNF_WATCH=$TMP/nowhere copies "without the directory"
chmod 777 run
copies "with a directory that others may write to"
chmod 755 run
while IFS= read -r text; do
	# shellcheck disable=SC2059  # it is the format
	printf "$text" >run/start
	copies "with the text $text"
done <<'T'

tnf
tnf-start 1
tnf-start 1\n
tnf-start 1\nrings x\n
tnf-start 1\npidns 1\n
tnf-start 2\npidns 1\nrings x\n
T
wanted "$TMP/rings"

# A controller gives the program a file when the library has seen that it has none, or while
# it sets up the ring: the controller's stays.
for by in call name late; do
	run env BY=$by "GIVEN=$TMP/given" ./wanted
	[ -e given ] || fail "by $by: nothing given"
	[ "$(work given)" -eq 2 ] || fail "by $by: its events are not there"
	no_ring "by $by"
	rm given
done
# All is as at the beginning, so each of them was refused for what it was.
run ./wanted
[ "$(rings rings)" -eq 1 ] || fail "no ring at the end"
exit 0
