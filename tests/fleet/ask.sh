#!/bin/sh
# ask.sh - three agents with recorded files are asked; some are away, or are killed, or
# the server is; who asks again gets the rest, and nothing twice.
# Usage: ask.sh TNFWATCH TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/fleet/lib.sh"
fleet_programs "$@"
server
asker
# Without a registry, nobody: said, and no success.
ask --wait 1s -o nobody > out 2>&1 && wrong "nobody: status 0"
grep -q 'no host is registered' out || wrong "nobody: $(cat out)"

agent web1 role=web
agent web2 role=web 'rate = 200k'
agent db1 'role=db site=b'
wait_for 120 answers_all 3 || fail "not all answer: $(cat try.out ./*.log)"

# All of it, of all of them.
ask -o all > out 2>&1 || wrong "all: $(cat out)"
grep -q '^pin: 3 of 3 hosts' out && grep -q '^fetch: 3 of 3' out || wrong "all: $(cat out)"
for h in web1 web2 db1; do
	cmp -s "rec/$h/shop.tnf" "all/$h/shop.tnf" || wrong "all: $h"
	grep -q '^offset ' "all/$h/clock" && grep -q '^error ' "all/$h/clock" || wrong "clock: $h"
done
[ "$("$DUMP" --hosts --no-header --columns host all/* | sort | uniq -c | tr -s ' ' | tr '\n' ',')" = \
	" 40 db1, 40 web1, 40 web2," ] || wrong "merged: $("$DUMP" --hosts all/* | head -5)"
# Once more: the same question, nothing is fetched twice.
ask -o all > out 2>&1 || wrong "again: $(cat out)"
grep -q 'fetch: 3 of 3 hosts, 0 chunks, 0 bytes' out || wrong "again: $(cat out)"
# Another question does not go into the same directory.
ask --hosts web1 -o all > out 2>&1 && wrong "another question: status 0"
grep -q 'holds the answer' out || wrong "another question: $(cat out)"

# Some of them, and some of it.
ask --label role=web --where 'id < 5' -o some > out 2>&1 || wrong "some: $(cat out)"
[ "$(ls some | tr '\n' ' ')" = "web1 web2 " ] || wrong "some: $(ls some)"
[ "$("$DUMP" --hosts --no-header some/* | wc -l)" = 10 ] || wrong "some: $("$DUMP" --hosts some/*)"
ask --hosts 'db*' --label site=b -o db > out 2>&1 || wrong "db: $(cat out)"
[ "$(ls db)" = db1 ] || wrong "db: $(ls db)"
# An expression that is none is not asked; who asks it all the same, or something that looks
# like an option, gets no file, is not told that this was all, and runs nothing.
ask --hosts web1 --where '; touch owned' -o evil > out 2>&1
[ $? -eq 2 ] && [ ! -e evil ] && grep -q 'means nothing here' out || wrong "no expression: $(cat out)"
for e in '; touch owned' '--output=owned'; do
	sed -e "s/^where .*/where $e/" -e "s/^question .*/question evil-${#e}/" some/.question > evil
	rm -rf evil.d && mkdir evil.d && mv evil evil.d/.question
	ask -o evil.d > out 2>&1
	[ $? -eq 3 ] || wrong "$e: status: $(cat out)"
	grep -q '^missing: web1: .*shop.tnf cannot be filtered' out || wrong "$e: $(cat out)"
done
[ -z "$(find . -name owned)" ] || wrong "a question wrote a file"

# One that is away is named; when it is there again the question gets the rest.
kill -9 "$PID_web2"
ask --wait 20s -o away > out 2>&1
[ $? -eq 3 ] || wrong "away: status $?"
grep -q '^missing: web2: ' out && grep -q '^fetch: 2 of 3' out || wrong "away: $(cat out)"
start_agent web2
wait_for 120 answers_all 3 || wrong "web2 does not come back: $(cat try.out)"
ask -o away > out 2>&1 || wrong "away, again: $(cat out)"
cmp -s rec/web2/shop.tnf away/web2/shop.tnf || wrong "away, again: web2"

# The server is killed and comes again, with the registry and all connections.
kill -9 "$SERVER"
server
wait_for 120 answers_all 3 || wrong "after the server: $(cat try.out web1.log)"
ask -o after > out 2>&1 || wrong "after the server: $(cat out)"

