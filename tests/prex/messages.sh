#!/bin/sh
# messages.sh - every mistake has its message: as on Solaris for somebody at a
# terminal, with the place in front and exit status 1 otherwise.
#
# usage: messages.sh PREX PTY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
prex=$(realpath "$1") pty=$(realpath "$2")
here=$TNF_SOURCE/tests/prex
export HOME="$TMP/home" PREX_FAKE="$here/kernel.table" TMPDIR=/nowhere TERM=dumb
mkdir "$HOME"
ln -s "$prex" "$TMP/prex"
cp "$here"/*.table "$TMP"
cd "$TMP" || exit 1
PATH=$TMP:$PATH
bad=0

differ() {
	echo "$1:"; diff -u expected out | sed 1,2d; bad=1
}

# interactive TARGET COMMANDS, the output expected on stdin
interactive() {
	cat > expected
	{
		printf '%s\n' "$2" | sed 's/\\/\\\\/g; s/^/send /; s/$/\\n/'
		printf 'send quit\\n\neof\nexit 0\nprint\n'
	} > type.pty
	"$pty" -e type.pty prex $1 2>&1 | sed 's/^\(prex> \)*//; s/^\(> \)*//' |
		grep -v -e '^Target process stopped' -e '^Type "' -e '^closed:' \
		> out
	cmp -s out expected || differ "interactive: $2"
}

# script TARGET COMMANDS, what stderr says on stdin; exit status 1
script() {
	cat > expected
	printf '%s\n' "$2" | prex $1 2>&1 >/dev/null | grep -v '^closed:' > out
	cmp -s out expected || differ "pipe: $2"
	printf '%s\n' "$2" > s.prex
	prex -f s.prex $1 > /dev/null 2>&1
	[ $? -eq 1 ] || { echo "-f: $2: status is not 1"; bad=1; }
	prex -f s.prex $1 2>&1 >/dev/null | grep -v '^closed:' |
		sed 's/^s\.prex:/<STDIN>:/' > out
	cmp -s out expected || differ "-f: $2"
}

# both TARGET COMMANDS (one line), TEXT
both() {
	interactive "$1" "$2" <<-E
	"<STDIN>", line 1: $3
	E
	script "$1" "$2" <<-E
	<STDIN>:1: $3
	E
}

