#!/bin/sh
# hosts.sh - files of three machines whose clocks are known to be wrong, on one line.
# Usage: hosts.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
need_program jq
scratch
cd "$TMP" || exit 1
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }
same() { [ "$2" = "$3" ] || wrong "$1: $2, not $3"; }

# machine NAME NR MONO OFFSET ERROR: its clock of the boot is MONO ns ahead of true
# time, its wall clock OFFSET; what the kernel says of that is ERROR.  Events come as
# lines "TRUE NAME ID" on standard input; process and thread have the same numbers
# everywhere.
wall=1700000000000000000
machine() {
	{
		echo process 100
		echo "boot $2"
		for p in ask got call took answer back reply done_; do
			echo "probe $p net id:tnf_int32"
		done
		while read -r time name id; do
			echo "$((time + $3)) 100 101 1 0 $name $id"
		done
		echo "@host $1"
		echo "@clock $((5000000 + $3)) $((wall + 5000000 + $4))"
		[ -z "$5" ] || echo "@sync synchronised 0 $5 $(($5 / 4))"
		echo "@task 100 100 1 $1d"
		echo "@task 101 100 1 $1-worker"
	} | "$story" "$1.tnf" || fail story
}
# A request goes from web by way of app to db, and back.
machine web 1 0 0 5000000 <<M
1000000 ask 7
2400000 done_ 7
M
machine app 2 5000000000 3000000 5000000 <<M
1200000 got 7
1300000 call 7
2100000 back 7
2200000 reply 7
M
machine db 3 77000000000 -2000000 5000000 <<M
1500000 took 7
1900000 answer 7
M
causal='web:ask app:got app:call db:took db:answer app:back app:reply web:done_ '
order() { "$tnfdump" --no-header --to jsonl --hosts "$@" web.tnf app.tnf db.tnf |
	jq -r '"\(.host):\(.probe)"' | tr '\n' ' '; }
marks() { "$tnfdump" --no-header --to jsonl --hosts "$@" web.tnf app.tnf db.tnf |
	jq -r 'if .unordered then "~" else "." end' | tr -d '\n'; }

# The clocks are wrong by up to 5 ms, and nothing here is that far apart ...
[ "$(order)" != "$causal" ] || wrong "in order by themselves"
same "marks" "$(marks)" "..~~~~~~"
# ... with the true offsets and no error all is in order, at the true times ...
set -- --clock app=-3ms --clock db=2ms --clock web=0s
same "true offsets" "$(order "$@")" "$causal"
same "true offsets: marks" "$(marks "$@")" "........"
same "times" "$("$tnfdump" --no-header --to csv --hosts "$@" web.tnf app.tnf db.tnf |
	cut -d, -f2,3 | tr '\n' ' ')" "0,2023-11-14T22:13:20.001000000Z \
200000,2023-11-14T22:13:20.001200000Z 300000,2023-11-14T22:13:20.001300000Z \
500000,2023-11-14T22:13:20.001500000Z 900000,2023-11-14T22:13:20.001900000Z \
1100000,2023-11-14T22:13:20.002100000Z 1200000,2023-11-14T22:13:20.002200000Z \
1400000,2023-11-14T22:13:20.002400000Z " 2>/dev/null ||
	wrong times
# ... with an error of 150 us what is closer than the sum of two is marked, nothing else.
same "150 us" "$(marks --clock app=-3ms,150us --clock db=2ms,150us --clock web=0s,150us)" ".~.~.~.~"
# Messages put it in order without any of that, and tell how well the clocks are known:
# between app and db no better than half the way there and back, 200 us.
set -- --message ask,got,id --message call,took,id --message answer,back,id --message reply,done_,id
same "messages" "$(order "$@")" "$causal"
same "messages: marks" "$(marks "$@")" "........"
"$tnfdump" --hosts --to jsonl "$@" web.tnf app.tnf db.tnf | head -1 | jq -r '.hosts[] |
    "\(.host) \(.offset_ns)"' > moved
awk '{ o[$1] = $2 } END { a = o["app"] - o["web"] + 3000000; b = o["db"] - o["app"] - 5000000
    exit !(a >= -200000 && a <= 200000 && b >= -200000 && b <= 200000) }' moved ||
	wrong "messages: $(cat moved)"
# Messages that the recorded errors exclude: they count, and that is said.
order --clock app=0s,1us --clock db=0s,1us --clock web=0s,1us "$@" > out 2> err
grep -q 'the messages count' err || wrong "against the errors: $(cat err)"
same "against the errors" "$(cat out)" "$causal"
# Messages that cannot be: not used, and that is said.
order --message done_,call,id --message reply,ask,id > out 2> err
grep -q 'contradict each other' err || wrong "impossible messages: $(cat err)"
order --message ask,answer,nope > out 2> err
grep -q 'none went from one host' err || wrong "no messages: $(cat err)"

