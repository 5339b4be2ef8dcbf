#!/bin/sh
# keys.sh - keystrokes in, screen out: editing, history, completion, paste,
# Ctrl-C and Ctrl-Z, window sizes.
#
# usage: keys.sh PREX PTY [SCRIPT ...]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
prex=$(realpath "$1") pty=$(realpath "$2"); shift 2
tables=$TNF_SOURCE/tests/prex here=$TNF_SOURCE/tests/prex/keys
export HOME="$TMP/home" XDG_STATE_HOME="$TMP/state" PS1='sh$ '
export PREX_FAKE=kernel.table TERM=xterm
# libedit does not free what Ctrl-R searched for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export TMPDIR=/nowhere	# no trace file by chance
unset ENV EDITRC
mkdir "$HOME" "$TMP/desk"
cp "$tables"/*.table "$TMP/desk"
ln -s "$prex" "$TMP/desk/prex"
cd "$TMP/desk" || exit 1
PATH=$TMP/desk:$PATH
[ $# -gt 0 ] || set -- edit complete paste resize interrupt kernel dumb stop \
	history-1 history-2

bad=0
for name; do
	case $name in history-2) ;; *) rm -rf "$XDG_STATE_HOME" ;; esac
	case $name in
	kernel)	set -- prex -k ;;
	stop)	set -- sh -i ;;
	*)	set -- prex parser.table ;;
	esac
	term=xterm
	[ "$name" != dumb ] || term=dumb
	if TERM=$term "$pty" "$here/$name.pty" "$@"; then
		echo "ok: $name"
	else
		bad=1
	fi
done
# The history is for its user alone.
[ "$(stat -c %a "$XDG_STATE_HOME/prex/history" 2>/dev/null || echo 600)" = 600 ] ||
	fail "the history can be read by others"
exit $bad
