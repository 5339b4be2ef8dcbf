#!/bin/sh
# states.sh - a filtered trace tells of the threads in the set what one without a filter
# tells: the same changes of state, and with --states the same times within 1 %.
#
# There is one buffer below each bpffs.  The second one here is in a mount namespace, so
# that both record the same run.
. "$(dirname "$0")/kernel.sh"
need_program nsenter unshare

unshare -m --propagation private sh -c '
	{ umount /sys/fs/bpf 2>/dev/null || :; } && mount -t bpf -o mode=0700 bpf /sys/fs/bpf &&
	: >"$0" && exec sleep 3600' "$TMP/mounted" 9>&- & ns=$!
at_exit "other dealloc >/dev/null 2>&1; kill $ns 2>/dev/null"
wait_for 60 [ -e "$TMP/mounted" ] || skip "no mount namespace with a bpffs of its own"
other() { nsenter -m -r -t "$ns" "$kpctl" "$@"; }

set -- thread_state thread_block thread_create thread_exit
trace_begin 64000000 "$@"
"$kpctl" set stack_depth 0 || fail "set"
other alloc 64000000 >/dev/null || fail "no second buffer"
other set stack_depth 0 && other enable "$@" || fail "enable"

# Threads that wait for a lock, for a pipe, for a CPU, for time; and children.
held sh -c '"$0" mutex 5; "$0" pipe 100; "$0" threads 5; "$0" spin 4 0; sleep 1' "$work"
other filter on && other filter follow "$held" || fail "filter"
"$kpctl" on && other on || fail "on"
released
wait "$held" || fail "the work: $(cat "$TMP/err")"
other off && "$kpctl" off || fail "off"
"$kpctl" status | grep ' lost 0 0 0 0 0 0 0 0 ' >"$TMP/lost" || skip "events were lost: $("$kpctl" status)"
other status | grep ' lost 0 0 0 0 0 0 0 0 ' >"$TMP/lost" || skip "events were lost: $(other status)"

# The events that the processes wrote of themselves: switches away by state, and blocks by reason.
ours() {
	awk 'NR == FNR { ours[$1] = 1; next } !($1 in ours) { next }
		$4 == "thread_block" { print $1, $2, $4, $6 }
		$4 == "thread_state" && $5 == "state:" { print $1, $2, $4, $6 }' \
	    "$TMP/pids" "$TMP/events" | sort >"$1"
}
# sums FILE TRACE: the sum of each column of --states, over all of their threads
sums() {
	"$tnfdump" --states "$2" 2>"$TMP/err" >"$TMP/states" || fail "--states: $(cat "$TMP/err")"
	awk 'NR == FNR { ours[$1] = 1; next } $1 in ours { for (i = 3; i <= 13; i++) s[i] += $i }
		END { for (i = 3; i <= 13; i++) printf "%.3f ", s[i]; print "" }' \
	    "$TMP/pids" "$TMP/states" >"$1"
}

dump
is_whole || skip "64 MB are too few for all that goes on here"
awk -v p="$held" 'BEGIN { ours[p] = 1 }
	$4 == "thread_create" && $1 in ours { ours[$8] = 1 }
	END { for (p in ours) print p }' "$TMP/events" >"$TMP/pids"
ours "$TMP/all"
sums "$TMP/all-times" "$TMP/buf"
other copy "$TMP/buf" && "$tnfdump" "$TMP/buf" >"$TMP/dump" 2>"$TMP/err" || fail "$(cat "$TMP/err")"
lines
ours "$TMP/filtered"
sums "$TMP/filtered-times" "$TMP/buf"

[ "$(wc -l <"$TMP/pids")" -ge 5 ] || fail "processes: $(cat "$TMP/pids")"
[ "$(wc -l <"$TMP/all")" -ge 300 ] || fail "only $(wc -l <"$TMP/all") changes and blocks"
# A sleep between the two switches is in one of them alone.  A waker of a thread that
# goes to sleep takes it from the queue, and so its reason: between one program and the next,
# where an emulated CPU may stand still.
percent=${TNF_SLOW:-1}
apart=$(diff "$TMP/all" "$TMP/filtered" | grep -c '^[<>]')
[ "$apart" -le $(($(wc -l <"$TMP/all") * percent / 100)) ] ||
	fail "not the same: $apart lines: $(diff "$TMP/all" "$TMP/filtered" | head -n 12)"
echo "ok: changes and blocks, the same in both: $(wc -l <"$TMP/all"), but $apart"
echo "all: $(cat "$TMP/all-times")"
echo "set: $(cat "$TMP/filtered-times")"
paste -d ' ' "$TMP/all-times" "$TMP/filtered-times" | awk -v percent="$percent" '{
	n = NF / 2
	for (i = 1; i <= n; i++) {
		d = $i - $(i + n)
		if ((d < 0 ? -d : d) > $1 / 100 * percent)
			exit 1
	}
	exit $1 < 1000
}' || fail "they differ by more than $percent % of the time"
echo "ok: times, within $percent %"
