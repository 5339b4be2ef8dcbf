#!/bin/sh
# fast-programs.sh TNFDUMP PREX EXCEPTIONS THREADS COUNT - programs as they come, with probes in all their functions that
# take one, say and return what they do without; so does one with COUNT threads, under which the probes come and go.  With
# TNF_STRESS=long every function and return of each program, else a part of them; and ten thousand threads.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
dump=$1 prex=$(realpath "$2") exceptions=$3 threads=$4 count=$5
need_ptrace
scratch
fast_user "$prex"
cp "$exceptions" "$TMP/exceptions" && cp "$threads" "$TMP/threads"
PATH=/usr/bin:/bin:$PATH
pids=
trap 'kill -9 $pids 2>/dev/null; test_end' EXIT
[ "${TNF_STRESS:-}" = long ] && some='/[a-zA-Z_]/' || some='/^[a-l_P].*[a-z]$/'

# run ARG...: prex
run()
{
	# shellcheck disable=SC2086
	(cd "$TMP" && timeout 280 $as "$prex" "$@") >"$TMP/prex" 2>"$TMP/err" </dev/null
}

# same NAME COMMAND...: a program that prex starts, with entries, and with returns
same()
{
	name=$1
	shift
	command -v "$1" >/dev/null || { echo "not tested: $1 is not here"; return; }
	a=0
	# shellcheck disable=SC2086
	(cd "$TMP" && $as "$@") >"$TMP/plain" 2>&1 </dev/null || a=$?
	for returns in off on; do
		b=0
		run --set fast_returns=$returns -s 16384 -o "$TMP/t.tnf" -c "enable function=$some; continue" "$@" || b=$?
		grep -q 'cannot decode instructions' "$TMP/prex" && skip "built without Zydis"
		sed '1,/^Type "continue"/d' "$TMP/prex" >"$TMP/traced"
		[ "$a" -eq "$b" ] && cmp -s "$TMP/plain" "$TMP/traced" ||
			fail "$name, returns $returns: status $a, traced $b: $(diff "$TMP/plain" "$TMP/traced" | head -n 5; tail -n 3 "$TMP/err")"
		n=$("$dump" --info "$TMP/t.tnf" 2>/dev/null | sed -n 's/^ *events: *//p')
		[ "${n:-0}" -ge 1000 ] || fail "$name: $n events"
		echo "$name, returns $returns: $n events"
	done
}
same "C++ with exceptions" "$TMP/exceptions"
cat >"$TMP/script.py" <<'P'
import json, re, threading, hashlib
d = {str(i): [i * i % 1009] * 20 for i in range(2000)}
s = json.dumps(d)
print(hashlib.sha256(s.encode()).hexdigest(), len(re.findall(r"1\d*7", s)))
try:
    {}["no"]
except KeyError as e:
    print("caught", e)
sums = []
t = [threading.Thread(target=lambda: sums.append(sum(i * i for i in range(20000)))) for _ in range(8)]
[x.start() for x in t]
[x.join() for x in t]
print(len(sums), set(sums))
P
same python3 python3 "$TMP/script.py"
# shellcheck disable=SC2016  # another shell expands it
same bash bash -c 'f() { ((($1) < 2)) && { echo $1; return; }; echo $(($(f $(($1 - 1))) + $(f $(($1 - 2))))); }; f 7
	declare -A m; for i in {1..2000}; do m[$((i % 97))]+=x; done; echo ${#m[@]} ${m[5]}; [[ abcabc =~ (abc)+ ]] && echo ${BASH_REMATCH[1]}'
# node's garbage collector goes through the addresses to return to, also of code that is not made
# yet when the probes come.
all=$some
[ "${TNF_STRESS:-}" = long ] || some=/Runtime_/
same node node -e 'let m={};for(let i=0;i<1e5;i++)m[i%977]=(m[i%977]||"")+"x";
	console.log(Object.keys(m).length, JSON.stringify(m).length); try { null.x } catch (e) { console.log(e.message) }'
some=$all

[ "${TNF_STRESS:-}" != long ] || count=10000
# Threads: probes come while they come and go, and stay in the way of none.
# shellcheck disable=SC2086
$as "$TMP/threads" "$count" >"$TMP/said" &
pid=$! pids=$!
wait_for 120 grep -q ready "$TMP/said" || fail "$count threads do not begin: $(cat "$TMP/said")"
recorded() { "$dump" "$TMP/h.tnf" 2>/dev/null | grep -q ' thread_work_return '; }
for _ in 1 2 3; do
	run --set fast_returns=on -p "$pid" -s 16384 -o "$TMP/h.tnf" -c 'enable function=/^thread_/; list probes keys=function' ||
		fail "$count threads: $(cat "$TMP/err")"
	grep -q 'name=thread_work_entry enable=on .*fast=yes' "$TMP/prex" || fail "$count threads: $(cat "$TMP/prex" "$TMP/err")"
	wait_for 60 recorded || fail "no events of threads"
	sleep 1
	run -p "$pid" -c 'disable keys=function; list probes keys=function' || fail "$count threads: $(cat "$TMP/err")"
	grep -q 'enable=on' "$TMP/prex" && fail "$count threads: not off"
done
kill -TERM "$pid"
wait "$pid" || fail "$count threads: $(cat "$TMP/said")"
tail -n 1 "$TMP/said"
