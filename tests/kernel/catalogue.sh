#!/bin/sh
# catalogue.sh CATALOGUE PAGE - the page has the kernel's probes in the order of the catalogue,
# each with its members, keys and hooks.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
"$1" >"$TMP/catalogue" || fail "catalogue"
[ "$(grep -c '^probe' "$TMP/catalogue")" -ge 34 ] || fail "fewer than 34 probes in the catalogue"
sed -n '/^\.\\" begin catalogue$/,/^\.\\" end catalogue$/{
	s/^\.It Nm /probe /p
	s/^\.It Vt \(.*\) Ta Va /member \1 /p
	s/^Keys: \(.*\)\.$/keys \1/p
	s/^\.Li \(.*\) \.$/hooks \1/p
}' "$2" >"$TMP/page"
diff "$TMP/page" "$TMP/catalogue" ||
	fail "$2 (<) does not have the probes of kernel-probes/catalogue.c (>): change its text by hand"
