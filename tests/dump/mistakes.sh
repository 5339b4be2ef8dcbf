#!/bin/sh
# mistakes.sh - who selects nothing, filters nothing or asks for what does not go
# together is told so, with the thing's name and what was probably meant; the
# order of options makes no difference.
# Usage: mistakes.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
scratch
cd "$TMP" || exit 1

cat > lines <<'M'
probe work_start io n:tnf_int32 size:tnf_int32
probe work_end io n:tnf_int32
1000 7 7 0x100 0 work_start 1 4096
2000 7 7 0x100 0 work_end 1
3000 7 7 0x100 0 work_start 2 4096
9000 7 7 0x100 0 work_end 2
@task 7 7 1 bakery
@task 9 7 1 oven
M
{ echo kernel; echo kernel-part; echo boot 1; cat lines; } | "$story" a.tnf || fail "story"
{ echo kernel; echo kernel-part; echo boot 2; cat lines; } | "$story" b.tnf || fail "story"
printf 'default { "{elapsed}" }\n' > t
printf 'work_start { if (elapsed > 2us) { "late {elapsed}" } else { "early {elapsed}" } }\ndefault { "x" }\n' > when

# The table: exit status, what is said (""; a part of a line), options.
while IFS='|' read -r status says options; do
	[ -n "$status" ] || continue
	for order in before behind; do	# options and files
		behind="$(echo "$options" | grep -o '[a-z]*\.tnf' | tr '\n' ' ')$(echo "$options" |
		    sed 's/[a-z]*\.tnf//g')"
		[ $order = behind ] || behind=$options
		eval "set -- $behind"
		rc=0
		"$tnfdump" "$@" > out 2> err || rc=$?
		[ $rc -eq "$status" ] || fail "$*: exit status $rc: $(cat err)"
		if [ -z "$says" ]; then
			[ ! -s err ] || fail "$*: $(cat err)"
		else
			grep -q -F -- "tnfdump: $says" err || fail "$*: $(cat err)"
			[ "$(grep -c ^tnfdump: err)" -eq 1 ] || fail "$*: says more: $(cat err)"
		fi
	done
done <<'M'
0||--where 'n == 1' a.tnf
0||-p bakery a.tnf
0||-p 7 --cpu 0 --tid 7 --probe 'work*' --key io a.tnf
0|-p bakkery: no event that was read is of a process of that name: did you mean bakery?|-p bakkery a.tnf
0|-p nosuch: no event that was read is of a process of that name|-p nosuch a.tnf
0|-p 4711: no event that was read is of that process|-p 4711,bakery a.tnf
0|-p oven: a thread, not a process: --tid oven|-p oven a.tnf
0|--tid 4711: no event that was read is of that thread|--tid 4711 a.tnf
0|--cpu 99: no event that was read is of that CPU: there are events of 0 to 0|--cpu 99 a.tnf
0|--cpu 5: no event that was read|--cpu 0,5 a.tnf
1|--probe: nothing in the trace matches "nosuch"|--probe nosuch a.tnf
1|--key: nothing in the trace matches "nosuch"|--key nosuch a.tnf
0|--where: no probe has a member sizee: did you mean size?|--where 'sizee > 1' a.tnf
2|--where: |--where '$x > 1' a.tnf
2|--where: |-t t --where '$x > 1' a.tnf
2|--where: |--where '$x > 1' -t t a.tnf
0|--pair: no probe has the name nosuch|--pair work_start,nosuch --stats a.tnf
1|--pair: no probe has a member nosuch|--pair work_start,work_end,nosuch --stats a.tnf
1|--pair: work_end has no member size: work_start and work_end are not paired|--pair work_start,work_end,size --stats a.tnf
0||--pair work_start,work_end,n --stats a.tnf
2|--to: not with --template|-t t --to jsonl a.tnf
2|--stats: not with --template|-t t --stats a.tnf
2|--states: not with --stats|--stats --states a.tnf
0|--states: no event tells a state of a thread|--states a.tnf
2|--normalize: groups the texts|--normalize --stats a.tnf
2|--stats: within() belongs to --where|--stats='within(x)' a.tnf
2|--id: belongs to --why|--id 7 a.tnf
2|--why-slow: not with --why|--why --why-slow a.tnf
2|--why: is text, --to jsonl or --to folded|--why --to csv a.tnf
2|--tree: not with --info|--info --tree a.tnf
0||--to csv --to jsonl a.tnf
2|--histogram: draws the durations of --stats|--histogram a.tnf
2|--deviation: a column of --stats|--deviation a.tnf
2|--pretty: makes no difference in this format|--pretty --to folded a.tnf
2|--pretty: makes no difference in this format: not with --info, --states or --to ctf, folded, html,|--pretty --to html a.tnf
2|--to ctf: writes a directory: name it with --output|--to ctf a.tnf
0|b.tnf: of another boot than a.tnf: their times do not compare: print each alone|a.tnf b.tnf
0||--info a.tnf b.tnf
0||--diff a.tnf b.tnf
1|cannot open nosuch.tnf|nosuch.tnf
2|--nosuch: unknown or ambiguous option: see|--nosuch a.tnf
2|--html: unknown or ambiguous option: did you mean --to html?|--html a.tnf
2|--json: unknown or ambiguous option: did you mean --to jsonl?|--json a.tnf
2|--statz=n: unknown or ambiguous option: did you mean --stats?|--statz=n a.tnf
2|--st: unknown or ambiguous option: see|--st a.tnf
2|--to: json: neither a format nor a time: formats are text jsonl csv |--to json a.tnf
M

