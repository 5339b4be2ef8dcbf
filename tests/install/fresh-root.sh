#!/bin/sh
# fresh-root.sh - tools/check in a Debian 12 that has nothing on it: no compiler,
# no bpffs or tracefs mounted, nothing beside the clone.  As root and as a user.
#
# usage: fresh-root.sh DIR [ARGUMENT OF tools/check]...
#
# DIR gets the root file system (debootstrap, once; about 400 MB, 3 GB with what
# tools/setup installs) and a clone of HEAD per user.  Needs root, debootstrap
# and the network.  Not part of tools/check: it takes half an hour.
# FRESH_USERS="root" or "user" leaves the other out; FRESH_LOAD=16 runs as many
# busy loops beside the tests.  FRESH_CHROOT=1: the root is no mount point, so that
# there are no name spaces with mounts of their own.
set -u
[ $# -ge 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p;}' "$0"; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "fresh-root: needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "fresh-root: needs debootstrap: apt-get install debootstrap" >&2; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
root=$1; shift

# These mounts are seen by nobody else and end with the script.
if [ -z "${FRESH_INSIDE-}" ]; then
	FRESH_INSIDE=1 exec unshare -m "$0" "$root" "$@"
fi
mount --make-rprivate / || exit 1
[ -e "$root/usr/bin/dpkg" ] ||
	debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1 ||
	{ tail -5 "$root.log"; exit 1; }
root=$(cd "$root" && pwd) || exit 1
[ -n "${FRESH_CHROOT-}" ] || mount --bind "$root" "$root" || exit 1
cp /etc/resolv.conf "$root/etc/resolv.conf"
for dir in proc dev sys; do
	mount --rbind "/$dir" "$root/$dir" || exit 1
done
while umount "$root/sys/fs/bpf" 2>/dev/null; do :; done
while umount "$root/sys/kernel/tracing" 2>/dev/null; do :; done
while umount "$root/sys/kernel/debug" 2>/dev/null; do :; done

loops=
for _ in $(seq "${FRESH_LOAD:-0}"); do
	sh -c 'while :; do :; done' & loops="$loops $!"
done
# shellcheck disable=SC2086,SC2064  # words are meant
trap "kill $loops 2>/dev/null" EXIT
trap 'exit 1' HUP INT TERM

# as NAME COMMAND: in the root, with an environment of its own.
as() {
	name=$1; shift
	chroot "$root" env -i HOME="/home/$name" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		LC_ALL=C TERM=dumb setpriv --reuid "$name" --regid "$name" --init-groups "$@"
}
chroot "$root" id user >/dev/null 2>&1 || chroot "$root" useradd -m user || exit 1

rc=0
for name in ${FRESH_USERS:-root user}; do
	home=$root/home/$name
	rm -rf "$home/tnf"
	mkdir -p "$home"
	git clone -q --no-hardlinks "$top" "$home/tnf" || exit 1
	chroot "$root" chown -R "$name:$name" "/home/$name" || exit 1
	printf '\n==== tools/check as %s\n' "$name"
	as "$name" sh -c 'cd ~/tnf && exec tools/check "$@"' sh "$@" || rc=1
done
exit $rc
