#!/bin/sh
# filter-rules.sh - pfilter by the name of a program, by cgroup, with children, and
# all but these: processes that come, move and change their name go in and out.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$mount" ] || skip "no cgroup2 file system"
group=tnf-test.$$
mkdir -p "$mount/$group/inner" "$mount/$group.other" 2>/dev/null || skip "no group can be made"
at_exit 'for g in "$group/inner" "$group" "$group.other"; do
	while read -r p; do kill -9 "$p"; done <"$mount/$g/cgroup.procs" 2>/dev/null
	wait_for 10 rmdir "$mount/$g" 2>/dev/null; done'

# Each of them exits once, with a name of its own.
for n in aa bb cc dd; do ln -s /bin/true "$TMP/$n" || fail "ln"; done
cp /bin/sh "$TMP/tnf-shell" || fail "cp"

# A shell that moves to a group, then starts what it is told to, one after the other.
cat >"$TMP/load" <<'L'
echo $$ >"$2/$3/cgroup.procs"; "$1/aa"; (exit 1)
echo $$ >"$2/$3/inner/cgroup.procs"; "$1/bb"
echo $$ >"$2/$3.other/cgroup.procs"; "$1/cc"
"$1/tnf-shell" -c '"$0/dd"; exit 0' "$1"
echo $$ >"$2/cgroup.procs"
L

# filtered MODE RULE...: what exits, by the name of the thread, of those above
filtered() {
	mode=$1; shift
	"$kpctl" alloc 2000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
	"$kpctl" enable sched.sched_process_exec || skip "no tracepoint"
	held sh "$TMP/load" "$TMP" "$mount" "$group"
	for r; do
		[ "$r" != children ] || r=children=$held
		"$prex" -k -c "pfilter add $r" >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
	done
	"$prex" -k -c "pfilter $mode; ktrace on" >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
	released
	wait "$held" || fail "load: $(cat "$TMP/err")"
	"$kpctl" off || fail "off"
	dump
	got=$(events - sched.sched_process_exec | sed -n "s|.*filename: \"$TMP/\([a-z]*\).*|\1|p" |
		tr '\n' ' ')
	"$prex" -k -c "pfilter" >"$TMP/shown" 2>&1
	"$kpctl" dealloc
}
is() {
	[ "$got" = "$2" ] || fail "$1: $got, should be $2; $(cat "$TMP/shown")
$(head -n 5 "$TMP/events")"
	echo "ok: $1: $got"
}
filtered on cgroup=/$group
is "by group, with what is in it" "aa bb "
grep -q "^Process filter rule: cgroup=/$group\$" "$TMP/shown" || fail "shown: $(cat "$TMP/shown")"
filtered on "cgroup=/$group/inner" "cgroup=/$group.other"
is "by two groups" "bb cc tnf dd "
filtered on name=tnf-shell
is "by name" "tnf "
filtered on children
is "a process with its children" "aa bb cc tnf dd "
filtered except cgroup=/$group
is "all but a group" "cc tnf dd "
filtered except children
is "all but a process and its children" ""
filtered on unit=$group
is "by a unit, which is a group" "aa bb "

# A pod stands for its group, by its uid or by the name that a node has for it.
uid=1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
pod=$group.other/kubepods-pod$(echo $uid | tr - _).slice
mkdir -p "$mount/$pod/cri-containerd-$id.scope" || fail "mkdir"
for name in $uid shop-7d9f; do
	unshare -m sh -c 'mount -t tmpfs tnf /var/log && mkdir /var/log/containers &&
	    : >"/var/log/containers/shop-7d9f_web_server-$1.log" &&
	    exec "$2" -k -c "buffer alloc 1m; pfilter add pod=$3; pfilter; buffer dealloc"' \
	    sh "$id" "$prex" "$name" >"$TMP/said" 2>&1 || fail "pod=$name: $(cat "$TMP/said")"
	grep -q "^Process filter rule: cgroup=/$pod\$" "$TMP/said" || fail "pod=$name: $(cat "$TMP/said")"
	echo "ok: pod=$name"
done
rmdir "$mount/$pod/cri-containerd-$id.scope" "$mount/$pod"

