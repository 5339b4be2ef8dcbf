# shellcheck shell=sh
# stage.sh - install the build into a scratch directory: $DEST, $PREFIX below it.
. "$TNF_SOURCE/tests/lib.sh"
need_program meson readelf
[ -z "${SANITIZE-}" ] || skip "sanitizer build"
scratch
DEST=$TMP/dest
DESTDIR=$DEST meson install -C "$TNF_BUILD" --no-rebuild --quiet >"$TMP/log" 2>&1 ||
	{ cat "$TMP/log"; fail "meson install"; }
PREFIX=$DEST$(meson introspect "$TNF_BUILD" --buildoptions |
	python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
LIBDIR=$(dirname "$(find "$PREFIX" -name libtnf.so.1)")

# Every ELF file that was installed; $1: find's condition.
elf_files() {
	find "$PREFIX" -type f "$@" | while read -r f; do
		[ "$(head -c 4 "$f" | tail -c 3)" = ELF ] && echo "$f"
	done
}
