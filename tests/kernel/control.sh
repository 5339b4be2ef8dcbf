#!/bin/sh
# control.sh - who may control, what outlives whom, and that nothing is left.
. "$(dirname "$0")/kernel.sh"

dir=/sys/fs/bpf/tnf
at_exit kernel_off
links() { ls $dir/link 2>/dev/null | wc -l; }

# our_maps: the ids of the maps that are pinned, or that our programs use.
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
our_maps() {
	[ -x "$bpftool" ] || return
	for _pin in $dir/* $dir/link/*; do
		"$bpftool" map show pinned "$_pin" | sed -n 's/^\([0-9]*\):.*/\1/p'
		_prog=$("$bpftool" link show pinned "$_pin" | sed -n 's/.*  prog \([0-9]*\).*/\1/p')
		[ -z "$_prog" ] ||
			"$bpftool" prog show id "$_prog" | sed -n 's/.*map_ids \([0-9,]*\).*/\1/p' | tr , '\n'
	done 2>/dev/null | sort -u
}

# Without a buffer.
"$kpctl" on 2>"$TMP/err" && fail "tracing without a buffer"
grep -q 'No such file' "$TMP/err" || fail "$(cat "$TMP/err")"
[ ! -e $dir ] || fail "a session that changed nothing left $dir"
echo "ok: no buffer"

# A request is remembered before there is a buffer.
"$kpctl" enable syscall_start && "$kpctl" alloc 400000 >"$TMP/size" || fail "alloc"
equal "size" "$(cat "$TMP/size")" 401408
# libbpf would read the kernel's types again for each load.
[ ! -x "$(command -v strace)" ] || {
	"$kpctl" dealloc && strace -o "$TMP/calls" -e trace=openat "$kpctl" alloc 400000 >"$TMP/size" || fail "alloc"
	equal "readings of the kernel's types" "$(grep -c /sys/kernel/btf/vmlinux "$TMP/calls")" 1
	"$kpctl" enable syscall_start || fail "enable"
}
equal "pins are ours only" "$(find $dir -perm /077 | wc -l)" 0
"$kpctl" list | grep -q 'name syscall_start;.* enabled traced' || fail "forgotten"
equal "attached while off" "$(links)" 0
"$kpctl" alloc 400000 2>"$TMP/err" && fail "a second buffer"
mv $dir/prog/syscall_start $dir/prog/away
"$kpctl" on 2>"$TMP/err" && fail "on without a program"
grep -q 'prog/syscall_start: No such file' "$TMP/err" || fail "no reason: $(cat "$TMP/err")"
mv $dir/prog/away $dir/prog/syscall_start
"$kpctl" on
equal "attached: what the probe needs, and what follows exits and execs" "$(links)" 5
"$kpctl" dealloc 2>"$TMP/err" && fail "removed while tracing"

# A killed session changes nothing; the buffer fills.
mkfifo "$TMP/fifo"
"$kpctl" hold <"$TMP/fifo" >"$TMP/held" 2>&1 & holder=$!
exec 8>"$TMP/fifo"
wait_for 60 grep -q held "$TMP/held" || fail "hold"
"$kpctl" status 2>"$TMP/err" && fail "two sessions"
grep -q 'another session' "$TMP/err" || fail "$(cat "$TMP/err")"
echo "ok: one session at a time"
"$kpctl" copy "$TMP/before" || fail "reading beside a session"
kill -9 $holder; wait $holder 2>/dev/null
exec 8>&-
"$work" syscalls 2000 >/dev/null
"$kpctl" status >"$TMP/status" || fail "status after a kill"
grep -q 'tracing 1' "$TMP/status" || fail "$(cat "$TMP/status")"
"$kpctl" copy "$TMP/after"
cmp -s "$TMP/before" "$TMP/after" && fail "tracing ended with the session"
echo "ok: tracing outlives the session"

# The filter: the process in the set, and no other.
"$kpctl" filter add 1 && "$kpctl" filter on
"$kpctl" off; "$kpctl" dealloc
"$kpctl" enable syscall_start && "$kpctl" alloc 4000000 >/dev/null && "$kpctl" filter on || fail "alloc"
"$kpctl" filter add $$ || fail "filter add"
"$kpctl" filter add 999999999 2>/dev/null && fail "a process that is none"
traced "$work" syscalls 100
equal "events of a process outside" "$(count "$(said pid)" syscall_start)" 0
within "events of ours" "$(count $$ syscall_start)" 1 1000
equal "events of others" "$(awk -v p=$$ '$1 != p' "$TMP/events" | wc -l)" 0
sleep 30 & child=$!
"$kpctl" filter add $child
equal "in the set" "$("$kpctl" filter list | wc -l)" 2
"$kpctl" on; kill $child; wait $child 2>/dev/null
our_maps >"$TMP/ours"
"$kpctl" off
equal "who exits leaves it" "$("$kpctl" filter list | wc -l)" 1

