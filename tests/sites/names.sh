#!/bin/sh
# A function that libtnfprobe calls takes no jump to libtnfprobe: the list in refused.c has
# each that the library imports.
. "$TNF_SOURCE/tests/lib.sh"
probe=$1
command -v nm >/dev/null || { echo "no nm"; exit 77; }

rc=0 n=0
for name in $(nm -D --undefined-only "$probe" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }'); do
	case $name in
	# These are data.
	__progname_full | program_invocation_name | __libc_single_threaded | _r_debug) continue ;;
	esac
	n=$((n + 1))
	grep -q "\"$name\"" "$TNF_SOURCE/libtnfctl/refused.c" || {
		echo "FAIL: libtnfprobe calls $name, which libtnfctl/refused.c does not list"
		rc=1
	}
done
[ "$n" -gt 20 ] || fail "only $n imports"
exit $rc
