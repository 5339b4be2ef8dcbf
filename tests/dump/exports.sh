#!/bin/sh
# exports.sh - what the exporters tell: names of calls, what was cut, what was
# lost, whose first line it is.
# Usage: exports.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
odd=$TNF_BUILD/tests/dump/odd
scratch
cd "$TMP" || exit 1

"$story" k.tnf <<'M' || fail "story"
kernel
kernel-part
lost 0 123
lost 1 4
type tnf_sysnum tnf_int16
probe syscall_start syscall sysnum:tnf_sysnum
probe syscall_end syscall rval1:tnf_int64 rval2:tnf_int64 errno:tnf_int32
probe major_fault vm addr:tnf_opaque
1000 7 7 0x100 0 syscall_start 1
2000 7 7 0x100 0 syscall_end 5 0 2
3000 7 7 0x100 0 syscall_start 0
4000 7 7 0x100 0 major_fault 0x1010
@symbol 1000 2000 - here
M
# Slices of calls go by the call's name; with --pretty, so do numbers.
"$tnfdump" --to chrome k.tnf 2> /dev/null > out
grep -q '"name":"write".*"ph"\|"ph":"X".*"name":"write"' out || fail "chrome: $(cat out)"
grep -q '"ph":"B".*"name":"read"' out || fail "chrome: unfinished: $(cat out)"
"$tnfdump" --to perfetto k.tnf 2> /dev/null | grep -q 'write' || fail "perfetto"
"$tnfdump" --to jsonl k.tnf 2> /dev/null | grep -q '"args":{"sysnum":1}' || fail "jsonl"
for format in jsonl csv chrome; do
	"$tnfdump" --to $format --pretty k.tnf 2> /dev/null | tr -d '"' > out
	grep -q 'sysnum:write' out && grep -q 'errno:ENOENT' out &&
	    grep -q 'addr:here+0x10' out || fail "$format --pretty: $(cat out)"
done
"$tnfdump" --to perfetto --pretty k.tnf 2> /dev/null | grep -q ENOENT || fail "perfetto --pretty"
for option in '--to ctf -o x' '--to tnf' '--to folded' --states --info; do
	# shellcheck disable=SC2086
	"$tnfdump" --pretty $option k.tnf > out 2> err && fail "--pretty $option"
	grep -q '^tnfdump: --pretty: ' err || fail "--pretty $option: $(cat err)"
done

# So do numbers of the 32-bit table, which the member abi tells, in every format: the
# type of such a number has no names.
"$story" calls.tnf <<'M' || fail "story"
kernel
kernel-part
probe syscall_start syscall sysnum:tnf_uint64 abi:tnf_int64
probe syscall_end syscall rval1:tnf_int64 rval2:tnf_int64 errno:tnf_int32
1000 7 7 0x100 0 syscall_start 20 1
2000 7 7 0x100 0 syscall_end 7 0 0
3000 7 7 0x100 0 syscall_start 40000 0
4000 7 7 0x100 0 syscall_end -1 0 38
@machine x86_64
M
for format in jsonl csv chrome perfetto; do
	"$tnfdump" --to $format --pretty calls.tnf 2> /dev/null | tr -d '"' > out
	grep -aq 'getpid' out && ! grep -aq 'sysnum:20' out || fail "32-bit, $format: $(cat out)"
done
"$tnfdump" --to jsonl --pretty calls.tnf 2> /dev/null > out
grep -q '"args":{"sysnum":"getpid","abi":1}' out && grep -q '"args":{"sysnum":40000,"abi":0}' out ||
	fail "32-bit, jsonl: $(cat out)"
"$tnfdump" --to jsonl calls.tnf 2> /dev/null | grep -q '"sysnum":20,' || fail "32-bit, numbers"
"$tnfdump" --to html calls.tnf > calls.html 2> /dev/null || fail "32-bit, html"
if command -v python3 > /dev/null; then
	python3 -c 'import base64, re, sys, zlib
data = re.search(r"<script id=.data.[^>]*>([^<]*)<", open("calls.html").read()).group(1)
sys.exit(b"""{"name":"sysnum","names":{"20":1},""" not in zlib.decompress(base64.b64decode(data)))' ||
		fail "32-bit, names in html"
