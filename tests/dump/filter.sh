#!/bin/sh
# filter.sh - which events the filters keep, and what they say to mistakes.
# Usage: filter.sh TNFDUMP
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1")
need_golden
scratch
cd "$TNF_GOLDEN" || fail "cannot enter $TNF_GOLDEN"
trace=kern_live.lp64.tnf

# keeps NUMBER OPTION...: so many events of the kernel's trace
keeps() {
	want=$1
	shift
	got=$("$tnfdump" --no-header "$@" $trace | wc -l)
	[ "$got" = "$want" ] || fail "$* keeps $got events, not $want"
}

# lines PATTERN: how many of the classic lines match
lines() { "$tnfdump" --no-header $trace | grep -c -E "$1"; }

# refuses WORD OPTION...: exit status 1 or 2 and a message with the word
refuses() {
	word=$1 rc=0
	shift
	"$tnfdump" "$@" $trace > "$TMP/out" 2> "$TMP/err" || rc=$?
	[ $rc -eq 1 ] || [ $rc -eq 2 ] || fail "$*: exit status $rc"
	grep -q -- "$word" "$TMP/err" || fail "$*: $(cat "$TMP/err")"
	[ ! -s "$TMP/out" ] || fail "$*: printed something"
}

all=$(lines .)
keeps "$all"
keeps "$(lines ' syscall_(start|end) ')" --probe 'syscall_*'
keeps "$(lines ' (biodone|pagein) ')" --probe biodone,pagein
keeps "$(lines ' (biodone|pagein) ')" --probe biodone --probe pagein
keeps "$(lines ' (biodone|pagein) ')" --where 'probe in ("biodone", "pagein")'
keeps "$(lines ' syscall_')" --key syscall
keeps "$(lines ' syscall_')" --where 'key == "syscall"'
keeps "$(lines '^ +[0-9.]+ +[0-9.]+ +321 ')" -p 321
keeps "$(lines '^ +[0-9.]+ +[0-9.]+ +321 ')" --where 'pid == 321'
keeps "$(lines '^ +[0-9.]+ +[0-9.]+ +321 +2 ')" -p 321 --tid 2
keeps "$(lines '0x[0-9a-f]+ +1 [a-z]')" --cpu 1
keeps "$all" --cpu 0-3,8
keeps 0 --cpu 9
keeps "$(lines ' errno: 2$')" --where 'errno == "ENOENT"'
keeps "$(lines ' errno: 0$')" --where 'has errno and errno == 0'
keeps "$(lines ' size: 8192')" --where 'size == 8K'
keeps "$(lines ' address: 0x')" --where 'has address'
keeps "$(lines 'state: (1|8)$')" --where 'state in ("SYSTEM", "WAIT_CPU")'
keeps 1 --where 'elapsed == 0'
keeps 11 --from 0us --until 10us
keeps 11 --from 0us --to 10us
keeps 6 --from 5us --until 10us
keeps $((all - 5)) --from 5us
keeps 6 --from @1000000005000 --until @1000000010000
keeps 1 --last 1ns
keeps "$(lines ' thread_block ')" --where 'has stack and has reason'
keeps 1 --where 'stack[0] != 0'
keeps 0 --where 'nosuchmember == 1'
keeps 0 --where 'not (nosuchmember == 1)'

# Every format takes them.
[ "$("$tnfdump" --to jsonl --probe pagein $trace | grep -c '"pagein"')" = \
    "$(lines ' pagein ')" ] || fail "jsonl with --probe"

# States come from all writers; the filter chooses threads.
for option in '-p 654' '--tid 2'; do
	# shellcheck disable=SC2086
	[ "$("$tnfdump" --states $option $trace | sed 1d)" = "$("$tnfdump" --states $trace |
	    awk -v o="$option" 'NR > 1 && (o ~ /^-p/ ? $1 == 654 : $2 == 2)')" ] ||
	    fail "--states $option: other times"
done

refuses "'=='" --where 'pid = 5'
refuses '	         ^' --where 'pid == 5 5'
refuses 'list of numbers' --cpu x
refuses 'matches "nosuch"' --probe nosuch
refuses 'matches "nosuch"' --key nosuch
refuses 'time expected' --from yesterday
refuses 'time of day' --from 03:12:20
refuses 'duration' --last x
refuses 'nor a time' --to nosuch
refuses 'names of processes' -p cat
refuses 'name expected' --probe a,
refuses 'first write' -r --cpu 1
refuses 'name it with' --to ctf
refuses 'number or string expected' --stats=,
refuses 'with another format' -r --to jsonl
refuses 'with another format' -r --diff
refuses 'as they are' -r --columns pid
refuses 'as they are' -r --pretty
refuses 'with another format' --columns pid --to csv
refuses 'with another format' --two-line --stats
refuses 'with another format' --columns pid --diff
refuses 'with another format' --diff --to csv
"$tnfdump" --stats='(' $trace 2> /dev/null
[ $? -eq 2 ] || fail "--stats='(' is no wrong option"

# --diff reads each file by itself: time is over in one only, and probes have
# other numbers.
"$tnfdump" --diff --until 10us $trace $trace | awk '/100.0%|new$/ { exit 1 }' ||
	fail "--diff --until: files differ from themselves"
for option in --where='probe == "syscall_end"' --probe=syscall_end; do
	"$tnfdump" --no-header --to tnf --where 'probe == "syscall_end" or elapsed > 10us' \
	    $trace > "$TMP/other"
	"$tnfdump" --diff "$option" $trace "$TMP/other" |
		awk '$1 ~ /^[0-9]/ && $NF != "syscall_end" && $NF != "syscall" { exit 1 }' ||
		fail "--diff $option: other probes"
done

# A slip is told; what has is asked about is none.
"$tnfdump" --where 'sizee == 8K or (has nosuch and nosuch == 1)' $trace \
    > /dev/null 2> "$TMP/err" || fail "--where with a slip: exit status $?"
[ "$(cat "$TMP/err")" = \
    "tnfdump: --where: no probe has a member sizee: did you mean size?" ] ||
	fail "--where with a slip: $(cat "$TMP/err")"
"$tnfdump" --where 'size == 8K' $trace 2>&1 > /dev/null | grep . &&
	fail "--where without a slip"
"$tnfdump" --stats=sizee --pair syscall_start,syscall_endd,tack $trace \
    > /dev/null 2> "$TMP/err"
[ $? -eq 1 ] || fail "--pair with a slip: exit status $?"
[ "$(cat "$TMP/err")" = "\
tnfdump: --pair: no probe has the name syscall_endd: did you mean syscall_end?
tnfdump: --pair: no probe has a member tack: did you mean stack?
tnfdump: --stats: no probe has a member sizee: did you mean size?" ] ||
	fail "--pair with a slip: $(cat "$TMP/err")"
"$tnfdump" --stats=pid --pair strategy,biodone,buf $trace 2>&1 \
    > /dev/null | grep . && fail "--pair without a slip"

"$tnfdump" -o - $trace > "$TMP/out" && [ -s "$TMP/out" ] && [ ! -e ./- ] ||
	fail "-o - is not standard output"

# A file that is read is not written over, whatever the format.
cp $trace "$TMP/source"
for format in text jsonl tnf; do
	"$tnfdump" --to $format -o "$TMP/source" "$TMP/source" 2> "$TMP/err" &&
		fail "--to $format wrote over its source"
	grep -q "one of the files to be read" "$TMP/err" || fail "$(cat "$TMP/err")"
	cmp "$TMP/source" $trace || fail "--to $format: source was changed"
done
echo "filters agree with grep"
