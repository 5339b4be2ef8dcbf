# shellcheck shell=sh
# objects.sh - the programs, maps and links that are in the kernel for imported probes: how
# many, and whether they go.  They are known by our pins: others on the machine do not count.
need_program bpftool shuf

pins() { find /sys/fs/bpf/tnf/import -type f 2>/dev/null | wc -l; }
# links PROGRAM-ID: their number
links() { bpftool link show 2>/dev/null | grep -c " prog $1 *\$"; }
object_id() { bpftool -j "$1" show pinned "$2" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'; }
program_id() { object_id prog "/sys/fs/bpf/tnf/prog/$1"; }
map_ids() { for _m; do object_id map "/sys/fs/bpf/tnf/$_m"; done; }
object_gone() { ! bpftool "$1" show id "$2" >/dev/null 2>&1; }

# nothing_left PROGRAM-ID MAP-ID...: the kernel has let go of them, and no pin is left.
nothing_left() {
	wait_for 60 object_gone prog "$1" || fail "the program is left"
	shift
	for _m; do wait_for 60 object_gone map "$_m" || fail "map $_m is left"; done
	[ -z "$(ls -A /sys/fs/bpf/tnf 2>/dev/null)" ] || fail "pins are left"
	echo "ok: nothing is left"
}

# killed_soon COMMAND...: wherever it is
killed_soon() {
	"$@" >/dev/null 2>&1 </dev/null &
	sleep "0.$(shuf -n 1 -i 10-99)"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
}