# A large file of a slow one: the asker is killed in the middle, and so is the agent.
dd if=/dev/urandom of=big bs=1024 count=3000 2>/dev/null
mkdir -p rec/slow && cat rec/web1/shop.tnf big > rec/slow/shop.tnf
agent slow role=slow 'rate = 256k'
wait_for 120 answers_all 4 || wrong "slow: $(cat try.out)"
"$W" -c ask.conf ask --label role=slow -o slow > out 2>&1 &
ASK=$!
STARTED="$STARTED $ASK"
begun() { [ "$(stat -c %s slow/slow/.part-shop.tnf 2>/dev/null || echo 0)" -ge "$1" ]; }
wait_for 120 begun 262144 || wrong "slow: not begun"
kill -9 $ASK
wait $ASK 2>/dev/null
had=$(stat -c %s slow/slow/.part-shop.tnf)
[ "$had" -lt "$(stat -c %s rec/slow/shop.tnf)" ] || wrong "slow: whole already"
"$W" -c ask.conf ask -o slow > out 2>&1 &
ASK=$!
STARTED="$STARTED $ASK"
wait_for 120 begun $((had + 262144)) || wrong "slow: does not go on"
# Two at once would write the same file.
ask -o slow > two 2>&1 && wrong "two at once: $(cat two)"
grep -q 'another tnfwatch ask' two || wrong "two at once: $(cat two)"
kill -9 "$PID_slow"
start_agent slow
wait $ASK || wrong "slow: $(cat out slow.log)"
cmp -s rec/slow/shop.tnf slow/slow/shop.tnf || wrong "slow: differs"
# Bytes that were there were not fetched once more.
size=$(stat -c %s rec/slow/shop.tnf)
grep -q ", $((size - had)) bytes (.* $had were there" out || wrong "slow: had $had of $size: $(cat out)"

# A rate with which a whole chunk takes longer than anybody waits.
dd if=/dev/urandom of=big bs=1024 count=520 2>/dev/null
mkdir -p rec/crawl && cp big rec/crawl/shop.tnf
agent crawl role=crawl 'rate = 45k'
keeps() { ask --label "role=$1" --wait 2s --bytes 1 -o try > try.out 2>&1; rm -rf try
	grep -q "^pin: 1 of 1 " try.out; }
wait_for 120 keeps crawl || wrong "crawl: $(cat try.out)"
ask --label role=crawl --wait 60s --patience 30s -o crawl > out 2>&1 || wrong "crawl: $(cat out)"
cmp -s big crawl/crawl/shop.tnf || wrong "crawl: differs"

# More files than an answer has room for: what is left out is told.
mkdir -p rec/many && trace rec/many/shop.tnf many 77
i=0; while [ $((i += 1)) -lt 600 ]; do ln rec/many/shop.tnf rec/many/$i.tnf; done
agent many role=many
wait_for 120 keeps many || wrong "many: $(cat try.out)"
ask --label role=many --wait 60s -o many > out 2>&1
[ $? -eq 3 ] || wrong "many: status: $(cat out)"
grep -q '^missing: many: fetched without 88 of its files' out || wrong "many: $(cat out)"
[ "$(ls many/many/*.tnf | wc -l)" -eq 512 ] || wrong "many: files"

# So many questions, and no more.
agent few role=few 'limit = 1/hour'
few() { ask --label role=few --wait 20s -o "few$1" > out 2>&1; }
registered() { rm -rf few1; few 1; grep -q '^pin: 1 of 1' out; }
wait_for 120 registered || wrong "few: $(cat out)"
few 2
grep -q 'missing: few: refused: asked too often' out || wrong "limit: $(cat out)"
# One asker does not use up what another may ask.
for h in honest other; do
	{ cat ask.conf; echo "asker = $h"; } > "$h.conf"
	"$W" -c "$h.conf" ask --label role=few --wait 20s -o "few-$h" > out 2>&1
	grep -q '^pin: 1 of 1' out || wrong "$h: locked out by others: $(cat out)"
done
"$W" -c honest.conf ask --label role=few --wait 20s -o few3 > out 2>&1
grep -q 'missing: few: refused: asked too often' out || wrong "limit of honest: $(cat out)"
ask -o few1 > out 2>&1 || wrong "a question that was asked before is none: $(cat out)"

# Files that were filtered for others go when they take too much; notes of questions by age.
agent small role=small
sed -i 's/^directory/limit = 8m\n&/' small.conf
kill -9 "$PID_small"
start_agent small
small() { rm -rf small1; ask --label role=small --wait 2s -o small1 > out 2>&1; }
wait_for 120 small || fail "small: $(cat out)"
F=kept/small/fleet
first=$(ls $F | head -1)
sed 's/^question .*/question old/' "$F/$first" > $F/old
sed 's/^question .*/question young/' "$F/$first" > $F/young
: > $F/half-old
: > $F/half-young
touch -d '9 days ago' $F/old $F/half-old
touch -d '6 days ago' $F/young $F/half-young
for i in 1 2 3; do
	mkdir $F/q$i.slice && head -c 700000 /dev/urandom > $F/q$i.slice/0.tnf && touch -d "$i hours ago" $F/q$i.slice
done
ask --label role=small --where 'id < 5' -o small2 > out 2>&1 || wrong "small: $(cat out)"
[ "$("$DUMP" --no-header small2/small/*.tnf | wc -l)" = 5 ] || wrong "small: $(ls small2/small)"
[ -d $F/q1.slice ] && [ ! -e $F/q2.slice ] && [ ! -e $F/q3.slice ] || wrong "slices: $(ls $F)"
[ ! -e $F/old ] && [ -e $F/young ] && [ ! -e $F/half-old ] && [ -e $F/half-young ] ||
	wrong "notes by age: $(ls $F)"
kill -9 "$PID_small"
exit $bad
