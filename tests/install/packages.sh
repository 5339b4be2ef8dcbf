#!/bin/sh
# packages.sh - the release archive and the Debian packages, as a packager and a user
# get them.
#
# usage: packages.sh DIR [STAGE]...
#
# archive	meson dist of HEAD; it builds without git
# build		dpkg-buildpackage of what is unpacked from it, with the tests of the build
# lint		lintian: neither errors nor warnings
# contents	what packages.list names is there
# again		built once more in another directory, with other file dates, user
#		environment and time zone: equal bytes
# abi		the libraries offer what those of the last release offered: abidiff
#		against TNF_RELEASE, a tag or commit (default: the commit with which NEWS
#		began to tell of the next release)
# root		a Debian 12 that has nothing on it: apt-get install ./*.deb, then the
#		package's own tests (debian/tests), which trace a program and the
#		kernel
# autopkgtest	the same tests as autopkgtest(1) runs them, in another such Debian
# arm64		the packages cross-built in a Debian of amd64, twice as by "again", with
#		equal bytes; lintian; installed into a Debian of arm64 that has nothing on it, which reads kept traces under qemu-user; with
#		TNF_ARM64, an unpacked kernel package of arm64, the README's session
#		(debian/tests/session) in a virtual machine
#
# Without a stage: all, save arm64.  DIR gets some 2 GB, and 3 for arm64.
# Needs root, what "tools/setup packages" (and "arm64") installs, and the network.  Not part of
# tools/check: it takes a quarter of an hour.  tests/install/debian.sh is the part that is.
set -u
[ $# -ge 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p;}' "$0"; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- archive build lint contents again abi root autopkgtest
version=$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version) || exit 1
rc=0

bad() { echo "FAIL: $*"; rc=1; }
die() { echo "FAIL: $*"; exit 1; }

# unpack DIRECTORY: the tree of the archive, in it.
unpack() {
	rm -rf "$1" && mkdir -p "$1" && tar -xf "$dir/tnf-$version.tar.xz" -C "$1" ||
		die "no archive: packages.sh $dir archive"
}

# packages DIRECTORY: dpkg-buildpackage there; what ccache has kept would not be built again.
packages() {
	(cd "$1/tnf-$version" && CCACHE_DISABLE=1 dpkg-buildpackage -us -uc -b) >"$1/build.log" 2>&1 ||
		{ tail -30 "$1/build.log"; die "dpkg-buildpackage: see $1/build.log"; }
}

stage_archive() {
	mkdir -p "$dir/dist" && git -C "$top" diff --quiet HEAD || die "the tree has changes"
	(cd "$top" && { [ -f "$dir/dist/build.ninja" ] || meson setup "$dir/dist"; } &&
		meson dist -C "$dir/dist" --no-tests --formats xztar) >"$dir/dist.log" 2>&1 ||
		{ tail "$dir/dist.log"; die "meson dist: see $dir/dist.log"; }
	cp "$dir/dist/meson-dist/tnf-$version.tar.xz" "$dir" || exit 1
	sha256sum "$dir/tnf-$version.tar.xz"
}

