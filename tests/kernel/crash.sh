#!/bin/sh
# crash.sh - a virtual machine that is traced crashes, or is reset: what was recorded last
# is taken from its memory.
#
# usage: crash.sh KERNEL DIR dump|hang|lockup|kexec|reboot
#
# KERNEL is an unpacked kernel package, of x86-64 or arm64, see boot.sh.  In the machine
# every probe of the kernel is on, and a program with probes and a load run.
#
# dump		it crashes by sysrq-c.  Its memory in each format of QEMU's
#		dump-guest-memory, as plain bytes, and compressed by makedumpfile in each
#		way: the kernel's trace is the same in all of them, the program's where the
#		page cache is in it.  Says how long before the crash the last event was.
#		Each dump, cut short and damaged, gives a message.
# hang		one of its CPUs loops for ever within a system call, by an instruction that
#		is written into its memory; the kernel's watchdog finds that and panics.
#		What was recorded until then, in QEMU's ELF dump.
# lockup	the same with interrupts off, which the kernel's watchdog for hung tasks does not
#		see.  On arm64 each CPU watches another one (HARDLOCKUP_DETECTOR_BUDDY, 6.12);
#		on x86-64 the machine has a watchdog (i6300esb, 6.12), which a program on the
#		CPU that hangs does not feed any more, and which then sends an NMI.
# kexec		it crashes by sysrq-c; the kernel that kexec has put beside takes the trace out
#		of /proc/vmcore, and out of what makedumpfile makes of that.
# reboot	it is reset and starts anew: tnfxtract --previous-boot, and beside it ftrace's
#		ring in reserved memory, where the kernel (6.12) has that.
#
# DIR gets some 10 GB, in a few minutes.  Needs what boot.sh needs, makedumpfile, python3.
#
# A kernel for arm64 needs TNF_ROOT and TNF_BUILD as boot.sh says, and TNF_READER, a build
# for this machine whose programs read the dumps.  makedumpfile and kexec are left out there.
set -u
[ $# -eq 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
kernel=$(realpath "$1") part=$3
case $part in dump|hang|lockup|kexec|reboot) ;; *) echo "crash.sh: $part?" >&2; exit 2 ;; esac
mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit 1
: "${TNF_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TNF_BUILD:=$TNF_SOURCE/build}"
: "${TNF_READER:=$TNF_BUILD}"
export TNF_SOURCE TNF_BUILD TNF_APPEND TNF_QEMU TNF_REBOOT
x=$TNF_READER/tnfxtract/tnfxtract dump=$TNF_READER/tnfdump/tnfdump
rc=0
# The place where the memory begins, and addresses of the kernel's code; the instructions "jump to
# here", and "let no interrupt in".
case $(ls "$kernel/lib/modules") in
*arm64*) machine=arm64 memory=1073741824 code=ffff800000000000
	loop=00000014 deaf=df4203d5 sethostname=161 ;;
*)	machine=x86-64 memory=0 code=ffffffff80000000
	loop=ebfe deaf=fa sethostname=170 ;;
esac
bad() { echo "FAIL: $*"; rc=1; }
die() { echo "FAIL: $*"; exit 1; }

[ "$part $machine" != "kexec arm64" ] || die "kexec: there is no makedumpfile for arm64's dumps here"

