#!/bin/sh
# target.sh - the target is short of something, or lives in a world of its own.
#
# usage: target.sh PREX TNFDUMP HITS BARE
#
# BARE is HITS without the library, which prex brings.
BARE=$(realpath "$4")
. "${TNF_SOURCE:-../..}/tests/faults/lib.sh"

# cannot FACT WORD...: the target cannot use its file, prex says why
cannot() {
	fact=$1; shift
	target "$@" ready slow=50
	prex -p $hits -o f -s 65536 -c 'enable $all; continue'
	[ $? -eq 1 ] || wrong "prex's status is not 1"
	says "/f: $fact"
	[ ! -e f ] || wrong "the file is left behind"
	go; survived
	# Under prex the file is open before the target comes to that.
	prex -o f -s 65536 -c 'enable $all; continue' "$HITS" count "$@" hit=5
	grep -q unharmed out || wrong "the target has not survived"
	whole 5 f
	rm -f f
}

what="no descriptor left"
cannot 'Too many open files' fds
what="no memory left"
cannot 'Cannot allocate memory' memory=60000000

for program in "$HITS" "$BARE"; do
	what="strict mode of seccomp: $(basename "$program")"
	prex -o f -c 'enable $all; continue' "$program" count hit=10000 strict
	grep -q unharmed out || wrong "the target has not survived"
	whole 10000 f
	rm -f f
done

what="vm.overcommit_memory=2"
vm=/proc/sys/vm
if is_root && [ -w $vm/overcommit_memory ] &&
    awk '/^CommitLimit/ { limit = $2 } /^Committed_AS/ { used = $2 }
	END { exit limit - used < 2097152 }' /proc/meminfo; then
	old=$(cat $vm/overcommit_memory)
	undo="echo $old > $vm/overcommit_memory"
	echo 2 > $vm/overcommit_memory
	prex -o f -s 65536 -c 'enable $all; continue' "$HITS" count hit=1000
	eval "$undo"; undo=
	grep -q unharmed out || wrong "the target has not survived"
	whole 1000 f
	rm -f f
fi

what="directory that the target does not have"
mkdir root
if is_root; then
	target root=root ready slow=10
	attach -o f
	go; survived
	wait $prex || wrong "prex's status is $?"
	whole 10 f

	what="directory that is another one to the target"
	mkdir -p "root/$TMP"
	target root=root ready slow=10
	attach -o f
	go; survived
	wait $prex || wrong "prex's status is $?"
	whole 10 f

	what="directory that the target's user cannot enter"
	mkdir -m 700 closed
	target user=65534 ready slow=10
	attach -o closed/f
	go; survived
	wait $prex || wrong "prex's status is $?"
	whole 10 closed/f
	[ "$(stat -c '%u %a' closed/f)" = "0 600" ] ||
		wrong "the file is $(stat -c '%U %A' closed/f)"

	if has_mount_spaces; then
		what="mount name space with another directory"
		mkdir other
		rm -f count
		: > said
		unshare -m sh -c 'mount -t tmpfs tmpfs other && exec "$@"' sh \
			"$HITS" "$TMP/count" ready slow=10 < in > said 2>&1 &
		hits=$!
		exec 5> in
		wait_for 60 grep -q ready said
		attach -o other/f
		go; survived
		wait $prex || wrong "prex's status is $?"
		whole 10 other/f

		what="mount name space, and a directory that both have"
		: > said
		unshare -m sh -c 'mount -t tmpfs tmpfs other && exec "$@"' sh \
			"$HITS" "$TMP/count" ready slow=10 < in > said 2>&1 &
		hits=$!
		exec 5> in
		wait_for 60 grep -q ready said
		attach -o f
		go; survived
		wait $prex || wrong "prex's status is $?"
		whole 10 f

		what="pid name space"
		: > said
		unshare -p -f --mount-proc "$HITS" "$TMP/count" ready slow=10 \
			< in > said 2>&1 &
		parent=$!
		exec 5> in
		wait_for 60 grep -q ready said
		hits=$(tr -d " " < "/proc/$parent/task/$parent/children")
		attach -o f
		go; exec 5>&-
		wait $parent || wrong "the target's status is $?"
		grep -qx unharmed said || wrong "the target has not survived"
		wait $prex || wrong "prex's status is $?"
		whole 10 f
	else
		echo "no mount name spaces, a chroot? left out: a target in one"
	fi

	what="root's prex, another user's target, sticky directory"
	mkdir -m 1777 sticky
	target user=65534 ready slow=10
	attach -o sticky/f
	go; survived
	wait $prex || wrong "prex's status is $?"
	whole 10 sticky/f
	[ "$(stat -c '%u %a' sticky/f)" = "0 600" ] ||
		wrong "the file is $(stat -c '%U %A' sticky/f)"

	what="target that changes its user before the first event"
	for mode in 1777 0777; do
		mkdir -m $mode "own$mode"
		prex -o "own$mode/f" -c 'enable $all; continue' "$HITS" \
			"$TMP/count" user=65534 hit=10
		grep -q unharmed out || wrong "$mode: it has not survived"
		says 'exited'
		whole 10 "own$mode/f"
		# The other user may replace the file, but nobody does.
		[ "$(stat -c '%u %a' "own$mode/f")" = "0 600" ] ||
			wrong "$mode: the file is $(stat -c '%U %A' "own$mode/f")"
	done

	what="root's server that serves another user first"
	for program in "$HITS" "$BARE"; do
		rm -f count
		: > said
		"$program" "$TMP/count" ready euid=65534 hit=5 euid=0 hit=5 \
			euid=65534 hit=5 euid=0 hit=5 < in > said 2>&1 &
		hits=$!
		exec 5> in
		wait_for 60 grep -q ready said
		prex -p $hits -o f -c 'enable $all; quit' ||
			wrong "prex's status is $?"
		go; survived
		whole 20 f
		[ "$(stat -c '%u %a' f)" = "0 600" ] ||
			wrong "the file is $(stat -c '%U %A' f)"
		rm -f f
	done
fi
exit $bad
