#!/bin/sh
# Does what a packager and a user do: install, then build programs from what is
# installed, by pkg-config, shared and static.
. "$TNF_SOURCE/tests/install/stage.sh"
need_program pkg-config
rc=0
bad() { echo "FAIL: $*"; rc=1; }

tools=${TNF_TOOLS:-prex tnfdump tnfxtract}
for tool in $tools; do
	set -- "$@" "bin/$tool" "share/man/man1/$tool.1"
done
for f in "$@" include/tnf/probe.h include/tnf/tnf.h include/tnf/tnfctl.h \
    include/sys/tnf_probe.h share/man/man7/tracing.7; do
	[ -e "$PREFIX/$f" ] || [ -e "$PREFIX/$f.gz" ] || bad "$f is not installed"
done

# They start from where they are, whatever the prefix and without ldconfig.
for tool in $tools; do
	env -u LD_LIBRARY_PATH "$PREFIX/bin/$tool" --version >"$TMP/log" 2>&1 ||
		{ cat "$TMP/log"; bad "$tool does not start"; }
done

pcdir=$(find "$PREFIX" -type d -name pkgconfig | tr '\n' ':')
libdir=$LIBDIR
examples=$PREFIX/share/doc/tnf/examples
export PKG_CONFIG_PATH="$pcdir" PKG_CONFIG_SYSROOT_DIR="$DEST"

# A static link takes these libraries.  Debian has libZydis as a shared library alone.
static_libs() {
	pkg-config --static --libs "$@" | sed 's/-lZydis/-Wl,-Bdynamic & -Wl,-Bstatic/'
}

# build NAME PACKAGE FLAGS...: compiles an example against PACKAGE.
build() {
	name=$1 package=$2; shift 2
	flags=$(pkg-config --cflags "$package") && libs=$(if [ $# -eq 0 ]; then pkg-config --libs "$package"; else static_libs "$package"; fi) ||
		{ bad "pkg-config $package"; return; }
	mode=; [ $# -eq 0 ] || mode=-Wl,-Bstatic
	${CC:-cc} -O2 -o "$TMP/$name${mode:+-static}" "$examples/$name.c" $flags \
		$mode $libs ${mode:+-Wl,-Bdynamic} >"$TMP/log" 2>&1 || { cat "$TMP/log"; bad "compile $name $*"; }
}
build cookie libtnfprobe
build cookie libtnfprobe --static
build read-trace libtnf
build read-trace libtnf --static
build ctl-internal libtnfctl
build ctl-exec libtnfctl --static

# Both archives have files of common/ and format/.
printf '#include <tnf/tnf.h>\n#include <tnf/tnfctl.h>\nint main(int n, char **v)\n%s\n' \
    '{ return n > 9 ? tnf_reader_begin(0, 0, 0) : n > 8 ? tnfctl_pid_open(1, 0) : 0; }' >"$TMP/both.c"
for both in "libtnf libtnfctl" "libtnfctl libtnf"; do
	# shellcheck disable=SC2046,SC2086 # words
	${CC:-cc} -w -o "$TMP/both" "$TMP/both.c" $(pkg-config --cflags $both) -Wl,-Bstatic \
		$(static_libs $both) -Wl,-Bdynamic >"$TMP/log" 2>&1 && "$TMP/both" ||
		{ cat "$TMP/log"; bad "$both: not linked into one program"; }
done

for p in cookie cookie-static; do
	[ "$(LD_LIBRARY_PATH=$libdir "$TMP/$p" 4)" = "4 cookies" ] || bad "$p does not run"
done
LD_LIBRARY_PATH=$libdir "$TMP/ctl-exec-static" "$TMP/exec.tnf" "$TMP/cookie" 4 >"$TMP/log" 2>&1 ||
	{ cat "$TMP/log"; bad "ctl-exec does not trace"; }
LD_LIBRARY_PATH=$libdir "$TMP/read-trace" "$TMP/exec.tnf" | grep -q '^ *4 inloop' ||
	bad "ctl-exec: no events"
need_golden
for p in read-trace read-trace-static; do
	LD_LIBRARY_PATH=$libdir "$TMP/$p" "$TNF_GOLDEN/threads.lp64.tnf" >"$TMP/counts" ||
		bad "$p does not read a trace"
	grep -q '^ *[1-9]' "$TMP/counts" || bad "$p finds no events"
done

# From C++ too, and with nothing linked at all.
${CC:-cc} -O2 -I"$PREFIX/include" -o "$TMP/bare" "$examples/cookie.c" &&
	[ "$("$TMP/bare" 4)" = "4 cookies" ] || bad "cookie without the library"

# The installed shell traces the installed way.
if [ -x "$PREFIX/bin/prex" ]; then
	printf 'enable $all\ncontinue\n' | LD_LIBRARY_PATH=$libdir \
		"$PREFIX/bin/prex" -o "$TMP/cookie.tnf" "$TMP/cookie" 4 >"$TMP/log" 2>&1 ||
		{ cat "$TMP/log"; bad "prex from the installed tree"; }
	n=$(LD_LIBRARY_PATH=$libdir "$PREFIX/bin/tnfdump" "$TMP/cookie.tnf" | grep -c ' inloop ')
	[ "$n" -eq 4 ] || bad "installed prex and tnfdump: $n events of 4"
fi
exit $rc