cat >"$dir/guest.sh" <<'GUEST'
prex=$TNF_BUILD/prex/prex x=$TNF_BUILD/tnfxtract/tnfxtract dump=$TNF_BUILD/tnfdump/tnfdump
cd /scratch
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
ring=/sys/kernel/tracing/instances/boot_map
if [ -e /proc/vmcore ]; then
	$x -d /proc/vmcore -n kallsyms --files files vmcore.tnf; echo "vmcore: exit status $?"
	$x -d /proc/vmcore --no-context bare.tnf
	for way in c l p z E; do
		makedumpfile -d 31 -$way /proc/vmcore dump 2>&1 | grep -i -e fail -e error
		$x -d dump -n kallsyms dump.tnf; echo "makedumpfile -d 31 -$way: exit status $?, $(stat -c %s dump) bytes"
		$x -d dump --no-context out && cmp out bare.tnf && echo "makedumpfile -d 31 -$way: the same trace"
		$dump --info dump.tnf | sed '1,/^  printed last/d' >lines.$way
		rm -f dump
	done
	$dump --info vmcore.tnf | grep -v -e '^  *[0-9]' -e '^    '
	$dump --info vmcore.tnf | sed '1,/^  printed last/d' >lines
	md5sum lines lines.?
	head -40 lines
	$dump --pretty vmcore.tnf | tail -2
	for f in files/*; do echo "== $f: $($dump $f | wc -l) lines"; $dump $f | tail -1; done
	exit
fi
if [ -e traced ]; then
	rm traced
	echo "boot before: $(cat boot), now $(cat /proc/sys/kernel/random/boot_id)"
	$x --previous-boot --files files kernel.tnf; echo "previous-boot: exit status $?"
	for f in kernel.tnf files/*; do
		echo "== $f"
		$dump --info $f | grep -E 'events|boot:|blocks|time:|dropped|symbols'
		$dump $f | tail -2
	done
	for f in before.tnf program-before.tnf; do
		echo "== $f, copied before the reset: $($dump $f | wc -l) lines"
		$dump $f | tail -1
	done
	for f in kernel.tnf files/*; do echo "== $f: $($dump $f | wc -l) lines"; done
	if [ -e ring-before ]; then
		echo "== ftrace's ring: $(cat ring-before) events before the reset, now $(grep -vc '^#' $ring/trace)"
		awk 'match($0, /\[[0-9][0-9][0-9]\] /) { c = substr($0, RSTART, 5); n[c]++
			split(substr($0, RSTART + 6), f); last[c] = f[2] }
			END { for (c in n) print "cpu", c, n[c], "events, last", last[c] }' $ring/trace
		grep marked $ring/trace | tail -1
		tail -1 $ring/trace
		dmesg | grep -i -e 'ring buffer' -e 'boot_map' -e reserve_mem
	fi
	exit
fi
size=4m
if [ "$part" = reboot ]; then
	size=16m
	if [ -d $ring ]; then
		dmesg | grep -i -e 'ring buffer' -e reserve_mem
		echo 1 >$ring/events/sched/enable
		echo 1 >$ring/events/raw_syscalls/enable
		echo 1 >$ring/tracing_on
	fi
fi
$prex -k -c "buffer alloc $size"' ; trace $all; enable $all; ktrace on' || exit
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
grep -e VmallocUsed -e MemFree /proc/meminfo
echo "program $pid, $n orders"
case $part in
dump|kexec)
	sync -f kallsyms
	[ $part = dump ] || kexec -p "$kernel"/boot/vmlinuz-* --initrd="$(echo "$dir"/tnf-boot.*/initrd)" \
		--append="console=ttyS0 quiet panic=-1 nr_cpus=1 reset_devices" || exit
	echo c >/proc/sysrq-trigger ;;
hang|lockup)
	sync -f kallsyms
	if [ "$part" = hang ]; then
		echo 1 >/proc/sys/kernel/softlockup_panic
	elif [ -e /proc/sys/kernel/unknown_nmi_panic ]; then
		echo 1 >/proc/sys/kernel/unknown_nmi_panic
		modprobe -d "$kernel" i6300esb heartbeat=20 || exit
		taskset -c 1 sh -c 'while :; do echo >&3; sleep 1; done' 3>/dev/watchdog &
	else
		echo 1 >/proc/sys/kernel/hardlockup_panic || exit
	fi
	echo "hang: $(awk '$3 ~ /^__(x64|arm64)_sys_sethostname$/ { print $1 }' /proc/kallsyms)"
	n=0
	while :; do
		echo "$(cut -d' ' -f1 /proc/uptime) s: call $n"
		n=$((n + 1))
		taskset -c 1 hostname guest
		sleep 1
	done ;;
reboot)	$x before.tnf && echo "copied: the kernel's"
	cp program.tnf program-before.tnf && echo "copied: the program's"
	if [ -d $ring ]; then
		cat $ring/per_cpu/cpu*/stats | awk '$1 == "entries:" { n += $2 } END { print n }' >ring-before
		echo marked >$ring/trace_marker
	fi
	touch traced; sync -f traced
	echo "reset after $(cut -d' ' -f1 /proc/uptime) s"
	echo b >/proc/sysrq-trigger ;;
esac
GUEST

# A command of QEMU's monitor with its arguments, which may take long; says what is wrong.
monitor() {
	python3 - "$dir/monitor" "$@" <<'END'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(600)
lines = s.makefile("r")

def execute(command, arguments):
    s.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
    for line in lines:
        answer = json.loads(line)
        if "error" in answer:
            print("%s: %s" % (" ".join(sys.argv[2:]), answer["error"]["desc"]))
        if "error" in answer or "return" in answer:
            break
lines.readline()
execute("qmp_capabilities", {})
execute(sys.argv[2], json.loads(sys.argv[3]))
END
}

