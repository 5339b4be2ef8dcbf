#!/bin/sh
# gen-names.sh - makes tables of names of errors, and of calls of other tables.
# Usage: gen-names.sh OUTPUT COMPILER [ARG...]
set -eu
out=$1
shift

macros() { printf '#include <%s>\n' "$header" | "$@" -E -dM -; }

table() {	# NAME PATTERN PREFIX: an array indexed by the macros' values
	awk -v array="$1" -v pattern="$2" -v prefix="$3" '
	BEGIN { print "const char *const pretty_" array "[] = {" }
	$1 == "#define" && $2 ~ pattern && $3 ~ /^[0-9_(]/ {
		name = substr($2, length(prefix) + 1)
		printf "\t[%s] = \"%s\",\n", $2, name
	}
	END {
		print "};"
		print "const size_t pretty_" array "_count ="
		print "    sizeof(pretty_" array ") / sizeof(pretty_" array "[0]);"
	}'
}

# other COMPILER...: calls of another table, by the numbers alone; none where there is no
# such header.  Those of x32 are without its bit 30.
other() {
	macros "$@" 2>/dev/null | LC_ALL=C sort | sed 's/(__X32_SYSCALL_BIT + \([0-9]*\))/\1/' |
		awk '$2 ~ /^__NR_[a-z]/ && $3 ~ /^[0-9]+$/ && !($3 in seen) {
			seen[$3]
			printf "\t[%s] = \"%s\",\n", $3, substr($2, 6)
		}
		END { if (!(0 in seen)) print "\t[0] = NULL," }'
}

{
	echo '#include <errno.h>'
	echo '#include "analysis/pretty-names.h"'
	for abi in 32 x32; do
		header=asm/unistd_$abi.h
		echo "const char *const pretty_syscalls_${abi}[] = {"
		other "$@"
		echo "};"
		echo "const size_t pretty_syscalls_${abi}_count ="
		echo "    sizeof(pretty_syscalls_$abi) / sizeof(pretty_syscalls_${abi}[0]);"
	done
	header=errno.h
	macros "$@" | LC_ALL=C sort | table errnos '^E[A-Z0-9]*$' ''
} >"$out"