# Events that are not paired are not shown as pairs.
"$tnfdump" --pair work_start,work_end,nosuch --stats a.tnf 2> /dev/null | grep -q what &&
	fail "--pair: pairs of what cannot be told apart"
[ "$("$tnfdump" --pair work_start,work_end,n --stats a.tnf | grep -c what)" -eq 1 ] ||
	fail "--pair: no pairs"

# Letters are the original's: getopt()'s line, and how to call.
"$tnfdump" -z a.tnf 2> err
[ $? -eq 1 ] && [ "$(cat err)" = "tnfdump: invalid option -- 'z'
Usage: tnfdump [-r] <tnf_file> [<tnf_file> ...]" ] || fail "-z: $(cat err)"

# A file that looks like an option is one, behind a file, and behind "--".
cp a.tnf ./-x
[ "$("$tnfdump" --no-header a.tnf -x | wc -l)" -eq 8 ] || fail "a file called -x"
[ "$("$tnfdump" --no-header -- -x | wc -l)" -eq 4 ] || fail "-- -x"
rm ./-x
POSIXLY_CORRECT=1 "$tnfdump" a.tnf -x > /dev/null 2> err
[ $? -eq 1 ] && grep -q 'cannot open -x' err || fail "POSIXLY_CORRECT: $(cat err)"

# Elapsed time counts from the first event in templates, too.
[ "$("$tnfdump" -t when a.tnf | sed 's/.* //' | tr '\n' ' ')" = "0 x 2000 x " ] ||
	fail "elapsed: $("$tnfdump" -t when a.tnf)"
"$tnfdump" -t when --where 'elapsed >= 0' a.tnf > out
"$tnfdump" -t when a.tnf | cmp - out || fail "elapsed: --where changes it"

# Lost events: told in every mode; overwritten ones to who asks.
{ echo process 7; echo lost 0 5; sed /^@/d lines; } | "$story" lost.tnf || fail "story"
for mode in '' -r -x --stats --info; do
	# shellcheck disable=SC2086
	"$tnfdump" $mode --fail-on-loss lost.tnf > out 2> err
	[ $? -eq 3 ] || fail "$mode: lost: exit status"
	grep -q 'lost.tnf: 5 events were lost (no free block: 5)' err || fail "$mode: $(cat err)"
done
{
	echo blocks 4; echo wrap; echo process 7; echo probe step a n:tnf_int32
	awk 'BEGIN { for (i = 1; i <= 6000; i++) print i, 7, 7, 7, 0, "step", i }'
} | "$story" laps.tnf || fail "story"
"$tnfdump" laps.tnf > out 2> err || fail "laps: $(cat err)"
[ ! -s err ] || fail "laps: $(cat err)"
[ "$(wc -l < out)" -lt 6000 ] || fail "laps: nothing was overwritten"
for mode in '' -r; do
	# shellcheck disable=SC2086
	"$tnfdump" $mode --fail-on-loss laps.tnf > out 2> err
	[ $? -eq 3 ] && grep -q 'laps.tnf: events were overwritten' err || fail "$mode: laps: $(cat err)"
done
"$tnfdump" --fail-on-loss a.tnf > out 2> err || fail "nothing lost: $(cat err)"

# Figures of a comparison are in the units of its table.
"$tnfdump" --diff --fail-on 'max(work) > 1us' --fail-on 'count(work) > 1' a.tnf a.tnf > out 2> err
grep -q '^ *2          2    +0.0% .* work$' out || fail "--diff: $(cat out)"
grep -q 'max(work) > 1us: work: 6.000 us, was 6.000 us$' err || fail "--fail-on: $(cat err)"
grep -q 'count(work) > 1: work: 2, was 2$' err || fail "--fail-on: $(cat err)"
echo "mistakes are told"
