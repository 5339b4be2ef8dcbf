#!/bin/sh
# wakeup.sh - thread_wakeup names another waker than the true one: the idle thread of the
# woken thread's CPU, a thread that was interrupted, no timer, no disk.
. "$(dirname "$0")/kernel.sh"
need_program losetup

trace_begin 16000000 thread_wakeup thread_state#1 thread_create strategy biodone

# The address of the task of thread $1, by an event that it wrote.
address() { awk -v t="$1" '$2 == t { print $3; exit }' "$TMP/events"; }
# most WHAT N ALL: at least 99 % of them, which are at least 100
most() {
	[ "$3" -ge 100 ] && [ $(($2 * 100)) -ge $(($3 * 99)) ] || fail "$1: $2 of $3"
	echo "ok: $1: $2 of $3"
}

# Two threads that wake each other, each on a CPU of its own, which is idle in between.
for how in pipe tcp; do
	traced "$work" wake-$how 1000
	for pair in "one other" "other one"; do
		# shellcheck disable=SC2086 # two words
		set -- $pair
		waker=$(said "$1") woken=$(address "$(said "$2")")
		# From the first of them to the last: before, the program is read from its disk.
		# On a busy CPU ksoftirqd hands a packet over, for the sender.
		events - thread_wakeup | grep -E "tid: $woken( |\$)" |
			awk -v w="$waker" -v a="by: 5 source: $(address "$waker")" '
			{ all++ }
			$2 == w && !/ by: / || index($0, a) { if (!n++) first = all; last = all }
			END { print n + 0, last - first + 1 }' >"$TMP/counts"
		read -r right all <"$TMP/counts"
		most "$how: wake-ups by the other side" "$right" "$all"
	done
done
# Each thread that is woken, other than a new one, has its waker.
most "wake-ups with a waker" "$(count - thread_wakeup)" $(($(count - thread_state) - $(count - thread_create)))

traced "$work" wake-sleep 100
me=$(address "$(said pid)")
function=$(awk '$3 == "hrtimer_wakeup" { print $1 }' /proc/kallsyms)
within "sleeps that a timer ended" \
	"$(events - thread_wakeup | grep -c "tid: $me by: 3 source: 0x$function\$")" 98 100

image=${TNF_TEST_DIR:-$TNF_BUILD}/wakeup-image.$$
at_exit "[ -z \$loop ] || losetup -d \$loop; rm -f $image"
loop=
truncate -s 1M "$image" || skip "no room for an image"
loop=$(losetup -f --show "$image" 2>/dev/null) || skip "no loop device"
traced "$work" wake-disk 100 "$loop"
me=$(address "$(said pid)")
device=$(awk -F: '{ print $1 * 1048576 + $2 }' "/sys/block/${loop#/dev/}/dev")
events "$(said pid)" strategy | sed -n "s/.*device: $device .*buf: \(0x[0-9a-f]*\) .*/\1/p" | sort -u >"$TMP/bufs"
# A request may be done before the thread sleeps; then nobody is woken.
events - thread_wakeup | grep "tid: $me by: 4 " | sed 's/.*source: //' >"$TMP/sources"
within "reads that the disk ended" "$(grep -cFxf "$TMP/bufs" "$TMP/sources")" 90 100
