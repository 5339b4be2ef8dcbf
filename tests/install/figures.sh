#!/bin/sh
# Guards: a figure in README.md or a man page that is not that of the table in bench/README.md.
. "$TNF_SOURCE/tests/lib.sh"
scratch
"$TNF_SOURCE/tools/figures" --check || fail "run tools/figures"

# It finds one that differs, writes it, and does not pass over what it does not know.
mkdir -p "$TMP/bench" "$TMP/man"
cp "$TNF_SOURCE/README.md" "$TMP"
cp "$TNF_SOURCE/bench/README.md" "$TMP/bench"
cp "$TNF_SOURCE"/man/*.[1-8] "$TMP/man"
sed -i 's/^\(| tnf none |\) [0-9.]*/\1 77.4/; s/^\(| syscall_start + syscall_end |\) [0-9.]*/\1 8888/' "$TMP/bench/README.md"
if "$TNF_SOURCE/tools/figures" --check "$TMP" 2>"$TMP/said"; then fail "other medians are not seen"; fi
for what in 'README.md:[0-9]*: record: .*, measured: 77$' 'tnf_kernel_probes.7:[0-9]*: ends: .*, measured: 8888$'; do
	grep -q "$what" "$TMP/said" || fail "not said: $what: $(cat "$TMP/said")"
done
"$TNF_SOURCE/tools/figures" "$TMP" 2>/dev/null || fail "not written"
"$TNF_SOURCE/tools/figures" --check "$TMP" || fail "written, and wrong"
grep -q '^8888 ns' "$TMP/man/tnf_kernel_probes.7" || fail "the page has not 8888 ns"
echo 'It takes <!--no-such-figure-->5 ns.' >>"$TMP/README.md"
if "$TNF_SOURCE/tools/figures" --check "$TMP" 2>/dev/null; then fail "a figure without a row"; fi
grep -c '<!--[^ ]*-->[0-9]\|^\.\\" figure: ' "$TMP/README.md" "$TMP"/man/*.[1-8] | awk -F: '{ n += $2 } END { print n, "figures" }'
