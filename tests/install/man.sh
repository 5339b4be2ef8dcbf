#!/bin/sh
# The man pages are the reference: they lint, refer to pages that exist, and
# name every public function, as the headers declare it, and every option.
. "$TNF_SOURCE/tests/lib.sh"
need_program mandoc
scratch
cd "$TNF_SOURCE" || fail "no source directory"
rc=0
bad() { echo "FAIL: $*"; rc=1; }

mandoc -Tlint -Wwarning man/*.[1-8] || bad "mandoc -Tlint"

# Public functions: what the shared libraries export.
for lib in libtnf libtnfctl libtnfprobe; do
	so=$(find "$TNF_BUILD" -name "$lib.so.1.*[0-9]" -type f | head -1)
	[ -n "$so" ] || { bad "no $lib.so.1 in $TNF_BUILD"; continue; }
	for f in $(nm -D --defined-only "$so" |
	    awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | grep '^tnf'); do
		grep -qE "^\.(Nm|Fn|Fo|Ic) (\"[^\"]*\" )?\*?$f\b" man/*.3 ||
			bad "no man page for $f ($lib)"
	done
done

# The synopses are C that the headers do not contradict.
for page in man/*.3; do
	awk '
	/^\.Sh/ { on = $2 == "SYNOPSIS" }
	!on { next }
	$1 == ".In" { print "#include <" $2 ">" }
	$1 == ".Ft" { type = substr($0, 5); gsub(/"/, "", type) }
	type == "" { next }
	$1 == ".Fn" {
		args = substr($0, length($1 $2) + 3)
		gsub(/" "/, ", ", args)
		gsub(/"/, "", args)
		print type, $2 "(" args ");"
	}
	$1 == ".Fo" { print type, $2 "("; between = "" }
	$1 == ".Fa" { gsub(/"/, ""); print between substr($0, 5); between = ", " }
	$1 == ".Fc" { print ");" }' "$page" >"$TMP/synopsis.c"
	${CC:-cc} -std=gnu11 -Iinclude -include stdbool.h -fsyntax-only "$TMP/synopsis.c" >"$TMP/log" 2>&1 ||
		{ bad "$page: synopsis"; head -5 "$TMP/log"; }
done

# Cross references to pages of ours lead somewhere.
for ref in $(sed -n 's/^\.Xr \(\(tnf\|prex\|trac\|TNF\|libtnf\)[^ ]*\) \([0-9]\).*/\1.\3/p' man/*.[1-8] | sort -u); do
	[ -e "man/$ref" ] || grep -qE "^\.Nm ${ref%.*}( ,)?$" man/*."${ref##*.}" ||
		bad "reference to $ref, which is not there"
done

# Options of the tools: --help and the page agree.
for tool in ${TNF_TOOLS:-prex tnfdump tnfxtract}; do
	bin=$(find "$TNF_BUILD/$tool" -maxdepth 1 -name "$tool" -type f 2>/dev/null)
	[ -n "$bin" ] || { bad "no $tool in $TNF_BUILD"; continue; }
	for opt in $("$bin" --help 2>&1 | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		sed 's/\\-/-/g' "man/$tool.1" | grep -qE -- "(^|[^a-z])Fl -?-?${opt#--}\b|$opt\b" ||
			bad "$tool.1 does not have $opt"
	done
	for opt in $(awk '$1 == ".It" { for (i = 2; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }' \
	    "man/$tool.1"); do
		"$bin" --help | grep -qE -- "(^|[[:space:],])$opt\b" ||
			bad "$tool --help does not have $opt of $tool.1"
	done
done
ls man/*.[1-8] | wc -l | sed 's/$/ pages/'
exit $rc