fi
"$tnfdump" --pretty calls.tnf 2> /dev/null | grep -q 'sysnum: getpid abi: 1' || fail "32-bit, text"
for where in 'sysnum == "getpid"' 'sysnum =~ /^getp/' 'sysnum in ("getpid", "nothing")'; do
	"$tnfdump" --no-header --to jsonl --where "$where" calls.tnf 2> /dev/null > out
	[ "$(grep -c '"sysnum":20,' out)" = 1 ] && [ "$(wc -l < out)" = 1 ] ||
		fail "32-bit, --where $where: $(cat out)"
done
"$tnfdump" --stats=probe,sysnum calls.tnf 2> /dev/null | grep -q '20(getpid)' || fail "32-bit, statistics"

# So do values of imported probes that the context has names for.
"$story" words.tnf <<'M' || fail "story"
kernel
kernel-part
probe sched.sched_switch sched prev_state:tnf_int64 flags:tnf_uint32 prio:tnf_int32
1000 7 7 0x100 0 sched.sched_switch 1 5 120
2000 7 7 0x100 0 sched.sched_switch 3 0 120
@machine x86_64
@values:sched.sched_switch:prev_state symbolic 0xff 0x1=SLEEPY,0x2=D
@values:sched.sched_switch:flags flags 0xff | 0x1=FAST,0x4=COLD
M
for format in jsonl csv chrome perfetto; do
	"$tnfdump" --to $format --pretty words.tnf 2> /dev/null | tr -d '"' > out
	grep -aq 'SLEEPY' out && grep -aq 'FAST|COLD' out || fail "words, $format: $(cat out)"
done
"$tnfdump" --to jsonl --pretty words.tnf 2> /dev/null > out
grep -q '"args":{"prev_state":"SLEEPY","flags":"FAST|COLD","prio":120}' out &&
	grep -q '"args":{"prev_state":3,"flags":0,"prio":120}' out || fail "words, jsonl: $(cat out)"
"$tnfdump" --to jsonl words.tnf 2> /dev/null | grep -q '"prev_state":1,"flags":5' || fail "words, numbers"
"$tnfdump" --to html words.tnf > words.html 2> /dev/null || fail "words, html"
if command -v python3 > /dev/null; then
	python3 -c 'import base64, re, sys, zlib
data = re.search(r"<script id=.data.[^>]*>([^<]*)<", open("words.html").read()).group(1)
data = zlib.decompress(base64.b64decode(data))
sys.exit(not (b"SLEEPY" in data and b"FAST|COLD" in data))' || fail "words, html"
fi