# Pins of somebody else are not believed, but can be removed.
rm $dir/state
if [ -x "$bpftool" ]; then
	"$bpftool" map create $dir/state type array key 4 value 8 entries 1 name other || fail bpftool
	"$kpctl" enable syscall_end 2>"$TMP/err" && fail "believed foreign pins"
	grep -q 'another version' "$TMP/err" || fail "$(cat "$TMP/err")"
	"$kpctl" status | grep -q '^state 2' || fail "foreign pins not reported"
	echo "ok: foreign pins"
	# Their elements are larger than ours: nothing is read into less room.
	"$kpctl" dealloc
	"$kpctl" alloc 400000 >/dev/null && "$kpctl" enable syscall_end || fail "no buffer after foreign pins"
	rm -f $dir/asked
	# shellcheck disable=SC2046	# each byte is a word
	"$bpftool" map create $dir/asked type hash key 4 value 9000 entries 4 name other flags 1 &&
		"$bpftool" map update pinned $dir/asked key 0 0 0 0 value $(yes 65 | head -9000) || fail bpftool
	"$kpctl" status >"$TMP/out" 2>&1 || fail "larger elements: status $?: $(cat "$TMP/out")"
	grep -q '^state 2' "$TMP/out" || fail "larger elements not reported: $(cat "$TMP/out")"
	"$kpctl" dealloc
	"$kpctl" alloc 400000 >/dev/null || fail "no buffer after larger elements"
	rm -f $dir/rules
	"$bpftool" map create $dir/rules type hash key 400 value 9000 entries 4 name other flags 1 || fail bpftool
	"$kpctl" status >"$TMP/out" 2>&1 || fail "larger rules: status $?: $(cat "$TMP/out")"
	grep -q '^state 2' "$TMP/out" || fail "larger rules not reported: $(cat "$TMP/out")"
	echo "ok: larger elements"
fi
"$kpctl" dealloc || [ ! -x "$bpftool" ] || fail "foreign pins stay"
rm -rf $dir
[ ! -e $dir ] || fail "$dir is left"
# Others on this machine may have maps of these names.
gone() { ! "$bpftool" map 2>/dev/null | sed 's/:.*//' | grep -qxFf "$TMP/ours"; }
if [ -x "$bpftool" ]; then
	[ "$(wc -l <"$TMP/ours")" -ge 3 ] || fail "which maps are ours?"
	wait_for 60 gone || fail "maps are left"
fi
echo "ok: nothing is left"

# Without the capabilities: who says no, and why.
if command -v setpriv >/dev/null; then
	setpriv --bounding-set -all --inh-caps -all "$kpctl" enable syscall_start 2>"$TMP/err" &&
		fail "works without capabilities"
	grep -q 'CAP_BPF' "$TMP/err" || fail "$(cat "$TMP/err")"
	setpriv --reuid 65534 --clear-groups "$kpctl" enable syscall_start 2>"$TMP/err" &&
		fail "works for anybody"
	grep -q 'no permission\|ermission denied' "$TMP/err" || fail "$(cat "$TMP/err")"
	few() { setpriv --bounding-set=-all,+bpf,+perfmon --inh-caps -all "$kpctl" "$@" >"$TMP/out" 2>&1; }
	few alloc 400000 && few enable thread_state#2 thread_block pagein && few on &&
		few off || fail "CAP_BPF and CAP_PERFMON: $(cat "$TMP/out")"
	echo "ok: CAP_BPF and CAP_PERFMON suffice"
	# Only the end of a fault is a perf event, which some want more for.
	if [ -n "$(unavailable thread_state)" ]; then
		echo "no end of a fault here: not tried"
	elif ! few enable thread_state; then
		fail "enable: $(cat "$TMP/out")"
	elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
		# Debian asks for more than CAP_PERFMON then, Ubuntu does not.
		few on || grep -q 'perf_event_paranoid is' "$TMP/out" || fail "$(cat "$TMP/out")"
	else
		few on || fail "thread_state: $(cat "$TMP/out")"
	fi
	few off && few dealloc || fail "$(cat "$TMP/out")"
	echo "ok: who may have perf events"
fi
