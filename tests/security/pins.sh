#!/bin/sh
# pins.sh - another user was first at /sys/fs/bpf/tnf: root deletes nothing of
# others and leaves its pins to nobody, whether the bpffs is open to all or is
# not mounted yet.
#
# usage: pins.sh PREX TNFXTRACT
#
# Runs in a mount namespace of its own, with a bpffs of its own.
. "${TNF_SOURCE:-../..}/tests/security/as.sh"
prex=$(realpath "$1") tnfxtract=$(realpath "$2")
need_btf

if [ -z "$PINS_INSIDE" ]; then
	need_program unshare
	unshare -m true || skip "no mount namespaces"
	PINS_INSIDE=1 exec unshare -m --propagation private sh "$0" "$@"
fi

scratch_shared "$prex"
bpffs=/sys/fs/bpf
dir=$bpffs/tnf
while umount $bpffs 2>/dev/null; do :; done

# refused TEXT COMMAND...: by root.
refused() {
	text=$1; shift
	timeout 60 "$@" > "$TMP/out" 2>&1 < /dev/null && wrong "done: $*"
	says "$text" "$TMP/out"
}
no_rights() {
	as timeout 120 "$@" > "$TMP/out" 2>&1 < /dev/null && wrong "allowed: $*"
	says CAP_BPF "$TMP/out"
}
# each_refused TEXT: by all that would make pins, remove or read them.
each_refused() {
	refused "$1" "$prex" -k -c 'buffer alloc 1m'
	refused "$1" "$prex" -k -c 'buffer dealloc'
	refused "$1" "$tnfxtract" "$TMP/kernel"
	[ -e "$TMP/victim/precious" ] || wrong "root has emptied a directory ($1)"
	touch "$TMP/victim/precious"
}

# No bpffs is mounted: a second user is told what is missing.
no_rights "$prex" -k -c "buffer alloc 1m"
no_rights "$tnfxtract" "$STICKY/kernel"

mount -t bpf bpf $bpffs || skip "cannot mount a bpffs"
[ "$(mode $bpffs)" = "1777 0" ] || chmod 1777 $bpffs
no_rights "$prex" -k -c "buffer alloc 1m"
no_rights "$tnfxtract" "$STICKY/kernel"
[ ! -e $dir ] || wrong "the second user's prex has made $dir"

mkdir -m 700 "$TMP/victim"
touch "$TMP/victim/precious"

# A link instead of the directory.
as ln -s "$TMP/victim" $dir || fail "symlink"
each_refused 'not a directory'
as rm $dir

# A directory that another can write to, with a link in it.
as mkdir -m 777 $dir || fail "mkdir"
as ln -s "$TMP/victim" $dir/link || fail "symlink"
each_refused 'belongs to user 65534'
[ "$(find $dir | wc -l)" -eq 2 ] || { wrong "pins in it:"; find $dir; }
as rm -r $dir

# Ours, and others may write to it.
mkdir -m 777 $dir && chmod 777 $dir
each_refused 'others may write'
rmdir $dir

# Ours: a link in it, which only root can have made, is removed, not followed.
mkdir -m 700 $dir && ln -s "$TMP/victim" $dir/link
"$prex" -k -c 'buffer alloc 1m' > "$TMP/out" 2>&1 < /dev/null ||
	{ wrong "refused:"; cat "$TMP/out"; }
[ -e "$TMP/victim/precious" ] || wrong "root has followed a link of its own"
[ ! -L $dir/link ] || wrong "the link is still there"
find $dir -perm /077 > "$TMP/open"
[ ! -s "$TMP/open" ] || { wrong "open to others:"; cat "$TMP/open"; }
no_rights "$prex" -k -c "buffer alloc 1m"
no_rights "$tnfxtract" "$STICKY/kernel"
as rm -rf $dir 2>/dev/null
[ -e $dir/buf ] || wrong "the second user has removed pins"
"$prex" -k -c 'buffer dealloc' > "$TMP/out" 2>&1 < /dev/null ||
	{ wrong "dealloc:"; cat "$TMP/out"; }

# A user who may write to the bpffs may exchange the directory.
chmod 0777 $bpffs
each_refused 'others may write'
exit $bad