stage_build() {
	unpack "$dir/first"
	packages "$dir/first"
	grep -E '^(Ok|Fail|Skipped|Timeout):' "$dir/first/build.log"
	ls -l "$dir/first"/*.deb
}

# lint DIRECTORY: the packages in it.
lint() {
	lintian --version
	lintian --fail-on error,warning --show-overrides "$1"/*.changes || bad "lintian"
}

stage_lint() {
	lint "$dir/first"
	command -v shellcheck >/dev/null && shellcheck -s sh "$top"/debian/tests/trace-*
}

# packages.list: package and path, a pattern.
stage_contents() {
	for deb in "$dir/first"/*.deb; do
		name=$(dpkg-deb -f "$deb" Package)
		dpkg-deb -c "$deb" | awk -v p="$name" '$6 !~ /\/$/ { print p, substr($6, 2) }'
	done >"$dir/contents"
	n=0
	while read -r package path; do
		case $package in ''|\#*) continue ;; esac
		n=$((n + 1))
		found=0
		# shellcheck disable=SC2254  # a pattern is meant
		while read -r p f; do
			[ "$p" = "$package" ] || continue
			case $f in $path) found=1; break ;; esac
		done <"$dir/contents"
		[ $found -eq 1 ] || bad "$package has no $path"
	done <"$top/tests/install/packages.list"
	double=$(awk '{ print $2 }' "$dir/contents" | sort | uniq -d)
	[ -z "$double" ] || bad "in two packages: $double"
	echo "$n paths looked for in $(wc -l <"$dir/contents") files"
	rm -rf "$dir/control" && dpkg-deb -e "$dir/first"/tnf-watch_*.deb "$dir/control" || exit 1
	# A tnfwatch that runs is stopped by a removal, and systemd told.
	grep -q 'deb-systemd-invoke stop .*tnfwatch.service' "$dir/control/prerm" ||
		bad "tnf-watch: prerm does not stop tnfwatch"
	grep -q 'daemon-reload' "$dir/control/postrm" || bad "tnf-watch: postrm: no daemon-reload"
	! grep -q 'deb-systemd-helper enable' "$dir/control/postinst" ||
		grep -q 'was-enabled' "$dir/control/postinst" || bad "tnf-watch: postinst enables tnfwatch"
}

stage_again() {
	second=$dir/second/of-another-name/somewhere
	unpack "$second"
	find "$second" -exec touch -d '2001-02-03 04:05' {} +
	(umask 027; export TZ=Pacific/Auckland LC_ALL=C.UTF-8 HOME=/nonexistent LOGNAME=other \
		DEB_BUILD_OPTIONS='nocheck parallel=1'; packages "$second") || exit 1
	equal "$dir/first" "$second"
}

# equal FIRST SECOND: the packages in both directories are.
equal() {
	for deb in "$1"/*.deb; do
		if cmp "$deb" "$2/$(basename "$deb")"; then
			echo "equal: $(basename "$deb")"
		else
			bad "$(basename "$deb"): differs"
			! command -v diffoscope >/dev/null ||
				diffoscope "$deb" "$2/$(basename "$deb")" | head -60
		fi
	done
}

# The libraries of a commit, with debugging information.
libraries() {
	rm -rf "$dir/abi/$1"
	mkdir -p "$dir/abi/$1" && git -C "$top" archive "$2" | tar -x -C "$dir/abi/$1" || exit 1
	(cd "$dir/abi/$1" && meson setup -Dtests=disabled -Dkernel=disabled build &&
		ninja -C build libtnf/libtnf.so.1.0.0 libtnfctl/libtnfctl.so.1.0.0 \
			libtnfprobe/libtnfprobe.so.1.0.0) >"$dir/abi/$1.log" 2>&1 ||
		{ tail "$dir/abi/$1.log"; die "$2 does not build"; }
}

stage_abi() {
	release=${TNF_RELEASE:-$(git -C "$top" log --format=%h -S'What will be' -- NEWS | tail -1)^}
	echo "the last release: $(git -C "$top" log -1 --format='%h %ad %s' --date=iso "$release")"
	libraries before "$release"
	libraries now HEAD
	for lib in libtnf libtnfctl libtnfprobe; do
		so=build/$lib/$lib.so.1.0.0
		abidiff --headers-dir1 "$dir/abi/before/include/tnf" --headers-dir2 "$dir/abi/now/include/tnf" \
			"$dir/abi/before/$so" "$dir/abi/now/$so" >"$dir/abi/$lib"
		status=$?
		# 4: something has changed; 8: so that programs of before do not run any more.
		if [ $((status & ~4)) -eq 0 ]; then
			echo "$lib: $([ $status -eq 0 ] && echo "no change" || sed -n 1,2p "$dir/abi/$lib" | tr '\n' ' ')"
		else
			bad "$lib: abidiff's status $status: see $dir/abi/$lib"
		fi
	done
}

in_root() {
	chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# Values of a test in debian/tests/control: its names, or its value of a field.
tests_named() { sed -n 's/^Tests: *//p' "$top/debian/tests/control"; }
field_of() {
	awk -v test="$1" -v field="$2:" '$1 == "Tests:" { mine = $2 == test }
		mine && $1 == field { sub(/^[^:]*: */, ""); print }' "$top/debian/tests/control"
}

# private STAGE: runs it anew, with mounts of its own.  false: this is that run.
private() {
	[ -z "${PACKAGES_INSIDE-}" ] || return
	set -- unshare -m "$0" "$dir" "$1"
	# Programs of arm64 run where the kernel has an entry for them: for as long as this does.
	[ "$5" != arm64 ] || set -- "$top/tools/arm64" run "$dir/format" env -u QEMU_LD_PREFIX "$@"
	PACKAGES_INSIDE=1 "$@" || rc=1
}

# debian_root DIRECTORY MMDEBSTRAP'S ARGUMENT...: a Debian to change into, as root.
debian_root() {
	root=$1
	shift
	mount --make-rprivate / || exit 1
	rm -rf "$root"
	mmdebstrap --quiet "$@" bookworm "$root" || die "mmdebstrap"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	for d in proc dev sys; do
		mount --rbind "/$d" "$root/$d" || exit 1
	done
	while umount "$root/sys/fs/bpf" 2>/dev/null; do :; done
}

# fresh_root DIRECTORY: a Debian that has nothing on it, but our packages in /packages.
fresh_root() {
	debian_root "$1" --variant=minbase
	mkdir "$root/packages" && cp "$dir/first"/*.deb "$root/packages" || exit 1
	rm -f "$root"/packages/*-dbgsym_*
}

stage_root() {
	! private root || return
	fresh_root "$dir/root"
	echo "== apt-get install ./*.deb"
	in_root sh -c 'apt-get -q -q update && cd /packages &&
		apt-get -q -q -y --no-install-recommends install ./*.deb' >"$dir/root.log" 2>&1 ||
		{ tail "$dir/root.log"; die "apt-get install: see $dir/root.log"; }
	in_root dpkg-query -W -f '${Package} ${Version} ${Architecture} ${db:Status-Status}\n' '*tnf*'
	for t in $(tests_named); do
		echo "== debian/tests/$t"
		cp "$top/debian/tests/$t" "$root/packages" || exit 1
		depends=$(field_of "$t" Depends | sed 's/|[^,]*//g' | tr -d ',')
		# shellcheck disable=SC2086  # packages are words
		in_root apt-get -q -q -y --no-install-recommends install $depends >>"$dir/root.log" 2>&1 ||
			{ bad "$depends: not installed"; continue; }
		in_root "/packages/$t" 2>&1
		status=$?
		[ $status -eq 0 ] || { [ $status -eq 77 ] && echo "skipped"; } || bad "debian/tests/$t: status $status"
	done
	echo "== dpkg --verify, apt-get purge"
	verified=$(in_root sh -c 'dpkg --verify tnf-tools tnf-watch tnf-fleet libtnf1 libtnfctl1 libtnfprobe1 libtnfotel1 libtnf-dev python3-tnf')
	[ -z "$verified" ] || bad "dpkg --verify: $verified"
	# As if tnfwatch had been used.
	mkdir -p "$root/var/lib/tnf/incidents" "$root/run/tnf/rings" || exit 1
	in_root sh -c 'apt-get -q -q -y purge "*tnf*"' >>"$dir/root.log" 2>&1 || bad "purge: see $dir/root.log"
	left=$(in_root find / -xdev \( -name '*tnf*' -o -name 'TNF*' \) -not -path '/packages/*' -not -path '/proc/*' \
		-not -path '/tmp/*')
	[ -z "$left" ] || bad "purged, but left: $left"
}

# There is one kernel, which is ours: isolation is what we do not ask for.
stage_autopkgtest() {
	! private autopkgtest || return
	fresh_root "$dir/root.autopkgtest"
	rm -rf "$dir/autopkgtest"
	in_root sh -c 'apt-get -q -q update && apt-get -q -q -y --no-install-recommends install apt-utils' \
		>"$dir/autopkgtest.log" 2>&1 || die "apt-utils: see $dir/autopkgtest.log"
	autopkgtest --no-built-binaries --ignore-restrictions=isolation-machine \
		--output-dir="$dir/autopkgtest" "$root"/packages/*.deb "$dir/first/tnf-$version/" \
		-- chroot "$root" >"$dir/autopkgtest.log" 2>&1
	status=$?
	cat "$dir/autopkgtest/summary"
	[ $status -eq 0 ] || bad "autopkgtest: status $status: see $dir/autopkgtest.log"
}

# cross_build DIRECTORY COMMAND...: in the root's directory, with the command before it.
cross_build() {
	where=$1
	shift
	in_root "$@" sh -c 'cd "$0"/tnf-* && dpkg-buildpackage -aarm64 -us -uc -b -Pcross,nocheck' "$where" \
		>>"$dir/cross.log" 2>&1 || { tail -30 "$dir/cross.log"; die "cross build: see $dir/cross.log"; }
}

# Nothing of arm64 is on this machine: the compiler and the libraries are in a root.
stage_arm64() {
	! private arm64 || return
	debian_root "$dir/cross" --variant=buildd --architectures=amd64,arm64 \
		--include=crossbuild-essential-arm64
	unpack "$root/build"
	echo "== dpkg-buildpackage -aarm64"
	in_root sh -c 'cd /build/tnf-* && apt-get -q -q update &&
		apt-get -q -y --no-install-recommends -aarm64 -Pcross,nocheck build-dep ./' \
		>"$dir/cross.log" 2>&1 || { tail -30 "$dir/cross.log"; die "build-dep: see $dir/cross.log"; }
	cross_build /build
	made=$root/build
	lint "$made"
	echo "== dpkg-buildpackage -aarm64, again"
	unpack "$root/second/of-another-name"
	find "$root/second" -exec touch -d '2001-02-03 04:05' {} +
	(umask 027; cross_build /second/of-another-name env TZ=Pacific/Auckland HOME=/nonexistent \
		LOGNAME=other DEB_BUILD_OPTIONS=parallel=1) || exit 1
	equal "$made" "$root/second/of-another-name"
	debian_root "$dir/root.arm64" --variant=minbase --arch=arm64
	mkdir "$root/packages" && cp "$made"/*.deb "$root/packages" || exit 1
	rm -f "$root"/packages/*-dbgsym_*
	echo "== apt-get install ./*.deb"
	in_root sh -c 'apt-get -q -q update && cd /packages &&
		apt-get -q -q -y --no-install-recommends install ./*.deb' >"$dir/root.arm64.log" 2>&1 ||
		{ tail "$dir/root.arm64.log"; die "apt-get install: see $dir/root.arm64.log"; }
	in_root dpkg-query -W -f '${Package} ${Version} ${Architecture} ${db:Status-Status}\n' '*tnf*'
	in_root prex --version || bad "prex --version"
	for trace in "$top"/tests/dump/kept/*.tnf.zst; do
		name=$(basename "$trace")
		cp "$trace" "$root/packages" || exit 1
		if in_root TZ=UTC tnfdump --pretty "/packages/$name" | cmp - "${trace%.tnf.zst}.txt"; then
			echo "equal: $name"
		else
			bad "$name: read otherwise on arm64"
		fi
	done
	[ -n "${TNF_ARM64-}" ] || { echo "no TNF_ARM64: no session"; return; }
	echo "== debian/tests/session"
	depends=$(field_of session Depends | sed 's/|[^,]*//g' | tr -d ',')
	# shellcheck disable=SC2086  # packages are words
	in_root apt-get -q -q -y --no-install-recommends install $depends busybox-static kmod mount \
		>>"$dir/root.arm64.log" 2>&1 || die "$depends: not installed: see $dir/root.arm64.log"
	cp "$top/debian/tests/session" "$root/packages" || exit 1
	for d in proc dev sys; do
		umount -l "$root/$d" || exit 1
	done
	TNF_ROOT=$root TNF_BUILD=$made "$top/tests/kernel/boot.sh" "$TNF_ARM64" \
		'uname -m; python3 /packages/session' >"$dir/session.arm64" 2>&1
	cat "$dir/session.arm64"
	grep -q "^ok: the README's session" "$dir/session.arm64" || bad "session on arm64"
}

for stage; do
	case $stage in
	archive|build|lint|contents|again|abi|root|autopkgtest|arm64) ;;
	*) echo "packages.sh: no stage $stage" >&2; exit 2 ;;
	esac
	[ -n "${PACKAGES_INSIDE-}" ] || echo "==== $stage"
	"stage_$stage"
done
exit $rc
