#!/bin/sh
# boot.sh - the tests of the kernel's probes under another kernel, in a virtual machine.
#
# usage: boot.sh directory [command]
#
# The directory is an unpacked kernel package, with boot/vmlinuz-* and lib/modules/*:
#
#	apt-get download linux-image-6.1.0-56-cloud-amd64
#	dpkg-deb -x linux-image-*.deb directory
#
# The command is one line for sh; without one all tests run, save the long ones.
# The machine has two CPUs, 2 GiB, an empty disk on /scratch, and the files of this
# machine; what it writes elsewhere stays in its memory.  Nothing of the host's kernel
# is used, not even KVM, so it takes ten times as long: some five minutes.
#
# A kernel for arm64 needs a root directory of that machine, TNF_ROOT, in which the
# tree is seen at the same place; TNF_BUILD is its build (tools/arm64):
#
#	mmdebstrap --arch=arm64 --variant=apt --include=procps,kmod,mount,e2fsprogs,\
#	strace,jq,gawk,python3,bpftool,busybox-static,libedit2,libdw1,libbpf1,\
#	libsqlite3-0,libzstd1 bookworm directory
#
# (boot-tests.sh, beside this one, wants more: its head says what.)
#
# While the kernel changes its own code, which it does at each tracepoint that is switched, one CPU
# may trap on an instruction that another has replaced already (Oops: int3): then say
# TNF_QEMU='-accel tcg,thread=single'.
#
# TNF_QEMU is more arguments of qemu, TNF_APPEND of the kernel (no_timer_check: on a busy machine); qemu runs under TNF_NICE
# (nice).  TNF_DISK is the size of the disk (1G).  TNF_REBOOT=1 lets the machine start again, with what its memory has: the command
# finds /scratch as it left it.
#
# Needs root, qemu-system-x86 or -arm with virtiofsd, busybox-static, cpio, kmod,
# e2fsprogs.
set -u
[ $# -ge 1 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
: "${TNF_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TNF_BUILD:=$TNF_SOURCE/build}"
kernel=$1
command=${2:-'for t in verified syscall thread sched fault io swap control call names filter \
	filter-rules always wrap where mark fill states tracepoint; do
	echo "== $t"
	sh "$TNF_SOURCE/tests/kernel/$t.sh" >/scratch/said 2>&1 </dev/null; status=$?
	cat /scratch/said
	echo "== $t: exit status $status, $(grep -c ^ok: /scratch/said) comparisons that hold"
done'}
release=$(ls "$kernel/lib/modules") || exit 1
: "${TNF_ROOT:=/}"
if [ "$TNF_ROOT" != / ] && [ -z "${TNF_BOOT_APART-}" ]; then
	TNF_BOOT_APART=1 TNF_ROOT=$TNF_ROOT exec unshare -m sh "$0" "$@"
fi
virtiofsd=$(PATH=$PATH:/usr/lib/qemu:/usr/libexec command -v virtiofsd) ||
	{ echo "boot.sh: virtiofsd: not installed" >&2; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tnf-boot.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
root=$dir/root
if [ "$TNF_ROOT" != / ]; then
	for d in "$TNF_SOURCE" "$TNF_BUILD"; do
		mkdir -p "$TNF_ROOT$d" && mount --bind "$d" "$TNF_ROOT$d" || exit 1
	done
	mkdir -p "$TNF_ROOT/scratch"
fi

# The modules with what they need, in the order in which they go in.
mkdir -p "$root/modules"
[ -e "$kernel/lib/modules/$release/modules.dep.bin" ] || depmod -b "$kernel" "$release"
n=100
for m in virtio_pci virtio_blk virtiofs overlay ext4 loop lzo-rle zram qemu_fw_cfg; do
	modprobe -d "$kernel" -S "$release" --show-depends $m 2>/dev/null |
		sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$1]++' | while read -r module; do
	n=$((n + 1))
	case $module in
	*.xz) xz -dc "$module" ;;
	*.zst) zstd -dcq "$module" ;;
	*) cat "$module" ;;
	esac >"$root/modules/$n.ko"
done

busybox=$TNF_ROOT/bin/busybox
[ "$TNF_ROOT" != / ] || busybox=$(command -v busybox)
(cd "$root" && mkdir bin proc sys dev host memory new) &&
	cp "$busybox" "$root/bin/busybox" || exit 1
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
for m in /modules/*; do insmod $m; done
mount -t virtiofs -o ro host /host
mount -t tmpfs -o size=1g memory /memory; mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work root /new
mkdir -p /new/scratch; mount -t ext4 /dev/vda /new/scratch
for d in proc sys dev; do mount --move /$d /new/$d; done
cp /command /new/
exec switch_root /new /bin/sh /command
END
chmod 755 "$root/init"
cat >"$root/command" <<END
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export TNF_SOURCE='$TNF_SOURCE' TNF_BUILD='$TNF_BUILD' TNF_TEST_DIR=/scratch
mkdir -p /dev/shm /dev/pts; mount -t tmpfs shm /dev/shm; mount -t devpts pts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup; mount -t bpf -o mode=0700 bpf /sys/fs/bpf
mount -t tmpfs run /run
ln -s /proc/self/fd /dev/fd
for n in 0:stdin 1:stdout 2:stderr; do ln -s /proc/self/fd/\${n%:*} /dev/\${n#*:}; done
ip link set lo up
cd /scratch
uname -sr
{ $command
} 2>&1
echo o >/proc/sysrq-trigger
read -r forever
END
(cd "$root" && find . | cpio -o -H newc 2>/dev/null) >"$dir/initrd"
truncate -s "${TNF_DISK-1G}" "$dir/disk" && mke2fs -q -F -t ext4 "$dir/disk" || exit 1

"$virtiofsd" --socket-path="$dir/fs" -o source="$TNF_ROOT" -o sandbox=chroot -o cache=always \
	>"$dir/virtiofsd.log" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S "$dir/fs" ] || sleep 0.5; done
[ -S "$dir/fs" ] || { cat "$dir/virtiofsd.log" >&2; exit 1; }
case $release in
*arm64*) set -- qemu-system-aarch64 -machine virt,gic-version=3 -cpu cortex-a76; console=ttyAMA0 ;;
*)	set -- qemu-system-x86_64; console=ttyS0 ;;
esac
reboot=-no-reboot
[ -z "${TNF_REBOOT-}" ] || reboot=
# shellcheck disable=SC2086  # words are meant
${TNF_NICE-nice} "$@" $reboot ${TNF_QEMU-} -m 2G -smp 2 -nographic -net none \
	-object memory-backend-memfd,id=memory,size=2G,share=on -numa node,memdev=memory \
	-chardev "socket,id=fs,path=$dir/fs" -device vhost-user-fs-pci,chardev=fs,tag=host \
	-drive "file=$dir/disk,format=raw,if=virtio,cache=unsafe" \
	-kernel "$kernel"/boot/vmlinuz-* -initrd "$dir/initrd" \
	-append "console=$console quiet panic=-1 ${TNF_APPEND-}" </dev/null
