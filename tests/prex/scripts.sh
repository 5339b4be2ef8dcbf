#!/bin/sh
# scripts.sh - the same commands through a pipe, -f, source, -c and a terminal:
# the same answers.
#
# usage: scripts.sh PREX PTY [-u]		-u: write the expected output
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
prex=$(realpath "$1") pty=$(realpath "$2") update=${3:-}
here=$TNF_SOURCE/tests/prex
export HOME="$TMP/home" PREX_FAKE="$here/kernel.table" TMPDIR=/nowhere
unset XDG_STATE_HOME
mkdir "$HOME"
ln -s "$prex" "$TMP/prex"
ln -s "$here/scripts" "$TMP/scripts"
ln -s "$here/parser.table" "$here/plugin.table" "$TMP"
cd "$TMP" || exit 1
PATH=$TMP:$PATH

# The prompt shows only at a terminal, where nothing is printed in its row.
typed() {
	sed "s/^\\(prex> \\)*//; s/^\\(> \\)*//" | tr -d '\r'
}

run() {
	route=$1 script=scripts/$2.prex
	case $2 in kernel*) what=-k ;; replay) what=plugin.table ;; *) what=parser.table ;; esac
	case $route in
	pipe)	prex $what < "$script" ;;
	-f)	prex -f "$script" $what ;;
	-c)	prex -c "$(cat "$script")" $what ;;
	source)	echo "source '$script'" | prex $what ;;
	pty)
		{
			sed 's/\\/\\\\/g; s/^/send /; s/$/\\n/' "$script"
			printf 'eof\nexit 0\nprint\n'
		} > type.pty
		TERM=dumb "$pty" -e type.pty prex $what | typed ;;
	esac 2>&1 | grep -v 'warning: '	# with the place; see mistakes.sh
}

bad=0
for script in scripts/*.prex; do
	name=${script#scripts/} name=${name%.prex}
	expected=$here/scripts/$name.out
	[ -z "$update" ] || run pipe "$name" > "$expected"
	for route in pipe -f -c source pty; do
		run $route "$name" > out && cmp -s out "$expected" && continue
		echo "$name through $route:"
		diff -u "$expected" out | sed 1,2d
		bad=1
	done
done
exit $bad
