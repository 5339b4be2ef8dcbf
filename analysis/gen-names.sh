#!/bin/sh
# gen-names.sh - makes the tables of system call and error names.
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

{
	echo '#include <errno.h>'
	echo '#include <asm/unistd.h>'
	echo '#include "analysis/pretty-names.h"'
	header=asm/unistd.h
	macros "$@" | grep -v -e __NR_syscalls -e __NR_arch_specific |
	    LC_ALL=C sort | table syscalls '^__NR_[a-z]' __NR_
	header=errno.h
	macros "$@" | LC_ALL=C sort | table errnos '^E[A-Z0-9]*$' ''
} >"$out"
