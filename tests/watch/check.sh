#!/bin/sh
# Guards: a mistake of the configuration that is told with the wrong line, or not.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
W=$1
scratch

# Each message is one write: several processes say something to one log.
need_program python3
python3 - "$W" <<'T' || fail "a line of the log comes in pieces"
import socket, subprocess, sys
log, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
subprocess.run([sys.argv[1], "nonsense"], stderr=ours)
said = log.recv(4096).decode()
sys.exit(0 if said.startswith("tnfwatch: nonsense") and said.endswith("\n") else said)
T

cat >"$TMP/bad.conf" <<'T'
x = 1
[watch]
keep = 60x
directry = /tmp
[process shop]
program = shop
enable = order io name=/x\(/
size = 1k
[trigger slow]
when = probe == "a" and (errno = 5)
limit = 6/hours
after = -1s
[trigger many]
when = duration(order >
 200ms
[foo]
[trigger]
nonsense
T
# The first words of what is expected for each line, in order.
cat >"$TMP/want" <<'T'
1: x: before the first section
3: keep = 60x: not a duration
4: directry: no key of [watch]: did you mean "directory"?
6: program = shop: not a path
7: enable: 
8: size = 1k: a buffer has
10: when: 
11: limit = 6/hours: not a limit
12: after = -1s: not a duration
14: when: 
16: [foo]: no such section
17: [trigger]: it needs a name
18: neither [section] nor key = value
T
"$W" check -c "$TMP/bad.conf" >"$TMP/out" 2>"$TMP/err" && fail "mistakes are accepted"
[ -s "$TMP/out" ] && fail "on standard output: $(cat "$TMP/out")"
grep "^$TMP/bad.conf:" "$TMP/err" | sed "s|^$TMP/bad.conf:||" >"$TMP/got"
[ "$(wc -l <"$TMP/got")" = "$(wc -l <"$TMP/want")" ] || fail "$(cat "$TMP/err")"
n=0
while read -r want; do
	n=$((n + 1))
	got=$(sed -n "${n}p" "$TMP/got")
	case $got in "$want"*) ;; *) fail "expected \"$want\", not \"$got\"" ;; esac
done <"$TMP/want"
# Expressions are shown, with a caret.
[ "$(grep -c "^ *^$" "$TMP/err")" -eq 3 ] || fail "carets: $(cat "$TMP/err")"

# Text behind a section's name, a section that is not there, numbers that are none.
cat >"$TMP/bad.conf" <<'T'
[kernel] enable = io
[trigger a]
when = rate(x) of shop > 3
of = shop
every = 0
T
"$W" check -c "$TMP/bad.conf" 2>"$TMP/err" && fail "text behind a section is accepted"
for say in ':1: .kernel.: text behind it' ':5: every = 0: not a number'; do
	grep -q "$say" "$TMP/err" || fail "not said: $say: $(cat "$TMP/err")"
done
sed -i '1s/.*/[kernel] ; a comment/; 5s/0/2/' "$TMP/bad.conf"
"$W" check -c "$TMP/bad.conf" 2>"$TMP/err" && fail "a section that is not there is accepted"
[ "$(grep -c 'of.*shop: no such section' "$TMP/err")" -eq 2 ] || fail "said: $(cat "$TMP/err")"

# Settings that are right, and match nothing.
printf '[kernel]\npfilter = nmae=redis\n' >"$TMP/bad.conf"
"$W" check -c "$TMP/bad.conf" 2>"$TMP/err" && fail "a rule that is none is accepted"
grep -q ':2: pfilter: nmae=redis: no rule' "$TMP/err" || fail "said: $(cat "$TMP/err")"
printf '[kernel]\npfilter = name=redis cgroup=/a unit=b.service pod=shop 17\n' >"$TMP/good.conf"
"$W" check -c "$TMP/good.conf" >"$TMP/out" 2>&1 || fail "a right pfilter: $(cat "$TMP/out")"
cat >"$TMP/some.conf" <<'T'
[kernel]
enable = $always sycall io
[trigger typo]
of = kernel
when = duration(sysacll) > 1s
[trigger off]
when = duration(syscall) > 1s
[trigger good]
when = duration(io) > 1s and comm == "dd"
[trigger state]
when = state(SLEEP) > 3s
T
if [ -n "$2" ]; then
	"$W" check -c "$TMP/some.conf" >"$TMP/out" 2>"$TMP/err" && fail "what matches nothing is right"
	for say in 'enable: keys=sycall: no probe of the kernel' 'trigger typo.: .*no probe of the kernel' \
		'trigger off.: .*not on: add'; do
		grep -q "$say" "$TMP/err" || fail "not said: $say: $(cat "$TMP/err")"
	done
	[ "$(grep -c . "$TMP/err")" -eq 3 ] || fail "too much: $(cat "$TMP/err")"
	grep -qx '.trigger good.: of the kernel strategy biodone' "$TMP/out" || fail "$(cat "$TMP/out")"
	sed -i 's/ sycall / syscall /; s/sysacll/syscall/' "$TMP/some.conf"
	"$W" check -c "$TMP/some.conf" >"$TMP/out" 2>&1 || fail "$(cat "$TMP/out")"
