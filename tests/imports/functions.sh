#!/bin/sh
# Functions as probes: of one process, and of a file in whatever process runs it.  What
# they were called with and what they returned, one of each for each call; unsafe ones
# are refused, with the reason; none is listed unless asked for.
#
#	functions.sh VICTIM
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
victim=$(readlink -f "$1")

# Functions of a file: a process that starts later.
"$prex" -k > "$TMP/list" 2>&1 <<X || fail "prex -k: $(cat "$TMP/list")"
import '$victim'
list name probes keys=function
buffer alloc 1m
trace function=main
enable function=main
ktrace on
X
! grep -q '_entry' "$TMP/list" || fail "functions are listed that nobody has asked for"
"$victim" 2 || fail "victim"
extract
grep -q ' main_entry *argc: 2 argv: 0x[1-9a-f]' "$TMP/text" || fail "main_entry: $(cat "$TMP/text")"
grep -q ' main_return *value: 0$' "$TMP/text" || fail "main_return: $(cat "$TMP/text")"
"$prex" -k > "$TMP/list" 2>&1 <<X || fail "prex -k: $(cat "$TMP/list")"
disable function=main
list name probes function=main
ktrace off
buffer dealloc
X
grep -q '^name=main_entry' "$TMP/list" || fail "another session does not know the function: $(cat "$TMP/list")"
[ ! -e /sys/fs/bpf/tnf ] || fail "pins stay: $(ls /sys/fs/bpf/tnf)"

# Names and types of parameters, in registers and in memory, as debugging information has
# them: in the file, in another one that it names, or nowhere.
large=$((4000000000 & 0xffffffff))
# described FILE ENTRY RETURN: events like these patterns come of a run.
described() {
	"$prex" -k > "$TMP/list" 2>&1 <<X || fail "prex -k: $(cat "$TMP/list")"
import '$1'
buffer alloc 1m
trace function=described
enable function=described
ktrace on
list name slots probes function=described
X
	"$1" 1 || fail "$1"
	extract
	buffer_end
	grep -q " described_entry  *$2\$" "$TMP/text" || fail "$1: not $2: $(cat "$TMP/text")"
	grep -q " described_return  *$3\$" "$TMP/text" || fail "$1: not $3: $(cat "$TMP/text")"
}
entry="small: -3 large: $large said: \"six .words.\" colour: 7 where: 0x10 sixth: 65535"
entry="$entry seventh: -100000 eighth: \"in memory\" ninth: -9 tenth: \"here, too\""
value="value: $(((-3 + large + 7 + 65535 - 100000 - 9 + 2 + 32768) % 65536 - 32768))"
described "$victim" "$entry" "$value"
grep -q 'slots=small large said colour where sixth seventh eighth ninth tenth ' "$TMP/list" ||
	fail "slots: $(cat "$TMP/list")"
control -k -c "import '$victim'; list unread probes function=described"
grep -q '^unread=real by_value $' "$TMP/said" || fail "what is left out: $(cat "$TMP/said")"
if command -v objcopy > /dev/null; then
	objcopy --only-keep-debug "$victim" "$TMP/apart.debug" &&
		objcopy --strip-debug --add-gnu-debuglink="$TMP/apart.debug" "$victim" "$TMP/apart" ||
		fail "objcopy"
	described "$TMP/apart" "$entry" "$value"
	rm "$TMP/apart.debug"
	described "$TMP/apart" "arg1: [0-9]* arg2: $large arg3: [1-9].*" "value: [0-9]*"
fi

# Functions of one process: what its library does for it.
victim_start "$victim" -w
"$prex" --no-fast -p "$pid" > "$TMP/list" 2>&1 <<X || fail "prex -p: $(cat "$TMP/list")"
trace function=/^fgets\$/ return=/^fgets\$/
enable function=/^fgets\$/ return=/^fgets\$/
X
for _ in 1 2 3; do
	round
done
"$victim" 1 < /dev/null
# The call during which they came is seen to return; that which lasts, to begin.
# (With -fsanitize=address its library has a function of that name, too.)
files=$(printf 'list name probes function=/^fgets$/\n' | "$prex" --no-fast -p "$pid" 2>/dev/null | grep -c fgets_entry)
[ "$files" -ge 1 ] || fail "fgets is not listed while it is on"
entered() { extract; [ "$(grep -Ec ' fgets_entry .* (arg2|n|size): 16 ' "$TMP/text")" = $((3 * files)) ]; }
wait_for 60 entered || fail "fgets_entry: $(cat "$TMP/text")"
n=$(grep -Ec ' fgets_return *value: (0x)?[1-9]' "$TMP/text")
[ "$n" -ge $((2 * files)) ] && [ "$n" -le $((3 * files)) ] || fail "fgets_return: $(cat "$TMP/text")"
"$TNF_BUILD/tnfdump/tnfdump" --stats "$TMP/trace" | grep -q ' fgets$' || fail "--stats: no pairs"

printf 'enable function=_dl_catch_error\n' | "$prex" --no-fast -p "$pid" > "$TMP/list" 2>&1 &&
	fail "the dynamic linker's functions are not refused"
grep -q 'the dynamic linker is at work' "$TMP/list" || fail "no reason: $(cat "$TMP/list")"
printf 'list name probes function=/./\n' | "$prex" --no-fast -p "$pid" > "$TMP/list" 2>&1
grep -q 'at most 512' "$TMP/list" || fail "as many functions as there are: $(head "$TMP/list")"
# One function at which the kernel puts no breakpoint (its first instruction has a lock prefix) does
# not end the command: the others are on.
printf "enable function=/^pthread_spin_/\nlist name 'enable' probes function=/^pthread_spin_/\n" |
	"$prex" -p "$pid" -o "$TMP/own.tnf" > "$TMP/list" 2>&1 || fail "pthread_spin_: $(cat "$TMP/list")"
grep -q 'name=pthread_spin_unlock_entry enable=on' "$TMP/list" || fail "pthread_spin_: $(cat "$TMP/list")"
grep -q 'name=pthread_spin_lock_entry enable=on' "$TMP/list" ||
	grep -q 'pthread_spin_lock_entry: .*no breakpoint there' "$TMP/list" || fail "no reason: $(cat "$TMP/list")"
victim_end
control -k -c 'ktrace off'
pins_are 0 || fail "links of a process that has ended: $(ls $pins)"
buffer_end
