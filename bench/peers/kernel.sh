# kernel.sh - files of system calls by perf and trace-cmd.  Sourced after lib.sh.

# perf_file FILE CALLS: enter and exit of CALLS calls of getppid, to perf.data
perf_file()
{
	perf record -q -m 32M -o "$1" -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit \
	    "$BENCH_BUILD/bench/kernel/kernel-loop" "$2" 0 >/dev/null 2>&1
}

# tracecmd_file FILE CALLS: the same from an instance of the tracefs ring
tracecmd_file()
{
	_ring=/sys/kernel/tracing/instances/tnf-bench
	mkdir "$_ring" 2>/dev/null || return 1
	echo 65536 >"$_ring/buffer_size_kb"
	echo "common_pid != $$" >"$_ring/events/raw_syscalls/filter"
	echo 1 >"$_ring/events/raw_syscalls/enable"
	"$BENCH_BUILD/bench/kernel/kernel-loop" "$2" 0 >/dev/null
	echo 0 >"$_ring/tracing_on"
	sh "$bench_dir/peers/trace-cmd.sh" extract -B tnf-bench --compression none -o "$1" >/dev/null 2>&1
	_status=$?
	[ ! -d "$_ring" ] || rmdir "$_ring"
	return $_status
}
