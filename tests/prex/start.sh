#!/bin/sh
# start.sh - options, init files, the trace file, and how a session ends.
#
# usage: start.sh PREX PTY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
prex=$(realpath "$1") pty=$(realpath "$2")
here=$TNF_SOURCE/tests/prex
export HOME="$TMP/home" PREX_FAKE="$here/kernel.table" TMPDIR=/nowhere
mkdir "$HOME" "$TMP/cwd" "$TMP/work"
ln -s "$prex" "$TMP/prex"
cp "$here"/*.table "$TMP/work"
cd "$TMP/work" || exit 1
PATH=$TMP:$PATH
bad=0

# is WHAT STATUS ARGS... : prex's output, both streams, expected on stdin
is() {
	what=$1 want=$2; shift 2
	cat > expected
	prex "$@" > out 2>&1 < "${input:-/dev/null}"
	got=$?
	grep -v -e '^Target process stopped' -e '^Type "' -e '^closed: default' \
		out > shown
	cmp -s shown expected || { echo "$what:"
		diff -u expected shown | sed 1,2d; bad=1; }
	[ $got -eq $want ] || { echo "$what: status $got, not $want"; bad=1; }
}
usage() {
	what=$1; shift
	is "$what" 1 "$@" <<E
prex: $what
usage: prex [options] <cmd> [cmd-args...]
usage: prex [options] -p <pid>
usage: prex -s <kbytes-size> -k
options:
	-o <outfilename>   set trace output file name
	-s <kbytes-size>   set trace file size
	-l <sharedobjs>    shared objects to be preloaded (cmd only)
E
}

# Options.
usage "need to specify cmd or pid"
usage "need to specify cmd or pid" -p x
usage "pid out of range" -p 4294967297
usage "-p 1x: not the number of a process" -p 1x
usage "-p -5: not the number of a process" -p -5
usage "-s -5: a size is a number of kilobytes (1024 bytes) without a sign or a unit" \
	-s -5 parser.table
usage "-s 16m: a size is a number of kilobytes (1024 bytes) without a sign or a unit" \
	-k -s 16m
usage "trace file size too big" -s 4294967296 parser.table
usage "the value of --set is a number" -k --set stack_depth=4294967297
usage "can't specify both cmd and pid" -p 3 parser.table
usage "can't use preload option with attach" -p 3 -l a
usage "--run is for the kernel: use it with -k" --run -o x parser.table
usage "--run needs -o file and a command" -k --run parser.table
usage "--run needs -o file and a command" -k --run -o x
usage "can't specify both cmd and pid" -k -o x -p 3 parser.table
usage "can't use preload option with attach" -k -p 3 -l a
usage "can't specify a filename in kernel mode" -k -o x
usage "can't specify a command in kernel mode" -k parser.table
usage "can't specify pid in kernel mode" -k -p 3
usage "can't use preload option in kernel mode" -k -l a
prex -x 2>&1 | grep -q '^prex: unrecognized argument$' || fail "-x"
for try in "-tx:invalid option -- 'x'" "-p:option requires an argument -- 'p'" \
	"--nosuch:unrecognized option '--nosuch'" \
	"--set:option '--set' requires an argument" \
	"--help=x:option '--help=x' doesn't allow an argument"; do
	[ "$(prex "${try%%:*}" 2>&1 | head -n 1)" = "prex: ${try#*:}" ] ||
		{ echo "$try"; prex "${try%%:*}"; bad=1; }
done
prex --help | grep -q -e '-f <file>' || fail "--help"
prex --version | grep -q '^prex [0-9]' || fail "--version"
is "the target's options are its own" 0 -c 'list tracefile' parser.table \
	-o x --help <<'E'
Current trace file is: /nowhere/trace-4711
E
is "--" 0 -c 'list tracefile' -o y -o x -- parser.table <<E
Current trace file is: $PWD/x
E
is "several inputs" 0 -c 'create $a b; list sets' -c 'list sets' parser.table <<'E'
$all      'keys'=/.*/ 
$a        'keys'='b' 
$all      'keys'=/.*/ 
$a        'keys'='b' 
E
is "no such file" 1 -f nothing parser.table <<'E'
prex: cannot open "nothing": No such file or directory
E
is "-s" 0 -s 100 -c '' parser.table <<'E'
specified tracefile size smaller then minimum; setting to 128 kbytes
E
is "-s for the kernel" 0 -s 200 -k -c 'buffer alloc' <<'E'
Buffer of size 204800 bytes allocated
E
is "default of the kernel" 0 -k -c 'buffer alloc' <<'E'
Buffer of size 393216 bytes allocated
E
TMPDIR='' is "empty TMPDIR" 0 -c 'list tracefile' parser.table <<'E'
Current trace file is: /tmp/trace-4711
E
TMPDIR=$(printf '%05000d' 0) is "long TMPDIR" 1 parser.table <<'E'
prex: $TMPDIR too long
E

