#!/bin/sh
# rc.sh - commands of a .prexrc that somebody else had a hand in are not run.
#
# usage: rc.sh PREX VICTIM
. "${TNF_SOURCE:-../..}/tests/security/as.sh"
prex=$(realpath "$1") victim=$(realpath "$2")
scratch_shared "$prex"
HOME=$TMP/home
export HOME
mkdir "$HOME"
cd "$STICKY" || exit 1

# run WHAT yes|no: does the set that .prexrc creates exist?
run() {
	"$prex" -s 128 -o "$TMP/t" -c 'list sets; quit kill' "$victim" \
		> "$TMP/out" 2> "$TMP/err" < /dev/null
	grep -q trap "$TMP/out" && found=yes || found=no
	[ $found = "$2" ] || wrong "$1: commands were run: $found"
	[ "$2" = yes ] || says "$3" "$TMP/err"
	rm -f .prexrc
}
commands() { printf 'create $trap keys=trap\n'; }

commands > .prexrc
run "own" yes
as sh -c "echo 'create \$trap keys=trap' > .prexrc"
run "another's" no "belongs to user $other"
commands > .prexrc; chmod 666 .prexrc
run "writable by all" no "others may write"
commands > .prexrc; chmod 664 .prexrc
run "writable by the group" no "others may write"
as sh -c "echo 'create \$trap keys=trap' > theirs; ln -s theirs .prexrc"
run "another's link to its own" no "not read"
commands > "$TMP/mine"
as ln -s "$TMP/mine" .prexrc
run "another's link to ours" no "symbolic link of user $other"
ln -s "$TMP/mine" .prexrc
run "own link" yes
ln -s theirs .prexrc
run "own link to another's" no "belongs to user $other"
mkfifo .prexrc
run "pipe" no "not a regular file"
exit $bad
