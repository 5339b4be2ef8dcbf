#!/bin/sh
# A nop of 5 bytes that has a uprobe becomes a call on some kernels, whose return address
# overwrites what a function without a frame keeps below the stack pointer: prex takes none
# there and says why, others of the program are taken, and its results stay right.  Where
# the kernel does not do that, it takes them all.  The process itself records them all as fast probes.
#
#	redzone.sh VICTIM
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
victim=$(readlink -f "$1")

case $("$victim" -k) in
ENXIO)	taken='first nop1' refused='nop10 nop5 nop5_other' ;;
EPROTO)	taken='first nop1 nop10 nop5 nop5_other' refused='' ;;
*)	taken='first nop1 nop5 nop5_other' refused=nop10 ;;
esac

# each HOW ROUNDS: one more round with all that can be on, on.
each() {
	for name in $refused; do
		grep -q "^name=redzone\.$name .*unavailable=this kernel .* nops*" "$TMP/said" ||
			fail "$1: the list does not say why $name is refused: $(cat "$TMP/said")"
		grep -q "prex: redzone\.$name: not available: this kernel .*: build it with 1-byte nops" \
		    "$TMP/said" || fail "$1: enable does not say why: $(cat "$TMP/said")"
	done
	for name in $taken; do
		grep -q "^name=redzone\.$name .*enable=on .*unavailable" "$TMP/said" &&
			fail "$1: $name is refused: $(cat "$TMP/said")"
	done
	round
	[ "$(semaphores)" = 0 ] || fail "$1: $(semaphores) results are wrong"
	extract
	for name in $taken; do
		[ "$(events "redzone\.$name")" = $((1000 * $2)) ] ||
			fail "$1: $name: $(events "redzone\.$name") events, not $((1000 * $2))"
	done
	for name in $refused; do
		[ "$(events "redzone\.$name")" = 0 ] || fail "$1: $name has events"
	done
}

victim_start "$victim" -w
control -p "$pid" -o "$TMP/fast.tnf" -c 'enable keys=redzone; list probes keys=redzone'
if ! grep -q 'cannot decode instructions' "$TMP/said"; then
	round
	[ "$(semaphores)" = 0 ] || fail "fast: $(semaphores) results are wrong"
	"$TNF_BUILD/tnfdump/tnfdump" "$TMP/fast.tnf" >"$TMP/text" || fail "tnfdump fast.tnf"
	for name in $taken $refused; do
		grep -q "^name=redzone\.$name enable=on .*fast=yes" "$TMP/said" && ! grep -q unavailable "$TMP/said" ||
			fail "fast: $(cat "$TMP/said")"
		[ "$(events "redzone\.$name")" = 1000 ] || fail "fast: $name: $(events "redzone\.$name") events"
	done
fi
victim_end

victim_start "$victim" -w
control --no-fast -p "$pid" -c 'trace keys=redzone; enable keys=redzone; list probes keys=redzone'
each "a process" 1
victim_end
buffer_end

victim_start "$victim" -w
control -k -c "import '$victim'; buffer alloc 4m; trace keys=redzone; enable keys=redzone; ktrace on; list probes keys=redzone"
each "a file" 1
victim_end
buffer_end
echo "taken: $taken; refused: ${refused:-none}"
