#!/bin/sh
# Guards: a script of bench/ that does not end, or prints a table without its figures.
# script.sh NAME [ROW...]: it runs in its shortest form, and each ROW, the beginning of a line,
# has a number behind it.
. "$TNF_SOURCE/tests/lib.sh"
name=$1
shift
scratch
BENCH_BUILD=$TNF_BUILD BENCH_CSV=$TMP/bench.csv BENCH_WAIT=300 BENCH_LIMIT=500 \
	"$TNF_SOURCE/tools/bench" --quick "$name" >"$TMP/out" 2>&1 || { cat "$TMP/out"; fail "$name: status"; }
if grep -q "^not measured here.*: $name\$" "$TMP/out"; then
	skip "$(sed -n "s/^$name: not measured: //p" "$TMP/out")"
fi
cat "$TMP/out"
for row; do
	grep -Eq "^ *$row +-?[0-9]+(\.[0-9]+)? " "$TMP/out" || fail "$name: no figure: $row"
done
