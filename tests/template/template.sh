#!/bin/sh
# template.sh - report templates on a golden trace: each statement once.
# usage: template.sh TNFDUMP
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_golden
scratch
tnfdump=$1
trace=$TNF_GOLDEN/kern_live.lp64.tnf

# shows WANTED TEMPLATE: a line of the report ends in WANTED
shows() {
	printf '%s\n' "$2" >"$TMP/t"
	"$tnfdump" -t "$TMP/t" "$trace" >"$TMP/out" 2>"$TMP/err" ||
		fail "template refused: $2: $(cat "$TMP/err")"
	grep -qF -- "$1" "$TMP/out" ||
		fail "\"$1\" expected of: $2; got: $(head -n 5 "$TMP/out")"
}

# refuses MESSAGE TEMPLATE
refuses() {
	printf '%s\n' "$2" >"$TMP/t"
	"$tnfdump" -t "$TMP/t" "$trace" >"$TMP/out" 2>"$TMP/err"
	[ $? -eq 2 ] || fail "status 2 expected for: $2"
	grep -qF -- "$1" "$TMP/err" || fail "\"$1\" expected; got: $(cat "$TMP/err")"
	[ ! -s "$TMP/out" ] || fail "output in spite of an error: $2"
}

shows 'n=3 0x3 03 0b11 ' 'syscall_start { "n={sysnum} {sysnum:X} 0{sysnum:O} 0b{sysnum:B} " }'
shows 'go {3}' 'syscall_start "go" { "{{{sysnum}}}" }'
shows '[    3][3    ]' 'syscall_start { "[{sysnum:5}][{sysnum:-5}]" }'
shows 'ENOENT [2.000 usec]' 'syscall_start { starttimer (lwpid) }
syscall_end { if (errno != 0) { "{errno:E}" } else { "ok" } endtimer (lwpid) }'
shows 'many' 'syscall_start { switch (sysnum) { 3 { "three" } 4, 5, 6 { "many" } default { "x" } } }'
shows 'three' 'syscall_start { switch (sysnum) { 3 { "three" } default { "x" } } }'
shows 'x' 'syscall_start { switch (sysnum) { 99 { "three" } default { "x" } } }'
shows 'read idle' 'strategy { bits (flags) { 0x40 "read" 0x1 "busy" "idle" } }'
shows '<0xfffffffffb801234>' 'thread_block { for $p in (stack) { "<{$p:Y}>" } }'
shows 'seen 7' 'syscall_start { if ($n) { let $n = $n + 1 } else { let $n = 1 } "seen {$n}" }'
shows 'sub 3' '@s { "sub {sysnum}" }
syscall_start { use @s }'
shows 'pagein star' 'page* { "star" }'
shows 'paren' 'syscall_start { if (probe != ")" and probe != "x\")") { "paren" } }'
shows 'elif' 'syscall_start { if (sysnum == 99) { "if" } else if (sysnum == 3) { "elif" } }'
shows 'xxx$' 'syscall_start { loop (sysnum) { "x" } "$" }'
shows '1 3 [-] syscall_start' 'syscall_start { "1 {$1} [{$2}] {$TRACEID}" }'
shows 'kern_live.lp64.tnf' 'syscall_start { "{$LOGFILE}" }'
shows 'b1' 'syscall_start { bits (sysnum) { 0x3 = 0x3 "b1" 0x3 = 0x1 "b2" } }'
shows 'not two' 'syscall_start { bits (sysnum) { 0x3 = 0x2 "two" "not two" } }'
shows 'before' 'syscall_start { "before" break " behind" }'
shows 'none -' 'syscall_start { "none {nothere}" }'

printf 'syscall_start { "x" }\ndefault { skip }\n' >"$TMP/t"
n=$("$tnfdump" -t "$TMP/t" "$trace" | wc -l)
[ "$n" -eq "$("$tnfdump" "$trace" | grep -c ' syscall_start  ')" ] ||
	fail "skip: $n lines"
# The template's own newline is one on a terminal as well.
if command -v script >/dev/null; then
	printf 'syscall_start { "two\\nlines" }\ndefault { skip }\n' >"$TMP/t"
	script -qec "$tnfdump -t $TMP/t $trace" /dev/null </dev/null | grep -q '^lines' ||
		fail "no newline on a terminal"
fi
printf 'default { stop }\n' >"$TMP/t"
[ "$("$tnfdump" -t "$TMP/t" "$trace" | wc -l)" -eq 1 ] || fail "stop"

# A template that uses itself ends.
printf '@r { "." use @r }\nsyscall_start { use @r }\n' >"$TMP/t"
timeout 120 "$tnfdump" -t "$TMP/t" "$trace" >"$TMP/out" || fail "endless template"

refuses ":2: " 'a { "x" }
b { "{x ==}" }'
refuses "'}' expected" 'a { "{x:D" }'
refuses 'no format letter' 'a { "{x:Q}" }'
refuses 'no sub-template "@zz"' 'a { use @zz }'
refuses 'no statement begins with "bogus"' 'a { bogus }'
refuses 'string without end' 'a { "abc'
"$tnfdump" --where '$x == 1' "$trace" >/dev/null 2>"$TMP/err" &&
	fail "a variable outside a template"
grep -q 'only templates have variables' "$TMP/err" || fail "message for a variable"
echo "templates: passed"

# Statements that end the line, or the report.
printf 'syscall_start { "kept" error "sysnum {sysnum}" " not" }\ndefault { skip }\n' >"$TMP/t"
"$tnfdump" -t "$TMP/t" "$trace" >"$TMP/out" 2>"$TMP/err"
[ $? -eq 1 ] || fail "error: status 1 expected"
grep -q 't:1: sysnum 3: syscall_start of .*kern_live.lp64.tnf at 0x' "$TMP/err" || fail "error: $(cat "$TMP/err")"
grep -q 'kept$' "$TMP/out" || fail "error: the line is gone: $(cat "$TMP/out")"
refuses '$PID has its value from the event' 'syscall_start { let $PID = 1 }'
refuses "value of the bits expected behind '='" 'strategy { bits (flags) { 1 = "x" } }'

# The directories: TNF_TEMPLATES, the user's, each file of them with "default".
mkdir -p "$TMP/own" "$TMP/config/tnf/fmt.d"
export XDG_CONFIG_HOME="$TMP/config"
echo 'syscall_start { "from user" use @s } @s { "!" }' >"$XDG_CONFIG_HOME/tnf/fmt.d/calls.fmt"
echo 'syscall_start { "from own" }' >"$TMP/own/calls.fmt"
echo 'syscall_end { "from own" } default { skip }' >"$TMP/own/ends.fmt"
ends_in() { # TEXT OPTION...: the first line of syscall_start ends in it
	text=$1; shift
	(cd "$TMP" && "$tnfdump" "$@" "$trace") | grep -m 1 ' syscall_start ' | grep -q "$text\$" ||
		fail "$text expected of $*"
}
case $tnfdump in /*) ;; *) tnfdump=$PWD/$tnfdump ;; esac
ends_in 'from user!' -t calls
ends_in 'from user!' -t calls.fmt
ends_in 'from user!' -t default
TNF_TEMPLATES=$TMP/nowhere:$TMP/own ends_in 'from own' -t calls
[ "$(TNF_TEMPLATES=$TMP/own "$tnfdump" -t default "$trace" | grep -c 'from own')" -gt 1 ] || fail "-t default"
"$tnfdump" -t nowhere "$trace" 2>&1 | grep -q 'nor in the directories of templates' || fail "-t nowhere"