# Instructions at an address of the kernel, by QEMU's server for gdb.
write_at() {
	python3 - "$dir/gdb" "$1" "$2" <<'END'
import re, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(60)

def ask(text):
    # The machine stops when we come, which it may tell first.
    s.sendall(b"$%s#%02x" % (text, sum(text) & 255))
    got = b""
    while True:
        answer = re.search(rb"\$([^T#][^#]*)#..", got)
        if answer:
            s.sendall(b"+")
            return answer[1]
        got += s.recv(4096)
print("written: %s" % ask(b"M%s,%x:%s" % (sys.argv[2].encode(), len(sys.argv[3]) // 2,
                                         sys.argv[3].encode())).decode())
ask(b"D")
END
}

boot() {
	rm -rf "$dir/monitor" "$dir/gdb" "$dir"/tnf-boot.*
	TMPDIR=$dir sh "$TNF_SOURCE/tests/kernel/boot.sh" "$kernel" "(part=$part kernel=$kernel dir=$dir
$(cat "$dir/guest.sh")
)" >"$dir/console" 2>&1 &
	booted=$!
}

# until_console TEXT: it is there.
until_console() {
	for _ in $(seq 1800); do
		! grep -aq "$1" "$dir/console" || return 0
		kill -0 $booted 2>/dev/null || die "the machine has ended: see $dir/console"
		sleep 1
	done
	die "no \"$1\": see $dir/console"
}

if [ "$part" = reboot ]; then
	TNF_REBOOT=1 TNF_APPEND='reserve_mem=16M:4096:trace trace_instance=boot_map@trace' TNF_QEMU=''
	boot
	wait $booted
	tr -d '\r' <"$dir/console" | sed -n '/^Linux/,$p'
	grep -aq '^previous-boot: exit status 0' "$dir/console" || bad "no trace of the boot before"
	exit $rc
fi
if [ "$part" = kexec ]; then
	TNF_REBOOT='' TNF_APPEND='crashkernel=320M' TNF_QEMU=''
	boot
	wait $booted
	tr -d '\r' <"$dir/console" | sed -n '/^Linux/,$p'
	grep -aq '^vmcore: exit status 0' "$dir/console" || bad "no trace out of /proc/vmcore"
	[ "$(grep -ac ': the same trace' "$dir/console")" -eq 5 ] || bad "another trace out of a compressed one"
	exit $rc
fi

TNF_REBOOT='' TNF_APPEND='panic=0'
TNF_QEMU="-qmp unix:$dir/monitor,server=on,wait=off -device vmcoreinfo
	-chardev socket,id=gdb,path=$dir/gdb,server=on,wait=off -gdb chardev:gdb"
[ "$part $machine" != "lockup x86-64" ] ||
	TNF_QEMU="$TNF_QEMU -device i6300esb -action watchdog=inject-nmi"
boot
case $part in
hang)	instructions=$loop ;;
lockup)	instructions=$deaf$loop ;;
*)	instructions= ;;
esac
if [ -n "$instructions" ]; then
	until_console '^hang: '
	write_at "$(tr -d '\r' <"$dir/console" | sed -n 's/^hang: //p')" $instructions
fi
until_console 'end Kernel panic'
# A CPU may still take interrupts after the panic.
monitor stop '{}'
formats='elf kdump-zlib kdump-lzo kdump-snappy'
[ "$part" = dump ] || formats=elf
for format in $formats; do
	rm -f "$dir/${format#kdump-}"
	monitor dump-guest-memory '{"paging": false, "protocol": "file:'"$dir/${format#kdump-}"'", "format": "'"$format"'"}'
done
rm -f "$dir/raw"
[ "$part" != dump ] || monitor pmemsave '{"val": '$memory', "size": 2147483648, "filename": "'"$dir/raw"'"}'
disk=$(echo "$dir"/tnf-boot.*/disk)
e2fsck -fp "$disk" >/dev/null 2>&1	# what is in its journal
rm -f "$dir/kallsyms" "$dir/program.disk.tnf"
debugfs -R "dump /kallsyms $dir/kallsyms" "$disk" 2>/dev/null
debugfs -R "dump /program.tnf $dir/program.disk.tnf" "$disk" 2>/dev/null
monitor quit '{}'
wait $booted
[ -s "$dir/elf" ] || die "no dump: see $dir/console"

