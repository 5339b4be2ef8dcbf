#!/bin/sh
# USDT probes of a program: its semaphores go up and down, every form of argument has
# its value, strings are copied, and what a process loads later or leaves behind is
# taken care of.  A wrong operand, a semaphore that stays up (the program is slow for
# ever), or a link without an owner would go unnoticed.
#
#	usdt.sh VICTIM LIB
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
victim=$(readlink -f "$1"); lib=$(readlink -f "$2")

mkdir "$TMP/providers"
echo "text	good:string absent:string longer:string empty:string
counted	text:chars length" > "$TMP/providers/victim"
export TNF_PROVIDERS="$TMP/providers"

# event NAME TEXT: there is one with just these members.
event() {
	grep -q " $1 \{1,\}$2\$" "$TMP/text" || {
		grep " $1 " "$TMP/text" >&2
		fail "$1: not $2"
	}
}

# Probes of a file, in whatever process runs it.
victim_start "$victim" -w
"$prex" -k > "$TMP/list" <<X || fail "prex -k"
import '$victim'
list name probes keys=usdt
buffer alloc 1m
trace keys=victim
enable keys=victim
ktrace on
X
[ "$(grep -c '^name=victim\.' "$TMP/list")" = 8 ] || fail "not 8 probes: $(cat "$TMP/list")"
round
[ "$(semaphores)" = "1 1 1 2 1 1 1 1" ] || fail "semaphores: $(semaphores)"
extract
event victim.none ''
event victim.sizes 'arg1: -128 arg2: 255 arg3: -32768 arg4: 65535 arg5: -2147483648 arg6: 4294967295 arg7: -9223372036854775808 arg8: 18446744073709551615'
event victim.twice 'arg1: 1'
event victim.twice 'arg1: 3'
event victim.twelve 'arg1: 100 arg2: 101 arg3: 102 arg4: 103 arg5: 104 arg6: 105 arg7: 106 arg8: 107 arg9: 108 arg10: 109 arg11: 110 arg12: 111'
event victim.forms 'arg1: 18364758544493064720 arg2: 1 arg3: 3 arg4: -300 arg5: -77 arg6: 20 arg7: 18 arg8: 52 arg9: 4660'
# A floating-point number is left out, and said to be.
event victim.constants 'arg1: -5 arg3: 9223372036854775807'
grep -q '"victim\.constants".*unread argument 2: floating-point number' "$TMP/probes" ||
	fail "constants: nothing says what is left out"
# 251 characters and "..." of 399; memory that is not there is null.
x=$(printf '%0252d' 0 | tr 0 x)
event victim.text "good: \"a probe of \"sdt\"; it's text\" absent: 0x0        <NULL> longer: \"$x\.\.\.\" empty: \"\""
event victim.counted 'text: "xxxxx" length: 5'

# The kernel lets go of a link some time after it has been removed.
down() { round; [ "$(semaphores)" = "0 0 0 0 0 0 0 0" ]; }
control -k -c 'disable keys=usdt'
wait_for 60 down || fail "semaphores after disable: $(semaphores)"
pins_are 0 || fail "links stay: $(ls $pins)"
buffer_end

# An event has the program's stack behind its own members; it begins in the probe's function.
"$prex" -k > "$TMP/list" <<X || fail "prex -k"
import '$victim'
buffer alloc 1m
trace name=victim.sizes ustack=4
enable name=victim.sizes
ktrace on
X
round
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/buf" 2> "$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
"$TNF_BUILD/tnfdump/tnfdump" --pretty "$TMP/buf" > "$TMP/text" || fail "tnfdump --pretty"
event victim.sizes 'arg1: -128 .* arg8: 18446744073709551615 stack: 0x0 *<NULL> user: \[sizes[^ ]* .*\]'
buffer_end
victim_end

# Probes of one process, which is not stopped: it has a library later; what prex has switched
# on outlives it, though it is killed, and goes when the process has ended.
victim_start "$victim" -l "$lib"
other=$("$victim" 1)
mkfifo "$TMP/commands"
"$prex" --no-fast -p "$pid" < "$TMP/commands" > "$TMP/prex" 2>&1 7>&- 9>&- &
prex_pid=$!
exec 8> "$TMP/commands"
printf 'trace keys=usdt\nenable keys=usdt\ncontinue\n' >&8
wait_for 60 pins_are 9 || fail "prex -p: $(cat "$TMP/prex")"
grep -q 'the kernel has a buffer of 4096 kbytes now' "$TMP/prex" || fail "nothing is said of a buffer"
"$victim" 1			# another process of the same program
round
[ "$(semaphores)" = "1 1 1 2 1 1 1 1" ] || fail "semaphores of the process: $(semaphores)"
round				# loads the library, and hits its probe before we know
wait_for 60 pins_are 10 || fail "a library that comes later: $(cat "$TMP/prex")"
round
kill -9 "$prex_pid"; wait "$prex_pid" 2>/dev/null; prex_pid=''
exec 8>&-
round
extract
event later.loaded 'arg1: 42'
n=$(events 'victim\.none')
[ "$n" = 4 ] || fail "victim.none: $n hits of 4, others' among them?"
victim_end
echo "list name probes keys=usdt" | "$prex" -k > "$TMP/list" || fail "prex -k"
pins_are 0 || fail "links of a process that has ended: $(ls $pins)"

# Its places in the buffer are those of the next process with the same probes.
victim_start "$victim" -w
printf 'trace keys=usdt\nenable keys=usdt\n' | "$prex" --no-fast -p "$pid" > "$TMP/list" 2>&1 ||
	fail "prex -p: $(cat "$TMP/list")"
round
extract
n=$(events 'victim\.none')
[ "$n" = 5 ] || fail "victim.none: $n hits of 5 in two processes"
n=$(grep -c '"victim\.none"' "$TMP/probes")
[ "$n" = 1 ] || fail "victim.none is defined $n times"
victim_end
buffer_end

# Whoever may look into the process has the list; more takes more rights.
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if ! command -v setpriv >/dev/null || ! $as_nobody test -x "$prex" -a -x "$victim"; then
	exit 0
fi
if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ]; then
	echo "kernel.yama.ptrace_scope lets nobody attach: a list without rights is not tried"
	exit 0
fi
chmod 777 "$TMP"
mkfifo "$TMP/pipe"
chmod 666 "$TMP/pipe"
printf 'list name probes keys=victim\nenable name=victim.none\n' > "$TMP/commands.2"
# shellcheck disable=SC2016,SC2086  # words of another shell; words
$as_nobody sh -c '
	"$1" -w < "$2/pipe" > "$2/nobody.out" & p=$!
	exec 6> "$2/pipe"
	n=0
	until [ -s "$2/nobody.out" ] || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done
	"$3" --no-fast -p $p < "$2/commands.2" > "$2/nobody.list" 2>&1 6>&-
	exec 6>&-
	wait $p' sh "$victim" "$TMP" "$prex" 7>&- 9>&-
[ "$(grep -c '^name=victim\.' "$TMP/nobody.list")" = 8 ] ||
	fail "a list without rights: $(cat "$TMP/nobody.list")"
grep -q 'CAP_' "$TMP/nobody.list" || fail "what is missing: $(cat "$TMP/nobody.list")"
exit 0