# Nothing can be traced: that comes before anything else is said.
prex -k -c 'pfilter on' > out 2>&1
[ "$(head -n 1 out)" = 'Type "help" for help ...' ] || { cat out; bad=1; }
PREX_FAKE_FILTER=on prex -k -c '' > out 2>&1
[ "$(head -n 1 out)" = \
	"Warning: Process filtering on, but pid filter list is empty" ] ||
	{ echo "empty filter at the start:"; cat out; bad=1; }

# Said only if it is so.
PREX_FAKE_LOST=7 is "lost events" 0 -k -c 'buffer alloc 200k; buffer' <<'E'
Buffer of size 204800 bytes allocated
Trace buffer size is 204800 bytes
Events lost: 7 (up to 3 on one CPU)
E

# The kernel does not tell the CPU of hits that it skipped.
PREX_FAKE_LOST=1 is "lost hits" 0 -k -c 'buffer alloc 200k; buffer' <<'E'
Buffer of size 204800 bytes allocated
Trace buffer size is 204800 bytes
Events lost: 1
E

# Tracing that has failed.
echo broken > broken.table
is "broken process" 0 -c 'continue' broken.table <<'E'
Tracing shut down in target program due to an internal error - Please restart prex and target
prex: target process exited
E
PREX_FAKE=broken.table is "broken kernel" 0 -k -c 'buffer alloc; buffer' <<'E'
Buffer of size 393216 bytes allocated
Trace buffer size is 393216 bytes
Tracing system has failed -- tracing suspended
E

# Opening fails: the message is followed by an empty line.
is "not found" 1 nothing <<'E'
prex: trouble creating target process: No such file

E
is "refused" 1 -p 1 <<'E'
prex: trouble attaching to target process: Permission denied
prex: process 1: not ours: try it as root

E
is "no library" 1 -p 2 <<'E'
prex: missing symbols, is libtnfprobe.so loaded in target?

E

is "stopped by others" 0 -p 4 -c '' <<'E'
prex: process 4: somebody has stopped it: cont it
E

# The end of the target.
is "exit" 0 -c 'continue; list nonsense' kernel.table <<'E'
prex: target process exited
E
is "death" 0 -c continue plugin.table <<'E'
prex: target process disappeared (without calling exit)
E
sed 's/^event dlopen/event exec/' parser.table > exec.table
is "exec" 0 -c continue exec.table <<'E'
Target process exec'd
closed: resume
E
is "quit" 0 -c 'quit kill; nonsense' parser.table <<'E'
closed: kill
E

# Init files: home, then here, then the rest; an unfinished last line is whole.
printf 'create $home a' > "$HOME/.prexrc"
printf 'create $here b\nlist sets' > .prexrc
is "init files" 0 -c 'list sets' parser.table <<'E'
$all      'keys'=/.*/ 
$home     'keys'='a' 
$here     'keys'='b' 
$all      'keys'=/.*/ 
$home     'keys'='a' 
$here     'keys'='b' 
E
printf 'create $here b\n' > .prexrc
is "init files in the kernel" 0 -k -c 'list sets' <<'E'
$all      'keys'=/.*/ 
$always   'name'='thread_create' 'name'='thread_exit' 'name'='strategy' 'name'='biodone' 'name'='major_fault' 'name'='pagein' 'name'='pageout' 'name'='pageout_scan_start' 'name'='pageout_scan_end' 'name'='swapout_lwp' 
$why      'name'='thread_create' 'name'='thread_exit' 'name'='thread_state' 'name'='thread_block' 'name'='thread_wakeup' 'name'='thread_throttle' 'name'='thread_signal' 'name'='lock_owner' 'name'='strategy' 'name'='biodone' 'name'='major_fault' 'name'='pagein' 'name'='pageout' 'name'='pageout_scan_start' 'name'='pageout_scan_end' 
$home     'keys'='a' 
$here     'keys'='b' 
E
printf 'enable $none\n' > "$HOME/.prexrc"
is "wrong init file" 1 -c 'list sets' parser.table <<E
$HOME/.prexrc:1: semantic error: no set named "\$none"
E
cp "$here"/parser.table "$HOME"
echo 'list sets' > "$HOME/.prexrc"
cd "$HOME" || exit 1
is "here is home: once" 0 -c '' parser.table <<'E'
$all      'keys'=/.*/ 
E
cd "$TMP/work" || exit 1
rm "$HOME/.prexrc"