# The time of the last event: seconds since the machine was started.
last() {
	"$dump" --info "$1" 2>/dev/null | sed -n 's/^  time: .* to \([0-9.]*\)$/\1/p'
}

# The kernel's symbols as a System.map has them, for a kernel at the place that it was built
# for: the names of its addresses are the same by either list.
python3 - "$dir/kallsyms" $code "$(tr -d '\r' <"$dir/console" |
	sed -n 's/.*Kernel Offset: \([^ ]*\).*/\1/p' | tail -1)" >"$dir/System.map" <<'END'
import sys
rows = [line.split() for line in open(sys.argv[1]) if "[" not in line]
code, by = int(sys.argv[2], 16), int(sys.argv[3] or "0", 0)
print("KASLR has moved the kernel by %#x" % by, file=sys.stderr)
for address, kind, name in rows:
    address = int(address, 16)
    print("%016x %s %s" % (address - by if address >= code else address, kind, name))
END
symbols() { grep -a '^symbol .* - ' "$1" | awk -v code=$code '$2 "" >= code ""' | sort -u; }
"$x" -d "$dir/elf" -n "$dir/kallsyms" "$dir/by-kallsyms.tnf" || bad "with kallsyms"
"$x" -d "$dir/elf" -n "$dir/System.map" "$dir/by-map.tnf" || bad "with System.map"
symbols "$dir/by-kallsyms.tnf" >"$dir/symbols.1"
symbols "$dir/by-map.tnf" >"$dir/symbols.2"
{ [ -s "$dir/symbols.1" ] && cmp "$dir/symbols.1" "$dir/symbols.2"; } || bad "other symbols by System.map"
echo "$(wc -l <"$dir/symbols.1") symbols of the kernel, $(wc -l <"$dir/symbols.2") by System.map"
moments="-e Trigger.a.crash -e soft.lockup -e hard.LOCKUP -e NMI: -e end.Kernel.panic"
# shellcheck disable=SC2086  # words are meant
grep -a $moments "$dir/console" | tr -d '\r'
"$dump" --info "$dir/by-kallsyms.tnf" | sed '1,/^  printed last:/d' >"$dir/printed"
grep -q 'end Kernel panic' "$dir/printed" || bad "the panic's last line is not in the context"
echo "$(wc -l <"$dir/printed") lines of the kernel in the context, among them"
# shellcheck disable=SC2086
grep $moments "$dir/printed"
if [ -n "$instructions" ]; then
	# The thread that hangs has begun a call of sethostname, and never ended it.
	grep -a ' s: call ' "$dir/console" | tail -1
	task=$("$dump" "$dir/by-kallsyms.tnf" | awk -v call=$sethostname '
		$7 == "syscall_start" && $9 == call { print $4 }' | tail -1)
	"$dump" --info "$dir/by-kallsyms.tnf" | grep -e ' cpu ' -e 'time:'
	echo "last event at $(last "$dir/by-kallsyms.tnf") s; the last system calls of task $task, which hangs:"
	"$dump" --pretty --tid "$task" "$dir/by-kallsyms.tnf" | grep syscall | tail -2
	exit $rc
fi
# printk's clock is another one: the moment of the crash in the trace's is that of the call
# that has not returned, of whom the panic names.
task=$(sed -n 's/.*\] CPU: .*PID: \([0-9]*\) .*/\1/p' "$dir/printed" | tail -1)
"$dump" "$dir/by-kallsyms.tnf" | awk -v task="$task" '
	$4 == task && $7 == "syscall_start" { call = $1 }
	$6 ~ /^[0-9]+$/ && $7 != "" { last = $1 }
	END { printf "the call of task %s that crashed the machine: %.3f s before the last event\n", task, (last - call) / 1000 }'
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
# Debian's makedumpfile knows neither snappy nor zstd, and writes such pages as they are.
ways='c l p z'
[ $machine = x86-64 ] || ways=
for way in $ways; do
	rm -f "$dir/makedumpfile-$way"
	makedumpfile -d 31 -$way "$dir/elf.moved" "$dir/makedumpfile-$way" >"$dir/makedumpfile.log" 2>&1 ||
		echo "makedumpfile -d 31 -$way: $(tail -1 "$dir/makedumpfile.log")"
done
rm -f "$dir/makedumpfile-17"
[ -z "$ways" ] || makedumpfile -d 17 -l "$dir/elf.moved" "$dir/makedumpfile-17" >"$dir/makedumpfile.log" 2>&1

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
