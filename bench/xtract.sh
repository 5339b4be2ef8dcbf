#!/bin/sh
# xtract.sh - a snapshot of the kernel's buffer: how long, and what writers feel.
. "$(dirname "$0")/lib.sh"
bin=$BENCH_BUILD
prex=$bin/prex/prex tnfxtract=$bin/tnfxtract/tnfxtract
out=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
undo() {
	[ -z "$load" ] || kill $load 2>/dev/null
	printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >/dev/null 2>&1
	rm -rf "$out"
}
load=
at_exit undo
[ "$(id -u)" -eq 0 ] || { echo "xtract: needs root"; exit 77; }
[ ! -e /sys/fs/bpf/tnf ] || { echo "xtract: the kernel is being traced already"; exit 77; }

# milliseconds CMD...
milliseconds() {
	_t0=$(date +%s%N)
	"$@" >/dev/null 2>&1 || return 1
	_t1=$(date +%s%N)
	echo "$_t0 $_t1" | awk '{ printf "%.2f\n", ($2 - $1) / 1e6 }'
}

# One million system calls on CPU 0, in ns each.
writer() {
	_t0=$(date +%s%N)
	taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=500000 2>/dev/null
	_t1=$(date +%s%N)
	echo "$_t0 $_t1" | awk '{ printf "%.2f\n", ($2 - $1) / 1e6 }'
}
extract_all_the_time() {
	while :; do taskset -c 1 "$tnfxtract" "$out/f" 2>/dev/null; done
}

for mib in 16 64; do
	"$prex" -k >/dev/null 2>&1 <<EOF || exit 1
buffer alloc ${mib}m
trace syscall
enable syscall
ktrace on
EOF
	dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & load=$!
	dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & load="$load $!"
	sleep $((mib / 8 + 1))		# until the buffer is full
	r=1
	while [ $r -le "$BENCH_ROUNDS" ]; do
		sample "$mib MiB, both CPUs writing" ms $r milliseconds "$tnfxtract" "$out/f"
		r=$((r + 1))
	done
	kill $load; load=; sleep 0.2
	r=1
	while [ $r -le "$BENCH_ROUNDS" ]; do
		sample "$mib MiB, quiet" ms $r milliseconds "$tnfxtract" "$out/f"
		sample "$mib MiB, without context" ms $r milliseconds "$tnfxtract" --no-context "$out/f"
		sample "$mib MiB, cp of such a file" ms $r milliseconds cp "$out/f" "$out/g"
		r=$((r + 1))
	done
	if [ $mib -eq 16 ]; then
		r=1
		while [ $r -le "$BENCH_ROUNDS" ]; do
			sample "1 M calls traced" ms $r writer
			extract_all_the_time & load=$!
			sample "1 M calls traced, and extracted" ms $r writer
			kill $load; wait $load 2>/dev/null; load=
			r=$((r + 1))
		done
	fi
	printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >/dev/null 2>&1
done
table "16 MiB, cp of such a file" "snapshots into tmpfs"
