#!/bin/sh
# crash.sh - a virtual machine that is traced crashes, or is reset: what was recorded last
# is taken from its memory.
#
# usage: crash.sh KERNEL DIR dump|reboot
#
# KERNEL is an unpacked kernel package, see boot.sh.  In the machine every probe of the
# kernel is on, and a program with probes and a load run.
#
# dump		it crashes by sysrq-c.  Its memory in each format of QEMU's
#		dump-guest-memory, as plain bytes, and compressed by makedumpfile in each
#		way: the kernel's trace is the same in all of them, the program's where the
#		page cache is in it.  Says how long before the crash the last event was.
#		Each dump, cut short and damaged, gives a message.
# reboot	it is reset and starts anew: tnfxtract --previous-boot.
#
# DIR gets some 10 GB, in a few minutes.  Needs what boot.sh needs, makedumpfile, python3.
set -u
[ $# -eq 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
kernel=$(realpath "$1") part=$3
mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit 1
: "${TNF_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TNF_BUILD:=$TNF_SOURCE/build}"
export TNF_SOURCE TNF_BUILD TNF_APPEND TNF_QEMU TNF_REBOOT
x=$TNF_BUILD/tnfxtract/tnfxtract dump=$TNF_BUILD/tnfdump/tnfdump
rc=0
bad() { echo "FAIL: $*"; rc=1; }
die() { echo "FAIL: $*"; exit 1; }

cat >"$dir/guest.sh" <<'END'
prex=$TNF_BUILD/prex/prex x=$TNF_BUILD/tnfxtract/tnfxtract dump=$TNF_BUILD/tnfdump/tnfdump
part=$1
cd /scratch
if [ -e traced ]; then
	rm traced
	echo "boot before: $(cat boot), now $(cat /proc/sys/kernel/random/boot_id)"
	$x --previous-boot --files files kernel.tnf; echo "previous-boot: exit status $?"
	for f in kernel.tnf files/*; do
		echo "== $f"
		$dump --info $f | grep -iE 'events|boot|lost|first|last|span|blocks' | head -20
		$dump $f | tail -2
	done
	for f in before.tnf program-before.tnf; do
		echo "== $f, copied before the reset: $($dump $f | wc -l) lines"
		$dump $f | tail -1
	done
	for f in kernel.tnf files/*; do echo "== $f: $($dump $f | wc -l) lines"; done
	exit
fi
$prex -k -c 'buffer alloc 4m; trace $all; enable $all; ktrace on' || exit
LD_PRELOAD=$TNF_BUILD/libtnfprobe/libtnfprobe.so TNF_ENABLE='$all' TNF_FILE=/scratch/program.tnf TNF_SIZE=1m \
	$TNF_BUILD/examples/bakery -s 3600 >/dev/null &
pid=$!
(while :; do dd if=/dev/zero of=load bs=64k count=64 conv=fsync 2>/dev/null; ls -lR /etc >/dev/null; done) &
n=0
until [ "$n" -ge 100 ]; do
	sleep 1
	n=$($dump program.tnf 2>/dev/null | grep -c ' order_end ')
done
cat /proc/kallsyms >kallsyms
cat /proc/sys/kernel/random/boot_id >boot
echo "program $pid, $n orders"
case $part in
dump)	sync -f kallsyms
	echo c >/proc/sysrq-trigger ;;
reboot)	$x before.tnf; cp program.tnf program-before.tnf
	touch traced; sync -f traced
	echo b >/proc/sysrq-trigger ;;
esac
END

# The monitor's answer to a command, which may take long.
monitor() {
	python3 - "$dir/monitor" "$1" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(600)

def answer():
    seen = b""
    while not seen.endswith(b"(qemu) "):
        got = s.recv(4096)
        if not got:
            break
        seen += got
answer()
s.sendall(sys.argv[2].encode() + b"\n")
answer()
END
}

boot() {
	rm -f "$dir/monitor"
	sh "$TNF_SOURCE/tests/kernel/boot.sh" "$kernel" "sh $dir/guest.sh $part" >"$dir/console" 2>&1 &
	machine=$!
}

if [ "$part" = reboot ]; then
	TNF_REBOOT=1 TNF_APPEND='' TNF_QEMU=''
	boot
	wait $machine
	tr -d '\r' <"$dir/console" | sed -n '/^Linux/,$p'
	grep -q '^previous-boot: exit status 0' "$dir/console" || bad "no trace of the boot before"
	exit $rc
fi

TNF_REBOOT='' TNF_APPEND='panic=0'
TNF_QEMU="-monitor unix:$dir/monitor,server=on,wait=off -device vmcoreinfo"
boot
for _ in $(seq 1200); do
	! grep -q 'end Kernel panic' "$dir/console" || break
	kill -0 $machine 2>/dev/null || die "the machine has ended: see $dir/console"
	sleep 1
done
grep -q 'end Kernel panic' "$dir/console" || die "no crash: see $dir/console"
for format in elf: zlib:-z lzo:-l snappy:-s; do
	rm -f "$dir/${format%:*}"
	monitor "dump-guest-memory ${format#*:} $dir/${format%:*}"
done
monitor "pmemsave 0 0x80000000 $dir/raw"
disk=$(ls -t "${TMPDIR:-/tmp}"/tnf-boot.*/disk | head -1)
e2fsck -fp "$disk" >/dev/null 2>&1	# what is in its journal
debugfs -R "dump /kallsyms $dir/kallsyms" "$disk" 2>/dev/null
debugfs -R "dump /program.tnf $dir/program.disk.tnf" "$disk" 2>/dev/null
monitor quit
wait $machine
# QEMU 7.2 has section headers in front of the program headers, which makedumpfile 1.7.2
# looks for right behind the file's: they are moved there.
cp "$dir/elf" "$dir/elf.moved" && chmod 600 "$dir/elf.moved" && python3 - "$dir/elf.moved" <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as f:
    head = bytearray(f.read(64))
    at, = struct.unpack_from("<Q", head, 32)
    count, = struct.unpack_from("<H", head, 56)
    f.seek(at)
    table = f.read(56 * count)
    struct.pack_into("<QQ", head, 32, 64, 0)
    struct.pack_into("<H", head, 52, 64)
    struct.pack_into("<HH", head, 60, 0, 0)
    f.seek(0)
    f.write(head + table)
