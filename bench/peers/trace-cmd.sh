#!/bin/sh
# trace-cmd.sh - trace-cmd where function tracing is locked: trace-cmd.sh ARG...
#
# trace-cmd resets the function tracer before it does anything, and gives up if
# that is not allowed.  In a mount namespace of its own, the files it resets are
# covered by an empty one, and the list of symbols by a copy that stays still.
if [ "${1:-}" != --covered ]; then
	exec unshare -m sh "$0" --covered "$@"
fi
shift
cover=$(mktemp -d) && mount -t tmpfs none "$cover"
cat /proc/kallsyms >"$cover/kallsyms" && mount --bind "$cover/kallsyms" /proc/kallsyms
: >"$cover/empty"
for file in /proc/sys/kernel/ftrace_enabled /sys/kernel/tracing/set_ftrace_filter \
    /sys/kernel/tracing/set_ftrace_notrace /sys/kernel/tracing/set_ftrace_pid; do
	[ ! -e "$file" ] || mount --bind "$cover/empty" "$file"
done
trace-cmd "$@"
status=$?
umount "$cover" 2>/dev/null || umount -l "$cover"
rmdir "$cover"
exit $status