# Init files that somebody else may have written.
chmod g+w .prexrc
is "writable by others" 0 -c 'list sets' parser.table <<'E'
prex: ./.prexrc: not read: others may write to it: chmod go-w ./.prexrc
$all      'keys'=/.*/ 
E
chmod g-w .prexrc
mv .prexrc file; ln -s file .prexrc
is "our own link" 0 -c 'list sets' parser.table <<'E'
$all      'keys'=/.*/ 
$here     'keys'='b' 
E
rm .prexrc; mkfifo .prexrc
is "pipe" 0 -c '' parser.table <<'E'
prex: ./.prexrc: not read: not a regular file
E
rm .prexrc
ln -s .prexrc .prexrc
is "cannot be opened" 1 -c 'list sets' parser.table <<'E'
prex: cannot open "./.prexrc": Too many levels of symbolic links
E
rm .prexrc
if [ "$(id -u)" -eq 0 ]; then
	cp file .prexrc; chown 12345 .prexrc
	is "somebody else's" 0 -c 'list sets' parser.table <<'E'
prex: ./.prexrc: not read: it belongs to user 12345: remove it, or make it yours (chown)
$all      'keys'=/.*/ 
E
	rm .prexrc; ln -s file .prexrc; chown -h 12345 .prexrc
	is "somebody else's link" 0 -c 'list sets' parser.table <<'E'
prex: ./.prexrc: not read: ./.prexrc is a symbolic link of user 12345: remove it
$all      'keys'=/.*/ 
E
	rm .prexrc
fi

# A process that records: the file that prex names is the one that it goes on in, also after
# an error; where it cannot have it, that is said once, and it keeps its own.
{ cat parser.table; echo 'recording /old.tnf'; } >recording.table
export PREX_FAKE=recording.table
is "another file" 1 -p 3 -o new.tnf -c 'list tracefile
nonsense' <<E
Current trace file is: $PWD/new.tnf
-c:2: syntax error on or before "nonsense"
fake: records into new.tnf
E
is "no other file" 1 -p 3 -o /nosuch/new.tnf -c 'enable $all' <<'E'
-c:1: trouble initializing tracefile: No such file
E
PREX_FAKE=$here/kernel.table

# A program whose own probes are yet to come, with a library that has some to import.
printf 'probe name libc.setjmp;slots ;keys usdt;origin usdt;\nevent exit\n' >python.table
is "probes that come later" 0 -o f -c 'enable $all; continue' python.table <<'E'
-c:1: warning: 'keys'=/.*/: the target has no probes yet
prex: target process exited
E
printf 'probe name own;slots ;keys k;\n' >>python.table
is "probes that nobody enables" 0 -o f -c 'continue' python.table <<'E'
prex: warning: no probe is both enabled and traced: nothing is recorded
prex: target process exited
E

# A path of a rule ends where the command does.
export PREX_FAKE_RULE=cgroup=/
is "rule" 0 -k -c 'pfilter add cgroup=/; pfilter on; pfilter add cgroup=/; pfilter' <<'E'
Process filtering is on
Process filter rule: cgroup=/
Process filter set is empty.
E
unset PREX_FAKE_RULE

# Source: nested, and each file by itself.
printf "source b\nlist sets" > a
printf 'create $b x\ncreate $c y' > b
is "source" 0 -c 'source a; list history' parser.table <<'E'
$all      'keys'=/.*/ 
$b        'keys'='x' 
$c        'keys'='y' 
E
printf 'enable io\nnonsense\n' > b
is "error in a file" 1 -c 'source a; list sets' parser.table <<'E'
b:2: syntax error on or before "nonsense"
E
printf 'list sets\0\n' > b
is "NUL" 1 -f b parser.table <<'E'
b:1: syntax error on or before "\001"
E

# Output that cannot be written is an error.
if [ -w /dev/full ]; then
	prex -c help parser.table > /dev/full 2> out
	[ $? -eq 1 ] && grep -q 'cannot write' out ||
		{ echo "full disk"; bad=1; }
fi

# -t names the processes.
prex -t -c '' parser.table 2>/dev/null |
	grep -q '^prex([0-9]*), target(4711): Target process stopped$' ||
	{ echo "-t"; bad=1; }

# No escapes but at a terminal, and the prompt only where there is one.
prex parser.table < file 2>/dev/null | grep -q -e "$(printf '\033')" -e 'prex>' &&
	{ echo "prompt in a pipe"; bad=1; }
exit $bad