END
for way in c l p z; do
	rm -f "$dir/makedumpfile-$way"
	makedumpfile -d 31 -$way "$dir/elf.moved" "$dir/makedumpfile-$way" >"$dir/makedumpfile.log" 2>&1 ||
		echo "makedumpfile -d 31 -$way: $(tail -1 "$dir/makedumpfile.log")"
done
rm -f "$dir/makedumpfile-17"
makedumpfile -d 17 -l "$dir/elf.moved" "$dir/makedumpfile-17" >"$dir/makedumpfile.log" 2>&1

# Of the last event: seconds since the machine was started.
last() {
	"$dump" --to json "$1" 2>/dev/null | tail -1 |
		sed -n 's/.*"time": *\([0-9]*\).*/\1/p' | awk '{ printf "%.6f", $1 / 1e9 }'
}

echo "$(tr -d '\r' <"$dir/console" | grep -a -m1 'Trigger a crash')"
for d in elf zlib lzo snappy raw makedumpfile-c makedumpfile-l makedumpfile-p makedumpfile-z makedumpfile-17; do
	[ -s "$dir/$d" ] || continue
	rm -rf "$dir/$d.files"
	set -- -d "$dir/$d"
	[ ! -s "$dir/kallsyms" ] || set -- "$@" -n "$dir/kallsyms"
	"$x" "$@" --files "$dir/$d.files" "$dir/$d.tnf" 2>"$dir/$d.err"
	status=$?
	"$x" --no-context -d "$dir/$d" "$dir/$d.bare" 2>/dev/null || bad "$d: $(cat "$dir/$d.err")"
	cmp "$dir/$d.bare" "$dir/elf.bare" || bad "$d: another trace than in the ELF dump"
	program=$(ls "$dir/$d.files" 2>/dev/null | head -1)
	printf '%s: %s bytes, status %s, %s events, last at %s s; program: %s\n' "$d" "$(stat -c %s "$dir/$d")" $status \
		"$("$dump" "$dir/$d.tnf" | grep -c '[0-9] 0x')" "$(last "$dir/$d.tnf")" \
		"${program:+$("$dump" "$dir/$d.files/$program" | wc -l) lines, last at $(last "$dir/$d.files/$program") s}"
	sed 's/^/    /' "$dir/$d.err" | head -5
done
echo "program's file on the disk: $("$dump" "$dir/program.disk.tnf" 2>&1 | wc -l) lines, last at $(last "$dir/program.disk.tnf") s"
"$dump" --info "$dir/elf.tnf" | head -30

# Cut short, and damaged in the middle: an answer, never a signal.
for d in elf zlib lzo snappy makedumpfile-c makedumpfile-l; do
	[ -s "$dir/$d" ] || continue
	for part in 9 5 2; do
		head -c $(($(stat -c %s "$dir/$d") * part / 10)) "$dir/$d" >"$dir/short"
		"$x" --no-context -d "$dir/short" "$dir/out" 2>"$dir/err"
		status=$?
		[ $status -le 1 ] && { [ $status -eq 0 ] || [ -s "$dir/err" ]; } || bad "$d, $part tenths: status $status"
		echo "$d, $part tenths: status $status: $(head -1 "$dir/err")"
	done
done
rm -f "$dir/elf.moved" "$dir/short" "$dir/out" "$dir/err"
exit $rc
