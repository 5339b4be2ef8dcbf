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
# 2154, 2034: what we source sets variables for us, and who sources us uses ours
xargs shellcheck -S warning -e SC2154,SC2034 \
	<"${TMPDIR:-/tmp}/scripts.$$" || fail "shellcheck"
echo "$(wc -l <"${TMPDIR:-/tmp}/scripts.$$") scripts"
