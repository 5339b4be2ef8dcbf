#!/bin/sh
# rights.sh - who lacks a right, is told which one, and gets nothing.
#
# usage: rights.sh PREX TNFXTRACT VICTIM
. "${TNF_SOURCE:-../..}/tests/security/as.sh"
prex=$(realpath "$1") tnfxtract=$(realpath "$2") victim=$(realpath "$3")
scratch_shared "$prex"
export HOME="$STICKY"	# prex reads its start file there

# refused TEXT COMMAND...: by the second user.
refused() {
	text=$1; shift
	as timeout 120 "$@" > "$TMP/out" 2>&1 < /dev/null &&
		wrong "allowed: $*"
	says "$text" "$TMP/out"
}

cp "$victim" "$STICKY/set-uid"
chmod 4755 "$STICKY/set-uid"
refused "set-id" "$prex" -o "$STICKY/t" -c continue "$STICKY/set-uid"
cp "$victim" "$STICKY/set-gid"
chmod 2755 "$STICKY/set-gid"
refused "set-id" "$prex" -o "$STICKY/t" -c continue "$STICKY/set-gid"
[ ! -s "$STICKY/t" ] || wrong "a trace of a set-id program"

sleep 60 &
refused "CAP_SYS_PTRACE" "$prex" -o "$STICKY/t" -p $!
kill $!

# At the start, not at the first command: whoever mounted the bpffs, and
# whether it is open to all (the default) or not.
modes="0700 1777"
has_mount_spaces || { modes=; echo "no mount name spaces, a chroot? left out: prex -k on a bpffs of each mode"; }
for mode in $modes; do
	unshare -m sh -c 'mount --make-rprivate / &&
		mount -t bpf -o mode='$mode' bpf /sys/fs/bpf &&
		"$@" > "$0" 2>&1 < /dev/null' "$TMP/out" \
		setpriv --reuid $other --regid $other --clear-groups \
		--bounding-set=-all "$prex" -k -c 'buffer alloc 1m'
	got=$?
	[ $got -eq 1 ] || wrong "prex -k, bpffs of mode $mode: status $got"
	[ "$(head -1 "$TMP/out")" = "$prex: kernel probes: no permission: needs CAP_BPF (or root)" ] &&
		grep -q '^-c:1: error in allocating buffer: Permission denied$' "$TMP/out" ||
		wrong "$(cat "$TMP/out")"
done
# Probes that can be had are listed nevertheless.
as timeout 120 "$prex" -k -c 'list name probes name=syscall_start' > "$TMP/out" 2>&1 < /dev/null ||
	wrong "prex -k does not list: $(cat "$TMP/out")"
says "name=syscall_start" "$TMP/out"
says "probes can be listed and imported, not enabled" "$TMP/out"
for command in 'enable name=syscall_start' 'trace name=syscall_start' 'ktrace on' 'pfilter on' \
	'pfilter add 1' 'disable $all'; do
	refused "CAP_BPF" "$prex" -k -c "$command"
	grep -q '^-c:1: .*Permission denied$' "$TMP/out" || wrong "$command: $(cat "$TMP/out")"
done
refused "CAP_BPF" "$tnfxtract" "$STICKY/kernel"
[ ! -e "$STICKY/kernel" ] || wrong "tnfxtract left a file"

# While root traces: neither pins nor what was extracted.
if [ -r /sys/kernel/btf/vmlinux ] && [ ! -e /sys/fs/bpf/tnf/state ]; then
	[ $bad -eq 0 ] || exit 1	# not to be hidden by what cannot run
	need_kernel
	"$prex" -k -c 'buffer alloc 1m' > "$TMP/out" 2>&1 < /dev/null ||
		skip "no kernel probes here: $(cat "$TMP/out")"
	trap '"$prex" -k -c "buffer dealloc" > /dev/null 2>&1 < /dev/null
		test_end' EXIT
	"$tnfxtract" "$STICKY/extracted" 2>/dev/null
	[ "$(mode "$STICKY/extracted")" = "600 0" ] ||
		wrong "extracted: $(mode "$STICKY/extracted")"
	as cat "$STICKY/extracted" 2>/dev/null | grep -q . &&
		wrong "others can read what was extracted"
	as ls /sys/fs/bpf/tnf > "$TMP/out" 2>&1 && wrong "others can list the pins"
	find /sys/fs/bpf/tnf -perm /077 > "$TMP/open"
	[ ! -s "$TMP/open" ] || { wrong "open to others:"; cat "$TMP/open"; }
	refused "CAP_BPF" "$prex" -k -c 'ktrace on'
	refused "CAP_BPF" "$tnfxtract" "$STICKY/kernel"
fi
exit $bad
