#!/bin/sh
# gen-names.sh - makes the table of names of errors.
# Usage: gen-names.sh OUTPUT COMPILER [ARG...]
set -eu
out=$1
shift

errors=$(echo '#include <errno.h>' | "$@" -E -dM - | LC_ALL=C sort |
	awk '$1 == "#define" && $2 ~ /^E[A-Z0-9]*$/ && $3 ~ /^[0-9_(]/ {
		printf "\t[%s] = \"%s\",\n", $2, $2
	}')
[ -n "$errors" ] || { echo "gen-names.sh: no names of errors by: $*" >&2; exit 1; }
{
	echo '#include <errno.h>'
	echo '#include "analysis/pretty-names.h"'
	echo 'const char *const pretty_errnos[] = {'
	printf '%s\n' "$errors"
	echo '};'
	echo 'const size_t pretty_errnos_count ='
	echo '    sizeof(pretty_errnos) / sizeof(pretty_errnos[0]);'
} >"$out"
