#!/bin/sh
# Probes compile without a warning, link and run without the library, and the
# section holds what it should, with every compiler and option we support.
. "$TNF_SOURCE/tests/lib.sh"
here=$TNF_SOURCE/tests/writer
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
n=0

# compile LANGUAGE COMPILER OPTIONS...
compile() {
	lang=$1; shift
	n=$((n + 1))
	rm -f a.out
	"$@" -Wall -Wextra -Wshadow -Wno-unused-parameter -Werror \
		-I"$TNF_SOURCE/include" -x "$lang" "$here/matrix.c" \
		"$here/matrix2.c" -o a.out >log 2>&1 ||
		{ cat log >&2; fail "$*: does not compile"; }
	./a.out || fail "$*: arguments of a disabled probe are evaluated"
	"$@" -Wall -Wextra -Werror -I"$TNF_SOURCE/include" -x "$lang" \
		"$here/cookie.c" -o cookie >log 2>&1 ||
		{ cat log >&2; fail "$*: cookie.c does not compile"; }
	./cookie || fail "$*: cookie"
}

# Bytes of all probe sections of a file; they are whole blocks of 128.
bytes() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' |
		awk '$1 ~ /^tnf_probes/ { print $5 }' |
		while read -r hex; do echo $((0x$hex)); done |
		awk '{ s += $1 } END { print s + 0 }'
}

# expect NUMBER OPTIONS: so many probes.  A compiler that optimises drops those
# in code that cannot be reached, and copies those that it inlines.
expect() {
	got=$(bytes a.out)
	case $2 in
	*-O0*) [ "$got" -eq $(($1 * 128)) ] ;;
	*) [ "$got" -ge $((($1 > 2 ? $1 - 2 : 0) * 128)) ] &&
		[ $((got % 128)) -eq 0 ] ;;
	esac || fail "$2: $got bytes of probes instead of $1 * 128"
}

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for o in -O0 -O2 "-O2 -fPIC" "-O3 -fno-pie -no-pie" "-Os -static"; do
		stds=-std=gnu11
		[ "$o" = -O2 ] && stds="-std=gnu99 -std=c99 -std=gnu11"
		for std in $stds; do
			# shellcheck disable=SC2086
			compile c $cc $o $std
		done
		expect 21 "$cc $o"
		compile c $cc $o -DTNF_DEBUG
		expect 24 "$cc $o -DTNF_DEBUG"
		compile c $cc $o -DNPROBE -DTNF_DEBUG
		expect 0 "$cc $o -DNPROBE"
		compile c $cc $o -DTNF_NO_ASM
		expect 21 "$cc $o -DTNF_NO_ASM"
	done
done
for cc in g++ clang++; do
	command -v $cc >/dev/null || continue
	for o in -O0 -O2 "-O2 -fPIC" "-Os -fno-pie -no-pie"; do
		stds=-std=c++11
		[ "$o" = -O2 ] && stds="-std=c++98 -std=c++17 -std=c++20"
		for std in $stds; do
			# shellcheck disable=SC2086
			compile c++ $cc $o $std
			expect 28 "$cc $o $std"
		done
		compile c++ $cc $o -DTNF_DEBUG
		compile c++ $cc $o -DNPROBE
		expect 0 "$cc $o -DNPROBE"
		compile c++ $cc $o -DTNF_NO_ASM
	done
done
compile c gcc -O2 -flto
compile c++ g++ -O2 -flto
compile c gcc -O1 -fsanitize=address,undefined
compile c++ g++ -O1 -fsanitize=address,undefined

# The text of a probe, to the letter.
cat >text.c <<'EOF'
#include <tnf/probe.h>
int main(void)
{
#line 88 "parse.c"
	TNF_PROBE_2_DEBUG(parse_line, "parser io", "acme%stage 'first pass'", tnf_int, lineno, 1, tnf_string, text, "");
#line 120 "parse.c"
	TNF_PROBE_0(stop, "parser", "");
	return 0;
}
EOF
gcc -DTNF_DEBUG -I"$TNF_SOURCE/include" text.c -o text || fail "text.c"
grep -qaF "name parse_line;slots lineno text ;keys parser io;file parse.c;line 88;debug;acme%stage 'first pass'" text ||
	fail "attributes of parse_line"
grep -qaF "name stop;slots ;keys parser;file parse.c;line 120;" text ||
	fail "attributes of stop"

# The header settles nothing that the C library asks for later.
cat >late.c <<'EOF'
#include <tnf/probe.h>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
tnf_uint64_t *same(uint64_t *p, int *flag) { *flag = O_TMPFILE; return p; }
int main(void) { TNF_PROBE_1(p, "", "", tnf_chars, c, TNF_CHARS("x", 1)); return 0; }
EOF
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for std in c99 c11; do
		$cc -std=$std -Wall -Wextra -Werror -I"$TNF_SOURCE/include" \
			-c late.c || fail "$cc -std=$std: late.c"
	done
done

# A site that is off: cmpl $0, word; jne (9 bytes, 13 with a far jump).
cat >site.c <<'EOF'
#include <tnf/probe.h>
void f(void);
void f(void) { TNF_PROBE_0(p, "", ""); }
EOF
for cc in gcc clang; do
	command -v $cc >/dev/null && [ "$(uname -m)" = x86_64 ] || continue
	$cc -O2 -I"$TNF_SOURCE/include" -c site.c -o site.o || fail "site.c"
	objdump -d --no-show-raw-insn site.o | sed -n '/<f>:/,$p' >site.s
	grep -q 'cmpl   $0x0,0x0(%rip)' site.s || { cat site.s; fail "$cc: site"; }
done

# The same of 64-bit ARM, here or by a cross compiler: adrp, ldr, cbnz; the tiny code model
# has the word in reach of ldr.
# site_is INSTRUCTIONS OPTION: these are in a row.
site_is() {
	"$cc" -O2 "$2" -ffreestanding -I"$TNF_SOURCE/include" -c site.c -o site.o 2>log || return
	"${cc%gcc}objdump" -d --no-show-raw-insn site.o | sed -n '/<f>:/,$p' |
		awk '$1 ~ /:$/ { printf "%s ", $2 }' >site.s
	grep -Eq "$1" site.s || { cat site.s; fail "$cc $2: site"; }
}
cc=aarch64-linux-gnu-gcc
[ "$(uname -m)" != aarch64 ] || cc=gcc
if command -v $cc >/dev/null; then
	site_is 'adrp ldr cbnz ' -mcmodel=small && site_is '(^|[^p] )ldr cbnz ' -mcmodel=tiny ||
		echo "$cc: $(head -n 1 log)"
fi
echo "$n compilations"
