#!/bin/sh
# Guards: processes of a control group, of one below it, or of a pod, that are not watched; others
# that are.
# cgroup.sh TNFWATCH SHOP TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_root
need_ptrace
watch_programs "$1" "$2" "$3"

# The hierarchy of version 2, or any of version 1.
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$top" ] || top=$(awk '$3 == "cgroup" { print $2; exit }' /proc/self/mounts)
[ -n "$top" ] || skip "no control groups"
name=tnf-watch-$$
uid=1f2e3d4c-5b6a-4978-8695-$(printf '%012x' $$)
id=$(printf '%s' "$TMP" | sha256sum | cut -c 1-64)
pod=kubepods-$name/burstable/pod$uid
mkdir -p "$top/$name/below" "$top/$name-other" "$top/$pod/$id" 2>/dev/null || skip "no control group can be made here"
leave() {
	watch_kill
	for g in $name/below $name $name-other "$pod/$id" "$pod" "${pod%/*}" "${pod%%/*}"; do
		rmdir "$top/$g"
	done
	test_end
}
trap leave EXIT

# inside GROUP: a shop that is in the group before it begins; SHOPPID is its.
inside() {
	# shellcheck disable=SC2016  # the words are of the inner shell
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 1000' sh "$top/$1" "$SHOP" >/dev/null 2>"$TMP/err" &
	SHOPPID=$!
	STARTED="$STARTED $SHOPPID"
	is_in() { grep -q "/$1\$" "/proc/$SHOPPID/cgroup" && [ "$(cat "/proc/$SHOPPID/comm")" = shop ]; }
	wait_for 60 is_in "$1" || skip "a process cannot be put into a control group: $(cat "$TMP/err")"
}

conf <<T
keep = 5s
[process group]
cgroup = /$name/
enable = order
size = 128k
[process pod]
pod = $uid
enable = order
size = 128k
[trigger hand]
after = 0s
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
# Those that run already, and those that come, are found.
inside $name; first=$SHOPPID
inside $name-other; other=$SHOPPID
watch
inside $name/below; below=$SHOPPID
inside "$pod/$id"; inner=$SHOPPID
is_watched() { answers && grep -q "^$1 .*[1-9]" "$TMP/status"; }
for s in group-$first group-$below pod-$inner; do
	wait_for 120 is_watched "$s" || fail "$s is not watched: $(cat "$TMP/log" "$TMP/status")"
done
fired=$(w fire hand --wait) || fail "not kept: $(cat "$TMP/log")"
jq -r '.sources[] | select(.name != "tnfwatch") | "\(.name) \(.pid)"' "$D/incidents/$fired/incident.json" | sort >"$TMP/had"
printf '%s\n' "group $first" "group $below" "pod $inner" | sort | diff - "$TMP/had" >"$TMP/out" ||
	fail "other processes than meant (not meant: $other): $(cat "$TMP/out")"
stop_watch
echo "2 of a group and below, 1 of a pod, and not the other"
