#!/bin/sh
# debian/ and the tree drift apart unseen until a package is built:
# a new library to build with, a new file, a new function.  packages.sh builds them.
. "$TNF_SOURCE/tests/install/stage.sh"
debian=$TNF_SOURCE/debian
rc=0
bad() { echo "FAIL: $*"; rc=1; }

# Whoever builds the packages has what tools/setup installs for a build, and no more; gcc
# and what comes with it are always there.
build_depends() {
	sed -n '/^Build-Depends:/,/^[A-Z]/{/^ /p; s/^Build-Depends://p}' "$debian/control" |
		tr ',|' '\n\n' | awk 'NF { sub(/:.*/, "", $1); print $1 }'
}
build_depends >"$TMP/depends"
for p in $(awk '$1 == "build" { print $2 }' "$TNF_SOURCE/tools/packages"); do
	case $p in gcc|libc6-dev|ninja-build|python3) continue ;; esac
	grep -qxF "$p" "$TMP/depends" || bad "debian/control: Build-Depends has no $p"
done
double=$(sort "$TMP/depends" | uniq -d)
[ -z "$double" ] || bad "debian/control: twice in Build-Depends: $double"

# pkg-config asks for what our .pc files require, private or not.
depends=$(sed -n '/^Package: libtnf-dev/,/^Description/p' "$debian/control")
for module in $(sed -n 's/^Requires[^:]*: *//p' "$LIBDIR"/pkgconfig/libtnf*.pc | sed 's/[<>=]* *[0-9.]*[0-9]//g' | tr ',' ' '); do
	case $module in libtnf*) continue ;; esac
	case $depends in *"$module-dev"*) ;; *) bad "libtnf-dev does not depend on $module-dev" ;; esac
done

# As dpkg-gensymbols judges it: each exported name, with its version, and no other.
n=0
for lib in libtnf libtnfctl libtnfprobe; do
	nm -D --defined-only "$LIBDIR/$lib.so.1" | awk '$2 == "A" { print $3 "@" $3; next }
		{ name = $3; sub(/@@?/, "@", name); print name ~ /@/ ? name : name "@Base" }' |
		sort -u >"$TMP/has"
	awk '/^ / { print $1 }' "$debian/${lib}1.symbols" | sort >"$TMP/says"
	n=$((n + $(wc -l <"$TMP/has")))
	diff "$TMP/says" "$TMP/has" >"$TMP/diff" ||
		bad "debian/${lib}1.symbols (<) and $lib.so.1 (>):
$(grep '^[<>]' "$TMP/diff")"
done

# A name that came with a version that is not there yet: no package could be installed that
# needs it.
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$debian/changelog")
for v in $(awk '/^ / { print $2 }' "$debian"/*.symbols | sort -u); do
	! command -v dpkg >/dev/null || dpkg --compare-versions "$v" le "$version" ||
		bad "debian/*.symbols: $v is later than $version"
done

# The tests that are named are there, and the others, too.
sed -n 's/^Tests: *//p' "$debian/tests/control" | sort >"$TMP/named"
find "$debian/tests" -type f -perm /111 -printf '%f\n' | sort | diff "$TMP/named" - ||
	bad "debian/tests: control (<) and programs (>)"

# Every file that is installed below the prefix is in a package, and every line of a
# package's list finds one.  The packages are configured with everything; this build may
# lack a part, whose lines then find nothing.
# Without dpkg-dev, meson puts libraries into lib64; packages are built with it.
(cd "$PREFIX" && find . \( -type f -o -type l \) |
	sed 's,^\./,usr/,; s,^usr/lib64/,usr/lib/any/,; s,/auto-load/usr/local/,/auto-load/usr/,; s,/auto-load/usr/lib64/,/auto-load/usr/lib/any/,') >"$TMP/files"
cat "$debian"/*.install "$debian/libtnf-dev.examples" "$debian/not-installed" |
	awk '{ print $1 }' >"$TMP/lines"
while read -r file; do
	found=0
	while read -r line; do
		# shellcheck disable=SC2254  # a pattern is meant
		case $file in $line|$line/*) found=1; break ;; esac
	done <"$TMP/lines"
	[ $found -eq 1 ] || bad "$file: in no package"
done <"$TMP/files"
echo "$n names, $(wc -l <"$TMP/files") files"
exit $rc
