#!/bin/sh
# mark.sh - prex's "mark" in the trace files of processes: once in each, whole, in every
# format, by who gave it; the process does nothing for it; what cannot be marked is said.
# Usage: mark.sh PREX TNFDUMP FORKER RUNS
#
# Guards: a mark that the target has to write; two of them where several processes share a
# file; a file that counts a writer which never ends; a file of somebody else's.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
need_program jq python3
scratch
prex=$(realpath "$1") tnfdump=$(realpath "$2") forker=$(realpath "$3") runs=$(realpath "$4")
cd "$TMP" || exit 1
chmod 755 "$TMP"
export HOME="$TMP"
me=$(id -un) || me=$(id -u)

ended() { kill -9 "$pid" 2>/dev/null; wait 2>/dev/null; }
trap 'ended; test_end' EXIT
trap 'exit 1' HUP INT TERM

jsonl() { "$tnfdump" --to jsonl "$@" | grep '"probe"' >events; }
# marks FILE: their texts, one a line.
marks() { jsonl "$1"; jq -r 'select(.probe == "mark") | .args.text' events; }
# what FILE IS-MARKED...: these texts, in this order.
what() {
	_f=$1; shift
	marks "$_f" >got
	printf '%s\n' "$@" >want
	cmp -s got want || fail "$_f: $(cat got), should be $*"
	"$tnfdump" --info=json "$_f" | jq -e '.ended != false' >/dev/null ||
		fail "$_f: a writer has not ended: $("$tnfdump" --info "$_f")"
}
pid=

# A target that we start, with children in the same file, before its first event.
"$prex" --follow-fork -o f.tnf -c 'enable $all
mark begin 1 of_2; mark '\''the rest: "of" it'\''
continue' "$forker" 3 >out 2>err || fail "$(cat out err)"
what f.tnf 'begin 1 of_2' 'the rest: "of" it'
[ "$(jq -r 'select(.probe == "mark") | .args.by' events | sort -u | sed 's/\[.*//')" = "$me by prex" ] ||
	fail "by: $(grep mark events)"
[ "$(grep -c '"probe":"turn"' events)" -eq 9 ] || fail "events: $(cat events)"
head -n 1 events | grep -q 'begin 1' || fail "the first event: $(head -n 1 events)"
# The trace is the target's, though we wrote first.
jq -se --argjson p "$("$tnfdump" --info=json f.tnf | jq .pid)" \
	'map(select(.probe == "turn" and .args.who == "parent") | .pid) | unique == [$p]' events >/dev/null || fail "writer"

# As a mark in every format.
"$tnfdump" f.tnf | grep -q 'mark  *text: "begin 1 of_2" by: "'"$me" || fail "text"
python3 "$TNF_SOURCE/tests/writer/steps.py" f.tnf tnf_string:1 || fail "a record's size"
"$tnfdump" --to chrome f.tnf >chrome || fail "chrome"
jq -e '[.. | objects | select(.ph? == "i" and .name == "begin 1 of_2" and .s == "g")] | length == 1' \
	chrome >/dev/null || fail "chrome: $(grep begin chrome)"
"$tnfdump" --to perfetto f.tnf >perfetto || fail "perfetto"
grep -aq 'marks' perfetto && grep -aq 'begin 1 of_2' perfetto || fail "perfetto"
"$tnfdump" --to csv f.tnf | grep -q 'begin 1 of_2' || fail "csv"
"$tnfdump" --to sqlite -o db f.tnf && grep -aq 'begin 1 of_2' db || fail "sqlite"
"$tnfdump" --to tnf -o again.tnf f.tnf || fail "tnf"
what again.tnf 'begin 1 of_2' 'the rest: "of" it'

# One that we attach to, again and again; it need not run, and is not made to.
"$runs" select 600000 >/dev/null 2>&1 & pid=$!
asleep() { [ "$(awk '{ print $3 }' "/proc/$pid/stat")" = S ]; }
wait_for 60 asleep || fail "it does not sleep"
for i in 1 2 3; do
	"$prex" -p "$pid" -o g.tnf -s 128 -c "mark number $i" >out 2>err || fail "$i: $(cat out err)"
done
[ "$(marks g.tnf | tr '\n' ' ')" = 'number 1 number 2 number 3 ' ] || fail "attached: $(marks g.tnf)"
kill -0 "$pid" || fail "it has ended"
[ "$(awk '/^TracerPid/ { print $2 }' "/proc/$pid/status")" = 0 ] || fail "it is held"
[ -d "/proc/$pid/task/$pid" ] || fail "it is gone"

