#!/bin/sh
# xtract.sh - a snapshot of the kernel's buffer: how long, and what writers feel.
#
# Milliseconds on the wall, from exec to exit, into tmpfs.  "load" is a program
# a CPU that does nothing but traced system calls; "cp" copies such a file, as
# the bound that the file system sets.  tnfxtract raises its priority once it runs, so
# under load cp begins at that priority, and tnfxtract both as usual and at cp's.
. "$(dirname "$0")/lib.sh"

tnfxtract=$BENCH_BUILD/tnfxtract/tnfxtract
elapsed=$BENCH_BUILD/bench/elapsed
cpus=$(nproc) pieces=${BENCH_LOOPS:-500000}	# dd makes two calls for each

kernel_lock || exit 77
out=$(mktemp -d -p /dev/shm) || exit 1
load=
undo() {
	[ -z "$load" ] || kill $load 2>/dev/null
	rm -rf "$out"
}
at_exit undo

load_begin() {
	load=
	for cpu in $(seq 0 $((cpus - 1))); do
		taskset -c "$cpu" dd if=/dev/zero of=/dev/null bs=1 2>/dev/null 9>&- &
		load="$load $!"
	done
}
load_end() { kill $load; wait $load 2>/dev/null; load=; }

snapshots() {	# MIB
	load_begin
	sleep $(($1 / 8 + 2))		# until the buffer is full
	while another 20; do
		rm -f "$out/f"
		sample "$1 MiB under load" ms "$round" "$elapsed" "$tnfxtract" "$out/f"
		rm -f "$out/f"
		sample "$1 MiB under load begun at nice -20" ms "$round" nice -n -20 "$elapsed" "$tnfxtract" "$out/f"
		rm -f "$out/g"
		sample "$1 MiB by cp under load" ms "$round" nice -n -20 "$elapsed" cp "$out/f" "$out/g"
	done
	load_end
	while another 20; do
		rm -f "$out/f" "$out/g"
		sample "$1 MiB" ms "$round" "$elapsed" "$tnfxtract" "$out/f"
		sample "$1 MiB by cp" ms "$round" "$elapsed" cp "$out/f" "$out/g"
		rm -f "$out/f"
		sample "$1 MiB no context" ms "$round" "$elapsed" "$tnfxtract" --no-context "$out/f"
	done
}

# One CPU writes, another takes snapshots without a pause, or spins: what is
# left between the two is what a snapshot costs writers.
writers() {
	while another 20; do
		taskset -c 1 sh -c 'while :; do :; done' 9>&- & load=$!
		sample "$((pieces / 500)) k calls traced" ms "$round" "$elapsed" taskset -c 0 \
			dd if=/dev/zero of=/dev/null bs=1 count="$pieces" status=none
		load_end
		taskset -c 1 sh -c "while :; do '$tnfxtract' '$out/f'; done" 2>/dev/null 9>&- & load=$!
		sample "$((pieces / 500)) k calls and snapshots" ms "$round" "$elapsed" taskset -c 0 \
			dd if=/dev/zero of=/dev/null bs=1 count="$pieces" status=none
		load_end
	done
}

sizes="16 64"
[ -z "${BENCH_QUICK:-}" ] || sizes=16
for mib in $sizes; do
	kernel_on ${mib}m syscall || { echo "$bench: prex -k failed" >&2; exit 1; }
	snapshots $mib
	[ $mib -ne 16 ] || [ "$cpus" -lt 2 ] || writers
	kernel_off
done
table "16 MiB by cp" "the kernel's buffer into a file, ms"