# So do addresses of sockets; others are bytes.
"$story" sock.tnf <<'M' || fail "story"
kernel
kernel-part
lost 5 3
probe begin a
probe a sock saddr:tnf_uint8_array
probe b sock daddr_v6:tnf_uint8_array
probe c sock bytes:tnf_uint8_array
500 7 7 0x100 0 begin
1000 7 7 0x100 0 a 0x0100007f 0 0 0 4
2000 7 7 0x100 0 b 0 0x0100000000000000 0 0 16
3000 7 7 0x100 0 a 0x0100007f50000002 0 0 0 28
4000 7 7 0x100 0 a 0xbb01000a 0x0000000000000120 0x0100000000000000 0 28
5000 7 7 0x100 0 a 0x0100007f50000001 0 0 0 28
6000 7 7 0x100 0 c 0x0100007f 0 0 0 4
7000 7 7 0x100 0 b 0x0100007f 0 0 0 4
M
"$tnfdump" --pretty --columns args --no-header sock.tnf 2> /dev/null | sed '1d; s/ *$//' > out
cat > want <<'M'
saddr: 127.0.0.1
daddr_v6: ::1
saddr: 127.0.0.1:80
saddr: [2001::1]:443
saddr: [1 0 0 80 127 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
bytes: [127 0 0 1]
daddr_v6: [127 0 0 1]
M
cmp out want || fail "addresses: $(cat out)"
"$tnfdump" --info sock.tnf > out || fail "--info"
grep -q '^               3 skipped by the kernel$' out || fail "--info: $(grep skipped out)"

# The same trace makes the same page, whatever order its names of numbers are kept in.
"$tnfdump" --to html k.tnf > page 2> /dev/null || fail "html"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$tnfdump" --to html k.tnf 2> /dev/null | cmp - page || fail "html: another page, run $i"
done

# Losses: of all reasons, of all files, with or without events that are kept.
"$story" quiet.tnf <<'M' || fail "story"
process 8
lost 0 1000
probe never a
1 8 8 8 0 never
M
if command -v babeltrace2 > /dev/null; then
	for where in true 'probe == "none"'; do
		rm -rf ctf
		"$tnfdump" --to ctf -o ctf --where "$where" k.tnf quiet.tnf 2> /dev/null ||
			fail "ctf"
		babeltrace2 ctf > out 2> err || fail "babeltrace2: $(cat err)"
		grep -q ' 1127 events' err || fail "ctf: $where: $(cat err)"
	done
fi

# Files of one buffer count from its beginning: what several tell was lost once.
for part in 1 2 3; do
	"$story" part$part <<-M || fail "story"
	kernel
	kernel-part
	boot 3
	begun 77
	lost 5 $((part / 2 * 3 + 2))
	probe syscall_start syscall sysnum:tnf_int32
	${part}000 7 7 0x100 0 syscall_start 1
	M
done
for option in -r '--to jsonl' '--to html' --stats; do
	# shellcheck disable=SC2086
	"$tnfdump" $option part1 part2 part3 > out 2> err || fail "losses, $option"
	printf 'tnfdump: part%s events were lost (skipped by the kernel: %s)\n' '1: 2' 2 '2: 3' 3 |
		cmp - err || fail "losses, $option: $(cat err)"
done
if command -v babeltrace2 > /dev/null; then
	rm -rf ctf
	"$tnfdump" --to ctf -o ctf part1 part2 part3 2> /dev/null || fail "losses, ctf"
	babeltrace2 ctf > out 2> err || fail "babeltrace2: $(cat err)"
	grep -q ' 5 events' err || fail "losses, ctf: $(cat err)"
fi
if command -v sqlite3 > /dev/null && "$tnfdump" --to sqlite -o parts.db part1 part2 part3 2> err; then
	[ "$(sqlite3 parts.db 'SELECT count(*), sum(events) FROM losses')" = '2|5' ] ||
		fail "losses, sqlite: $(sqlite3 parts.db 'SELECT * FROM losses')"
fi

# The first line is about the first file, whichever event comes first.
"$tnfdump" --to jsonl k.tnf quiet.tnf 2> /dev/null | head -1 | grep -q '"file":"k.tnf"' ||
	fail "jsonl: another file in the first line"
"$tnfdump" --no-header --to jsonl k.tnf 2> /dev/null | head -1 | grep -q '^{"time"' ||
	fail "jsonl --no-header"
"$tnfdump" --no-header --to csv k.tnf 2> /dev/null | head -1 | grep -q '^1000,' ||
	fail "csv --no-header"

# A cut trace is told once and in the exit status, in every format.
for kind in circle array; do
	"$odd" $kind $kind || fail "odd"
	for option in '' --pretty --to=jsonl --to=csv --to=chrome --to=perfetto '--to=ctf -o ctf' \
	    --tree --stats=c,s '--stats=c,s --pretty' '-t /dev/null'; do
		case $kind:$option in
		array:|*:--stats=c,s) continue ;;	# has nothing of what is in it
		esac
		# shellcheck disable=SC2086
		"$tnfdump" $option $kind $kind > out 2> err
		[ $? -eq 1 ] || fail "$kind: $option: no exit status"
		[ "$(grep -c 'not all of it is shown' err)" -eq 1 ] ||
			fail "$kind: $option: $(cat err)"
	done
done

