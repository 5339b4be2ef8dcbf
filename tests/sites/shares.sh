#!/bin/sh
# Nearly all functions of programs as they are installed take a jump: a rule that
# refuses too much shows here, as does a file that the analysis does not understand.
. "$TNF_SOURCE/tests/lib.sh"
share=$1
shift
scratch

rc=0
libc=$(ldd "$share" | awk '$1 ~ /^libc\.so/ { print $3 }')
for file in "$@" "$libc" "$(command -v bash)" /usr/bin/python3 \
	/usr/lib/x86_64-linux-gnu/libstdc++.so.6 /usr/lib/x86_64-linux-gnu/libcrypto.so.3; do
	[ -r "$file" ] || continue
	"$share" "$file" || fail "$file: no analysis"
done >"$TMP/out"
cat "$TMP/out"
awk '/ functions / && $4 < 94 { print "FAIL: few functions: " $0; bad = 1 } END { exit bad }' "$TMP/out" || rc=1
[ "$(grep -c ' functions ' "$TMP/out")" -ge 4 ] || fail "few files"
exit $rc
