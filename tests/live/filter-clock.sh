#!/bin/sh
# filter-clock.sh - where to read the clock is a system call, no process is attached to whose
# seccomp filter forbids that call; a file in place of the kernel's says that it is one.
# Usage: filter-clock.sh LIVE-FILTER
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_root
need_ptrace
has_mount_spaces || skip "no mount name space can be made"
file=/sys/devices/system/clocksource/clocksource0/current_clocksource
[ -e "$file" ] || skip "no $file"
scratch
echo hpet > "$TMP/clock"
TNF_CLOCK=hpet exec unshare -m sh -c 'mount --bind "$1" "$2" && exec "$3"' sh "$TMP/clock" "$file" "$(realpath "$1")"