u=parser.table
both $u 'enable $none' 'semantic error: no set named "$none"'
both $u 'connect &none $all' 'semantic error: no function named "&none"'
both $u 'connect &none $none' 'semantic error: no set named "$none"'
both $u 'list probes $none' 'semantic error: missing or invalid set'
both $u "source 'no/such'" 'semantic error: cannot open "no/such"
prex: no/such: No such file or directory'
both $u 'source home' 'semantic error: cannot open "home"
prex: home: Is a directory'
both $u 'list probes name=/\(/' 'semantic error: invalid regular expression
prex: /\(/: Unmatched ( or \('

both $u 'list probes line=50' "syntax error on or before \"50\"
prex: 50: a number as a value: quote it: '50'"
both $u 'list probes name=p*' 'syntax error on or before "*"
prex: *: patterns are regular expressions: name=/^re.*ad$/'
both $u 'list probes name=' 'syntax error on or before "
"'
both $u 'enable name=$all' 'syntax error on or before "$all"
prex: $all: a set cannot be a value: it stands by itself, among selectors'
both $u 'enable $all trace' "syntax error on or before \"trace\"
prex: trace: a word of the language: quote it: 'trace'"
both $u 'enable $none io' 'semantic error: no set named "$none"'
both $u 'enable io $none' 'semantic error: no set named "$none"'
both $u 'enable trace=on' "syntax error on or before \"trace\"
prex: trace: a word of the language: quote it: 'trace'"
both $u 'list name enable probes io' "syntax error on or before \"enable\"
prex: enable: a word of the language: quote it: 'enable'"
both $u "enable 'io" "syntax error on or before \"'\"
prex: ': not closed before the end of the line"
both $u 'enable a-b' "syntax error on or before \"-\"
prex: -: not allowed in an unquoted word: quote the word: 'a-b'"
both $u 'list sets; list fcns' 'syntax error on or before ";"
prex: ;: ends a command in -c alone: here each has a line of its own'
both $u 'enable io; disable io' 'syntax error on or before ";"
prex: ;: ends a command in -c alone: here each has a line of its own'
both $u 'enable "io"' 'syntax error on or before """
prex: ": texts are in single quotes: '\''a text'\'
both $u 'list $all' 'syntax error on or before "$all"
prex: list: "probes" is missing: list probes $all'
both $u 'list name=pass' 'syntax error on or before "="
prex: list: "probes" is missing: list probes attribute=value'
both $u 'create all io' 'syntax error on or before "all"'
both $u 'create &f' 'syntax error on or before "
"'
both $u 'help on' 'syntax error on or before "on"'
both $u 'quit now' 'syntax error on or before "now"'
both $u 'quit kill now' 'syntax error on or before "now"'
both $u 'pfilter add 1,' 'syntax error on or before "
"'
both $u 'Enable $all' 'syntax error on or before "Enable"
prex: Enable: no such word: did you mean "enable"?'
both $u 'co' 'syntax error on or before "co"
prex: co: ambiguous: connect, continue'
both $u 'lsit sets' 'syntax error on or before "lsit"
prex: lsit: no such word: did you mean "list"?'
both $u 'pfilter o' 'syntax error on or before "o"
prex: o: ambiguous: on, off'
both $u 'zzz' 'syntax error on or before "zzz"'

# Lines that end as in DOS.
script $u "$(printf 'enable io\r')" <<'E'
<STDIN>:1: syntax error on or before "\r"
prex: \r: lines end as in DOS: take the carriage returns out (dos2unix)
E

# The real line, also of a command that goes on over several.
script $u '

list \
   sets
enable \
   $none' <<'E'
<STDIN>:5: semantic error: no set named "$none"
E
script $u 'enable io
list \
   nothing' <<'E'
<STDIN>:3: syntax error on or before "
"
E

# Errors of the target.
interactive $u 'create &gone no_such_function
connect &gone $all
list history' <<'E'
prex: error on probe operation: Bad input argument
[0] connect &gone 'keys'=/.*/ 
E
script $u 'create &gone no_such_function
connect &gone $all' <<'E'
<STDIN>:2: error on probe operation: Bad input argument
E
interactive failing.table 'enable $all
list name probes '"'enable'='on'" <<'E'
prex: error on probe operation: Invalid probe specified
name=start 
E

# Commands of the other mode.
text='This command is only available in kernel mode (prex invoked with the -k flag)'
for c in buffer 'ktrace on' 'pfilter add 1,2'; do
	interactive $u "$c" <<-E
	$text
	E
	script $u "$c" <<-E
	<STDIN>:1: $text
	E
done
interactive -k 'list tracefile
connect &debug io
create &f x
connect &f io
clear io' <<'E'
There is no trace file in kernel mode!
"<STDIN>", line 2: semantic error: no function named "&debug"
prex: error on probe operation: Bad input argument
prex: error on probe operation: Bad input argument
E
interactive -k 'buffer dealloc
ktrace on
buffer alloc 1k
buffer alloc
ktrace on
buffer dealloc
ktrace off
buffer dealloc
buffer alloc 2000m
pfilter on
pfilter add 0,123456,1
pfilter off
buffer alloc 99999999999' <<'E'
There is no buffer to deallocate
error in setting tracing state: No buffer exists
Size 1024 is less than the minimum buffer size of 131072 -- buffer size set to 131072 bytes
Buffer of size 131072 bytes allocated
There is already a buffer allocated
Can't deallocate the buffer when tracing is active
buffer deallocated
error in allocating buffer: Internal error
Warning: Process filtering on, but pid filter list is empty
Process 123456: Process not found
error in allocating buffer: Requested size too big
prex: the largest is 1g, 1073741824 bytes: ask for less
E

# One of several probes that are switched at once goes: those behind it are switched as well.  One turns out not to be fast:
# the kernel, which has it then, gets a buffer.
printf '%s\n' 'enable keys=function keys=parser' \
	"list name 'enable' fast probes keys=function keys=parser" | prex fast.table 2>&1 | grep '^fake\|^name\|error' |
	sed 's, $,,' >out
cat >expected <<'E'
fake: the kernel has a buffer
name=first_entry enable=on fast=yes
name=slow_entry enable=on fast=no:
name=last_entry enable=on fast=yes
name=mine enable=on <no attr>
E
cmp -s out expected || differ "switched at once"
exit $bad
