#!/bin/sh
# Each quoted include names its product from the top of the tree, leads to a file
# that is there, and goes down the layers: what a room may see is in the table.
# Heads and comments name files and functions as they are called now.
. "$TNF_SOURCE/tests/lib.sh"
cd "$TNF_SOURCE" || fail "no source directory"
scratch

# room: the rooms that it may see, itself apart
cat >"$TMP/layers" <<'T'
common:
format:
libtnf: common format
libtnfprobe: format
kernel-probes: common format
libtnfctl: common kernel-probes
analysis: common format libtnf
prex: common format libtnf
tnfxtract: common format libtnf kernel-probes
tnfdump: common format libtnf analysis kernel-probes
tnfwatch: common format libtnf analysis kernel-probes tnfxtract
tnffleet: common analysis tnfwatch
python: common format analysis
T
# Made while building; no room has them.
generated='kernel.skel.h import.skel.h lines.h html-page.h'

rc=0 n=0
bad() { echo "FAIL: $*"; rc=1; }
while IFS=: read -r room below; do
	[ -d "$room" ] || { bad "no room $room"; continue; }
	find "$room" -name '*.[ch]' -exec grep -HE '^[[:space:]]*#[[:space:]]*include "' {} + >"$TMP/includes"
	while IFS=: read -r file line; do
		inc=${line#*\"} inc=${inc%%\"*}
		n=$((n + 1))
		case " $generated " in *" ${inc##*/} "*) continue ;; esac
		[ -f "$inc" ] || { bad "$file: \"$inc\" is not a file: name it from the top of the tree"; continue; }
		case " $room $below " in
		*" ${inc%%/*} "*) ;;
		*) bad "$file: $room may not see $inc: it may see ${below:- nothing else}" ;;
		esac
	done <"$TMP/includes"
done <"$TMP/layers"

# The part of libtnfctl that knows no process.
grep -n '#include "' libtnfctl/sites/*.[ch] | grep -v '"\(common/\|libtnfctl/sites/\|kernel-probes/operand\.h"\)' >"$TMP/sites" &&
	bad "libtnfctl/sites may see common/ and kernel-probes/operand.h alone: $(cat "$TMP/sites")"

# Things that are done in one place alone, and the place: a pattern and a file.
cat >"$TMP/once" <<'T'
\<gelf_get|\<elf_begin|\<elf_memory|\<elf_strptr	common/elf-file.c
"/proc/kallsyms"	common/proc.h
T
while IFS="	" read -r what where; do
	grep -qE "$what" "$where" || bad "$where: nothing like $what"
	for room in $(cut -d: -f1 "$TMP/layers"); do
		grep -rnE --include='*.[ch]' "$what" "$room" | grep -v "^$where:" >"$TMP/twice" &&
			bad "$where alone does this: $(cat "$TMP/twice")"
	done
done <"$TMP/once"

# A shared name begins with the prefix of its own room (HACKING.md), not of the one above.
grep -rnE --include='*.[ch]' '\<tnfctl_[a-z]' kernel-probes >"$TMP/above" &&
	bad "kernel-probes has a prefix of its own, kp_: $(cat "$TMP/above")"

# tnffleet sees only the configuration and the socket of tnfwatch.
grep -rnE --include='*.[ch]' '"tnfwatch/' tnffleet | grep -vE '"tnfwatch/(config|watch|util)\.h"' >"$TMP/far" &&
	bad "tnffleet sees more of tnfwatch than its configuration and socket: $(cat "$TMP/far")"

# Libraries return errors; programs print them.
for room in common format analysis; do
	case $room in common) names='stdout|getopt|optarg' ;; *) names='stdout|stderr|getopt|optarg' ;; esac
	grep -rnE --include='*.[ch]' "(^|[^_[:alnum:]\"])($names)([^_[:alnum:]]|\$)" "$room" | grep -vE ':[[:space:]]*(/\*| \*)' >"$TMP/loud" &&
		bad "$room has neither a command line nor an output: $(cat "$TMP/loud")"
done
# A reader can follow what comments say: each file says its name at its head, and functions that
# comments name are somewhere in the code.
rooms=$(cut -d: -f1 "$TMP/layers")
# shellcheck disable=SC2086 # words
find $rooms -name '*.[ch]' >"$TMP/files"
heads=$(xargs awk 'FNR == 2 { name = FILENAME; sub(/.*\//, "", name)
	if (index($0, " * " name " - ") != 1) print FILENAME }' <"$TMP/files")
[ -z "$heads" ] || bad "their second line names another file: $heads"
xargs cat <"$TMP/files" >"$TMP/all"
grep -E '^[[:space:]]*(/\*| \*|   )' "$TMP/all" | grep -oE '\<[a-z]+(_[a-z0-9]+)+\(\)' | tr -d '()' | LC_ALL=C sort -u >"$TMP/named"
grep -vE '^[[:space:]]*(/\*| \*)' "$TMP/all" | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | LC_ALL=C sort -u >"$TMP/words"
# (libkdumpfile's, which we do not call: image-apart.c says why.)
gone=$(LC_ALL=C comm -23 "$TMP/named" "$TMP/words" | grep -v '^kdump_free$')
[ -z "$gone" ] || bad "comments name functions that are not there: $gone"
# So do headers that say in which file the next functions are: that file is in their room.
for room in $rooms; do
	find "$room" -name '*.[ch]' | sed 's:.*/::' | sort >"$TMP/have"
	find "$room" -name '*.h' -exec grep -hoE '^(/\*| \*) [a-z0-9-]+(\.bpf)?\.c\>' {} + | sed 's:.* ::' |
		sort -u | comm -23 - "$TMP/have" >"$TMP/gone"
	[ ! -s "$TMP/gone" ] || bad "headers in $room name files that are not there: $(cat "$TMP/gone")"
done
echo "$n includes"
[ "$n" -gt 300 ] || fail "only $n includes were found"
exit $rc
