#!/bin/sh
# USDT probes of languages as the distribution has them: one event of each with its
# members, named by the catalogue.  Not part of tools/check: it needs root and whatever
# of python3, ruby, php and java is installed.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_kernel
: "${TNF_PROVIDERS:=$TNF_SOURCE/providers}"
export TNF_PROVIDERS
prex=$TNF_BUILD/prex/prex
scratch
export HOME="$TMP"
buffer_end() { printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >/dev/null 2>&1; }
trap 'buffer_end; test_end' EXIT

# language FILE SELECTORS PATTERN COMMAND...: an event like the pattern comes of it.
language() {
	file=$(readlink -f "$1") selectors=$2 pattern=$3
	shift 3
	[ -f "$file" ] || return 0
	printf "import '%s'\nbuffer alloc 16m\ntrace %s\nenable %s\nktrace on\n" \
		"$file" "$selectors" "$selectors" | "$prex" -k >/dev/null || fail "prex -k: $file"
	"$@" >/dev/null 2>&1 || fail "$*"
	rm -f "$TMP/trace"
	"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" || fail "tnfxtract"
	"$TNF_BUILD/tnfdump/tnfdump" "$TMP/trace" | grep -v '^probe' > "$TMP/text"
	grep -a -m 1 -e "$pattern" "$TMP/text" | cut -c 74- || fail "$file: no $pattern"
	grep -aq -e "$pattern" "$TMP/text" || fail "$file: no $pattern"
	buffer_end
}

python=$(find /usr/bin -name "python3.*[0-9]" | head -1)
language "$python" 'name=/python.import/' 'import__find__load__start  *module: "json"' \
	"$python" -c 'import json'
language "$(find /usr/lib -name 'libruby*.so.*' -type f | head -1)" 'name=ruby.array__create' \
	'array__create  *length: [0-9]* file: ".*" lineno: ' ruby -e 'def hello(a) = a; hello([1, 2])'
language "$(command -v php)" keys=php 'function__entry  *function: "hello"' \
	env USE_ZEND_DTRACE=1 php -r 'function hello($a) { return $a; } hello(1);'
java=$(readlink -f "$(command -v java)")
language "${java%/bin/java}/lib/server/libjvm.so" 'name=hotspot.class__loaded' \
	'class__loaded  *class: "java/lang/Object" class_length: 16' "$java" -version
exit 0