# Frames that are not there are not made up.
"$tnfdump" --to folded k.tnf 2> /dev/null | sort > out
[ "$(cat out)" = "pid_7;major_fault 1
pid_7;syscall_end 1
pid_7;syscall_start 2" ] || fail "folded: $(cat out)"
# A stack that does not begin where the kernel is entered has been cut.
"$story" stacks.tnf <<'M' || fail "story"
kernel
kernel-part
probe note a
probe thread_block thread stack:tnf_symbols
1000 7 7 0x100 0 note
2000 7 7 0x100 0 thread_block 0xffffffff81001010 0xffffffff81002010 0xffffffff81003010 0
3000 7 7 0x100 0 thread_block 0xffffffff81001010 0xffffffff81002010 0 0
4000 7 7 0x100 0 thread_block 0xffffffff81001010 0xffffffff81009010 0 0
@symbol ffffffff81001000 ffffffff81001fff - schedule
@symbol ffffffff81002000 ffffffff81002fff - vfs_read
@symbol ffffffff81003000 ffffffff81003fff - entry_SYSCALL_64_after_hwframe
M
"$tnfdump" --to folded --probe thread_block stacks.tnf | sort > out
[ "$(cat out)" = "pid_7;0xffffffff81009010;schedule;thread_block 1
pid_7;[more];vfs_read;schedule;thread_block 1
pid_7;entry_SYSCALL_64_after_hwframe;vfs_read;schedule;thread_block 1" ] ||
	fail "folded: $(cat out)"

# --info tells what each CPU has, and since when all CPUs have all.
{
	echo kernel; echo blocks 8; echo wrap; echo kernel-part; echo cursor 32; echo probe step a n:tnf_int32
	awk 'BEGIN { for (i = 1; i <= 6000; i++) printf "%d 7 7 256 %d step %d\n", i * 100000, i % 50 == 0, i }'
} | "$story" laps.tnf || fail "story"
first() { "$tnfdump" --no-header --columns=mono --cpu "$1" laps.tnf 2> /dev/null | head -1 | tr -d ' '; }
from=$(first 0)
[ "$(first 1)" -lt "$from" ] || from=$(first 1)
"$tnfdump" --info=json laps.tnf > out || fail "--info=json"
grep -q "\"complete_from_ns\":$from," out || fail "complete from $from: $(cat out)"
grep -q "\"by_cpu\":\[{\"cpu\":0,\"events\":[0-9]*,\"first_ns\":$(first 0),\"last_ns\":[0-9]*},{\"cpu\":1,\"events\":[0-9]*,\"first_ns\":$(first 1),\"last_ns\":[0-9]*}\]" out ||
	fail "by CPU: $(cat out)"
"$tnfdump" --info laps.tnf > out || fail "--info"
[ "$(grep -c '^  cpu [01]:  *[0-9]* events, [0-9.]* s to [0-9.]* s$' out)" -eq 2 ] &&
    grep -q '^  complete:  *from [0-9.]* s: earlier events were overwritten' out || fail "--info: $(cat out)"
"$tnfdump" --info k.tnf 2> /dev/null | grep -q '^  complete:  *from the start$' || fail "--info: complete"
"$tnfdump" --info --cpu 0 k.tnf 2> /dev/null | grep 'complete:' && fail "--info: of what is kept"

# --tree: an entry whose return the trace does not have is a point, not the begin of a level that
# never ends; a function with both, and what happens in it, is a level.
"$story" entries.tnf <<'M' || fail "story"
kernel
kernel-part
probe point_entry function id:tnf_int32
probe whole_entry function id:tnf_int32
probe whole_return function id:tnf_int32
1000 7 7 0x100 0 point_entry 1
2000 7 7 0x100 0 point_entry 2
3000 7 7 0x100 0 whole_entry 3
4000 7 7 0x100 0 point_entry 4
5000 7 7 0x100 0 whole_return 5
6000 7 7 0x100 0 point_entry 6
M
column() { "$tnfdump" --tree entries.tnf | sed -n "s/{\"id\":$1}.*//p" | sed 's/[a-z_]* *$//' | wc -c; }
for id in 2 3 5 6; do
	[ "$(column $id)" -eq "$(column 1)" ] || fail "--tree: event $id: $("$tnfdump" --tree entries.tnf)"
done
[ "$(column 4)" -eq $(($(column 1) + 2)) ] || fail "--tree: what is inside: $("$tnfdump" --tree entries.tnf)"
echo "exports tell"
