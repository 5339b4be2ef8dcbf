# shellcheck shell=sh
# as.sh - a second user, and a sticky directory that both may write.
. "${TNF_SOURCE:-../..}/tests/lib.sh"

other=65534
need_root
need_program setpriv
need_ptrace

# as COMMAND...: as the second user, without any capability.
as() {
	setpriv --reuid $other --regid $other --clear-groups \
		--bounding-set=-all env HOME=/nonexistent "$@"
}

# scratch_shared: also $STICKY, like /tmp.
scratch_shared() {
	scratch
	chmod 755 "$TMP"
	STICKY=$TMP/sticky
	mkdir -m 1777 "$STICKY"
	as test -w "$STICKY" || skip "no second user, or TMPDIR is closed to it"
	as test -x "$1" || skip "the second user cannot run $1"
}

bad=0
wrong() { echo "$*"; bad=1; }
# says TEXT FILE: the message is there.
says() { grep -qe "$1" "$2" || { wrong "no \"$1\" in:"; cat "$2"; }; }
mode() { stat -c '%a %u' "$1" 2>/dev/null; }