fi

# A directory beside it is read as well, and its lines are told by its name.
cat >"$TMP/good.conf" <<'T'
[kernel]
buffer = 64m
enable = $always thread io name=/^sys/
T
mkdir "$TMP/watch.d"
printf '[trigger slow]\nwhen = duration(order) > 200ms\nlimit = 6/hour\n' >"$TMP/watch.d/a.conf"
"$W" check -c "$TMP/good.conf" >"$TMP/out" 2>&1 || fail "good one: $(cat "$TMP/out")"
grep -q '1 \[trigger\], \[kernel\]' "$TMP/out" || fail "said: $(cat "$TMP/out")"
printf '[trigger slow]\nlimit = many\n' >"$TMP/watch.d/b.conf"
"$W" check -c "$TMP/good.conf" 2>"$TMP/err" && fail "mistake beside it is accepted"
grep -q "^$TMP/watch.d/b.conf:2: limit" "$TMP/err" || fail "said: $(cat "$TMP/err")"

# A fleet without servers, half a certificate, labels that are none, nobody to be asked.
rm "$TMP"/watch.d/b.conf
cat >"$TMP/fleet.conf" <<'T'
[fleet]
labels = role
limit = 5
name = ../web
server = nats://a
[trigger call]
ask = label db
T
"$W" check -c "$TMP/fleet.conf" 2>"$TMP/err" && fail "a bad [fleet] is accepted"
for say in 'fleet.conf:2: labels = role: write NAME=VALUE' 'fleet.conf:3: limit' 'fleet.conf:4: name' \
	'fleet.conf:5: server: no key of .fleet.: did you mean "servers"' 'fleet.conf:7: ask = label db'; do
	grep -q "$say" "$TMP/err" || fail "not said: $say: $(cat "$TMP/err")"
done
printf '[kernel]\n[fleet]\nname = a\ncert = /x\n[trigger c]\nask = label a=b\n' >"$TMP/fleet.conf"
"$W" check -c "$TMP/fleet.conf" 2>"$TMP/err" && fail "[fleet] without servers is accepted"
for say in 'no servers' 'cert and key belong' 'nobody can be asked'; do
	grep -q "$say" "$TMP/err" || fail "not said: $say: $(cat "$TMP/err")"
done

# Settings that a program cannot know at its start, or not read.
cat >"$TMP/start.conf" <<'T'
[process web]
unit = web.service
[process always]
program = /bin/true
enable = order $always
from_start = yes
[process none]
program = /bin/false
from_start = yes
[process one]
pid = 1
enable = order
from_start = yes
T
"$W" check -c "$TMP/start.conf" 2>"$TMP/err" && fail "a bad from_start is accepted"
for say in 'process always.: from_start: .process web. before it' 'process none.: from_start: no probes' \
	'process one.: from_start: a program knows only'; do
	grep -q "$say" "$TMP/err" || fail "not said: $say: $(cat "$TMP/err")"
done
# shellcheck disable=SC2016  # there is $all in it
printf '[process a]\ncomm = a\nenable = order io name=/x\\/y/ $all $always\nfrom_start = yes\n[process b]\nunit = b\n' \
	>"$TMP/start.conf"
"$W" check -c "$TMP/start.conf" >"$TMP/out" 2>&1 || fail "a right from_start: $(cat "$TMP/out")"

# Neither is there, nor are there sources.
"$W" check -c "$TMP/none.conf" 2>"$TMP/err" && fail "no file is accepted"
grep -q 'name the configuration with -c' "$TMP/err" || fail "said: $(cat "$TMP/err")"
echo '[watch]' >"$TMP/empty.conf"
rm -r "$TMP/watch.d"
"$W" check -c "$TMP/empty.conf" 2>"$TMP/err" && fail "nothing to watch is accepted"
grep -q 'nothing to watch' "$TMP/err" || fail "said: $(cat "$TMP/err")"
# Without tnffleet many machines cannot be asked, and tnfwatch says what is missing.
mkdir "$TMP/lonely" && cp "$W" "$TMP/lonely" || fail "no copy"
PATH=$TMP/lonely LD_LIBRARY_PATH=$TNF_BUILD/libtnf:$TNF_BUILD/libtnfctl:$TNF_BUILD/libtnfprobe \
	"$TMP/lonely/tnfwatch" ask -o "$TMP/all" >"$TMP/out" 2>"$TMP/err"
[ $? -eq 1 ] && grep -q '^tnfwatch: tnffleet: .*: install tnf-fleet' "$TMP/err" ||
	fail "without tnffleet: $(cat "$TMP/err")"
exit 0
