#!/bin/sh
# probes.sh - which of the kernel's probes can be had here: each is switched on by itself
# while tracing is on, which attaches its programs.  One a line, separated by tabs:
# kernel, machine, probe, which of that name, "yes" or why not.
#
# usage: TNF_BUILD=build probes.sh >>tests/kernel/probes.tsv
#
# The table in tnf_kernel_probes(7) is made from these lines: probes-man.sh.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex

at_exit kernel_off
"$kpctl" alloc 1000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" set rawio 1 && "$kpctl" on || fail "on"
kernel=$(uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/') machine=$(uname -m)

# row PROBE N COMMAND...: what came of the command
row() {
	probe=$1 n=$2
	shift 2
	if "$@" >"$TMP/out" 2>&1; then
		answer=yes
	else
		answer=$(tail -n 1 "$TMP/out")
	fi
	printf '%s\t%s\t%s\t%s\t%s\n' "$kernel" "$machine" "$probe" "$n" "$answer"
}

"$kpctl" list | sed -n 's/^[0-9]* name \([a-z_]*\);.*/\1/p' | awk '{ print $1, ++n[$1] }' >"$TMP/rows"
while read -r name n; do
	why=$("$kpctl" list | sed -n "s/^[0-9]* name $name;.*/&/p" | sed -n "${n}p" |
		sed -n 's/.*;unavailable \([^;]*\);.*/\1/p')
	if [ -n "$why" ]; then
		printf '%s\t%s\t%s\t%s\t%s\n' "$kernel" "$machine" "$name" "$n" "$why"
		continue
	fi
	row "$name" "$n" "$kpctl" enable "$name#$n"
	"$kpctl" disable "$name#$n" || fail "disable $name#$n"
done <"$TMP/rows"

ask() { "$prex" -k -c "$1" </dev/null; }
for name in syscall_args syscall_path syscall_fd; do
	row $name 1 ask "enable name=$name; trace name=$name"
	ask "disable name=$name; untrace name=$name" >"$TMP/out" 2>&1 || fail "$(cat "$TMP/out")"
done
# attached COMMAND: it leaves a link
attached() { ask "$1" && [ -n "$(ls /sys/fs/bpf/tnf/import)" ]; }
row tracepoints 1 attached 'enable sched.sched_process_exec; trace sched.sched_process_exec'
ask 'disable sched.sched_process_exec; untrace sched.sched_process_exec' >"$TMP/out" 2>&1
row functions 1 attached "import '$work'; trace function=main; enable function=main"
