#!/bin/sh
# Shell scripts pass shellcheck.
. "$TNF_SOURCE/tests/lib.sh"
need_program shellcheck git
cd "$TNF_SOURCE" || fail "no source directory"
{ git ls-files 2>/dev/null || find . -type f -not -path './build*' -not -path './.git/*'; } |
while read -r f; do
	[ -f "$f" ] || continue
	case $(head -c 40 "$f" | head -1 | tr -d '\0') in
	'#!'*/sh*|'#!'*bash*|'# shellcheck shell='*) echo "$f" ;;
	esac
done >"${TMPDIR:-/tmp}/scripts.$$"
trap 'rm -f "${TMPDIR:-/tmp}/scripts.$$"' EXIT
# 1091, 1090, 2154: files sourced by a computed name, and their variables;
# 2086, 2046: lists that are meant to be split; 2034: variables for who sources
# us; 1007: "a= b=" is no mistake; 2010, 2155, 2238: style
xargs shellcheck -S warning -e SC1090,SC1091,SC2154,SC2086,SC2046,SC2034 \
	-e SC1007,SC2010,SC2155,SC2238 \
	<"${TMPDIR:-/tmp}/scripts.$$" || fail "shellcheck"
echo "$(wc -l <"${TMPDIR:-/tmp}/scripts.$$") scripts"
