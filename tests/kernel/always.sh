#!/bin/sh
# always.sh - keys and $always attach what their probes need, and no more: none of
# $always hangs on system calls, wake-ups, switches or every page fault's end;
# physio only where a raw device is open or somebody names it.
. "$(dirname "$0")/kernel.sh"
need_program losetup

prex=$TNF_BUILD/prex/prex
link=/sys/fs/bpf/tnf/link
at_exit kernel_off
ask() { "$prex" -k -c "$1" >"$TMP/out" 2>&1 </dev/null || fail "$1: $(cat "$TMP/out")"; }
# attached SELECTORS: the programs that are attached for them, in a line
attached() {
	ask "untrace \$all; disable \$all; trace $1; enable $1; ktrace on"
	find $link -type f -printf '%f\n' | sed 's/-[0-9]*$//' | sort -u | tr '\n' ' '
	ask 'ktrace off'
}
is() { [ "$2" = "$3" ] || fail "$1: \"$2\", should be \"$3\""; echo "ok: $1: $2"; }
without() { case " $2 " in *" $3 "*) fail "$1: $3 is attached";; esac; }

ask 'buffer alloc 1m'
# Another's raw device would attach physio: then there is nothing to compare.
raw_open() {
	for _f in /proc/[0-9]*/fd/*; do
		[ -b "$_f" ] && awk '/^flags/ { d = int($2 / 40000) % 2 } END { exit !d }' \
			"${_f%/fd/*}/fdinfo/${_f##*/}" 2>/dev/null && return 0
	done
	return 1
}

always=$(attached '$always')
for p in context_switch wakeup syscall_start syscall_end physio_start fault_counted minor_done page_alloc swap_count; do
	without '$always' "$always" $p
done
if [ -d /sys/kernel/tracing/events/filemap/mm_filemap_fault ]; then
	without '$always' "$always" user_fault
	without '$always' "$always" kernel_fault
fi
wanted="thread_create thread_exit bio_queue request_done"
case " $always " in
*" swap_write "*|*" swap_write_page "*) ;;
*) fail "\$always: no swap_write" ;;
esac
if [ -z "$(unavailable major_fault)" ]; then
	wanted="$wanted cache_add"
else
	echo "not looked for: cache_add: $(unavailable major_fault)"
fi
for p in $wanted; do
	case " $always " in *" $p "*) ;; *) fail "\$always: no $p";; esac
done
echo "ok: \$always: $always"

if ! raw_open; then
	is "io" "$(attached io)" "bio_done bio_queue remember_exec remember_exit remember_fork remember_name request_done "
	is "blockio" "$(attached blockio)" "bio_done bio_queue remember_exec remember_exit remember_fork remember_name request_done "
fi
is "rawio" "$(attached rawio)" "physio_end physio_start remember_exec remember_exit remember_fork remember_name "
is "by name" "$(attached name=physio_start)" "physio_end physio_start remember_exec remember_exit remember_fork remember_name "
ask 'disable rawio'
image=${TNF_TEST_DIR:-$TNF_BUILD}/always-image.$$
at_exit "[ -z \$loop ] || losetup -d \$loop; rm -f $image"
loop=
truncate -s 1M "$image" || skip "no room for an image"
loop=$(losetup -f --show "$image" 2>/dev/null) || skip "no loop device"
exec 7<"$loop"
raw_open || is "io, a device open but not raw" "$(attached io)" \
	"bio_done bio_queue remember_exec remember_exit remember_fork remember_name request_done "
exec 7<&-
mkfifo "$TMP/fifo"
dd if="$TMP/fifo" of="$loop" oflag=direct bs=4096 count=1 2>/dev/null & dd=$!
exec 7>"$TMP/fifo"
wait_for 60 raw_open || fail "dd has no raw device open"
is "io, a raw device open" "$(attached io)" \
	"bio_done bio_queue physio_end physio_start remember_exec remember_exit remember_fork remember_name request_done "
exec 7>&-
wait $dd
ask 'buffer dealloc'
