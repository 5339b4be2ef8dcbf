#!/bin/sh
# The notes that we find in every ELF file of this machine's libraries and programs
# are the ones that readelf finds: names, places, semaphores, arguments.  A note that
# is passed over is a probe that is missing from the list.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
list=$1

need_program readelf
scratch

# TNF_STRESS=long: every file of the machine; else those that are likely to have some.
# Files of the other class are none of ours; of many links, one.
if [ "$TNF_STRESS" = long ]; then
	find / -xdev -type f \( -perm -100 -o -name '*.so*' \) -size +3k 2>/dev/null
else
	ls /usr/bin/python3.* /usr/bin/php* /usr/bin/as /usr/lib/postgresql/*/bin/postgres \
	    /usr/lib/*/libruby*.so.* /usr/lib/*/libstdc++.so.6 /usr/lib/*/libvirt.so.0 \
	    /usr/lib/jvm/*/lib/server/libjvm.so "$TNF_BUILD"/tests/imports/sdt* 2>/dev/null
fi | sort -u > "$TMP/all"
xargs -d '\n' -a "$TMP/all" grep -l --binary-files=text -e stapsdt -- \
    > "$TMP/files" 2>/dev/null
xargs -d '\n' -a "$TMP/files" "$list" > "$TMP/ours" || fail "usdt-list"

while read -r file; do
	readelf -h -- "$file" 2>/dev/null | grep -q 'Class: *ELF64' || continue
	readelf -n -- "$file" 2>/dev/null | awk -v file="$file" '
		/^    Provider: / { provider = $2 }
		/^    Name: / { name = $2 }
		/^    Location: / { gsub(",", ""); place = $2 " " $4 " " $6 }
		/^    Arguments:/ {
			sub(/^    Arguments: ?/, "")
			print file, provider, name, place, $0
		}'
done < "$TMP/files" > "$TMP/theirs"

cmp -s "$TMP/ours" "$TMP/theirs" || {
	diff "$TMP/ours" "$TMP/theirs" | head -20
	fail "notes differ from readelf's"
}
[ -s "$TMP/theirs" ] || skip "no program here has notes"
echo "$(wc -l < "$TMP/theirs") notes in $(cut -d ' ' -f 1 "$TMP/theirs" | sort -u | wc -l) files"
exit 0