# Numbers are members, and marks with others lie in the same file.
"$prex" -p "$pid" -c "mark 'queue' length=17 rest='-1' x='0x10' z='08'; mark 'queue' length=18" >out 2>err ||
	fail "numbers: $(cat out err)"
jsonl --where 'length > 0' g.tnf
[ "$(jq -c '.args | del(.text, .by)' events | tr '\n' ' ')" = '{"length":17,"rest":-1,"x":16,"z":8} {"length":18} ' ] ||
	fail "numbers: $(cat events)"
for c in n=5k n n= text=1 'a=1 a=2' a.b=1 "n='x'" "n='9223372036854775808'" \
	'a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1'; do
	"$prex" -p "$pid" -c "mark 'x' $c" >out 2>err && fail "$c: $(cat out)"
done
jsonl --where 'length > 0' g.tnf
[ "$(wc -l <events)" -eq 2 ] || fail "a refused mark: $(cat events)"

# A freeze: nothing more is recorded, and the file tells why.
"$prex" -p "$pid" -c "enable \$all; freeze 'it hangs: look'" >out 2>err || fail "freeze: $(cat out err)"
"$tnfdump" --info g.tnf | grep -q 'frozen: *at .* s: it hangs: look$' || fail "$("$tnfdump" --info g.tnf)"
"$prex" -p "$pid" -c 'list probes $all' >out 2>err || fail "$(cat err)"
grep -q 'enable=on' out && fail "probes are on in a frozen process: $(cat out)"
"$prex" -p "$pid" -c "freeze $(printf '%0128d' 0)" >out 2>err && fail "a reason of 128 bytes"

# Too long; nothing said; half of it quoted.
long=$(printf '%0256d' 0)
for c in "mark $long" mark "mark ''" "mark a 'b'"; do
	"$prex" -p "$pid" -c "$c" >out 2>err && fail "$c: $(cat out)"
done
"$prex" -p "$pid" -c "mark $(printf '%0255d' 0)" >out 2>err || fail "255: $(cat err)"
[ "$(marks g.tnf | tail -n 1 | wc -c)" -eq 256 ] || fail "255 bytes: $(marks g.tnf)"

# The word is still one for selectors.
"$prex" -p "$pid" -c 'list probes name=mark; enable mark' >out 2>err || fail "mark as a key: $(cat err)"

# A file that it has not: two names for one, or cut off meanwhile.
ln g.tnf h.tnf
"$prex" -p "$pid" -c 'mark x' >out 2>err && fail "a file with two names"
rm h.tnf
"$prex" -p "$pid" -c 'mark y' >out 2>err || fail "$(cat err)"
truncate -s 4096 g.tnf
"$prex" -p "$pid" -c 'mark z' >out 2>err && fail "a file that is cut off"
kill -0 "$pid" || fail "it has ended with its file"
# Something else in its place.
for k in 'ln -s /etc/passwd' mkfifo mkdir; do
	rm -f g.tnf
	$k g.tnf || fail "$k"
	timeout 60 "$prex" -p "$pid" -c 'mark elsewhere' >out 2>err
	[ $? -eq 1 ] && grep -q 'g.tnf: it is not the file of process' err || fail "$k: $(cat err)"
	grep -q Internal err && fail "$k: $(cat err)"
	rm -r g.tnf
done
ended

# A full one, in which nothing is overwritten.
"$runs" select 600000 >/dev/null 2>&1 & pid=$!
i=0
while "$prex" -p "$pid" --fill -o full.tnf -s 128 -c 'mark again' >out 2>err; do
	i=$((i + 1)); [ "$i" -lt 200 ] || fail "it is never full"
done
grep -q 'error in marking: .*full' err || fail "$(cat err)"
[ "$(marks full.tnf | grep -c again)" -eq "$i" ] || fail "$i marks, and $(marks full.tnf | wc -l)"
ended

# Another user's, whose rights the writer takes on.
[ "$(id -u)" -eq 0 ] || exit 0
need_program setpriv
# It may have no right to look into the build.
cp "$runs" user && cp "$TNF_BUILD/libtnfprobe/libtnfprobe.so.1" . && chmod 755 user libtnfprobe.so.1 || fail "copy"
LD_LIBRARY_PATH=$TMP setpriv --reuid 65534 --regid 65534 --clear-groups ./user select 600000 >/dev/null 2>&1 & pid=$!
wait_for 60 asleep || fail "it does not sleep"
"$prex" -p "$pid" -o u.tnf -c "mark for nobody" >out 2>err || fail "$(cat err)"
[ "$(marks u.tnf)" = 'for nobody' ] || fail "nobody's: $(marks u.tnf)"
