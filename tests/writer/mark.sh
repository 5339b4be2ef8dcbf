#!/bin/sh
# mark.sh - TNF_MARK takes a wrong type or name for a value, the macros of ktr(9) lose a class, a
# value or the format, TNF_COMPILED_KEYS compiles a probe in that it should not.
# Usage: mark.sh TNFDUMP LIBTNFPROBE
. "${TNF_SOURCE:-.}/tests/lib.sh"
tnfdump=$(realpath "$1") lib=$(realpath "$2")
scratch
cd "$TMP" || exit 1
printf 'default {\n}\n' >f.fmt

# run KEYS COMPILER...: the events are in "got", without times and numbers.
run() {
	keys=$1
	shift
	"$@" -Wall -Wextra -Werror -I"$TNF_SOURCE/include" "$TNF_SOURCE/tests/writer/mark.c" -o mark 2>err ||
		fail "$*: $(cat err)"
	rm -f t.tnf
	TNF_ENABLE=$keys TNF_FILE=t.tnf TNF_SIZE=256k LD_PRELOAD=$lib ./mark || fail "$*: runs"
	"$tnfdump" --no-header t.tnf | sed -E 's/^ *([0-9.]+ +){5}[0-9-]+ //; s/ +/ /g' >got
}
cat >all <<'E'
done id: -7 o->cakes: 3 name: "bob"
nothing 
all most: 18446744073709551615 half: 0.500000 yes: 1 text: "text" o->tiny: 200 state: 5
error errno: 0 (void*)0: 0x0
ktr 
ktr p1: "bob" p2: -7
ktr p1: 1 p2: 2 p3: 255 p4: 4096 p5: "five" p6: 0x10
ktr p1: 3
ten a: 1 b: "2" c: 3 d: 4 e: 5.500000 f: 6 g: 7 h: "8" i: 0x9 j: 10
E
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for o in '-O0 -std=gnu99' -O2 '-O2 -fPIC -DTNF_NO_ASM'; do
		# shellcheck disable=SC2086	# options
		run '$all' $cc $o
		diff all got || fail "$cc $o: events"
	done
	"$tnfdump" -t f.fmt t.tnf | sed -n 's/.* ktr //p' >got
	printf '%s\n' 'nothing at all' 'from bob to -7%' '1 2 0xff 0x1000 five 0x10' 'at 3' | diff - got ||
		fail "$cc: the format"
	run 'keys=KTR_PROC' $cc -O2
	[ "$(cat got)" = 'ktr p1: "bob" p2: -7' ] || fail "$cc: a class: $(cat got)"
	run '$all' $cc -O2 '-DTNF_COMPILED_KEYS="ten","KTR_SCHED"'
	[ "$(cut -d ' ' -f 1 got | tr '\n' ' ')" = "ktr ten " ] || fail "$cc: compiled keys: $(cat got)"
	readelf -SW mark | grep -q 'tnf_probes .* 000100 ' ||
		fail "$cc: not two probes: $(readelf -SW mark | grep tnf_probes)"
	$cc -DNPROBE -Wall -Wextra -Werror -Wno-unused -Wno-unused-parameter -I"$TNF_SOURCE/include" "$TNF_SOURCE/tests/writer/mark.c" \
		-o mark || fail "$cc: NPROBE"
done
echo "ok: marks"
