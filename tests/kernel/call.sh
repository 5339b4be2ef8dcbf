#!/bin/sh
# call.sh - what system calls are about: arguments, paths and files of a process, as
# the process and stat(1) have them; off unless they are asked for by name.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
case $(uname -m) in
x86_64)	openat=257 chdir=80 kill=62 read=0 ;;
aarch64) openat=56 chdir=49 kill=129 read=63 ;;
*)	skip "which numbers have system calls here?" ;;
esac
"$kpctl" alloc 4000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$prex" -k -c 'enable $all; trace $all' >/dev/null || fail "prex"
"$kpctl" list | grep -E ' name syscall_(args|path|fd);' >"$TMP/on" && fail "\$all: $(cat "$TMP/on")"
"$prex" -k -c 'disable $all; untrace $all; enable name=/^syscall_[apf]/; trace name=/^syscall_[apf]/' \
	>"$TMP/said" || fail "prex: $(cat "$TMP/said")"
# In an overlay stat(2) tells another device and inode than the file has.
dir=$(mktemp -d "${TNF_TEST_DIR:-$TMP}/call.XXXXXX") || fail "mktemp"
at_exit "rm -rf $dir"
echo x >"$dir/file"
cat >"$TMP/load" <<'L'
exec 7<"$1/file"
read -r x <&7
kill -0 $$
cd /nowhere/at/all
L
held sh "$TMP/load" "$dir"
"$kpctl" filter add "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
released
wait "$held"
"$kpctl" off || fail "off"
dump
is_there() {
	grep -qE "$2" "$TMP/events" || fail "$1: none like $2: $(grep "${2%% *}" "$TMP/events" | head -n 20)"
	echo "ok: $1"
}
is_there "the path of openat" "syscall_path +sysnum: $openat path: \"$dir/file\""
is_there "the path of chdir" "syscall_path +sysnum: $chdir path: \"/nowhere/at/all\""
is_there "the arguments of kill" "syscall_args +sysnum: $kill abi: 0 arg0: $(printf '0x%x' "$held") arg1: 0x0 "
is_there "the path of openat among its arguments" "syscall_args +sysnum: $openat .* text0: .* text1: \"$dir/file\""
is_there "the path of a descriptor" "syscall_args +sysnum: $read .* text0: \"$dir/file\""
inode=$(stat -c %i "$dir/file") device=$(stat -c %d "$dir/file")
# As stat(2) packs it, and as the kernel does.
device=$(((device >> 8 & 0xfff) << 20 | (device & 0xff) | (device >> 12 & 0xfff00)))
is_there "the file that read works on" \
	"syscall_fd +sysnum: $read fd: [07] device: $device inode: $inode name: \"file\""
"$kpctl" disable syscall_args syscall_path syscall_fd || fail "disable"
[ -z "$(ls /sys/fs/bpf/tnf/import)" ] || fail "links are left"
