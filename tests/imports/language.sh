#!/bin/sh
# language.sh VICTIM - words of prex on imported probes of a process that is only watched:
# conditions and marks work; functions cannot be connected, and it is said why; the
# debugging information of functions is read for those whose slots are listed, not for
# all that are found.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
victim=$(readlink -f "$1")

watch() { "$prex" --no-fast -p "$pid" -c "$1" > "$TMP/said" 2>&1 </dev/null; }
told() { grep -q "$1" "$TMP/said" || fail "not \"$1\": $(cat "$TMP/said")"; }

victim_start "$victim" -w

# Nothing to write to so far; the library says so, and what to do.
watch 'mark too early' && fail "a mark without a buffer: $(cat "$TMP/said")"
told 'enable a probe first'
watch 'connect &debug name=victim.none' && fail "connect: $(cat "$TMP/said")"
told 'functions cannot be connected to imported probes: the kernel runs those'
watch 'clear name=victim.none' || fail "clear, where nothing is connected: $(cat "$TMP/said")"

# Its children, and a file that is not made.
"$prex" --no-fast -p "$pid" --children -o "$TMP/none.tnf" -c quit > "$TMP/said" 2>&1 </dev/null ||
	fail "--children: $(cat "$TMP/said")"
told "its children do not hit these probes: for all processes of its program: prex -k, import '/proc/$pid/exe'"
told 'none.tnf: no such file is made'

# Conditions: of the two hits a round, one.
watch "trace name=victim.twice where 'nothing = 3'" && fail "a member that is not there"
told 'nothing'
watch "trace name=victim.twice where 'arg1 = 3'; trace name=victim.none; enable name=victim.twice name=victim.none" ||
	fail "where: $(cat "$TMP/said")"
round
watch 'mark all of it; mark '\''again: "x"'\' || fail "mark: $(cat "$TMP/said")"
extract
[ "$(events 'victim\.none')" = 1 ] || fail "victim.none: $(cat "$TMP/text")"
[ "$(grep ' victim\.twice ' "$TMP/text" | sed 's/.* arg1/arg1/')" = 'arg1: 3' ] ||
	fail "where 'arg1 = 3': $(grep twice "$TMP/text")"
[ "$(sed -n 's/.* mark  *text: \("all of it"\|"again: .*x.*"\) by: ".*/mark/p' "$TMP/text" | wc -l)" = 2 ] ||
	fail "marks: $(cat "$TMP/text")"
# Without conditions, both again.
watch 'trace name=victim.twice' || fail "trace: $(cat "$TMP/said")"
round
extract
[ "$(events 'victim\.twice')" = 3 ] || fail "no conditions: $(grep twice "$TMP/text")"
watch 'disable name=victim.twice name=victim.none' || fail "disable: $(cat "$TMP/said")"
victim_end
buffer_end

# Names and types of arguments, from the prompt: of a process, and of a file in another
# session than the one that switches tracing on.
victim_start "$victim" -w
watch "trace name=victim.text args 'good:strings'" && fail "a type that is none: $(cat "$TMP/said")"
told 'args: a name for each, with :string, :chars or :address'
watch "trace name=victim.text args 'good:string, absent:string longer empty:string'; list slots probes name=victim.text; 
enable name=victim.text; list probes name=victim.constants" || fail "args: $(cat "$TMP/said")"
told '^slots=good absent longer empty '
told 'unread=argument 2: floating-point number'
round
extract
grep -q ' victim\.text  *good: "a probe of .*" absent: .*NULL.* longer: [1-9][0-9]* empty: ""$' "$TMP/text" ||
	fail "args of a process: $(cat "$TMP/text")"
watch "trace name=victim.text args 'other'" && fail "other arguments in the buffer: $(cat "$TMP/said")"
told 'the buffer has it with other arguments already'
victim_end
buffer_end
control -k -c "import '$victim'; buffer alloc 1m; trace name=described_entry args 'small large said:string' where 'large = 4000000000'
trace name=victim.counted args 'what:chars n'; enable name=described_entry name=victim.counted"
control -k -c 'ktrace on'
"$victim" 1 || fail "victim"
extract
grep -q ' described_entry  *small: [0-9]* large: 4000000000 said: "six .*words.*"$' "$TMP/text" ||
	fail "args of a function: $(cat "$TMP/text")"
grep -q ' victim\.counted  *what: "xxxxx" n: 5$' "$TMP/text" || fail "args of a file: $(cat "$TMP/text")"
buffer_end

# A file of 32 bits: its header says so.
cp "$victim" "$TMP/small"
printf '\001' | dd of="$TMP/small" bs=1 seek=4 conv=notrunc 2>/dev/null
"$prex" -k -c "import '$TMP/small'" > "$TMP/said" 2>&1 </dev/null && fail "a file of 32 bits is taken"
told 'small: it has 32 bits '

# Functions of a process, by way of the file with their debugging information.
for program in objcopy strace; do
	command -v $program >/dev/null && continue
	echo "no $program: which files prex looks at for functions is not tested" >&2
	exit 0
done
objcopy --only-keep-debug "$victim" "$TMP/apart.debug" &&
	objcopy --strip-debug --add-gnu-debuglink="$TMP/apart.debug" "$victim" "$TMP/apart" ||
	fail "objcopy"
victim_start "$TMP/apart" -w
# looks COMMAND: how often prex opens it
looks() {
	# LeakSanitizer does not work under strace.
	ASAN_OPTIONS=detect_leaks=0 strace -f -o "$TMP/calls" -e 'trace=openat,?open' "$prex" --no-fast -p "$pid" -c "$1" > "$TMP/said" 2>&1 </dev/null ||
		fail "$1: $(cat "$TMP/said")"
	grep -c 'apart\.debug".* = [0-9]' "$TMP/calls"
}
n=$(looks 'list name probes function=/^de[a-z]*$/')
told '^name=described_entry'
[ "$n" = 0 ] || fail "a list of names looks at debugging information $n times"
n=$(looks 'list name slots probes function=described')
told '^name=described_entry slots=small large said colour where sixth seventh eighth '
[ "$n" -ge 1 ] || fail "slots without debugging information: $(cat "$TMP/calls")"
victim_end