# A rule applies to a process whose thread was left out so far, and is noted as such (left-out.bpf.h).
cp "$work" "$TMP/tnf-noted" || fail "cp"
"$TMP/tnf-noted" syscalls 2000000000 >/dev/null 2>&1 & noted=$!
at_exit 'kill $noted 2>/dev/null'
trace_begin 8388608 syscall_start
"$kpctl" filter on && "$kpctl" on || fail "on"
sleep 0.3
"$prex" -k -c 'pfilter add name=tnf-noted' >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
sleep 0.3
"$kpctl" off || fail "off"
kill "$noted"
dump
[ "$(events "$noted" syscall_start | wc -l)" -ge 1000 ] || fail "of who was left out until a rule came: $(wc -l <"$TMP/events")"
echo "ok: a rule for a process that runs"
"$prex" -k -c 'pfilter off; pfilter delete name=tnf-noted' >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
"$kpctl" dealloc

# A rule that nobody fits so far is no empty list, also when the buffer goes and comes.
"$prex" -k -c 'pfilter add name=tnf-none; pfilter on; buffer alloc 1m; buffer dealloc; pfilter
buffer alloc 1m; pfilter; pfilter off; pfilter delete name=tnf-none; buffer dealloc' >"$TMP/said" 2>&1 ||
	fail "$(cat "$TMP/said")"
[ "$(grep -cx 'Process filter rule: name=tnf-none' "$TMP/said")" = 2 ] || fail "the rule goes with the buffer: $(cat "$TMP/said")"
grep -q 'list is empty' "$TMP/said" && fail "an empty list: $(cat "$TMP/said")"
echo "ok: a rule stays with its session"

refused() {
	"$prex" -k -c "pfilter add $1" >"$TMP/said" 2>&1
	grep -q "$2" "$TMP/said" || fail "$1: $(cat "$TMP/said")"
	echo "ok: refused: $1"
}
refused cgroup=/nowhere/at.all "no such group"
refused unit=no-such-thing.service "no group of this name"
refused pod=no-such-pod "no pod of this name"
refused size=3 "no rule"
refused children=0 "not the number of a process"
refused cpus=1-0 "no list of CPUs"
refused cpus=0, "no list of CPUs"
refused cpus=99999 "no list of CPUs"

# Without /proc the rules find no process, which is said.
"$prex" -k -c "buffer alloc 4m; pfilter add name=aa" >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
# shellcheck disable=SC2016
unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$kpctl" filter on >"$TMP/said" 2>&1 &&
	fail "filter on without /proc"
grep -q "mount -t proc" "$TMP/said" || fail "without /proc: $(cat "$TMP/said")"
"$prex" -k -c "buffer dealloc" >/dev/null 2>&1
echo "ok: no /proc"

# Only the CPUs of a list record, and the list goes with the buffer.
"$prex" -k --set cpus=0 -c 'buffer alloc 4m; enable keys=syscall; trace keys=syscall; pfilter; ktrace on
	pfilter add cpus=0' >"$TMP/said" 2>&1 || fail "cpus: $(cat "$TMP/said")"
grep -qx 'Process filter rule: cpus=0' "$TMP/said" || fail "cpus: $(cat "$TMP/said")"
for cpu in 0 1; do
	taskset -c $cpu "$TMP/aa" 2>/dev/null || :
done
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/cpus.tnf" || fail "tnfxtract"
"$prex" -k -c 'pfilter add cpus=all; ktrace off; pfilter; buffer dealloc' >"$TMP/said" 2>&1 || fail "$(cat "$TMP/said")"
grep -q cpus "$TMP/said" && fail "all CPUs are a rule: $(cat "$TMP/said")"
[ "$("$tnfdump" --columns cpu "$TMP/cpus.tnf" | awk '$1 ~ "^[0-9]+$" { print $1 }' | sort -u)" = 0 ] ||
	fail "events of other CPUs: $("$tnfdump" --columns cpu "$TMP/cpus.tnf" | sort | uniq -c)"
echo "ok: one CPU records"
"$prex" -k -c "buffer dealloc" >/dev/null 2>&1
[ -z "$(ls -A /sys/fs/bpf/tnf 2>/dev/null)" ] || fail "pins are left"
