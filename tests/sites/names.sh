#!/bin/sh
# A function that libtnfprobe calls takes no jump to libtnfprobe: the list in refused.c has
# each that the library imports.  The page lists each reason why a function takes none.
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
	grep -q "\"$name\"" "$TNF_SOURCE/libtnfctl/sites/refused.c" || {
		echo "FAIL: libtnfprobe calls $name, which libtnfctl/sites/refused.c does not list"
		rc=1
	}
done
[ "$n" -gt 20 ] || fail "only $n imports"

# The list of reasons in prex(1) has each of these files, or its first words.
page=$(awk '/^The reasons are these/ { on = 1 } on && /^\.El/ { exit } on' "$TNF_SOURCE/man/prex.1" |
	awk '/^\.It / || more { sub(/^\.It /, ""); more = sub(/ *\\$/, "; "); print }' | sed 's/; */\n/g')
cd "$TNF_SOURCE/libtnfctl" || exit 1
reasons=$(sed -nE '/_Static_assert|fprintf/d
	s/.*(return|why =|slow =|refused =|none\[\] =|[?:]|", *|define [A-Z_]+[[:space:]]+) *"([a-z][^"%]* [a-z(][^"%]*)".*/\2/p' \
	sites/sites.c sites/code.c sites/refused.c sites/move-*.c fast.c pads.c fast-make.c none.c arch/other.c |
	grep -vE '^(quite off|fast no:)')
n=0
while read -r reason; do
	n=$((n + 1))
	echo "$page" | grep -v '^$' | awk -v reason="$reason" 'index(reason, $0) == 1 { found = 1 } END { exit !found }' || {
		echo "FAIL: prex(1) does not list \"$reason\""
		rc=1
	}
done <<END
$reasons
END
[ "$n" -gt 40 ] || fail "only $n reasons"
exit $rc
