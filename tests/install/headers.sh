#!/bin/sh
# Each public header compiles alone, in C and in C++, with gcc and clang.
. "$TNF_SOURCE/tests/lib.sh"
scratch
cd "$TNF_SOURCE/include" || fail "no include directory"
rc=0 n=0
compile() {	# compiler, language, header
	printf '#include <%s>\n#include <%s>\n' "$3" "$3" |
		$1 -x "$2" -Wall -Wextra -Wpedantic -Werror -I. \
			-fsyntax-only - 2>"$TMP/log" ||
		{ echo "FAIL: $1 $2: <$3>"; head -5 "$TMP/log"; rc=1; }
	n=$((n + 1))
}
for h in */*.h; do
	for pair in 'gcc -std=gnu89:c' 'gcc -std=gnu99:c' 'gcc -std=gnu11:c' 'clang -std=gnu11:c' \
	    'g++ -std=c++11:c++' 'clang++ -std=c++17:c++'; do
		compiler=${pair%:*}
		command -v "${compiler%% *}" >/dev/null || continue
		compile "$compiler" "${pair##*:}" "$h"
	done
done
echo "$n compilations"
exit $rc
