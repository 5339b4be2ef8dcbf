#!/bin/sh
# columns.sh - columns, colour, and numbers as names.
# Usage: columns.sh TNFDUMP MKTRACE
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") mktrace=$(realpath "$2")
need_golden
scratch
cd "$TNF_GOLDEN" || fail "cannot enter $TNF_GOLDEN"
trace=kern_live.lp64.tnf

# line NUMBER OPTION...: a line of the output
line() {
	number=$1
	shift
	"$tnfdump" "$@" $trace | sed -n "${number}p"
}

is() {
	[ "$1" = "$2" ] || fail "got
$1
and not
$2"
}

# The classic columns are the classic output.
for f in *.tnf; do
	case $f in empty*) continue ;; esac
	"$tnfdump" "$f" | grep -v '^probe' | sed 's/ *$//' > "$TMP/want"
	"$tnfdump" --columns elapsed,delta,pid,lwpid,tid,cpu,probe,args "$f" |
		sed 's/ *$//' > "$TMP/got"
	cmp "$TMP/want" "$TMP/got" || fail "$f: classic columns"
	"$tnfdump" --color=always "$f" | sed 's/\x1b\[[0-9;]*m//g; s/ *$//' \
		> "$TMP/got"
	"$tnfdump" "$f" | sed 's/ *$//' > "$TMP/want"
	cmp "$TMP/want" "$TMP/got" || fail "$f: colour changes the text"
done

is "$(line 4 --columns probe,pid)" "thread_create                 0"
is "$(line 4 --columns mono,probe)" "     1000000000000 thread_create"
is "$(line 1 --no-header --columns probe,keys)" \
    "thread_create             thread"
is "$(line 2 --columns pid,-pid,cpu,probe)" "CPU Probe Name"
is "$(line 1 --no-header --columns -elapsed,-delta,-tid,+keys,-args)" \
    "    0     0   0 thread_create             thread"
is "$(line 1 --no-header --columns wall,probe)" \
    "                                  - thread_create"
is "$(line 1 --no-header --columns src)" \
    "../../../kernel/unix/common/tnf/tnf_res.c:166"
is "$(line 2 --no-header --two-line)" \
    "        tid: 0x30000700000 pid: 321 start_pc: 0x10041234"
is "$(line 5 --no-header --columns delta-thread)" "        0.001000"
is "$(line 6 --no-header --columns delta-probe)" "        0.000000"

"$tnfdump" --pretty --no-header $trace > "$TMP/pretty"
for text in 'state: SYSTEM' 'errno: ENOENT' 'size: 8K' 'device: 32:6' \
    'fault_type: PROT access: WRITE' 'flags: READ|0x2000000' 'rw: WRITE' \
    'stack: \[0xfffffffffb801234 '; do
	grep -q "$text" "$TMP/pretty" || fail "--pretty: no $text"
done

for text in ' size=8K' ' errno=ENOENT' ' state=SYSTEM'; do
	"$tnfdump" --stats=size,errno,state --pretty $trace | grep -q -- "$text" ||
		fail "--stats --pretty: no $text"
done

# Colour only where somebody looks.
"$tnfdump" $trace | grep -q "$(printf '\033')" && fail "colour in a pipe"
"$tnfdump" --color=always $trace | grep -q "$(printf '\033')" ||
	fail "no colour with --color=always"
if command -v script > /dev/null; then
	on_terminal() {
		script -qec "$tnfdump $* $trace" /dev/null < /dev/null
	}
	TERM=xterm on_terminal | grep -q "$(printf '\033')" ||
		fail "no colour on a terminal"
	TERM=xterm NO_COLOR=1 on_terminal | grep -q "$(printf '\033')" &&
		fail "colour in spite of NO_COLOR"
	TERM=dumb on_terminal | grep -q "$(printf '\033')" &&
		fail "colour on a dumb terminal"
	TERM=xterm on_terminal --color=never | grep -q "$(printf '\033')" &&
		fail "colour in spite of --color=never"
fi

for wrong in nosuch '' 'pid,-pid'; do
	"$tnfdump" --columns "$wrong" $trace > /dev/null 2>&1
	[ $? -eq 2 ] || fail "--columns '$wrong' is accepted"
done
"$tnfdump" --color=sometimes $trace > /dev/null 2>&1
[ $? -eq 2 ] || fail "--color=sometimes is accepted"
# The latest first: the same lines, whatever they show, and no other format.  (A
# string with a newline in it makes two lines of text.)
for f in *.tnf; do
	case $f in empty* | scalars*) continue ;; esac
	for how in "--no-header" "--no-header --pretty" "--to csv"; do
		# shellcheck disable=SC2086  # words are meant
		"$tnfdump" $how "$f" | grep -v ^time_ns > "$TMP/want"
		# shellcheck disable=SC2086
		"$tnfdump" $how --reverse "$f" | grep -v ^time_ns | tac > "$TMP/got"
		cmp "$TMP/want" "$TMP/got" || fail "$f: --reverse $how"
	done
done
is "$("$tnfdump" --reverse --no-header --last 1us $trace | head -1)" \
	"$("$tnfdump" --no-header $trace | tail -1)"
# Widths, and the words of trcrpt.
"$tnfdump" --columns probe:8,cpu:6,args $trace | grep -q '^thread_exit      [0-9] *$' || fail "no widths"
for wrong in args:3 probe:0 probe:201 probe:x -probe:3; do
	"$tnfdump" --columns $wrong $trace >/dev/null 2>"$TMP/err" && fail "--columns $wrong is taken"
	grep -q width "$TMP/err" || fail "--columns $wrong: $(cat "$TMP/err")"
done
[ "$("$tnfdump" -O pid=on,tid=on,cpuid=off,timestamp=1 $trace | sed -n 2p | tr -s ' ')" = \
	" PID LWPID Elapsed (ms) Probe Name Data / Description . . ." ] || fail "-O: columns"
"$tnfdump" -O hist=on $trace 2>&1 | grep -q -- '--stats counts' || fail "-O hist=on"
"$tnfdump" -O pids=on $trace >/dev/null 2>&1 && fail "-O pids=on is taken"

for wrong in "-r" "--to chrome" "--stats" "--diff"; do
	# shellcheck disable=SC2086  # words are meant
	"$tnfdump" $wrong --reverse $trace > /dev/null 2>&1
	[ $? -eq 2 ] || fail "--reverse $wrong is accepted"
done

# The time of day is not in files of the original writers; tests/prex/runtime.sh has one
# that tells it.
"$tnfdump" --pretty --no-header $trace | grep -q ^20 && fail "--pretty: a time of day"

# A file made from a trace is not for more people than the trace.
"$mktrace" -n 10 "$TMP/x.tnf" || fail "mktrace"
umask 022
chmod 0600 "$TMP/x.tnf"
"$tnfdump" --to html -o "$TMP/x.html" "$TMP/x.tnf" || fail "--to html"
is "$(stat -c %a "$TMP/x.html")" 600
chmod 0640 "$TMP/x.tnf"
"$tnfdump" --to jsonl -o "$TMP/x.jsonl" "$TMP/x.tnf" || fail "--to jsonl"
is "$(stat -c %a "$TMP/x.jsonl")" 640
echo "columns are as asked for"
