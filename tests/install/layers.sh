#!/bin/sh
# Each quoted include names its product from the top of the tree, leads to a file
# that is there, and goes down the layers: what a room may see is in the table.
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
analysis: common libtnf
prex: common libtnf
tnfxtract: common format libtnf kernel-probes
tnfdump: common format libtnf analysis kernel-probes
tnfwatch: common libtnf analysis kernel-probes tnfxtract prex
python: common analysis
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
echo "$n includes"
[ "$n" -gt 300 ] || fail "only $n includes were found"
exit $rc