# A process that still runs has not named its machine: another file of that boot does.
printf 'process 200\nboot 2\nprobe call net id:tnf_int32\n1500000000 200 201 1 0 call 8\n@clock 5005000000 %s\n' \
	"$((wall + 5003000))" | "$story" runs.tnf || fail story
same "no context" "$("$tnfdump" --no-header --to jsonl --hosts runs.tnf app.tnf | jq -r .host | sort -u)" app

# The asker's measure is better than what these kernels say, for all hosts or for none.
for h in web:0 app:-3000000 db:2000000; do
	mkdir -p "asked/${h%:*}/incident"
	cp "${h%:*}.tnf" "asked/${h%:*}/incident/process.tnf"
	printf 'host %s\noffset %s\nerror 40000\nlater words\n' "${h%:*}" "${h#*:}" > "asked/${h%:*}/clock"
done
"$tnfdump" --hosts --to jsonl asked/* > out || wrong "asked"
same "asked" "$(tail -n +2 out | jq -r '"\(.host):\(.probe)"' | sort | tr '\n' ' ')" \
	"$(echo "$causal" | tr ' ' '\n' | grep . | sort | tr '\n' ' ')"
"$tnfdump" --hosts --no-header --to jsonl asked/web asked/app asked/db > out || wrong "asked"
same "asked: order" "$(jq -r '"\(.host):\(.probe)"' out | tr '\n' ' ')" "$causal"
"$tnfdump" --hosts asked/web asked/app asked/db > out || wrong "asked: text"
grep -qx 'host app: clock -3.000000 ms, error 0.040000 ms (asker), 1 file' out || wrong "asked: $(head -3 out)"
grep -q '^ *0.200000 *0.200000   app .* got ' out || wrong "text: $(cat out)"
# Traces that its trigger asked others for lie below an incident, and are not this machine's; nor is
# what has a clock of its own.
mkdir -p asked/web/incident/hosts/db asked/web/beside
cp db.tnf asked/web/incident/hosts/db/ && cp app.tnf asked/app/clock asked/web/beside/
"$tnfdump" --hosts asked/web asked/web/incident/hosts/db > out || wrong "asked by a trigger"
grep -q '^host web: .* 1 file$' out && grep -q '^host db: .* 1 file$' out ||
	wrong "asked by a trigger: $(grep ^host out)"
rm -r asked/web/incident/hosts asked/web/beside
# A clock that cannot be is told and left out, and nothing overflows.
mkdir -p far/a far/b && cp web.tnf far/a/ && cp app.tnf far/b/
printf 'offset 1152921504606846977\nerror 1\n' > far/a/clock
"$tnfdump" --hosts far/a far/b > /dev/null 2> err && wrong "far: status 0"
grep -q 'far/a/clock: offset .* is no number of ns' err || wrong "far: $(cat err)"
for c in 'a/web.tnf 5 4600000000000000000' 'b/app.tnf 4600000000000000000 5'; do
	{ echo process 1; echo 'probe x y'; echo '5 1 1 1 0 x'; echo "@clock ${c#* }"; } |
		"$story" "far/${c%% *}"
done
rm far/a/clock
"$tnfdump" --hosts --clock a=1000000000 far/a far/b > /dev/null 2> err && wrong "far: status 0"
grep -q 'far/b/app.tnf: its wall clock cannot be' err || wrong "far: $(cat err)"
rm asked/db/clock
"$tnfdump" --hosts asked/* | grep -q '(asker)' && wrong "two references at once"

# A file of a machine that tells no clock is left out and named; the others are there.
{ echo process 1; echo 'probe x y'; echo '5 1 1 1 0 x'; echo '@host old'; } | "$story" old.tnf
"$tnfdump" --hosts --no-header web.tnf old.tnf > out 2> err && wrong "no clock: status 0"
grep -q 'old.tnf: does not tell its wall clock' err || wrong "no clock: $(cat err)"
same "no clock" "$(wc -l < out)" 2
# Without the kernel's word an order is certain only beyond 16 s.
machine lone 9 0 0 '' <<M
1000000 ask 1
M
"$tnfdump" --hosts lone.tnf | grep -q 'error 16000.000000 ms (unknown)' || wrong "unknown error"

# The same numbers on two machines are two threads, in every format.
set -- --clock app=-3ms --clock db=2ms --clock web=0s web.tnf app.tnf db.tnf
"$tnfdump" --hosts --to chrome "$@" > c.json || wrong chrome
same chrome "$(jq -r '[.traceEvents[] | select(.name == "process_name") | .args.name] | sort | join(",")' c.json)" \
	"app: appd,db: dbd,web: webd"
same "chrome: processes" "$(jq '[.traceEvents[].pid] | unique | length' c.json)" 3
# With a thousand and one machines each process has a number, and messages are not looked for.
i=1000
while [ $((i += 1)) -le 2001 ]; do mkdir -p "many/$i" && ln lone.tnf "many/$i/"; done
"$tnfdump" --hosts --to chrome --message ask,got,id many/* > c.json 2> err || wrong "many: $(cat err)"
same "many: processes" "$(jq '[.traceEvents[].pid | select(. > 0)] | unique | length' c.json)" 1001
grep -q 'are more than 1000: not used' err || wrong "many: $(cat err)"
"$tnfdump" --hosts --to perfetto "$@" > p || wrong perfetto
grep -aq 'app: appd' p || wrong "perfetto: names"
"$tnfdump" --hosts --to folded "$@" | sort > f
same folded "$(head -1 f)" "app;appd;back 1"
same "csv" "$("$tnfdump" --hosts --to csv "$@" | head -2 | tail -1 | tr -d '\r' | sed 's/.*,//')" 0
if "$tnfdump" --help | grep -q sqlite && command -v sqlite3 > /dev/null; then
	"$tnfdump" --hosts --to sqlite -o x.db "$@" || wrong sqlite
	same "sqlite: threads" "$(sqlite3 x.db 'SELECT count(*), count(DISTINCT pid) FROM threads')" "3|1"
	same "sqlite: log" "$(sqlite3 x.db "SELECT group_concat(host || ':' || probe, ' ') FROM
	    (SELECT * FROM log ORDER BY id)") " "$causal"
	same "sqlite: comm" "$(sqlite3 x.db "SELECT DISTINCT host || ' ' || comm FROM log ORDER BY 1" | tr '\n' ,)" \
		"app app-worker,db db-worker,web web-worker,"
	"$tnfdump" --hosts --to sqlite -o y.db web.tnf app.tnf db.tnf || wrong sqlite
	same "sqlite: unordered" "$(sqlite3 y.db 'SELECT count(*) FROM unordered')" 6
fi
"$tnfdump" --hosts --to html -o h.html "$@" || wrong html
python3 - > meta <<'M' || wrong "html"
import base64, json, re, zlib
page = open("h.html", encoding="utf-8").read()
b = zlib.decompress(base64.b64decode(re.search(r'id="data"[^>]*>([^<]*)<', page).group(1)))
m = json.loads(b[8:8 + int.from_bytes(b[:4], "little")])
print(",".join(t["host"] for t in m["threads"]), ",".join(h["host"] for h in m["hosts"]))
M
same "html" "$(cat meta)" "web,app,db web,app,db"
same "--where" "$("$tnfdump" --hosts --no-header --where 'host == "app"' "$@" | wc -l)" 4
same "--stats" "$("$tnfdump" --hosts --stats=host "$@" | grep -c 'host=db')" 2
# A pair by member that begins on one machine and ends on another.
"$tnfdump" --hosts --pair ask,got,id --stats "$@" > out
grep -q "^ *1 .* 200\.000  ask" out || wrong "pair across: $(cat out)"

# Mistakes.
says() { _m=$1 _s=$2; shift 2
	"$tnfdump" "$@" web.tnf > /dev/null 2> err; _got=$?
	[ $_got -eq "$_s" ] && grep -q -- "$_m" err || wrong "$*: $_got: $(cat err)"; }
says 'belongs to --hosts' 2 --clock web=1ms
says 'belongs to --hosts' 2 --message a,b,c
says 'is HOST=OFFSET' 2 --hosts --clock web
says 'is no duration' 2 --hosts --clock web=soon
says 'is no duration' 2 --hosts --clock web=1ms,-2us
says 'SEND,RECEIVE,MEMBER' 2 --hosts --message a,b
says 'SEND,RECEIVE,MEMBER' 2 --hosts --message a,,b
says 'comes before' 2 --where 'id == 1' --hosts
says 'not with' 2 --hosts --reverse
says 'not with' 2 --hosts --to tnf -o nothing
says 'no file is of this host' 0 --hosts --clock nobody=1ms
mkdir empty
says 'holds no trace file' 1 --hosts empty

# A file of a machine is not written over, and a new one beside it is no input.
cp far/a/web.tnf before.tnf
"$tnfdump" --hosts far/a far/b -o far/a/web.tnf 2> err && wrong "wrote over an input"
grep -q 'far/a/web.tnf: is one of the files to be read' err || wrong "input: $(cat err)"
cmp far/a/web.tnf before.tnf || wrong "an input was changed"
chmod 600 far/b/app.tnf
(umask 0; "$tnfdump" --hosts --clock a=0 --clock b=0 far/a far/b -o far/a/new.tnf 2> err)
grep -q 'new.tnf' err && wrong "the output as an input: $(cat err)"
same "rights of the output" "$(stat -c %a far/a/new.tnf)" 600
exit $bad
