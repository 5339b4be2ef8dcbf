#!/bin/sh
# Programs in which every function that takes a jump has one say and return what they do
# without: the analysis has overlooked nothing that leads into a jump.
. "$TNF_SOURCE/tests/lib.sh"
everywhere=$1 exceptions=$2
scratch

# same NAME COMMAND...: runs a command without jumps and with them.
rc=0 n=0
same() {
	name=$1
	shift
	command -v "$1" >/dev/null || return 0
	n=$((n + 1)) a=0 b=0
	"$@" >"$TMP/a" 2>&1 </dev/null || a=$?
	LD_PRELOAD=$everywhere SITES_REPORT=$TMP/report "$@" >"$TMP/b" 2>&1 </dev/null || b=$?
	if [ "$a" != "$b" ] || ! cmp -s "$TMP/a" "$TMP/b"; then
		echo "FAIL: $name: status $a, with jumps $b:"
		diff "$TMP/a" "$TMP/b" | head -20
		rc=1
	fi
}

cat >"$TMP/shell" <<'S'
f() { local a=$1; ((a < 2)) && { echo $a; return; }; echo $(($(f $((a - 1))) + $(f $((a - 2))))); }
f 8
declare -A m
for i in {1..5000}; do m[$((i % 977))]+=x; done
echo ${#m[@]} ${m[5]}
trap "echo signal" USR1
kill -USR1 $$
[[ abcabc =~ (abc)+ ]] && echo ${BASH_REMATCH[1]}
seq 3000 | sort -r | tr 0-4 a-e | sed 's/a//g' | awk '{ n += length($0) } END { print n }'
S
cat >"$TMP/python" <<'S'
import hashlib, json, re, subprocess, threading
d = {str(i): [i * i % 1009] * 20 for i in range(2000)}
s = json.dumps(d)
assert json.loads(s) == d
print(hashlib.sha256(s.encode()).hexdigest(), len(re.findall(r"1\d*7", s)))
r = []
def f(n):
    try:
        raise ValueError(n)
    except ValueError as e:
        r.append(sum(i * i for i in range(5000 + e.args[0])))
t = [threading.Thread(target=f, args=(i,)) for i in range(16)]
[x.start() for x in t]
[x.join() for x in t]
print(sum(r))
print(subprocess.run(["sort"], input="b\na\n", capture_output=True, text=True).stdout)
S
same shell bash "$TMP/shell"
same python /usr/bin/python3 "$TMP/python"
same exceptions "$exceptions"
same perl perl -e '$h{$_ % 97} .= chr(65 + $_ % 26) for 1 .. 20000; print map { length $h{$_} } sort keys %h; eval { die "x\n" }; print $@'
same compiler cc -O2 -S -o - "$TNF_SOURCE/common/map.c" "-I$TNF_SOURCE/include" "-iquote$TNF_SOURCE" -D_GNU_SOURCE
sort -u -t: -k1,1 "$TMP/report"
[ "$n" -ge 3 ] || fail "only $n programs"
awk '$2 < 1000 { print "FAIL: few patched: " $0; bad = 1 }
	/ 0 hits/ { print "FAIL: no hits: " $0; bad = 1 }
	END { exit bad || NR < 10 }' "$TMP/report" || rc=1
exit $rc
